"""Corrections of Word documents as revisions."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.errors import InputError
from tests.fakes import FakeCorrector
from tests.packages import correct_package, members, zipped

CORRECTOR = FakeCorrector({"散部": "散步", "高形": "高兴", "再接再历": "再接再厉", "甲乙": "丙丁"})
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
    with pytest.raises(InputError, match=r"^a: changes are tracked in Word documents only"):
        correct_package(CORRECTOR, b"", "a", kind, track_changes=True)


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
        monkeypatch.setattr("corrector.formats.docx.with_revisions", lambda part, corrections, broken=broken: broken)
        with pytest.raises(InputError, match=r"^a.docx/word/document.xml: its corrections cannot be written as revisions"):
            revised(document(f"<w:p>{run('散部')}</w:p>"))
