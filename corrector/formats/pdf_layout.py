"""From the characters on a page of a PDF, and where they stand, to lines and to the paragraphs that these make.

A PDF knows no paragraphs. A line goes on in the next where it ends at the right edge of its column, and the next is as large, is near
below it, is not indented and begins no item.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from corrector.formats.builder import PassageBuilder, is_wide
from corrector.formats.passages import Passage

_RAGGED = 2.2  # times the size of the characters: what a full line may lack at its right, as no punctuation mark begins a line
_INDENT = 1.2  # times the size: where a paragraph begins
_ALIGNED = 0.3  # times the size: where lines begin at the same place
_SAME_SIZE = 0.15  # of the size
_SAME_LINE, _BESIDE = 0.3, 1.5  # times the size: how far apart what is in one line may stand up or down, and sideways
_NARROW = 0.2  # times the size: a gap by which a line was only stretched
_DISTANCE = 2.6  # times the size, from line to line
_ENDS = "。！？!?…”’」』）"
_NEAR = 6  # lines before and after one that show how wide the column is
_ITEM = re.compile(
    r"\s*(?:[•·●○■□◆◇▪▶➢※*-][\s\u3000]|[（(]?(?:\d{1,3}|[一二三四五六七八九十]{1,3}|[A-Za-z])[)）.．、](?!\d)|[①-⑳]|第[^\s，。]{1,4}[章节条款])"
)
# Some programs write such a character for the common one that looks the same.
_RADICAL = re.compile("[\u2e80-\u2fdf\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Box:
    """Where something stands on its page: in points, from the page's lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    def joined(self, other: Box) -> Box:
        """The smallest box with both in it."""
        return Box(
            min(self.left, other.left), min(self.bottom, other.bottom), max(self.right, other.right), max(self.top, other.top)
        )


@dataclass(frozen=True, slots=True)
class Glyph:
    """A character and its place. ``is_gap`` tells that it stands for a distance, and nothing is written there; a line feed ends a line."""

    char: str
    box: Box
    is_gap: bool = False


@dataclass(frozen=True)
class Line:
    """Characters that stand beside each other: those of the page's text from ``start`` on."""

    start: int
    glyphs: Sequence[Glyph]

    @property
    def end(self) -> int:
        return self.start + len(self.glyphs)

    @cached_property
    def size(self) -> float:
        """The height of most of its characters."""
        return median(glyph.box.top - glyph.box.bottom for glyph in self.glyphs)

    @cached_property
    def bottom(self) -> float:
        return median(glyph.box.bottom for glyph in self.glyphs)

    @cached_property
    def left(self) -> float:
        return min(glyph.box.left for glyph in self._inked)

    @cached_property
    def right(self) -> float:
        return max(glyph.box.right for glyph in self._inked)

    @cached_property
    def _inked(self) -> Sequence[Glyph]:
        return [glyph for glyph in self.glyphs if not glyph.char.isspace()] or self.glyphs


