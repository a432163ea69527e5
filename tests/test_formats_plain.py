from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.apply import corrected_text
from corrector.formats.passages import correct_passages
from corrector.formats.plain import PlainText
from corrector.formats.wrapped import wrapped_paragraphs
from corrector.types import Document
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"散部": "散步", "高形": "高兴"})
LINE = "一二三四五六七八九十一二三四五六七八"  # 36 columns


def corrected(text: str, path: str | None = "a.txt") -> str:
    document = Document(path, text)
    return corrected_text(correct_passages(CORRECTOR, document, PlainText().passages(document)))


def joined(text: str) -> list[str]:
    return ["|".join(text[line.start : line.end] for line in paragraph) for paragraph in wrapped_paragraphs(text)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_word_that_a_full_line_breaks_is_read_whole(end: str) -> None:
    lines = [LINE] * 6 + ["一二三四五六七八九十一二三四五六七散", "部。", "　　" + LINE[2:], "散部", "散", "部"]
    text = end.join(lines)
    assert corrected(text) == text.replace(f"{end}部。", f"{end}步。").replace("散部", "散步")
    assert len(joined(text)) == 2
    assert corrected(text, None) == text.replace("散部", "散步")  # standard input


@pytest.mark.parametrize(
    "lines",
    [
        [LINE[:5]] * 20,  # verses
        [LINE] * 5,  # too few to tell
        [LINE] * 8 + [LINE * 4] * 4,  # some that are far too long
        [LINE, LINE[:5], LINE[:9]] * 6,  # of all lengths
        [""],
    ],
)
def test_other_lines_are_read_by_themselves(lines: list[str]) -> None:
    assert joined("\n".join(lines)) == []


def test_a_few_lines_may_be_longer_and_are_no_part_of_a_paragraph_that_goes_on() -> None:
    address = f"http://a.cn/{'b' * 200}"
    assert joined("\n".join([*[LINE] * 20, address, LINE, "好"])) == ["|".join([*[LINE] * 20, address]), f"{LINE}|好"]


def test_paragraphs_end_at_short_lines_blank_ones_and_indents() -> None:
    lines = [LINE, LINE, "短。", LINE, LINE, "", LINE, "　" + LINE[1:], LINE, LINE[:-2] + "，"]
    assert joined("\n".join(lines)) == [f"{LINE}|{LINE}|短。", f"{LINE}|{LINE}", f"　{LINE[1:]}|{LINE}|{LINE[:-2]}，"]


@given(st.lists(st.sampled_from([LINE, LINE[:-1] + "散", "部" + LINE[1:], "散", "部", "", " ", "a b", "　散"]), max_size=30), st.booleans())
@settings(max_examples=200, deadline=None)
def test_everything_is_in_some_passage_and_nothing_else_changes(lines: list[str], windows: bool) -> None:
    text = ("\r\n" if windows else "\n").join(lines)
    after = corrected(text)
    assert after.replace("步", "部") == text
    assert after.count("步") >= corrected_text(CORRECTOR.correct(text)).count("步")
