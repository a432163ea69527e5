"""The report for people: places, carets under the right columns, reasons with pinyin, nothing that steers a terminal."""

from __future__ import annotations

import re
import unicodedata

import click
import pytest
import wcwidth
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.render.columns import around, pad, safe, width
from corrector.render.describe import alternatives, percent, pinyin_pair, reason
from corrector.render.findings import findings
from corrector.render.human import COLUMNS, INDENT, render_human
from corrector.render.summary import Summary, render_summary_line
from corrector.types import Candidate, CorrectedDocument, Correction, Document, RankedCandidate, Reason, Span
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"天汽": "天气", "平果": "苹果"}, {"做": "作"})


def one(
    text: str, original: str, replacement: str, reason: Reason = "same_sound", path: str = "a.txt"
) -> CorrectedDocument:
    """A document whose first ``original`` is corrected, with two alternatives."""
    start = text.index(original)
    others = tuple(
        RankedCandidate(Candidate(other, -3.0), 0.9, 0.0, score) for other, score in (("布", 0.034), ("怖", 0.002))
    )
    correction = Correction(Span(start, start + len(original)), original, replacement, 0.7583, others, reason)
    return CorrectedDocument(Document(path, text), (correction,))


def test_a_correction_with_its_line() -> None:
    assert render_human(one("好。\n周末去公园散部，好。", "部", "步")) == (
        "a.txt:2:7: 部 → 步  同音 (bù)  76 %\n    周末去公园散部，好。\n                ^^\n    or 布 3 %, 怖 < 1 %\n"
    )


def test_corrections_and_suggestions_in_order_and_told_apart() -> None:
    document = Document(None, "\ufeff做天汽\r\n吃平果")
    assert render_human(CORRECTOR.correct_document(document)) == (
        "<stdin>:1:1: 做 → 作?  suggestion  同音 (zuò)  40 %\n    做天汽\n    ~~\n"
        "<stdin>:1:2: 天汽 → 天气  同音 (tiān qì)  99 %\n    做天汽\n      ^^^^\n"
        "<stdin>:2:2: 平果 → 苹果  同音 (píng guǒ)  99 %\n    吃平果\n      ^^^^\n"
    )


def test_nothing_found_is_nothing_said() -> None:
    assert render_human(CORRECTOR.correct("今天好")) == ""


def test_lines_and_columns_count_on_from_the_blocks_before() -> None:
    before = Summary(files=1).plus(CORRECTOR.correct("\ufeff一\n二三"))
    assert before.columns == 2
    assert render_human(CORRECTOR.correct("平果"), before).splitlines() == [
        "<stdin>:2:3: 平果 → 苹果  同音 (píng guǒ)  99 %", "    平果", "    ^^^^",
    ]  # fmt: skip
    assert before.plus(CORRECTOR.correct("四\n五")).columns == 1


@pytest.mark.parametrize(
    ("before", "columns"),
    [
        ("", 0),
        ("ab汉，", 6),
        ("e\u0301", 1),  # a combining mark
        ("か\u3099", 2),
        ("\t", 4),
        ("👨\u200d👩\u200d👧", 2),
        ("👍🏽🇨🇳", 4),
        ("🏳\ufe0f\u200d🌈", 2),
        ("汉\u200d", 10),  # 汉<U+200D>: joins nothing
        ("ﾊﾝ", 2),  # half-width
        ("\x1b[31m", 5),  # ␛[31m
        ("\u202e", 8),  # <U+202E>
        ("葛\U000e0100", 2),  # an ideographic variation
    ],
)
def test_the_carets_stand_under_the_correction(before: str, columns: int) -> None:
    _, line, carets, _ = render_human(one(f"{before}部。", "部", "步")).splitlines()
    assert carets == INDENT + " " * columns + "^^"
    assert wcwidth.wcswidth(line.partition("部")[0]) == len(INDENT) + columns


def test_long_lines_are_cut_around_the_correction() -> None:
    text = "一二三四五六七八九十" * 100_000 + "部" + "甲乙丙丁戊己庚辛" * 100_000
    place, line, carets, _ = render_human(one(text, "部", "步")).splitlines()
    assert place.startswith("a.txt:1:1000001: ")
    assert line.startswith(INDENT + "…") and line.endswith("…") and "九十部甲乙" in line
    assert COLUMNS - 2 <= width(line) - len(INDENT) <= COLUMNS
    assert width(line.partition("部")[0]) == len(carets) - 2


def test_a_line_is_cut_only_where_it_must_be() -> None:
    start = render_human(one("部" + "甲" * 200, "部", "步")).splitlines()[1]
    assert start.startswith(INDENT + "部甲") and start.endswith("甲…") and width(start) > COLUMNS
    end = render_human(one("甲" * 200 + "部", "部", "步")).splitlines()[1]
    assert end.startswith(INDENT + "…甲") and end.endswith("甲部")
    whole = render_human(one("甲" * 44 + "部", "部", "步")).splitlines()[1]
    assert whole == INDENT + "甲" * 44 + "部"


