from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.text.protect import _PATTERNS, SpanIndex, is_han, merged, protected_spans
from corrector.types import Span


def frozen(text: str) -> list[str]:
    return [text[span.start : span.end] for span in protected_spans(text)]


@pytest.mark.parametrize(
    ("char", "expected"),
    [
        ("一", True),
        ("\u9fff", True),
        ("〇", True),
        ("\u3400", True),  # Extension A
        ("\U00020000", True),  # B
        ("\U0002a700", True),  # C
        ("\U0002b740", True),  # D
        ("\U0002b820", True),  # E
        ("\U0002ceb0", True),  # F
        ("\U00030000", True),  # G
        ("\U00031350", True),  # H
        ("\uf900", True),  # compatibility
        ("\U0002f800", True),
        ("a", False),
        ("，", False),
        ("。", False),
        ("々", False),
        ("か", False),
        ("한", False),
        ("Ａ", False),
        ("😀", False),
        ("\u0301", False),
        ("\ud800", False),
    ],
)
def test_is_han(char: str, expected: bool) -> None:
    assert is_han(char) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("今天天气很好。", []),
        ("和/或，他/她，5:30", []),
        ("见https://zh.wikipedia.org/wiki/中国历史。", ["https://zh.wikipedia.org/wiki/中国历史"]),
        ("打开https://example.com查看", ["https://example.com"]),  # the sentence goes on after the address
        ("www.example.com/搜索?q=错字，好", ["www.example.com/搜索?q=错字"]),
        ("写信给a.b@例子.中国吧", ["a.b@例子.中国吧"]),  # nothing says where a Chinese domain ends
        ("写信给a.b@mail.cn吧", ["a.b@mail.cn"]),
        ("姓葛\U000e0100城的辻\ufe00\ufe01，❤\ufe0f好", ["葛\U000e0100", "辻\ufe00\ufe01"]),  # the very form of a character
        ("葛\U000e01ef，辻\ufe0f，字\ufe10", ["葛\U000e01ef", "辻\ufe0f"]),
        ("运行`打印 错字`即可", ["`打印 错字`"]),
        ("运行``打印`错字``即可", ["``打印`错字``"]),
        ("一个`没有\n关上`", []),
        ("在C:\\文档\\a.txt里", ["C:\\文档\\a.txt"]),
        ("在 /srv/数据/a.txt 里，./数据，~/文档/", ["/srv/数据/a.txt", "./数据", "~/文档/"]),
        ("@小明 你好，@老王：你好，@小红你好，", ["@小明", "@老王"]),
        ("#今天天气#很好，C#和F#，# 标题", ["#今天天气#"]),
        ("亲爱的{姓名}，${变量}和%(数量)s", ["{姓名}", "${变量}", "%(数量)s"]),
        ('<img alt="图片">字</p>，a<b，c>d', ['<img alt="图片">', "</p>"]),
        ("`见https://a.cn/错`", ["`见https://a.cn/错`"]),  # overlapping finds are one span
    ],
)
def test_protected_spans(text: str, expected: list[str]) -> None:
    assert frozen(text) == expected


def test_spans_that_overlap_or_touch_become_one() -> None:
    assert merged([Span(5, 9), Span(2, 3), Span(6, 7), Span(0, 2)]) == (Span(0, 3), Span(5, 9))


def test_what_spans_cover() -> None:
    index = SpanIndex([Span(2, 4), Span(6, 8)])
    assert [offset for offset in range(10) if index.would_be_cut(offset)] == [3, 7]
    places = [Span(0, 2), Span(1, 3), Span(3, 4), Span(4, 6), Span(5, 9), Span(8, 9)]
    assert [place for place in places if index.touches(place)] == [Span(1, 3), Span(3, 4), Span(5, 9)]
    assert [index.within(place) for place in places[3:]] == [(), (Span(6, 8),), ()]
    assert index.within(Span(3, 7)) == (Span(3, 4), Span(6, 7))


@settings(deadline=None)
@given(st.text("中错ah/:.@#`{}$%()s<>\\\n\r\t ：😀\ud800", max_size=60))
def test_spans_are_sorted_disjoint_and_on_one_line(text: str) -> None:
    end = -1
    for span in protected_spans(text):
        assert end < span.start < span.end <= len(text)
        assert not set(text[span.start : span.end]) & set("\r\n")
        end = span.end


@settings(deadline=None)
@given(st.text("中wwwhtpc:@/.%~$#`\\{(<>)}_- ：，", max_size=30))
def test_a_text_without_the_sign_of_a_pattern_is_one_without_its_spans(text: str) -> None:
    """The short cut finds nothing less."""
    found = [found for _, pattern in _PATTERNS for found in re.finditer(pattern, text, re.IGNORECASE)]
    assert protected_spans(text) == merged(Span(*one.span()) for one in found)


@settings(deadline=None)
@given(st.lists(st.text("中错ah/:.@#`{}$%()s<>\\ ：", max_size=20), max_size=5))
def test_a_line_is_protected_the_same_whatever_lies_around_it(lines: list[str]) -> None:
    assert frozen("\n".join(lines)) == [text for line in lines for text in frozen(line)]


@pytest.mark.parametrize(
    "unit", ["a", "a.", "a@", "`", "``a", "`a", "#a", "{a", "<a", "/a", "./", "a://", "@", "<a ", "#", "-_", "%("]
)
def test_long_lines_are_searched_in_linear_time(unit: str) -> None:
    text = (unit * 200_000)[:200_000] + "字"  # a quadratic pattern would take minutes here
    spans = protected_spans(text)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
