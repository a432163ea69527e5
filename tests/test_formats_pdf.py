from __future__ import annotations

import contextlib
import io
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from corrector.errors import InputError
from corrector.formats.packages import PackageOptions
from corrector.formats.pdf_layout import Box, Glyph, PageText
from tests.fakes import FakeCorrector
from tests.packages import correct_package
from tests.pdfs import SIZE, Placed, lines, pdf
from tests.shell import Shell

pypdf = pytest.importorskip("pypdf")
pdfs = pytest.importorskip("corrector.formats.pdf")

CORRECTOR = FakeCorrector({"散部": "散步", "高形": "高兴"}, {"做": "作"})
FULL = "这一行写到了栏的尽头所以还没有完"  # 16 characters


def found_in(*pages: list[Placed]) -> list[list[str]]:
    """What is corrected on each page, a correction over a line end in two."""
    result = correct_package(CORRECTOR, pdf(*pages), "a.pdf", "pdf")
    return [[one.replacement for one in page.corrections] for page in result.documents]


def passages(*placed: Placed) -> list[str]:
    page = pdfs.PdfFile(pdf(list(placed)), "a.pdf", PackageOptions()).part("page 1")
    return [passage.text for passage in page._text.passages()]


def test_each_page_is_a_text() -> None:
    data = pdf(lines("我们去散部。", "很高形！"), [], lines("散部"))
    result = correct_package(CORRECTOR, data, "dir/a.pdf", "pdf")
    assert [page.document.path for page in result.documents] == [f"dir/a.pdf/page {number}" for number in (1, 2, 3)]
    assert {page.document.file for page in result.documents} == {"dir/a.pdf"}
    assert [page.document.text for page in result.documents] == ["我们去散部。\n很高形！", "", "散部"]
    assert [[(one.span.start, one.original, one.replacement) for one in page.corrections] for page in result.documents] == [
        [(3, "散部", "散步"), (8, "高形", "高兴")], [], [(0, "散部", "散步")],
    ]  # fmt: skip
    assert result.data == data


def test_a_line_that_is_full_goes_on_in_the_next() -> None:
    assert passages(*lines(FULL, FULL, "的。", FULL)) == [FULL + FULL + "的。", FULL]
    assert found_in(lines(FULL + "散", "部了。")) == [["步"]]
    assert passages(*lines(FULL + "，A", "B。", "又一段")) == [FULL + "，A B。", "又一段"]


@pytest.mark.parametrize(
    "following",
    [
        (50 + 2 * SIZE, 684, "缩进"),
        (50, 684 - 3 * SIZE, "很远"),
        (50, 684, "1. 项"),
        (50, 684, "（二）项"),
        (50, 684, "• 项"),
        (400, 690, "右栏"),
        (50, 720, "上面"),
    ],
)
def test_what_is_set_apart_does_not(following: Placed) -> None:
    assert passages((50, 700, FULL), following) == [FULL, following[2]]


def test_items_hang() -> None:
    first, others = lines(FULL), lines(FULL[2:], "好", left=50 + 2 * SIZE, top=684)
    assert passages(*first, *others) == [FULL + FULL[2:] + "好"]
    assert passages(*lines("（一）" + FULL[3:]), *others[:1]) == ["（一）" + FULL[3:] + FULL[2:]]
    assert passages(*lines(FULL[:-1] + "。"), *others) == [FULL[:-1] + "。", FULL[2:] + "好"]
    assert passages(*first, *others[:1], *lines("好", top=668)) == [FULL, FULL[2:] + "好"]


def test_columns_are_as_wide_as_their_lines() -> None:
    left = lines(FULL, FULL, "完。")
    right = lines(FULL + FULL, "完。", left=300)
    assert passages(*left, *right) == [FULL + FULL + "完。", FULL + FULL + "完。"]


def test_what_is_written_last_stands_in_its_place() -> None:
    assert passages((50, 700, "他说了"), (90, 700, "散部"), (80, 700, "又"), (110, 700, "好")) == ["他说了又散部好"]


def test_spaces_of_the_layout_are_none() -> None:
    def at(left: float) -> Box:
        return Box(left, 0, left + 10, 10)

    def text(*glyphs: Glyph) -> str:
        return PageText(glyphs).text

    gap = Glyph(" ", at(10), True)
    assert text(Glyph("散", at(0)), gap, Glyph("部", at(11))) == "散部"
    assert text(Glyph("散", at(0)), gap, Glyph("部", at(20))) == "散 部"
    assert text(Glyph("A", at(0)), gap, Glyph("B", at(11))) == "A B"
    assert text(Glyph("散", at(0)), Glyph(" ", at(10)), Glyph("部", at(11))) == "散 部"
    assert text(Glyph("⽂", at(0)), Glyph("\u2e81", at(10)), Glyph("\n", at(20)), Glyph(" ", at(20)), Glyph("\n", at(20))) == "文\u2e81"


def test_after_a_hyphen_there_may_be_no_line_end() -> None:
    places = (("散", 0, 20), ("-", 10, 20), ("部", 0, 4), ("2", 10, 8), ("了", 20, 4))
    page = PageText(Glyph(char, Box(left, bottom, left + 10, bottom + 10)) for char, left, bottom in places)
    assert page.text == "散-\n部2了"


def test_boxes_are_whole_lines() -> None:
    places = (("散", 0, 20), ("部", 10, 20), ("\n", 0, 0), ("高", 0, 0), ("形", 10, 0))
    page = PageText(Glyph(char, Box(left, bottom, left + 10, bottom + 9)) for char, left, bottom in places)
    assert page.boxes_of(0, 2) == [Box(0, 20, 20, 29)]
    assert page.boxes_of(1, 5) == [Box(10, 20, 20, 29), Box(0, 0, 20, 9)]


