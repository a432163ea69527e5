"""Forms that are wrong as a whole, whatever stands around them (``similarity.misspellings``): 鸡皮蒜毛 → 鸡毛蒜皮."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from corrector.detect import is_correctable
from corrector.similarity.misspellings import well_known
from corrector.types import Reason, Sentence

CONFIDENCE = 0.95
"""Of 116 places in 190 M characters where one stood, read one by one, 114 meant what it is mended to; two of 不可置否 meant 不可否认."""


@dataclass(frozen=True)
class FormChoice:
    """What is meant by the ``original`` at ``index`` of the window, and how surely."""

    index: int
    original: str
    replacement: str
    confidence: float = CONFIDENCE
    reason: Reason = "word"


def forms_in(window: Sentence) -> Iterator[FormChoice]:
    """Those of a window all of whose wrong characters may change, left to right."""
    for span, right in well_known().wrong_as_a_whole(window.text):
        original = window.text[span.start : span.end]
        wrong = (place for place, (old, new) in enumerate(zip(original, right, strict=True), span.start) if old != new)
        if all(is_correctable(window, place) for place in wrong):
            yield FormChoice(span.start, original, right)
