"""Passages: the prose of a document as a reader sees it, with the way back from every character to the document.

A format says what is prose; ``correct_passages`` has it corrected and writes the corrections in document offsets. What
lies in no passage cannot change, and within one only a character that is provably written at its place can.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from string import punctuation
from typing import TYPE_CHECKING

from corrector.text.protect import SpanIndex, merged
from corrector.types import CorrectedDocument, Correction, Document, RankedCandidate, Span

if TYPE_CHECKING:
    from corrector.command import DocumentCorrector

BLOCK_CHARACTERS = 1 << 16
"""Passages are corrected together up to about this many characters: few calls, bounded memory."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of prose: ``text`` and, for each character of it, the document span that writes it.

    ``places`` as a number means that the text stands verbatim from that offset on. A character may change where its
    place has just that character, or where ``spell`` says how a replacement is written there (``\\\\u9519``) in as many
    characters as the place has; every other character, such as one of an empty place, is context only. ``protected``
    are spans of ``text`` that never change. Line breaks in ``text`` end a sentence. Only what is ``plain``, in no markup, may
    get ASCII punctuation, as a list of confusions may have it: anywhere else that could be syntax. In an ``anchor``, to whose
    text links lead, corrections are only suggested.
    """

    text: str
    places: Sequence[Span] | int
    protected: tuple[Span, ...] = ()
    spell: Callable[[str], str] | None = None
    plain: bool = False
    anchor: bool = False


def correct_passages(
    corrector: DocumentCorrector, document: Document, passages: Iterable[Passage]
) -> CorrectedDocument:
    """The corrections of all passages, in document offsets and in order; ``document.protected`` is respected.

    A correction of several characters stays one where they stand side by side as they are, and becomes one correction
    for each changed character where they do not. What could break the syntax or links of the document is only suggested. No two
    passages may share a changeable place. Linear in the length of the passages.
    """
    guard = SpanIndex(document.protected)
    corrections: list[Correction] = []
    suggestions: list[Correction] = []
    unprocessed = 0
    for block in _blocks(document, passages, guard):
        found = corrector.correct_document(block.document)
        risky = [correction for correction in found.corrections if block.could_break(correction)]
        safe = [correction for correction in found.corrections if not block.could_break(correction)]
        corrections += block.mapped(document.text, safe)
        suggestions += block.mapped(document.text, (*found.suggestions, *risky))
        unprocessed += found.unprocessed
    return CorrectedDocument(document, _in_order(corrections), _in_order(suggestions), unprocessed)


@dataclass(frozen=True)
class _Block:
    """Passages as the lines of one document: no window crosses a line break, so each is read by itself."""

    document: Document
    passages: Sequence[Passage]
    starts: Sequence[int]  # of each passage in the text of ``document``

    def mapped(self, text: str, corrections: Iterable[Correction]) -> Iterator[Correction]:
        """The corrections in offsets of ``text``, the text of the document that the passages are from."""
        for correction in corrections:
            number = self._passage_of(correction)
            at = correction.span.start - self.starts[number]
            yield from _mapped(text, self.passages[number], at, correction)

    def could_break(self, correction: Correction) -> bool:
        """Whether a correction would change an anchor, or put ASCII punctuation into a passage that is not plain."""
        passage = self.passages[self._passage_of(correction)]
        if passage.plain or passage.anchor:
            return passage.anchor
        changed = zip(correction.original, correction.replacement, strict=True)
        return any(old != new and new in punctuation for old, new in changed)

    def _passage_of(self, correction: Correction) -> int:
        return bisect_right(self.starts, correction.span.start) - 1


def _blocks(document: Document, passages: Iterable[Passage], guard: SpanIndex) -> Iterator[_Block]:
    members: list[Passage] = []
    starts: list[int] = []
    protected: list[Span] = []
    length = 0
    for passage in passages:
        if members and length + len(passage.text) > BLOCK_CHARACTERS:
            yield _block(document, members, starts, protected)
            members, starts, protected, length = [], [], [], 0
        members.append(passage)
        starts.append(length)
        protected += (Span(s.start + length, s.end + length) for s in _frozen(document.text, passage, guard))
        length += len(passage.text) + 1
    if members:
        yield _block(document, members, starts, protected)


def _block(document: Document, members: list[Passage], starts: list[int], protected: list[Span]) -> _Block:
    text = "\n".join(passage.text for passage in members)
    return _Block(dataclasses.replace(document, text=text, protected=merged(protected)), members, starts)


def _frozen(text: str, passage: Passage, guard: SpanIndex) -> Iterator[Span]:
    """What of a passage cannot change, in its own offsets and in no order."""
    yield from passage.protected
    places = passage.places
    if isinstance(places, int):
        if not text.startswith(passage.text, places):
            raise ValueError(f"a passage is not verbatim at {places}: {passage.text[:20]!r}")
        for span in guard.within(Span(places, places + len(passage.text))):
            yield Span(span.start - places, span.end - places)
        return
    for index, (char, place) in enumerate(zip(passage.text, places, strict=True)):
        written = len(place) == 1 and text[place.start] == char
        if not (written or (passage.spell and len(place))) or guard.touches(place):
            yield Span(index, index + 1)


def _mapped(text: str, passage: Passage, at: int, correction: Correction) -> Iterator[Correction]:
    """One correction of a passage, from its character ``at`` on, as corrections of ``text``; none if it cannot be written."""
    places = _places(passage, at, len(correction.original))
    adjacent = places[-1].end - places[0].start == len(places)
    if adjacent and text[places[0].start : places[-1].end] == correction.original:
        yield dataclasses.replace(correction, span=Span(places[0].start, places[-1].end))
        return
    split: list[Correction] = []
    for index, (place, old, new) in enumerate(zip(places, correction.original, correction.replacement, strict=True)):
        if old == new:
            continue
        original = text[place.start : place.end]
        replacement = _spelled(passage, original, old, new)
        if len(replacement) != len(original):
            return
        alternatives = tuple(_alternatives(passage, original, old, correction.alternatives, index))
        split.append(
            dataclasses.replace(
                correction, span=place, original=original, replacement=replacement, alternatives=alternatives
            )
        )
    yield from split


def _places(passage: Passage, at: int, length: int) -> list[Span]:
    if isinstance(passage.places, int):
        return [Span(start, start + 1) for start in range(passage.places + at, passage.places + at + length)]
    return [passage.places[index] for index in range(at, at + length)]


def _spelled(passage: Passage, original: str, old: str, new: str) -> str:
    """How ``new`` is written where the document writes ``old`` as ``original``."""
    return new if original == old or passage.spell is None else passage.spell(new)


def _alternatives(
    passage: Passage, original: str, old: str, ranked: Iterable[RankedCandidate], index: int
) -> Iterator[RankedCandidate]:
    """The alternatives for the character at ``index`` of a correction that is split, each written once."""
    seen = {original}
    for alternative in ranked:
        candidate = alternative.candidate
        written = _spelled(passage, original, old, candidate.text[index])
        if written not in seen:
            seen.add(written)
            yield dataclasses.replace(alternative, candidate=dataclasses.replace(candidate, text=written))


def _in_order(corrections: list[Correction]) -> tuple[Correction, ...]:
    return tuple(sorted(corrections, key=lambda correction: correction.span))
