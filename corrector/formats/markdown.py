"""Markdown: CommonMark with tables, strikethrough, footnotes, front matter and ``$``-math, as markdown-it reads it.

Prose are paragraphs, headings, lists, block quotes, table cells, footnotes, the texts of links, the alternative texts
of images, the text between the tags of HTML, and the title and description in front matter. Code, math, comments, addresses, titles of
links, definitions, tags, attribute lists and the rest of front matter stay as they are, and so does a text whose way back to the source
cannot be proved character by character.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from corrector.formats.html_tokens import Tag, html_tokens
from corrector.formats.markdown_anchors import Anchors
from corrector.formats.markdown_front_matter import front_matter_end, front_matter_passages
from corrector.formats.markdown_kept import KeptStretches
from corrector.formats.markdown_names import with_names_protected
from corrector.formats.markup import ProseReader, html_passages, reading_of
from corrector.formats.passages import Passage
from corrector.types import Document

if TYPE_CHECKING:
    from markdown_it.token import Token

    from corrector.formats.markdown_inline import Piece

_LINE_END = re.compile(r"\r\n?|\n")
_CELL_END = re.compile(r"(?<!\\)\|")
_FRAMES = frozenset({"iframe", "noembed", "noframes"})
_RAW = _FRAMES | {"script", "style", "textarea", "xmp"}  # have no tags inside
_LEFT_OUT = frozenset({"script", "style", "textarea", "xmp", "pre", "svg", "math"})
_CODE = frozenset({"code", "kbd", "samp", "var", "tt"})
_CONTAINERS = frozenset({"div", "section", "article", "aside", "main", "details", "blockquote", "table"})


@dataclass(frozen=True, slots=True)
class Markdown:
    """Markdown, which must be whole: what a line is may depend on any line before it."""

    name: str = "markdown"
    streams: bool = False

    def passages(self, document: Document) -> Iterator[Passage]:
        kept = KeptStretches(document.text)
        for passage in chain(front_matter_passages(document.text), _Blocks(document.text).passages()):
            yield with_names_protected(kept.protected_in(passage))


def format_named(name: str, column: str | Sequence[str] | None) -> Markdown:
    """The one format of this module; it has no columns."""
    return Markdown(name)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """``length`` characters of an inline content from ``at`` on, which stand in the source from ``start`` on."""

    at: int
    start: int
    length: int


class _Around:
    """The outermost element around the block at hand that an HTML block before has opened and whose text is not prose.

    A blank line ends an HTML block, but not the elements in it.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self.name = ""
        self._level = 0  # of the HTML block
        self._depth = 0  # how many elements of this name are open

    def __bool__(self) -> bool:
        return self._depth > 0

    def reach(self, level: int) -> None:
        """A token of ``level``: the end of a list item or a quotation ends what was opened in it."""
        if level < self._level:
            self._level = self._depth = 0

    def open(self, tag: Tag, level: int) -> None:
        """A tag of an HTML block of ``level`` while nothing is open.

        As in a browser, what is never closed goes on to the end, but for code and frames: a stray ``<code>`` or ``<iframe/>``
        must not take all prose with it. Hence the next tag of its name has to be its end. That of a list item is near, it is
        not looked for. Of containers those count that are said not to be translated, or not to be Chinese.
        """
        is_open = tag.name in _LEFT_OUT and not (tag.self_closing and tag.name in ("svg", "math"))
        if tag.name in _CONTAINERS:
            is_open = reading_of(tag.name, tag.attributes) != "prose"
        if tag.name in _CODE | _FRAMES and not tag.self_closing:
            following = re.compile(rf"<(/?){tag.name}(?=[\s/>])", re.IGNORECASE).search(self._source, tag.end)
            is_open = level > 0 or (following is not None and following[1] != "")
        if tag.kind == "start" and is_open:
            self.name, self._level, self._depth = tag.name, level, 1

    def follow(self, tag: Tag) -> None:
        """A tag while the element is open."""
        if tag.name == self.name:
            self._depth += 1 if tag.kind == "start" else -1


