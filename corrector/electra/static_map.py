"""A map from 64-bit keys to small numbers in two to three bytes a key, and a set in one to two, whatever the keys, without storing them.

XOR filters (Graf & Lemire 2020, "Xor Filters", section 3): each key has one slot in each third of a table, and the three slots XOR to
bits of the key's hash: in the set to eight of them, in the map to twelve and its four-bit value. An absent key is taken for a present
one with probability 1/256 and 1/4096; a present one is always found. Loading is reading one array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

LARGEST_VALUE = 15
_VALUE_BITS = 4
_ROOM = 1.23  # slots per key; below about 1.22 the peeling of a random hypergraph fails (section 3)
_FIRST, _SECOND, _THIRD = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_MIX, _HALF, _LOW = np.uint64(29), np.uint64(32), np.uint64(0xFFFFFFFF)
_SET_SHIFT = np.uint16(8)  # a set keeps the upper eight bits of each slot
_PRINT_SHIFT, _PRINT_BITS = np.uint64(8 - _VALUE_BITS), np.uint16(0xFFF << _VALUE_BITS)


@dataclass(frozen=True, eq=False)
class StaticMap:
    """``table`` holds the three thirds one after another, ``seed`` is the one the keys were placed with."""

    table: NDArray[np.uint16]
    seed: int

    @classmethod
    def build(cls, keys: Keys, values: NDArray[Any]) -> StaticMap:
        """A map of distinct keys to values 1..15. Raises ValueError for others."""
        values = np.asarray(values)
        if len(values) and not (values.min() >= 1 and values.max() <= LARGEST_VALUE):
            raise ValueError(f"values must lie in 1..{LARGEST_VALUE}")
        return cls(*_build(keys, values.astype(np.uint16)))

    def get(self, keys: Keys) -> NDArray[np.uint8]:
        """The value of each key, 0 for absent ones: the same shape. Fastest for some thousand keys at a time, which fit the caches."""
        found = _left(self.table, keys, self.seed)  # the value of a present key: less than 16
        found *= found <= LARGEST_VALUE
        values: NDArray[np.uint8] = found.astype(np.uint8).reshape(keys.shape)
        return values


@dataclass(frozen=True, eq=False)
class StaticSet:
    """``table`` holds the three thirds one after another, ``seed`` is the one the keys were placed with."""

    table: NDArray[np.uint8]
    seed: int

    @classmethod
    def build(cls, keys: Keys) -> StaticSet:
        """A set of distinct keys. Raises ValueError for a key given twice."""
        table, seed = _build(keys, np.zeros(len(keys), dtype=np.uint16))
        return cls((table >> _SET_SHIFT).astype(np.uint8), seed)

    def has(self, keys: Keys) -> NDArray[np.bool_]:
        """Whether each key is in the set: the same shape."""
        found: NDArray[np.bool_] = (_left(self.table, keys, self.seed) == 0).reshape(keys.shape)
        return found


def _build(keys: Keys, values: NDArray[np.uint16]) -> tuple[NDArray[np.uint16], int]:
    """The table in which the slots of every key XOR to its twelve bits and its value, and the seed that they were placed with."""
    if len(np.unique(keys)) != len(keys):
        raise ValueError("keys must be distinct")
    third = int(len(keys) * _ROOM / 3) + 16
    for seed in range(100):
        slots, prints = _place(keys, third, seed)
        slots = np.ascontiguousarray(slots.T)
        order = _peel(slots, 3 * third)
        if order is not None:
            return _fill(slots, prints | values, order, 3 * third), seed
    raise ValueError("the keys cannot be placed")  # pragma: no cover - has probability zero


def _left(table: NDArray[Any], keys: Keys, seed: int) -> NDArray[Any]:
    """What the slots of each key XOR to, less the bits of its hash: (keys,) as in the table."""
    slots, prints = _place(keys.reshape(-1), len(table) // 3, seed)
    first, second, third = table.take(slots, mode="clip")  # they are all inside: this only spares the question
    found: NDArray[Any] = first ^ second
    found ^= third
    found ^= prints if table.dtype == prints.dtype else (prints >> _SET_SHIFT).astype(table.dtype)
    return found


def _place(keys: Keys, third: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
    """The slots (3, keys) of each key, and in the upper bits of (keys,) the twelve that tell it from others."""
    mixed = (keys + np.uint64(seed)) * _FIRST
    mixed ^= mixed >> _MIX
    mixed *= _SECOND
    slots = np.empty((3, len(keys)), dtype=np.uint64)
    np.right_shift(mixed, _HALF, out=slots[0])
    mixed ^= slots[0]
    np.bitwise_and(mixed, _LOW, out=slots[1])
    mixed *= _THIRD
    np.right_shift(mixed, _HALF, out=slots[2])
    slots *= np.uint64(third)  # from 32 bits each to 0..third-1
    slots >>= _HALF
    slots += np.array([[0], [third], [2 * third]], dtype=np.uint64)
    mixed >>= _PRINT_SHIFT
    prints = mixed.astype(np.uint16)
    prints &= _PRINT_BITS
    return slots.view(np.int64), prints


def _peel(slots: NDArray[np.int64], size: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]] | None:
    """Rounds of (keys, the slot that each has for itself) until no key is left; None when some keys block one another."""
    flat = slots.ravel()
    owners = np.repeat(np.arange(len(slots)), 3)
    degree = np.bincount(flat, minlength=size)
    total = np.bincount(flat, owners, minlength=size).astype(np.int64)  # of the numbers of the keys in a slot
    rounds, left = [], len(slots)
    single = np.flatnonzero(degree == 1)
    while len(single):
        keys, first = np.unique(total[single], return_index=True)
        rounds.append((keys, single[first]))
        left -= len(keys)
        touched = slots[keys].ravel()
        np.subtract.at(degree, touched, 1)
        np.subtract.at(total, touched, np.repeat(keys, 3))
        touched = np.unique(touched)
        single = touched[degree[touched] == 1]
    return None if left else rounds


def _fill(
    slots: NDArray[np.int64], wanted: NDArray[np.uint16], order: list[tuple[NDArray[np.int64], NDArray[np.int64]]], size: int
) -> NDArray[np.uint16]:
    """The table in which the slots of every key XOR to what is wanted of it, filled from the key peeled last."""
    table = np.zeros(size, dtype=np.uint16)
    for keys, own in reversed(order):
        a, b, c = slots[keys].T
        table[own] = wanted[keys] ^ table[a] ^ table[b] ^ table[c]
    return table
