"""The text of one XML part of an office document: its paragraphs as a reader sees them, and where in the XML each character stands.

Expat, in the standard library, reads the XML and says where. What its elements mean each kind of document knows by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape

from corrector.errors import InputError
from corrector.formats.builder import PassageBuilder
from corrector.formats.passages import Passage
from corrector.text.files import decode
from corrector.text.protect import merged
from corrector.types import CorrectedDocument, Correction, Document, Span

if TYPE_CHECKING:
    from corrector.command import DocumentCorrector

CODE_STYLE = re.compile(
    r"(?<![A-Za-z])[Cc]ode|Code|(?i:verbatim|preformatted|typewriter|macro|listing|teletype|source(?: |_20_)text)|代码|源码|预设格式"
)
"""Names of styles for what machines read: HTML Code, HTML Preformatted, macro; Pandoc's Source Code and Verbatim Char;
LibreOffice's Source Text and Teletype."""

TYPEWRITER = re.compile(r"courier|consolas|menlo|monaco|mono(?:space|lisa)?\b|\bcode\b", re.IGNORECASE)
"""Names of fonts for code, for kinds of documents where hardly anyone names styles of characters."""

_REFERENCE = re.compile(r"&(?:#x?[0-9A-Fa-f]{1,16}|[A-Za-z]{1,16});")


class Piece(NamedTuple):
    """Text of a paragraph, which begins at ``start`` in the XML. Each character takes ``width`` there, or cannot be written
    with 0; what is ``kept`` never changes."""

    text: str
    start: int = 0
    width: int = 0
    kept: bool = False


class XmlPart:
    """The text of a part, ``document``: its paragraphs, a line each, with what must not change in it protected."""

    def __init__(self, xml: Document, member: str, paragraphs: Iterable[Iterable[Piece]]) -> None:
        self.xml = xml
        self._passage = _passage(xml, paragraphs)
        protected = merged((*self._passage.protected, *_unwritten(self._passage)))
        self.document = Document(xml.path, self._passage.text, protected=protected, part=member)

    def correct(self, corrector: DocumentCorrector, marked: Document) -> CorrectedDocument:
        """The corrections in ``document``, of which ``marked`` may protect more."""
        return corrector.correct_document(marked)

    def written(self, found: CorrectedDocument) -> bytes | None:
        """The XML with the corrections made; None without any."""
        return rewritten(self.xml, self.changed(found.corrections)) if found.corrections else None

    def changed(self, corrections: Iterable[Correction]) -> Iterator[tuple[Span, str]]:
        """The places in the XML of the characters that corrections change, and what they become."""
        return ((self.place(offset), new) for offset, new in changed_characters(corrections))

    def place(self, index: int) -> Span:
        """Where the character at an offset of the text stands in the XML; empty for one that cannot be written."""
        places = self._passage.places
        return Span(places + index, places + index + 1) if isinstance(places, int) else places[index]


def changed_characters(corrections: Iterable[Correction]) -> Iterator[tuple[int, str]]:
    """The offsets of the characters that corrections change, and what they become."""
    for correction in corrections:
        for index, (old, new) in enumerate(zip(correction.original, correction.replacement, strict=True)):
            if old != new:
                yield correction.span.start + index, new


def decoded(data: bytes, name: str) -> Document:
    """The XML in ``data``. Raises InputError for what is neither UTF-8 nor UTF-16."""
    try:
        return decode(data, name)
    except InputError:
        raise InputError(name, "its XML is neither UTF-8 nor UTF-16; the file is damaged") from None


