"""One part of a Word document: the text of its paragraphs as a reader sees it, and where in the XML each character stands.

Expat, in the standard library, reads the XML and says where; only characters inside ``<w:t>`` can be written. ECMA-376
part 1, chapter 17 has the elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape

from corrector.errors import InputError
from corrector.formats.builder import PassageBuilder
from corrector.formats.passages import Passage
from corrector.text.files import decode
from corrector.text.protect import merged
from corrector.types import Correction, Document, Span

_WORD = frozenset(
    {
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/wordprocessingml/main",  # the strict variant
    }
)
_HIDDEN = frozenset({"del", "moveFrom", "rt"})  # deleted, moved away, and how a word is pronounced: not what is read
_WRITTEN = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}  # elements that are characters
_TYPED = ("HYPERLINK", "FORMTEXT")  # the fields whose results people write: links, and what a form is filled in with
_REFERENCE = re.compile(r"&(?:#x?[0-9A-Fa-f]{1,16}|[A-Za-z]{1,16});")
_CODE = re.compile(r"(?<![A-Za-z])[Cc]ode|Code|(?i:verbatim|preformatted|typewriter|macro|listing)|代码|源码|预设格式")
"""Names of styles for what machines read: HTML Code, HTML Preformatted, macro; Pandoc's Source Code and Verbatim Char."""


class Part:
    """The XML of a part, ``name`` for messages: ``text`` is its paragraphs, a line each, ``protected`` what is code in it or
    comes from a field.

    ``styles`` are the identifiers of styles whose text is code. Raises InputError for what is not well-formed XML in UTF-8
    or UTF-16, or has a document type declaration, which no Word document may have.
    """

    def __init__(self, data: bytes, name: str, styles: frozenset[str] = frozenset()) -> None:
        self._document = _decoded(data, name)
        reader = _Reader(self._document, styles)
        if unended := reader.open_fields():
            reader = _Reader(self._document, styles, unended)
        self._passage = reader.passage()
        self.text = self._passage.text
        self.protected = merged((*self._passage.protected, *_unwritten(self._passage)))

    def corrected(self, corrections: Iterable[Correction]) -> bytes:
        """The XML with corrections of ``text`` made; a character reference is replaced by a character reference."""
        xml = self._document.text
        written: list[tuple[Span, str]] = []
        for correction in corrections:
            for index, (old, new) in enumerate(zip(correction.original, correction.replacement, strict=True)):
                if old != new:
                    place = self._place(correction.span.start + index)
                    written.append((place, _spelt_like(xml[place.start : place.end], new)))
        parts: list[str] = []
        done = 0
        for place, text in sorted(written):
            parts += (xml[done : place.start], text)
            done = place.end
        return "".join((*parts, xml[done:])).encode(self._document.encoding)

    def _place(self, index: int) -> Span:
        places = self._passage.places
        return Span(places + index, places + index + 1) if isinstance(places, int) else places[index]


def code_styles(data: bytes, name: str) -> frozenset[str]:
    """The identifiers of the styles in ``styles.xml`` that are named like code, or based on one that is."""
    code: set[str] = set()
    derived: dict[str, list[str]] = {}
    style = ""

    def start(element: str, attributes: dict[str, str]) -> None:
        nonlocal style
        local = _local_name(element)
        if local == "style":
            style = _attribute(attributes, "styleId")
        elif local == "name" and _CODE.search(_attribute(attributes, "val")):
            code.add(style)
        elif local == "basedOn":
            derived.setdefault(_attribute(attributes, "val"), []).append(style)

    document = _decoded(data, name)
    parser = _parser(document)
    parser.StartElementHandler = start
    _parse(parser, document)
    waiting = list(code)
    while waiting:
        new = [style for style in derived.get(waiting.pop(), ()) if style not in code]
        code.update(new)
        waiting += new
    return frozenset(code)


@dataclass
class _Field:
    """An open field, the ``number``-th of the part: how its code begins, and whether what stands in it is kept for its sake."""

    number: int
    code: str = ""
    is_kept: bool = True