def test_unknown_characters_are_not_taken_for_others() -> None:
    data = pdf(lines("散部"), lines("散部"), []).replace(b"/ToUnicode 5 0 R", b"/Nothing 5 0 R  ")
    result = correct_package(CORRECTOR, data, "a.pdf", "pdf")
    assert [(page.document.text, page.unprocessed) for page in result.documents] == [("\ufffd\ufffd", 1), ("\ufffd\ufffd", 1), ("", 0)]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def commented(data: bytes) -> bytes:
    return correct_package(CORRECTOR, data, "a.pdf", "pdf", comments=True).data


def notes(data: bytes) -> list[tuple[int, str, list[float]]]:
    pages = pypdf.PdfReader(io.BytesIO(data), strict=True).pages
    found = ((number, note.get_object()) for number, page in enumerate(pages) for note in page.annotations or ())
    return [(number, note["/Contents"], [float(corner) for corner in note["/QuadPoints"]]) for number, note in found]


def test_comments_are_highlights_of_what_was_found() -> None:
    data = pdf(lines("我们去散部。"), lines("都好。"), lines("做高形"))
    after = commented(data)
    assert after.startswith(data)
    first, last, doubt = notes(after)
    assert first[:2] == (0, "散部 → 散步  同音 (sàn bù)  99 %")
    left, top, right, bottom = first[2][0], first[2][1], first[2][6], first[2][7]
    assert (left, right) == pytest.approx((80, 100)) and bottom < 703 < top
    assert last[0] == doubt[0] == 2 and doubt[1].startswith("做 → 作") and doubt[1].endswith("?")
    assert commented(after) == after  # nothing is said twice
    texts = [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(after)).pages]
    assert texts == [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages]
    clean = pdf(lines("都好。"))
    assert commented(clean) == clean


def test_what_other_people_said_stays() -> None:
    writer = pypdf.PdfWriter(io.BytesIO(pdf(lines("散部"))), incremental=True)
    writer.add_annotation(0, pypdf.annotations.Text(rect=(0, 0, 9, 9), text="张三说"))
    file = io.BytesIO()
    writer.write(file)
    after = commented(file.getvalue())
    assert after.startswith(file.getvalue())
    annotations = [note.get_object()["/Contents"] for note in pypdf.PdfReader(io.BytesIO(after)).pages[0].annotations]
    assert annotations[0] == "张三说" and len(annotations) == 2


def encrypted(password: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(lines("散部"))))
    writer.encrypt(password, "owner", algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is no PDF, or damaged"),
        ("散部".encode(), "is no PDF, or damaged"),
        (pdf(), "is no PDF, or damaged|has no text"),
        (pdf([], []), "has no text, only pictures; have its text recognised first"),
        (encrypted("secret"), "is locked; save it without a password"),
    ],
)
def test_what_cannot_be_read(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"^a\.pdf: ({message})"):
        correct_package(CORRECTOR, data, "a.pdf", "pdf")


def test_what_is_protected_has_no_comments_but_is_read() -> None:
    data = encrypted("")
    assert [len(page.corrections) for page in correct_package(CORRECTOR, data, "a.pdf", "pdf").documents] == [1]
    with pytest.raises(InputError, match=r"^a\.pdf: is protected, and comments cannot be put into it"):
        commented(data)


def test_what_is_signed_has_no_comments() -> None:
    field = b"/AcroForm<</Fields[<</FT/Sig/T(a)/V<</Type/Sig/ByteRange[0 1 2 3]/Contents<00>>>>>]/SigFlags 3>>"
    data = pdf(lines("散部"), extra=[field])
    with pytest.raises(InputError, match=r"^a\.pdf: is signed"):
        commented(data)
    clean = pdf(lines("都好"), extra=[field])
    assert commented(clean) == clean


def test_cut_off_at_any_place_it_is_an_error_or_read() -> None:
    data = pdf(lines("散部"))
    for end in range(0, len(data), 37):
        with contextlib.suppress(InputError):
            assert commented(data[:end]).startswith(data[:end])


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "corrector.formats.pdf")
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(InputError, match=r"^a\.pdf: pypdfium2 is not installed; pip install electra-correct\[pdf\]$"):
        correct_package(CORRECTOR, b"", "a.pdf", "pdf")


def test_one_pdf_is_reported(shell: Shell) -> None:
    data = pdf(lines("天汽很好"))
    (shell.directory / "a.pdf").write_bytes(data)
    outcome = shell.run("a.pdf")
    assert outcome.status == 0 and "a.pdf/page 1:1:1: 天汽 → 天气" in outcome.stdout.decode()
    assert shell.run("--check", "a.pdf").status == 1
    for options in ("-w a.pdf", "a.pdf -o b.pdf", "a.pdf --format text"):
        refused = shell.run(*options.split())
        assert refused.status == 123
        assert b"a.pdf: a PDF cannot be corrected; pass --format human, or --comments with -o FILE or -w" in refused.stderr
    assert shell.files() == {"a.pdf": data}
    assert shell.run("--comments", "a.pdf", "-o", "b.pdf").status == 0
    assert notes(shell.files()["b.pdf"])[0][1].startswith("天汽 → 天气")
    assert shell.run("--comments", "-w", "a.pdf").status == 0
    assert shell.files()["a.pdf"] == shell.files()["b.pdf"]


def test_the_glyphs_of_a_line_do_not_overlap() -> None:
    page = pdfs.PdfFile(pdf(lines("A散部b𠀀1")), "a.pdf", PackageOptions()).part("page 1")
    boxes = [box for box in page._text.boxes if box]
    assert len(boxes) == len(page.document.text)
    assert all(one.left <= two.left for one, two in pairwise(boxes))
