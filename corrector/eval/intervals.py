"""Intervals of 95 %: for scores, resample the sentences' statistics, score each resample (Koehn 2004, as sacrebleu does);
for a share of independent cases, Wilson's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from corrector.eval.metrics import Counts, Scores

SEED = 12345
"""Fixed so that a published interval can be reproduced; the value is sacrebleu's."""

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """The ends of a 95 % interval."""

    low: float
    high: float


def bootstrap(per_sentence: Sequence[Counts], resamples: int, seed: int = SEED) -> dict[str, Interval]:
    """Percentile intervals for every figure of ``Scores.flat`` that is defined; none for no sentences or no resamples.

    Sentences with equal statistics are one group, and how often each group is drawn is multinomial: the same
    distribution as drawing sentences one by one with replacement, at the cost of the few distinct groups only.
    """
    import numpy as np

    if not per_sentence or resamples <= 0:
        return {}
    groups = Counter(per_sentence)
    statistics = np.array([counts.vector() for counts in groups], dtype=np.int64)  # (groups, fields)
    shares = np.array(list(groups.values()), dtype=np.float64) / len(per_sentence)
    draws = np.random.default_rng(seed).multinomial(len(per_sentence), shares, size=resamples)  # (resamples, groups)
    samples: dict[str, list[float]] = {}
    for row in (draws @ statistics).tolist():
        for name, figure in Scores.of(Counts(*row)).flat().items():
            if figure is not None:
                samples.setdefault(name, []).append(figure)
    tail = (1 - LEVEL) / 2
    intervals = {}
    for name, values in samples.items():
        low, high = np.quantile(values, (tail, 1 - tail))
        intervals[name] = Interval(float(low), float(high))
    return intervals


def wilson(hits: int, trials: int) -> Interval:
    """The score interval of a share p = hits / n, for n ≥ 1 trials (Wilson 1927).

    (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n), z the normal quantile of ``LEVEL``: 1.96.
    """
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    share, square = hits / trials, z * z / trials
    middle = share + square / 2
    reach = sqrt(square * (share * (1 - share) + square / 4))
    low, high = (middle - reach) / (1 + square), (middle + reach) / (1 + square)
    return Interval(min(share, max(0.0, low)), max(share, min(1.0, high)))  # rounding must not put the share outside
