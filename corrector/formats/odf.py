"""OpenDocument texts and presentations (``.odt``, ``.odp``): what was typed into paragraphs and headings, also in notes, frames and tables.

Fields, code and deleted text are left alone. OpenDocument 1.3 part 3, chapters 5 to 7 and 16, has the elements.
"""

from __future__ import annotations

from corrector.errors import InputError
from corrector.formats.archive import Archive
from corrector.formats.packages import PackageOptions, Separate, not_a
from corrector.formats.xml_parts import CODE_STYLE, TYPEWRITER, Piece, XmlPart, decoded, read_xml, with_derived
from corrector.types import Document

_CONTENT, _STYLES = "content.xml", "styles.xml"  # page headers and footers are in the latter
_MANIFEST = "META-INF/manifest.xml"
_NAMESPACE = "urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _STYLE = f"{_NAMESPACE}text:1.0 ", f"{_NAMESPACE}style:1.0 "
_FONT = (f"{_STYLE}font-name", f"{_NAMESPACE}xsl-fo-compatible:1.0 font-family")

_PARAGRAPHS = frozenset({"p", "h"})
_TYPED = _PARAGRAPHS | {"span", "a", "meta", "ruby", "ruby-base", "text-input"}
"""Paragraphs and the elements in them whose text people write; any other is a field."""
_HIDDEN = frozenset({"tracked-changes", "ruby-text", "note-citation", "index-body"})  # deleted, how it is pronounced, generated
_WRITTEN = {"s": " ", "tab": "\t", "line-break": "\n"}  # elements that are characters


class OpenDocument(Separate):
    """The text or presentation in ``archive``. Raises InputError when it is none, or has a password."""

    signatures = "META-INF/documentsignatures.xml"

    def __init__(self, archive: Archive, _: PackageOptions) -> None:
        if _CONTENT not in archive.names:
            raise not_a("an OpenDocument text", archive, _CONTENT)
        if _MANIFEST in archive.names and b":encryption-data" in archive.read(_MANIFEST):
            raise InputError(archive.path, "is encrypted; save the file without a password first")
        self.members = tuple(name for name in (_CONTENT, _STYLES) if name in archive.names)
        self._xml = {name: decoded(archive.read(name), f"{archive.path}/{name}") for name in self.members}
        self._styles = _code_styles(self._xml[_STYLES]) if _STYLES in self._xml else frozenset()

    def part(self, member: str) -> XmlPart:
        """The text of a member."""
        xml = self._xml[member]
        styles = self._styles if member == _STYLES else _code_styles(xml, self._styles)
        return XmlPart(xml, member, _Reader(xml, styles).paragraphs)


def _code_styles(xml: Document, known: frozenset[str] = frozenset()) -> frozenset[str]:
    """The styles of a part that are named like code, or based on one that is or on a ``known`` one; with the known ones."""
    code = set(known)
    derived: dict[str, list[str]] = {}
    style = family = ""

    def start(element: str, attributes: dict[str, str]) -> None:
        nonlocal style, family
        if element == f"{_STYLE}style":
            style, family = attributes.get(f"{_STYLE}name", ""), attributes.get(f"{_STYLE}family", "")
            if CODE_STYLE.search(style) or CODE_STYLE.search(attributes.get(f"{_STYLE}display-name", "")):
                code.add(style)
            derived.setdefault(attributes.get(f"{_STYLE}parent-style-name", ""), []).append(style)
        elif element == f"{_STYLE}text-properties" and family == "text":  # of characters, not of all that is in a paragraph
            if any(TYPEWRITER.search(attributes.get(name, "")) for name in _FONT):
                code.add(style)
        elif element == f"{_STYLE}default-style":
            family = ""

    read_xml(xml, start)
    return with_derived(code, derived)


class _Reader:
    """Collects ``paragraphs``. Notes and frames put paragraphs, whole, inside others."""

    def __init__(self, xml: Document, styles: frozenset[str]) -> None:
        self._styles = styles
        self._open: list[tuple[str, bool]] = []  # of the open elements the name, if they are of text, and whether what is in them is kept
        self._unfinished: list[list[Piece]] = []
        self._hidden = 0
        self.paragraphs: list[list[Piece]] = []
        read_xml(xml, self._start, self._end, self._text)

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        name = element.removeprefix(_TEXT) if element.startswith(_TEXT) else ""
        is_code = attributes.get(f"{_TEXT}style-name", "") in self._styles
        around = bool(self._open) and self._open[-1][1] and name not in _PARAGRAPHS
        self._open.append((name, around or is_code or name not in _TYPED))
        if name in _HIDDEN:
            self._hidden += 1
        elif name in _PARAGRAPHS:
            self._unfinished.append([])
        elif name in _WRITTEN:
            count = attributes.get(f"{_TEXT}c", "") if name == "s" else ""
            self._add(Piece(_WRITTEN[name] * (min(int(count), 100) if count.isdecimal() else 1)))

    def _end(self, _: str) -> None:
        name, _kept = self._open.pop()
        if name in _HIDDEN:
            self._hidden -= 1
        elif name in _PARAGRAPHS:
            self.paragraphs.append(self._unfinished.pop())

    def _text(self, piece: Piece) -> None:
        name, kept = self._open[-1]
        if not name:  # such as the author of a comment
            return
        shown = Piece(" ") if piece.text.isspace() else piece  # expat gives line breaks by themselves
        self._add(shown._replace(kept=kept))

    def _add(self, piece: Piece) -> None:
        if self._unfinished and not self._hidden and piece.text:
            self._unfinished[-1].append(piece)
