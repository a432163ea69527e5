"""Probabilities against the formulas by hand, and the fast levels against plain loops over one character at a time."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from corrector.electra.look_alikes import GAP, LEVELS, evidence, joined
from corrector.electra.ngrams import (
    PAIR_SMOOTHING,
    PAIR_STEPS,
    SIMILARITY_WEIGHT,
    SPECIALS,
    TRIPLE_SMOOTHING,
    TRIPLE_STEPS,
    Ngrams,
    steps_of,
)
from corrector.electra.static_map import StaticMap, StaticSet
from corrector.train.counts import ngrams_of
from tests import training
from tests.levels import fit_levels

SEP, MASK = 3, 4
A, B, C, D, E, WRONG = range(6, 12)
SIZE = 14
NONE = np.zeros((SIZE, 1), dtype=np.uint16), np.zeros((SIZE, 1), dtype=np.uint8)


def corpus(*texts: tuple[list[int], int]) -> list[np.ndarray]:
    """One array in which each text stands as often as told, each time ended by [SEP]."""
    return [np.concatenate([np.array([*text, SEP] * times, dtype=np.uint16) for text, times in texts])]


@pytest.fixture(scope="module")
def tiny() -> Ngrams:
    """ABC twenty times and ABD six times."""
    return ngrams_of(corpus(([A, B, C], 20), ([A, B, D], 6)), SIZE, SPECIALS, NONE, 1.0)


def ids(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


# ---- by hand -----------------------------------------------------------------------------------------------------------


def test_steps_of_counts() -> None:
    assert steps_of(np.array([0, 1, 2, 3, 4, 199_999, 200_000]), PAIR_STEPS, 1.0).tolist() == [0, 0, 1, 1, 2, 14, 15]
    assert steps_of(np.array([0, 1, 2, 5, 6000]), TRIPLE_STEPS, 0.5).tolist() == [0, 1, 2, 4, 16]
    # 2, 5, 7 and 10 of the whole corpus are 1, 2, 4 and 5 of half of it


def test_pairs_are_in_the_steps_of_their_counts(tiny: Ngrams) -> None:
    found = tiny.pair_step(ids(A, B, B, C, A), ids(B, C, D, A, C))
    assert found.tolist() == [4, 4, 2, 0, 0]  # 26 and 20 lie between 18 and 30, 6 between 4 and 10
    assert tiny.counts[[A, B, C, D, E, SEP]].tolist() == [26, 26, 20, 6, 0, 0]


def test_log_probability_by_hand(tiny: Ngrams) -> None:
    total = 26 + 26 + 20 + 6 + (SIZE - 4)  # a character that never occurs counts as one
    p_c = 20 / total
    p_c_after_b = (math.sqrt(18 * 30) + 100 * p_c) / (26 + 100)
    p_c_after_ab = (math.sqrt(20 * 30) + 10 * p_c_after_b) / (math.sqrt(18 * 30) + 10)
    p_d_after_b = (math.sqrt(4 * 10) + 100 * 6 / total) / (26 + 100)
    p_d_after_ab = (math.sqrt(5 * 7) + 10 * p_d_after_b) / (math.sqrt(18 * 30) + 10)
    p_d_after_cb = 10 * p_d_after_b / 10  # neither CB nor CBD is known: what B says of D
    p_a_after_ed = (10 * (100 * 26 / total) / (6 + 100)) / 10  # nothing is known but how often A and D occur
    found = tiny.log_probability(ids(A, A, C, E), ids(B, B, B, D), ids(C, D, D, A))
    assert found.dtype == np.float32
    expected = [math.log(p) for p in (p_c_after_ab, p_d_after_ab, p_d_after_cb, p_a_after_ed)]
    assert found.tolist() == pytest.approx(expected, rel=1e-5)


def test_triples_of_the_first_step_are_known_apart() -> None:
    known = ngrams_of(corpus(([A, B, C], 4), ([A, B, D], 1), ([A, B, E], 5)), SIZE, SPECIALS, NONE, 1.0)
    assert known.rare is not None
    assert known.text_fit(np.array([[A, B, C], [A, B, D], [A, B, E]]))[1].ravel().tolist() == [1, 0, 2]
    kept = Ngrams.from_arrays(known.arrays())
    assert kept.text_fit(np.array([[A, B, C]]))[1].tolist() == [[1]]
    arrays = {name: values for name, values in known.arrays().items() if not name.startswith("rare")}
    earlier = Ngrams.from_arrays(arrays)  # a model of an earlier version
    assert earlier.text_fit(np.array([[A, B, C], [A, B, E]]))[1].ravel().tolist() == [0, 2]


@pytest.mark.parametrize("name", ["pairs_map", "triples_map", "character_counts"])
def test_counts_that_lack_a_part_are_refused(tiny: Ngrams, name: str) -> None:
    arrays = tiny.arrays()
    del arrays[name]
    with pytest.raises(KeyError, match=name):
        Ngrams.from_arrays(arrays)


def test_score_of_a_text_is_the_sum_from_the_third_on(tiny: Ngrams) -> None:
    texts = np.array([[A, B, C, A, B, D], [A, B, D, D, C, B], [A, B, C, SEP, A, B]])
    sums = [
        sum(float(tiny.log_probability(*(ids(part) for part in row[i : i + 3]))[0]) for i in range(4)) for row in texts.tolist()
    ]
    assert tiny.text_score(texts).tolist() == pytest.approx(sums, rel=1e-5)
    assert tiny.text_score(texts[:, :2]).tolist() == [0, 0, 0]


def test_specials_are_not_predicted_and_predict_nothing(tiny: Ngrams) -> None:
    specials = np.arange(SPECIALS)
    assert tiny.log_probability(np.full(SPECIALS, A), np.full(SPECIALS, B), specials).tolist() == [0] * SPECIALS
    # After one of them, or two, a character is as likely as anywhere.
    alone = math.log(20 / (26 + 26 + 20 + 6 + SIZE - 4))
    assert tiny.log_probability(np.full(SPECIALS, A), specials, np.full(SPECIALS, C)).tolist() == pytest.approx([alone] * SPECIALS)
    before = tiny.log_probability(specials, np.full(SPECIALS, B), np.full(SPECIALS, C))
    after_b = math.log((math.sqrt(18 * 30) + 100 * math.exp(alone)) / (26 + 100))
    assert before.tolist() == pytest.approx([after_b] * SPECIALS)


# ---- levels ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planted() -> Ngrams:
    """ABCDE is common and WRONG, which is like C, is common elsewhere."""
    texts = ([A, B, C, D, E], 500), ([E, WRONG, A], 400), ([D, A, WRONG, E], 300)
    alike, similarity = np.zeros((SIZE, 3), dtype=np.uint16), np.zeros((SIZE, 3), dtype=np.uint8)
    for one, other in ((C, WRONG), (WRONG, C)):
        alike[one], similarity[one] = [other, E + 2, 0], [255, 200, 0]
    return ngrams_of(corpus(*texts), SIZE, SPECIALS, (alike, similarity), 1.0)


def test_a_planted_error_is_seen_and_its_correction_is_not(planted: Ngrams) -> None:
    wrong, right = ([A, B, character, D, E] for character in (WRONG, C))
    # WRONG scores -7.9 - 3.9 - 0.3 = -12.1 there and C -0.4 - 0.4 - 0.4: better by 10.9, of which 10.5 makes level 11.
    assert fit_levels(planted, np.array([wrong, right])).tolist() == [[0, 0, 11, 0, 0], [0] * 5]
    fit = planted.text_score(np.array([[0, 0, *wrong, 0, 0], [0, 0, *right, 0, 0]]))
    assert fit[1] - fit[0] == pytest.approx(10.9, abs=0.05)
    assert fit_levels(planted, np.array([[E, WRONG, A]]))[0, 1] < 4  # where it belongs


def test_a_look_alike_counts_less_the_less_it_is_alike(planted: Ngrams) -> None:
    wrong = np.array([[A, B, WRONG, D, E]])
    levels = []
    for similarity in (255, 100, 60, 12, 0):  # whose logarithms, four times, are 0, -3.7, -5.8, -12.2 and taken for -12.2
        row = planted.similarity.copy()
        row[WRONG] = similarity
        weaker = Ngrams(planted.counts, planted.pairs, planted.triples, planted.alike, row)
        levels.append(int(fit_levels(weaker, wrong)[0, 2]))
    assert levels == [11, 8, 7, 1, 1]  # gains of 10.9, 7.2 and 5.1, then none


@pytest.mark.parametrize(
    "pairs,level",
    [
        ({(A, C): 1, (C, B): 1}, 4),  # C scores -9.65
        ({(A, C): 2}, 4),
        ({(A, C): 1}, 1),  # it scores -9.99, but one pair of the first step is too little to be compared
        ({}, 1),
        ({(A, 0): 9, (0, B): 9}, 1),  # what fills the list of look-alikes up is none
    ],
)
def test_a_look_alike_must_make_known_pairs(pairs: dict[tuple[int, int], int], level: int) -> None:
    keys = np.array([left * SIZE + right for left, right in pairs], dtype=np.uint64)
    nothing = StaticMap.build(keys[:0], keys[:0])
    alike = np.zeros((SIZE, 2), dtype=np.uint16)
    alike[WRONG] = [C, 0]
    known = StaticMap.build(keys, np.array(list(pairs.values()), dtype=np.int64))
    ngrams = Ngrams(np.full(SIZE, 1000, dtype=np.float32), known, nothing, alike, np.full(alike.shape, 255, dtype=np.uint8))
    # WRONG scores -5.04 after A, and B after it as little: -10.07.
    assert fit_levels(ngrams, np.array([[A, WRONG, B]])).tolist() == [[0, level, 0]]


def test_a_rare_context_without_better_look_alikes_is_not_an_error(planted: Ngrams) -> None:
    alike = np.zeros_like(planted.alike)
    alike[WRONG] = E + 2  # never occurs
    alone = Ngrams(planted.counts, planted.pairs, planted.triples, alike, planted.similarity)
    assert 1 <= fit_levels(alone, np.array([[A, B, WRONG, D, E]]))[0, 2] <= 3
    nothing = Ngrams(planted.counts, planted.pairs, planted.triples, np.zeros_like(alike), planted.similarity)
    assert fit_levels(nothing, np.array([[A, B, WRONG, D, E]])).tolist() == [[0] * 5]


def test_specials_have_no_level(planted: Ngrams) -> None:
    found = fit_levels(planted, np.array([[2, A, B, MASK, D, E, SEP, 0], [2, 1, 1, WRONG, 5, 5, SEP, 0]]))
    assert found[0].tolist() == [0] * 8
    assert np.delete(found[1], 3).tolist() == [0] * 7


# ---- against plain loops -----------------------------------------------------------------------------------------------


class Slow:
    """The same numbers one at a time, as the docstrings say them; single precision, since levels are cut from it."""

    def __init__(self, ngrams: Ngrams) -> None:
        self.ngrams = ngrams
        occurring = np.maximum(ngrams.counts, np.float32(1))
        self.share = (occurring / occurring.sum()).astype(np.float32)

    def key(self, *gram: int) -> np.ndarray:
        key = 0
        for token in gram:
            key = key * len(self.ngrams.counts) + token
        return np.array([key], dtype=np.uint64)

    def count(self, step: int, steps: tuple[int, ...]) -> np.float32:
        upper = (*steps[1:], 2 * steps[-1])
        return np.float32((steps[step - 1] * upper[step - 1]) ** 0.5 if step else 0.0)

    def pair(self, *gram: int) -> np.float32:
        return self.count(int(self.ngrams.pairs.get(self.key(*gram))[0]), PAIR_STEPS)

    def triple(self, a: int, b: int, c: int) -> np.float32:
        if not (self.pair(a, b) and self.pair(b, c)):
            return np.float32(0)
        assert self.ngrams.rare is not None
        step = int(self.ngrams.triples.get(self.key(a, b, c))[0])
        return self.count(step + 1 if step else int(self.ngrams.rare.has(self.key(a, b, c))[0]), TRIPLE_STEPS)

    def log_probability(self, a: int, b: int, c: int) -> np.float32:
        if c < SPECIALS:
            return np.float32(0)
        d2, d3 = np.float32(PAIR_SMOOTHING), np.float32(TRIPLE_SMOOTHING)
        alone = (self.pair(b, c) + d2 * self.share[c]) / (self.ngrams.counts[b] + d2)
        triple = self.triple(a, b, c)
        return np.float32(np.log((triple + d3 * alone) / (self.pair(a, b) + d3)))

    def score(self, l2: int, l1: int, c: int, r1: int, r2: int) -> np.float32:
        return self.log_probability(l2, l1, c) + self.log_probability(l1, c, r1) + self.log_probability(c, r1, r2)

    def level(self, l2: int, l1: int, c: int, r1: int, r2: int) -> tuple[int, int]:
        """The level and the alternative."""
        alike, similarity = self.ngrams.alike[c].tolist(), self.ngrams.similarity[c].tolist()
        if not alike[0]:
            return 0, 0
        own, best, alternative = self.score(l2, l1, c, r1, r2), np.float32(-4), 0
        if own < -10:
            for other, how_much in zip(alike, similarity, strict=True):
                steps = self.ngrams.pair_step(ids(l1, other), ids(other, r1))
                if other and int(steps[0]) + int(steps[1]) >= 2:
                    weight = np.float32(SIMILARITY_WEIGHT * math.log(max(how_much, 12) / 255))
                    gain = self.score(l2, l1, other, r1, r2) + weight - own
                    if gain > best:
                        best, alternative = gain, other
        if best > 0:
            return 4 + sum(best >= limit for limit in (1.5, 3, 4.5, 6, 7.5, 9, 10.5, 12, 14, 17, 20)), alternative
        return 3 - sum(own >= limit for limit in (-24, -16, -10)), alternative

    def levels(self, text: list[int]) -> list[tuple[int, int]]:
        padded = [0, 0, *text, 0, 0]
        return [self.level(*padded[place : place + 5]) for place in range(len(text))]


@pytest.fixture(scope="module")
def random_ngrams() -> Ngrams:
    ngrams = training.random_tables(seed=5).ngrams
    assert ngrams is not None
    return ngrams


class Everything(StaticSet):
    """A set that has any key."""

    def has(self, keys: np.ndarray) -> np.ndarray:
        return np.ones(keys.shape, dtype=np.bool_)


@pytest.fixture(scope="module")
def presuming_ngrams(random_ngrams: Ngrams) -> Ngrams:
    """Any triple occurs that may, which is one of two pairs that do."""
    return dataclasses.replace(random_ngrams, rare=Everything(np.zeros(3, dtype=np.uint8), 0))


@pytest.mark.parametrize("name,least", [("random_ngrams", 13), ("presuming_ngrams", 9)])
def test_levels_and_alternatives_are_those_of_plain_loops(name: str, least: int, request: pytest.FixtureRequest) -> None:
    ngrams: Ngrams = request.getfixturevalue(name)
    slow = Slow(ngrams)
    texts = training.texts(40, seed=5)
    flat, inside = joined(texts)
    steps, levels, alternatives = evidence(ngrams, flat, inside)
    expected = [slow.levels(text.tolist()) for text in texts]
    assert levels[inside].tolist() == [level for row in expected for level, _ in row]
    assert alternatives[inside].tolist() == [alternative for row in expected for _, alternative in row]
    assert len(set(alternatives.tolist())) > 20 and np.any((alternatives > 0) & (levels < 4))
    assert len(set(levels.tolist())) >= least  # most levels occur, or this would say little
    assert min(levels) >= 0 and max(levels) < LEVELS
    assert steps.tolist() == ngrams.pair_step(flat[:-1], flat[1:]).tolist()
    for text, row in zip(texts, expected, strict=True):
        assert fit_levels(ngrams, text[None]).tolist() == [[level for level, _ in row]]


def test_log_probability_is_that_of_plain_loops(random_ngrams: Ngrams) -> None:
    slow = Slow(random_ngrams)
    grams = np.random.default_rng(3).integers(0, training.SIZE, (3, 200))
    expected = [float(slow.log_probability(*gram)) for gram in grams.T.tolist()]
    assert random_ngrams.log_probability(*grams).tolist() == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert random_ngrams.log_probability(*grams.reshape(3, 20, 10)).ravel().tolist() == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_rows_do_not_depend_on_one_another_nor_on_padding(random_ngrams: Ngrams) -> None:
    rows = np.random.default_rng(2).integers(0, training.SIZE, (12, 25))
    together = fit_levels(random_ngrams, rows)
    assert together.tolist() == [fit_levels(random_ngrams, row[None])[0].tolist() for row in rows]
    assert together.any()
    longer = fit_levels(random_ngrams, np.pad(rows, ((0, 0), (0, 7))))
    assert longer[:, :25].tolist() == together.tolist()
    assert not longer[:, 25:].any()


def test_many_places_are_compared_in_parts(random_ngrams: Ngrams, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(4).integers(training.FIRST_HAN, training.SIZE, (5, 60))
    whole = fit_levels(random_ngrams, rows)
    monkeypatch.setattr("corrector.electra.look_alikes._BLOCK", 7)
    assert fit_levels(random_ngrams, rows).tolist() == whole.tolist()


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0), (2, 1)])
def test_texts_of_nothing(random_ngrams: Ngrams, shape: tuple[int, int]) -> None:
    assert fit_levels(random_ngrams, np.full(shape, training.FIRST_HAN)).shape == shape


def test_joined_texts_are_apart() -> None:
    flat, inside = joined([ids(7, 8), ids(), ids(9)])
    gap = [0] * GAP
    assert flat.tolist() == [*gap, 7, 8, *gap, *gap, 9, *gap]
    assert flat[inside].tolist() == [7, 8, 9]
    assert [part.tolist() for part in joined([])] == [gap, [False] * GAP]


def test_arrays_and_back(random_ngrams: Ngrams) -> None:
    again = Ngrams.from_arrays(random_ngrams.arrays())
    rows = np.random.default_rng(6).integers(0, training.SIZE, (4, 30))
    assert fit_levels(again, rows).tolist() == fit_levels(random_ngrams, rows).tolist()
    assert again.text_score(rows).tolist() == random_ngrams.text_score(rows).tolist()
