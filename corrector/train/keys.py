"""Counts what stands next to one another in text: rows of a few tokens, as numbers in base of the size of their vocabulary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = tuple[NDArray[Any], NDArray[np.int64]]
"""Sorted keys, each once, and how often they occur."""

_PARTS = 8  # counted one after another, by first token, so that memory stays bounded


def count_keys(
    arrays: Sequence[NDArray[Any]], size: int, vocabulary_size: int, at_least: int, specials: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Sorted keys of ``size`` neighbouring tokens seen at least that often, and their counts. Specials never count."""
    found = [(keys[counts >= at_least], counts[counts >= at_least]) for keys, counts in count_all(arrays, size, vocabulary_size, specials)]
    return sorted_by_key(found)


def count_all(
    arrays: Sequence[NDArray[Any]], size: int, vocabulary_size: int, specials: int
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.int64]]]:
    """The keys of ``size`` neighbouring tokens, none of them special, and their counts: a part of them at a time, each in one part only."""
    for part in range(_PARTS):
        pieces = [np.zeros(0, dtype=np.uint64)]
        for tokens in arrays:
            length = max(0, len(tokens) - size + 1)
            good = (tokens[:length] % _PARTS == part) & (tokens[:length] >= specials)
            for i in range(1, size):
                good &= tokens[i : length + i] >= specials
            at = np.flatnonzero(good)
            key = tokens[at].astype(np.uint64)
            for i in range(1, size):
                key = key * np.uint64(vocabulary_size) + tokens[at + i].astype(np.uint64)
            pieces.append(key)
        yield counted(np.concatenate(pieces))


def count_without(
    parts: Sequence[Sequence[NDArray[Any]]], left_out: Sequence[int], size: int, vocabulary_size: int, specials: int
) -> Iterator[list[Counts]]:
    """``count_all`` of all parts but number N, for each N that is ``left_out`` (of all of them, for a number of none)."""
    for counts in zip(*(count_all(part, size, vocabulary_size, specials) for part in parts), strict=True):
        yield list(sums_without(counts, left_out))


def sums_without(parts: Sequence[Counts], left_out: Sequence[int]) -> Iterator[Counts]:
    """The counts of all parts but number N together, for each N that is ``left_out`` (of all of them, for a number of none)."""
    keys, times = sorted_by_key(parts)
    first = firsts(keys)
    keys, total = keys[first], np.add.reduceat(times, first)
    for number in left_out:
        rest = total.copy()
        if number in range(len(parts)):
            own, times = parts[number]
            rest[np.searchsorted(keys, own)] -= times
        yield keys[rest > 0], rest[rest > 0]


def sorted_by_key(parts: Sequence[Counts]) -> Counts:
    """Parts of keys and counts put together."""
    keys = np.concatenate([keys for keys, _ in parts])
    order = np.argsort(keys)
    return keys[order], np.concatenate([counts for _, counts in parts])[order]


def counted(keys: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Sorts ``keys``; each of them once, and how often it occurs."""
    keys.sort()
    first = firsts(keys)
    return keys[first], np.diff(np.append(first, len(keys)))


def firsts(keys: NDArray[Any]) -> NDArray[np.int64]:
    """Where in sorted keys another one begins."""
    return np.flatnonzero(np.concatenate([[len(keys) > 0], keys[1:] != keys[:-1]]))
