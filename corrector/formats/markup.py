"""HTML and XML: the text between the tags is prose, sentences go on over inline tags and end at block tags.

Attributes, comments, declarations, scripts, styles and preformatted text stay as they are. A character that is written
as a reference such as ``&#20013;`` is read as what it stands for and never changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from corrector.formats.builder import PassageBuilder
from corrector.formats.html_elements import BLOCKS, OpenElements, Reading
from corrector.formats.html_tokens import Tag, html_tokens
from corrector.formats.languages import is_not_chinese
from corrector.formats.passages import Passage
from corrector.formats.xml_tokens import Element, XmlTag, xml_tokens
from corrector.types import Document

_VOID = frozenset(
    {
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
        "track", "wbr",
    }
)  # fmt: skip

_HIDDEN = frozenset(
    {
        "script", "style", "pre", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext", "rt", "rp",
        "programlisting", "screen", "literallayout",
    }
)  # fmt: skip
_CONTEXT = frozenset(
    {
        "code", "kbd", "samp", "var", "tt", "literal", "filename", "command", "userinput", "computeroutput",
        "codeph", "codeblock", "url", "uri",
    }
)  # fmt: skip
"""Elements whose text is not prose: not read at all, or read as a part of the sentence; HTML's, DocBook's and DITA's."""

_TRANSLATIONS = frozenset({"xliff", "TS"})
_SOURCES = frozenset({"source", "oldsource", "note", "comment", "extracomment", "translatorcomment", "alt-trans", "seg-source"})
"""Documents with translations, XLIFF and those of Qt, and the elements in them that are not shown to any user."""

_HTML_HIDDEN = _HIDDEN | {"svg", "math"}
_SPACES = " \t\f"
_LINE_BREAK = re.compile(rf"[\r\n][{_SPACES}\r\n]*")  # the spaces before it are not sought, which could take quadratic time


@dataclass(frozen=True, slots=True)
class Html:
    """HTML in whatever state: no input is an error."""

    name: str = "html"
    streams: bool = False

    def passages(self, document: Document) -> Iterator[Passage]:
        return html_passages(document.text)


@dataclass(frozen=True, slots=True)
class Xml:
    """Well-formed XML. Where text stands beside an element, the element is inline, elsewhere it ends the sentence."""

    name: str = "xml"
    streams: bool = False

    def passages(self, document: Document) -> Iterator[Passage]:
        """The passages. Raises InputError, with the line, before the first one if the document is not well-formed."""
        reader = ProseReader(document.text)
        keeps_lines = [False]
        hidden: frozenset[str] | None = None
        for token in xml_tokens(document):
            if not isinstance(token, XmlTag):
                if token.shown is None:
                    reader.text(token.start, token.end, keeps_lines[-1], token.cdata)
                else:
                    reader.shown(token.shown, keeps_lines[-1])
                continue
            element = token.element
            if _breaks(element):
                yield from reader.edge()
            if token.kind == "start":
                space = element.attributes.get("xml:space")
                keeps_lines.append(keeps_lines[-1] if space is None else space == "preserve")
                if hidden is None:  # the root
                    hidden = _HIDDEN | _SOURCES if element.name in _TRANSLATIONS else _HIDDEN
                reader.opened(element.name, reading_of(element.name, element.attributes, hidden))
            else:
                keeps_lines.pop()
                reader.closed(element.name)
        yield from reader.passage()


def format_named(name: str, column: str | Sequence[str] | None) -> Html | Xml:
    """``html`` or ``xml``; neither has columns."""
    return Xml() if name == "xml" else Html()


def html_passages(source: str, start: int = 0, end: int | None = None) -> Iterator[Passage]:
    """The passages of the HTML in ``source[start:end]``, in offsets of ``source``."""
    reader = ProseReader(source)
    for token in html_tokens(source, start, end):
        if isinstance(token, Tag):
            yield from reader.tag(token)
        elif token.shown is None:
            reader.text(token.start, token.end)
        else:
            reader.shown(token.shown)
    yield from reader.passage()


def reading_of(name: str, attributes: Mapping[str, str], hidden: frozenset[str] = frozenset()) -> Reading:
    """How the text of an element is read."""
    if name.lower() in hidden:
        return "hidden"
    language = attributes.get("lang", attributes.get("xml:lang", ""))
    translate = attributes.get("translate", attributes.get("its:translate", "")).lower()
    kept = translate == "no" or attributes.get("translatable") == "false" or "notranslate" in attributes.get("class", "").split()
    if name.lower() in _CONTEXT or kept or is_not_chinese(language):
        return "context"
    return "prose"


def _breaks(element: Element) -> bool:
    return element.parent is None or not element.parent.mixed or element.name.lower() in BLOCKS


class ProseReader:
    """Reads text and tags of ``source`` in order and puts the passages together."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._builder = PassageBuilder(source)
        self._elements = OpenElements()

    def tag(self, tag: Tag) -> Iterator[Passage]:
        """A tag of HTML; yields the passage that it ends, if any."""
        if tag.kind == "end":
            self.closed(tag.name)
        else:
            self._elements.make_way(tag.name)
        if tag.name in BLOCKS:
            yield from self.edge()
        if tag.kind == "start" and tag.name not in _VOID and not (tag.self_closing and tag.name in ("svg", "math")):
            self.opened(tag.name, reading_of(tag.name, tag.attributes, _HTML_HIDDEN))

    def opened(self, name: str, reading: Reading) -> None:
        """An element has begun."""
        self._elements.begin(name, reading)

    def closed(self, name: str) -> None:
        """An element has ended."""
        self._elements.end(name)

    def text(self, start: int, end: int, keeps_lines: bool = False, frozen: bool = False) -> None:
        """Text as it is written; its line breaks are spaces unless it ``keeps_lines``."""
        if self._elements.hidden:
            return
        frozen = frozen or self._elements.kept > 0
        if not keeps_lines:
            for match in _LINE_BREAK.finditer(self._source, start, end):
                self._builder.verbatim(start, start + len(self._source[start : match.start()].rstrip(_SPACES)), frozen)
                self._builder.gap()
                start = match.end()
        self._builder.verbatim(start, end, frozen)

    def shown(self, text: str, keeps_lines: bool = False) -> None:
        """Text that is written in some other way; it never changes."""
        if self._elements.hidden:
            return
        if text == "\n" and not keeps_lines:
            self.gap()
        else:
            self._builder.context(text)

    def gap(self) -> None:
        """A line break that a reader does not see."""
        self._builder.gap()

    def edge(self) -> Iterator[Passage]:
        """The passage that ends at the edge of a block, if any; what is hidden has no edges."""
        if not self._elements.hidden:
            yield from self.passage()

    def passage(self) -> Iterator[Passage]:
        """The passage that ends here, if any."""
        yield from self._builder.passages()
