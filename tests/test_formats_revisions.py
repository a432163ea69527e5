"""Corrections of Word documents as revisions."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.errors import InputError
from corrector.formats.revisions import Revisions
from tests.fakes import FakeCorrector
from tests.packages import correct_package, members, zipped

CORRECTOR = FakeCorrector({"散部": "散步", "高形": "高兴", "再接再历": "再接再厉", "甲乙": "丙丁"}, {"东溪": "东西", "子丑": "寅卯"})
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
KEPT = ' xml:space="preserve"'


@pytest.fixture(autouse=True)
def _date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")


def document(inner: str, prefix: str = "w:") -> str:
    tags = re.sub(r"<(/?)w:", rf"<\1{prefix}", f"<w:document><w:body>{inner}</w:body></w:document>").replace(" w:", f" {prefix}")
    return tags.replace(f"<{prefix}document", f'<{prefix}document xmlns{":" * bool(prefix)}{prefix.rstrip(":")}="{WORD}"', 1)


def revised(xml: str, member: str = "word/document.xml") -> str:
    contents = {"word/document.xml": document("")} | {member: xml}
    return members(correct_package(CORRECTOR, zipped(contents), "a.docx", "docx", track_changes=True).data)[member].decode()


def run(text: str, properties: str = "") -> str:
    return f"<w:r>{properties}<w:t>{text}</w:t></w:r>"


def change(number: int, old: str, new: str, properties: str = "") -> str:
    marks = 'w:author="electra-correct" w:date="1970-01-02T00:00:00Z"'
    return (
        f'<w:del w:id="{number}" {marks}><w:r>{properties}<w:delText>{old}</w:delText></w:r></w:del>'
        f'<w:ins w:id="{number + 1}" {marks}>{run(new, properties)}</w:ins>'
    )


@pytest.mark.parametrize(
    "inner, expected",
    [
        (run("去散部吧"), run("去散") + change(1, "部", "步") + run("吧").replace("<w:t>", f"<w:t{KEPT}>")),
        (run("散部", "<w:rPr><w:b/></w:rPr>"), run("散", "<w:rPr><w:b/></w:rPr>") + change(1, "部", "步", "<w:rPr><w:b/></w:rPr>")
         + f"<w:r><w:rPr><w:b/></w:rPr><w:t{KEPT}></w:t></w:r>"),
        (run("散") + '<w:bookmarkStart w:id="41"/>' + run("部"),
         run("散") + '<w:bookmarkStart w:id="41"/>' + run("") + change(42, "部", "步") + f"<w:r><w:t{KEPT}></w:t></w:r>"),
        (run("甲乙"), run("") + change(1, "甲乙", "丙丁") + f"<w:r><w:t{KEPT}></w:t></w:r>"),
        (run("甲") + run("乙"), run("") + change(1, "甲", "丙") + f"<w:r><w:t{KEPT}></w:t></w:r>"
         + run("") + change(3, "乙", "丁") + f"<w:r><w:t{KEPT}></w:t></w:r>"),
        (run("a 甲乙"), f"<w:r><w:t{KEPT}>a </w:t></w:r>" + change(1, "甲乙", "丙丁") + f"<w:r><w:t{KEPT}></w:t></w:r>"),
        (run("a 甲乙").replace("<w:t>", f"<w:t{KEPT}>"), f"<w:r><w:t{KEPT}>a </w:t></w:r>" + change(1, "甲乙", "丙丁")
         + f"<w:r><w:t{KEPT}></w:t></w:r>"),
        (run("散&#37096;"), run("散") + change(1, "&#37096;", "&#27493;") + f"<w:r><w:t{KEPT}></w:t></w:r>"),
        (run("散部", '<w:rPr><w:b/><w:rPrChange w:id="7"><w:rPr/></w:rPrChange></w:rPr>'),
         run("散", '<w:rPr><w:b/><w:rPrChange w:id="7"><w:rPr/></w:rPrChange></w:rPr>') + change(8, "部", "步", "<w:rPr><w:b/></w:rPr>")
         + f"<w:r><w:rPr><w:b/></w:rPr><w:t{KEPT}></w:t></w:r>"),
        (f'<w:ins w:id="1">{run("散部")}</w:ins>', f'<w:ins w:id="1">{run("散步")}</w:ins>'),  # changed where it was inserted
        (run("<![CDATA[散部]]>"), run("<![CDATA[散步]]>")),
        ("<w:r><w:rPr/><w:t>散部</w:t></w:r>", "<w:r><w:rPr/><w:t>散</w:t></w:r>" + change(1, "部", "步", "<w:rPr/>")
         + f"<w:r><w:rPr/><w:t{KEPT}></w:t></w:r>"),
        (run("散部", "<w:rPr></w:rPr>"), run("散", "<w:rPr></w:rPr>") + change(1, "部", "步", "<w:rPr></w:rPr>")
         + f"<w:r><w:rPr></w:rPr><w:t{KEPT}></w:t></w:r>"),
        (run("散部", "<w:rPr >\n<w:b />\n</w:rPr >"), run("散", "<w:rPr >\n<w:b />\n</w:rPr >")
         + change(1, "部", "步", "<w:rPr >\n<w:b />\n</w:rPr >") + f"<w:r><w:rPr >\n<w:b />\n</w:rPr ><w:t{KEPT}></w:t></w:r>"),
        ('<w:hyperlink w:anchor="a">' + run("散部") + "</w:hyperlink>",
         '<w:hyperlink w:anchor="a">' + run("散") + change(1, "部", "步") + f"<w:r><w:t{KEPT}></w:t></w:r></w:hyperlink>"),
    ],
)  # fmt: skip
def test_what_is_deleted_and_inserted(inner: str, expected: str) -> None:
    assert revised(document(f"<w:p>{inner}</w:p>")) == document(f"<w:p>{expected}</w:p>")
    assert revised(revised(document(f"<w:p>{inner}</w:p>"))) == revised(document(f"<w:p>{inner}</w:p>"))


def test_the_prefix_of_the_document_is_taken() -> None:
    inner = f"<w:p>{run('散部')}</w:p>"
    expected = f"<w:p>{run('散')}{change(1, '部', '步')}<w:r><w:t{KEPT}></w:t></w:r></w:p>"
    assert revised(document(inner, "x:")) == document(expected, "x:")


def test_in_comments_and_drawings_nothing_is_tracked() -> None:
    assert revised(document(f"<w:p>{run('散部')}</w:p>"), "word/comments.xml") == document(f"<w:p>{run('散步')}</w:p>")
    drawn = '<a:p xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:t>散部</a:t></a:p>'
    assert revised(drawn, "word/charts/chart1.xml") == drawn.replace("部", "步")
    assert "<w:del " in revised(document(f"<w:p>{run('散部')}</w:p>"), "word/footnotes.xml")


@pytest.mark.parametrize("kind", ["pptx", "odf", "epub", "xlsx", "text", "markdown"])
def test_other_documents_are_refused(kind: str) -> None:
    with pytest.raises(InputError, match=r"^a: changes are tracked in Word documents only; leave --track-changes out"):
        correct_package(CORRECTOR, b"", "a", kind, track_changes=True)
    with pytest.raises(InputError, match=r"^a: comments are put in Word documents and PDFs only; leave --comments out"):
        correct_package(CORRECTOR, b"", "a", kind, comments=True)


PACKED = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default/></Types>\n',
    "word/_rels/document.xml.rels": '<x:Relationships xmlns:x="http://schemas.openxmlformats.org/package/2006/relationships"/>',
}
COMMENTS = f'<w:comments xmlns:w="{WORD}">'


def commented(contents: dict[str, str], **options: bool) -> dict[str, str]:
    result = correct_package(CORRECTOR, zipped(contents), "a.docx", "docx", comments=True, **options)
    return {name: content.decode() for name, content in members(result.data).items()}


def anchored(number: int, text: str, properties: str = "") -> str:
    return (
        f'<w:commentRangeStart w:id="{number}"/>{run(text, properties)}<w:commentRangeEnd w:id="{number}"/>'
        f'<w:r><w:commentReference w:id="{number}"/></w:r><w:r>{properties}<w:t{KEPT}>'
    )


def comment(number: int, text: str) -> str:
    marks = f'w:id="{number}" w:author="electra-correct" w:date="1970-01-02T00:00:00Z" w:initials="ec"'
    return f"<w:comment {marks}><w:p><w:r><w:t{KEPT}>{text}</w:t></w:r></w:p></w:comment>"


SAID = "东溪 → 东西  同音 (dōng xī)  40 %?"


def test_suggestions_are_comments_on_the_text() -> None:
    after = commented(PACKED | {"word/document.xml": document(f"<w:p>{run('去东溪，散部')}</w:p>")})
    expected = f"<w:p>{run('去')}{anchored(0, '东溪')}，散步</w:t></w:r></w:p>"
    assert after["word/document.xml"] == document(expected)
    assert after["word/comments.xml"].endswith(f"{COMMENTS}{comment(0, SAID)}</w:comments>")
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
    assert after["[Content_Types].xml"] == PACKED["[Content_Types].xml"].replace(
        "</Types>", f'<Override PartName="/word/comments.xml" ContentType="{kind}"/></Types>'
    )
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments"
    assert after["word/_rels/document.xml.rels"] == PACKED["word/_rels/document.xml.rels"].replace(
        "/>", f'><x:Relationship Id="rIdElectraCorrect" Type="{relation}" Target="comments.xml"/></x:Relationships>'
    )
    assert list(after)[-1] == "word/comments.xml"
    assert commented(after) == after  # what has been said is not said again, and not read


def test_comments_and_revisions_in_one_run() -> None:
    xml = document(f"<w:p>{run('东溪散部', '<w:rPr><w:b/></w:rPr>')}</w:p>")
    bold = "<w:rPr><w:b/></w:rPr>"
    after = commented(PACKED | {"word/document.xml": xml}, track_changes=True)["word/document.xml"]
    inner = f"{run('', bold)}{anchored(0, '东溪', bold)}散</w:t></w:r>{change(1, '部', '步', bold)}<w:r>{bold}<w:t{KEPT}></w:t></w:r>"
    assert after == document(f"<w:p>{inner}</w:p>")


def test_there_may_be_comments_already() -> None:
    others = f'{COMMENTS}<w:comment w:id="6" w:author="张三"><w:p>{run("散部")}</w:p></w:comment></w:comments>'
    xml = document(f"<w:p>{run('东')}{run('溪')}{run('散部')}{run('子丑')}</w:p>")
    after = commented(PACKED | {"word/document.xml": xml, "word/comments.xml": others})
    said = comment(7, SAID) + comment(8, "子丑 → 寅卯  同音  40 %?")
    assert after["word/comments.xml"].startswith(others.replace("散部", "散步")[: -len("</w:comments>")])
    assert re.sub("  同音[^<]*40", "  同音  40", after["word/comments.xml"]).endswith(
        re.sub("  同音[^<]*?40", "  同音  40", said) + "</w:comments>"
    )
    first = f"{run('')}{anchored(7, '东')}</w:t></w:r>{run('溪')}"  # over several runs: of the first character
    assert after["word/document.xml"] == document(f"<w:p>{first}{run('散步')}{run('')}{anchored(8, '子丑')}</w:t></w:r></w:p>")
    assert after["[Content_Types].xml"] == PACKED["[Content_Types].xml"]
    without = commented(PACKED | {"word/document.xml": xml, "word/comments.xml": f"{COMMENTS[:-1]} />"})
    assert without["word/comments.xml"].count("<w:comment ") == 2


def test_where_no_comment_can_be_none_is_made() -> None:
    boxed = f"<w:p><w:r><w:pict><w:txbxContent><w:p>{run('东溪')}</w:p></w:txbxContent></w:pict></w:r></w:p>"
    for contents in (
        {"word/document.xml": document(boxed)},
        {"word/document.xml": document(f"<w:p>{run('<![CDATA[东溪]]>')}</w:p>")},
        {"word/document.xml": document("<w:p/>"), "word/footnotes.xml": document(f"<w:p>{run('东溪')}</w:p>")},
    ):
        assert commented(PACKED | contents) == PACKED | contents


def test_unlikely_suggestions_are_no_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corrector.formats.docx.LEAST_CONFIDENCE", 0.41)
    contents = PACKED | {"word/document.xml": document(f"<w:p>{run('东溪')}</w:p>")}
    assert commented(contents) == contents


def test_a_document_that_cannot_hold_comments_is_refused() -> None:
    with pytest.raises(InputError, match=r"^a.docx/\[Content_Types\].xml: comments cannot be put into it; leave --comments out"):
        commented({"word/document.xml": document(f"<w:p>{run('东溪')}</w:p>")})


def read(xml: str, without: str) -> list[str]:
    """The paragraphs of a document without the elements ``del`` or ``ins``."""
    root = ElementTree.fromstring(xml)
    for parent in root.iter():
        for child in list(parent):
            if child.tag == f"{{{WORD}}}{without}":
                parent.remove(child)
    return ["".join(text.text or "" for text in p.iter() if text.tag.endswith(("}t", "}delText"))) for p in root.iter(f"{{{WORD}}}p")]


@given(st.lists(st.lists(st.text(st.sampled_from("散部高形甲乙再接历a &<"), max_size=8), max_size=5), max_size=4))
@settings(max_examples=150, deadline=None)
def test_rejected_it_is_the_old_text_and_accepted_the_new(paragraphs: list[list[str]]) -> None:
    def spelt(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;")

    xml = document("".join(f"<w:p>{''.join(run(spelt(text)) for text in texts)}</w:p>" for texts in paragraphs))
    plain = correct_package(CORRECTOR, zipped({"word/document.xml": xml}), None, "docx").data
    after = revised(xml)
    assert read(after, "ins") == ["".join(texts) for texts in paragraphs]
    assert read(after, "del") == read(members(plain)["word/document.xml"].decode(), "del")


def test_what_would_not_read_as_the_corrected_text_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    for broken in (b"<a>", document("<w:p/>").encode()):
        monkeypatch.setattr(Revisions, "written", lambda self, broken=broken: broken)
        with pytest.raises(InputError, match=r"^a.docx/word/document.xml: what was found cannot be written into it"):
            revised(document(f"<w:p>{run('散部')}</w:p>"))
