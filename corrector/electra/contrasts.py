"""Which of two characters that writers confuse fits a place, by a linear model of its surroundings for each such pair.

有 and 由, 于 and 与, 即 and 既 are all common, and make known pairs and triples with nearly everything; what tells them apart often stands
further off (既 … 又, 由 … 负责). For some hundred pairs the log-odds of the one against the other are a sum of weights of the
collocations of a place, its neighbours in order, and of the characters and pairs of characters on either side, wherever they stand
there (the features of Golding & Roth 1999, "A Winnow-Based Approach to Context-Sensitive Spelling Correction"). Of each pair the weights
that tell most are kept, in steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.electra.static_map import StaticMap

REACH = 12  # characters on either side
BUCKET_BITS = 20  # features are told apart by so many bits of their hash
MOST = np.float32(10.0)  # nats
MIDDLE_VALUE = 8  # of the map: its values 1 to 15 are -7 to 7 steps
_COLLOCATIONS = (
    (-1,), (1,), (-2,), (2,), (-3,), (3,), (-2, -1), (1, 2), (-1, 1), (-3, -2), (2, 3), (-4, -3), (3, 4), (-3, -2, -1), (1, 2, 3),
    (-2, -1, 1), (-1, 1, 2), (-2, -1, 1, 2), (-4, -3, -2, -1), (1, 2, 3, 4),
)  # fmt: skip
_NEAR = 8  # so far single characters count, wherever they stand on a side; pairs as far as ``REACH``
_PAIRS_LEFT, _PAIRS_RIGHT, _LEFT, _RIGHT = range(len(_COLLOCATIONS), len(_COLLOCATIONS) + 4)
_BOUNDARIES = 4  # ids below are paddings and ends of texts: nothing is seen beyond
_MIX = np.uint64(0xFF51AFD7ED558CCD)
_SHIFT, _TAKEN = np.uint64(33), np.uint64(64 - BUCKET_BITS)

Ids = NDArray[np.int64]
Scores = NDArray[np.float32]


def ids_around(flat: NDArray[Any], places: Ids) -> Ids:
    """``REACH`` ids on either side of each place of a text (length,), 0 from an end of the text on: (places, 2 * REACH + 1)."""
    offsets = places[:, None] + np.arange(-REACH, REACH + 1)
    found = flat.take(offsets, mode="clip").astype(np.int64)
    found[(offsets < 0) | (offsets >= len(flat))] = 0
    return to_ends(found)


def to_ends(around: Ids) -> Ids:
    """Ids around places (places, 2 * REACH + 1), 0 from the ends of their texts on, where there was something else: changed in place."""
    for side in (around[:, REACH - 1 :: -1], around[:, REACH + 1 :]):
        side[np.logical_or.accumulate(side < _BOUNDARIES, axis=1)] = 0
    return around


def features(around: Ids) -> Ids:
    """The features of places with these ``ids_around`` (places, 2 * REACH + 1), as buckets, 0 for none: (places, features)."""
    ids = np.ascontiguousarray(around.T).astype(np.uint64)
    found = [_hashed(kind, *(ids[REACH + offset] for offset in offsets))[None] for kind, offsets in enumerate(_COLLOCATIONS)]
    left, right = ids[:REACH], ids[REACH + 1 :]
    anywhere = (
        (_PAIRS_LEFT, left[:-2], left[1:-1]), (_PAIRS_RIGHT, right[1:-1], right[2:]),
        (_LEFT, left[-_NEAR:-1]), (_RIGHT, right[1:_NEAR]),
    )  # fmt: skip
    for kind, *parts in anywhere:
        found.append(_hashed(kind, *parts) * np.logical_and.reduce([part > 0 for part in parts]))
    buckets: Ids = np.concatenate(found).T.astype(np.int64)
    return buckets


def _hashed(kind: int, *ids: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Buckets of features of a kind, from ids of one shape."""
    mixed = np.full(ids[0].shape, kind + 1, dtype=np.uint64) * _MIX
    for part in ids:
        mixed ^= part
        mixed *= _MIX
        mixed ^= mixed >> _SHIFT
    mixed *= _MIX
    mixed >>= _TAKEN
    return mixed


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Pairs of ids (pairs, 2), the smaller first; the log-odds of the second are ``biases`` (pairs,) and ``steps`` (pairs,) times the
    values that ``weights`` has for the features, less ``MIDDLE_VALUE``. The key of a feature is its bucket and, above that, the number
    of the pair."""

    vocabulary_size: int
    pairs: NDArray[np.uint16]
    biases: Scores
    steps: Scores
    weights: StaticMap

    @classmethod
    def load(cls, path: Path) -> Contrasts:
        """Read ``contrasts.npz``. Raises ValueError if it is something else."""
        with np.load(path) as data:
            weights = StaticMap.read(data, "weights")
            if weights is None:
                raise ValueError("has no weights")
            return cls(int(data["vocabulary_size"]), data["pairs"], data["biases"], data["steps"], weights)

    def save(self, path: Path) -> None:
        """Write ``contrasts.npz``."""
        arrays: dict[str, Any] = {"pairs": self.pairs, "biases": self.biases, "steps": self.steps, **self.weights.arrays("weights")}
        np.savez(path, vocabulary_size=np.int64(self.vocabulary_size), **arrays)

    def numbers(self, present: Ids, others: Ids) -> Ids:
        """The number of the pair of each two ids, plus one, negative where the smaller is the other; 0 for those that are none."""
        keys, numbers = self._sorted
        wanted = present * self.vocabulary_size + others
        at = keys.searchsorted(wanted)
        np.minimum(at, len(keys) - 1, out=at)
        found: Ids = np.where(keys[at] == wanted, numbers[at], 0)
        return found

    def log_odds(self, around: Ids, which: Ids, numbers: Ids) -> Scores:
        """The log-odds of the other character of the pairs with these ``numbers``, none of them 0, as if both were equally common, in the
        ``ids_around`` with the numbers ``which`` of those given (places, 2 * REACH + 1): (numbers,), at most ``MOST``."""
        buckets = features(around)[which]
        pair = np.abs(numbers) - 1
        values = self.weights.get((buckets + (pair << BUCKET_BITS)[:, None]).view(np.uint64)).astype(np.int64)
        odds: Scores = self.steps[pair] * ((values - MIDDLE_VALUE) * (values > 0)).sum(1) + self.biases[pair]
        return np.where(numbers > 0, odds, -odds).clip(-MOST, MOST)

    @cached_property
    def _sorted(self) -> tuple[Ids, Ids]:
        """Both orders of every pair as keys, sorted, and what ``numbers`` says of them."""
        first, second = self.pairs.T.astype(np.int64)
        own = np.arange(1, len(self.pairs) + 1)
        keys = np.concatenate([first * self.vocabulary_size + second, second * self.vocabulary_size + first])
        order = np.argsort(keys)
        return keys[order], np.concatenate([own, -own])[order]
