"""Counts which words of a corpus stand near one another: what ``corrector.electra.associations`` looks up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from corrector.electra.associations import LEVEL, REACH, WEAKEST, Associations, association_keys
from corrector.electra.static_map import LARGEST_VALUE, StaticMap
from corrector.electra.word_set import WordSet
from corrector.train.keys import Counts, counted, sums_without

Tokens = NDArray[np.uint16]

FEWEST = 5  # times that two words must stand near each other in the whole corpus (about 160 M characters)
_SLICES = 8  # counted one after another, by one of the words, so that memory stays bounded
_BLOCK = 4_000_000  # characters read at a time


def associations_of(
    parts: Sequence[Sequence[Tokens]], left_out: Sequence[int], words: NDArray[np.uint64], vocabulary_size: int
) -> Iterator[Associations]:
    """For each number ``left_out`` the associations in all parts of the corpus but that one (in all, for a number of none)."""
    sizes = np.array([sum(map(len, part)) for part in parts])
    single = np.stack([_occurrences(part, words, vocabulary_size) for part in parts])
    found: list[list[tuple[NDArray[np.int64], NDArray[np.uint8]]]] = [[] for _ in left_out]
    for slice_ in range(_SLICES):
        near = [_near(part, words, vocabulary_size, slice_) for part in parts]
        for number, kept, (keys, counts) in zip(left_out, found, sums_without(near, left_out), strict=True):
            alone, size = single.sum(0), sizes.sum()
            if 0 <= number < len(parts):
                alone, size = alone - single[number], size - sizes[number]
            often = counts >= max(1, round(FEWEST * size / sizes.sum()))
            first, second = np.divmod(keys[often], len(words))
            by_chance = 2.0 * (REACH - 1) * alone[first] * alone[second] / size
            level = 1 + np.floor((np.log(counts[often] / by_chance) - WEAKEST) / LEVEL)
            kept.append((keys[often][level >= 1], np.minimum(level[level >= 1], LARGEST_VALUE).astype(np.uint8)))
    for kept in found:
        keys, levels = (np.concatenate(columns) for columns in zip(*kept, strict=True))
        first, second = (words[half] for half in np.divmod(keys, len(words)))
        yield Associations(WordSet(words), vocabulary_size, StaticMap.build(association_keys(first, second, vocabulary_size), levels))


def _word_numbers(part: Sequence[Tokens], words: NDArray[np.uint64], vocabulary_size: int) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """The places of words in the text, in order, and their numbers, ``_BLOCK`` characters at a time."""
    known = WordSet(words)
    for tokens in part:
        for start in range(0, len(tokens) - 1, _BLOCK):
            block = tokens[start : start + _BLOCK + REACH].astype(np.int64)
            keys = (block[:-1] * vocabulary_size + block[1:]).view(np.uint64)
            yield known.find(keys)


def _occurrences(part: Sequence[Tokens], words: NDArray[np.uint64], vocabulary_size: int) -> NDArray[np.int64]:
    """How often each word occurs: (words,)."""
    total = np.zeros(len(words), dtype=np.int64)
    for places, numbers in _word_numbers(part, words, vocabulary_size):
        total += np.bincount(numbers[places < _BLOCK], minlength=len(words))
    return total


def _near(part: Sequence[Tokens], words: NDArray[np.uint64], vocabulary_size: int, slice_: int) -> Counts:
    """How often the pairs of words (smaller number · words + larger number) of one slice stand near each other."""
    pieces = [np.zeros(0, dtype=np.int64)]
    for places, numbers in _word_numbers(part, words, vocabulary_size):
        for after in range(1, REACH + 1):  # no more words than characters begin within reach
            gap = places[after:] - places[:-after]
            a, b = numbers[:-after], numbers[after:]
            low, high = np.minimum(a, b), np.maximum(a, b)
            near = (gap >= 2) & (gap <= REACH) & (places[:-after] < _BLOCK) & (low != high) & (high % _SLICES == slice_)
            pieces.append(low[near] * len(words) + high[near])
    return counted(np.concatenate(pieces))
