"""Detection: which characters the discriminator believes were replaced."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from corrector.text.protect import is_han
from corrector.types import Sentence, Span, Suspicion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corrector.electra.runtime import Encoding, Floats


def detect(
    sentence: Sentence, encoding: Encoding, logits: Floats, threshold: float, others: NDArray[np.bool_] | None = None
) -> tuple[Suspicion, ...]:
    """One suspicion for each correctable character whose replaced-probability is at least ``threshold``, and for ``others`` (tokens,),
    left to right.

    Correctable are Han characters of the vocabulary inside the sentence's core and outside its protected spans.
    ``logits`` are the discriminator's, shape (tokens,).
    """
    flagged_tokens = logits >= math.log(threshold) - math.log1p(-threshold)
    if others is not None:
        flagged_tokens = flagged_tokens | others
    own = logits[encoding.token_of]
    (flagged,) = (encoding.is_whole & flagged_tokens[encoding.token_of]).nonzero()
    start = sentence.span.start
    return tuple(
        Suspicion(Span(start + index, start + index + 1), probability(logit))
        for index, logit in zip(flagged.tolist(), own[flagged].tolist(), strict=True)
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
