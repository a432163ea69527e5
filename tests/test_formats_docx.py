from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.config import Settings
from corrector.errors import InputError
from corrector.formats import archive
from corrector.formats.archive import Archive
from corrector.formats.wordml import WordPart
from corrector.inputs import Input
from corrector.types import CorrectedDocument, Correction, Span
from tests.fakes import FakeCorrector
from tests.packages import Result, correct_package, members, zipped

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
TAG = re.compile("</?(?:w:)?[a-zA-Z][^>]*>")
CORRECTOR = FakeCorrector({"散部": "散步", "高形": "高兴"})


def saved(document: docx.document.Document) -> bytes:
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def opened(data: bytes) -> docx.document.Document:
    return docx.Document(io.BytesIO(data))


def body(inner: str, declaration: str = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n') -> str:
    return f'{declaration}<w:document xmlns:w="{WORD}"><w:body>{inner}</w:body></w:document>'


def correct_docx(corrector: FakeCorrector, data: bytes, path: str | None) -> Result:
    return correct_package(corrector, data, path, "docx")


def corrected_xml(inner: str) -> str:
    """The body after a correction of a document that has nothing else."""
    result = correct_docx(CORRECTOR, zipped({"word/document.xml": body(inner)}), "a.docx")
    xml = members(result.data)["word/document.xml"].decode()
    assert xml.startswith(body("")[: -len("</w:body></w:document>")])
    return xml[len(body("")) - len("</w:body></w:document>") : -len("</w:body></w:document>")]


def test_a_sentence_over_runs_of_different_styles_is_corrected_and_keeps_them() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("我们去公园")
    paragraph.add_run("散").bold = True
    paragraph.add_run("部").italic = True
    paragraph.add_run("，很高形。")
    document.add_table(1, 1).cell(0, 0).text = "表格里也高形"
    section = document.sections[0]
    section.header.paragraphs[0].text = "页眉散部"
    section.footer.paragraphs[0].text = "页脚散部"
    document.add_comment(paragraph.runs, text="批注散部", author="张三")
    data = saved(document)

    result = correct_docx(CORRECTOR, data, "a.docx")
    after = opened(result.data)
    assert [run.text for run in after.paragraphs[0].runs if run.text] == ["我们去公园", "散", "步", "，很高兴。"]
    assert [(run.bold, run.italic) for run in after.paragraphs[0].runs if run.text][1:3] == [(True, None), (None, True)]
    assert after.tables[0].cell(0, 0).text == "表格里也高兴"
    assert after.sections[0].header.paragraphs[0].text == "页眉散步"
    assert after.sections[0].footer.paragraphs[0].text == "页脚散步"
    assert [comment.text for comment in after.comments] == ["批注散步"]

    before, now = members(data), members(result.data)
    assert list(now) == list(before)
    changed = {name for name in before if before[name] != now[name]}
    assert changed == {"word/document.xml", "word/header1.xml", "word/footer1.xml", "word/comments.xml"}
    wrong = before["word/document.xml"].decode()
    assert now["word/document.xml"].decode() == wrong.replace(">部<", ">步<").replace("高形", "高兴")
    assert correct_docx(CORRECTOR, result.data, "a.docx").data is result.data


def test_the_parts_are_reported_with_their_text() -> None:
    xml = body("<w:p><w:r><w:t>散</w:t></w:r><w:r><w:t>部</w:t></w:r></w:p><w:p/><w:p><w:r><w:t>好</w:t></w:r></w:p>")
    result = correct_docx(CORRECTOR, zipped({"word/document.xml": xml, "word/header1.xml": body("")}), "a.docx")
    first, second = result.documents
    assert (first.document.path, first.document.text) == ("a.docx/word/document.xml", "散部\n\n好")
    assert [(c.span, c.original, c.replacement) for c in first.corrections] == [(Span(0, 2), "散部", "散步")]
    assert (second.document.path, second.document.text) == ("a.docx/word/header1.xml", "")
    assert [(one.document.file, one.document.part) for one in result.documents] == [
        ("a.docx", "word/document.xml"), ("a.docx", "word/header1.xml"),
    ]  # fmt: skip


def test_the_very_input_comes_back_when_nothing_changes() -> None:
    document = docx.Document()
    document.add_paragraph("没有错误。")
    data = saved(document)
    assert correct_docx(CORRECTOR, data, None).data is data


@pytest.mark.parametrize(
    "inner, expected",
    [
        ("<w:p><w:r><w:t>散</w:t><w:lastRenderedPageBreak/><w:t>部</w:t></w:r></w:p>", "散|步"),
        ('<w:p><w:r><w:t>散</w:t></w:r><w:hyperlink w:anchor="x"><w:r><w:t>部</w:t></w:r></w:hyperlink></w:p>', "散|步"),
        ("<w:p><w:ins><w:r><w:t>散</w:t></w:r></w:ins><w:r><w:t>部</w:t></w:r></w:p>", "散|步"),
        ("<w:p><w:r><w:t>散</w:t></w:r><w:del><w:r><w:delText>布</w:delText><w:t>甲</w:t></w:r></w:del><w:r><w:t>部</w:t>"
         "</w:r></w:p>", "散|布|甲|步"),
        ("<w:p><w:moveFrom><w:r><w:t>散部</w:t></w:r></w:moveFrom></w:p>", "散部"),
        ("<w:p><w:r><w:instrText>散部</w:instrText></w:r></w:p>", "散部"),
        ("<w:p><w:r><w:t>散</w:t><w:tab/><w:t>部</w:t></w:r></w:p>", "散|部"),
        ("<w:p><w:r><w:t>散</w:t><w:br/><w:t>部</w:t></w:r></w:p>", "散|部"),
        ("<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>散部</w:t></w:r></w:p>", "散步"),
        ("<w:p><w:r><w:t>散</w:t></w:r></w:p><w:p><w:r><w:t>部</w:t></w:r></w:p>", "散|部"),
        ("<w:p><w:r><w:t>散&#37096;</w:t></w:r></w:p>", "散&#27493;"),
        ("<w:p><w:r><w:t>散&#x90E8;高&#x5f62;</w:t></w:r></w:p>", "散&#x6B65;高&#x5174;"),
        ("<w:p><w:r><w:t>&amp;散部&lt;</w:t></w:r></w:p>", "&amp;散步&lt;"),
        ("<w:p><w:r><w:t><![CDATA[&<散部]]></w:t></w:r></w:p>", "<![CDATA[&<散步]]>"),
        ("<w:p><w:r><w:t>\U00020000散<!-- 高形 -->部</w:t></w:r></w:p>", "\U00020000散<!-- 高形 -->步"),
        ('<w:p><w:r><w:rPr><w:rStyle w:val="VerbatimChar"/></w:rPr><w:t>散部</w:t></w:r></w:p>', "散部"),
        ('<w:p><w:r><w:rPr><w:rStyle w:val="Code"/></w:rPr><w:t>&#x6563;&#37096;</w:t></w:r></w:p>', "&#x6563;&#37096;"),
        ('<w:p><w:pPr><w:pStyle w:val="HTMLPreformatted"/></w:pPr><w:r><w:t>散部</w:t></w:r></w:p>', "散部"),
        ("<w:p><w:r><w:rPr><w:noProof/></w:rPr><w:t>散部</w:t></w:r><w:r><w:t>散部</w:t></w:r></w:p>", "散部|散步"),
        ('<w:p><w:r><w:rPr><w:noProof w:val="0"/></w:rPr><w:t>散部</w:t></w:r></w:p>', "散步"),
        ("<w:p><w:r><w:ruby><w:rt><w:r><w:t>高形</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>散</w:t></w:r></w:rubyBase>"
         "</w:ruby></w:r><w:r><w:t>部</w:t></w:r></w:p>", "高形|散|步"),
        ("<w:p><w:r><w:t>散</w:t></w:r><w:r><w:drawing><w:p><w:r><w:t>高形</w:t></w:r></w:p></w:drawing></w:r><w:r>"
         "<w:t>部</w:t></w:r></w:p>", "散|高兴|步"),
        ('<w:p title="散部"><t>散部</t><w:sdt><w:sdtContent><w:r><w:t>高形</w:t></w:r></w:sdtContent></w:sdt></w:p>',
         "散部|高兴"),
        ("<w:r><w:t>散部</w:t></w:r>", "散部"),
    ],
)  # fmt: skip
def test_what_is_read_together_and_what_is_left_alone(inner: str, expected: str) -> None:
    after = corrected_xml(inner)  # "|" stands for the tags
    assert "|".join(text for text in TAG.split(after) if text) == expected
    assert TAG.findall(after) == TAG.findall(inner)


CHAR = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
BEGIN, SEPARATE, END = map(CHAR.format, ("begin", "separate", "end"))


def code(*pieces: str) -> str:
    return "".join(f"<w:r><w:instrText>{piece}</w:instrText></w:r>" for piece in pieces)


@pytest.mark.parametrize(
    "inner, expected",
    [
        (f"{BEGIN}{code(' TITLE ')}{SEPARATE}散部{END}散部", "散部|散步"),
        (f"散{BEGIN}{code('REF a')}{SEPARATE}部{END}散部", "散|部|散步"),
        (f"{BEGIN}{code('REF a')}{SEPARATE}散</w:p><w:p>散部{END}散部", "散|散部|散步"),
        (f"{BEGIN}{code('TOC')}{SEPARATE}散部{BEGIN}{code('HYPERLINK')}{SEPARATE}散部{END}散部{END}散部",
         "散部|散部|散部|散步"),
        (f"{BEGIN}{code('IF')}散部{BEGIN}{code('REF a')}{SEPARATE}散部{END}{code('MOD')}散部{SEPARATE}散部{END}散部",
         "散部|散部|散部|散部|散步"),
        (f"{BEGIN}{code(' ', 'hyper', 'LINK a')}{SEPARATE}散部{BEGIN}{code('PAGE')}{SEPARATE}散部{END}散部{END}",
         "散步|散部|散步"),
        (f"{BEGIN}{code('HYPER', 'TEXT')}{SEPARATE}散部{END}", "散部"),
        (f"{BEGIN}{code(' FORMTEXT ')}{SEPARATE}散部{BEGIN}{code('formtext')}{SEPARATE}散部{END}{END}", "散步|散步"),
        (f"{BEGIN}{code('FORMDROPDOWN')}{SEPARATE}散部{END}", "散部"),
        (f"{END}{SEPARATE}{code('REF')}散部{END}{BEGIN}{END}散部", "散步|散步"),
        (f"散部{BEGIN}{SEPARATE}散部", "散步|散部"),
        (f"{BEGIN}{code('REF a')}散部</w:p><w:p>散部{SEPARATE}散部", "散部|散步|散步"),  # never ended: to the end of the paragraph
        (f"{BEGIN}{code('HYPERLINK')}{SEPARATE}散部{BEGIN}{code('PAGE')}{SEPARATE}散部{END}</w:p><w:p>散部", "散步|散部|散步"),
        (f"{BEGIN}{BEGIN}{SEPARATE}散部</w:p><w:p>{BEGIN}{code('REF a')}{SEPARATE}散部</w:p><w:p>散部{END}散部",
         "散部|散部|散部|散步"),
        (f"{BEGIN}<w:r><w:drawing><w:p>{BEGIN}散部</w:p></w:drawing></w:r>散部</w:p><w:p>散部", "散部|散部|散步"),
        (f"<w:r><w:drawing><w:p>{BEGIN}散部</w:p></w:drawing></w:r>散部", "散部|散步"),
        (f"{BEGIN}{code('TOC')}{SEPARATE}散部</w:p><w:p>散部</w:p><w:p>{END}散部{BEGIN}</w:p><w:p>散部", "散部|散部|散步|散步"),
        (f"<w:fldSimple w:instr='AUTHOR'>{BEGIN}散部</w:fldSimple>散部</w:p><w:p>散部", "散部|散部|散步"),
        ("<w:fldSimple w:instr=' AUTHOR '>散部</w:fldSimple>散部", "散部|散步"),
        ("<w:fldSimple w:instr=' HYPERLINK a '>散部</w:fldSimple>散部", "散步|散步"),
        ("<w:fldSimple>散&#37096;高形&amp;</w:fldSimple>散部", "散&#37096;高形&amp;|散步"),
    ],
)  # fmt: skip
def test_what_comes_from_a_field_stays_but_the_text_of_links_and_forms(inner: str, expected: str) -> None:
    # Codes begin with a letter or a space, the text to be put into runs with neither.
    xml = re.sub("(?<=>)[^<>a-zA-Z ][^<>]*|^[^<>]+", r"<w:r><w:t>\g<0></w:t></w:r>", inner)
    after = corrected_xml(f"<w:p>{xml}</w:p>")
    assert "|".join(re.findall("<w:t>([^<]*)", after)) == expected
    assert TAG.findall(after) == TAG.findall(f"<w:p>{xml}</w:p>")


def test_the_code_of_a_field_that_never_ends_is_not_read() -> None:
    xml = body(f"<w:p>{BEGIN}{code('REF 散部')}</w:p><w:p>{code('REF 散部')}<w:r><w:t>好</w:t></w:r></w:p>")
    part = WordPart(xml.encode(), "p.xml", "p.xml")
    assert (part.document.text, part.document.protected) == ("\n好", ())


def test_a_field_is_read_in_its_sentence() -> None:
    xml = body(f"<w:p><w:r><w:t>见</w:t></w:r>{BEGIN}{SEPARATE}<w:r><w:t>图&#19968;</w:t></w:r>{END}</w:p>")
    part = WordPart(xml.encode(), "p.xml", "p.xml")
    assert (part.document.text, part.document.protected) == ("见图一", (Span(1, 3),))


def test_an_element_that_is_a_character_stays_whatever_a_list_says() -> None:
    data = zipped({"word/document.xml": body("<w:p><w:r><w:noBreakHyphen/><w:t>好-</w:t></w:r></w:p>")})
    after = members(correct_docx(FakeCorrector({"-": "—"}), data, None).data)["word/document.xml"].decode()
    assert after == body("<w:p><w:r><w:noBreakHyphen/><w:t>好—</w:t></w:r></w:p>")


@pytest.mark.parametrize(
    "lines, footnote, expected",
    [
        (["散部", "electra-correct: ignore-file"], "散部", ("散部", "散部", "散部")),
        (["electra-correct: ignore-file"], "散部", ("", "散部", "散部")),
        (["散部", *"123456789", "electra-correct: ignore-file"], "散部", ("散步", "散步", "散步")),
        (["散部"], "electra-correct: ignore-file 散部", ("散步", "散部", "散步")),
    ],
)
def test_ignore_file_in_the_body_is_for_all_parts(
    tmp_path: Path, lines: list[str], footnote: str, expected: tuple[str, str, str]
) -> None:
    def paragraphs(*texts: str) -> str:
        return body("".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in texts))

    parts = {"footnotes": paragraphs(footnote), "document": paragraphs(*lines), "header1": paragraphs("散部")}
    path = tmp_path / "a.docx"
    path.write_bytes(zipped({f"word/{name}.xml": xml for name, xml in parts.items()}))
    *_, last = Input(str(path), Settings()).parts(CORRECTOR)
    after = members(last.data())
    found = (re.findall("散[部步]", after[f"word/{name}.xml"].decode()) for name in ("document", "footnotes", "header1"))
    assert tuple("".join(texts) for texts in found) == expected


