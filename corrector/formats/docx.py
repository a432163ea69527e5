"""Word documents (``.docx``, ``.docm``): body, headers, footers, footnotes, endnotes, comments, diagrams and charts.

A paragraph is read over its runs, whatever their styles; deleted text, fields but links and what was typed into forms, code and what
is marked as not to be proofed are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from corrector.apply import corrected_text
from corrector.errors import InputError
from corrector.formats.archive import Archive
from corrector.formats.drawingml import drawing_part
from corrector.formats.packages import LEAST_CONFIDENCE, SIGNATURES_OF_OFFICE, PackageOptions, PackagePart, not_a
from corrector.formats.revisions import Revisions
from corrector.formats.word_comments import WordComments
from corrector.formats.wordml import WordPart, code_styles
from corrector.types import CorrectedDocument, Document

_STYLES = re.compile(r"word/styles\d*\.xml", re.ASCII)
# Word names its parts so, with a number where there are several; some programs number the body as well.
_BODY = re.compile(r"word/document\d*\.xml", re.ASCII)
_TEXT = re.compile(r"word/(?:document|header|footer|footnotes|endnotes|comments)\d*\.xml", re.ASCII)
_COMMENTS = re.compile(r"word/comments\d*\.xml", re.ASCII)  # in which Word tracks no changes
_DRAWN = re.compile(r"word/(?:diagrams/(?:data|drawing)|charts/chart)\d*\.xml", re.ASCII)


class Docx:
    """The Word document in ``archive``. Raises InputError when it is none, or its styles cannot be read."""

    signatures = SIGNATURES_OF_OFFICE

    def __init__(self, archive: Archive, options: PackageOptions) -> None:
        self._archive, self._options = archive, options
        bodies = tuple(filter(_BODY.fullmatch, archive.names))
        if not bodies:
            raise not_a("a Word document", archive, "word/document.xml")
        others = (name for name in archive.names if name not in bodies and (_TEXT.fullmatch(name) or _DRAWN.fullmatch(name)))
        self.members = (*bodies, *others)
        self._comments = WordComments(archive, bodies[0]) if options.comments else None
        self._styles: frozenset[str] = frozenset()
        for member in filter(_STYLES.fullmatch, archive.names):
            self._styles |= code_styles(archive.read(member), f"{archive.path}/{member}")

    def part(self, member: str) -> PackagePart:
        """The text of a member."""
        data, name = self._archive.read(member), f"{self._archive.path}/{member}"
        if _DRAWN.fullmatch(member):
            return drawing_part(data, name, member)
        part = WordPart(data, name, member, self._styles)
        track_changes = self._options.track_changes and not _COMMENTS.fullmatch(member)
        comments = self._comments if member == self.members[0] else None  # only the body can have any
        return _RevisedPart(part, track_changes, comments) if track_changes or comments else part

    def common(self, changed: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """What the new comments are in."""
        return self._comments.members(changed) if self._comments else {}


class _RevisedPart:
    """A part whose corrections are revisions if that is asked for, and whose suggestions are in ``comments`` if there are any."""

    def __init__(self, part: WordPart, track_changes: bool, comments: WordComments | None) -> None:
        self._part, self._track_changes, self._comments = part, track_changes, comments
        self.document, self.correct = part.document, part.correct

    def written(self, found: CorrectedDocument) -> bytes | None:
        """The XML with what was found. Raises InputError, as it must not be lost, where it would not read as the corrected text."""
        revisions = Revisions(self._part)
        if self._track_changes:
            revisions.track(found.corrections)
        else:
            revisions.change(found.corrections)
        if self._comments is not None:
            for suggestion in found.suggestions:
                if suggestion.confidence >= LEAST_CONFIDENCE and not revisions.has_comment(suggestion, self._comments.made):
                    self._comments.add(suggestion, partial(revisions.comment, suggestion))
        data = revisions.written()
        if data is not None and _text(data, self.document) != corrected_text(found):
            what = "what was found cannot be written into it; leave --track-changes and --comments out"
            raise InputError(self.document.path or "", what)
        return data


def _text(data: bytes, document: Document) -> str | None:
    """What a part reads as; None if it is damaged."""
    try:
        return WordPart(data, document.path or "", document.part).document.text
    except InputError:
        return None
