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
        """Which keys are those of words: the same shape. A search in 100,000 keys takes long; most that are none are ruled out before."""
        flat = wanted.reshape(-1)
        found = np.zeros(len(flat), dtype=np.bool_)
        if len(self.keys):
            (likely,) = self._taken.take(_slots(flat)).nonzero()
            keys = flat[likely]
            found[likely] = self.keys.take(self.keys.searchsorted(keys), mode="clip") == keys
        return found.reshape(wanted.shape)

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