def test_code_is_known_by_the_name_of_its_style_and_of_those_it_is_based_on() -> None:
    document = docx.Document()
    document.styles.add_style("My Code", WD_STYLE_TYPE.PARAGRAPH).element.set(f"{{{WORD}}}styleId", "a1")
    derived = document.styles.add_style("Narrow", WD_STYLE_TYPE.PARAGRAPH)
    derived.base_style = document.styles["My Code"]
    derived.element.set(f"{{{WORD}}}styleId", "a2")
    for style in ("My Code", "Narrow", "Normal"):
        document.add_paragraph("公园散部", style=style)
    result = correct_docx(CORRECTOR, saved(document), "a.docx")
    assert [paragraph.text for paragraph in opened(result.data).paragraphs] == ["公园散部", "公园散部", "公园散步"]
    assert result.documents[0].document.protected == (Span(0, 4), Span(5, 9))


def test_utf_16_parts_stay_utf_16() -> None:
    xml = body("<w:p><w:r><w:t>\U0001f600散部</w:t></w:r></w:p>", '<?xml version="1.0" encoding="UTF-16"?>')
    for encoding, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"), ("utf-8", b"\xef\xbb\xbf")):
        data = zipped({"word/document.xml": mark + xml.encode(encoding)})
        after = members(correct_docx(CORRECTOR, data, None).data)["word/document.xml"]
        assert after == mark + xml.replace("散部", "散步").encode(encoding)


