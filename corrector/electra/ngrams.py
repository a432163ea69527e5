"""Corpus counts of neighbouring characters, and what they say of a text: would a character that sounds or looks alike fit better?

The probability of a character after two others backs off from triples to pairs to single characters (Dirichlet smoothing, MacKay & Peto
1995, with the counts in rough steps):

    p(c|b)  = (n(bc) + D₂·p(c)) / (n(b) + D₂)        p(c|ab) = (n(abc) + D₃·p(c|b)) / (n(ab) + D₃)

A character's score is ln p(c|l₂l₁) + ln p(r₁|l₁c) + ln p(r₂|cr₁): every triple it takes part in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.electra.static_map import StaticMap

# Occurrences in the whole corpus (about 160 M characters) from which on a count is in step 1, 2, … 15.
PAIR_STEPS = (2, 4, 10, 18, 30, 60, 100, 200, 400, 1000, 2000, 4500, 10000, 40000, 200000)
TRIPLE_STEPS = (5, 7, 10, 14, 20, 30, 45, 70, 110, 180, 300, 600, 1500, 4000, 12000)
PAIR_SMOOTHING, TRIPLE_SMOOTHING = 100.0, 10.0  # D₂ and D₃, compared on 400 development sentences
SIMILARITY_WEIGHT = 4.0  # of ln similarity beside the score of a look-alike; compared on the same
SPECIALS = 6  # ids below are no characters: they predict nothing and nothing predicts them

LEVELS = 16
_OWN_STEPS = (-24.0, -16.0, -10.0)  # scores of a character that no look-alike beats: levels 3, 2, 1, 0
_GAIN_STEPS = (1.5, 3.0, 4.5, 6.0, 7.5, 9.0, 10.5, 12.0, 14.0, 17.0, 20.0)  # gains of the best look-alike: levels 4 to 15
_FITTING = -10.0  # a character that scores more is not compared with others
_FEW_PAIRS = 2  # a look-alike is compared when it makes known pairs of at least this step in all

Ids = NDArray[np.int64]
Scores = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Ngrams:
    """Counts over one vocabulary: of characters (vocabulary,), of pairs and triples in steps; and each character's look-alikes.

    ``alike`` (vocabulary, most) are ids, 0 where there are fewer; ``similarity`` (vocabulary, most) says how much alike, 0..255.
    """

    counts: NDArray[np.float32]
    pairs: StaticMap
    triples: StaticMap
    alike: NDArray[np.uint16]
    similarity: NDArray[np.uint8]

    @classmethod
    def from_arrays(cls, data: Mapping[str, NDArray[Any]]) -> Ngrams:
        """The reverse of ``arrays``."""
        pairs, triples = (StaticMap(data[f"{name}_map"], int(data[f"{name}_seed"])) for name in ("pairs", "triples"))
        return cls(data["character_counts"], pairs, triples, data["alike"], data["similarity"])

    def arrays(self) -> dict[str, Any]:
        """Everything as named arrays, to be saved."""
        return {
            "character_counts": self.counts, "alike": self.alike, "similarity": self.similarity,
            "pairs_map": self.pairs.table, "pairs_seed": np.int64(self.pairs.seed),
            "triples_map": self.triples.table, "triples_seed": np.int64(self.triples.seed),
        }  # fmt: skip

    def pair_step(self, left: Ids, right: Ids) -> NDArray[np.uint8]:
        """How often each pair occurs, in steps 0..15 (``PAIR_STEPS``)."""
        return self.pairs.get(self._key(left, right))

    def log_probability(self, before: Ids, left: Ids, character: Ids) -> Scores:
        """ln p(character | before left), same shape; 0 for what is no character."""
        return self._log_probability(before, left, character, self.pair_step(before, left), self.pair_step(left, character))

    def text_score(self, texts: Ids) -> Scores:
        """The sum of ln p over all characters from the third on: (rows, length) → (rows,)."""
        step = self.pair_step(texts[:, :-1], texts[:, 1:])
        scores = self._log_probability(texts[:, :-2], texts[:, 1:-1], texts[:, 2:], step[:, :-1], step[:, 1:])
        total: Scores = scores.sum(1)
        return total

    def levels(self, texts: Ids) -> NDArray[np.int64]:
        """0..15 for each token of (rows, length): 0 fits well … 3 is rare, 4 a look-alike fits as well … 15 far better."""
        padded = np.pad(texts, ((0, 0), (2, 2)))
        step = self.pair_step(padded[:, :-1], padded[:, 1:])
        single = self._log_probability(padded[:, :-2], padded[:, 1:-1], padded[:, 2:], step[:, :-1], step[:, 1:])
        own = single[:, :-2] + single[:, 1:-1] + single[:, 2:]  # (rows, length): the three triples of each character
        comparable = self.alike[texts, 0] > 0
        rows, places = np.nonzero(comparable & (own < _FITTING))
        gain = self._gains(padded, rows, places + 2, own[rows, places])
        levels = 3 - np.searchsorted(_OWN_STEPS, own, side="right")
        levels[~comparable] = 0
        better = gain > 0
        levels[rows[better], places[better]] = 4 + np.searchsorted(_GAIN_STEPS, gain[better], side="right")
        return levels

    def _gains(self, padded: Ids, rows: Ids, places: Ids, own: Scores) -> Scores:
        """By how much the best look-alike at each place beats the character there, its similarity weighed in: (places,)."""
        context = [padded[rows, places + offset] for offset in (-2, -1, 1, 2)]
        candidates = self._alike[padded[rows, places]]  # (places, most)
        left = self.pair_step(np.broadcast_to(context[1][:, None], candidates.shape), candidates)
        right = self.pair_step(candidates, np.broadcast_to(context[2][:, None], candidates.shape))
        which, column = np.nonzero((left + right >= _FEW_PAIRS) & (candidates > 0))
        character = candidates[which, column]
        l2, l1, r1, r2 = (part[which] for part in context)
        left_step, right_step = left[which, column], right[which, column]
        score = self._log_probability(l2, l1, character, self.pair_step(l2, l1), left_step)
        score += self._log_probability(l1, character, r1, left_step, right_step)
        score += self._log_probability(character, r1, r2, right_step, self.pair_step(r1, r2))
        score += self._similarity_term[padded[rows, places][which], column]
        gains = np.full(len(rows), -np.inf, dtype=np.float32)
        np.maximum.at(gains, which, score - own[which])
        return gains

    def _log_probability(
        self, before: Ids, left: Ids, character: Ids, step_before: NDArray[np.uint8], step_after: NDArray[np.uint8]
    ) -> Scores:
        triple = _TRIPLE_COUNTS[self.triples.get(self._key(before, left, character))]
        alone = self.counts[left]
        pair = (_PAIR_COUNTS[step_after] + PAIR_SMOOTHING * self._share[character]) / (alone + np.float32(PAIR_SMOOTHING))
        p = (triple + np.float32(TRIPLE_SMOOTHING) * pair) / (_PAIR_COUNTS[step_before] + np.float32(TRIPLE_SMOOTHING))
        scores: Scores = np.log(p)
        scores[character < SPECIALS] = 0.0
        return scores

    def _key(self, *ids: Ids) -> NDArray[np.uint64]:
        key = ids[0].astype(np.uint64)
        for part in ids[1:]:
            key = key * np.uint64(len(self.counts)) + part.astype(np.uint64)
        return key

    @cached_property
    def _share(self) -> NDArray[np.float32]:
        counts = np.maximum(self.counts, 1.0)
        share: NDArray[np.float32] = (counts / counts.sum()).astype(np.float32)
        return share

    @cached_property
    def _alike(self) -> Ids:
        return self.alike.astype(np.int64)

    @cached_property
    def _similarity_term(self) -> Scores:
        term: Scores = (SIMILARITY_WEIGHT * np.log(np.maximum(self.similarity, 12) / 255)).astype(np.float32)
        return term


def steps_of(counts: NDArray[Any], steps: tuple[int, ...], scale: float) -> NDArray[np.uint8]:
    """The step of each count; ``scale`` is the share of the whole corpus that was counted. 0 is below the first."""
    limits = [max(1, round(step * scale)) for step in steps]
    return np.searchsorted(limits, counts, side="right").astype(np.uint8)


def _middles(steps: tuple[int, ...]) -> NDArray[np.float32]:
    """The count that stands for each step: the geometric middle."""
    upper = (*steps[1:], 2 * steps[-1])
    return np.array([0.0, *((low * high) ** 0.5 for low, high in zip(steps, upper, strict=True))], dtype=np.float32)


_PAIR_COUNTS, _TRIPLE_COUNTS = _middles(PAIR_STEPS), _middles(TRIPLE_STEPS)
