"""Errors people were seen to make: which characters of the labelled rows were wrong, how often, and what stood there instead.

Drawn over the whole corpus they are learned as errors; the rows alone, seen a dozen times, are learned by heart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corrector.train.noise_tables import WIDTH, cumulative

PRIOR = 5.0  # errors at the mean rate that each character is given beforehand
MOST = 20.0  # times the mean rate; 的 for 得 alone would be more

Ids = NDArray[np.int64] | NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Observed:
    """What the labelled rows tell of each character of a vocabulary."""

    replacements: NDArray[np.int32]  # (vocabulary, WIDTH), as in NoiseTables
    replacements_p: NDArray[np.float32]  # (vocabulary, WIDTH), cumulative; all 0 where nothing was seen
    proneness: NDArray[np.float64]  # (vocabulary,) how often wrong, as a multiple of the mean: shrunk to 1, at most MOST


def observe(rows: Iterable[tuple[Ids, Ids, float]], vocabulary_size: int) -> Observed:
    """Count (given ids, right ids, weight) rows of equal length. With w errors of weight and n occurrences of a character and r
    errors an occurrence over all, its proneness is (w + PRIOR) / (n·r + PRIOR)."""
    seen = np.zeros(vocabulary_size)
    errors: defaultdict[tuple[int, int], float] = defaultdict(float)
    for given, right, weight in rows:
        np.add.at(seen, right, weight)
        for place in np.flatnonzero(given != right):
            errors[int(right[place]), int(given[place])] += weight
    wrong = np.zeros(vocabulary_size)
    replacements = np.zeros((vocabulary_size, WIDTH), dtype=np.int32)
    shares = np.zeros((vocabulary_size, WIDTH))
    used = np.zeros(vocabulary_size, dtype=int)
    for (right_id, given_id), weight in sorted(errors.items(), key=lambda item: -item[1]):
        wrong[right_id] += weight
        if used[right_id] < WIDTH:
            replacements[right_id, used[right_id]] = given_id
            shares[right_id, used[right_id]] = weight
            used[right_id] += 1
    rate = wrong.sum() / max(1.0, seen.sum())
    proneness = np.minimum((wrong + PRIOR) / (seen * rate + PRIOR), MOST)
    return Observed(replacements, cumulative(shares), proneness)
