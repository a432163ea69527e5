"""Token types that tell a small model which neighbours belong together.

A mark is a mixed-radix number over four factors, computed from the token ids alone:

1. dictionary words (4 bits): the token ends a two-character word with its left neighbour (1), begins one with its right
   neighbour (2), lies inside a three-character (4) or four-character word (8) of the lexicon;
2. and 3. how often the pair with the left / right neighbour occurs in a large corpus, on a logarithmic scale of 8 levels;
4. how often the triple centred on the token occurs, on 4 levels.

Wrong characters break words and make rare pairs, so the marks carry most of what a long context would otherwise have to teach.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MARK_FACTORS = (16, 8, 8, 4)

Keys = NDArray[np.uint64]
Levels = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class MarkTables:
    """Sorted keys of known pairs, triples and words, for one vocabulary.

    The key of ids (a, b, …) is their number in base ``vocabulary_size``. ``first_character`` and above are ids of real
    characters; anything with a lower id (specials) never belongs to a pair.
    """

    vocabulary_size: int
    pairs: Keys
    pair_levels: Levels  # 1..7
    triples: Keys
    triple_levels: Levels  # 1..3
    words: tuple[Keys, Keys, Keys]  # of two, three and four characters

    @classmethod
    def load(cls, path: Path) -> MarkTables:
        """Read ``marks.npz``."""
        with np.load(path) as data:
            return cls(
                int(data["vocabulary_size"]),
                np.cumsum(data["pairs"], dtype=np.uint64),
                data["pair_levels"],
                np.cumsum(data["triples"], dtype=np.uint64),
                data["triple_levels"],
                (
                    np.cumsum(data["words2"], dtype=np.uint64),
                    np.cumsum(data["words3"], dtype=np.uint64),
                    np.cumsum(data["words4"], dtype=np.uint64),
                ),
            )

    def save(self, path: Path) -> None:
        """Write ``marks.npz``: sorted keys as differences, which compress to one or two bytes each."""
        pairs, pair_levels = bridged(self.pairs, self.pair_levels)
        triples, triple_levels = bridged(self.triples, self.triple_levels)
        arrays: dict[str, Any] = {
            "vocabulary_size": np.int64(self.vocabulary_size),
            "pairs": differences(pairs).astype(np.uint32),
            "pair_levels": pair_levels,
            "triples": differences(triples).astype(np.uint32),
            "triple_levels": triple_levels,
        }
        for length, keys in zip((2, 3, 4), self.words, strict=True):
            arrays[f"words{length}"] = differences(keys)
        np.savez_compressed(path, **arrays)

    def pair_level(self, left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int64]:
        """Level 0..7 of each pair (same shape as the arguments)."""
        return _look_up(self.pairs, self.pair_levels, self._key(left, right))

    def triple_level(self, left: NDArray[Any], middle: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int64]:
        """Level 0..3 of each triple."""
        return _look_up(self.triples, self.triple_levels, self._key(left, middle, right))

    def types(self, ids: NDArray[Any]) -> NDArray[np.int32]:
        """The marks of token ids, any shape whose last axis is the text: the same shape."""
        ids = np.asarray(ids)
        length = ids.shape[-1]
        words = np.zeros(ids.shape, dtype=np.int64)
        left = np.zeros(ids.shape, dtype=np.int64)
        right = np.zeros(ids.shape, dtype=np.int64)
        triple = np.zeros(ids.shape, dtype=np.int64)
        if length >= 2:
            a, b = ids[..., :-1], ids[..., 1:]
            level = self.pair_level(a, b)
            left[..., 1:] = level
            right[..., :-1] = level
            is_word = _contains(self.words[0], self._key(a, b)).astype(np.int64)
            words[..., 1:] |= is_word
            words[..., :-1] |= is_word * 2
        if length >= 3:
            triple[..., 1:-1] = self.triple_level(ids[..., :-2], ids[..., 1:-1], ids[..., 2:])
        for size, bit in ((3, 4), (4, 8)):
            if length >= size:
                parts = [ids[..., i : length - size + 1 + i] for i in range(size)]
                is_word = _contains(self.words[size - 2], self._key(*parts)).astype(np.int64) * bit
                for i in range(size):
                    words[..., i : length - size + 1 + i] |= is_word
        mark: NDArray[np.int32] = (words + 16 * (left + 8 * (right + 8 * triple))).astype(np.int32)
        return mark

    def _key(self, *ids: NDArray[Any]) -> Keys:
        key = ids[0].astype(np.uint64)
        for part in ids[1:]:
            key = key * np.uint64(self.vocabulary_size) + part.astype(np.uint64)
        return key


def differences(keys: Keys) -> NDArray[np.uint64]:
    """First key, then each key minus the one before."""
    return np.diff(keys, prepend=np.uint64(0))


def bridged(keys: Keys, levels: Levels) -> tuple[Keys, Levels]:
    """The same table with keys of level 0, which count as absent, put into gaps too wide for a 32-bit difference."""
    limit = np.uint64(2**32 - 1)
    gaps = differences(keys)
    wide = np.flatnonzero(gaps > limit)
    starts = keys[wide] - gaps[wide]
    extra = [start + step * limit for start, gap in zip(starts, gaps[wide], strict=True) for step in _steps(gap, limit)]
    if not extra:
        return keys, levels
    merged = np.concatenate([keys, np.array(extra, dtype=np.uint64)])
    order = np.argsort(merged, kind="stable")
    return merged[order], np.concatenate([levels, np.zeros(len(extra), dtype=np.uint8)])[order]


def _steps(gap: np.uint64, limit: np.uint64) -> NDArray[np.uint64]:
    return np.arange(1, int((gap - np.uint64(1)) // limit) + 1, dtype=np.uint64)


def _find(keys: Keys, wanted: Keys) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return place, (keys[place] == wanted) if len(keys) else np.zeros(wanted.shape, dtype=np.bool_)


def _contains(keys: Keys, wanted: Keys) -> NDArray[np.bool_]:
    return _find(keys, wanted)[1]


def _look_up(keys: Keys, levels: Levels, wanted: Keys) -> NDArray[np.int64]:
    place, found = _find(keys, wanted)
    if not len(keys):
        return np.zeros(wanted.shape, dtype=np.int64)
    return np.where(found, levels[place], 0).astype(np.int64)