class XmlEvents:
    """The events of an XML document: ``read`` calls, and while it does ``offset`` says where in the document it is."""

    def __init__(self, xml: Document) -> None:
        self._xml, self._data = xml, xml.text.encode()
        self._byte = self._character = 0  # the same place, counted in both ways
        self._parser = expat.ParserCreate("utf-8", " ")
        self._parser.XmlDeclHandler = self._declaration
        self._parser.StartDoctypeDeclHandler = self._document_type

    def read(
        self,
        start: Callable[[str, dict[str, str]], None],
        end: Callable[[str], None] | None = None,
        text: Callable[[Piece], None] | None = None,
    ) -> None:
        """Calls ``start`` and ``end`` for every element, named ``namespace name``, and ``text`` for what stands in them.

        A character reference is a piece by itself. Raises InputError for what is not well-formed, is declared to be in another encoding
        than UTF-8 or UTF-16, or has a document type declaration, which no office document may have.
        """
        self._parser.StartElementHandler = start
        self._parser.EndElementHandler = end
        if text is not None:
            self._parser.CharacterDataHandler = lambda shown: text(self._piece(shown))
        try:
            self._parser.Parse(self._data, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise InputError(self._name, f"its XML is not well-formed ({reason})", error.lineno) from None

    def offset(self) -> int:
        """Where what is being reported begins, in code points."""
        byte = self._parser.CurrentByteIndex
        self._character += len(self._data[self._byte : byte].decode())
        self._byte = byte
        return self._character

    @property
    def _name(self) -> str:
        return self._xml.path or ""

    def _piece(self, shown: str) -> Piece:
        start = self.offset()
        reference = _REFERENCE.match(self._xml.text, start)
        if reference and len(shown) == 1:
            return Piece(shown, start, len(reference[0]))
        return Piece(shown, start, int(self._data.startswith(shown.encode(), self._byte)))

    def _declaration(self, _: str, encoding: str | None, __: int) -> None:
        if encoding is not None and encoding.upper() not in ("UTF-8", "UTF-16", "US-ASCII"):
            raise InputError(self._name, f"its XML is declared as {encoding}; office programs write UTF-8 or UTF-16")

    def _document_type(self, *_: object) -> None:
        raise InputError(self._name, "its XML has a document type declaration, as no office document may have")


def read_xml(
    xml: Document,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None] | None = None,
    text: Callable[[Piece], None] | None = None,
) -> None:
    """Reads a document whose offsets are not wanted; as ``XmlEvents.read``."""
    XmlEvents(xml).read(start, end, text)


def rewritten(xml: Document, characters: Iterable[tuple[Span, str]]) -> bytes:
    """The XML with other characters in some places; a character reference is replaced by a character reference."""
    return edited(xml, ((place, spelt_like(xml.text[place.start : place.end], char)) for place, char in characters))


def edited(xml: Document, edits: Iterable[tuple[Span, str]]) -> bytes:
    """The XML with other XML in some places, none of which overlap."""
    parts: list[str] = []
    done = 0
    for place, text in sorted(edits):
        parts += (xml.text[done : place.start], text)
        done = place.end
    return "".join((*parts, xml.text[done:])).encode(xml.encoding)


def with_derived(styles: Iterable[str], derived: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """These styles and all that are based on one of them; ``derived`` says which are, step by step."""
    found = set(styles)
    waiting = list(found)
    while waiting:
        new = [style for style in derived.get(waiting.pop(), ()) if style not in found]
        found.update(new)
        waiting += new
    return frozenset(found)


def _passage(xml: Document, paragraphs: Iterable[Iterable[Piece]]) -> Passage:
    """All the text; none of it has a place when nothing in it could change."""
    builder = PassageBuilder(xml.text)
    lines: list[str] = []
    for paragraph in paragraphs:
        if lines:
            builder.context("\n")
        pieces = tuple(paragraph)
        lines.append("".join(piece.text for piece in pieces))
        for text, start, width, kept in pieces:
            if width == 1:
                builder.verbatim(start, start + len(text), frozen=kept)
            elif width and not kept:
                builder.written(text, start, start + width)
            else:
                builder.context(text)
    text = "\n".join(lines)
    return builder.build() or Passage(text, [Span(0, 0)] * len(text))


def _unwritten(passage: Passage) -> Iterator[Span]:
    """The characters in lines that the XML has no place for: references in what is kept, elements."""
    if not isinstance(passage.places, int):
        for index, (char, place) in enumerate(zip(passage.text, passage.places, strict=True)):
            if not place and char != "\n":
                yield Span(index, index + 1)


def spelt_like(written: str, char: str) -> str:
    """``char`` as a character reference if ``written`` is one, of the same kind; else as XML has it."""
    if not written.startswith("&#"):
        return escape(char)
    if not written.startswith("&#x"):
        return f"&#{ord(char)};"
    digits = f"{ord(char):x}"
    return f"&#x{digits.upper() if re.search('[A-F]', written) else digits};"