@given(st.lists(st.text(st.sampled_from("散部高形&<>]\r\n\t x\U00020000"), max_size=8), max_size=8), st.booleans())
@settings(max_examples=60, deadline=None)
def test_only_the_corrected_characters_change(texts: list[str], as_references: bool) -> None:
    def spelt(text: str) -> str:
        if as_references:
            return "".join(f"&#{ord(char)};" for char in text)
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    def xml_of(written: list[str]) -> str:
        return body("".join(f"<w:p><w:r><w:t>{spelt(text)}</w:t></w:r></w:p>" for text in written))

    data = zipped({"word/document.xml": xml_of(texts)})
    after = members(correct_docx(CORRECTOR, data, None).data)["word/document.xml"].decode()
    assert after == xml_of([text.replace("散部", "散步").replace("高形", "高兴") for text in texts])


def test_other_members_keep_their_bytes_order_times_and_flags() -> None:
    stream = io.BytesIO()
    stream.write(b"prefix")
    with zipfile.ZipFile(stream, "a") as made:
        made.comment = "注".encode()
        for number, (name, method) in enumerate(
            [("word/media/图.png", 0), ("word/document.xml", 8), ("docProps/core.xml", 8), ("[Content_Types].xml", 12)]
        ):
            info = zipfile.ZipInfo(name, (1999 + number, 12, 31, 23, 58, 2 * number))
            info.comment, info.extra, info.external_attr = b"c%d" % number, b"\xfe\xca\2\0ab", number << 16
            info.compress_type, info.create_system = method, number
            text = "<w:p><w:r><w:t>散部</w:t></w:r></w:p>" * 50
            made.writestr(info, body(text) if "document" in name else name * 9)
    data = stream.getvalue()
    after = correct_docx(CORRECTOR, data, None).data
    assert after.startswith(b"prefixPK\3\4")
    assert members(after) == members(data) | {
        "word/document.xml": members(data)["word/document.xml"].replace("部".encode(), "步".encode())
    }
    facts = ("filename", "date_time", "compress_type", "comment", "extra", "external_attr", "create_system", "flag_bits",
             "create_version", "extract_version", "internal_attr")  # fmt: skip
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(io.BytesIO(after)) as new:
        assert new.comment == old.comment
        for before, now in zip(old.infolist(), new.infolist(), strict=True):
            assert [getattr(now, fact) for fact in facts] == [getattr(before, fact) for fact in facts]


