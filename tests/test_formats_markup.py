from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prose import corrected, free_offsets, passages, read

from corrector.errors import InputError
from corrector.formats import format_name
from corrector.formats.html_tokens import Tag, Text, html_tokens
from corrector.formats.markup import html_passages
from corrector.text.protect import is_han


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("没有标签\n", ["没有标签"]),
        ("<p>这是<b>重</b>要<em>的</em><a href=x>事</a></p>", ["这是重要的事"]),
        ("<P>甲<DIV>乙</DIV>丙<br>丁<li>戊<li>己<td>庚", ["甲", "乙", "丙", "丁", "戊", "己", "庚"]),
        ("<title>标 &amp; <b>题</title>文", ["标 & <b>题", "文"]),
        ("甲\n    乙 <i>丙</i>\r\n\tabc\n丁", ["甲乙 丙 abc 丁"]),
        ("甲<custom-tag 文>乙</custom-tag>丙", ["甲乙丙"]),
        ("甲<img alt='文' src=文>乙<wbr/>丙<input value=\"文\">丁", ["甲乙丙", "丁"]),
        ("甲&nbsp;乙&#20013;丙&#x56fd;&lt;丁&gt;", ["甲\xa0乙‹中›丙‹国›<丁>"]),
        ("甲&nosuch;乙&丙&#99999999999;丁&#", ["甲&nosuch;乙&丙&#99999999999;丁&#"]),
        ("甲&lt乙&ltd;丙", ["甲<乙<d;丙"]),  # browsers do without the semicolon of the oldest
        ("甲<乙<3>丙", ["甲<乙<3>丙"]),
        ("见{{ 变 量 }}和<%= 变 %>", ["见{{ ‹变› ‹量› }}和<%= ‹变› %>"]),
        ("<script lang=ts>const a: M<b> = '文'</script><template #b><x v-if=\"a < 3\" :t=\"'文'\">甲</x><y t=文 /></template>", ["甲"]),
    ],
)
def test_html_prose(text: str, expected: list[str]) -> None:
    assert read("html", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<!DOCTYPE html 文><!-- 文 > -->甲<!--> 乙<!--->丙<!-- -- --!>丁", ["甲 乙丙丁"]),
        ("甲<!---!>文-->乙<!---->丙", ["甲乙丙"]),
        ("<style>文</style><script>'<b>文</b>'</SCRIPT >甲", ["甲"]),
        ("<script><!-- <script>文</script>文 --></script>甲", ["甲"]),
        ("<script><!-- <script>文</script>文</script>甲", ["甲"]),
        ("<pre>文<code>文</code>文</pre>甲<textarea>文</textarea>乙<xmp><b>文</xmp>丙", ["甲", "乙", "丙"]),
        ("运行<code>文<code>文</code>文</code>吧", ["运行‹文文文›吧"]),
        ("甲<code>文</b>文</pre>文", ["甲‹文文›"]),
        ("甲<svg><text>文</text><style>a<b</style><script/></svg>乙<svg/>丙<math>文</math>丁", ["甲乙丙丁"]),
        ("甲<svg><svg></svg><script/></svg>乙", ["甲乙"]),
        ("甲</svg><style>'<b>文</b>'</style>乙", ["甲乙"]),
        ("甲<![CDATA[文 > 文]]>乙<?php echo '文>文' ?>丙<?文>丁<!文>戊</文>己</>庚", ["甲乙丙丁戊己庚"]),
        ("甲<%= 文 > 3 %>乙<%丁", ["甲<%= ‹文› > 3 %>乙<%丁"]),
        ("甲<% if (a < b) {\n  文 // <p>文\n} %>乙", ["甲<% if (a < b) {\n  ‹文› // <p>‹文›\n} %>乙"]),
        ("<b class='a notranslate'>文</b>甲<b class=notranslated>文</b>", ["‹文›甲文"]),
        ("<b translate=no>文</b>甲<p TRANSLATE='no'>文<b>文</b>文</p>乙", ["‹文›甲", "乙"]),
        ("<i lang=ja-JP>文</i>甲<i lang=zh>乙</i>", ["‹文›甲乙"]),
        ("<ruby>汉<rt>文</rt></ruby>字", ["汉字"]),
        ("<ruby>汉<rp>文<rt>文<rp>文</ruby>字<ruby>甲<rt>文<rt>文</ruby>乙", ["汉字甲乙"]),  # end tags that may be left out
        ("<ruby>汉<rt>文<kbd>文</ruby>字", ["汉字"]),
        ("<a title='文>文' b=\"文>\" c=文 文>甲</a 文='>'>乙", ["甲乙"]),
        ("甲<b 没有关上 乙", ["甲"]),
        ("甲<b title=\"没有关上>乙", ["甲"]),
        ("甲<!-- 没有关上 > 乙", ["甲"]),
        ("甲<title>没有关上 乙", ["甲"]),
        ("甲<plaintext>乙</plaintext>丙", ["甲"]),
        ("甲<", ["甲<"]),
        ("甲</", ["甲"]),
    ],
)
def test_html_that_is_left_alone(text: str, expected: list[str]) -> None:
    assert read("html", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p lang=ja>文<p>甲<p translate=no>文<div>乙</div>丙", ["甲", "乙", "丙"]),
        ("<div><p lang=ja>文</div>甲<section><p lang=ja>文<i>文</section>乙", ["甲", "乙"]),
        ("<p lang=ja>文<b>文<h2>甲</h2><p lang=ja>文<hr>乙", ["甲", "乙"]),
        ("<ul><li lang=ja>文<li>甲<li lang=ja>文</ul>乙", ["甲", "乙"]),
        ("<ul><li lang=ja>文<ul><li>文</ul>文<li>甲</ul>", ["甲"]),
        ("<ul><li><p lang=ja>文<li>甲</ul>", ["甲"]),
        ("<dl><dt lang=ja>文<dd>甲<dd lang=ja>文<dt>乙<dd lang=ja>文<dl><dd>文</dl>文</dl>丙", ["甲", "乙", "丙"]),
        ("<select><option lang=ja>文<option>甲<option lang=ja>文</select>乙", ["甲", "乙"]),
        ("<select><optgroup lang=ja><option>文<optgroup><option>甲</select>", ["甲"]),
        ("<table><tr><td lang=ja>文<td>甲<tr lang=ja><td>文<th>文<tr><th lang=ja>文</table>乙", ["甲", "乙"]),
        ("<table><tbody lang=ja><tr><td>文<tfoot><tr><td>甲</table>乙", ["甲", "乙"]),
        ("<table><tr><td lang=ja>文<table><tr><td>文</table>文<td>甲</table>", ["甲"]),
        ("<head translate=no><title>文</title><body><p>甲", ["甲"]),
        ("<ruby><rb>汉<rt>文<rb>字<rt>文</ruby>甲", ["汉字甲"]),
        ("<p>甲<ruby>汉<rt>文</p>乙", ["甲汉", "乙"]),
        ("<div><pre>文</div>甲", ["甲"]),
        ("<p><a translate=no>文<p>文<a>甲</a>乙", ["‹文›甲乙"]),
        ("<button lang=ja>文<button>甲", ["甲"]),
    ],
)
def test_an_element_without_an_end_tag_ends_where_the_standard_says(text: str, expected: list[str]) -> None:
    assert read("html", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<div lang=ja>文<p>文<p>文<ul><li>文<li>文</ul>文</div>甲", ["甲"]),
        ("<p lang=ja>文<button>文<p>文</button>文<p>甲", ["甲"]),
        ("<p><code>文</p><p>文<li>文<div>文</div>甲</code>乙", ["‹甲›乙"]),
        ("<p><kbd>文</p><p>甲", ["甲"]),
        ("<ruby>汉<rt>文<code>文</ruby>文</code>字", ["汉‹文›字"]),
        ("<table><td><code>文<td>甲</code></table>乙", ["甲", "乙"]),
        ("<div>甲<pre>文</b>文</p>文</li>文</td>文</pre>乙</div>", ["甲", "乙"]),
        ("<b>甲<pre>文</b>文</pre>乙</b>", ["甲", "乙"]),
        ("<div>甲<td lang=ja>文</div>文</table>文", ["甲"]),
        ("<span lang=ja>文<p>文</span>甲<p>乙</p>", ["‹文›甲", "乙"]),
        ("<i lang=ja>文<p lang=ja>文</i>文<p>甲", ["甲"]),
        ("<div><svg>文</div>文</svg>甲", ["甲"]),
        ("<div translate=no><template>文</div>文</template>文</div>甲", ["甲"]),
        ("<pre>文<p>文<p>文", []),
    ],
)
def test_an_element_goes_on_where_no_tag_ends_it(text: str, expected: list[str]) -> None:
    assert read("html", text) == expected


