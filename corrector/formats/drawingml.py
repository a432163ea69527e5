"""One part with DrawingML text: slides and their notes, diagrams, charts. ECMA-376 part 1, chapter 21 has the elements.

Only characters inside ``<a:t>`` and in the comments of older versions can be written.
"""

from __future__ import annotations

from corrector.formats.languages import is_not_chinese
from corrector.formats.xml_parts import TYPEWRITER, Piece, XmlPart, decoded, read_xml
from corrector.types import Document

_DRAWING = frozenset(
    {
        "http://schemas.openxmlformats.org/drawingml/2006/main",
        "http://purl.oclc.org/ooxml/drawingml/main",  # the strict variant
    }
)
_COMMENT = frozenset(
    {
        "http://schemas.openxmlformats.org/presentationml/2006/main text",
        "http://purl.oclc.org/ooxml/presentationml/main text",
    }
)


def drawing_part(data: bytes, name: str, member: str) -> XmlPart:
    """The part ``member`` of a document, ``name`` for messages. Raises InputError for what is not well-formed XML in UTF-8 or UTF-16."""
    xml = decoded(data, name)
    return XmlPart(xml, member, _Reader(xml).paragraphs)


class _Reader:
    """Collects ``paragraphs``. What a field shows, such as the number of the slide, is kept, and so are code and runs not to be proofed."""

    def __init__(self, xml: Document) -> None:
        self._open: list[str] = []  # names of the open elements, DrawingML's only
        self._unfinished: list[list[Piece]] = []
        self._kept = False  # whether the run is
        self.paragraphs: list[list[Piece]] = []
        read_xml(xml, self._start, self._end, self._text)

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        name = _local_name(element)
        self._open.append(name)
        if name in ("p", "comment"):
            self._unfinished.append([])
        elif name in ("r", "fld"):
            self._kept = name == "fld"
        elif name == "rPr":
            self._kept |= attributes.get("noProof") in ("1", "true") or is_not_chinese(attributes.get("lang", ""))
        elif name == "latin" and self._open[-2:-1] == ["rPr"]:
            self._kept |= TYPEWRITER.search(attributes.get("typeface", "")) is not None
        elif name == "br" and self._unfinished:
            self._unfinished[-1].append(Piece("\n"))

    def _end(self, _: str) -> None:
        name = self._open.pop()
        if name in ("p", "comment"):
            self.paragraphs.append(self._unfinished.pop())

    def _text(self, piece: Piece) -> None:
        if self._unfinished and self._open[-1] in ("t", "comment"):
            self._unfinished[-1].append(piece._replace(kept=self._kept and self._open[-1] == "t"))


def _local_name(element: str) -> str:
    """The name of an element of DrawingML's, ``comment`` for the text of a comment; nothing for any other."""
    namespace, _, name = element.rpartition(" ")
    if namespace in _DRAWING:
        return name
    return "comment" if element in _COMMENT else ""
