"""Token types that tell a small model which neighbours belong together.

A mark is a mixed-radix number over four factors, computed from the token ids alone:

1. dictionary words (4 bits): the token ends a two-character word with its left neighbour (1), begins one with its right
   neighbour (2), lies inside a three-character (4) or four-character word (8) of the lexicon;
2. and 3. how often the pair with the left / right neighbour occurs in a large corpus, on a logarithmic scale of 8 levels;
4. how well the token fits between two characters on either side, and how much better one that sounds or looks alike would
   (``ngrams.Ngrams.levels``), on 16 levels.

Wrong characters break words, make rare pairs, and stand where a similar one is usual: the marks carry most of what a large network
would otherwise have to remember.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.electra.ngrams import LEVELS, Ngrams

MARK_FACTORS = (16, 8, 8, LEVELS)

Keys = NDArray[np.uint64]

_PAIR_LEVELS = np.array([0, 0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7])  # of each step of ngrams.PAIR_STEPS


@dataclass(frozen=True, eq=False)
class MarkTables:
    """The words of a lexicon as sorted keys, for one vocabulary, and the corpus counts where there are any.

    The key of ids (a, b, …) is their number in base ``vocabulary_size``.
    """

    vocabulary_size: int
    words: tuple[Keys, Keys, Keys]  # of two, three and four characters
    ngrams: Ngrams | None = None

    @classmethod
    def load(cls, path: Path) -> MarkTables:
        """Read ``marks.npz``."""
        with np.load(path) as data:
            words = tuple(np.cumsum(data[f"words{length}"], dtype=np.uint64) for length in (2, 3, 4))
            ngrams = Ngrams.from_arrays(data) if "pairs_map" in data else None
            return cls(int(data["vocabulary_size"]), words, ngrams)  # type: ignore[arg-type]

    def save(self, path: Path) -> None:
        """Write ``marks.npz``; it is not compressed, because it is read at every start."""
        arrays: dict[str, Any] = {"vocabulary_size": np.int64(self.vocabulary_size)}
        for length, keys in zip((2, 3, 4), self.words, strict=True):
            differences = np.diff(keys, prepend=np.uint64(0))
            narrow = not len(differences) or int(differences.max()) < 2**32
            arrays[f"words{length}"] = differences.astype(np.uint32) if narrow else differences
        if self.ngrams is not None:
            arrays |= self.ngrams.arrays()
        np.savez(path, **arrays)

    def is_word(self, *ids: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether these two to four neighbours are a word of the lexicon; one array a place, all of one shape."""
        key = ids[0].astype(np.uint64)
        for part in ids[1:]:
            key = key * np.uint64(self.vocabulary_size) + part.astype(np.uint64)
        keys = self.words[len(ids) - 2]
        if not len(keys):
            return np.zeros(key.shape, dtype=np.bool_)
        found: NDArray[np.bool_] = keys[np.minimum(np.searchsorted(keys, key), len(keys) - 1)] == key
        return found

    def word_bits(self, ids: NDArray[Any]) -> NDArray[np.int64]:
        """The first factor of each token, any shape whose last axis is the text: the same shape."""
        ids = np.asarray(ids)
        length = ids.shape[-1]
        bits = np.zeros(ids.shape, dtype=np.int64)
        if length >= 2:
            is_word = self.is_word(ids[..., :-1], ids[..., 1:]).astype(np.int64)
            bits[..., 1:] |= is_word
            bits[..., :-1] |= is_word * 2
        for size, bit in ((3, 4), (4, 8)):
            if length >= size:
                parts = [ids[..., i : length - size + 1 + i] for i in range(size)]
                is_word = self.is_word(*parts).astype(np.int64) * bit
                for i in range(size):
                    bits[..., i : length - size + 1 + i] |= is_word
        return bits

    def types(self, ids: NDArray[Any]) -> NDArray[np.int32]:
        """The marks of token ids, (length,) or (rows, length): the same shape."""
        ids = np.asarray(ids).astype(np.int64)
        mark = self.word_bits(ids)
        if self.ngrams is not None and ids.size:
            rows = ids.reshape(-1, ids.shape[-1])
            steps = _PAIR_LEVELS[self.ngrams.pair_step(rows[:, :-1], rows[:, 1:])]
            left, right = np.pad(steps, ((0, 0), (1, 0))), np.pad(steps, ((0, 0), (0, 1)))
            mark = mark + 16 * (left + 8 * (right + 8 * self.ngrams.levels(rows))).reshape(ids.shape)
        return mark.astype(np.int32)
