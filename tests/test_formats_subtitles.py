from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.apply import corrected_text
from corrector.formats import format_of
from corrector.formats.passages import correct_passages
from corrector.formats.subtitles import format_named
from corrector.types import Document
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"散部": "散步", "形": "兴"})
NAMES = ("srt", "vtt", "ass")
SRT_CUE = "1\n00:00:01,000 --> 00:00:02,500\n"
VTT_CUE = "WEBVTT\n\n00:01.000 --> 00:02.000\n"
ASS_LINE = "[Events]\nFormat: Layer, Start, End, Style, Text\nDialogue: 0,0:00:01.00,0:00:02.00,形,"


def corrected(text: str, name: str) -> str:
    document = Document(None, text)
    return corrected_text(correct_passages(CORRECTOR, document, format_named(name, None).passages(document)))


def texts(text: str, name: str) -> list[str]:
    """What is read of a document."""
    return [passage.text for passage in format_named(name, None).passages(Document(None, text))]


SRT = """\
1
00:00:01,000 --> 00:00:02,500
<i>我们去公园散</i>
{\\an8}部，很高形

2
00:00:03,000 --> 00:00:04,000  X1:10 X2:20 Y1:1 Y2:形
<font face="形体" color=#fff>高形</font>

形
3
0:0:5.0-->0:0:6.0
高形
4
00:00:07,000 --> 00:00:08,000
- 高形
－ 高形
"""
SRT_CORRECTED = """\
1
00:00:01,000 --> 00:00:02,500
<i>我们去公园散</i>
{\\an8}步，很高兴

2
00:00:03,000 --> 00:00:04,000  X1:10 X2:20 Y1:1 Y2:形
<font face="形体" color=#fff>高兴</font>

形
3
0:0:5.0-->0:0:6.0
高兴
4
00:00:07,000 --> 00:00:08,000
- 高兴
－ 高兴
"""
VTT = """\
WEBVTT 形
Kind: 形

NOTE 形
00:00.000 --> 00:01.000
形

STYLE
::cue(.形) { color: red }

REGION
id:形

形
00:01.000 --> 00:02.000 line:0 region:形
<v.loud 形形>公园<c.形>散</c>
<00:01.500>部&amp;形<形

01:00:01.000 --> 01:00:02.000
<ruby>形<rt>形</rt></ruby>形<rt>形</ruby>形&#x5f62;&nbsp;
NOTE 形

NOTES
01:00:03.000 --> 01:00:04.000
形
"""
VTT_CORRECTED = """\
WEBVTT 形
Kind: 形

NOTE 形
00:00.000 --> 00:01.000
形

STYLE
::cue(.形) { color: red }

REGION
id:形

形
00:01.000 --> 00:02.000 line:0 region:形
<v.loud 形形>公园<c.形>散</c>
<00:01.500>步&amp;兴<兴

01:00:01.000 --> 01:00:02.000
<ruby>兴<rt>形</rt></ruby>兴<rt>形</ruby>兴&#x5f62;&nbsp;
NOTE 兴

NOTES
01:00:03.000 --> 01:00:04.000
兴
"""
ASS = """\
[Script Info]
Title: 形
; 形

[V4+ Styles]
Format: Name, Fontname
Style: 形,形体
Dialogue: 0,0,0,0,0,0,0,0,0,形

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:01.00,0:00:02.00,形,形,0,0,0,,形
Dialogue: 0,0:00:01.00,0:00:02.00,形,形,0,0,0,形,{\\fn形体\\k20}散{\\k20}部,很高{形}形\\N高\\n形
Dialogue: 0,0:00:01.00,0:00:02.00,形,形,0,0,0,,形{\\p1}m 0 0 形{\\pos(1,2)}形{\\p0}形{\\p1\\p0}形
Dialogue: 0,0:00:01.00,0:00:02.00,形,形,0,0,0,,\\{形\\}形\\h形{\\b1 形
Dialogue: 0,0:00:01.00,形
形

[Fonts]
fontname: 形.ttf
"""
ASS_CORRECTED = """\
[Script Info]
Title: 形
; 形

[V4+ Styles]
Format: Name, Fontname
Style: 形,形体
Dialogue: 0,0,0,0,0,0,0,0,0,形

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:01.00,0:00:02.00,形,形,0,0,0,,形
Dialogue: 0,0:00:01.00,0:00:02.00,形,形,0,0,0,形,{\\fn形体\\k20}散{\\k20}步,很高{形}兴\\N高\\n兴
Dialogue: 0,0:00:01.00,0:00:02.00,形,形,0,0,0,,兴{\\p1}m 0 0 形{\\pos(1,2)}形{\\p0}兴{\\p1\\p0}兴
Dialogue: 0,0:00:01.00,0:00:02.00,形,形,0,0,0,,\\{形\\}兴\\h兴{\\b1 形
Dialogue: 0,0:00:01.00,形
形

[Fonts]
fontname: 形.ttf
"""


