"""Quotations and playful spellings: what the list says of a text, and what becomes of that."""

from __future__ import annotations

import pytest

from corrector import Corrector, corrected_text
from corrector.similarity.misspellings import SURE, well_known
from corrector.similarity.verbatim import _LIST, Verbatim, by_heart, clauses_of
from corrector.text.protect import is_han
from corrector.types import Span
from corrector.words import read_lines
from tests.test_complaints import needs_model

LINES = [line for _, line in read_lines(_LIST)]


def test_every_line_has_a_clause_and_none_is_there_twice() -> None:
    assert len(set(LINES)) == len(LINES)
    for line in LINES:
        assert clauses_of(line), line
        assert line.count("[") == line.count("]"), line
        for clause in clauses_of(line):
            assert len(clause) > 1 and all(is_han(char) or char == "Q" for char in clause), line


def test_nothing_in_the_list_is_surely_a_well_known_misspelling() -> None:
    for line in LINES:
        for clause in clauses_of(line):
            assert SURE not in [meant.evidence for meant in well_known().meant(clause).values()], clause


def test_clauses_of_a_line() -> None:
    assert clauses_of("敕勒川，风吹草低[见现]牛羊") == ["风吹草低见牛羊", "风吹草低现牛羊"]
    assert clauses_of("[不弗]知[老]将至") == ["不知老将至", "弗知老将至"]
    assert clauses_of("盆友") == ["盆友"]


def test_what_one_character_is_wrong_in() -> None:
    known = Verbatim(["所以传道受业解惑也", "春风不度玉门关", "桃之夭夭"])
    assert known.meant("春风不渡玉门关，清风不度玉门关，春风不度玉门山") == {3: "度", 8: "春", 22: "关"}
    assert known.meant("春风不度玉门关。桃之天夭。所以传道授业解惑矣") == {}, "right, too short, and wrong in two"
    assert Verbatim(["海内存知己"]).meant("海内存知已") == {4: "己"}
    assert known.meant("") == known.meant("春") == known.meant("风不度玉门关") == known.meant("春风不度玉门") == {}


def test_one_of_the_list_is_not_wrong_for_being_like_another() -> None:
    known = Verbatim(["天生我材必有用", "天生我才必有用"])
    assert known.meant("天生我材必有用，天生我才必有用") == {}
    assert known.meant("天生我财必有用") in ({3: "材"}, {3: "才"})


def test_where_a_text_has_them() -> None:
    assert Verbatim(["桃之夭夭", "盆友"]).spans("小盆友说桃之夭夭。") == (Span(1, 3), Span(4, 8))
    assert by_heart().spans("他问：学而时习之，不亦说乎？") == (Span(3, 8), Span(9, 13))


@pytest.fixture(scope="module")
def corrector() -> Corrector:
    return Corrector(threads=1)


@needs_model
@pytest.mark.parametrize(
    "text",
    [
        "学而时习之，不亦说乎？有朋自远方来，不亦乐乎？",
        "韩愈写道：“师者，所以传道受业解惑也。”",
        "桃之夭夭，灼灼其华。",
        "我劝天公重抖擞，不拘一格降人材。",
        "鲁迅说，走的人多了，也便成了路。",
        "學而時習之，不亦說乎？",
        "男盆友送了我一束花。",
    ],
)
def test_they_stay_as_they_are(corrector: Corrector, text: str) -> None:
    assert corrected_text(corrector.correct(text)) == text


@needs_model
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("春风不渡玉门关。", "春风不度玉门关。"),
        ("举头望明月，低头思固乡。", "举头望明月，低头思故乡。"),
        ("他写下“先天下之优而忧”七个字。", "他写下“先天下之忧而忧”七个字。"),
        ("海内存知已，天涯若比邻。", "海内存知己，天涯若比邻。"),
        ("春風不渡玉門關。", "春風不度玉門關。"),
    ],
)
def test_misquotations_are_mended(corrector: Corrector, wrong: str, right: str) -> None:
    assert corrected_text(corrector.correct(wrong)) == right


@needs_model
def test_what_the_user_calls_wrong_is_wrong_in_a_quotation_too() -> None:
    own = Corrector(threads=1, confusions={"受业": "授业"}, words=["不渡"])
    assert corrected_text(own.correct("所以传道受业解惑也，春风不渡玉门关")) == "所以传道授业解惑也，春风不渡玉门关"
