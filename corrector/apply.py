"""The last stage: puts the corrections into the text and refuses every one that could damage it."""

from __future__ import annotations

from collections.abc import Iterable

from corrector.errors import CorrectorError
from corrector.types import CorrectedDocument, Correction


class CorrectionError(CorrectorError, ValueError):
    """A correction that does not fit its text: an error of the program that made it, never of the text."""


def apply(text: str, corrections: Iterable[Correction]) -> str:
    """``text`` with the corrections made, in whatever order they come; everything outside their spans stays as it is.

    Raises CorrectionError for a correction that lies outside the text, is empty, does not find its ``original`` at its
    span, changes the length, or overlaps another.
    """
    parts: list[str] = []
    done = 0
    for correction in sorted(corrections, key=lambda correction: correction.span):
        _check(text, correction, done)
        parts += (text[done : correction.span.start], correction.replacement)
        done = correction.span.end
    parts.append(text[done:])
    return "".join(parts)


def corrected_text(corrected: CorrectedDocument) -> str:
    """The document's text with its corrections made; suggestions are left alone. Raises as ``apply`` does."""
    return apply(corrected.document.text, corrected.corrections)


def _check(text: str, correction: Correction, done: int) -> None:
    """Raises CorrectionError unless the correction fits ``text`` and starts at or after ``done``."""
    start, end = correction.span.start, correction.span.end
    what = f"correction {correction.original!r} → {correction.replacement!r} at {start}–{end}"
    if not 0 <= start < end <= len(text):
        raise CorrectionError(f"{what} is empty or outside the text of {len(text)} characters")
    if start < done:
        raise CorrectionError(f"{what} overlaps the one before it, which ends at {done}")
    if text[start:end] != correction.original:
        raise CorrectionError(f"{what} does not match the text, which has {text[start:end]!r} there")
    if len(correction.replacement) != len(correction.original):
        raise CorrectionError(f"{what} changes the length")
