"""Comments in a PDF: highlights with a text (ISO 32000-1, 12.5.6.10), appended to the file."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator, Sequence
from functools import reduce

from pypdf import PdfReader
from pypdf.annotations import Highlight
from pypdf.errors import PyPdfError
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, TextStringObject

from corrector.errors import InputError
from corrector.formats.packages import AUTHOR
from corrector.formats.pdf_layout import Box
from corrector.formats.pdf_update import PdfUpdate
from corrector.render.describe import described
from corrector.types import Correction

logging.getLogger("pypdf").addHandler(logging.NullHandler())  # what it has to say of a file goes to whoever asks for it only

_CORRECTION, _SUGGESTION = "ff9696", "ffe678"  # red and yellow, as they show on white

_DAMAGED = (PyPdfError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What pypdf raises for files that are not as they should be."""

_Comment = tuple[int, str, tuple[int, int]]  # the page from 0, the text, and the upper left corner in whole points


class PdfComments:
    """The comments of the PDF in ``data`` by an earlier run, with those that are added. Raises InputError where none can be put."""

    def __init__(self, data: bytes, path: str) -> None:
        self._path = path
        self._added: dict[int, list[Highlight]] = {}
        try:
            self._reader = PdfReader(io.BytesIO(data))
            if self._reader.is_encrypted:
                raise InputError(path, "is protected, and comments cannot be put into it; comment on a copy that is not")
            self._update = PdfUpdate(data, self._reader)
            self._there = set(_comments(self._reader))
        except _DAMAGED:
            raise InputError(path, "comments cannot be put into it, as its structure is damaged; leave --comments out") from None

    def add(self, page: int, correction: Correction, boxes: Sequence[Box], is_made: bool) -> bool:
        """Adds the comment on a correction, or suggestion, around what stands in ``boxes`` on a page, counted from 0; whether it is new."""
        text = described(correction, is_made)
        if (page, text, (round(boxes[0].left), round(boxes[0].top))) in self._there:
            return False
        whole = reduce(Box.joined, boxes)
        rect = whole.left, whole.bottom, whole.right, whole.top
        corners = ArrayObject(FloatObject(number) for box in boxes for number in _corners(box))
        highlight = Highlight(rect=rect, quad_points=corners, highlight_color=_CORRECTION if is_made else _SUGGESTION, printing=True)
        highlight[NameObject("/Contents")] = TextStringObject(text)
        highlight[NameObject("/T")] = TextStringObject(AUTHOR)
        self._added.setdefault(page, []).append(highlight)
        return True

    def written(self) -> bytes:
        """The file with the comments."""
        for number, highlights in self._added.items():
            page = self._reader.pages[number]
            notes = ArrayObject(page.get("/Annots", ()))
            notes += [self._update.add(highlight) for highlight in highlights]
            self._update.replace(page.indirect_reference, DictionaryObject({**page, NameObject("/Annots"): notes}))
        return self._update.written()


def _corners(box: Box) -> tuple[float, ...]:
    """As programs expect them: the upper ones first, each from the left."""
    return box.left, box.top, box.right, box.top, box.left, box.bottom, box.right, box.bottom


def _comments(reader: PdfReader) -> Iterator[_Comment]:
    """Those that an earlier run has put there."""
    for number, page in enumerate(reader.pages):
        for note in page.annotations or ():
            found = note.get_object()
            if found.get("/T") == AUTHOR and len(corners := found.get("/QuadPoints", ())) >= 2:
                yield number, str(found.get("/Contents")), (round(float(corners[0])), round(float(corners[1])))
