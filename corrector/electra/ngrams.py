"""Corpus counts of neighbouring characters, and how well a text fits them.

The probability of a character after two others backs off from triples to pairs to single characters (Dirichlet smoothing, MacKay & Peto
1995, with the counts in rough steps):

    p(c|b)  = (n(bc) + D₂·p(c)) / (n(b) + D₂)        p(c|ab) = (n(abc) + D₃·p(c|b)) / (n(ab) + D₃)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corrector.electra.static_map import StaticMap, StaticSet

# Occurrences in the whole corpus (about 160 M characters) from which on a count is in step 1, 2, … Triples of step 1 are two thirds of all;
# they are in a set of their own.
PAIR_STEPS = (2, 4, 10, 18, 30, 60, 100, 200, 400, 1000, 2000, 4500, 10000, 40000, 200000)
TRIPLE_STEPS = (2, 5, 7, 10, 14, 20, 30, 45, 70, 110, 180, 300, 600, 1500, 4000, 12000)
PAIR_SMOOTHING, TRIPLE_SMOOTHING = np.float32(100), np.float32(10)  # D₂ and D₃, compared on 400 development sentences
SIMILARITY_WEIGHT = 4.0  # of ln similarity beside the score of a look-alike; compared on the same
SPECIALS = 6  # ids below are no characters: they predict nothing and nothing predicts them

Ids = NDArray[np.int64]
Steps = NDArray[np.uint8]
Scores = NDArray[np.float32]


class Pairs(NamedTuple):
    """Neighbours: their number in base vocabulary, their step, p(right | left), and how often they occur + D₃."""

    key: Ids
    step: Steps
    p: Scores
    smoothed: Scores

    def part(self, of: Any) -> Pairs:
        """Some of them, by any index of arrays."""
        return Pairs(*(values[of] for values in self))


class Fit(NamedTuple):
    """How well texts fit the corpus: ``Ngrams.text_score`` (rows,), and how often each triple occurs in steps 0..16 (``TRIPLE_STEPS``;
    (rows, length - 2))."""

    score: Scores
    triples: Steps


@dataclass(frozen=True, eq=False)
class Ngrams:
    """Counts over one vocabulary: of characters (vocabulary,), of pairs and triples in steps; and each character's look-alikes.

    ``triples`` holds steps from 2 on, less 1; ``rare`` the triples of step 1, which a model of an earlier version lacks.
    ``alike`` (vocabulary, most) are ids, 0 where there are fewer; ``similarity`` (vocabulary, most) says how much alike, 0..255.
    """

    counts: NDArray[np.float32]
    pairs: StaticMap
    triples: StaticMap
    alike: NDArray[np.uint16]
    similarity: NDArray[np.uint8]
    rare: StaticSet | None = None

    @classmethod
    def from_arrays(cls, data: Mapping[str, NDArray[Any]]) -> Ngrams:
        """The reverse of ``arrays``."""
        pairs, triples = StaticMap.read(data, "pairs"), StaticMap.read(data, "triples")
        if pairs is None or triples is None:
            raise KeyError("pairs_map or triples_map")
        return cls(data["character_counts"], pairs, triples, data["alike"], data["similarity"], StaticSet.read(data, "rare"))

    def arrays(self) -> dict[str, Any]:
        """Everything as named arrays, to be saved."""
        parts: dict[str, Any] = {"character_counts": self.counts, "alike": self.alike, "similarity": self.similarity}
        for name, held in (("pairs", self.pairs), ("triples", self.triples), ("rare", self.rare)):
            parts |= {} if held is None else held.arrays(name)
        return parts

    def pair_step(self, left: Ids, right: Ids) -> Steps:
        """How often each pair occurs, in steps 0..15 (``PAIR_STEPS``)."""
        return self.pairs.get(as_keys(left.astype(np.int64) * len(self.counts) + right))

    def log_probability(self, before: Ids, left: Ids, character: Ids) -> Scores:
        """ln p(character | before left), same shape; 0 for what is no character."""
        first, second = self.pairs_of(before, left), self.pairs_of(left, character)
        return self._log_probability(self._triple_step(first, second, character), first.smoothed, second.p, character)

    def text_score(self, texts: Ids) -> Scores:
        """The sum of ln p over all characters from the third on: (rows, length) → (rows,)."""
        score: Scores = self.triples_of(texts)[2].sum(1)
        return score

    def text_fit(self, texts: Ids) -> Fit:
        """How well texts (rows, length) fit the corpus."""
        _, step, scores = self.triples_of(texts)
        return Fit(scores.sum(1), step)

    def triples_of(self, texts: Ids) -> tuple[Pairs, Steps, Scores]:
        """Of texts (…, length): their pairs (…, length - 1); the step of every triple and ln p of its last character (…, length - 2)."""
        pairs = self.pairs_of(texts[..., :-1], texts[..., 1:])
        step = self._triple_step(pairs.part(np.s_[..., :-1]), pairs.part(np.s_[..., 1:]), texts[..., 2:])
        return pairs, step, self._log_probability(step, pairs.smoothed[..., :-1], pairs.p[..., 1:], texts[..., 2:])

    def pairs_of(self, left: Ids, right: Ids) -> Pairs:
        key = left.astype(np.int64) * len(self.counts) + right
        step = self.pairs.get(as_keys(key))
        count = PAIR_COUNTS[step]
        p = (count + self.smoothing[right]) / self.smoothed[left]
        return Pairs(key, step, p, count + TRIPLE_SMOOTHING)

    def _triple_step(self, first: Pairs, second: Pairs, character: Ids) -> Steps:
        """The step of abc, given the pairs ab and bc."""
        return self.step_of(first.key * len(self.counts) + character, (first.step > 0) & (second.step > 0))

    def step_of(self, keys: Ids, known: NDArray[np.bool_]) -> Steps:
        """The steps of triples both of whose pairs are ``known``, which no other triple can be: the same shape."""
        steps = np.zeros(keys.shape, dtype=np.uint8)
        wanted = as_keys(keys[known])
        found = self.triples.get(wanted)
        found += found > 0
        if self.rare is not None:
            (others,) = (found == 0).nonzero()
            found[others] = self.rare.has(wanted[others])
        steps[known] = found
        return steps

    def _log_probability(self, step: Steps, smoothed: Scores, p_pair: Scores, character: Ids) -> Scores:
        """ln p(c|ab), given the step of abc, n(ab) + D₃ and p(c|b)."""
        p = p_pair * TRIPLE_SMOOTHING
        p += TRIPLE_COUNTS[step]
        p /= smoothed
        scores: Scores = np.log(p, out=p)
        scores[character < SPECIALS] = 0.0
        return scores

    @cached_property
    def smoothing(self) -> Scores:
        """D₂·p(c) of each character c."""
        counts = np.maximum(self.counts, 1.0)
        smoothing: Scores = PAIR_SMOOTHING * (counts / counts.sum()).astype(np.float32)
        return smoothing

    @cached_property
    def smoothed(self) -> Scores:
        """n(b) + D₂ of each character b."""
        return self.counts + PAIR_SMOOTHING

    @cached_property
    def comparable(self) -> NDArray[np.bool_]:
        return self.alike[:, 0] > 0

    @cached_property
    def alike_ids(self) -> Ids:
        return self.alike.astype(np.int64)

    @cached_property
    def log_similarity(self) -> Scores:
        """ln of how similar each of ``alike`` is, bounded below."""
        logs: Scores = np.log(np.maximum(self.similarity, 12) / 255).astype(np.float32)
        return logs

    @cached_property
    def log_counts(self) -> Scores:
        """ln of how often the corpus has each character, one more than it was counted."""
        logs: Scores = np.log(self.counts + 1).astype(np.float32)
        return logs


def as_keys(number: Ids) -> NDArray[np.uint64]:
    return number.view(np.uint64)


def steps_of(counts: NDArray[Any], steps: tuple[int, ...], scale: float) -> Steps:
    """The step of each count; ``scale`` is the share of the whole corpus that was counted. 0 is below the first."""
    limits = [max(1, round(step * scale)) for step in steps]
    return np.searchsorted(limits, counts, side="right").astype(np.uint8)


def _middles(steps: tuple[int, ...]) -> NDArray[np.float32]:
    """The count that stands for each step: the geometric middle."""
    upper = (*steps[1:], 2 * steps[-1])
    return np.array([0.0, *((low * high) ** 0.5 for low, high in zip(steps, upper, strict=True))], dtype=np.float32)


PAIR_COUNTS, TRIPLE_COUNTS = _middles(PAIR_STEPS), _middles(TRIPLE_STEPS)