class Unseekable(io.BytesIO):
    """Makes zipfile write sizes after the data."""

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        raise OSError


OTHER_FIELD = b"\xfe\xca\2\0ab"


def with_64_bit_size(data: bytes) -> bytes:
    """The first member's size, in the directory, in 64 bits, after another extra field."""
    at, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    (size,), (name,) = struct.unpack_from("<L", data, at + 24), struct.unpack_from("<H", data, at + 28)
    extra = OTHER_FIELD + struct.pack("<2HQ", 1, 8, size)
    (whole,) = struct.unpack_from("<L", data, end + 12)
    record = data[at : at + 24] + b"\xff" * 4 + struct.pack("<2H", name, len(extra)) + data[at + 32 : at + 46 + name] + extra
    return data[:at] + record + data[at + 46 + name : end + 12] + struct.pack("<L", whole + len(extra)) + data[end + 16 :]


def streamed(data: bytes) -> bytes:
    """The same members, their sizes after their data, with room for 64 bits before it."""
    stream = Unseekable()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members(data).items():
            with made.open(name, "w", force_zip64=True) as member:
                member.write(content)
    return stream.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("made", [lambda data: data, with_64_bit_size, streamed], ids=["plain", "64 bits", "streamed"])
def test_what_stands_before_and_after_the_data_agrees_with_the_directory(method: int, made: Callable[[bytes], bytes]) -> None:
    """Other programs read an archive from its beginning, without the directory."""
    xml = body("<w:p><w:r><w:t>散部</w:t></w:r></w:p>")
    after = correct_docx(CORRECTOR, made(zipped({"word/document.xml": xml, "word/settings.xml": "x"}, method)), None).data
    assert members(after) == {"word/document.xml": xml.replace("散部", "散步").encode(), "word/settings.xml": b"x"}
    with zipfile.ZipFile(io.BytesIO(after)) as new:
        first, second = new.infolist()
    flags, _, _, _, *sizes, name, extra = struct.unpack_from("<4H3L2H", after, 6)
    expected = [first.CRC, first.compress_size, first.file_size]
    follow = bool(flags & 8)
    assert (follow, flags, extra) == (made is streamed, first.flag_bits, 0)
    assert first.extra == (OTHER_FIELD if made is with_64_bit_size else b"")
    assert sizes == ([0, 0, 0] if follow else expected)
    descriptor = after[30 + name + first.compress_size : second.header_offset]
    assert descriptor == (struct.pack("<4s3L", b"PK\7\x08", *expected) if follow else b"")


