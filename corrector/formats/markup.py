"""HTML and XML: the text between the tags is prose, sentences go on over inline tags and end at block tags.

Attributes, comments, declarations, scripts, styles and preformatted text stay as they are. A character that is written
as a reference such as ``&#20013;`` is read as what it stands for and never changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from corrector.formats.builder import PassageBuilder
from corrector.formats.html_tokens import Tag, html_tokens
from corrector.formats.passages import Passage
from corrector.formats.xml_tokens import Element, XmlTag, xml_tokens
from corrector.types import Document

_BREAKING = frozenset(
    {
        "address", "article", "aside", "base", "blockquote", "body", "br", "button", "caption", "center",
        "col", "colgroup", "datalist", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6",
        "head", "header", "hgroup", "hr", "html", "iframe", "input", "legend", "li", "main", "menu",
        "nav", "noframes", "noscript", "ol", "optgroup", "option", "p",
        "plaintext", "pre", "section", "select", "summary", "table", "tbody",
        "td", "template", "textarea", "tfoot", "th", "thead", "title", "tr", "ul", "video", "audio",
        "xmp",
    }
)  # fmt: skip
"""Elements at whose edges a reader's line ends (HTML standard, section 15.3, and controls with texts of their own)."""

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

_RUBY_TEXTS = ("rt", "rp")
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
                reader.opened(element.name, _reading(element.name, element.attributes, _HIDDEN))
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


def _breaks(element: Element) -> bool:
    return element.parent is None or not element.parent.mixed or element.name.lower() in _BREAKING


def _reading(name: str, attributes: Mapping[str, str], hidden: frozenset[str]) -> str:
    """How the text of an element is read: ``prose``, ``context`` (read, never changed) or ``hidden``."""
    if name.lower() in hidden:
        return "hidden"
    language = attributes.get("lang", attributes.get("xml:lang", "")).lower()
    translate = attributes.get("translate", attributes.get("its:translate", "")).lower()
    kept = translate == "no" or "notranslate" in attributes.get("class", "").split()
    if name.lower() in _CONTEXT or kept or language.partition("-")[0] in ("ja", "ko"):
        return "context"
    return "prose"


class ProseReader:
    """Reads text and tags of ``source`` in order and puts the passages together."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._builder = PassageBuilder(source)
        self._frozen: list[tuple[str, str]] = []  # open elements that are not prose, and those of the same names in them
        self._names: Counter[str] = Counter()  # of ``_frozen``
        self._hidden = 0  # how many of ``_frozen`` are hidden

    def tag(self, tag: Tag) -> Iterator[Passage]:
        """A tag of HTML; yields the passage that it ends, if any."""
        if tag.name in _BREAKING:
            yield from self.edge()
        if tag.name in ("ruby", *_RUBY_TEXTS):  # any of these tags ends the texts beside a word, which need no end tags
            for name in _RUBY_TEXTS:
                self.closed(name)
        if tag.kind == "end":
            self.closed(tag.name)
        elif tag.name not in _VOID and not (tag.self_closing and tag.name in ("svg", "math")):
            self.opened(tag.name, _reading(tag.name, tag.attributes, _HTML_HIDDEN))

    def opened(self, name: str, reading: str) -> None:
        """An element has begun."""
        if reading != "prose" or self._names[name]:
            self._frozen.append((name, reading))
            self._names[name] += 1
            self._hidden += reading == "hidden"

    def closed(self, name: str) -> None:
        """An element has ended, and with it those in it that were never closed; an end without a start is nothing."""
        while self._names[name]:
            inner, reading = self._frozen.pop()
            self._names[inner] -= 1
            self._hidden -= reading == "hidden"
            if inner == name:
                return

    def text(self, start: int, end: int, keeps_lines: bool = False, frozen: bool = False) -> None:
        """Text as it is written; its line breaks are spaces unless it ``keeps_lines``."""
        if self._hidden:
            return
        frozen = frozen or bool(self._frozen)
        if not keeps_lines:
            for match in _LINE_BREAK.finditer(self._source, start, end):
                self._builder.verbatim(start, start + len(self._source[start : match.start()].rstrip(_SPACES)), frozen)
                self._builder.gap()
                start = match.end()
        self._builder.verbatim(start, end, frozen)

    def shown(self, text: str, keeps_lines: bool = False) -> None:
        """Text that is written in some other way; it never changes."""
        if self._hidden:
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
        if not self._hidden:
            yield from self.passage()

    def passage(self) -> Iterator[Passage]:
        """The passage that ends here, if any."""
        if passage := self._builder.build():
            yield passage
