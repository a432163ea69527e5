"""reStructuredText: paragraphs, titles, lists, notes, tables and captions are prose; sentences go on over the lines of a paragraph.

Code, mathematics, comments, options, names of fields and people, roles, targets and addresses stay. The specification of docutils,
"reStructuredText Markup Specification", has the constructs; the roles and directives of Sphinx are known, too.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corrector.formats.builder import PassageBuilder
from corrector.formats.lines import lines
from corrector.formats.passages import Passage
from corrector.types import Document

_NOTES = frozenset({"note", "warning", "tip", "hint", "important", "attention", "caution", "danger", "error", "seealso", "todo"})
"""Directives whose content begins on their first line."""

_TITLED = frozenset(
    {"admonition", "topic", "sidebar", "rubric", "table", "list-table", "centered", "dropdown", "card", "tab-item", "grid-item-card"}
)
"""Directives whose first line is a title."""

_PROSE = _NOTES | _TITLED | {
    "epigraph", "highlights", "pull-quote", "compound", "container", "figure", "deprecated", "versionadded", "versionchanged",
    "versionremoved", "only", "tab-set", "grid", "hlist", "class", "function", "method", "attribute", "data", "module", "exception",
    "py:function", "py:class", "py:method", "py:attribute", "py:data", "py:module", "py:exception", "option", "confval", "glossary",
}  # fmt: skip
"""Directives whose content is prose; that of any other is not."""

_VERSIONED = frozenset({"deprecated", "versionadded", "versionchanged", "versionremoved"})  # a version, and then prose

_ADORNMENT = re.compile(r"[ \t]*([!-/:-@\[-`{-~])\1{2,}[ \t]*\Z|[ \t]*[=+][-=+ \t]+\Z")
_EXPLICIT = re.compile(r"[ \t]*\.\.(?:[ \t]+|\Z)")
_DIRECTIVE = re.compile(r"(?:\|[^|\n]+\|[ \t]+)?([A-Za-z][\w:+.-]*?)::(?:[ \t]+|\Z)")
_VERSION = re.compile(r"\S+[ \t]*")
_NOTE = re.compile(r"\[[^\]\n]+\][ \t]+")
_EXAMPLE = re.compile(r"[ \t]*>>>[ \t]")  # of Python
_OPTION = re.compile(r"[ \t]*:[\w-]+:(?:[ \t]|\Z)")
_FIELD = re.compile(r"[ \t]*:(?!`)((?:[^:\n\\]|\\.){1,80}):(?:[ \t]+|\Z)")
_PEOPLE = re.compile(r"(?i)authors?|translators?|original|contact|address|copyright|作者|译者|翻译|原文|校译|审校")
"""The names of fields with names and addresses."""
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣]|\|(?=[ \t])|(?:\(?(?:[0-9]{1,3}|[A-Za-z]|#)[.)]))[ \t]+")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*\Z")
# Every repeat is bounded, so that it is linear.
_INLINE = re.compile(
    r"(?P<kept>``[^`\n]{1,1000}``|:[A-Za-z][\w:+.-]{0,60}:`[^`\n]{1,1000}`|`[^`<\n]{1,1000}`(?::[\w:+.-]{1,60}:|__?)?"
    r"|(?<!\w)\|[^|\s][^|\n]{0,100}\|_{0,2}|\[[^\]\s]{1,100}\]_)"
    r"|`(?P<shown>[^`<>\n]{1,1000}?)[ \t]{0,9}<[^`<>\n]{1,1000}>`__?"
    r"|\\(?P<escaped>.)"
    r"|\*\*?"
)
_REFERENCES = re.compile(r"`([^`<>\n]{1,200})`_|:ref:`(?:[^`<>\n]{0,200}<)?([^`<>\n]{1,200})>?`")


@dataclass(frozen=True, slots=True)
class Rst:
    """reStructuredText in whatever state: no input is an error."""

    name: str = "rst"
    streams: bool = False

    def passages(self, document: Document) -> Iterator[Passage]:
        """The passages, in order. A title that something in the document refers to by its text is an anchor."""
        names = {"".join(found).strip() for found in _REFERENCES.findall(document.text)}
        for passage in _Reader(document.text).passages():
            yield dataclasses.replace(passage, anchor=True) if passage.text.strip() in names else passage


def format_named(name: str, column: str | Sequence[str] | None) -> Rst:
    """``rst``, which has no columns."""
    return Rst()


class _Reader:
    """Reads ``source`` line by line. What is indented more than ``_hidden``, if that is not None, is no prose."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._builder = PassageBuilder(source)
        self._hidden: int | None = None
        self._indent: int | None = None  # of the paragraph that goes on
        self._after_directive = self._in_doctest = False

    def passages(self) -> Iterator[Passage]:
        for start, end in lines(self._source):
            text = self._source[start:end]
            if not text.strip():
                yield from self._edge()
                self._after_directive = self._in_doctest = False
                continue
            indent = _column(text, len(text) - len(text.lstrip()))
            if self._hidden is not None and indent > self._hidden:
                continue
            self._hidden = None
            if self._is_no_prose(text):
                yield from self._edge()
            elif explicit := _EXPLICIT.match(text):
                yield from self._edge()
                if not self._explicit(text, start, explicit.end(), indent):
                    yield from self._edge()
            elif _ROW.match(text) and text.count("|") > 2:
                yield from self._row(start, end)
            else:
                yield from self._line(text, start, indent)
        yield from self._edge()

    def _is_no_prose(self, text: str) -> bool:
        """Whether a line is one below a title, an option of a directive, or of an example of Python."""
        self._in_doctest = self._in_doctest or _EXAMPLE.match(text) is not None
        is_option = self._after_directive and _OPTION.match(text) is not None
        self._after_directive = is_option
        return is_option or self._in_doctest or _ADORNMENT.match(text) is not None

    def _line(self, text: str, start: int, indent: int) -> Iterator[Passage]:
        """A line of a paragraph, or one that begins a paragraph, an item or a field."""
        name = _FIELD.match(text) if self._indent is None else None
        marker = name or _ITEM.match(text)
        if name and _PEOPLE.fullmatch(name[1]):
            self._hidden = indent
        elif marker and marker.end() < len(text):
            yield from self._edge()
            self._indent = _column(text, marker.end())
            self._inline(start + marker.end(), start + len(text))
        else:
            if self._indent is not None and indent != self._indent:
                yield from self._edge()
            self._indent = indent
            self._inline(start, start + len(text))
        self._builder.gap()
        if text.rstrip().endswith("::"):
            self._hidden = indent if name else self._indent

    def _explicit(self, text: str, start: int, at: int, indent: int) -> bool:
        """What begins with two dots: a directive, a note, a target or a comment; whether a paragraph begins there that may go on."""
        directive = _DIRECTIVE.match(text, at)
        name = directive[1].lower() if directive else ""
        prose: re.Match[str] | None = None  # what stands before it
        if directive and name in _PROSE:
            self._after_directive = True
            if name in _TITLED or name in _NOTES:
                prose = directive
            elif name in _VERSIONED:
                prose = _VERSION.match(text, directive.end())
        else:
            prose = _NOTE.match(text, at)
            self._hidden = None if prose else indent
        if prose is None:
            return False
        self._inline(start + prose.end(), start + len(text))
        self._builder.gap()
        return name not in _TITLED

    def _row(self, start: int, end: int) -> Iterator[Passage]:
        """A row of a table that is drawn: each cell by itself."""
        yield from self._edge()
        for cell in re.finditer(r"[^|]+", self._source[start:end]):
            self._inline(start + cell.start(), start + cell.end())
            yield from self._edge()

    def _inline(self, start: int, end: int) -> None:
        """Text with its roles and literals, which are read in their sentence, and its marks, which are not seen."""
        for found in _INLINE.finditer(self._source, start, end):
            self._builder.verbatim(start, found.start())
            start = found.end()
            if found["kept"]:
                self._builder.verbatim(*found.span(), frozen=True)
            elif found["shown"]:
                self._builder.verbatim(*found.span("shown"))
            elif found["escaped"] and not found["escaped"].isspace():
                self._builder.verbatim(*found.span("escaped"))
        self._builder.verbatim(start, end)

    def _edge(self) -> Iterator[Passage]:
        self._indent = None
        yield from self._builder.passages()


def _column(text: str, length: int) -> int:
    """The column after the first ``length`` characters, tabs to multiples of eight."""
    return len(text[:length].expandtabs(8))