@pytest.mark.parametrize(
    "name, text, expected", [("srt", SRT, SRT_CORRECTED), ("vtt", VTT, VTT_CORRECTED), ("ass", ASS, ASS_CORRECTED)]
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_only_what_is_shown_is_corrected(name: str, text: str, expected: str, newline: str, mark: str) -> None:
    assert corrected(mark + text.replace("\n", newline), name) == mark + expected.replace("\n", newline)


@pytest.mark.parametrize(
    "name, text, read",
    [
        ("srt", SRT_CUE + "我们去公园散\n部，\n好\n", ["我们去公园散部，好"]),
        ("srt", SRT_CUE + "<b>你</b>好吗\n", ["你好吗"]),
        ("srt", SRT_CUE + "你好吗？\r\nHow are you?\r\n很好", ["你好吗？ How are you? 很好"]),
        ("srt", SRT_CUE + "- 你好\n- <i>很好</i>\n<i>– 好</i>", ["- 你好\n- 很好\n– 好"]),
        ("srt", SRT_CUE + "3 < 4 的<你好>{世界}", ["3 < 4 的<你好>{世界}"]),
        ("srt", SRT_CUE + "{b}中{/b}{\\c&H00>}文", ["中文"]),
        ("srt", SRT_CUE + "Hello\n", []),
        ("srt", SRT_CUE + "\n中\n", []),
        ("srt", SRT_CUE + "你\n好<i>-</i>\n", ["你好-"]),
        ("srt", SRT_CUE + "中\n" + SRT_CUE + "文\n", ["中 1", "文"]),  # no blank line between the two
        ("srt", "1\n00:00:01,000 -> 00:00:02,000\n中\n", []),
        ("srt", "1\n00:00:01,000 --> 00:02\n中\n", []),
        ("srt", "中\n\n文", []),
        ("vtt", VTT_CUE + "<v 张三>你<b>好</b>\n吗 &lt;&#22909;&lrm;", ["你好吗 <好\u200e"]),
        ("vtt", VTT_CUE + "<ruby>中<rt><b>丙</b>丙&amp;</rt></ruby>文<rt>丙", ["中文"]),
        ("vtt", VTT_CUE + "<v 张\n三>中&foo;&#1114112;文", ["中&foo;\ufffd文"]),
        ("ass", ASS_LINE + "中{\\i1}文\\N好\\hA\\Nb,好", ["中文好 A b,好"]),
        ("ass", ASS_LINE + "- 中\\N- 文", ["- 中\n- 文"]),
        ("ass", "[EVENTS]\n dialogue : ,,,,,,,,,中", ["中"]),
        ("ass", ASS_LINE + "中]\n[文\nDialogue: ,,,,好", ["中]", "好"]),
        ("ass", "[Events]\nFormat:Text\nDialogue:中", ["中"]),
        ("ass", "[V4+ Styles]\nFormat: Name, Text\n[Events]\nDialogue: ,,,,,,,,,中", ["中"]),
        ("ass", "[Events]\nFormat: Text, Start\nDialogue: 中,中", []),
        ("ass", "Dialogue: 0,0,0,0,0,0,0,0,0,中", []),
    ],
)
def test_what_a_cue_is_read_as(name: str, text: str, read: list[str]) -> None:
    assert texts(text, name) == read


def test_an_unknown_entity_and_an_escape_are_never_replaced() -> None:
    assert corrected(VTT_CUE + "&#24418;形", "vtt") == VTT_CUE + "&#24418;兴"


@pytest.mark.parametrize(
    ("cue", "expected"),
    [
        ("形<lang ja>形</lang>形", "兴<lang ja>形</lang>兴"),
        ("<lang.x.y\tko-KR>形\n<b>形</b></lang>\n形", "<lang.x.y\tko-KR>形\n<b>形</b></lang>\n兴"),
        ("<lang zh-Hant>形</lang><lang en>形</lang>", "<lang zh-Hant>兴</lang><lang en>兴</lang>"),
        ("<lang>形</lang></lang>形", "<lang>兴</lang></lang>兴"),
        ("<lang JA>形<lang zh>形</lang>形</lang>形", "<lang JA>形<lang zh>兴</lang>形</lang>兴"),
        ("<lang ja>形<rt>形</rt>形\n\n00:03.000 --> 00:04.000\n形", "<lang ja>形<rt>形</rt>形\n\n00:03.000 --> 00:04.000\n兴"),
        ("< >形<rt.a>形</rt><language ja>形", "< >兴<rt.a>形</rt><language ja>兴"),
    ],
)
def test_what_is_said_in_another_language_stays(cue: str, expected: str) -> None:
    assert corrected(VTT_CUE + cue, "vtt") == VTT_CUE + expected


PIECES = st.sampled_from(
    ["形", "散", "部", "\n", "\r\n", "\r", "\n\n", "<", ">", "<v 形>", "<rt>", "<lang ja>", "</lang>", "{", "}", "{\\p1}", "\\N", "\\{",
     "&", "&lt;", " ", "-", ",", SRT_CUE, VTT_CUE, ASS_LINE, "NOTE ", "[Events]\n", "Dialogue: ,,,,,,,,,", "Format: a,Text\n", "\ufeff",
     "a"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=20).map("".join), st.sampled_from(NAMES))
@settings(max_examples=300, deadline=None)
def test_nothing_but_wrong_characters_changes(text: str, name: str) -> None:
    after = corrected(text, name)
    assert len(after) == len(text)
    assert {(old, new) for old, new in zip(text, after, strict=True) if old != new} <= {("形", "兴"), ("部", "步")}
    assert corrected(after, name) == after


def test_the_formats_are_found_by_extension() -> None:
    for path, name in (("a.srt", "srt"), ("a.VTT", "vtt"), ("a.ass", "ass"), ("a.ssa", "ass")):
        found = format_of(path)
        assert (found.name, found.streams) == (name, False)
