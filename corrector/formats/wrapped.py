"""Text whose paragraphs were broken into lines of one width, as by old editors and for mail."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from corrector.formats.builder import PassageBuilder
from corrector.formats.lines import lines
from corrector.formats.passages import Passage
from corrector.types import Span

_NARROWEST, _WIDEST = 36, 120  # columns; verses are narrower, and lines that end where their paragraphs do are mostly wider somewhere
_RAGGED = 5  # columns that a line may lack, since no punctuation mark begins a line
_NOT_WIDER = 0.95  # of the lines
_LEAST_LINES, _LEAST_SHARE = 6, 0.5  # that are full, of all lines with text, before a text is taken for wrapped


def unwrapped_passages(text: str) -> Iterator[Passage]:
    """All of a plain text in passages: each wrapped paragraph by itself, its line ends not seen, and what is between them."""
    done = 0
    for paragraph in wrapped_paragraphs(text):
        start, end = paragraph[0].start, paragraph[-1].end
        if done < start:
            yield Passage(text[done:start], done, plain=True)
        builder = PassageBuilder(text)
        for line in paragraph:
            builder.verbatim(line.start, line.end)
            builder.gap()
        passage = builder.build()
        yield dataclasses.replace(passage, protected=(), plain=True) if passage else Passage(text[start:end], start, plain=True)
        done = end
    if done < len(text) or not text:
        yield Passage(text[done:], done, plain=True)


def wrapped_paragraphs(text: str) -> Iterator[list[Span]]:
    """The lines of each paragraph of two or more that was broken where its lines were full, if the text is one of such.

    It is when at least half of its lines are equally wide, but for a few columns, and hardly any is wider: an address, code.
    """
    places = [Span(start, end) for start, end in lines(text)]
    widths = [columns(text[place.start : place.end]) for place in places]
    with_text = sorted(filter(None, widths))
    widest = with_text[int(_NOT_WIDER * (len(with_text) - 1))] if with_text else 0
    if not _NARROWEST <= widest <= _WIDEST:
        return
    full = [widest - _RAGGED <= width <= widest for width in widths]
    if sum(full) < max(_LEAST_LINES, _LEAST_SHARE * len(with_text)):
        return
    paragraph: list[Span] = []
    for number, place in enumerate(places):
        goes_on = number > 0 and full[number - 1] and widths[number] and not text[place.start].isspace()
        if not goes_on:
            if len(paragraph) > 1:
                yield paragraph
            paragraph = []
        paragraph.append(place)
    if len(paragraph) > 1:
        yield paragraph


def columns(line: str) -> int:
    """How many columns a line takes: two for most that is not ASCII; a rough count, but a fast one."""
    line = line.rstrip()
    return len(line) if line.isascii() else len(line.encode("gb18030", "replace"))