@dataclass
class _Paragraph:
    """A paragraph being read: (text, start in the XML, width of a character there or 0, is kept) of its pieces, and fields
    that end with it."""

    is_code: bool = False
    pieces: list[tuple[str, int, int, bool]] = field(default_factory=list)
    fields: list[_Field] = field(default_factory=list)


class _Reader:
    """Collects paragraphs from the events of the parser. Text boxes put paragraphs, whole, inside the runs of others.

    The fields ``unended`` go to the end of the paragraph they begin in, as one whose end is missing must not hide all that follows.
    """

    def __init__(self, document: Document, styles: frozenset[str], unended: frozenset[int] = frozenset()) -> None:
        self._styles, self._unended = styles, unended
        self._xml, self._data = document.text, document.text.encode()
        self._bytes = self._characters = 0  # the same place in the XML, counted in both ways
        self._open = ["", ""]  # names of the open elements, Word's only, under two that are not there
        self._paragraphs: list[_Paragraph] = []
        self._code_runs: list[bool] = []
        self._fields: list[_Field] = []  # the open ones
        self._begun = self._keeping = 0  # how many there were so far; how many of the open ones are kept
        self._hidden = 0
        self._lines: list[str] = []
        self._builder = PassageBuilder(document.text)
        self._parser = _parser(document)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        _parse(self._parser, document)

    def passage(self) -> Passage:
        """All the text; none of it has a place when nothing in it could change."""
        text = "\n".join(self._lines)
        return self._builder.build() or Passage(text, [Span(0, 0)] * len(text))

    def open_fields(self) -> frozenset[int]:
        """The numbers of the fields that the part does not end."""
        return frozenset(opened.number for opened in self._fields)

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        name = _local_name(element)
        grandparent, parent = self._open[-2:]
        self._open.append(name)
        if name in _HIDDEN:
            self._hidden += 1
        elif name == "p":
            self._paragraphs.append(_Paragraph())
        elif name == "r":
            self._code_runs.append(bool(self._paragraphs) and self._paragraphs[-1].is_code)
        elif name == "fldSimple":
            self._field("begin")
            self._field_code(_attribute(attributes, "instr"))
            self._field("separate")
        elif name == "fldChar":
            self._field(_attribute(attributes, "fldCharType"))
        elif parent == "r" and name in _WRITTEN:
            self._add(_WRITTEN[name], 0, 0)
        elif name == "pStyle" and (parent, grandparent) == ("pPr", "p"):
            self._paragraphs[-1].is_code = self._is_code(attributes)
        elif name == "rStyle" and (parent, grandparent) == ("rPr", "r"):
            self._code_runs[-1] |= self._is_code(attributes)
        elif name == "noProof" and (parent, grandparent) == ("rPr", "r"):
            self._code_runs[-1] |= _attribute(attributes, "val") not in ("0", "false", "off")

    def _end(self, _: str) -> None:
        name = self._open.pop()
        if name in _HIDDEN:
            self._hidden -= 1
        elif name == "r":
            self._code_runs.pop()
        elif name == "fldSimple":
            self._field("end")
        elif name == "p":
            paragraph = self._paragraphs.pop()
            self._finish(paragraph)
            for unended in paragraph.fields:
                self._release(unended)

    def _text(self, text: str) -> None:
        """A piece of text: expat gives what stands as it is, and every reference by itself."""
        if self._open[-1] == "instrText":
            self._field_code(text)
        if self._open[-1] != "t":
            return
        at = self._parser.CurrentByteIndex
        start = self._character_at(at)
        reference = _REFERENCE.match(self._xml, start)
        if reference and len(text) == 1:
            self._add(text, start, len(reference[0]))
        else:
            self._add(text, start, int(self._data.startswith(text.encode(), at)))

    def _add(self, text: str, start: int, width: int) -> None:
        if self._paragraphs and not self._hidden:
            is_code = self._code_runs[-1] if self._code_runs else self._paragraphs[-1].is_code
            self._paragraphs[-1].pieces.append((text, start, width, is_code or self._keeping > 0))

    def _field(self, event: str) -> None:
        """Begins a field, its result, which ``separate`` stands before, or what follows it; fields nest."""
        if event == "begin":
            self._begun += 1
            self._keeping += 1
            self._fields.append(_Field(self._begun))
            if self._paragraphs and self._begun in self._unended:
                self._paragraphs[-1].fields.append(self._fields[-1])
        elif self._fields and event == "separate" and self._fields[-1].code.upper().startswith(_TYPED):
            self._release(self._fields[-1])
        elif self._fields and event == "end":
            self._release(self._fields.pop())

    def _release(self, opened: _Field) -> None:
        """What follows is not kept for the sake of this field."""
        self._keeping -= opened.is_kept
        opened.is_kept = False

    def _field_code(self, text: str) -> None:
        """A piece of the code of the innermost field."""
        if self._fields:
            innermost = self._fields[-1]
            innermost.code = (innermost.code + text).lstrip()[: max(map(len, _TYPED))]

    def _finish(self, paragraph: _Paragraph) -> None:
        """Adds a complete paragraph to the text."""
        if self._lines:
            self._builder.context("\n")
        self._lines.append("".join(text for text, *_ in paragraph.pieces))
        for text, start, width, is_kept in paragraph.pieces:
            if width == 1:
                self._builder.verbatim(start, start + len(text), frozen=is_kept)
            elif width and not is_kept:
                self._builder.written(text, start, start + width)
            else:
                self._builder.context(text)

    def _is_code(self, attributes: dict[str, str]) -> bool:
        style = _attribute(attributes, "val")
        return style in self._styles or _CODE.search(style) is not None

    def _character_at(self, byte: int) -> int:
        """The offset in code points of a byte that lies at or after the one asked for last."""
        self._characters += len(self._data[self._bytes : byte].decode())
        self._bytes = byte
        return self._characters


