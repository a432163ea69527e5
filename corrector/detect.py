"""Detection: which characters the discriminator believes were replaced."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from corrector.text.protect import is_han
from corrector.types import Sentence, Span, Suspicion

if TYPE_CHECKING:
    from corrector.electra.runtime import Encoding, Floats


def detect(sentence: Sentence, encoding: Encoding, logits: Floats, threshold: float) -> tuple[Suspicion, ...]:
    """One suspicion for each correctable character whose replaced-probability is at least ``threshold``, left to right.

    Correctable are Han characters of the vocabulary inside the sentence's core and outside its protected spans.
    ``logits`` are the discriminator's, shape (tokens,).
    """
    limit = float(np.log(threshold) - np.log1p(-threshold))
    flagged = np.flatnonzero(encoding.is_whole & (logits[encoding.token_of] >= limit))
    start = sentence.span.start
    return tuple(
        Suspicion(Span(start + index, start + index + 1), probability(float(logits[encoding.token_of[index]])))
        for index in flagged.tolist()
        if is_correctable(sentence, index)
    )


def is_correctable(sentence: Sentence, index: int) -> bool:
    """Whether the character at ``index`` of the window may be changed at all (its being in the vocabulary aside)."""
    place = index + sentence.span.start
    if not sentence.core.start <= place < sentence.core.end or not is_han(sentence.text[index]):
        return False
    return not any(span.start <= place < span.end for span in sentence.protected)


def probability(logit: float) -> float:
    """The logistic function."""
    return (1.0 + math.tanh(logit / 2)) / 2
