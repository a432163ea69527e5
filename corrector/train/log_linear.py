"""The log-linear models of the ranker, fitted by maximum conditional likelihood of the right edit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.rank import CHECK_FEATURES, Ranker

L2, CHECK_L2 = 1e-3, 3e-3  # penalties of the two steps' fits; the check has three weights a feature
PRIOR_L2 = 1000.0  # of a refit, over all examples together; with 10 to 300, 25 examples of one field made false alarms in other text
KNOTS = (1 / 3, 2 / 3)  # quantiles where the check's weight of a feature may change; with more, sources left out of the fit fare worse
FEW_VALUES = 8  # a feature of no more is left straight
MISSPELLING, MISSPELLING_CHECK = 8.0, 0.8
"""Weights of the feature ``misspelling`` in the two steps: given and not fitted, as labelled rows have too few of any such word. The
first puts what is meant before other edits; of those so found in 190 M characters of text nearly all are right from a confidence of 0.4
on, and where the characters only stand side by side by chance it is nearly 0."""


@dataclass(frozen=True)
class Example:
    """One group: features of its alternatives (n, features), the number of the right one or -1 for none, and how much it counts."""

    features: NDArray[np.float32]
    right: int
    weight: float = 1.0


def fit_log_linear(
    examples: Sequence[Example], size: int, l2: float = L2, steps: int = 200, prior: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Weights (size,) that maximise the weighted mean of log P(right), P(e) = exp(w·f(e)) / (1 + Σ exp(w·f)), less an L2 penalty (L-BFGS).

    Given ``prior`` weights (size,) the penalty is on the distance from these.
    """
    from scipy.optimize import minimize

    features = np.concatenate([example.features for example in examples]).astype(np.float64)
    scale = features.std(0)
    scale[scale < 1e-6] = 1.0  # a constant, such as the bias
    if prior is not None:
        scale = np.maximum(scale, 1.0)  # what hardly varies in few examples may vary more elsewhere
    start = np.zeros(size) if prior is None else prior * scale
    features = features / scale
    sizes = np.array([len(example.features) for example in examples])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    owner = np.repeat(np.arange(len(examples)), sizes)
    counts = np.array([example.weight for example in examples])
    counts /= counts.sum()
    with_right = np.array([example.right >= 0 for example in examples])
    right = (starts + [example.right for example in examples])[with_right]

    def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = features @ weights
        top = np.maximum(np.maximum.reduceat(scores, starts), 0.0)
        odds = np.exp(scores - top[owner])
        total = np.add.reduceat(odds, starts) + np.exp(-top)
        log_total = np.log(total) + top
        loss = counts @ log_total - counts[with_right] @ scores[right] + l2 * (weights - start) @ (weights - start)
        shares = (counts / total)[owner] * odds
        gradient = features.T @ shares - counts[with_right] @ features[right] + 2 * l2 * (weights - start)
        return float(loss), gradient

    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    weights: NDArray[np.float64] = found.x / scale
    return weights


def fit_check(examples: Sequence[Example], shipped: Ranker | None = None) -> dict[str, Any]:
    """``check_weights`` and ``check_bends``: a log-linear fit with knots at the quantiles of every feature of many values.

    With a ``shipped`` ranker its knots stay, and its weights are where the fit starts and what it is drawn to, by a penalty as large as a
    normal prior of variance 1 / (2·PRIOR_L2): few examples change little.
    """
    features = np.concatenate([example.features for example in examples])
    knots = [
        (column, float(knot))
        for column in range(features.shape[1])
        if len(np.unique(features[:, column].round(3))) > FEW_VALUES
        for knot in np.unique(np.quantile(features[:, column], KNOTS).round(4))
    ]
    prior = None
    if shipped is not None:
        bent_by = [(CHECK_FEATURES.index(name), bend) for name, bends in shipped.check_bends.items() for bend in bends]
        knots = [(column, knot) for column, (knot, _) in bent_by]
        prior = np.array([*(shipped.check_weights[name] for name in CHECK_FEATURES), *(weight for _, (_, weight) in bent_by)])
    columns = [column for column, _ in knots]
    offsets = np.array([knot for _, knot in knots], dtype=np.float32)

    def bent(rows: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.concatenate([rows, np.maximum(rows[:, columns] - offsets, 0)], 1)

    size = len(CHECK_FEATURES)
    l2 = CHECK_L2 if prior is None else PRIOR_L2 / len(examples)
    weights = fit_log_linear([Example(bent(e.features), e.right, e.weight) for e in examples], size + len(knots), l2, prior=prior)
    bends: dict[str, list[tuple[float, float]]] = {}
    for (column, knot), weight in zip(knots, weights[size:], strict=True):
        bends.setdefault(CHECK_FEATURES[column], []).append((knot, round(float(weight), 5)))
    given = {"misspelling": MISSPELLING_CHECK if shipped is None else shipped.check_weights["misspelling"]}
    return {
        "check_weights": named(CHECK_FEATURES, weights[:size]) | given,
        "check_bends": {name: tuple(pairs) for name, pairs in bends.items()},
    }


def named(names: Sequence[str], weights: Iterable[float]) -> dict[str, float]:
    return {name: round(float(weight), 5) for name, weight in zip(names, weights, strict=True)}
