from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from corrector.check import Ranked, Seen, check_features, companies, nearest_sums, suspicions, word_model_gains
from corrector.edit_features import FEATURES
from corrector.edits import Change, Edits
from corrector.electra.look_alikes import LEVELS
from corrector.electra.marks import PLAIN_MARKS
from corrector.electra.runtime import Encoding, Floats
from corrector.rank import ALTERNATIVES, CHECK_FEATURES
from corrector.surroundings import SURROUNDINGS


def ranked(
    token: int, scores: tuple[float, ...], ids: tuple[int, ...] = (9,), *, window: int = 0, shares: tuple[float, ...] = ()
) -> Ranked:
    """A group at ``token`` whose best edit changes its second character on to ``ids``."""
    changes = tuple(Change(1, ids) for _ in scores)
    features = np.arange(len(scores) * len(FEATURES), dtype=np.float32).reshape(len(scores), -1)
    edits = Edits(token - 1, token, "天地人", changes, features, "字" * 10)
    return Ranked(window, edits, np.array(scores, dtype=np.float32), np.array(shares or [0.0] * len(scores), dtype=np.float32))


def seen(logits: Floats, **alternatives: int) -> Seen:
    """These logits, and types that name as better the id given as ``t5=9`` for token 5."""
    types = np.full(len(logits), PLAIN_MARKS - 1, dtype=np.int32)
    for token, better in alternatives.items():
        types[int(token[1:])] += PLAIN_MARKS * better
    return Seen(types, logits)


def column(name: str) -> int:
    return CHECK_FEATURES.index(name)


def test_where_the_best_edit_is() -> None:
    group = ranked(4, (1.0,), ids=(8, 9))
    assert (group.place, group.new_ids) == (range(5, 7), {5: 8, 6: 9})


def test_company_is_the_surest_other_group_of_the_same_window() -> None:
    def group(window: int, token: int, *shares: float) -> Ranked:
        return ranked(token, (0.0,) * len(shares), window=window, shares=shares)

    groups = [group(0, 1, 0.5, 0.25), group(0, 4, 0.125), group(1, 1, 0.75), group(0, 7, 0.5)]
    assert companies(groups) == [0.5, 0.75, 0.0, 0.75]
    assert companies([]) == []


def test_every_token_belongs_to_the_nearest_place() -> None:
    values = np.array([1, 2, 4, 8, 16, 32, 64], dtype=np.float32)
    assert nearest_sums(values, [range(3, 4)]) == [127]
    # Between 1 and 5 the middle, 3, goes to the left one; 2 and 5 have 3 and 4 between them, one each.
    assert nearest_sums(values, [range(1, 2), range(5, 6)]) == [1 + 2 + 4 + 8, 16 + 32 + 64]
    assert nearest_sums(values, [range(1, 3), range(5, 7)]) == [1 + 2 + 4 + 8, 16 + 32 + 64]
    assert sum(nearest_sums(values, [range(1), range(2, 4), range(6, 7)])) == 127


def test_features_by_hand() -> None:
    before, after = np.full(12, -50.0, dtype=np.float32), np.full(12, -50.0, dtype=np.float32)
    before[3], before[9] = np.log(3), np.log(7)  # suspicion ln 4 and ln 8
    after[3], after[4], after[9] = 0.0, np.log(3), -50.0  # ln 2 and, made by the first edit, ln 4; nothing
    first, second = ranked(2, (2.0, 0.5), ids=(8, 9)), ranked(8, (1.0,))
    rows = check_features("天地人天地人天地人", [first, second], [0.25, -3.0], [0.5, 0.75], seen(before), seen(after))
    assert rows.shape == (2, len(CHECK_FEATURES))
    assert rows[:, column("bias")].tolist() == [1, 1]
    assert rows[:, column("score")].tolist() == [2, 1]
    assert rows[:, column("detection_after")] == pytest.approx([np.log(3), -50])
    assert rows[:, column("suspicion_removed")] == pytest.approx([np.log(4) - np.log(2) - np.log(4), np.log(8)], abs=1e-5)
    assert rows[:, column("margin")].tolist() == [1.5, 10]  # there is no second: as if it scored -10, limited
    assert rows[:, column("wide_word_model_gain")].tolist() == [0.25, -3.0]
    assert rows[:, column("level_after")].tolist() == [15, 15]
    assert rows[:, column("company")].tolist() == [0.5, 0.75]
    assert (rows[:, -len(FEATURES) :] == np.arange(len(FEATURES))).all()
    around = rows[:, column(SURROUNDINGS[0]) : -len(FEATURES)]  # of 人→字 at 4 in this text, and of 地→字
    assert [dict(zip(SURROUNDINGS, row, strict=True))["pair_repeated_before"] for row in around.tolist()] == [1, 1]


