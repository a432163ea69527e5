from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from corrector.electra.associations import association_keys
from corrector.electra.look_alikes import evidence, joined
from corrector.electra.marks import MARK_FACTORS, PLAIN_MARKS, MarkTables, word_borders, words_of_two
from corrector.electra.ngrams import Ngrams
from corrector.electra.static_map import StaticMap
from tests import training

SIZE = 20
NOTHING = np.zeros(0, dtype=np.uint64)
PAIR_LEVELS = (0, 0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7)


def keys(*ids: tuple[int, ...]) -> np.ndarray:
    numbers = []
    for word in ids:
        key = 0
        for part in word:
            key = key * SIZE + part
        numbers.append(key)
    return np.array(sorted(numbers), dtype=np.uint64)


@pytest.fixture
def tables() -> MarkTables:
    """Three pairs, of steps 5, 9 and 15, and 6-7-8 as the only triple; 15 looks like 8."""
    pairs = StaticMap.build(keys((6, 7), (7, 8), (9, 10)), np.array([5, 9, 15]))
    triples = StaticMap.build(keys((6, 7, 8)), np.array([12]))
    alike, counts = np.zeros((SIZE, 2), dtype=np.uint16), np.full(SIZE, 1000, dtype=np.float32)
    alike[15, 0] = 8
    words = (keys((7, 8), (6, 9)), keys((6, 7, 8)), keys((11, 12, 13, 14)))
    return MarkTables(SIZE, words, Ngrams(counts, pairs, triples, alike, np.full((SIZE, 2), 255, dtype=np.uint8)))


def mark(words: int = 0, left: int = 0, right: int = 0, level: int = 0, alternative: int = 0) -> int:
    return words + 16 * left + 128 * right + 1024 * level + 16384 * alternative


def test_marks_of_a_known_sentence(tables: MarkTables) -> None:
    # [CLS] 6 7 8 [SEP]: 6-7 and 7-8 are pairs, 6-7-8 a word of three, 7-8 a word of two; no look-alike is compared.
    found = tables.types(np.array([2, 6, 7, 8, 3]))
    assert found.tolist() == [
        0,
        mark(words=4, right=3),
        mark(words=2 | 4, left=3, right=5),
        mark(words=1 | 4, left=5),
        0,
    ]
    assert found.dtype == np.int32


def test_the_fourth_factor_is_the_level_and_the_fifth_who_would_fit(tables: MarkTables) -> None:
    # A character not known to follow another is as likely as any: p = 100/20 / 1100, and ln p = -5.4. After 6-7, which stands
    # for √(30·60) = 42.4 times, 15 scores ln(10·p / 52.4) = -7.1, and the specials after it 0: no reason to compare.
    assert tables.types(np.array([2, 6, 7, 15, 3])).tolist() == [0, mark(right=3), mark(left=3), 0, 0]
    # With 16 after it, it scores -7.1 - 5.4. So would 8 score 2.9 - 9.6, since 6-7-8 is known to be frequent: better by 5.8.
    text = np.array([6, 7, 15, 16])
    assert tables.types(text).tolist() == [mark(right=3), mark(left=3), mark(level=7, alternative=8), 0]
    earlier = dataclasses.replace(tables, with_alternatives=False)  # for networks that do not know them
    assert earlier.types(text).tolist() == [mark(right=3), mark(left=3), mark(level=7), 0]


def test_marks_of_four_characters_and_of_an_unknown_word(tables: MarkTables) -> None:
    assert tables.types(np.array([11, 12, 13, 14])).tolist() == [8, 8, 8, 8]
    assert tables.types(np.array([11, 12, 13, 15])).tolist() == [0, 0, 0, 0]
    assert tables.types(np.array([6, 9])).tolist() == [2, 1]  # a word that is no frequent pair


def test_a_word_begins_right_after_another() -> None:
    two, three = keys((4, 5), (5, 6), (6, 7)), keys((6, 7, 8), (8, 9, 10))
    tables = MarkTables(SIZE, (two, three, NOTHING))
    borders = {
        (4, 5, 6, 7): {2},  # 45|67, though 56 is a word too
        (4, 5, 6, 7, 8): {2},
        (6, 7, 8, 4, 5): {3},  # of three before one of two
        (4, 5, 8, 9, 10): {2},
        (4, 5, 11, 6, 7): set(), (4, 5, 11, 6, 7, 8): set(),
        (4, 5): set(), (4,): set(), (): set(),
    }  # fmt: skip
    assert {ids: word_borders(tables.types(np.array(ids, dtype=np.int64)) + 1024) for ids in borders} == borders


