"""Word documents (``.docx``, ``.docm``): body, headers, footers, footnotes, endnotes, comments, diagrams and charts.

A paragraph is read over its runs, whatever their styles; deleted text, fields but links and what was typed into forms, code and what
is marked as not to be proofed are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from corrector.formats.archive import Archive
from corrector.formats.drawingml import drawing_part
from corrector.formats.packages import SIGNATURES_OF_OFFICE, Separate, not_a
from corrector.formats.wordml import code_styles, word_part
from corrector.formats.xml_parts import XmlPart

_STYLES = re.compile(r"word/styles\d*\.xml", re.ASCII)
# Word names its parts so, with a number where there are several; some programs number the body as well.
_BODY = re.compile(r"word/document\d*\.xml", re.ASCII)
_TEXT = re.compile(r"word/(?:document|header|footer|footnotes|endnotes|comments)\d*\.xml", re.ASCII)
_DRAWN = re.compile(r"word/(?:diagrams/(?:data|drawing)|charts/chart)\d*\.xml", re.ASCII)


class Docx(Separate):
    """The Word document in ``archive``. Raises InputError when it is none, or its styles cannot be read."""

    signatures = SIGNATURES_OF_OFFICE

    def __init__(self, archive: Archive, _: Sequence[str] = ()) -> None:
        self._archive = archive
        bodies = tuple(filter(_BODY.fullmatch, archive.names))
        if not bodies:
            raise not_a("a Word document", archive, "word/document.xml")
        others = (name for name in archive.names if name not in bodies and (_TEXT.fullmatch(name) or _DRAWN.fullmatch(name)))
        self.members = (*bodies, *others)
        self._styles: frozenset[str] = frozenset()
        for member in filter(_STYLES.fullmatch, archive.names):
            self._styles |= code_styles(archive.read(member), f"{archive.path}/{member}")

    def part(self, member: str) -> XmlPart:
        data, name = self._archive.read(member), f"{self._archive.path}/{member}"
        return drawing_part(data, name, member) if _DRAWN.fullmatch(member) else word_part(data, name, member, self._styles)
