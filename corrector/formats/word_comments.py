"""The comments of a Word document: those that there are, and suggestions that are put there.

ECMA-376 part 1, section 17.13.4 has the elements, part 2 the relationships and content types of parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape

from corrector.errors import InputError
from corrector.formats.archive import Archive
from corrector.formats.packages import AUTHOR
from corrector.formats.revisions import now, numbers_in
from corrector.render.describe import described
from corrector.text.files import encode
from corrector.types import Correction

MEMBER = "word/comments.xml"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_TYPES = "[Content_Types].xml"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
_TRANSITIONAL = ("http://schemas.openxmlformats.org/wordprocessingml/2006/main", "http://schemas.openxmlformats.org/officeDocument/2006/relationships")
_STRICT = ("http://purl.oclc.org/ooxml/wordprocessingml/main", "http://purl.oclc.org/ooxml/officeDocument/relationships")
_END = re.compile(r"</((?:[^\s<>/:]+:)?)(comments|Types|Relationships)\s*>\s*\Z")
_EMPTY = re.compile(r"(<((?:[^\s<>/:]+:)?(?:comments|Types|Relationships))\b[^<>]*?)\s*/>\s*\Z")
_OURS = re.compile(rf"""<(?:[^\s<>/:]+:)?comment\s[^>]*author=["']{AUTHOR}["'][^>]*>""")
"""The beginnings of comments that were made here before."""


class WordComments:
    """The comments of the document in ``archive`` whose text is in ``body``, with those that are added."""

    def __init__(self, archive: Archive, body: str) -> None:
        self._archive, self._body = archive, body
        self._relations = f"word/_rels/{body.rpartition('/')[2]}.rels"
        self._xml = archive.read(MEMBER).decode("utf-8", "replace") if MEMBER in archive.names else ""
        self.made = frozenset(number for tag in _OURS.findall(self._xml) for number in numbers_in(tag))
        """The numbers of the comments that an earlier run has made."""
        self._next = 1 + max(numbers_in(self._xml), default=-1)
        self._added: list[str] = []

    def add(self, suggestion: Correction, anchor: Callable[[int], bool]) -> None:
        """Adds the comment on a suggestion, if ``anchor`` finds a place for its number."""
        if anchor(self._next):
            text = escape(described(suggestion, is_made=False))
            self._added.append(
                f'<{{0}}comment {{0}}id="{self._next}" {{0}}author="{AUTHOR}" {{0}}date="{now()}" {{0}}initials="ec">'
                f'<{{0}}p><{{0}}r><{{0}}t xml:space="preserve">{text}</{{0}}t></{{0}}r></{{0}}p></{{0}}comment>'
            )
            self._next += 1

    def members(self, changed: Mapping[str, bytes]) -> dict[str, bytes]:
        """The members that change by the comments, those that are ``changed`` already in that form; none without comments.

        Raises InputError for a document whose parts are not as Word writes them.
        """
        if not self._added:
            return {}
        namespace, relations = _STRICT if _STRICT[0].encode() in self._archive.read(self._body) else _TRANSITIONAL
        new = {}
        if not self._xml:
            new[MEMBER] = f'{_DECLARATION}<w:comments xmlns:w="{namespace}"></w:comments>'.encode()
            new[_TYPES] = self._with(_TYPES, changed, f'<{{0}}Override PartName="/{MEMBER}" ContentType="{_TYPE}"/>')
            relation = f'<{{0}}Relationship Id="rIdElectraCorrect" Type="{relations}/comments" Target="comments.xml"/>'
            new[self._relations] = self._with(self._relations, changed, relation)
        new[MEMBER] = self._with(MEMBER, {**changed, **new}, "".join(self._added))
        return new

    def _with(self, member: str, changed: Mapping[str, bytes], added: str) -> bytes:
        """A member with more before its end tag."""
        name = f"{self._archive.path}/{member}"
        data = changed.get(member) or (self._archive.read(member) if member in self._archive.names else b"")
        try:
            xml = data.decode("utf-8")
        except UnicodeDecodeError:
            xml = ""
        if empty := _EMPTY.search(xml):
            xml = f"{xml[: empty.end(1)]}></{empty[2]}>"
        end = _END.search(xml)
        if end is None:
            raise InputError(name, "comments cannot be put into it; leave --comments out")
        return encode(f"{xml[: end.start()]}{added.replace('{0}', end[1])}{xml[end.start() :]}", "utf-8", name)
