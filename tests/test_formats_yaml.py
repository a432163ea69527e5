"""YAML: which scalars are prose, what a reader sees of them, and that nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from corrector.errors import InputError
from corrector.formats import format_of
from corrector.formats import yaml_scalars as module
from corrector.types import Document


def seen(text: str, *columns: str) -> list[str]:
    """What a reader sees, passage by passage."""
    return [passage.text for passage in format_of("a.yml", column=columns).passages(Document("a.yml", text))]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("标题: 你好  # 注释\n", ["你好"]),
        ("a: '你''好'\nb: \"你\\\"好\\n吗\\u4f60\\e\"\n", ["你'好", '你"好\n吗你\ufffd']),
        ("- 一\n- [二, {三: 四}]\n- {五: 六, ? 七 : 八}\n", ["一", "二", "四", "六", "八"]),
        ("a: 第一\n  第二\n  abc\n\n  第三\n", ["第一第二 abc\n第三"]),
        ('a: "第一\n  第二\\\n  第三\n\n  第四"\n', ["第一第二第三\n第四"]),
        ("a: |\n  第一\n    第二\n\n  第三\nb: 四\n", ["第一\n  第二\n\n第三\n", "四"]),
        ("a: >-\n  第一\n  第二\n\n  第三\n    第四\n  第五\n", ["第一第二\n\n第三\n  第四\n第五\n"]),
        ("--- 甲\n...\n--- 乙\n", ["甲", "乙"]),
        ("a: &x 甲\nb: *x\nc: !include 乙\nd: !!str 丙\n", ["甲", "丙"]),
        ("? [甲, 乙]\n: 丙\n? {丁: 戊}\n: {己: 庚}\n", ["丙", "庚"]),
        ("\ufeff甲: 乙\r\n丙: |\r\n  丁\r\n  戊\r\n", ["乙", "丁\n戊\n"]),
        ("甲: 一 𠀀二\n乙: 三\n", ["一 𠀀二", "三"]),
        ("a: 1\nb: true\nc:\n", []),
        ("# 注释\n", []),
        ("", []),
    ],
)
def test_what_a_reader_sees(text: str, expected: list[str]) -> None:
    assert [passage.rstrip("\n") for passage in seen(text)] == [passage.rstrip("\n") for passage in expected]


@pytest.mark.parametrize("text", ["a: |\n  第一\n    第二\n\n  第三\n", "a: '你''好'\n", 'a: "你\\t\\u597d\\x41\\U0001F600\\\\"\n'])
def test_it_is_what_the_parser_reads(text: str) -> None:
    [passage] = seen(text)
    assert passage.rstrip("\n") == yaml.safe_load(text)["a"].rstrip("\n")


COLUMNS = "zh:\n  a: 甲\n  b: [乙, {c: 丙}]\n  x.y: 丁\nen:\n  a: 戊\nk: {? [zh] : 己, zh: 庚}\n"


@pytest.mark.parametrize(
    "columns, expected",
    [
        ((), ["甲", "乙", "丙", "丁", "戊", "己", "庚"]),
        (("zh.a",), ["甲"]),
        (("zh.b",), ["乙"]),
        (("zh.b.c", "en.a"), ["丙", "戊"]),
        (("zh.x.y",), ["丁"]),
        (("k.zh",), ["庚"]),
        (("a",), []),
    ],
)
def test_columns_are_keys_with_dots_between(columns: tuple[str, ...], expected: list[str]) -> None:
    assert seen(COLUMNS, *columns) == expected


@pytest.mark.parametrize(
    "text, message",
    [
        ("a: 甲\nb: [乙\n", r"a\.yml:3: not valid YAML at column 1 \(.+\); correct it first, or pass --input-format text"),
        ("a: 甲\n\tb: 乙\n", r"a\.yml:2: not valid YAML at column 1"),
        ("a: {{ 甲 }}: 乙\n", r"a\.yml:1: not valid YAML"),
        ("a: \x07甲\n", r"a\.yml: not valid YAML \("),
    ],
)
def test_what_is_no_yaml(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        seen(text)


SCALARS = st.text("甲乙 a'\"#:-\n\\,", min_size=1, max_size=12)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS | st.integers(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SCALARS, inner, max_size=3), max_leaves=8
)


def strings_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in strings_in(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in strings_in(inner)]
    return [value] if isinstance(value, str) else []


def characters(text: str) -> str:
    """Without white space: between Han characters no folded line end is seen."""
    return "".join(text.split())


@pytest.mark.parametrize("loader", [yaml.SafeLoader, module._LOADER])
@given(VALUES, st.sampled_from([None, '"', "'", "|", ">"]), st.booleans(), st.sampled_from([4, 10, 80]), st.booleans())
def test_every_string_and_only_strings(loader: Any, value: Any, style: str | None, flow: bool, width: int, mark: bool) -> None:
    text = "\ufeff" * mark + yaml.safe_dump(value, default_style=style, default_flow_style=flow, width=width, allow_unicode=True)
    try:
        wanted = strings_in(yaml.safe_load(text))
    except yaml.YAMLError:
        return  # what PyYAML itself writes wrongly
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LOADER", loader)
        passages = list(format_of("a.yml").passages(Document("a.yml", text)))
    assert [characters(p.text) for p in passages] == [characters(one) for one in wanted if "甲" in one or "乙" in one]
    for passage in passages:
        places = [passage.places + n if isinstance(passage.places, int) else passage.places[n].start for n in range(len(passage.text))]
        assert all(text[place] == char for place, char in zip(places, passage.text, strict=True) if char in "甲乙")
