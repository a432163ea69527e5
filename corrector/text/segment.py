"""From a text to the windows the models read: sentences, joined while they are short and cut where they are too long.

No window crosses a line break, and where the cuts of a line fall depends on that line alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from corrector.text.protect import SpanIndex, protected_spans
from corrector.types import Sentence, Span

TARGET_LENGTH = 64
"""Neighbouring sentences of a line are joined up to this many characters, so that a short one has its context."""

LINE = re.compile("[^\n\r\v\f\x85\u2028\u2029]+")
_LINE_END = re.compile("[\n\r\v\f\x85\u2028\u2029]")
_SENTENCE_END = re.compile("[。！？!?；;…][。！？!?；;…”’」』）】》〉〕〗＂｣\"')\\]}]*")
_PAUSES = "，、：,:—～ \u3000"  # where a core is best cut when a sentence is too long for one window
_LINE_CUTS = (_SENTENCE_END, re.compile(r"\s+"), re.compile(f"[{_PAUSES}]"))  # the best places to cut a line, best first
_OUTLOOK = 4096  # no line is cut so near to the limit, because a protected span may end behind it


def sentences(
    text: str, protected: Sequence[Span] = (), max_length: int = 126, overlap: int = 32
) -> Iterator[Sentence]:
    """The windows of ``text`` in order, each at most ``max_length`` characters long and stripped of white space.

    Every character that is not white space lies in exactly one ``core``. A window's core has at least ``overlap``
    characters of context on a side where the sentence goes on. ``protected`` must be sorted and disjoint; a window gets
    its part of them, in document offsets. Linear in the length of the text and of its lines.

    Raises ValueError when ``max_length`` leaves no room for a core between two overlaps.
    """
    if overlap < 0 or max_length <= 2 * overlap:
        raise ValueError(f"max_length must be more than twice the overlap, not {max_length} with {overlap}")
    spans = SpanIndex(protected)
    for line in LINE.finditer(text, 1 if text.startswith("\ufeff") else 0):  # the byte-order mark is no text
        for piece in _joined(_pieces(text, line.start(), line.end(), spans), min(TARGET_LENGTH, max_length)):
            stripped = _strip(text, piece)
            for window, core in _windows(text, stripped, max_length, overlap):
                yield Sentence(text[window.start : window.end], window, core, spans.within(window))


def beginning_of(line: str, limit: int) -> int:
    """Where to cut a line that is too long to be held whole: in the second half of its first ``limit`` characters.

    That is after the last sentence end there, or else after white space or a pause, outside protected spans; where there
    is none, anywhere. It depends on those ``limit`` characters alone. ``limit`` must be at least 2.
    """
    head = line[:limit]
    first, last = limit // 2, max(limit - _OUTLOOK, limit * 3 // 4)
    spans = SpanIndex(protected_spans(head))
    for pattern in _LINE_CUTS:
        ends = (mark.end() for mark in pattern.finditer(head, first, last))
        end = max((end for end in ends if not spans.would_be_cut(end)), default=0)
        if end:
            return end
    return last


def line_around(text: str, start: int, end: int, reach: int) -> str:
    """The span from ``start`` to ``end`` with as much of its line as lies within ``reach`` characters on either side.

    >>> line_around("一。二三四。\\n五", 2, 4, 1), line_around("一。二三四。\\n五", 2, 4, 9)
    ('。二三四', '一。二三四。')
    """
    first = max(0, start - reach)
    before = _LINE_END.split(text[first:start])[-1]
    return before + text[start:end] + _LINE_END.split(text[end : end + reach], maxsplit=1)[0]


def _pieces(text: str, start: int, end: int, protected: SpanIndex) -> Iterator[Span]:
    """The sentences of one line; a sentence mark inside a protected span ends nothing."""
    for mark in _SENTENCE_END.finditer(text, start, end):
        if not protected.would_be_cut(mark.end()):
            yield Span(start, mark.end())
            start = mark.end()
    if start < end:
        yield Span(start, end)


def _joined(pieces: Iterator[Span], target: int) -> Iterator[Span]:
    """Neighbouring pieces put together from the left as long as they fit into ``target`` characters."""
    waiting: Span | None = None
    for piece in pieces:
        if waiting is None:
            waiting = piece
        elif piece.end - waiting.start <= target:
            waiting = Span(waiting.start, piece.end)
        else:
            yield waiting
            waiting = piece
    if waiting is not None:
        yield waiting


def _strip(text: str, span: Span) -> Span:
    """``span`` without the white space at its ends; empty when there is nothing else."""
    piece = text[span.start : span.end]
    start = span.start + len(piece) - len(piece.lstrip())
    return Span(start, max(start, span.start + len(piece.rstrip())))


def _windows(text: str, sentence: Span, max_length: int, overlap: int) -> Iterator[tuple[Span, Span]]:
    """(window, core) pairs; the cores partition the sentence, each step taking at least half of a core's room."""
    at = sentence.start
    while at < sentence.end:
        start = max(sentence.start, at - overlap)
        end = start + max_length
        if end >= sentence.end:  # the last window reaches back for as much context as fits
            yield Span(max(sentence.start, sentence.end - max_length), sentence.end), Span(at, sentence.end)
            return
        cut = _cut(text, at, end - overlap)
        yield Span(start, end), Span(at, cut)
        at = cut


def _cut(text: str, start: int, limit: int) -> int:
    """Where a core from ``start`` on ends: after the last pause in the second half of its room, or at ``limit``."""
    pause = max(text.rfind(mark, (start + limit) // 2, limit) for mark in _PAUSES)
    return limit if pause < 0 else pause + 1
