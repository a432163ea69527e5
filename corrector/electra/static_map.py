"""A map from 64-bit keys to small numbers in little more than two bytes a key, and a set in one, whatever the keys, without storing them.

Binary fuse filters (Graf & Lemire 2022, "Binary Fuse Filters", section 3): the slots of each key, one in each of three neighbouring
segments of a table, XOR to bits of the key's hash: in the set to eight of them, in the map to twelve and its four-bit value. An absent
key is taken for a present one with probability 1/256 and 1/4096; a present one is always found. Loading is reading one array.

A table of version 0.8 or earlier is read too: an XOR filter (the same authors, 2020), whose slots lie in each third of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

LARGEST_VALUE = 15
_VALUE_BITS = 4
_ROOM, _LARGEST_SEGMENT = 1.125, 2**18  # the fewest slots per key, which only many keys can do with
THIRDS = 0  # instead of the length of a segment: an XOR filter
_FIRST, _SECOND, _THIRD = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_MIX, _HALF, _LOW = np.uint64(29), np.uint64(32), np.uint64(0xFFFFFFFF)
_SET_SHIFT = np.uint16(8)  # a set keeps the upper eight bits of each slot
_PRINT_SHIFT, _PRINT_BITS = np.uint64(8 - _VALUE_BITS), np.uint16(0xFFF << _VALUE_BITS)


@dataclass(frozen=True, eq=False)
class StaticMap:
    """``table`` holds segments of ``segment`` slots (a power of two, or ``THIRDS``); the keys were placed with ``seed``."""

    table: NDArray[np.uint16]
    seed: int
    segment: int = THIRDS

    @classmethod
    def build(cls, keys: Keys, values: NDArray[Any]) -> StaticMap:
        """A map of distinct keys to values 1..15. Raises ValueError for others."""
        if len(values) and not (values.min() >= 1 and values.max() <= LARGEST_VALUE):
            raise ValueError(f"values must lie in 1..{LARGEST_VALUE}")
        return cls(*_build(keys, values.astype(np.uint16)))

    @classmethod
    def read(cls, data: Mapping[str, NDArray[Any]], name: str) -> StaticMap | None:
        """The map that ``arrays`` named so, if there is one."""
        return cls(*_read(data, name, "map")) if f"{name}_map" in data else None

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """What is to be saved of it."""
        return {f"{name}_map": self.table, f"{name}_seed": np.array(self.seed), f"{name}_segment": np.array(self.segment)}

    def get(self, keys: Keys) -> NDArray[np.uint8]:
        """The value of each key, 0 for absent ones: the same shape. Fastest for some thousand keys at a time, which fit the caches."""
        found = _left(self.table, keys, self.seed, self.segment)  # the value of a present key: less than 16
        found *= found <= LARGEST_VALUE
        values: NDArray[np.uint8] = found.astype(np.uint8).reshape(keys.shape)
        return values


@dataclass(frozen=True, eq=False)
class StaticSet:
    """``table`` holds segments of ``segment`` slots (a power of two, or ``THIRDS``); the keys were placed with ``seed``."""

    table: NDArray[np.uint8]
    seed: int
    segment: int = THIRDS

    @classmethod
    def build(cls, keys: Keys) -> StaticSet:
        """A set of distinct keys. Raises ValueError for a key given twice."""
        table, seed, segment = _build(keys, np.zeros(len(keys), dtype=np.uint16))
        return cls((table >> _SET_SHIFT).astype(np.uint8), seed, segment)

    @classmethod
    def read(cls, data: Mapping[str, NDArray[Any]], name: str) -> StaticSet | None:
        """The set that ``arrays`` named so, if there is one."""
        return cls(*_read(data, name, "set")) if f"{name}_set" in data else None

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """What is to be saved of it."""
        return {f"{name}_set": self.table, f"{name}_seed": np.array(self.seed), f"{name}_segment": np.array(self.segment)}

    def has(self, keys: Keys) -> NDArray[np.bool_]:
        """Whether each key is in the set: the same shape."""
        found: NDArray[np.bool_] = (_left(self.table, keys, self.seed, self.segment) == 0).reshape(keys.shape)
        return found


def _read(data: Mapping[str, NDArray[Any]], name: str, kind: str) -> tuple[NDArray[Any], int, int]:
    segment = f"{name}_segment"
    return data[f"{name}_{kind}"], int(data[f"{name}_seed"]), int(data[segment]) if segment in data else THIRDS


def _build(keys: Keys, values: NDArray[np.uint16]) -> tuple[NDArray[np.uint16], int, int]:
    """The table in which the slots of every key XOR to its twelve bits and its value, the seed that they were placed with, and the length
    of a segment."""
    if len(np.unique(keys)) != len(keys):
        raise ValueError("keys must be distinct")
    segment, size = _sizes(len(keys))
    for seed in range(100):
        slots, prints = _place(keys, size, seed, segment)
        slots = np.ascontiguousarray(slots.T)
        order = _peel(slots, size)
        if order is not None:
            return _fill(slots, prints | values, order, size), seed, segment
    raise ValueError("the keys cannot be placed")  # pragma: no cover - has probability zero


def _sizes(count: int) -> tuple[int, int]:
    """The lengths of a segment and of a table for so many keys (Graf & Lemire 2022, section 4)."""
    logarithm = math.log(max(count, 2))
    segment = min(2 ** int(logarithm / math.log(3.33) + 2.25), _LARGEST_SEGMENT)
    slots = count * max(_ROOM, 0.875 + 0.25 * math.log(1e6) / logarithm)
    return segment, segment * max(3, math.ceil(slots / segment))


def _left(table: NDArray[Any], keys: Keys, seed: int, segment: int) -> NDArray[Any]:
    """What the slots of each key XOR to, less the bits of its hash: (keys,) as in the table."""
    slots, prints = _place(keys.reshape(-1), len(table), seed, segment)
    first, second, third = table.take(slots, mode="clip")  # they are all inside: this only spares the question
    found: NDArray[Any] = first ^ second
    found ^= third
    found ^= prints if table.dtype == prints.dtype else (prints >> _SET_SHIFT).astype(table.dtype)
    return found


def _place(keys: Keys, size: int, seed: int, segment: int) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
    """The slots (3, keys) of each key in a table of this size, and in the upper bits of (keys,) the twelve that tell it from others."""
    mixed = (keys + np.uint64(seed)) * _FIRST
    mixed ^= mixed >> _MIX
    mixed *= _SECOND
    slots = np.empty((3, len(keys)), dtype=np.uint64)
    np.right_shift(mixed, _HALF, out=slots[0])
    mixed ^= slots[0]
    np.bitwise_and(mixed, _LOW, out=slots[1])
    mixed *= _THIRD
    np.right_shift(mixed, _HALF, out=slots[2])
    if segment == THIRDS:
        slots *= np.uint64(size // 3)  # from 32 bits each to a place in a third
        slots >>= _HALF
        slots += np.array([[0], [size // 3], [2 * (size // 3)]], dtype=np.uint64)
    else:
        slots[0] *= np.uint64(size - 2 * segment)  # from 32 bits to a place before the last two segments
        slots[0] >>= _HALF
        slots[1:] &= np.uint64(segment - 1)
        slots[1:] ^= slots[0] + np.array([[segment], [2 * segment]], dtype=np.uint64)  # its place in the segments that follow, mixed
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
