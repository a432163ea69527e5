"""Where every correction and suggestion of a text lies: in the input, on its line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from corrector.render.summary import LINE_END, Summary
from corrector.types import CorrectedDocument, Correction, Span


@dataclass(frozen=True, slots=True)
class Finding:
    """One correction (``applied``) or suggestion and its place.

    ``start`` and ``end`` count code points from the start of the input, a byte-order mark included; ``line`` and
    ``column`` count from 1, and no column counts the mark. ``line_span`` is the line in the text of the block, without its
    line end and mark; ``continued`` tells that the line began in an earlier block.
    """

    correction: Correction
    applied: bool
    start: int
    end: int
    line: int
    column: int
    line_span: Span
    continued: bool


def findings(corrected: CorrectedDocument, before: Summary | None = None) -> Iterator[Finding]:
    """The corrections and suggestions of a block in the order of the text; ``before`` sums up the blocks ahead of it."""
    before = before or Summary()
    found = [(correction, True) for correction in corrected.corrections]
    found += [(suggestion, False) for suggestion in corrected.suggestions]
    if not found:
        return
    text = corrected.document.text
    starts = [int(before.characters == 0 and text.startswith("\ufeff"))]
    ends = []
    for line_end in LINE_END.finditer(text):
        ends.append(line_end.start())
        starts.append(line_end.end())
    ends.append(len(text))
    for correction, applied in sorted(found, key=lambda pair: pair[0].span):
        index = bisect_right(starts, correction.span.start) - 1
        earlier = before.columns if index == 0 else 0
        yield Finding(
            correction,
            applied,
            before.characters + correction.span.start,
            before.characters + correction.span.end,
            before.lines + index + 1,
            earlier + correction.span.start - starts[index] + 1,
            Span(starts[index], ends[index]),
            earlier > 0,
        )
