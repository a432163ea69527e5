"""Markers in a text that keep parts of it from being corrected, in any comment syntax or bare.

    electra-correct: ignore              this line
    electra-correct: ignore-next-line    the next line
    electra-correct: ignore-file         the whole text; only in its first lines
    electra-correct: off                 from here on, until the end or …
    electra-correct: on                  … until here

A marker right after a quotation mark or a backtick is talked about, not given, and means nothing.

    >>> ignored_spans("写错\\n写错 # electra-correct: ignore\\n写错\\n")
    (Span(start=3, end=32),)
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from dataclasses import dataclass

from corrector.text.protect import merged
from corrector.types import Document, Span

FIRST_LINES = 10
"""Where ``ignore-file`` is looked for: after a title, a licence, front matter; soon enough to have written nothing yet."""

_NAME = "electra-correct"
_MARKER = re.compile(
    rf"(?<![A-Za-z0-9_`'\"“‘「『])(?<![A-Za-z0-9_]-){_NAME}[ \t]*[:：][ \t]*"
    r"(ignore-next-line|ignore-file|ignore|off|on)(?!-?[A-Za-z0-9_])"
)
_LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class IgnoreState:
    """What the markers so far mean for the text that follows, for an input that is read block by block.

    Each block must begin where the one before it ended. ``lines`` counts the line ends so far; ``ignored`` are the lines
    ignored in advance: 0 is the one that the next block begins in, 1 the one after it.
    """

    whole_file: bool = False
    off: bool = False
    ignored: frozenset[int] = frozenset()
    lines: int = 0

    def mark(self, document: Document) -> tuple[Document, IgnoreState]:
        """The next block with its ignored spans protected, and the state after it."""
        spans, after = self.read(document.text)
        if spans:
            document = dataclasses.replace(document, protected=merged((*document.protected, *spans)))
        return document, after

    def read(self, text: str) -> tuple[tuple[Span, ...], IgnoreState]:
        """The ignored spans of the next block (sorted, disjoint), and the state after it."""
        if self.whole_file:
            return _whole(text), self
        if _NAME not in text and not self.ignored and self.lines >= FIRST_LINES:
            return _whole(text) if self.off else (), self
        ends = [match.end() for match in _LINE_END.finditer(text)]
        ignored = set(self.ignored)
        spans = []
        off_from = 0 if self.off else None
        for marker in _MARKER.finditer(text):
            line = bisect_right(ends, marker.start())
            match marker[1]:
                case "ignore":
                    ignored.add(line)
                case "ignore-next-line":
                    ignored.add(line + 1)
                case "ignore-file" if self.lines + line < FIRST_LINES:
                    return _whole(text), dataclasses.replace(self, whole_file=True)
                case "off" if off_from is None:
                    off_from = marker.start()
                case "on" if off_from is not None:
                    spans.append(Span(off_from, marker.end()))
                    off_from = None
        if off_from is not None:
            spans.append(Span(off_from, len(text)))
        starts = [0, *ends, len(text)]
        spans += (Span(starts[line], starts[line + 1]) for line in ignored if line <= len(ends))
        ahead = frozenset(line - len(ends) for line in ignored if line >= len(ends))
        after = IgnoreState(False, off_from is not None, ahead, self.lines + len(ends))
        return merged(span for span in spans if len(span)), after


def ignored_spans(text: str) -> tuple[Span, ...]:
    """The spans of a whole text that its markers keep from every change: sorted, disjoint."""
    return IgnoreState().read(text)[0]


def _whole(text: str) -> tuple[Span, ...]:
    return (Span(0, len(text)),) if text else ()