def test_replacing_nothing_gives_the_archive_back() -> None:
    data = zipped({"b": "1" * 99, "a": b"\0\xff", "中": ""})
    assert Archive(data, "a.zip").replaced({}) == data


def flagged_as_encrypted(data: bytes) -> bytes:
    at = data.index(b"PK\1\2")
    return data[: at + 8] + b"\1" + data[at + 9 :]


def with_claimed_size(data: bytes, size: int) -> bytes:
    at = data.index(b"PK\1\2") + 24
    return data[:at] + struct.pack("<L", size) + data[at + 4 :]


def at_one_place(data: bytes) -> bytes:
    """The last member said to stand at the beginning too."""
    at = data.rindex(b"PK\1\2") + 42
    return data[:at] + bytes(4) + data[at + 4 :]


GOOD = zipped({"word/document.xml": body("<w:p><w:r><w:t>散部</w:t></w:r></w:p>")})


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "damaged"),
        ("一段文字".encode(), "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old Office file (.doc, .ppt, .xls) or one with a password"),
        (GOOD[:-10], "damaged"),
        (GOOD[:60] + b"????" + GOOD[64:], "damaged"),
        (b"????" + GOOD[4:], "damaged"),
        (flagged_as_encrypted(GOOD), "encrypted"),
        (with_claimed_size(GOOD, 10), "damaged"),
        (with_claimed_size(GOOD, 5000), "word/document.xml is incomplete"),
        (at_one_place(zipped({"word/document.xml": body("<w:p><w:r><w:t>散部</w:t></w:r></w:p>"), "a": ""})), "share a name or a place"),
        (with_claimed_size(GOOD, 1 << 31), "more than 256 MiB"),
        (zipped({"word/document.xml": "x" * 99}, zipfile.ZIP_LZMA), "method 14"),
        (zipped({"xl/workbook.xml": "", "[Content_Types].xml": ""}), "an Office document, but not a Word document"),
        (zipped({"a.txt": ""}), "a zip archive, but not a Word document"),
        (zipped({"word/document.xml": "<w:document>"}), "word/document.xml:1: its XML is not well-formed"),
        (zipped({"word/document.xml": body("").replace("</w:body>", "")}), "word/document.xml:2: its XML is not well"),
        (zipped({"word/document.xml": body("", "<!DOCTYPE a [<!ENTITY b 'c'>]>")}), "document type declaration"),
        (zipped({"word/document.xml": body("", '<?xml version="1.0" encoding="GBK"?>')}), "declared as GBK"),
        (zipped({"word/document.xml": body("文").encode("gb18030")}), "neither UTF-8 nor UTF-16"),
        (
            zipped({"word/document.xml": body(""), "word/styles.xml": "?"}),
            "word/styles.xml:1: its XML is not well-formed",
        ),
    ],
)
def test_what_is_no_word_document_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match="^a.docx.*" + re.escape(message)):
        correct_docx(CORRECTOR, data, "a.docx")


