"""Presentations, OpenDocument files and books; what is common to all packages is tested on Word documents."""

from __future__ import annotations

import re

import pytest

from corrector.errors import InputError
from corrector.types import Span
from tests.fakes import FakeCorrector
from tests.packages import correct_package, members, zipped

CORRECTOR = FakeCorrector({"散部": "散步", "高形": "高兴"})
TYPES = {"[Content_Types].xml": ""}

SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


def slide(inner: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\r\n<p:sld xmlns:p="{SLIDE}" xmlns:a="{DRAWING}"><p:txBody>{inner}</p:txBody></p:sld>'


@pytest.mark.parametrize(
    "inner, expected",
    [
        ("<a:p><a:r><a:t>散</a:t></a:r><a:r><a:rPr b='1'/><a:t>部</a:t></a:r></a:p>", "散|步"),
        ("<a:p><a:r><a:t>散</a:t></a:r><a:br/><a:r><a:t>部</a:t></a:r></a:p>", "散|部"),
        ("<a:p><a:r><a:t>散</a:t></a:r></a:p><a:p><a:r><a:t>部</a:t></a:r></a:p>", "散|部"),
        ("<a:p><a:fld type='slidenum'><a:rPr/><a:t>散部</a:t></a:fld><a:r><a:t>散部</a:t></a:r></a:p>", "散部|散步"),
        ("<a:p><a:r><a:rPr noProof='1'/><a:t>散部</a:t></a:r><a:r><a:rPr noProof='0'/><a:t>散部</a:t></a:r></a:p>", "散部|散步"),
        ("<a:p><a:r><a:rPr lang='ja-JP'/><a:t>散部</a:t></a:r><a:r><a:rPr lang='en-US'/><a:t>散部</a:t></a:r></a:p>", "散部|散步"),
        ("<a:p><a:r><a:rPr><a:latin typeface='Consolas'/></a:rPr><a:t>散部</a:t></a:r></a:p>", "散部"),
        ("<a:p><a:pPr><a:buFont typeface='Courier New'/></a:pPr><a:r><a:t>散部</a:t></a:r></a:p>", "散步"),
        ("<a:p><a:r><a:rPr><a:latin typeface='Monotype Corsiva'/></a:rPr><a:t>散部</a:t></a:r></a:p>", "散步"),
        ("<a:p><a:r><a:t>散&#37096;&amp;</a:t></a:r></a:p>", "散&#27493;&amp;"),
        ("<p:cm><p:text>散部</p:text></p:cm>", "散步"),
        ("<p:t>散部</p:t><a:t>散部</a:t>", "散部|散部"),
    ],
)
def test_what_is_read_together_on_a_slide_and_what_stays(inner: str, expected: str) -> None:
    data = zipped({"ppt/slides/slide1.xml": slide(inner)})
    after = members(correct_package(CORRECTOR, data, "a.pptx", "pptx").data)["ppt/slides/slide1.xml"].decode()
    assert "|".join(re.findall("<(?:a:t|p:text|p:t)>([^<]*)", after)) == expected
    assert re.findall("<[^>]*>", after) == re.findall("<[^>]*>", slide(inner))


def test_slides_come_first_and_in_order_and_layouts_stay() -> None:
    text = slide("<a:p><a:r><a:t>散部</a:t></a:r></a:p>")
    names = (
        "notesSlides/notesSlide1", "slideLayouts/slideLayout1", "slides/slide10", "slides/slide2", "slides/_rels/slide2.xml.rels",
        "charts/chart1", "comments/modernComment_100_0", "diagrams/data1", "diagrams/layout1", "slideMasters/slideMaster1",
    )  # fmt: skip
    data = zipped({f"ppt/{name}.xml": text for name in names})
    result = correct_package(CORRECTOR, data, "a.pptx", "pptx")
    assert [one.document.part.removeprefix("ppt/").removesuffix(".xml") for one in result.documents] == [
        "slides/slide2", "slides/slide10", "charts/chart1", "comments/modernComment_100_0", "diagrams/data1", "notesSlides/notesSlide1",
    ]  # fmt: skip
    changed = {one.document.part for one in result.documents}
    assert {name for name, content in members(result.data).items() if content != text.encode()} == changed
    assert result.documents[0].document.path == "a.pptx/ppt/slides/slide2.xml"


def test_diagrams_and_charts_of_a_word_document_are_corrected() -> None:
    word = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>'
    drawn = slide("<a:p><a:r><a:t>散部</a:t></a:r></a:p>")
    names = ("word/diagrams/data1.xml", "word/charts/chart2.xml", "word/diagrams/layout1.xml")
    after = members(correct_package(CORRECTOR, zipped({"word/document.xml": word} | dict.fromkeys(names, drawn)), None, "docx").data)
    assert ["散步" in after[name].decode() for name in names] == [True, True, False]


TEXT, STYLE = "urn:oasis:names:tc:opendocument:xmlns:text:1.0", "urn:oasis:names:tc:opendocument:xmlns:style:1.0"
OFFICE, FO = "urn:oasis:names:tc:opendocument:xmlns:office:1.0", "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
STYLES = (
    '<s:style s:name="Preformatted_20_Text" s:family="paragraph"/>'
    '<s:style s:name="P1" s:family="paragraph" s:parent-style-name="Preformatted_20_Text"/>'
    '<s:style s:name="a" s:display-name="Source Text" s:family="text"/>'
    '<s:style s:name="T1" s:family="text"><s:text-properties s:font-name="Courier New"/></s:style>'
    '<s:style s:name="T2" s:family="text"><s:text-properties f:font-family="宋体"/></s:style>'
    '<s:style s:name="P2" s:family="paragraph"><s:text-properties f:font-family="Courier"/></s:style>'
)  # fmt: skip


def odf(inner: str, styles: str = STYLES) -> str:
    return (
        f'<o:document xmlns:o="{OFFICE}" xmlns:t="{TEXT}" xmlns:s="{STYLE}" xmlns:f="{FO}" xmlns:d="http://purl.org/dc/elements/1.1/">'
        f"<o:automatic-styles>{styles}</o:automatic-styles><o:text>{inner}</o:text></o:document>"
    )


def corrected_odf(inner: str) -> str:
    after = members(correct_package(CORRECTOR, zipped({"content.xml": odf(inner)}), "a.odt", "odf").data)["content.xml"].decode()
    assert after.startswith(odf("").removesuffix("</o:text></o:document>"))
    return after[len(odf("")) - len("</o:text></o:document>") : -len("</o:text></o:document>")]


@pytest.mark.parametrize(
    "inner",
    [
        "<t:p>散<t:span>部</t:span></t:p>",
        "<t:h>散<t:a>部</t:a></t:h>",
        "<t:p>散<t:bookmark/><t:soft-page-break/>部</t:p>",
        "<t:p>散<t:note><t:note-citation>1</t:note-citation><t:note-body><t:p>散部</t:p></t:note-body></t:note>部</t:p>",
        "<t:p>散<o:annotation><d:creator>高</d:creator><t:p>散部</t:p></o:annotation>部</t:p>",
        "<t:p>散<t:ruby><t:ruby-base>部</t:ruby-base><t:ruby-text>bù</t:ruby-text></t:ruby></t:p>",
        "<t:list><t:list-item><t:p>散部</t:p></t:list-item></t:list>",
        "<t:p><t:text-input>散部</t:text-input></t:p>",
        '<t:p t:style-name="P2">散<t:span t:style-name="T2">部</t:span></t:p>',
        "<t:p>散<!-- 一 -->部<![CDATA[&<散部]]></t:p>",
    ],
)
def test_what_is_typed_in_an_open_document_is_corrected(inner: str) -> None:
    assert corrected_odf(inner) == inner.replace("部", "步")


@pytest.mark.parametrize(
    "inner",
    [
        "<t:p>散</t:p><t:p>部</t:p>",
        "<t:p>散<t:s/>部<t:tab/>散<t:line-break/>部</t:p>",
        "<t:p>散\r\n  部</t:p>",
        "<t:p><t:chapter>散部</t:chapter><t:sequence>散部</t:sequence><t:span><t:title>散部</t:title></t:span></t:p>",
        "<t:tracked-changes><t:changed-region><t:deletion><t:p>散部</t:p></t:deletion></t:changed-region></t:tracked-changes>",
        "<t:table-of-content><t:index-body><t:p>散部</t:p></t:index-body></t:table-of-content>",
        '<t:p t:style-name="P1">散部<t:span t:style-name="T2">散部</t:span></t:p>',
        '<t:p>散<t:span t:style-name="T1">部</t:span><t:span t:style-name="a">散部</t:span></t:p>',
        "<t:p><o:annotation><d:creator>散部</d:creator></o:annotation></t:p>",
        "散部<t:section>散部</t:section>",
    ],
)
def test_what_stays_in_an_open_document(inner: str) -> None:
    assert corrected_odf(inner) == inner


def test_an_open_document_is_read_as_it_is_shown() -> None:
    inner = '<t:p>一\n 二<t:s t:c="3"/>三<t:s t:c="999999"/></t:p><t:p/><t:p>四<t:page-number>5</t:page-number>&#20845;</t:p>'
    styled = {"styles.xml": odf("<t:p>散部</t:p>", '<s:style s:name="Source_20_Text" s:family="text"/>')}
    content = odf(inner + '<t:p><t:span t:style-name="Source_20_Text">散部</t:span></t:p>', "")
    result = correct_package(CORRECTOR, zipped({"content.xml": content} | styled), "a.odt", "odf")
    body, page = (one.document for one in result.documents)
    assert body.text.split("\n") == ["一  二   三" + " " * 100, "", "四5六", "散部"]
    assert [body.text[span.start : span.end].strip() for span in body.protected][-2:] == ["5", "散部"]
    assert (page.path, page.text, len(result.documents[1].corrections)) == ("a.odt/styles.xml", "散部", 1)


CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/a.opf"/></rootfiles></container>'
OPF = """<package><manifest>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="x" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
<item id="c2" href="text/%E4%BA%8C.xhtml" media-type="application/xhtml+xml"/>
<item id="c1" href="text/1.xhtml" media-type="application/xhtml+xml"/>
<item id="s" href="散部.css" media-type="text/css"/>
<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine toc="x"><itemref idref="c1"/><itemref idref="c2"/><itemref idref="gone"/><itemref idref="nothing"/></spine></package>"""
PAGE = (
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>散部</title><script src="a"/></head>'
    '<body title="散部"><p>散<b>部</b>\r\n</p></body></html>'
)
BOOK = {
    "mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "OEBPS/a.opf": OPF,
    "OEBPS/nav.xhtml": PAGE, "OEBPS/toc.ncx": PAGE, "OEBPS/text/二.xhtml": "<p>散部&nbsp;<br>高形", "OEBPS/text/1.xhtml": PAGE,
    "OEBPS/散部.css": "p { font-family: 散部 }", "OEBPS/other.xhtml": PAGE,
}  # fmt: skip


def test_the_pages_of_a_book_are_corrected_in_reading_order() -> None:
    result = correct_package(CORRECTOR, zipped(BOOK), "a.epub", "epub")
    names = ["OEBPS/text/1.xhtml", "OEBPS/text/二.xhtml", "OEBPS/nav.xhtml", "OEBPS/toc.ncx"]
    assert [one.document.part for one in result.documents] == names
    assert result.documents[0].document.path == "a.epub/OEBPS/text/1.xhtml"
    wrong = PAGE.index("部</title>") - 1
    assert [(one.span, one.replacement) for one in result.documents[0].corrections] == [
        (Span(wrong, wrong + 2), "散步"), (Span(PAGE.index("部</b>"), PAGE.index("部</b>") + 1), "步"),
    ]  # fmt: skip
    right = PAGE.replace("散部<", "散步<").replace("部</b>", "步</b>")
    expected = {name: content.encode() for name, content in BOOK.items()} | {name: right.encode() for name in names}
    assert members(result.data) == expected | {"OEBPS/text/二.xhtml": "<p>散步&nbsp;<br>高兴".encode()}


def test_a_page_may_be_utf_16_and_hold_markers() -> None:
    page = "\ufeff" + PAGE.replace("<p>", "<p>高形</p>\n<!-- electra-correct: ignore-next-line -->\n<p>").replace("散部<", "好<")
    data = zipped(BOOK | {"OEBPS/text/1.xhtml": page.encode("utf-16-le")})
    after = members(correct_package(CORRECTOR, data, "a.epub", "epub").data)["OEBPS/text/1.xhtml"]
    assert after == page.replace("高形", "高兴").encode("utf-16-le")


def encrypted(*names: str) -> dict[str, str]:
    return {"META-INF/encryption.xml": "<e>" + "".join(f'<CipherReference URI="{name}"/>' for name in names) + "</e>"}


def test_encrypted_pages_and_fonts_stay() -> None:
    data = zipped(BOOK | encrypted("OEBPS/font.ttf", "OEBPS/text/%E4%BA%8C.xhtml"))
    names = [one.document.part for one in correct_package(CORRECTOR, data, "a.epub", "epub").documents]
    assert names == ["OEBPS/text/1.xhtml", "OEBPS/nav.xhtml", "OEBPS/toc.ncx"]


@pytest.mark.parametrize(
    "kind, contents, message",
    [
        ("pptx", TYPES, "an Office document, but not a PowerPoint presentation: it has no ppt/slides/slide1.xml"),
        ("pptx", {"ppt/slides/slide1.xml": "<a>"}, "a.x/ppt/slides/slide1.xml:1: its XML is not well-formed"),
        ("pptx", {"ppt/slides/slide1.xml": slide("<a:p><a:t>散部</a:t></a:p>"), "_xmlsignatures/sig1.xml": ""}, "is signed"),
        ("odf", {"a": ""}, "a zip archive, but not an OpenDocument text: it has no content.xml"),
        ("odf", {"content.xml": "\0", "META-INF/manifest.xml": "<m:encryption-data/>"}, "is encrypted; save the file without a password"),
        ("odf", {"content.xml": odf("<t:p>散部</t:p>"), "META-INF/documentsignatures.xml": ""}, "is signed"),
        ("odf", {"content.xml": "文".encode("gb18030")}, "content.xml: its XML is neither UTF-8 nor UTF-16"),
        ("epub", {"a": ""}, "a zip archive, but not an EPUB book: it has no META-INF/container.xml"),
        ("epub", {"META-INF/container.xml": CONTAINER}, "an EPUB book without a page"),
        ("epub", BOOK | {"OEBPS/a.opf": "<package>\n"}, "a damaged EPUB book (OEBPS/a.opf:2: cannot be read as XML"),
        ("epub", BOOK | {"META-INF/container.xml": b"\xff\xff"}, "a damaged EPUB book (META-INF/container.xml"),
        ("epub", BOOK | {"OEBPS/text/1.xhtml": b"\xff\xff\xff"}, "a.x/OEBPS/text/1.xhtml: is neither UTF-8 nor UTF-16"),
        ("epub", BOOK | {"META-INF/signatures.xml": ""}, "is signed"),
        ("epub", BOOK | encrypted(*BOOK, "OEBPS/text/%E4%BA%8C.xhtml"), "its pages are encrypted"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(kind: str, contents: dict[str, str | bytes], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        correct_package(CORRECTOR, zipped(contents), "a.x", kind)
    assert str(caught.value).startswith("a.x")


def test_what_is_right_comes_back_as_it_was() -> None:
    for kind, contents in (
        ("pptx", {"ppt/slides/slide1.xml": slide("<a:p><a:t>好</a:t></a:p>"), "_xmlsignatures/a": ""}),
        ("odf", {"content.xml": odf("<t:p>好</t:p>")}),
        ("epub", {name: content.replace("部", "步").replace("高形", "好") for name, content in BOOK.items()} | {"OEBPS/散部.css": ""}),
    ):
        data = zipped(contents)
        assert correct_package(CORRECTOR, data, None, kind).data is data