def test_a_word_of_two_whose_second_begins_no_other() -> None:
    tables = MarkTables(SIZE, (keys((4, 5), (5, 6), (6, 7)), NOTHING, NOTHING))
    assert words_of_two(tables.types(np.array([4, 5, 6, 7, 11, 4, 5, 11]))) == {2, 5}
    assert words_of_two(np.zeros(0, dtype=np.int32)) == set()


def test_marks_do_not_cross_rows(tables: MarkTables) -> None:
    rows = np.array([[6, 7], [8, 9], [10, 6]])
    assert tables.types(rows).tolist() == [tables.types(row).tolist() for row in rows]
    assert tables.types(rows)[1].tolist() == [0, 0]
    assert [found.tolist() for found in tables.types_many([np.array([6]), np.array([7, 8]), np.array([9])])] == [
        [0], [mark(words=2, right=5), mark(words=1, left=5)], [0],
    ]  # fmt: skip


def test_what_stands_between_texts_is_no_part_of_them() -> None:
    """Not even if padding made words and pairs."""
    empty, none = StaticMap.build(NOTHING, NOTHING), np.zeros((SIZE, 1), dtype=np.uint16)
    pairs = StaticMap.build(keys((0, 6), (6, 0)), np.array([15, 15]))
    words = keys((0, 6), (6, 0)), keys((0, 0, 6), (6, 0, 0)), keys((0, 6, 0, 0), (0, 0, 6, 0))
    tables = MarkTables(SIZE, words, Ngrams(np.zeros(SIZE, dtype=np.float32), pairs, empty, none, none.astype(np.uint8)))
    assert [found.tolist() for found in tables.types_many([np.array([6]), np.array([7, 6])])] == [[0], [0, 0]]
    assert tables.types(np.array([[6], [6]])).tolist() == [[0], [0]]
    assert tables.types(np.array([0, 6])).tolist() == [mark(words=2, right=7), mark(words=1, left=7)]


def test_every_mark_is_below_what_the_vocabulary_allows() -> None:
    rng = np.random.default_rng(3)
    found = training.random_tables().types(rng.integers(0, training.SIZE, (50, 20)))
    assert (found % PLAIN_MARKS).max() > 8 * 1024
    assert found.min() >= 0 and PLAIN_MARKS < found.max() < PLAIN_MARKS * training.SIZE
    assert np.prod(MARK_FACTORS) == PLAIN_MARKS


@pytest.mark.parametrize("length", [0, 1])
def test_texts_too_short_for_a_pair(tables: MarkTables, length: int) -> None:
    assert tables.types(np.full(length, 6)).tolist() == [0] * length
    assert tables.word_bits(np.full(length, 6)).tolist() == [0] * length


def test_empty_tables_know_nothing() -> None:
    none = np.zeros((SIZE, 1), dtype=np.uint16)
    empty = StaticMap.build(NOTHING, NOTHING)
    ngrams = Ngrams(np.zeros(SIZE, dtype=np.float32), empty, empty, none, none.astype(np.uint8))
    for nothing in (None, ngrams):
        tables = MarkTables(SIZE, (NOTHING, NOTHING, NOTHING), nothing)
        assert tables.types(np.array([2, 6, 7, 8, 11, 12, 13, 14, 3])).tolist() == [0] * 9


def test_without_counts_there_are_words(tables: MarkTables) -> None:
    words = MarkTables(SIZE, tables.words)
    assert words.types(np.array([2, 6, 7, 8, 3])).tolist() == [0, 4, 2 | 4, 1 | 4, 0]


def test_a_key_past_the_last_is_not_the_last(tables: MarkTables) -> None:
    assert tables.is_word(np.array([19, 7]), np.array([19, 8])).tolist() == [False, True]


# ---- against plain loops -----------------------------------------------------------------------------------------------


