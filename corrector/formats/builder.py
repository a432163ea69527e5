"""Builds passages piece by piece from what a reader sees of a document."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from corrector.formats.passages import Passage
from corrector.text.protect import is_han
from corrector.types import Span

# What templates and wikis fill in or link to by name, wherever it stands in prose. None goes on beyond where the next may
# begin, so that it is linear.
_TEMPLATE = re.compile(r"\[\[[^\[\]\n]+\]\]|\{\{[^{}\n]+\}\}|\{%[^{}\n]+%\}|<%[^<>\n]+%>")


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of a passage from ``at`` on: one by one those of ``span`` if ``verbatim``, else all written by it."""

    at: int
    span: Span
    verbatim: bool

    def place(self, index: int) -> Span:
        """The place of the character at ``index`` of the passage."""
        if not self.verbatim:
            return self.span
        start = self.span.start + index - self.at
        return Span(start, start + 1)


class Places(Sequence[Span]):
    """The places of ``length`` characters, kept as runs, which begin at 0 and follow each other without a hole."""

    def __init__(self, runs: Sequence[Run], length: int) -> None:
        self._runs, self._length = runs, length
        self._starts = [run.at for run in runs]

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Span]: ...
    def __getitem__(self, index: int | slice) -> Span | Sequence[Span]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        index %= self._length
        return self._runs[bisect_right(self._starts, index) - 1].place(index)

    def __iter__(self) -> Iterator[Span]:
        for run, end in zip(self._runs, (*self._starts[1:], self._length), strict=True):
            yield from map(run.place, range(run.at, end))


class PassageBuilder:
    """Puts one passage after another together from pieces of ``source``, each piece in reading order."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._gap = self._worthwhile = False
        self._start_afresh()

    def verbatim(self, start: int, end: int, frozen: bool = False) -> None:
        """The reader sees ``source[start:end]`` as it stands; ``frozen`` text is context and never changes."""
        while self._gap and start < end and self._source[start] in " \t":  # the indent of the line after the gap
            start += 1
        if start >= end:
            return
        self._close_gap(self._source[start])
        if frozen:
            self._frozen.append(Span(self._length, self._length + end - start))
        elif not self._worthwhile:
            self._worthwhile = any(map(is_han, self._source[start:end]))
        runs = self._runs
        if runs and runs[-1].verbatim and runs[-1].span.end == start:
            runs[-1] = Run(runs[-1].at, Span(runs[-1].span.start, end), True)
        else:
            runs.append(Run(self._length, Span(start, end), True))
        self._add(self._source[start:end])

    def written(self, char: str, start: int, end: int) -> None:
        """The reader sees one character, which ``source[start:end]`` stands for and ``spell`` can write as another."""
        self._close_gap(char)
        if is_han(char):
            self._worthwhile = True
        self._runs.append(Run(self._length, Span(start, end), False))
        self._add(char)

    def context(self, text: str) -> None:
        """The reader sees ``text``, which is written in some other way, or elsewhere: it never changes."""
        if text:
            self._close_gap(text[0])
            self._runs.append(Run(self._length, Span(0, 0), False))
            self._add(text)

    def gap(self) -> None:
        """The source breaks the line where the reader goes on: seen as a space, or between Han characters as nothing."""
        self._gap = self._length > 0

    def build(self, spell: Callable[[str], str] | None = None) -> Passage | None:
        """The passage so far, None when nothing in it could change; the next piece begins a new one."""
        text, runs = "".join(self._parts), self._runs
        passage = None
        if self._worthwhile:
            places = runs[0].span.start if len(runs) == 1 and runs[0].verbatim else Places(runs, self._length)
            templates = (Span(*match.span()) for match in _TEMPLATE.finditer(text))
            passage = Passage(text, places, (*self._frozen, *templates), spell)
        self._start_afresh()
        return passage

    def passages(self) -> Iterator[Passage]:
        """What ``build`` gives, for what yields passages."""
        if passage := self.build():
            yield passage

    def _start_afresh(self) -> None:
        self._parts: list[str] = []
        self._runs: list[Run] = []
        self._frozen: list[Span] = []
        self._length = 0
        self._gap = self._worthwhile = False

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _close_gap(self, following: str) -> None:
        if not self._gap:
            return
        self._gap = False
        before = self._parts[-1][-1]
        if not (before.isspace() or following.isspace() or (is_wide(before) and is_wide(following))):
            self.context(" ")


def is_wide(char: str) -> bool:
    """Whether a character is of those between which Chinese text has no space: Han, its punctuation, quotation marks."""
    return unicodedata.east_asian_width(char) in "WFA"
