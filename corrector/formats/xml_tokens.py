"""XML to tags and text with their offsets, by expat. A document that is not well-formed is an error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal
from xml.parsers import expat

from corrector.errors import InputError
from corrector.text.decode import STDIN
from corrector.types import Document


@dataclass(slots=True)
class Element:
    """An element by its local name; ``mixed`` says that text other than white space stands directly in it."""

    name: str
    attributes: dict[str, str]
    parent: Element | None
    mixed: bool = False


@dataclass(frozen=True, slots=True)
class XmlTag:
    """The start or the end of an element."""

    kind: Literal["start", "end"]
    element: Element


@dataclass(frozen=True, slots=True)
class XmlText:
    """Text from ``start`` to ``end``, seen as it is written or, where that is something else, as ``shown``."""

    start: int
    end: int
    shown: str | None = None
    cdata: bool = False


@dataclass
class _Reader:
    """Collects what expat reports. Expat counts bytes of UTF-8, we count characters; both move forward together."""

    text: str
    data: bytes
    character: int  # the offset in ``text`` of what begins at ``byte`` of ``data``
    byte: int = 0
    cdata: bool = False
    open: Element | None = None
    tokens: list[XmlTag | XmlText] = field(default_factory=list)

    def read(self) -> list[XmlTag | XmlText]:
        """All tokens. Raises ExpatError."""
        parser = expat.ParserCreate("utf-8")  # whatever the declaration says: the text is decoded already
        parser.buffer_text = False
        self._parser = parser
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartCdataSectionHandler = lambda: self._in_cdata(True)
        parser.EndCdataSectionHandler = lambda: self._in_cdata(False)
        parser.DefaultHandler = self._other  # with it, declared entities are reported as written, not expanded
        parser.Parse(self.data, True)
        return self.tokens

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.open = Element(name.rpartition(":")[2], attributes, self.open)
        self.tokens.append(XmlTag("start", self.open))

    def _end(self, name: str) -> None:
        if self.open is not None:  # expat reports no end without a start
            self.tokens.append(XmlTag("end", self.open))
            self.open = self.open.parent

    def _in_cdata(self, inside: bool) -> None:
        self.cdata = inside

    def _characters(self, shown: str) -> None:
        if self.open is not None and not shown.isspace():
            self.open.mixed = True
        start = self._offset()
        if self.text.startswith(shown, start) and (self.cdata or shown != "&"):  # an & by itself is how &amp; begins
            self.tokens.append(XmlText(start, start + len(shown), None, self.cdata))
        else:  # a reference, or \r\n, which expat reports as \n
            self.tokens.append(XmlText(start, start, shown, self.cdata))

    def _other(self, written: str) -> None:
        if self.open is not None and written.startswith("&"):
            self.open.mixed = True
            start = self._offset()
            self.tokens.append(XmlText(start, start, written, self.cdata))

    def _offset(self) -> int:
        """The offset in ``text`` of what is being reported."""
        byte = self._parser.CurrentByteIndex
        self.character += len(self.data[self.byte : byte].decode("utf-8"))
        self.byte = byte
        return self.character


def xml_tokens(document: Document) -> Iterator[XmlTag | XmlText]:
    """The tags and the text of a document, complete before the first: whether an element is mixed is known by then.

    Comments, processing instructions and the document type declaration are left out. Raises InputError, with the line,
    for a document that is not well-formed.
    """
    mark = 1 if document.text.startswith("\ufeff") else 0
    path = document.path or STDIN
    try:
        data = document.text[mark:].encode("utf-8")
    except UnicodeEncodeError as error:
        line = document.text.count("\n", 0, error.start + mark) + 1
        raise InputError(path, "cannot be read as XML: a surrogate without its other half", line) from None
    try:
        yield from _Reader(document.text, data, mark).read()
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        message = f"cannot be read as XML: {reason}, column {error.offset + 1}; correct the markup first, or pass --input-format text"
        raise InputError(path, message, error.lineno) from None