class _Blocks:
    """The blocks of one source: finds where the content of each stands in it."""

    def __init__(self, source: str) -> None:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.dollarmath import dollarmath_plugin
        from mdit_py_plugins.footnote import footnote_plugin

        from corrector.formats.markdown_comments import comments_plugin
        from corrector.formats.markdown_inline import TracingInline

        md = MarkdownIt("js-default", {"html": True, "maxNesting": 40})
        md.inline = self._inline = TracingInline()
        md.use(footnote_plugin, inline=False, move_to_end=False)
        md.use(dollarmath_plugin, allow_space=False, allow_digits=False)
        md.use(comments_plugin)
        md.core.ruler.enableOnly(["normalize", "block"])  # the inline contents are parsed one by one
        self._md, self._source = md, source
        self._lines: list[tuple[int, int]] = []  # where each starts and ends, its line end apart
        self._around = _Around(source)
        self._anchors = Anchors(source)
        self._row = -1  # the line of the table row at hand
        self._cells: Iterator[tuple[int, int, bool]] = iter(())  # those of its cells that are not used yet

    def passages(self) -> Iterator[Passage]:
        """All passages of the source, those of an inline content together."""
        begin = front_matter_end(self._source)
        self._lines = list(_lines_of(self._source, begin))
        env: dict[str, object] = {}
        previous: Token | None = None
        for token in self._md.parse(self._source[begin:], env):
            self._around.reach(token.level)
            if token.map is None:
                pass
            elif token.type == "inline" and previous is not None and previous.type in ("th_open", "td_open"):
                yield from self._prose(token.content, self._cell(token.content, token.map[0]), env)
            elif token.type == "inline":
                prose = self._prose(token.content, list(self._paragraph(token.content, token.map[0])), env)
                is_heading = previous is not None and previous.type == "heading_open"
                yield from map(self._anchors.marked, prose) if is_heading else prose
            elif token.type == "html_block" and token.level == 0:
                start, end = self._lines[token.map[0]][0], self._lines[token.map[1] - 1][1]
                yield from html_passages(self._source, self._html(self._source, start, end, 0), end)
            elif token.type == "html_block":
                self._html(token.content, 0, len(token.content), token.level)
            previous = token

    def _html(self, text: str, start: int, end: int, level: int) -> int:
        """Where prose may begin in an HTML block ``text[start:end]``: after what an HTML block before has opened."""
        around = self._around
        inside = bool(around)
        if inside and around.name in _RAW:
            closing = re.compile(rf"</{around.name}(?=[\s/>])", re.IGNORECASE).search(text, start, end)
            start = closing.start() if closing else end
        begin = end if inside else start
        for tag in html_tokens(text, start, end):
            if not isinstance(tag, Tag):
                continue
            if not around:
                around.open(tag, level)
                continue
            around.follow(tag)
            if inside and not around:
                begin, inside = tag.end, False
        return begin

    def _paragraph(self, content: str, line: int) -> Iterator[_Stretch]:
        """A paragraph or heading from ``line`` on: each line of it ends a line of the source, after markers and indents.

        A heading may be followed by more ``#``. A line for which this does not hold is left out.
        """
        at, contents = 0, content.split("\n")
        # A first line of ideographic spaces is not in the content; one of control characters that count as spaces is.
        while contents[0].strip() and not self._source[slice(*self._lines[line])].strip():
            line += 1
        for (start, end), written in zip(self._lines[line : line + len(contents)], contents, strict=False):
            body = written.strip()
            source = self._source[start:end].rstrip()
            if not source.endswith(body):
                source = source.rstrip("#").rstrip()
            if body and source.endswith(body):
                yield _Stretch(at + written.index(body), start + len(source) - len(body), len(body))
            at += len(written) + 1

    def _cell(self, content: str, line: int) -> list[_Stretch]:
        """A table cell: the first in its row, after those already used, that has this content; nothing if none has."""
        if line != self._row:
            self._row, self._cells = line, _cells_of(self._source, *self._lines[line])
        body = content.strip()
        if not body:
            return []
        for start, end, is_first in self._cells:
            written = self._source[start:end].rstrip()
            if is_first and written.endswith(body):  # there may be the markers of a list or a quotation before it
                return [_Stretch(content.index(body), start + len(written) - len(body), len(body))]
            if written.replace("\\|", "|").strip() == body:
                return _unescaped(written, start, content.index(body))
        return []

    def _prose(self, content: str, stretches: list[_Stretch], env: dict[str, object]) -> Iterator[Passage]:
        """The passages of one inline content and of the alternative texts in it."""
        waiting = [(0, len(content))] if stretches else []
        while waiting:
            begin, end = waiting.pop()
            reader = ProseReader(self._source)
            for piece in self._inline.pieces(content[begin:end], self._md, env):
                if self._around:
                    for tag in html_tokens(piece.shown if piece.kind == "html" else ""):
                        if isinstance(tag, Tag):
                            self._around.follow(tag)
                elif piece.kind == "image":
                    waiting.append((begin + piece.start, begin + piece.end))
                else:
                    yield from _read(piece, reader, content, begin, stretches)
            yield from reader.passage()


def _read(
    piece: Piece, reader: ProseReader, content: str, begin: int, stretches: list[_Stretch]
) -> Iterator[Passage]:
    """Has ``reader`` read a piece of ``content[begin:]``; yields the passage that it ends, if any."""
    if piece.kind == "text":
        _read_text(reader, content, begin + piece.start, begin + piece.end, stretches, piece.frozen)
    elif piece.kind == "context":
        reader.shown(piece.shown.replace("\n", " "))
    elif piece.kind == "gap":
        reader.gap()
    elif piece.kind == "break":
        yield from reader.passage()
    else:
        for tag in html_tokens(piece.shown):
            if isinstance(tag, Tag):
                yield from reader.tag(tag)


def _read_text(
    reader: ProseReader, content: str, at: int, end: int, stretches: list[_Stretch], frozen: bool
) -> None:
    """Reads ``content[at:end]``: from the source where it is known to stand there, as mere context elsewhere."""
    for number in range(max(0, bisect_right(stretches, at, key=lambda stretch: stretch.at) - 1), len(stretches)):
        stretch = stretches[number]
        if stretch.at >= end:
            break
        known_end = min(end, stretch.at + stretch.length)
        known = max(at, stretch.at)
        if known < known_end:
            reader.shown(content[at:known].replace("\n", " "))
            reader.text(stretch.start + known - stretch.at, stretch.start + known_end - stretch.at, True, frozen)
            at = known_end
    reader.shown(content[at:end].replace("\n", " "))


def _lines_of(source: str, start: int) -> Iterator[tuple[int, int]]:
    for end in _LINE_END.finditer(source, start):
        yield start, end.start()
        start = end.end()
    yield start, len(source)


def _cells_of(source: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Where each cell of a table row starts and ends, and whether it is the first."""
    is_first = True
    for bar in _CELL_END.finditer(source, start, end):
        yield start, bar.start(), is_first
        start, is_first = bar.end(), False
    yield start, end, is_first


def _unescaped(written: str, start: int, at: int) -> list[_Stretch]:
    """A cell, which stands from ``start`` on, without the backslashes before its bars, for a content from ``at`` on."""
    stretches = []
    place = start + len(written) - len(written.lstrip())
    for part in written.strip().split("\\|"):
        stretches.append(_Stretch(at, place, len(part)))
        at += len(part) + 1
        place += len(part) + 2
    return stretches
