"""Word documents (``.docx``, ``.docm``): body, headers, footers, footnotes, endnotes, comments, diagrams and charts.

A paragraph is read over its runs, whatever their styles; deleted text, fields but links and what was typed into forms, code and what
is marked as not to be proofed are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from corrector.apply import apply
from corrector.errors import InputError
from corrector.formats.archive import Archive
from corrector.formats.drawingml import drawing_part
from corrector.formats.packages import SIGNATURES_OF_OFFICE, PackageOptions, Separate, not_a
from corrector.formats.revisions import with_revisions
from corrector.formats.wordml import WordPart, code_styles
from corrector.formats.xml_parts import XmlPart
from corrector.types import Correction, Document

_STYLES = re.compile(r"word/styles\d*\.xml", re.ASCII)
# Word names its parts so, with a number where there are several; some programs number the body as well.
_BODY = re.compile(r"word/document\d*\.xml", re.ASCII)
_TEXT = re.compile(r"word/(?:document|header|footer|footnotes|endnotes|comments)\d*\.xml", re.ASCII)
_COMMENTS = re.compile(r"word/comments\d*\.xml", re.ASCII)  # in which Word tracks no changes
_DRAWN = re.compile(r"word/(?:diagrams/(?:data|drawing)|charts/chart)\d*\.xml", re.ASCII)


class Docx(Separate):
    """The Word document in ``archive``. Raises InputError when it is none, or its styles cannot be read."""

    signatures = SIGNATURES_OF_OFFICE

    def __init__(self, archive: Archive, options: PackageOptions) -> None:
        self._archive, self._track_changes = archive, options.track_changes
        bodies = tuple(filter(_BODY.fullmatch, archive.names))
        if not bodies:
            raise not_a("a Word document", archive, "word/document.xml")
        others = (name for name in archive.names if name not in bodies and (_TEXT.fullmatch(name) or _DRAWN.fullmatch(name)))
        self.members = (*bodies, *others)
        self._styles: frozenset[str] = frozenset()
        for member in filter(_STYLES.fullmatch, archive.names):
            self._styles |= code_styles(archive.read(member), f"{archive.path}/{member}")

    def part(self, member: str) -> XmlPart:
        """The text of a member."""
        data, name = self._archive.read(member), f"{self._archive.path}/{member}"
        if _DRAWN.fullmatch(member):
            return drawing_part(data, name, member)
        kind = _RevisedPart if self._track_changes and not _COMMENTS.fullmatch(member) else WordPart
        return kind(data, name, member, self._styles)


class _RevisedPart(WordPart):
    """A part whose corrections are revisions."""

    def corrected(self, corrections: Iterable[Correction]) -> bytes:
        """The XML with the revisions. Raises InputError, as it must not be lost, where it would not read as the corrected text."""
        corrected = tuple(corrections)
        data, document = with_revisions(self, corrected), self.document
        if _text(data, document) != apply(document.text, corrected):
            raise InputError(document.path or "", "its corrections cannot be written as revisions; leave --track-changes out")
        return data


def _text(data: bytes, document: Document) -> str | None:
    """What a part reads as; None if it is damaged."""
    try:
        return WordPart(data, document.path or "", document.part).document.text
    except InputError:
        return None
