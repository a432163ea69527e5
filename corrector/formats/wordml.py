"""One part of a Word document: the text of its paragraphs, and what in it is code or comes from a field.

Only characters inside ``<w:t>`` can be written. ECMA-376 part 1, chapter 17 has the elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from corrector.formats.packages import AUTHOR
from corrector.formats.xml_parts import CODE_STYLE, Piece, XmlEvents, XmlPart, decoded, read_xml, with_derived
from corrector.types import Document, Span

_WORD = frozenset(
    {
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/wordprocessingml/main",  # the strict variant
    }
)
_OURS = "comment of ours"
_HIDDEN = frozenset({"del", "moveFrom", "rt", _OURS})  # deleted, moved away, and how a word is pronounced: not what is read
_REVISED = frozenset({"ins", "moveTo"})
_WRITTEN = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}  # elements that are characters
_TYPED = ("HYPERLINK", "FORMTEXT")  # the fields whose results people write: links, and what a form is filled in with


class WordPart(XmlPart):
    """The part ``member`` of a Word document, ``name`` for messages. ``styles`` are the identifiers of styles whose text is code.

    Raises InputError for what is not well-formed XML in UTF-8 or UTF-16.
    """

    def __init__(self, data: bytes, name: str, member: str, styles: frozenset[str] = frozenset()) -> None:
        xml = decoded(data, name)
        reader = _Reader(xml, styles)
        if unended := reader.open_fields():
            reader = _Reader(xml, styles, unended)
        super().__init__(xml, member, reader.paragraphs)
        self.runs: Sequence[Run] = reader.runs
        """Where text stands, in the order of the XML."""


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
        elif local == "name" and CODE_STYLE.search(_attribute(attributes, "val")):
            code.add(style)
        elif local == "basedOn":
            derived.setdefault(_attribute(attributes, "val"), []).append(style)

    read_xml(decoded(data, name), start)
    return with_derived(code, derived)


@dataclass(slots=True)
class Run:
    """Text of a run: offsets in the XML of the text, of the tag of its ``<w:t>``, of that of the run and of its properties, if it has any.

    ``is_inserted`` says that it has been inserted by a revision, ``is_boxed`` that it is in a text box.
    """

    start: int
    tag: int
    run_tag: int
    properties: Span | None
    is_inserted: bool
    is_boxed: bool


@dataclass
class _Field:
    """An open field, the ``number``-th of the part: how its code begins, and whether what stands in it is kept for its sake."""

    number: int
    code: str = ""
    is_kept: bool = True


@dataclass
class _Paragraph:
    """A paragraph being read, and the fields that end with it."""

    is_code: bool = False
    pieces: list[Piece] = field(default_factory=list)
    fields: list[_Field] = field(default_factory=list)


class _Reader:
    """Collects ``paragraphs``. Text boxes put paragraphs, whole, inside the runs of others.

    The fields ``unended`` go to the end of the paragraph they begin in, as one whose end is missing must not hide all that follows.
    """

    def __init__(self, xml: Document, styles: frozenset[str], unended: frozenset[int] = frozenset()) -> None:
        self._styles, self._unended = styles, unended
        self._open = ["", ""]  # names of the open elements, Word's only, under two that are not there
        self._unfinished: list[_Paragraph] = []
        self._code_runs: list[bool] = []
        self._properties: list[Span | None] = []  # of the open runs
        self._run_tags: list[int] = []
        self._properties_at = self._tag = 0
        self._fields: list[_Field] = []  # the open ones
        self._begun = self._keeping = 0  # how many there were so far; how many of the open ones are kept
        self._hidden = 0
        self.paragraphs: list[list[Piece]] = []
        self.runs: list[Run] = []
        self._xml, self._events = xml, XmlEvents(xml)
        self._events.read(self._start, self._end, self._text)

    def open_fields(self) -> frozenset[int]:
        """The numbers of the fields that the part does not end."""
        return frozenset(opened.number for opened in self._fields)

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        name = _local_name(element)
        if name == "comment" and _attribute(attributes, "author") == AUTHOR:
            name = _OURS
        grandparent, parent = self._open[-2:]
        self._open.append(name)
        if name in _HIDDEN:
            self._hidden += 1
        elif name == "p":
            self._unfinished.append(_Paragraph())
        elif name == "r":
            self._code_runs.append(bool(self._unfinished) and self._unfinished[-1].is_code)
            self._properties.append(None)
            self._run_tags.append(self._events.offset())
        elif name == "rPr" and parent == "r":
            self._properties_at = self._events.offset()
        elif name == "t":
            self._tag = self._events.offset()
        elif name == "fldSimple":
            self._field("begin")
            self._field_code(_attribute(attributes, "instr"))
            self._field("separate")
        elif name == "fldChar":
            self._field(_attribute(attributes, "fldCharType"))
        elif parent == "r" and name in _WRITTEN:
            self._add(Piece(_WRITTEN[name]))
        elif name == "pStyle" and (parent, grandparent) == ("pPr", "p"):
            self._unfinished[-1].is_code = self._is_code(attributes)
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
            self._properties.pop()
            self._run_tags.pop()
        elif name == "rPr" and self._open[-1] == "r":
            self._properties[-1] = Span(self._properties_at, self._end_of_properties())
        elif name == "fldSimple":
            self._field("end")
        elif name == "p":
            paragraph = self._unfinished.pop()
            self.paragraphs.append(paragraph.pieces)
            for unended in paragraph.fields:
                self._release(unended)

    def _end_of_properties(self) -> int:
        """Where they end: of ``<w:rPr/>`` expat says where the tag ends, of any other element where its end tag begins."""
        xml, at = self._xml.text, self._events.offset()
        is_empty = xml.startswith("/>", at - 2) and xml.find(">", self._properties_at) == at - 1
        return at if is_empty else xml.index(">", at) + 1

    def _text(self, piece: Piece) -> None:
        if self._open[-1] == "instrText":
            self._field_code(piece.text)
        elif self._open[-1] == "t":
            self._add(piece)
            if self._properties:
                inserted, boxed = not _REVISED.isdisjoint(self._open), "txbxContent" in self._open
                self.runs.append(Run(piece.start, self._tag, self._run_tags[-1], self._properties[-1], inserted, boxed))

    def _add(self, piece: Piece) -> None:
        if self._unfinished and not self._hidden:
            is_code = self._code_runs[-1] if self._code_runs else self._unfinished[-1].is_code
            self._unfinished[-1].pieces.append(piece._replace(kept=is_code or self._keeping > 0))

    def _field(self, event: str) -> None:
        """Begins a field, its result, which ``separate`` stands before, or what follows it; fields nest."""
        if event == "begin":
            self._begun += 1
            self._keeping += 1
            self._fields.append(_Field(self._begun))
            if self._unfinished and self._begun in self._unended:
                self._unfinished[-1].fields.append(self._fields[-1])
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

    def _is_code(self, attributes: dict[str, str]) -> bool:
        style = _attribute(attributes, "val")
        return style in self._styles or CODE_STYLE.search(style) is not None


def _local_name(element: str) -> str:
    """The name of an element of Word's; nothing for any other."""
    namespace, _, name = element.rpartition(" ")
    return name if namespace in _WORD else ""


def _attribute(attributes: dict[str, str], name: str) -> str:
    return next((attributes[key] for key in (f"{uri} {name}" for uri in _WORD) if key in attributes), "")
