"""One document on its way through the rounds: what it reads by now, what may still change, what was made of it.

A round reads the text as it stands, with the corrections of the rounds before; what it does depends on that text alone.
Rounds go on until one changes nothing, so the corrected text is one that a second run leaves alone.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

from corrector.apply import apply
from corrector.confusions import Confusions
from corrector.detect import is_correctable
from corrector.similarity.variety import in_variety, variety_around, variety_of
from corrector.similarity.verbatim import by_heart
from corrector.strays import stray_corrections, stray_in
from corrector.text.protect import is_han, merged, protected_spans
from corrector.text.script import restored, simplified
from corrector.text.segment import sentences
from corrector.types import CorrectedDocument, Correction, Document, RankedCandidate, Sentence, Span, Variety
from corrector.words import ProtectedWords

OVERLAP = 32  # characters of context on either side of a cut; less for a model of few positions
ROUNDS = 32  # no more than this, though in practice it is a handful
REPORTED_CONFIDENCE = 0.1  # a correction less likely than this is not even suggested, unless it is asked for


class Revision:
    """A document being corrected: read its ``windows``, ``note`` what is found in each, ``settle``, and again while that is true.

    What is found is made from ``min_confidence`` on.
    """

    def __init__(self, document: Document, words: ProtectedWords, confusions: Confusions, min_confidence: float) -> None:
        self.document, self.text = document, document.text
        self._words, self._confusions, self._min_confidence = words, confusions, min_confidence
        self._made: dict[int, Correction] = {}  # by every place it covers
        self._found: dict[int, tuple[Correction, ...] | None] = {}  # by window; None for one that failed
        self._known: set[int] = set()  # stretches of text that have been corrected in just this form
        self._last: list[int] = []  # the windows of this round
        self._new: list[int] = []  # and those of them in stretches that were not known
        self._read = self._start = self.text  # as the models read it; as it was when the round began
        self._strays: Sequence[Correction] = ()  # characters of the other script in the text as it stands
        self._varieties: dict[Span, Variety] = {}  # of the cores of this round's windows
        self._rounds = 0

    def windows(self, max_length: int) -> Iterator[Sentence]:
        """Starts a round: makes the confusions' corrections, then yields the windows not read in this very form before."""
        self._rounds += 1
        self._start, self._last, self._new, self._varieties = self.text, [], [], {}
        protected = self._protected()
        found = self._confusions.corrections(self.text, protected)
        if found:
            self._make(found)
            protected = self._protected()
        self._strays = tuple(stray_corrections(self.text, self._read))
        protected = merged((*protected, *self._confusions.settled_spans(self.text), *by_heart().spans(self._read)))
        for stretch in _stretches(windows_in(self._read, protected, max_length)):
            keys = [self._key(window) for window in stretch]
            self._last += keys
            # Back in a form it had before, a stretch is settled, or the models go round in a circle: it stays as it is.
            if hash(tuple(keys)) in self._known:
                continue
            self._known.add(hash(tuple(keys)))
            self._new += keys
            yield from (window for window, key in zip(stretch, keys, strict=True) if key not in self._found)

    def note(self, window: Sentence, found: Sequence[Correction] | None) -> None:
        """Keep what was found in a window, as the document would write it; None when it could not be processed."""
        if found is None:
            self._found[self._key(window)] = None
            return
        least = least_reported(self._min_confidence)
        fitting = filter(None, self._in_variety(window, found))
        written = filter(None, (self._written(correction) for correction in fitting if correction.confidence >= least))
        self._found[self._key(window)] = self._with_strays(window, list(written))

    def strays_in(self, window: Sentence) -> list[Correction]:
        """What in a window of this round is of the other script than its surroundings, and may change."""
        first = bisect_left(self._strays, window.core.start, key=lambda stray: stray.span.start)
        own = takewhile(lambda stray: stray.span.start < window.core.end, islice(self._strays, first, None))
        correctable = (stray for stray in own if is_correctable(window, stray.span.start - window.span.start))
        return [stray_in(stray, self._variety(window)) for stray in correctable]

    def settle(self) -> bool:
        """Ends a round: makes what is certain enough. True if the text has changed and is to be read again."""
        self._make([correction for key in self._new for correction in self._found[key] or () if self._is_sure(correction)])
        return self.text != self._start and self._rounds < ROUNDS

    def result(self) -> CorrectedDocument:
        """The document with what was made of it, and as suggestions what the last round found doubtful."""
        made = {correction.span: correction for correction in self._made.values()}
        last = [self._found[key] for key in self._last]
        doubtful = tuple(c for found in last for c in found or () if not self._is_sure(c) and not self._older(c.span))
        return CorrectedDocument(
            self.document, tuple(made[span] for span in sorted(made)), doubtful, sum(found is None for found in last)
        )

    def _is_sure(self, correction: Correction) -> bool:
        return correction.confidence >= self._min_confidence

    def _key(self, window: Sentence) -> int:
        """The same for a window that is read again just as it was, in the same spelling, variety and with the same strays, which depend on
        more than the window."""
        strays = tuple((stray.span, stray.replacement) for stray in self.strays_in(window))
        return hash((window, self.text[window.span.start : window.span.end], self._variety(window), strays))

    def _variety(self, window: Sentence) -> Variety:
        """The variety of Chinese that a window of this round has in its core."""
        core = window.core
        if core not in self._varieties:
            own_lines = self.document.path is None
            around = self.document.around if own_lines else variety_around(self._read, core.start, core.end)
            self._varieties[core] = variety_of(self._read, core.start, core.end, around)
        return self._varieties[core]

    def _in_variety(self, window: Sentence, found: Sequence[Correction]) -> Sequence[Correction | None]:
        """What was found in a window as it is in its variety of Chinese; what makes a quotation of it is as sure as anywhere."""
        variety = self._variety(window)
        if variety == "today" or not found:
            return found
        quoted = {window.span.start + place: char for place, char in by_heart().meant(window.text).items()}
        return [one if quoted.get(one.span.start) == one.replacement else in_variety(one, variety) for one in found]

    def _protected(self) -> tuple[Span, ...]:
        """What nothing may change in the text as it stands. A protected word also counts in its Traditional spelling."""
        self._read = simplified(self.text)
        words = self._words.spans(self.text) + (self._words.spans(self._read) if self._read is not self.text else ())
        whitelist = self._confusions.whitelist_spans(self.text)
        return merged((*protected_spans(self.text), *self.document.protected, *words, *whitelist))

    def _with_strays(self, window: Sentence, found: Sequence[Correction]) -> tuple[Correction, ...]:
        """What was found in a window, and its strays: in their places only what is surely another character."""
        strays = self.strays_in(window)
        sure = {place for correction in found if self._is_sure(correction) for place in _places(correction.span)}
        strays = [stray for stray in strays if stray.span.start not in sure]
        taken = {stray.span.start for stray in strays}
        others = (correction for correction in found if taken.isdisjoint(_places(correction.span)))
        return tuple(sorted((*others, *strays), key=lambda correction: correction.span))

    def _written(self, correction: Correction) -> Correction | None:
        """A correction of what the models read as one of the text; None if the text writes both forms alike, or has a word there that
        is only Traditional text's."""
        if self._read is self.text:
            return correction
        from corrector.similarity.regional import in_regional_word

        start, end = correction.span.start, correction.span.end
        changed = [place for place, (old, new) in enumerate(zip(correction.original, correction.replacement, strict=True)) if old != new]
        if any(in_regional_word(self.text, start + place) for place in changed):
            return None
        original, replacement = self.text[start:end], restored(self.text, start, correction.replacement)
        if any(original[place] == replacement[place] for place in changed):
            return None
        alternatives = tuple(self._alternatives(correction, {original, replacement}))
        return dataclasses.replace(correction, original=original, replacement=replacement, alternatives=alternatives)

    def _alternatives(self, correction: Correction, seen: set[str]) -> Iterator[RankedCandidate]:
        for ranked in correction.alternatives:
            text = restored(self.text, correction.span.start, ranked.candidate.text)
            if text not in seen:
                seen.add(text)
                yield dataclasses.replace(ranked, candidate=dataclasses.replace(ranked.candidate, text=text))

    def _make(self, corrections: Sequence[Correction]) -> None:
        """Put corrections of the text as it stands into it, joined with the ones before that they overlap."""
        self.text = apply(self.text, corrections)
        for new in corrections:
            older = self._older(new.span)
            spans = [new.span, *(correction.span for correction in older)]
            joined = self._joined(new, Span(min(s.start for s in spans), max(s.end for s in spans)), older)
            for place in _places(joined.span):
                if joined.original == joined.replacement:
                    self._made.pop(place, None)
                else:
                    self._made[place] = joined

    def _older(self, span: Span) -> list[Correction]:
        """The corrections made so far that overlap ``span``."""
        return list(dict.fromkeys(self._made[place] for place in _places(span) if place in self._made))

    def _joined(self, new: Correction, span: Span, older: Sequence[Correction]) -> Correction:
        """One correction over ``span``, from the original text to the text as it stands."""
        original, now = self.document.text[span.start : span.end], self.text[span.start : span.end]
        if len(older) == 1 and (older[0].span, older[0].replacement) == (span, now):
            return older[0]  # joined already with another of the same round
        fitting = tuple(r for r in new.alternatives if span == new.span and r.candidate.text != original)
        return dataclasses.replace(new, span=span, original=original, replacement=now, alternatives=fitting)


def least_reported(min_confidence: float) -> float:
    """The least confidence that is suggested, or corrected where so little is asked for."""
    return min(REPORTED_CONFIDENCE, min_confidence)


def windows_in(text: str, protected: Sequence[Span], max_length: int) -> Iterator[Sentence]:
    """The windows of ``text`` in which a Han character may change. ``protected`` must be sorted and disjoint."""
    for window in sentences(text, protected, max_length, min(OVERLAP, max_length // 4)):
        core = window.core
        if any(span.start <= core.start and core.end <= span.end for span in window.protected):
            continue
        if any(map(is_han, window.text)):
            yield window


def _stretches(windows: Iterator[Sentence]) -> Iterator[list[Sentence]]:
    """Windows that overlap together, others alone: no stretch depends on the text of another."""
    stretch: list[Sentence] = []
    for window in windows:
        if stretch and stretch[-1].span.end <= window.span.start:
            yield stretch
            stretch = []
        stretch.append(window)
    if stretch:
        yield stretch


def _places(span: Span) -> range:
    return range(span.start, span.end)
