"""What the marks say of how well each token of some rows fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corrector.electra.associations import WordsAround
from corrector.electra.look_alikes import evidence, joined

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corrector.electra.associations import Associations
    from corrector.electra.ngrams import Ids, Ngrams


def fit_levels(ngrams: Ngrams, texts: Ids, associations: Associations | None = None) -> NDArray[np.int64]:
    """0..15 for each token of (rows, length): 0 fits well … 3 is rare, 4 a look-alike fits as well … 15 far better."""
    flat, inside = joined(texts)
    around = None if associations is None else WordsAround(associations, flat, inside)
    return evidence(ngrams, flat, inside, around).levels[inside].reshape(texts.shape)