def _unwritten(passage: Passage) -> Iterator[Span]:
    """The characters in lines that the XML has no place for: references in what is kept, elements."""
    if not isinstance(passage.places, int):
        for index, (char, place) in enumerate(zip(passage.text, passage.places, strict=True)):
            if not place and char != "\n":
                yield Span(index, index + 1)


def _decoded(data: bytes, name: str) -> Document:
    try:
        return decode(data, name)
    except InputError:
        raise InputError(name, "its XML is neither UTF-8 nor UTF-16; the file is damaged") from None


def _parser(document: Document) -> expat.XMLParserType:
    """A parser that says ``namespace name`` for names and takes UTF-8, whatever the document was in."""

    def declaration(_: str, encoding: str | None, __: int) -> None:
        if encoding is not None and encoding.upper() not in ("UTF-8", "UTF-16", "US-ASCII"):
            raise InputError(document.path or "", f"its XML is declared as {encoding}; Word writes UTF-8 or UTF-16")

    def document_type(*_: object) -> None:
        raise InputError(document.path or "", "its XML has a document type declaration, as no Word document may have")

    parser = expat.ParserCreate("utf-8", " ")
    parser.XmlDeclHandler = declaration
    parser.StartDoctypeDeclHandler = document_type
    return parser


def _parse(parser: expat.XMLParserType, document: Document) -> None:
    try:
        parser.Parse(document.text.encode(), True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise InputError(document.path or "", f"its XML is not well-formed ({reason})", error.lineno) from None


def _local_name(element: str) -> str:
    """The name of an element of Word's; nothing for any other."""
    namespace, _, name = element.rpartition(" ")
    return name if namespace in _WORD else ""


def _attribute(attributes: dict[str, str], name: str) -> str:
    return next((attributes[key] for key in (f"{uri} {name}" for uri in _WORD) if key in attributes), "")


def _spelt_like(written: str, char: str) -> str:
    """``char`` as a character reference if ``written`` is one, of the same kind; else as XML has it."""
    if not written.startswith("&#"):
        return escape(char)
    if not written.startswith("&#x"):
        return f"&#{ord(char)};"
    digits = f"{ord(char):x}"
    return f"&#x{digits.upper() if re.search('[A-F]', written) else digits};"