def test_no_emoji_sequence_is_cut_apart() -> None:
    family = "👨\u200d👩\u200d👧"
    line = render_human(one(family * 100 + "部", "部", "步")).splitlines()[1]
    assert re.fullmatch(f" +…({family})+部", line)


def test_control_characters_of_text_and_name_are_shown() -> None:
    report = render_human(one("\x1b]0;x\x07\x9b2J\u2067\u2028\x7f部", "部", "步", path="a\x1b[2J\nb.txt"))
    assert report.splitlines()[:2] == ["a␛[2J␊b.txt:1:8: 部 → 步  同音 (bù)  76 %".replace("1:8", "1:13"),
                                       "    ␛]0;x␇<U+009B>2J<U+2067><U+2028>␡部"]  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=60), st.text(max_size=60))
def test_no_control_ever_comes_through(before: str, after: str) -> None:
    text = f"{before}平果{after}"
    corrected = CORRECTOR.correct_document(Document(before or None, text))
    report = render_human(corrected)
    assert not [char for char in report if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") and char != "\n"]
    assert not set(report) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
    assert click.unstyle(render_human(corrected, None, color=True)) == report


def test_color_is_added_only_when_asked_for() -> None:
    corrected = CORRECTOR.correct("做平果")
    colored = render_human(corrected, None, color=True)
    assert "\x1b" not in render_human(corrected)
    assert "\x1b[31m平果\x1b[0m → \x1b[32m\x1b[1m苹果\x1b[0m" in colored
    assert "\x1b[33m做\x1b[0m" in colored  # a suggestion looks different


def test_reasons() -> None:
    def why(original: str, replacement: str, kind: Reason) -> str:
        return reason(Correction(Span(0, len(original)), original, replacement, 0.9, (), kind))

    assert why("权利", "权力", "same_sound") == "同音 (quán lì)"
    assert why("山", "上", "near_sound") == "近音 (shān → shàng)"
    assert why("门", "们", "same_sound") == "同音 (mén)"
    assert why("未", "末", "shape") == "形近"
    assert why("部", "步", "word") == "词"
    assert why("部", "步", "context") == "语境"
    assert why("帐户", "账户", "confusion") == "混淆表"
    assert why("x", "y", "same_sound") == "同音"  # nothing to read aloud


def test_a_word_is_read_as_a_word() -> None:
    assert pinyin_pair("银航", "银行") == ("yín háng", "yín háng")
    assert pinyin_pair("绿色", "率色") is not None
    assert pinyin_pair("女", "旅") == ("nǚ", "lǚ")
    assert pinyin_pair("一", "一二") is None
    assert pinyin_pair("a部b𠀀", "a步b𠀀") is None
    assert pinyin_pair("银12行", "银ab行") is None


def test_percent_never_rounds_to_certainty() -> None:
    assert [percent(p) for p in (1.0, 0.9951, 0.994, 0.5, 0.006, 0.004, 0.0)] == [
        "100 %", "> 99 %", "99 %", "50 %", "1 %", "< 1 %", "0 %",
    ]  # fmt: skip


def test_the_correction_is_no_alternative_of_itself() -> None:
    assert alternatives(CORRECTOR.correct("平果").corrections[0]) == ""


def test_findings_know_their_line() -> None:
    found = list(findings(CORRECTOR.correct("\ufeff平果\r\n做\r平果")))
    assert [(f.line, f.column, f.line_span, f.applied) for f in found] == [
        (1, 1, Span(1, 3), True),
        (2, 1, Span(5, 6), False),
        (3, 1, Span(7, 9), True),
    ]


@settings(deadline=None, max_examples=150)
@given(st.text("a汉\u0301👨\u200d\t\x1b", max_size=80), st.text("b字\u0302👩\x00", max_size=80), st.integers(10, 60))
def test_around_fits_and_loses_only_the_ends(left: str, right: str, columns: int) -> None:
    text = f"{left}部{right}"
    before, middle, after = around(text, Span(len(left), len(left) + 1), Span(0, len(text)), columns)
    assert middle == "部"
    assert safe(left).endswith(before.removeprefix("…"))
    assert safe(right).startswith(after.removesuffix("…"))
    if width(safe(text)) <= columns:
        assert before + middle + after == safe(text)


def test_pad_counts_columns() -> None:
    assert pad("汉", 4) == "汉  "
    assert pad("\x1b[31m汉\x1b[0m", 4, right=True) == "  \x1b[31m汉\x1b[0m"
    assert pad("汉字", 3) == "汉字"


def test_summary_line() -> None:
    summary = Summary(files=3, characters=12345, corrections=4, suggestions=1)
    assert render_summary_line(summary, 1.23) == "3 files, 12,345 characters: 4 corrections, 1 suggestion in 1.2 s"
    assert render_summary_line(Summary(files=1, characters=1, unprocessed=2), 59.97) == (
        "1 file, 1 character: 0 corrections, 0 suggestions, 2 passages not processed in 1 min 00 s"
    )
    assert render_summary_line(Summary(), 3720.4).endswith("in 1 h 02 min")
    assert render_summary_line(Summary(), -0.1).endswith("in 0.0 s")
