from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrector import Corrector, corrected_text
from corrector.text.spacing import ClosedUp
from corrector.types import Candidate, CorrectedDocument, Correction, Document, RankedCandidate, Span

WORDS = ("图书馆", "今天", "闭馆", "通知", "我们", "注意", "事项", "公园", "散步")


def in_words(text: str) -> list[bool]:
    found = [False] * len(text)
    for word in WORDS:
        at = text.find(word)
        while at >= 0:
            found[at : at + len(word)] = [True] * len(word)
            at = text.find(word, at + 1)
    return found


def closed(text: str, *protected: tuple[int, int]) -> ClosedUp:
    return ClosedUp.of(Document(None, text, protected=tuple(Span(*span) for span in protected)), in_words)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("图 书 馆 今 天 必 馆", "图书馆今天必馆"),  # letters
        ("图　书　馆  今  天", "图书馆今天"),  # however wide the gaps are
        ("图 书 馆 今 天 必 馆 ， 通 知", "图书馆今天必馆，通知"),
        ("特此通知：注 意 事 项", "特此通知：注意事项"),  # in a line of others
        ("注 意 事 项 如下，请各位同学认真阅读", "注意事项 如下，请各位同学认真阅读"),
        ("我们 今天 去 公园 散部", "我们今天去公园散部"),  # words
        ("我们 今天 ， 去 公园 的 图书馆 。", "我们今天，去公园的图书馆。"),
        ("我们 用 Python 写 了 通知 ， 共 3 条", "我们用 Python 写了通知，共 3 条"),  # nothing but between Han characters
        ("我\u200b们今\u00ad天\ufeff去", "我们今天去"),  # marks of no width
        ("\u200b我们", "我们"),
        ("我👨\u200d👩们", "我👨\u200d👩们"),  # an emoji is one
        ("我们 今天 去 公园\n北京 上海 广州 深圳", "我们今天去公园\n北京 上海 广州 深圳"),  # line by line
    ],
)
def test_what_only_keeps_characters_apart_is_not_read(text: str, read: str) -> None:
    assert closed(text).read.text == read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "今天闭馆",
        "今天闭馆 请改日再来 谢谢合作",  # spaces for punctuation
        "北京 上海 广州 深圳",  # a list of words
        "关键词 机器学习 深度学习 神经网络 的",  # their mean is longer than that of words in a sentence
        "赵 钱 孙 李 周 吴 郑 王",  # a list of characters
        "姓 名",  # two may be anything
        "第 3 条 第 4 款 共 5 页",
        "今天\n去\n公园",
        "\ufeff今天",  # a byte-order mark is the file's
        "葛\U000e0100城",  # who puts a selector means it
        "今天  \t去",
    ],
)
def test_everything_else_is_read_as_it_stands(text: str) -> None:
    found = closed(text)
    assert found.read is found.original
    nothing = CorrectedDocument(found.original, ())
    assert found.opened(nothing) is nothing


def test_corrections_are_made_where_their_characters_stand() -> None:
    text = "图 书 馆 今 天 必 馆"
    found = closed(text)
    one = Correction(Span(5, 6), "必", "闭", 0.9)
    opened = found.opened(CorrectedDocument(found.read, (one,)))
    assert opened.document is found.original
    assert opened.corrections == (dataclasses.replace(one, span=Span(10, 11)),)
    assert corrected_text(opened) == "图 书 馆 今 天 闭 馆"


def test_a_correction_over_a_gap_has_the_gap_in_it() -> None:
    found = closed("图 书 馆 金　天 闭 馆")
    other = RankedCandidate(Candidate("金田", -1.0), 0.5, 0.5, 0.1)
    one = Correction(Span(3, 5), "金天", "今天", 0.3, (other,))
    (opened,) = found.opened(CorrectedDocument(found.read, (), (one,))).suggestions
    assert (opened.span, opened.original, opened.replacement) == (Span(6, 9), "金　天", "今　天")
    assert [ranked.candidate.text for ranked in opened.alternatives] == ["金　田"]


@pytest.mark.parametrize(
    ("span", "expected"),
    [((4, 7), (2, 4)), ((5, 8), (3, 4)), ((5, 6), None), ((0, 13), (0, 7)), ((3, 5), (2, 3))],
)
def test_what_is_protected_stays_so(span: tuple[int, int], expected: tuple[int, int] | None) -> None:
    protected = closed("图 书 馆 今 天 必 馆", span).read.protected
    assert protected == (() if expected is None else (Span(*expected),))


def test_what_ends_with_a_space_still_does() -> None:
    found = closed("我们 今天 和 @张三 去 了 公园")
    assert found.read.text == "我们今天和 @张三去了公园"
    assert found.read.protected == (Span(6, 9),)


@given(st.text(alphabet="图书馆今天我们的 \u3000\u200b\ufeff，。\na@", max_size=60), st.integers(0, 59))
def test_every_character_that_is_read_has_its_place(text: str, at: int) -> None:
    found = closed(text)
    read = found.read.text
    assert sum(map(len, found.dropped)) + len(read) == len(text)
    if at < len(read):
        one = Correction(Span(at, at + 1), read[at], "错", 0.9)
        (opened,) = found.opened(CorrectedDocument(found.read, (one,))).corrections
        assert (text[opened.span.start : opened.span.end], opened.replacement) == (read[at], "错")
        assert read[:at] == "".join(
            char for place, char in enumerate(text[: opened.span.start]) if not any(s.start <= place < s.end for s in found.dropped)
        )


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("图 书 馆 今 天 必 馆 ， 请 改 日 再 来 。", "图 书 馆 今 天 闭 馆 ， 请 改 日 再 来 。"),
        ("周末 我们 打算 去 公园 散部 ， 顺便 拍 几 张 照片 。", "周末 我们 打算 去 公园 散步 ， 顺便 拍 几 张 照片 。"),
        ("圖 書 館 今 天 必 館 ， 請 改 日 再 來 。", "圖 書 館 今 天 閉 館 ， 請 改 日 再 來 。"),
        ("请住\u200b意\u200b查收。", "请注\u200b意\u200b查收。"),
        ("甲 乙 丙 丁 戊 己 庚 辛 壬 癸", "甲 乙 丙 丁 戊 己 庚 辛 壬 癸"),
    ],
)
def test_the_embedded_model_corrects_spaced_text(source: str, target: str) -> None:
    assert corrected_text(Corrector().correct(source)) == target
