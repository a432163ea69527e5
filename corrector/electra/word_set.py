"""The words of one length as sorted keys, asked for thousands of keys at a time, few of which are words."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

_SLOT_BITS = 21
_MIX, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(64 - _SLOT_BITS)  # multiplicative hashing (Knuth, volume 3, section 6.4)


class WordSet:
    """``keys`` are sorted, each once."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    def __len__(self) -> int:
        return len(self.keys)

    def has(self, wanted: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each key is that of a word: the same shape."""
        found = np.zeros(wanted.size, dtype=np.bool_)
        found[self.find(wanted.reshape(-1))[0]] = True
        return found.reshape(wanted.shape)

    def find(self, wanted: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which of these keys (n,) are those of words, and the numbers of these in ``keys``: (words,) each. A search in 100,000 keys takes
        long; most that are none are ruled out before."""
        (likely,) = self._taken.take(_slots(wanted)).nonzero()
        if not len(self.keys):
            return likely, likely
        keys = wanted[likely]
        numbers = self.keys.searchsorted(keys)
        is_word = self.keys.take(numbers, mode="clip") == keys
        return likely[is_word], numbers[is_word]

    @cached_property
    def _taken(self) -> NDArray[np.bool_]:
        """Which slots of a hash table the words would take."""
        taken = np.zeros(2**_SLOT_BITS, dtype=np.bool_)
        taken[_slots(self.keys)] = True
        return taken


def _slots(keys: NDArray[Any]) -> NDArray[np.int64]:
    mixed = keys.view(np.uint64) * _MIX
    mixed >>= _SHIFT
    return mixed.view(np.int64)


Words = tuple[WordSet, WordSet, WordSet]
"""Those of two, three and four characters."""