def test_the_limit_is_on_all_parts_together(monkeypatch: pytest.MonkeyPatch) -> None:
    data = zipped({"word/document.xml": body(""), "word/header1.xml": body(""), "word/media/a.bin": bytes(10_000)})
    monkeypatch.setattr(archive, "MAX_UNPACKED", 2 * len(body("")))
    assert correct_docx(CORRECTOR, data, None).data is data
    monkeypatch.setattr(archive, "MAX_UNPACKED", 2 * len(body("")) - 1)
    with pytest.raises(InputError, match="claims to be more"):
        correct_docx(CORRECTOR, data, None)


def test_a_signed_document_is_refused_only_when_it_would_change() -> None:
    signed = {"word/document.xml": body("<w:p><w:r><w:t>散部</w:t></w:r></w:p>"), "_xmlsignatures/sig1.xml": "<a/>"}
    with pytest.raises(InputError, match="is signed"):
        correct_docx(CORRECTOR, zipped(signed), "a.docx")
    data = zipped(signed | {"word/document.xml": body("")})
    assert correct_docx(CORRECTOR, data, "a.docx").data is data


def overwritten(position: int, byte: int) -> bytes:
    return GOOD[:position] + bytes([byte]) + GOOD[position + 1 :]


@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255))
@settings(max_examples=200, deadline=None)
def test_a_damaged_byte_is_refused_or_harmless(position: int, byte: int) -> None:
    try:
        after = correct_docx(CORRECTOR, overwritten(position, byte), "a.docx").data
    except InputError:
        return
    expected = body("<w:p><w:r><w:t>散步</w:t></w:r></w:p>").encode()
    with zipfile.ZipFile(io.BytesIO(after)) as found:
        assert [found.read(name) for name in found.namelist()] == [expected]


def test_deep_nesting_and_many_runs() -> None:
    deep = "<w:sdt>" * 50_000 + "<w:p>" + "<w:r><w:t>散部</w:t></w:r>" * 5_000 + "</w:p>" + "</w:sdt>" * 50_000
    assert corrected_xml(deep) == deep.replace("部", "步")


def test_a_part_takes_corrections_in_any_order_and_of_any_confidence() -> None:
    part = WordPart(body("<w:p><w:r><w:t>甲乙</w:t><w:t>丙丁</w:t></w:r></w:p>").encode(), "p.xml", "p.xml")
    edits = [Correction(Span(3, 4), "丁", "四", 0.1), Correction(Span(0, 3), "甲乙丙", "一乙三", 0.9)]
    found = CorrectedDocument(part.document, tuple(edits))
    assert part.written(found) == body("<w:p><w:r><w:t>一乙</w:t><w:t>三四</w:t></w:r></w:p>").encode()
