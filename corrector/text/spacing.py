"""Text is read without what only keeps its characters apart, and corrected where they stand.

    图 书 馆 今 天 必 馆 ─► 图书馆今天必馆 ─► 必 → 闭, at its place in the text as it is

That is the spaces of letter-spaced headings, of text that was recognised in images (Tesseract puts one between any two characters) and
of corpora that were cut into words, and marks of no width, as web pages have them. Spaces that stand for punctuation are read.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from corrector.text.protect import HAN_CLASS, merged, protected_spans
from corrector.text.segment import LINE
from corrector.types import CorrectedDocument, Correction, Document, RankedCandidate, Span

_SPACE = "[ \u00a0\u2000-\u200a\u202f\u205f\u3000]"
_WIDE = f"{HAN_CLASS}\u3001\u3002\u3008-\u3011\u3014-\u301b\uff01-\uff5e“”‘’…—"  # Han, and punctuation as wide as these
_GAP = re.compile(f"{_SPACE}+(?=[{_WIDE}])")
_BEFORE_GAP = re.compile(f"[{_WIDE}]")
_HIDDEN = "[\u00ad\u200b-\u200f\u2060\ufeff]+"
_NO_WIDTH = re.compile(f"(?<=[{_WIDE}]){_HIDDEN}|{_HIDDEN}(?=[{_WIDE}])")  # within emoji they join what is one
_RUN = re.compile(f"[{HAN_CLASS}]+")
_LETTERS = re.compile(f"(?<![{HAN_CLASS}])[{HAN_CLASS}](?:{_SPACE}+[{HAN_CLASS}](?![{HAN_CLASS}])){{2,}}")

_LEAST_GAPS, _GAPS, _MEAN = 3, 0.5, 2.5
"""Of a line that is cut up: as many gaps, one behind at least this share of its runs of Han characters, which have fewer characters than
that on average."""
_LETTERS_MEAN, _KNOWN = 1.5, 0.4
"""Runs so short are letters, if closed up so many of them are in words: 2,000 of 2,000 sentences, and 4 of 400 lists of characters."""
_FUNCTION_WORDS = frozenset(
    "的了是在和与不我你他她它这那有也就都很要会到着过把被对从为以及等中上下里之其而或但还又再没去来说看做让给吗呢吧啊们个将后前时與這們個將後時來對從為過會還沒說讓嗎裡裏"
)
"""Longer ones are words, if one of these is among them: 95 of 100 sentences that jieba cuts have one, hardly any list of cities."""

InWords = Callable[[str], Sequence[bool]]
"""Which characters of a text are in a word of two or more."""


@dataclass(frozen=True)
class ClosedUp:
    """A document as it is ``read``, without the ``dropped`` spans of the ``original``."""

    original: Document
    read: Document
    dropped: Sequence[Span] = ()

    @classmethod
    def of(cls, document: Document, in_words: InWords) -> ClosedUp:
        """``document`` closed up; what is protected in it, or would be for how it is spaced, stays so."""
        dropped = _dropped(document.text, in_words)
        if not dropped:
            return cls(document, document)
        text = document.text
        starts = (0, *(span.end for span in dropped))
        ends = (*(span.start for span in dropped), len(text))
        closed = "".join(text[start:end] for start, end in zip(starts, ends, strict=True))
        own = merged((*document.protected, *protected_spans(text)))
        spans = ((_closed(dropped, span.start), _closed(dropped, span.end)) for span in own)
        protected = tuple(Span(start, end) for start, end in spans if start < end)
        return cls(document, dataclasses.replace(document, text=closed, protected=protected), dropped)

    def opened(self, found: CorrectedDocument) -> CorrectedDocument:
        """What was found in ``read``, as corrections of the original; one over a gap has the gap in it."""
        if not self.dropped:
            return found
        return dataclasses.replace(
            found, document=self.original,
            corrections=tuple(self._opened(found.corrections)), suggestions=tuple(self._opened(found.suggestions)),
        )  # fmt: skip

    def _opened(self, corrections: Iterable[Correction]) -> Iterator[Correction]:
        before = [0, *accumulate(map(len, self.dropped))]
        at = [span.start - shift for span, shift in zip(self.dropped, before, strict=False)]  # in offsets of ``read``
        for one in corrections:
            places = [place + before[bisect_right(at, place)] for place in range(one.span.start, one.span.end)]
            span = Span(places[0], places[-1] + 1)
            if len(span) == len(places):
                yield dataclasses.replace(one, span=span)
                continue
            original = self.original.text[span.start : span.end]
            own = [place - span.start for place in places]
            alternatives = tuple(_spaced(ranked, original, own) for ranked in one.alternatives)
            replacement = _with(original, own, one.replacement)
            yield dataclasses.replace(one, span=span, original=original, replacement=replacement, alternatives=alternatives)


def _closed(dropped: Sequence[Span], offset: int) -> int:
    """An offset of the original in the text without the dropped spans."""
    number = bisect_left(dropped, offset, key=lambda span: span.start)
    return offset - sum(min(span.end, offset) - span.start for span in dropped[:number])


def _spaced(ranked: RankedCandidate, original: str, places: Sequence[int]) -> RankedCandidate:
    text = _with(original, places, ranked.candidate.text)
    return dataclasses.replace(ranked, candidate=dataclasses.replace(ranked.candidate, text=text))


def _with(original: str, places: Sequence[int], new: str) -> str:
    """``original`` with the characters of ``new`` at these places."""
    characters = list(original)
    for place, char in zip(places, new, strict=True):
        characters[place] = char
    return "".join(characters)


def _dropped(text: str, in_words: InWords) -> tuple[Span, ...]:
    """The spans of a text that are not read, in order and apart from each other; a byte-order mark is none."""
    gaps = [Span(*gap.span()) for gap in _GAP.finditer(text) if _BEFORE_GAP.match(text, gap.start() - 1, gap.start())]
    hidden = [Span(*mark.span()) for mark in _NO_WIDTH.finditer(text, text.startswith("\ufeff"))]
    if not gaps and not hidden:
        return ()
    return merged((*_meaningless(text, gaps, in_words), *hidden))


def _meaningless(text: str, gaps: Sequence[Span], in_words: InWords) -> Iterator[Span]:
    """Those of the gaps that say nothing: all of a line that is cut up, and those within letter-spaced words."""
    for line in LINE.finditer(text) if gaps else ():
        own = gaps[bisect_left(gaps, Span(line.start(), 0)) : bisect_left(gaps, Span(line.end(), 0))]
        if own and _is_cut_up(line.group(), len(own), in_words):
            yield from own
        elif own:
            spaced = [Span(*match.span()) for match in _LETTERS.finditer(text, *line.span()) if _are_words(match.group(), in_words)]
            yield from (gap for gap in own if any(letters.start < gap.start < letters.end for letters in spaced))


def _is_cut_up(line: str, gaps: int, in_words: InWords) -> bool:
    """Whether a line with so many gaps has them between any two words, or any two characters."""
    runs = _RUN.findall(line)
    mean = sum(map(len, runs)) / max(1, len(runs))
    if gaps < _LEAST_GAPS or gaps < _GAPS * (len(runs) - 1) or mean >= _MEAN:
        return False
    return _are_words(line, in_words) if mean < _LETTERS_MEAN else not _FUNCTION_WORDS.isdisjoint(runs)


def _are_words(spaced: str, in_words: InWords) -> bool:
    """Whether the Han characters of a text, closed up, are words and in words."""
    characters = "".join(_RUN.findall(spaced))
    known = (inside or char in _FUNCTION_WORDS for char, inside in zip(characters, in_words(characters), strict=True))
    return sum(known) >= _KNOWN * len(characters)
