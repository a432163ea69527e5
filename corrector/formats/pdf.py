"""PDF: the text of each page is read over its lines. Nothing in it changes; what was found can be put there as comments.

PDFium tells the characters and where they stand, in an order that is mostly that of reading.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pypdfium2
from pypdfium2 import raw as pdfium

from corrector.errors import InputError
from corrector.formats.packages import LEAST_CONFIDENCE, PackageOptions
from corrector.formats.passages import correct_passages
from corrector.formats.pdf_comments import PdfComments
from corrector.formats.pdf_layout import Box, Glyph, PageText
from corrector.text.decode import STDIN
from corrector.types import CorrectedDocument, Document

if TYPE_CHECKING:
    from corrector.command import DocumentCorrector

_UNKNOWN = "\ufffd"
"""A character of which the file does not tell what it is."""

_MEANT = {"\0": _UNKNOWN, "\x02": "-", "\ufffe": "-"}
"""What PDFium has for these, and for a hyphen at the end of a line."""


class PdfFile:
    """A PDF, page by page. Raises InputError for what is none, damaged, encrypted or without text, or cannot have comments."""

    def __init__(self, data: bytes, path: str | None, options: PackageOptions) -> None:
        self._data, self._path = data, path or STDIN
        try:
            self._document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            locked = "assword" in str(error)
            raise InputError(self._path, "is locked; save it without a password" if locked else "is no PDF, or damaged") from None
        numbers = range(len(self._document))
        self.members = tuple(f"page {number + 1}" for number in numbers)
        if not any(pdfium.FPDFText_CountChars(self._page(number).get_textpage()) for number in numbers):
            raise InputError(self._path, "has no text, only pictures; have its text recognised first")
        self._comments = PdfComments(data, self._path) if options.comments else None

    def part(self, member: str) -> PdfPage:
        """The text of a page."""
        number = self.members.index(member)
        text = PageText(_glyphs(self._page(number)))
        return PdfPage(text, Document(f"{self._path}/{member}", text.text, part=member), number, self._comments)

    def refuse_signed(self) -> None:
        """Raises InputError when comments would break a signature."""
        if pdfium.FPDF_GetSignatureCount(self._document) > 0:
            raise InputError(self._path, "is signed, and comments would break the signature; comment on an unsigned copy")

    def replaced(self, changed: Mapping[str, bytes]) -> bytes:
        """The file with the comments on the pages ``changed``; the very data it was made from where there are none."""
        return self._comments.written() if self._comments and changed else self._data

    def _page(self, number: int) -> Any:
        try:
            return self._document[number]
        except pypdfium2.PdfiumError:
            raise InputError(self._path, f"page {number + 1} is damaged") from None


class PdfPage:
    """The text of a page; what is found in it becomes ``comments``, if there are to be any."""

    def __init__(self, text: PageText, document: Document, number: int, comments: PdfComments | None) -> None:
        self._text, self.document = text, document
        self._number, self._comments = number, comments

    def correct(self, corrector: DocumentCorrector, marked: Document) -> CorrectedDocument:
        """The corrections in ``document``, of which ``marked`` may protect more; a page of mostly unknown characters is not processed."""
        found = correct_passages(corrector, marked, self._text.passages())
        text = self.document.text
        is_unreadable = 2 * text.count(_UNKNOWN) > sum(not char.isspace() for char in text)
        return dataclasses.replace(found, unprocessed=found.unprocessed + is_unreadable)

    def written(self, found: CorrectedDocument) -> bytes | None:
        """Adds the comments; None where there are none to add. They are not in a part of their own, so that it has no bytes."""
        if self._comments is None:
            return None
        made = [(one, True) for one in found.corrections]
        doubtful = [(one, False) for one in found.suggestions if one.confidence >= LEAST_CONFIDENCE]
        added = [
            self._comments.add(self._number, one, self._text.boxes_of(one.span.start, one.span.end), is_made)
            for one, is_made in (*made, *doubtful)
        ]
        return b"" if any(added) else None


def _glyphs(page: Any) -> Iterator[Glyph]:
    """The characters of a page in the order in which PDFium reads them."""
    text, box = page.get_textpage(), pdfium.FS_RECTF()
    high = ""  # the first half of a pair
    for index in range(pdfium.FPDFText_CountChars(text)):
        char = high + chr(pdfium.FPDFText_GetUnicode(text, index))
        high = char if "\ud800" <= char <= "\udbff" else ""
        if high:
            continue
        char = char.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")[0]
        if pdfium.FPDFText_HasUnicodeMapError(text, index) == 1:
            char = _UNKNOWN
        pdfium.FPDFText_GetLooseCharBox(text, index, box)
        is_gap = char == " " and pdfium.FPDFText_IsGenerated(text, index) == 1
        yield Glyph(_MEANT.get(char, char), Box(box.left, box.bottom, box.right, box.top), is_gap)