@pytest.mark.parametrize(
    "piece", ["<a", "<a ", "<a b='", "<!--", "<![CDATA[", "<?", "</", "<script>", "<code>", "<b>", "&", "<", " ", "\n\t",
              "<p><code>", "<b><p></b>", "<td><p>", "<p lang=ja><i lang=ko>"]
)
def test_markup_that_is_never_closed_takes_no_quadratic_time(piece: str) -> None:
    assert read("html", "甲" + piece * (200_000 // len(piece)))[0].startswith("甲")


@pytest.mark.parametrize(("first", "second", "third"), [("<div>", "<code>", "</div>"), ("<i>", "<div>", "</i>"), ("<p>", "<td>", "</p>")])
def test_tags_that_end_much_take_no_quadratic_time(first: str, second: str, third: str) -> None:
    assert read("html", "甲" + first * 10_000 + second * 10_000 + third * 10_000 + "</table>")[0] == "甲"


def test_html_is_corrected_over_tags_within_a_word_and_nowhere_else() -> None:
    text = "<p title='权丽'>我们的<b>权</b>丽和<i>义\r\n  物</i>，&#26435;丽<!-- 权丽 --><script>权丽</script>\n"
    after = "<p title='权丽'>我们的<b>权</b>利和<i>义\r\n  务</i>，&#26435;丽<!-- 权丽 --><script>权丽</script>\n"
    assert corrected("html", text, {"权丽": "权利", "义物": "义务"}) == after


def test_what_a_recogniser_writes_is_read_over_its_words_and_lines() -> None:
    """Tesseract's hOCR has an element for every word and every line; there are no spaces between those of Chinese."""
    word = "      <span class='ocrx_word' title='bbox 1 2 3 4; x_wconf 90'>{}</span>\n"
    line = "     <span class='ocr_line' title='bbox 1 2 3 4'>\n{}     </span>\n"
    lines = (("我们", "的", "权"), ("丽", "和", "义务"))
    text = f"<p lang='chi_sim'>\n{''.join(line.format(''.join(map(word.format, words))) for words in lines)}    </p>\n"
    assert format_name("scan.hocr") == "html"
    assert corrected("html", text, {"权丽": "权利"}) == text.replace("丽", "利")


def test_a_part_of_html_is_read_within_its_bounds() -> None:
    source = "甲<b>乙</b>丙"
    assert [passage.text for passage in html_passages(source, 1, 9)] == ["乙"]
    assert list(html_tokens(source, 0, 3)) == [Text(0, 1)]
    assert list(html_tokens(source, 1, 5)) == [Tag(1, 4, "start", "b"), Text(4, 5)]


def test_attributes_are_read() -> None:
    [tag] = html_tokens("<A b='1' C=d/e  b=2 f g = \"h>\"/>")
    assert isinstance(tag, Tag) and tag.self_closing
    assert (tag.name, tag.attributes) == ("a", {"b": "1", "c": "d/e", "f": "", "g": "h>"})


HTML = st.sampled_from(
    [
        "文", "文文", "。", " ", "\n", "\r\n", "<", "</", ">", "<b>", "</b>", "<p>", "</p>", "<br/>", "<!--", "-->",
        "--!>", "<!", "<?", "?>", "<![CDATA[", "]]>", "<script>", "</script>", "<style>", "</style>", "<pre>",
        "</pre>", "<textarea>", "</textarea>", "<title>", "</title>", "<svg>", "</svg>", "<svg/>", "&amp;",
        "&#25991;", "&", "&#", "&lt", "&#x6587;", "&nosuch;", "'", '"', "=", "<a href='文'>", "<a b=文 c", "</a>",
        "/", "/>", "<code>", "</code>", "<plaintext>", "<p translate=no>", "😀", "\t", "<i 文='文'>", "<r>", "</r>",
        "{{文}}", "\x0c", "\ufeff",
    ]
)  # fmt: skip


@given(st.lists(HTML, max_size=40).map("".join))
def test_any_html_comes_out_as_it_was_but_for_free_characters(text: str) -> None:
    offsets = free_offsets("html", text)
    assert len(set(offsets)) == len(offsets)
    assert replaced(text, corrected("html", text, {"文": "纹"})) <= set(offsets)


def replaced(text: str, after: str) -> set[int]:
    """Where 文 has become 纹; nothing else may have changed."""
    changed = {at for at, (old, new) in enumerate(zip(text, after, strict=True)) if old != new}
    assert all((text[at], after[at]) == ("文", "纹") for at in changed)
    return changed


class Oracle(HTMLParser):
    """The text that html.parser sees outside of scripts and styles."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.seen = ""

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is None:
            self.seen += data


ELEMENTS = st.recursive(
    st.sampled_from(["文", "，", " ", "\n", "<!-- 文 -->", "&amp;", "&#25991;", "<br>", "<img alt='文>'>", "<script>'文<b>'</script>"]),
    lambda inner: st.builds(
        lambda name, parts: f"<{name} title=\"文\">{''.join(parts)}</{name}>",
        st.sampled_from(["b", "p", "div", "span", "a"]),
        st.lists(inner, max_size=5),
    ),
    max_leaves=30,
)


@given(ELEMENTS)
def test_well_formed_html_is_read_as_html_parser_reads_it(text: str) -> None:
    text = numbered(text)
    oracle = Oracle()
    oracle.feed(text)
    oracle.close()
    assert [text[offset] for offset in free_offsets("html", text)] == [char for char in oracle.seen if is_han(char)]


def numbered(text: str) -> str:
    """``text`` with every 文 replaced by a Han character of its own."""
    return "".join(chr(0x4E00 + index) if char == "文" else char for index, char in enumerate(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<r/>", []),
        ("<r><name>张三</name><desc>这是<b>重</b>要的</desc></r>", ["张三", "这是重要的"]),
        ("<r>前<p>段</p>后</r>", ["前", "段", "后"]),
        ("<r>\n  <a>甲</a>\n  <b>乙</b>\n</r>", ["甲", "乙"]),
        ("<r>甲\n   乙\r\n丙 a\nb</r>", ["甲乙丙 a b"]),
        ("<r xml:space='preserve'>甲\n乙<b xml:space='default'>丙\n丁</b></r>", ["甲\n乙丙丁"]),
        ("<r>甲&amp;乙&#20013;丙&#x1F600;</r>", ["甲&乙‹中›丙😀"]),
        ("<!DOCTYPE r [<!ENTITY e '文'>]><r a='文&e;'>甲&e;乙<!-- 文 --><?文 文?></r>", ["甲&e;乙"]),
        ("<!DOCTYPE r [<!ENTITY e '文'>]><r><p>甲&e;<b>乙</b></p>\n<p>&e;<b>丙</b></p></r>", ["甲&e;乙", "&e;丙"]),
        ("<r>甲<![CDATA[文<文]]>乙</r>", ["甲‹文›<‹文›乙"]),
        ("<r><![CDATA[文]]></r>", []),
        ("<r><code>文</code><pre>文</pre><p>用<x:code xmlns:x='u'>文</x:code>吧</p></r>", ["用‹文›吧"]),
        ("<r><a xml:lang='ja'>文</a><b translate='no'>文</b>甲</r>", ["‹文文›甲"]),
        ("<resources><string translatable='false'>文</string><string>甲</string></resources>", ["甲"]),  # of Android
        ("\ufeff<?xml version='1.0' encoding='gb2312'?>\r\n<r>甲</r>\n", ["甲"]),
        ("<svg><text>图形</text><style>文</style></svg>", ["图形"]),
        ("<标>字\U00020000😀<b>文</b></标>", ["字\U00020000😀文"]),
    ],
)
def test_xml(text: str, expected: list[str]) -> None:
    assert read("xml", text) == expected


def test_xml_is_corrected_over_tags_within_a_word_and_nowhere_else() -> None:
    text = "<r a='权丽'>\r\n<p>我们的<b>权</b>丽和义\r\n  物</p><!-- 权丽 --><![CDATA[权丽]]>\r\n</r>\r\n"
    after = "<r a='权丽'>\r\n<p>我们的<b>权</b>利和义\r\n  务</p><!-- 权丽 --><![CDATA[权丽]]>\r\n</r>\r\n"
    assert corrected("xml", text, {"权丽": "权利", "义物": "义务"}) == after


@pytest.mark.parametrize("name", ["xml", "html"])
def test_a_reference_stays_whatever_a_list_says(name: str) -> None:
    text = "<p>甲&amp;乙&#38;丙&lt;丁&#x4e00;</p>"
    assert corrected(name, text, dict(zip("&<a一", "和小啊壹", strict=True))) == text


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "no element found"),
        ("文", 1, "syntax error"),
        ("<r>\n<b>\n</r>", 3, "mismatched tag, column 3;"),
        ("<r>\r\n\r\n文 & 文</r>", 3, "invalid token"),
        ("<r>&nosuch;</r>", 1, "undefined entity"),
        ("<r>\n\ud800</r>", 2, "surrogate"),
        ("\ufeff<r>\n\ud800</r>", 2, "surrogate"),
        ("<r>\n</r><r/>", 2, "junk after document element"),
    ],
)
def test_malformed_xml_is_an_error_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as error:
        passages("xml", text)
    assert error.value.line == line and str(error.value).startswith(f"<stdin>:{line}: cannot be read as XML: ")


def test_entities_are_not_expanded() -> None:
    entities = "".join(f"<!ENTITY e{n + 1} '{f'&e{n};' * 10}'>" for n in range(20))
    text = f"<!DOCTYPE r [<!ENTITY e0 '文'>{entities}]><r>甲&e20;</r>"
    assert read("xml", text) == ["甲&e20;"]


XML = st.sampled_from(
    [
        "文", "文文", "。", " ", "\n", "\r\n", "\r", "<b>文</b>", "<p>文\n文</p>", "<!-- 文 -->", "<?文 文?>",
        "<![CDATA[文<]]>", "&amp;", "&#25991;", "&lt;", "&e;", "😀", "<code>文</code>", "<a x='文'/>",
        "<x xml:space='preserve'>文\n文</x>", "\u3000", "\t", "<u>", "</u>",
    ]
)  # fmt: skip


@given(st.lists(XML, max_size=30).map("".join))
def test_xml_is_read_as_elementtree_reads_it(content: str) -> None:
    text = numbered(f"<!DOCTYPE r [<!ENTITY e '错'>]>\r\n<r>{content}</r>")
    left_alone = re.sub(r"<!\[CDATA\[.*?\]\]>|<code>.*?</code>|&e;|<\?.*?\?>|<!--.*?-->|&#25991;", "", text)
    try:
        expected = "".join(ElementTree.fromstring(left_alone).itertext())
    except ElementTree.ParseError:
        with pytest.raises(InputError):
            passages("xml", text)
        return
    assert [text[offset] for offset in free_offsets("xml", text)] == [char for char in expected if is_han(char)]
    replaced(text, corrected("xml", text, {"文": "纹"}))