def test_what_stands_beside_an_edit() -> None:
    logits = np.arange(12, dtype=np.float32)
    groups = [ranked(1, (1.0,), ids=(8, 9)), ranked(8, (1.0,))]
    first, last = check_features("天地人天地人天地人天", groups, [0.0, 0.0], [0.0, 0.0], seen(logits), seen(logits + 20))
    beside = slice(column("two_left_before"), column("two_right_after") + 1)
    # Tokens 2 and 3 are changed, token 9 the other time; 0 and 11 are [CLS] and [SEP].
    assert first[beside].tolist() == [-8, 1, 4, 5, -8, 21, 24, 25]
    assert last[beside].tolist() == [7, 8, 10, -8, 27, 28, 30, -8]
    assert [row[column("detection_after")] for row in (first, last)] == [23, 29]


def test_what_the_marks_name_as_better() -> None:
    logits = np.zeros(12, dtype=np.float32)
    groups = [ranked(1, (1.0,), ids=(8, 9)), ranked(6, (1.0,), ids=(8, 9)), ranked(9, (1.0,))]  # tokens 2 and 3, 7 and 8, 10
    before, after = seen(logits, t2=8, t3=9, t7=8, t9=5), seen(logits, t4=5, t8=7, t10=4)
    rows = check_features("天地人天地人天地人天", groups, [0.0] * 3, [0.0] * 3, before, after)
    found = rows[:, column(ALTERNATIVES[0]) : column(ALTERNATIVES[-1]) + 1]
    assert found.tolist() == [[1, 0], [1, 1], [0, 1]]


def test_the_level_is_the_highest_of_the_characters_changed() -> None:
    logits, types = np.zeros(12, dtype=np.float32), np.array([0, 0, 3, 12, 15, *[0] * 7]) * (PLAIN_MARKS // LEVELS)
    (row,) = check_features("天地人天", [ranked(1, (1.0,), ids=(8, 9))], [0.0], [0.0], seen(logits), Seen(types, logits))
    assert row[column("level_after")] == 12


def test_very_much_suspicion_counts_no_more_than_much() -> None:
    much, none = seen(np.full(12, 500.0, dtype=np.float32)), seen(np.full(12, -500.0, dtype=np.float32))
    for before, after, removed in ((much, none, 15), (none, much, -15)):
        (row,) = check_features("天地人", [ranked(1, (1.0,))], [0.0], [0.0], before, after)
        assert row[column("suspicion_removed")] == removed


def test_gains_are_of_the_window_around_the_best_edit() -> None:
    asked: list[np.ndarray] = []  # type: ignore[type-arg]

    def word_score(texts: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        asked.append(texts)
        return texts.sum(1).astype(np.float32)

    ids = np.arange(100, 115, dtype=np.int32)
    encoding = Encoding(ids, np.zeros_like(ids), np.arange(15, dtype=np.int32), np.ones(15, dtype=np.bool_))
    characters = SimpleNamespace(word_score=word_score)
    groups = [(encoding, ranked(5, (1.0, 0.5), ids=(8, 9))), (encoding, ranked(0, (1.0,), ids=(7,)))]
    assert word_model_gains(groups, characters) == [8 + 9 - 106 - 107, 7 - 101]  # type: ignore[arg-type]
    (texts,) = asked  # five tokens before, and five after the longest edit
    assert texts[:2].tolist() == [[*range(101, 114)], [0, 0, 0, 0, *range(100, 109)]]
    assert word_model_gains([], characters) == []  # type: ignore[arg-type]


def test_suspicion_cannot_overflow() -> None:
    assert suspicions(np.array([-1000, 0, 1000], dtype=np.float32)).tolist() == pytest.approx([0, np.log(2), 1000])