def slow_types(tables: MarkTables, text: list[int]) -> list[int]:
    """The marks one token at a time; levels and alternatives are those of the n-grams, which have loops of their own to compare with."""
    assert tables.ngrams is not None
    flat, inside = joined([np.array(text, dtype=np.int64)])
    found = evidence(tables.ngrams, flat, inside)
    pairs = zip(found.levels[inside].tolist(), found.alternatives[inside].tolist(), strict=True)
    marks = [mark(level=level, alternative=alternative) for level, alternative in pairs]
    known = [set(words.tolist()) for words in tables.words]
    for first in range(len(text)):
        for size, words in zip((2, 3, 4), known, strict=True):
            key = 0
            for token in text[first : first + size]:
                key = key * tables.vocabulary_size + token
            if first + size <= len(text) and key in words:
                for place in range(first, first + size):
                    bit = {2: 2 if place == first else 1, 3: 4, 4: 8}[size]
                    marks[place] |= bit
    for place, (left, right) in enumerate(zip(text, text[1:], strict=False)):
        level = PAIR_LEVELS[int(tables.ngrams.pair_step(np.array([left]), np.array([right]))[0])]
        marks[place] += mark(right=level)
        marks[place + 1] += mark(left=level)
    return marks


def test_many_texts_at_once_have_the_marks_of_plain_loops() -> None:
    tables, texts = training.random_tables(seed=7), training.texts(50, seed=7)
    expected = [slow_types(tables, text.tolist()) for text in texts]
    found = tables.types_many(texts)
    assert [marks.tolist() for marks in found] == expected
    assert [tables.types(text).tolist() for text in texts] == expected
    assert [tables.word_bits(text).tolist() for text in texts] == [[found % 16 for found in marks] for marks in expected]
    seen = np.concatenate(found)
    assert len(set((seen % 16).tolist())) > 12 and len(set((seen // 16 % 8).tolist())) >= 6  # or this would say little
    assert {marks.dtype for marks in found} == {np.dtype(np.int32)}
    assert tables.types_many([]) == []


def test_marks_that_are_wanted_are_the_same_as_of_all() -> None:
    tables, texts = training.random_tables(seed=11), training.texts(20, seed=11)
    rng = np.random.default_rng(11)
    wanted = [rng.random(len(text)) < 0.3 for text in texts]
    whole, some = tables.types_many(texts), tables.types_many(texts, wanted)
    assert all(np.array_equal(a[of], b[of]) for a, b, of in zip(whole, some, wanted, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(whole, some, strict=True))  # the others were spared


def test_words_of_changed_rows_are_those_of_any_rows() -> None:
    tables = training.random_tables(seed=13)
    rng = np.random.default_rng(13)
    originals = rng.integers(training.FIRST_HAN, training.SIZE, (5, 9))
    owner = rng.integers(0, 5, 300)
    rows = originals[owner]
    rows[np.arange(300), rng.integers(0, 9, 300)] = rng.integers(training.FIRST_HAN, training.SIZE, 300)
    expected = tables.word_bits(rows)
    assert len(np.unique(expected)) > 8
    assert np.array_equal(tables.changed_word_bits(rows, originals, owner), expected)


def test_what_completes_a_word_of_four() -> None:
    words = [(6, 7, 8, 9), (6, 7, 8, 10), (11, 7, 8, 9), (12, 13, 14, 15)]
    tables = MarkTables(SIZE, (NOTHING, NOTHING, keys(*sorted(words))))
    rows = [
        [6, 7, 8, 16, 0, 0, 0],  # 9 or 10 at the end of a word
        [0, 0, 0, 16, 7, 8, 9],  # 6 or 11 at its beginning
        [0, 0, 12, 16, 14, 15, 6],
        [0, 12, 13, 16, 15, 6, 7],
        [6, 7, 8, 9, 0, 0, 0],  # a word already
        [6, 7, 16, 9, 0, 0, 0],  # what is wrong is not in the middle
        [0, 0, 0, 16, 0, 0, 0],
    ]
    assert [sorted(found) for found in tables.completions(np.array(rows))] == [[9, 10], [6, 11], [13], [14], [], [], []]
    assert MarkTables(SIZE, (NOTHING, NOTHING, NOTHING)).completions(np.array(rows[:2])) == [[], []]


def test_what_doubled_completes_a_word_of_four() -> None:
    words = [(6, 6, 7, 8), (7, 9, 9, 8), (7, 10, 10, 8), (7, 8, 11, 11), (6, 7, 6, 8), (12, 12, 12, 8)]
    tables = MarkTables(SIZE, (NOTHING, NOTHING, keys(*sorted(words))))
    rows = [
        [0, 0, 16, 16, 7, 8],  # 6 twice at the beginning of a word
        [0, 7, 16, 16, 8, 9],  # 9 or 10 in its middle
        [7, 8, 16, 16, 9, 9],  # 11 at its end
        [0, 7, 9, 9, 8, 0],  # a word already
        [0, 0, 16, 16, 12, 8],
        [0, 0, 16, 16, 8, 7],
    ]
    assert [sorted(found) for found in tables.doubled_completions(np.array(rows))] == [[6], [9, 10], [11], [], [12], []]
    assert MarkTables(SIZE, (NOTHING, NOTHING, NOTHING)).doubled_completions(np.array(rows[:2])) == [[], []]


@pytest.mark.parametrize("kind", [np.uint16, np.int32, np.int64])
def test_ids_of_any_width(kind: type) -> None:
    tables, texts = training.random_tables(seed=7), training.texts(5, seed=7)
    expected = [tables.types(text).tolist() for text in texts]
    assert [marks.tolist() for marks in tables.types_many([text.astype(kind) for text in texts])] == expected
    assert [tables.types(text.astype(kind)).tolist() for text in texts] == expected


def test_a_mark_depends_on_no_more_neighbours_than_told() -> None:
    tables = training.random_tables(seed=9)
    rng = np.random.default_rng(9)
    text = rng.integers(training.FIRST_HAN, training.SIZE, 21)
    changed = np.repeat(text[None], 400, 0)
    changed[:, 10] = rng.integers(0, training.SIZE, len(changed))
    differing = np.flatnonzero((tables.types(changed) != tables.types(text)).any(0))
    assert differing.min() >= 10 - tables.reach and differing.max() <= 10 + tables.reach
    words = tables.word_bits(np.array([[0] * 10, [0] * 3 + [1] + [0] * 6]))
    assert not words.any()
    four = MarkTables(SIZE, (NOTHING, NOTHING, keys((6, 7, 8, 9))))
    assert four.types(np.array([6, 7, 8, 9]))[0] != four.types(np.array([6, 7, 8, 10]))[0]  # the fourth decides on the first
    assert tables.reach == tables.context == 3


# ---- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_counts", [True, False])
@pytest.mark.parametrize("with_associations", [True, False])
def test_save_and_load(tables: MarkTables, tmp_path: Path, with_counts: bool, with_associations: bool) -> None:
    path = tmp_path / "marks.npz"
    associated = StaticMap.build(association_keys(*tables.words[0][:, None], SIZE), np.array([7])) if with_associations else None
    saved = MarkTables(SIZE, tables.words, tables.ngrams if with_counts else None, associated)
    saved.save(path)
    loaded = MarkTables.load(path)
    assert loaded.vocabulary_size == SIZE
    for ours, theirs in zip(saved.words, loaded.words, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()
    assert (loaded.ngrams is None) == (not with_counts)
    if saved.ngrams is not None and loaded.ngrams is not None:
        ours, theirs = saved.ngrams.arrays(), loaded.ngrams.arrays()
        assert list(ours) == list(theirs)
        assert all(ours[name].dtype == theirs[name].dtype and (ours[name] == theirs[name]).all() for name in ours)
    assert (loaded.associations is None) == (not with_associations)
    if loaded.associations is not None:
        assert loaded.associations.levels(*tables.words[0][:, None]).tolist() == [7]
    text = np.array([2, 6, 7, 15, 8, 11, 12, 13, 14, 9, 10, 3])
    assert loaded.types(text).tolist() == saved.types(text).tolist()


def test_keys_far_apart_are_saved_as_they_are(tmp_path: Path) -> None:
    words = np.array([5, 7, 2**62], dtype=np.uint64), NOTHING, np.array([3, 2**31], dtype=np.uint64)
    MarkTables(SIZE, words).save(tmp_path / "marks.npz")
    with np.load(tmp_path / "marks.npz") as data:
        assert {name: data[name].dtype for name in ("words2", "words3", "words4")} == {
            "words2": np.dtype(np.uint64), "words3": np.dtype(np.uint32), "words4": np.dtype(np.uint32),
        }  # fmt: skip
    assert [found.tolist() for found in MarkTables.load(tmp_path / "marks.npz").words] == [found.tolist() for found in words]
