from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.text.segment import TARGET_LENGTH, beginning_of, sentences
from corrector.types import Sentence, Span

ALPHABET = "中文错字，。！？；… \t\n\r\u3000”」)a;!?\ufeff\u0301😀\U00020000\u2028\ud800"


def texts(text: str, max_length: int = 126, overlap: int = 32) -> list[str]:
    return [sentence.text for sentence in sentences(text, (), max_length, overlap)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\u3000\n\r\n  ", []),
        ("你好", ["你好"]),
        ("一。二！三？", ["一。二！三？"]),  # short neighbours share a window
        ("一。\n二。", ["一。", "二。"]),  # but never across a line break
        ("一。\r\n二。\r三", ["一。", "二。", "三"]),
        ("一\u2028二\x0c三", ["一", "二", "三"]),
        ("\ufeff你好", ["你好"]),  # the byte-order mark is no text
        ("\u3000\u3000你好。 ", ["你好。"]),
        ("😀e\u0301\U00020000。", ["😀e\u0301\U00020000。"]),
    ],
)
def test_windows_of_short_texts(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_sentences_end_after_their_closing_marks() -> None:
    first, second = "他说：“" + "好" * 55 + "！”", "（" + "她" * 55 + "……）"
    assert texts(first + second) == [first, second]


def test_neighbours_are_joined_up_to_the_target_length() -> None:
    twenty = "字" * 19 + "。"
    assert [len(text) for text in texts(twenty * 4)] == [60, 20]
    assert [len(text) for text in texts("字" * 31 + "。" + "字" * 31 + "。")] == [TARGET_LENGTH]


def test_a_short_maximum_also_bounds_joining() -> None:
    assert texts("一二。三四。五六。", max_length=7, overlap=2) == ["一二。三四。", "五六。"]


def test_long_sentence_is_cut_into_overlapping_windows() -> None:
    assert texts("字" * 126) == ["字" * 126]
    # 300 characters: cores end at 126-32=94, 94+62=156, 218; the last window reaches back to 300-126=174.
    windows = list(sentences("字" * 300))
    assert [(w.span, w.core) for w in windows] == [
        (Span(0, 126), Span(0, 94)),
        (Span(62, 188), Span(94, 156)),
        (Span(124, 250), Span(156, 218)),
        (Span(174, 300), Span(218, 300)),
    ]


def test_cores_are_best_cut_after_a_pause() -> None:
    text = "字" * 80 + "，" + "字" * 90
    assert [window.core for window in sentences(text)] == [Span(0, 81), Span(81, 171)]
    too_early = "字" * 40 + "，" + "字" * 100
    assert [window.core for window in sentences(too_early)] == [Span(0, 94), Span(94, 141)]


def test_protected_spans_are_clipped_to_the_window_and_never_cut_a_sentence() -> None:
    address = "https://a.cn/?字！字"
    text = "字" * 50 + "。" + address + "字" * 60 + "。"
    span = Span(51, 51 + len(address))
    windows = list(sentences(text, [span]))
    assert [window.text for window in windows] == [text[:51], text[51:]]
    assert [window.protected for window in windows] == [(), (span,)]

    long = list(sentences("字" * 200, [Span(10, 190)]))
    assert [window.protected for window in long] == [(Span(10, 126),), (Span(62, 188),), (Span(74, 190),)]


@pytest.mark.parametrize(("max_length", "overlap"), [(0, 0), (64, 32), (10, -1)])
def test_windows_without_room_are_refused(max_length: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="max_length"):
        list(sentences("字", (), max_length, overlap))


@pytest.mark.parametrize(
    ("line", "end"),
    [
        ("字" * 40, 15),
        ("字" * 10 + "。字。字。" + "字" * 20, 15),  # the last one counts
        ("字" * 10 + "。字。字" + "字" * 20, 13),
        ("字" * 10 + "。字 字，" + "字" * 20, 11),  # a sentence end before white space, and that before a pause
        ("字" * 10 + " 字，" + "字" * 20, 11),
        ("字" * 10 + "字，" + "字" * 20, 12),
        ("字。" * 4 + "字" * 20, 15),  # not in the first half
        ("字" * 8 + "`字字。字`" + "字" * 20, 15),  # not within code
        ("字" * 8 + "`字字。字" + "字" * 20 + "`", 12),  # whose end is not among the first twenty
    ],
)
def test_where_a_line_too_long_is_cut(line: str, end: int) -> None:
    assert beginning_of(line, 20) == end


@pytest.mark.parametrize("unit", ["字", "字。", "。", "字，", "a", "😀", "……", " ", "字 "])
def test_a_line_of_200_000_characters(unit: str) -> None:
    text = (unit * 200_000)[:200_000]
    windows = list(sentences(text))
    check(text, windows, 126, 32)


def check(text: str, windows: list[Sentence], max_length: int, overlap: int) -> None:
    """Windows are what they say, in bounds, on one line; cores are disjoint and leave out white space only."""
    done, skipped = 0, []
    for window in windows:
        assert window.text == text[window.span.start : window.span.end]
        assert 0 < len(window.span) <= max_length
        assert window.span.start <= window.core.start < window.core.end <= window.span.end
        assert not set(window.text) & set("\n\r\u2028")
        assert window.core.start >= done
        skipped.append(text[done : window.core.start])
        done = window.core.end
    skipped.append(text[done:])
    assert not "".join(skipped).strip().strip("\ufeff")
    for before, after in zip(windows, windows[1:], strict=False):
        if before.core.end == after.core.start and before.span.end > before.core.end:  # one sentence, cut
            assert before.span.end - before.core.end >= overlap
            assert after.core.start - after.span.start >= overlap


@settings(deadline=None)
@given(st.text(ALPHABET, max_size=120), st.integers(0, 5), st.integers(1, 20))
def test_cores_partition_any_text(text: str, overlap: int, room: int) -> None:
    max_length = 2 * overlap + room
    windows = list(sentences(text, (), max_length, overlap))
    check(text, windows, max_length, overlap)


@settings(deadline=None)
@given(st.lists(st.text("中文。，！ a😀", max_size=40), max_size=6))
def test_a_line_is_cut_the_same_whatever_lies_around_it(lines: list[str]) -> None:
    together = texts("\n".join(lines), max_length=12, overlap=3)
    assert together == [text for line in lines for text in texts(line, max_length=12, overlap=3)]
