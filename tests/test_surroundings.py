from __future__ import annotations

import pytest

from corrector.surroundings import SURROUNDINGS, surroundings

ROOM = ("run", "han_share")


def true_of(text: str, new: str) -> set[str]:
    """The surroundings that hold when ``new`` takes the place of what stands between ｜ and ｜ in the text."""
    left, old, right = text.split("｜")
    assert len(old) == len(new)
    values = dict(zip(SURROUNDINGS, surroundings(left + old + right, len(left), new), strict=True))
    values = {name: value for name, value in values.items() if name not in ROOM}
    assert set(values.values()) <= {0.0, 1.0}
    return {name for name, value in values.items() if value}


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("今天天气很｜号｜。", "好", set()),
        # A list of terms: each ends as this one does.
        ("祖国观、民族观、文化｜观｜等", "馆", {"character_repeated_before"}),
        ("双方加强培训，提高陪｜训｜水平，重视陪训。", "迅", {f"{what}_repeated_before" for what in ("character", "pair")}),
        ("加强培训，提高｜陪｜训水平。", "培", {"character_repeated_after", "pair_repeated_after"}),
        ("要加强培训班，这次｜陪｜训班好。", "培", {f"{what}_repeated_after" for what in ("character", "pair", "triple")}),
        ("陪｜训｜，提高陪训", "迅", {f"{what}_repeated_before" for what in ("character", "pair")}),
        ("提高训，这次陪｜训｜", "迅", {"character_repeated_before"}),
        # Both characters of a word changed together; what is repeated must have one of them in it.
        ("大会以为｜会义｜开完了", "会议", {"character_repeated_before", "character_repeated_after"}),
        # Nothing is repeated across the gap, across a mark, or of what is no Han character.
        ("AB，A｜号｜B", "好", set()),
        ("号，A号，A｜号｜B", "好", {"character_repeated_before"}),
        ("好，人，｜号｜人", "好", {"character_repeated_after"}),
    ],
)
def test_what_is_there_once_more(text: str, new: str, expected: set[str]) -> None:
    assert true_of(text, new) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他说“大家｜号｜吗”，走了", {"quoted"}),
        ("他说“｜号｜”。", {"quoted", "after_mark", "before_mark"}),
        ("他说“行”，大家｜号｜", set()),
        ("他说“行”，大家｜号｜，都说“行”", set()),
        ("他说“大家｜号｜吗", set()),  # a quotation that never ends
        ("他说“行”，又说“大家｜号｜吗", set()),
        ("大家｜号｜吗”，他说", set()),  # and one that never begins
        ("风、｜号｜、雨", {"after_mark", "before_mark"}),
        ("｜号｜", set()),
    ],
)
def test_quotation_and_lists(text: str, expected: set[str]) -> None:
    assert true_of(text, "好") == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("再", "在", {"swap_zai"}), ("作", "做", {"swap_zuo"}), ("那", "哪", {"swap_na"}), ("他", "它", {"swap_ta"}),
        ("决", "绝", {"swap_jue"}), ("近", "今", {"swap_jinri"}), ("近", "进", {"swap_jin"}), ("今", "进", set()),
        ("做", "在", set()), ("号", "好", set()), ("再作", "在做", set()), ("的", "地", set()),
    ],
)  # fmt: skip
def test_swaps(old: str, new: str, expected: set[str]) -> None:
    assert true_of(f"这｜{old}｜是", new) == expected


@pytest.mark.parametrize(
    ("text", "start", "run", "share"),
    [
        ("今天天气很号。", 5, 6 / 30, 0.9), ("号", 0, 1 / 30, 1.0), ("A座，今天很号，走了", 6, 4 / 30, 0.9),
        ("A号1", 1, 1 / 30, 0.9), ("天" * 18 + "，号", 19, 1 / 30, 19 / 20), ("天" * 40 + "号" + "天" * 20, 40, 1.0, 1.0),
    ],
)  # fmt: skip
def test_how_much_there_is_to_go_by(text: str, start: int, run: float, share: float) -> None:
    values = dict(zip(SURROUNDINGS, surroundings(text, start, "好"), strict=True))
    assert [values[name] for name in ROOM] == pytest.approx([run, share])
