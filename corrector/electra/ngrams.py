"""Corpus counts of neighbouring characters, and what they say of a text: would a character that sounds or looks alike fit better?

The probability of a character after two others backs off from triples to pairs to single characters (Dirichlet smoothing, MacKay & Peto
1995, with the counts in rough steps):

    p(c|b)  = (n(bc) + D₂·p(c)) / (n(b) + D₂)        p(c|ab) = (n(abc) + D₃·p(c|b)) / (n(ab) + D₃)

A character's score is ln p(c|l₂l₁) + ln p(r₁|l₁c) + ln p(r₂|cr₁): every triple it takes part in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
FREQUENT_QUAD = 5
PAIR_SMOOTHING, TRIPLE_SMOOTHING = 100.0, 10.0  # D₂ and D₃, compared on 400 development sentences
SIMILARITY_WEIGHT = 4.0  # of ln similarity beside the score of a look-alike; compared on the same
SPECIALS = 6  # ids below are no characters: they predict nothing and nothing predicts them

LEVELS = 16
_OWN_STEPS = np.array([-24.0, -16.0, -10.0], dtype=np.float32)  # scores of a character that no look-alike beats: levels 3, 2, 1, 0
_GAIN_STEPS = np.array([1.5, 3.0, 4.5, 6.0, 7.5, 9.0, 10.5, 12.0, 14.0, 17.0, 20.0], dtype=np.float32)  # of the best: levels 4 to 15
_FITTING = -10.0  # a character that scores more is not compared with others
_FEW_PAIRS = 2  # a look-alike is compared when it makes known pairs of at least this step in all
_BLOCK = 200  # places compared at a time: some thousand keys, which the caches hold

Ids = NDArray[np.int64]
Steps = NDArray[np.uint8]
Scores = NDArray[np.float32]


class _Pairs(NamedTuple):
    """Neighbours: their number in base vocabulary, their step, p(right | left), and how often they occur + D₃."""

    key: Ids
    step: Steps
    p: Scores
    smoothed: Scores

    def part(self, of: Any) -> _Pairs:
        """Some of them, by any index of arrays."""
        return _Pairs(*(values[of] for values in self))


class Fit(NamedTuple):
    """How well texts fit the corpus: ``Ngrams.text_score`` (rows,), how often each triple occurs in steps 0..16 (``TRIPLE_STEPS``;
    (rows, length - 2)), and which quads are frequent (rows, length - 3)."""

    score: Scores
    triples: Steps
    quads: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ngrams:
    """Counts over one vocabulary: of characters (vocabulary,), of pairs and triples in steps; and each character's look-alikes.

    ``triples`` holds steps from 2 on, less 1; ``rare`` the triples of step 1; ``quads`` what of four characters occurs at least
    ``FREQUENT_QUAD`` times. A model of an earlier version has neither of the last two.
    ``alike`` (vocabulary, most) are ids, 0 where there are fewer; ``similarity`` (vocabulary, most) says how much alike, 0..255.
    """

    counts: NDArray[np.float32]
    pairs: StaticMap
    triples: StaticMap
    alike: NDArray[np.uint16]
    similarity: NDArray[np.uint8]
    rare: StaticSet | None = None
    quads: StaticSet | None = None

    @classmethod
    def from_arrays(cls, data: Mapping[str, NDArray[Any]]) -> Ngrams:
        """The reverse of ``arrays``."""
        pairs, triples = (StaticMap(data[f"{name}_map"], int(data[f"{name}_seed"])) for name in ("pairs", "triples"))
        rare, quads = (
            StaticSet(data[f"{name}_set"], int(data[f"{name}_seed"])) if f"{name}_set" in data else None for name in ("rare", "quads")
        )
        return cls(data["character_counts"], pairs, triples, data["alike"], data["similarity"], rare, quads)

    def arrays(self) -> dict[str, Any]:
        """Everything as named arrays, to be saved."""
        sets = {name: held for name, held in (("rare", self.rare), ("quads", self.quads)) if held is not None}
        parts: dict[str, Any] = {f"{name}_set": held.table for name, held in sets.items()}
        return parts | {f"{name}_seed": np.int64(held.seed) for name, held in sets.items()} | {
            "character_counts": self.counts, "alike": self.alike, "similarity": self.similarity,
            "pairs_map": self.pairs.table, "pairs_seed": np.int64(self.pairs.seed),
            "triples_map": self.triples.table, "triples_seed": np.int64(self.triples.seed),
        }  # fmt: skip

    def pair_step(self, left: Ids, right: Ids) -> Steps:
        """How often each pair occurs, in steps 0..15 (``PAIR_STEPS``)."""
        return self.pairs.get(_key(left.astype(np.int64) * len(self.counts) + right))

    def log_probability(self, before: Ids, left: Ids, character: Ids) -> Scores:
        """ln p(character | before left), same shape; 0 for what is no character."""
        first, second = self._pairs(before, left), self._pairs(left, character)
        return self._log_probability(self._triple_step(first, second, character), first.smoothed, second.p, character)

    def text_score(self, texts: Ids) -> Scores:
        """The sum of ln p over all characters from the third on: (rows, length) → (rows,)."""
        return self._text_score(texts)[0]

    def text_fit(self, texts: Ids) -> Fit:
        """How well texts (rows, length) fit the corpus."""
        score, pairs, step = self._text_score(texts)
        known: NDArray[np.bool_] = (step[:, :-1] > 0) & (step[:, 1:] > 0)  # as both triples of a frequent quad are
        keys = pairs.key[:, :-2] * len(self.counts) ** 2 + pairs.key[:, 2:]
        known[known] = False if self.quads is None else self.quads.has(_key(keys[known]))
        return Fit(score, step, known)

    def _text_score(self, texts: Ids) -> tuple[Scores, _Pairs, Steps]:
        """``text_score``, with the pairs and the steps of the triples that it is made of."""
        pairs = self._pairs(texts[:, :-1], texts[:, 1:])
        step = self._triple_step(pairs.part((slice(None), slice(-1))), pairs.part((slice(None), slice(1, None))), texts[:, 2:])
        scores = self._log_probability(step, pairs.smoothed[:, :-1], pairs.p[:, 1:], texts[:, 2:])
        return scores.sum(1), pairs, step

    def levels(self, texts: Ids) -> NDArray[np.int64]:
        """0..15 for each token of (rows, length): 0 fits well … 3 is rare, 4 a look-alike fits as well … 15 far better."""
        flat, inside = joined(texts)
        return self.evidence(flat, inside)[1][inside].reshape(texts.shape)

    def evidence(self, flat: Ids, wanted: NDArray[np.bool_]) -> tuple[Steps, NDArray[np.int64]]:
        """Of ``joined`` texts: the step of each token with its right neighbour (tokens - 1,), and the levels (tokens,), which are compared
        with look-alikes only where they are ``wanted``."""
        pairs = self._pairs(flat[:-1], flat[1:])
        step = self._triple_step(pairs.part(slice(-1)), pairs.part(slice(1, None)), flat[2:])
        single = self._log_probability(step, pairs.smoothed[:-1], pairs.p[1:], flat[2:])
        own = np.zeros(len(flat), dtype=np.float32)
        own[2:-2] = single[:-2] + single[1:-1] + single[2:]  # the three triples of each character
        comparable = self._comparable[flat]
        levels = 3 - _OWN_STEPS.searchsorted(own, side="right")
        levels *= comparable
        (places,) = (comparable & wanted & (own < _FITTING)).nonzero()
        for start in range(0, len(places), _BLOCK):
            block = places[start : start + _BLOCK]
            gain = self._gains(flat, pairs, block, own[block])
            better = gain > 0
            levels[block[better]] = 4 + _GAIN_STEPS.searchsorted(gain[better], side="right")
        return pairs.step, levels

    def _gains(self, flat: Ids, pairs: _Pairs, places: Ids, own: Scores) -> Scores:
        """By how much the best look-alike at each place beats the character there, its similarity weighed in: (places,)."""
        size, present = len(self.counts), flat[places]
        candidates = self._alike[present]  # (places, most)
        keys = np.empty((2, *candidates.shape), dtype=np.int64)
        np.add(candidates, (flat[places - 1] * size)[:, None], out=keys[0])
        np.multiply(candidates, size, out=keys[1])
        keys[1] += flat[places + 1][:, None]
        left, right = self.pairs.get(_key(keys))
        (compared,) = ((left + right >= _FEW_PAIRS) & (candidates > 0)).reshape(-1).nonzero()
        which = compared // candidates.shape[1]
        characters, left, right = (part.reshape(-1)[compared] for part in (candidates, left, right))
        score = self._scores(flat, pairs, places, which, characters, left, right)
        score += self._similarity_term[present].reshape(-1)[compared]
        score -= own[which]
        gains = np.full(candidates.shape, -np.inf, dtype=np.float32)
        gains.reshape(-1)[compared] = score
        best: Scores = gains.max(1)
        return best

    def _scores(
        self, flat: Ids, pairs: _Pairs, places: Ids, which: Ids, characters: Ids, left_step: Steps, right_step: Steps
    ) -> Scores:
        """The score of each of ``characters`` at ``places[which]``, where its two pairs have these steps: (characters,)."""
        size = len(self.counts)
        left, right = _PAIR_COUNTS[left_step], _PAIR_COUNTS[right_step]
        l1, r1 = flat[places - 1], flat[places + 1]
        keys = np.empty((3, len(characters)), dtype=np.int64)  # of the triples l₂l₁c, l₁cr₁ and cr₁r₂
        np.add(characters, (pairs.key[places - 2] * size)[which], out=keys[0])
        np.multiply(characters, size, out=keys[1])
        np.multiply(keys[1], size, out=keys[2])
        keys[1] += (l1 * (size * size) + r1)[which]
        keys[2] += pairs.key[places + 1][which]
        known = np.empty(keys.shape, dtype=np.bool_)  # both pairs of the triple
        known[1:] = right_step > 0
        known[0] = left_step > 0
        known[1] &= known[0]
        known[0] &= (pairs.step[places - 2] > 0)[which]
        known[2] &= (pairs.step[places + 1] > 0)[which]
        p = np.empty(keys.shape, dtype=np.float32)
        np.divide(left + self._smoothing[characters], self._smoothed[l1][which], out=p[0])
        np.divide(right + self._smoothing[r1][which], self._smoothed[characters], out=p[1])
        p[2] = pairs.p[places + 1][which]
        p *= _TRIPLE_SMOOTHING
        p += _TRIPLE_COUNTS[self._step_of(keys, known)]
        p[0] /= pairs.smoothed[places - 2][which]
        p[1] /= left + _TRIPLE_SMOOTHING
        p[2] /= right + _TRIPLE_SMOOTHING
        np.log(p, out=p)
        p[1] *= (r1 >= SPECIALS)[which]
        p[2] *= (flat[places + 2] >= SPECIALS)[which]
        scores: Scores = p[0] + p[1]
        scores += p[2]
        return scores

    def _pairs(self, left: Ids, right: Ids) -> _Pairs:
        key = left.astype(np.int64) * len(self.counts) + right
        step = self.pairs.get(_key(key))
        count = _PAIR_COUNTS[step]
        p = (count + self._smoothing[right]) / self._smoothed[left]
        return _Pairs(key, step, p, count + _TRIPLE_SMOOTHING)

    def _triple_step(self, first: _Pairs, second: _Pairs, character: Ids) -> Steps:
        """The step of abc, given the pairs ab and bc."""
        return self._step_of(first.key * len(self.counts) + character, (first.step > 0) & (second.step > 0))

    def _step_of(self, keys: Ids, known: NDArray[np.bool_]) -> Steps:
        """The steps of triples both of whose pairs are ``known``, which no other triple can be: the same shape."""
        steps = np.zeros(keys.shape, dtype=np.uint8)
        wanted = _key(keys[known])
        found = self.triples.get(wanted)
        found += found > 0
        if self.rare is not None:
            (others,) = (found == 0).nonzero()
            found[others] = self.rare.has(wanted[others])
        steps[known] = found
        return steps

    def _log_probability(self, step: Steps, smoothed: Scores, p_pair: Scores, character: Ids) -> Scores:
        """ln p(c|ab), given the step of abc, n(ab) + D₃ and p(c|b)."""
        p = p_pair * _TRIPLE_SMOOTHING
        p += _TRIPLE_COUNTS[step]
        p /= smoothed
        scores: Scores = np.log(p, out=p)
        scores[character < SPECIALS] = 0.0
        return scores

    @cached_property
    def _smoothing(self) -> Scores:
        """D₂·p(c) of each character c."""
        counts = np.maximum(self.counts, 1.0)
        smoothing: Scores = PAIR_SMOOTHING * (counts / counts.sum()).astype(np.float32)
        return smoothing

    @cached_property
    def _smoothed(self) -> Scores:
        """n(b) + D₂ of each character b."""
        return self.counts + np.float32(PAIR_SMOOTHING)

    @cached_property
    def _comparable(self) -> NDArray[np.bool_]:
        return self.alike[:, 0] > 0

    @cached_property
    def _alike(self) -> Ids:
        return self.alike.astype(np.int64)

    @cached_property
    def _similarity_term(self) -> Scores:
        term: Scores = (SIMILARITY_WEIGHT * np.log(np.maximum(self.similarity, 12) / 255)).astype(np.float32)
        return term


def _key(number: Ids) -> NDArray[np.uint64]:
    return number.view(np.uint64)


def joined(texts: Sequence[NDArray[Any]] | NDArray[Any]) -> tuple[Ids, NDArray[np.bool_]]:
    """Texts of any lengths as one, two zeros before, between and after them; and which of its places are text."""
    gap = np.zeros(2, dtype=np.int64)
    parts = [gap]
    for text in texts:
        parts += (text, gap)
    sizes = [len(part) for part in parts]
    flat: Ids = np.concatenate(parts, dtype=np.int64, casting="unsafe")
    return flat, np.repeat(np.arange(len(sizes)) % 2 == 1, sizes)


def steps_of(counts: NDArray[Any], steps: tuple[int, ...], scale: float) -> Steps:
    """The step of each count; ``scale`` is the share of the whole corpus that was counted. 0 is below the first."""
    limits = [max(1, round(step * scale)) for step in steps]
    return np.searchsorted(limits, counts, side="right").astype(np.uint8)


def _middles(steps: tuple[int, ...]) -> NDArray[np.float32]:
    """The count that stands for each step: the geometric middle."""
    upper = (*steps[1:], 2 * steps[-1])
    return np.array([0.0, *((low * high) ** 0.5 for low, high in zip(steps, upper, strict=True))], dtype=np.float32)


_TRIPLE_SMOOTHING = np.float32(TRIPLE_SMOOTHING)
_PAIR_COUNTS, _TRIPLE_COUNTS = _middles(PAIR_STEPS), _middles(TRIPLE_STEPS)