class PageText:
    """The text of a page, line by line; ``boxes`` has the place of each character, None of a line end."""

    def __init__(self, glyphs: Iterable[Glyph]) -> None:
        self.lines: list[Line] = []
        self.boxes: list[Box | None] = []
        parts: list[str] = []
        for own in _lines(glyphs):
            if self.lines:
                parts.append("\n")
                self.boxes.append(None)
            self.lines.append(Line(len(self.boxes), own))
            parts += (glyph.char for glyph in own)
            self.boxes += (glyph.box for glyph in own)
        self.text = "".join(parts)

    def passages(self) -> Iterator[Passage]:
        """The paragraphs, in order."""
        builder = PassageBuilder(self.text)
        for number, line in enumerate(self.lines):
            if number and not self._goes_on(number - 1):
                yield from builder.passages()
            builder.verbatim(line.start, line.end)
            builder.gap()
        yield from builder.passages()

    def boxes_of(self, start: int, end: int) -> list[Box]:
        """Where the characters of a range stand: a box for each line of them."""
        found: list[Box] = []
        begins = True
        for box in self.boxes[start:end]:
            if box is None:
                begins = True
            elif begins:
                found.append(box)
                begins = False
            else:
                found[-1] = found[-1].joined(box)
        return found

    def _goes_on(self, number: int) -> bool:
        """Whether the line of a number goes on in the next."""
        line, following = self.lines[number : number + 2]
        size = line.size
        if abs(size - following.size) > _SAME_SIZE * size or not 0 < line.bottom - following.bottom <= _DISTANCE * size:
            return False
        left, right = self._column(number)
        if line.right < right - _RAGGED * size or _ITEM.match(self.text, following.start, following.end):
            return False
        return following.left <= left + _INDENT * size or self._hangs(number)

    def _hangs(self, number: int) -> bool:
        """Whether the line after that of a number is indented as a whole item or quotation is, and not as a paragraph begins."""
        line, following, *others = self.lines[number : number + 3]
        if self.text[line.end - 1] in _ENDS:
            return False
        begins_item = _ITEM.match(self.text, line.start, line.end) is not None
        return begins_item or any(abs(other.left - following.left) < _ALIGNED * line.size for other in (line, *others))

    def _column(self, number: int) -> tuple[float, float]:
        """The edges of the column that a line is in: of the lines before and after it that are as large and begin about where it does."""
        line = self.lines[number]
        near = self.lines[max(number - _NEAR, 0) : number + _NEAR + 1]
        beside = [one for one in near if abs(one.left - line.left) < 3 * line.size and abs(one.size - line.size) <= _SAME_SIZE * line.size]
        return min(one.left for one in beside), max(one.right for one in beside)


def _lines(glyphs: Iterable[Glyph]) -> Iterator[list[Glyph]]:
    """The characters of each line from left to right, without lines of space alone; in Chinese text no narrow gap is a space."""
    line: list[Glyph] = []
    for piece in _pieces(glyphs):
        if line and not _is_beside(line, piece):
            yield _read(line)
            line = []
        line += piece
    if line:
        yield _read(line)


def _pieces(glyphs: Iterable[Glyph]) -> Iterator[list[Glyph]]:
    """What the file has between two line ends, without what is space alone. After a hyphen no line end may be there."""
    piece: list[Glyph] = []
    for glyph in glyphs:
        if glyph.char in "\r\n" or (piece and _is_below(piece[-1].box, glyph.box)):
            if any(not one.char.isspace() for one in piece):
                yield piece
            piece = []
        if glyph.char not in "\r\n":
            piece.append(glyph)
    if any(not one.char.isspace() for one in piece):
        yield piece


def _is_below(box: Box, following: Box) -> bool:
    """Whether a character stands on another line than the one before it, further to the left and lower."""
    return following.left < box.left and following.bottom < box.bottom - _SAME_LINE * (box.top - box.bottom)


def _is_beside(line: Sequence[Glyph], piece: Sequence[Glyph]) -> bool:
    """Whether a piece is in the same line: some programs write punctuation marks after all else."""
    old, new = Line(0, line), Line(0, piece)
    if abs(old.bottom - new.bottom) > _SAME_LINE * old.size:
        return False
    near = _BESIDE * old.size
    return new.left <= old.right + near and old.left <= new.right + near


def _read(line: Sequence[Glyph]) -> list[Glyph]:
    read: list[Glyph] = []
    gap: Glyph | None = None
    for glyph in sorted(line, key=lambda glyph: glyph.box.left):
        if glyph.is_gap:
            gap = glyph
            continue
        if gap and read:
            before = read[-1]
            narrow = glyph.box.left - before.box.right < _NARROW * (glyph.box.top - glyph.box.bottom)
            if not (narrow and is_wide(before.char) and is_wide(glyph.char)):
                read.append(gap)
        gap = None
        read.append(Glyph(_common(glyph.char), glyph.box))
    return read


def _common(char: str) -> str:
    """The character that is meant by one of the radicals and of those for compatibility."""
    if not _RADICAL.match(char):
        return char
    common = unicodedata.normalize("NFKC", char)
    return common if len(common) == 1 else char
