"""What was found in a line is remembered, so that of a text that is being written only the lines that change are read again.

What is found in a line depends on that line and the variety of Chinese around it alone: no window of the models crosses a line break.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby
from typing import TYPE_CHECKING

from corrector.in_order import portions
from corrector.similarity.variety import surroundings, variety_of_surroundings
from corrector.text.protect import SpanIndex
from corrector.text.script import simplified
from corrector.types import CorrectedDocument, Correction, Document, Span, Variety

if TYPE_CHECKING:
    from corrector.command import DocumentCorrector

LINES = 500_000  # remembered at most: more than any text has that is checked
_SURROUNDINGS = 1 << 14  # of lines, remembered with their varieties: some ten megabytes
_PORTION = 2_000  # characters read before it is asked again whether to go on

Line = tuple[str, tuple[Span, ...], Variety]
"""A line, what is protected in it, and the variety of what is around it."""

Found = tuple[tuple[Correction, ...], tuple[Correction, ...], int]
"""The corrections and suggestions in a line, in offsets of it, and how many passages could not be processed, in this line or one
read with it."""

_NOT_READ: Found = (), (), 0


class Memory:
    """What one corrector found in lines; those asked for longest ago are forgotten first."""

    def __init__(self, corrector: DocumentCorrector, lines: int = LINES) -> None:
        self.corrector = corrector
        self._lines = lines
        self._found: OrderedDict[Line, Found] = OrderedDict()
        self.variety_of = lru_cache(_SURROUNDINGS)(variety_of_surroundings)

    def look_up(self, lines: Iterable[Line], goes_on: Callable[[], bool]) -> tuple[list[Found], bool]:
        """What is in these lines, and whether all are read: once ``goes_on`` says no, nothing is found in those that are not."""
        lines = list(lines)
        known: dict[Line, Found] = {}
        for line in lines:
            if line in self._found:
                self._found.move_to_end(line)
                known[line] = self._found[line]
        new = [line for line in dict.fromkeys(lines) if line not in known]
        new.sort(key=_around)  # stable: lines amid the same variety are read together
        for portion in chain.from_iterable(portions(own, _size, _PORTION) for _, own in groupby(new, _around)):
            if not goes_on():
                break
            known |= zip(portion, self._read(portion), strict=True)
        return [known.get(line, _NOT_READ) for line in lines], all(line in known for line in lines)

    def _read(self, lines: Sequence[Line]) -> Iterator[Found]:
        """What the corrector finds in these lines, which are amid the same variety and are remembered."""
        text = "\n".join(own for own, _, _ in lines)
        starts = [0]
        for own, _, _ in lines:
            starts.append(starts[-1] + len(own) + 1)
        protected = tuple(
            Span(start + span.start, start + span.end) for start, (_, spans, _) in zip(starts, lines, strict=False) for span in spans
        )
        found = self.corrector.correct_document(Document(None, text, protected=protected, around=_around(lines[0])))
        made, suggested = _by_line(found.corrections, starts), _by_line(found.suggestions, starts)
        for number, line in enumerate(lines):
            self._found[line] = (made[number], suggested[number], found.unprocessed if number == 0 else 0)
            yield self._found[line]
        while len(self._found) > self._lines:
            self._found.popitem(last=False)


class RememberingCorrector:
    """A corrector of documents that asks a memory first. ``is_complete`` as long as no line was left unread."""

    def __init__(self, memory: Memory, goes_on: Callable[[], bool] = lambda: True) -> None:
        self._memory, self._goes_on = memory, goes_on
        self.model_name = memory.corrector.model_name
        self.is_complete = True

    def correct_document(self, document: Document) -> CorrectedDocument:
        """The corrections that the corrector itself would give, in lines that are read."""
        protected = SpanIndex(document.protected)
        lines: list[Line] = []
        together = document.path is not None
        read = simplified(document.text) if together else ""
        starts: list[int] = []
        at = 0
        for text in document.text.split("\n"):
            own = protected.within(Span(at, at + len(text)))
            around = self._memory.variety_of(surroundings(read, at, at + len(text))) if together else document.around
            lines.append((text, tuple(_moved_span(span, -at) for span in own), around))
            starts.append(at)
            at += len(text) + 1
        corrections: list[Correction] = []
        suggestions: list[Correction] = []
        unprocessed = 0
        found, is_complete = self._memory.look_up(lines, self._goes_on)
        self.is_complete = self.is_complete and is_complete
        for start, (made, suggested, failed) in zip(starts, found, strict=True):
            corrections += (_moved(one, start) for one in made)
            suggestions += (_moved(one, start) for one in suggested)
            unprocessed += failed
        return CorrectedDocument(document, tuple(corrections), tuple(suggestions), unprocessed)


def _around(line: Line) -> Variety:
    return line[2]


def _size(line: Line) -> int:
    return len(line[0]) + 1


def _by_line(corrections: Iterable[Correction], starts: Sequence[int]) -> list[tuple[Correction, ...]]:
    """The corrections of each line, in its own offsets; ``starts`` has the beginnings of the lines and the end of the last."""
    found: list[list[Correction]] = [[] for _ in starts[1:]]
    line = 0
    for correction in corrections:
        while correction.span.start >= starts[line + 1]:
            line += 1
        found[line].append(_moved(correction, -starts[line]))
    return [tuple(own) for own in found]


def _moved(correction: Correction, by: int) -> Correction:
    return dataclasses.replace(correction, span=_moved_span(correction.span, by))


def _moved_span(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)
