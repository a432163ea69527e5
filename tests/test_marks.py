from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from corrector.electra.marks import MARK_FACTORS, MarkTables, differences

SIZE = 20
NOTHING = np.zeros(0, dtype=np.uint64)


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
    pairs, pair_levels = keys((6, 7), (7, 8), (9, 10)), np.array([3, 5, 7], dtype=np.uint8)
    triples, triple_levels = keys((6, 7, 8)), np.array([2], dtype=np.uint8)
    words = (keys((7, 8), (6, 9)), keys((6, 7, 8)), keys((11, 12, 13, 14)))
    return MarkTables(SIZE, pairs, pair_levels, triples, triple_levels, words)


def mark(words: int = 0, left: int = 0, right: int = 0, triple: int = 0) -> int:
    return words + 16 * left + 128 * right + 1024 * triple


def test_marks_of_a_known_sentence(tables: MarkTables) -> None:
    # [CLS] 6 7 8 [SEP]: 6-7 and 7-8 are pairs, 6-7-8 a triple centred on 7 and a word of three, 7-8 a word of two.
    found = tables.types(np.array([2, 6, 7, 8, 3]))
    assert found.tolist() == [
        0,
        mark(words=4, right=3),
        mark(words=2 | 4, left=3, right=5, triple=2),
        mark(words=1 | 4, left=5),
        0,
    ]
    assert found.dtype == np.int32


def test_marks_of_four_characters_and_of_an_unknown_word(tables: MarkTables) -> None:
    assert tables.types(np.array([11, 12, 13, 14])).tolist() == [8, 8, 8, 8]
    assert tables.types(np.array([11, 12, 13, 15])).tolist() == [0, 0, 0, 0]
    assert tables.types(np.array([6, 9])).tolist() == [2, 1]  # a word that is no frequent pair


def test_marks_do_not_cross_rows(tables: MarkTables) -> None:
    rows = np.array([[6, 7], [8, 9], [10, 6]])
    assert tables.types(rows).tolist() == [tables.types(row).tolist() for row in rows]
    assert tables.types(rows)[1].tolist() == [0, 0]


def test_every_mark_is_below_the_product_of_the_factors(tables: MarkTables) -> None:
    rng = np.random.default_rng(3)
    found = tables.types(rng.integers(0, SIZE, (50, 20)))
    assert found.max() > 0
    assert found.min() >= 0 and found.max() < np.prod(MARK_FACTORS)


@pytest.mark.parametrize("length", [0, 1])
def test_texts_too_short_for_a_pair(tables: MarkTables, length: int) -> None:
    assert tables.types(np.full(length, 6)).tolist() == [0] * length


def test_empty_tables_know_nothing() -> None:
    levels = NOTHING.astype(np.uint8)
    empty = MarkTables(SIZE, NOTHING, levels, NOTHING, levels, (NOTHING, NOTHING, NOTHING))
    assert empty.types(np.array([2, 6, 7, 8, 11, 12, 13, 14, 3])).tolist() == [0] * 9


def test_a_key_past_the_last_is_not_the_last(tables: MarkTables) -> None:
    assert tables.pair_level(np.array([19]), np.array([19])).tolist() == [0]


def test_save_and_load(tables: MarkTables, tmp_path: Path) -> None:
    path = tmp_path / "marks.npz"
    tables.save(path)
    loaded = MarkTables.load(path)
    assert loaded.vocabulary_size == SIZE
    for ours, theirs in (
        (tables.pairs, loaded.pairs),
        (tables.pair_levels, loaded.pair_levels),
        (tables.triples, loaded.triples),
        (tables.triple_levels, loaded.triple_levels),
        *zip(tables.words, loaded.words, strict=True),
    ):
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()
    text = np.array([2, 6, 7, 8, 11, 12, 13, 14, 9, 10, 3])
    assert loaded.types(text).tolist() == tables.types(text).tolist()


def test_differences_add_up_to_the_keys() -> None:
    stored = differences(np.array([5, 7, 2**62], dtype=np.uint64))
    assert stored.tolist() == [5, 2, 2**62 - 7]
    assert np.cumsum(stored, dtype=np.uint64).tolist() == [5, 7, 2**62]
