"""Which words stand near one another: counted against plain loops, looked up against plain loops, and what marks make of it."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest

from corrector.electra.associations import LEVEL, REACH, STRENGTHS, WEAKEST, Associations, WordsAround, association_keys
from corrector.electra.look_alikes import evidence, joined
from corrector.electra.marks import PLAIN_MARKS, MarkTables
from corrector.electra.ngrams import SPECIALS, Ngrams
from corrector.electra.static_map import StaticMap
from corrector.electra.tokenizer import Tokenizer
from corrector.electra.word_set import WordSet
from corrector.rewrites import rewritten
from corrector.train import associate
from corrector.train.associate import FEWEST, associations_of
from corrector.train.counts import ngrams_of
from tests import training
from tests.levels import fit_levels

Ids = np.ndarray


def table(words: Ids, size: int, pairs: dict[tuple[int, int], int]) -> Associations:
    """These levels of pairs of words, given by their numbers."""
    first, second = (np.array([words[pair[side]] for pair in pairs], dtype=np.uint64) for side in (0, 1))
    return Associations(WordSet(words), size, StaticMap.build(association_keys(first, second, size), np.array(list(pairs.values()))))


def random_associations(tables: MarkTables, seed: int) -> Associations:
    """A tenth of all pairs of the words of two, at random levels."""
    rng = np.random.default_rng(seed)
    count = len(tables.words[0])
    pairs = {(a, b): int(rng.integers(1, 16)) for a in range(count) for b in range(a) if rng.random() < 0.1}
    return table(tables.words[0], training.SIZE, pairs)


@pytest.fixture(scope="module")
def tables() -> MarkTables:
    plain = training.random_tables(seed=5)
    return dataclasses.replace(plain, associated=random_associations(plain, 6).table)


# ---- looked up -----------------------------------------------------------------------------------------------------------


def slow_support(associations: Associations, text: list[int], word: tuple[int, int], at: int, begin: int, end: int) -> int:
    """The same, one word around at a time."""
    size, known = associations.vocabulary_size, set(associations.words.keys.tolist())
    key = word[0] * size + word[1]
    best = 0
    for place in range(max(0, at - REACH), min(len(text) - 1, at + REACH + 1)):
        other = text[place] * size + text[place + 1]
        apart, untouched = abs(place - at) >= 2, place + 1 < begin or place >= end
        if key in known and other in known and apart and untouched:
            pair = (np.array([number], dtype=np.uint64) for number in (key, other))
            best = max(best, int(associations.levels(*pair)[0]))
    return best


def test_support_is_that_of_plain_loops(tables: MarkTables) -> None:
    assert tables.associations is not None
    texts = [text for text in training.texts(12, seed=5) if len(text) > 3]
    flat, inside = joined(texts)
    words = WordsAround(tables.associations, flat, inside)
    rng = np.random.default_rng(8)
    starts = np.flatnonzero(inside & ~np.roll(inside, 1)).tolist()
    asked, expected = [], []
    for text, start in zip(texts, starts, strict=True):
        for _ in range(40):
            at, size = int(rng.integers(0, len(text) - 1)), int(rng.integers(1, 3))
            begin = max(0, at - int(rng.integers(0, 2)))
            word = divmod(int(rng.choice(tables.words[0])), training.SIZE) if rng.random() < 0.8 else (text[at], text[at + 1])
            asked.append((word[0] * training.SIZE + word[1], start + at, start + begin, start + begin + size))
            expected.append(slow_support(tables.associations, text.tolist(), word, at, begin, begin + size))
    keys, at, begin, end = (np.array(column) for column in zip(*asked, strict=True))
    found = words.support(keys.astype(np.uint64), at, (begin, end))
    assert found.tolist() == expected
    assert len(set(expected)) > 8  # or this would say little
    assert words.support(keys[:0].astype(np.uint64), at[:0], (at[:0], at[:0])).tolist() == []


def test_order_does_not_matter() -> None:
    words = np.array([105, 207, 309], dtype=np.uint64)
    known = table(words, 100, {(0, 1): 3, (2, 0): 7})
    a, b = words[[0, 1, 0, 2, 1]], words[[1, 0, 2, 0, 2]]
    assert known.levels(a, b).tolist() == [3, 3, 7, 7, 0]


def test_strengths_are_the_middles_of_the_levels() -> None:
    assert STRENGTHS[0] == 0 and len(STRENGTHS) == 16
    assert STRENGTHS[1:].tolist() == [WEAKEST + LEVEL * (level + 0.5) for level in range(15)]


# ---- marks ---------------------------------------------------------------------------------------------------------------

A, B, C, D, E, F, WRONG, RIGHT, X, Y = range(SPECIALS, SPECIALS + 10)
SIZE = SPECIALS + 10


def of_two(alike: int = 255) -> tuple[Ngrams, np.ndarray]:
    """CWRONG and CRIGHT are as frequent and alike; AB occurs near both. The words are AB, CWRONG and CRIGHT."""
    texts = [[C, WRONG, D], [C, RIGHT, D]] * 50 + [[A, B, E]] * 50
    text = np.concatenate([np.array([*part, 3, 0], dtype=np.uint16) for part in texts])
    others, similarity = np.zeros((SIZE, 1), dtype=np.uint16), np.full((SIZE, 1), alike, dtype=np.uint8)
    others[WRONG], others[RIGHT] = RIGHT, WRONG
    words = np.sort(np.array([A * SIZE + B, C * SIZE + WRONG, C * SIZE + RIGHT], dtype=np.uint64))
    return ngrams_of([text], SIZE, SPECIALS, (others, similarity)), words


def test_an_associated_word_around_raises_the_level() -> None:
    ngrams, words = of_two()
    text = np.array([[A, B, X, Y, C, WRONG, X, Y]])  # RIGHT and WRONG score -15.6 there
    right = table(words, SIZE, {(0, 2): 3})
    wrong = table(words, SIZE, {(0, 1): 3})
    assert fit_levels(ngrams, text)[0, 5] == 1
    assert fit_levels(ngrams, text, right)[0, 5] == 7  # 1.5 times a strength of 3.25 nats is 4.9, of which 4.5 makes level 7
    assert fit_levels(ngrams, text, wrong)[0, 5] == 1  # the character there is the one supported
    far = np.array([[A, B, *[X, Y] * 6, C, WRONG, X, Y]])
    assert fit_levels(ngrams, far, right)[0, -3] == fit_levels(ngrams, far)[0, -3]
    apart = dataclasses.replace(MarkTables(SIZE, (words, words[:0], words[:0]), ngrams), associated=right.table)
    together, alone = apart.types(text)[0], apart.types_many([text[0, :2], text[0, 2:]])[1]
    assert together[5] // 1024 % 16 == 7 and alone[3] // 1024 % 16 < 7  # of another text no word counts
    assert together[5] // PLAIN_MARKS == RIGHT


def slow_levels(tables: MarkTables, text: list[int]) -> list[int]:
    """Levels with associations from those without: candidates one at a time, each the only look-alike of its character."""
    assert tables.ngrams is not None and tables.associations is not None
    ngrams, found = tables.ngrams, []
    size = tables.vocabulary_size
    padded = [0, 0, *text, 0, 0]

    def score(ids: list[int], place: int) -> float:
        return float(ngrams.text_score(np.array([ids[place : place + 5]]))[0])

    def strength(character: int, place: int) -> float:
        words = ((place - 1, (text[place - 1] if place else 0, character)), (place, (character, [*text, 0][place + 1])))
        return 1.5 * max(
            float(STRENGTHS[slow_support(tables.associations, text, word, at, place, place + 1)]) for at, word in words  # type: ignore[arg-type]
        )

    assert size == len(ngrams.counts)
    for place, character in enumerate(text):
        own = score(padded, place)
        best = 0.0
        if ngrams.alike[character, 0] and own < -10:
            for other, alike in zip(ngrams.alike[character].tolist(), ngrams.similarity[character].tolist(), strict=True):
                left, right = padded[place + 1], padded[place + 3]
                steps = ngrams.pair_step(np.array([left, other]), np.array([other, right])).astype(int)
                if other and steps.sum() >= 2:
                    changed = [*padded[: place + 2], other, *padded[place + 3 :]]
                    weight = 4.0 * math.log(max(alike, 12) / 255)
                    gain = score(changed, place) + weight - own + strength(other, place) - strength(character, place)
                    best = max(best, gain)
        if not ngrams.alike[character, 0]:
            found.append(0)
        elif best > 0:
            found.append(4 + sum(best >= limit for limit in (1.5, 3, 4.5, 6, 7.5, 9, 10.5, 12, 14, 17, 20)))
        else:
            found.append(3 - sum(own >= limit for limit in (-24, -16, -10)))
    return found


def test_levels_with_associations_are_those_of_plain_loops(tables: MarkTables) -> None:
    assert tables.ngrams is not None and tables.associations is not None
    texts = training.texts(25, seed=5)
    flat, inside = joined(texts)
    found = evidence(tables.ngrams, flat, inside, WordsAround(tables.associations, flat, inside)).levels[inside].tolist()
    expected = [level for text in texts for level in slow_levels(tables, text.tolist())]
    assert np.mean(np.array(found) == expected) > 0.995 and np.abs(np.array(found) - expected).max() <= 1  # single precision
    plain = evidence(tables.ngrams, flat, inside).levels[inside].tolist()
    assert np.mean(np.array(found) != plain) > 0.1  # or this would say little
    assert [level for marks in tables.types_many(texts) for level in (marks // 1024 % 16).tolist()] == found


def test_a_mark_depends_on_no_more_neighbours_than_told(tables: MarkTables) -> None:
    rng = np.random.default_rng(9)
    middle = 20
    texts = rng.integers(training.FIRST_HAN, training.SIZE, (300, 2 * middle + 1))
    changed = texts.copy()
    changed[:, middle] = rng.integers(training.FIRST_HAN, training.SIZE, len(texts))
    differing = np.flatnonzero((tables.types(changed) != tables.types(texts)).any(0))
    assert differing.min() == middle - tables.context and differing.max() == middle + tables.context


def test_rewritten_windows_have_their_marks_near_the_change(tables: MarkTables) -> None:
    tokenizer = Tokenizer(training.VOCABULARY, tables.types)
    rng = np.random.default_rng(2)
    changes, differs = [], 0
    for _ in range(60):
        encoding = tokenizer.encode("".join(rng.choice(list(training.HAN), 40)))
        changes.append((encoding, {int(rng.integers(1, 41)): int(rng.integers(training.FIRST_HAN, training.SIZE))}))
    for (encoding, new), changed in zip(changes, rewritten(changes, tokenizer, 64), strict=True):
        (place,) = new
        near = slice(max(0, place - 3), place + 4)
        assert changed.types[near].tolist() == tokenizer.token_types(changed.ids)[near].tolist()
        differs += changed.types[near].tolist() != encoding.types[near].tolist()
    assert differs > 40


# ---- counted -------------------------------------------------------------------------------------------------------------


def slow_associations(texts: list[list[int]], words: set[int], size: int, fewest: int) -> dict[tuple[int, int], int]:
    near: Counter[tuple[int, int]] = Counter()
    single: Counter[int] = Counter()
    for text in texts:
        keys = [a * size + b for a, b in zip(text, text[1:], strict=False)]
        single.update(key for key in keys if key in words)
        for place, key in enumerate(keys):
            for other in keys[place + 2 : place + REACH + 1]:
                if key in words and other in words and key != other:
                    near[min(key, other), max(key, other)] += 1
    total = sum(map(len, texts))
    levels = {}
    for (a, b), count in near.items():
        information = math.log(count * total / (2 * (REACH - 1) * single[a] * single[b]))
        if count >= fewest and information >= WEAKEST:
            levels[a, b] = min(15, 1 + math.floor((information - WEAKEST) / LEVEL))
    return levels


def planted_corpus(rng: np.random.Generator, pairs: Ids, size: int) -> list[int]:
    """Random text in which some words come in pairs."""
    text = rng.integers(SPECIALS, size, 6000)
    for a, b in pairs[rng.integers(0, len(pairs), 150)]:
        place, gap = int(rng.integers(0, 5900)), int(rng.integers(2, REACH + 1))
        text[place : place + 2], text[place + gap : place + gap + 2] = divmod(int(a), size), divmod(int(b), size)
    return text.tolist()


@pytest.mark.parametrize("block", [100, 4_000_000])
def test_counted_associations_are_those_of_plain_loops(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(associate, "_BLOCK", block)
    rng = np.random.default_rng(4)
    size = 60
    words = np.unique(rng.integers(SPECIALS * size, size * size, 400)).astype(np.uint64)
    pairs = rng.choice(words, (20, 2))
    texts = [planted_corpus(rng, pairs, size) for _ in range(3)]
    parts = [[np.array(text, dtype=np.uint16)] for text in texts]
    without = (0, 2, -1)
    for left_out, found in zip(without, associations_of(parts, without, words, size), strict=True):
        used = [text for number, text in enumerate(texts) if number != left_out]
        fewest = round(FEWEST * len(used) / 3)
        expected = slow_associations(used, set(words.tolist()), size, fewest)
        assert len(expected) > 10 and len(set(expected.values())) > 3  # or this would say little
        first, second = (np.array([pair[side] for pair in expected], dtype=np.uint64) for side in (0, 1))
        assert found.levels(first, second).tolist() == list(expected.values())
        every = np.array([(a, b) for i, a in enumerate(words) for b in words[:i]], dtype=np.uint64)
        assert np.count_nonzero(found.levels(*every.T)) <= len(expected) * 1.1 + 40  # absent pairs are found by chance now and then


def test_a_vocabulary_without_words_has_no_associations() -> None:
    (found,) = associations_of([[np.arange(10, 20, dtype=np.uint16)]], (-1,), np.zeros(0, dtype=np.uint64), 60)
    assert found.levels(*np.array([[1], [2]], dtype=np.uint64)).tolist() == [0]


def test_a_corpus_without_words_has_no_associations() -> None:
    words = np.array([1000], dtype=np.uint64)
    (found,) = associations_of([[np.full(50, 7, dtype=np.uint16)]], (-1,), words, 60)
    assert found.levels(words, words).tolist() == [0]
