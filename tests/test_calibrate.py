"""Fitting the ranker: the log-linear model against frequencies worked by hand, and the choice of the threshold."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("sklearn")

from corrector.train.log_linear import Example, fit_log_linear
from corrector.train.thresholds import JudgedRow, choose_threshold, platt, strict_f1


def test_one_alternative_gets_the_odds_it_was_right_with() -> None:
    """With a constant feature the model is the log odds: right 3 times of 4 → w = ln 3 (less a little for the penalty)."""
    one = np.ones((1, 1), dtype=np.float32)
    one_and_other = [Example(one, 0)] * 300 + [Example(one, -1)] * 100
    varied = [*one_and_other, Example(np.zeros((1, 1), dtype=np.float32), -1)]
    assert fit_log_linear(varied, 1)[0] == pytest.approx(np.log(3), abs=0.05)


def test_the_telling_feature_gets_the_weight() -> None:
    rng = np.random.default_rng(0)
    examples = []
    for _ in range(400):
        features = rng.normal(size=(3, 2)).astype(np.float32)
        examples.append(Example(features, int(features[:, 0].argmax()) if features[:, 0].max() > 0 else -1))
    telling, idle = fit_log_linear(examples, 2)
    assert telling > 1
    assert abs(idle) < 0.5


def test_a_constant_feature_does_not_hide_the_others() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=400)
    examples = [Example(np.array([[1.0, v]], dtype=np.float32), 0 if v > 0 else -1) for v in values]
    bias, slope = fit_log_linear(examples, 2)
    assert abs(bias) < 1
    assert slope > 2


@pytest.mark.parametrize("right", [True, False])
def test_platt_does_with_edits_of_one_kind(right: bool) -> None:
    scale, offset = platt([(confidence, right, 1) for confidence in (0.3, 0.5, 0.6, 0.7)])
    logit = scale * math.log(0.55 / 0.45) + offset
    assert (logit > 0) == right and abs(logit) < 4


def test_platt_undoes_overconfidence() -> None:
    edits = [(0.9, n % 2 == 0, 1) for n in range(200)] + [(0.1, n % 20 == 0, 1) for n in range(200)]
    scale, offset = platt(edits)
    assert 1 / (1 + np.exp(-(scale * np.log(9) + offset))) == pytest.approx(0.5, abs=0.02)
    assert 1 / (1 + np.exp(-(-scale * np.log(9) + offset))) == pytest.approx(0.05, abs=0.02)


ROWS = [
    JudgedRow(((0.9, True, 1),), 1),  # right above 0.9
    JudgedRow(((0.6, True, 1), (0.5, False, 1)), 1),  # right between 0.5 and 0.6
    JudgedRow(((0.7, True, 1),), 2),  # only one of two
    JudgedRow(((0.4, False, 1),), 0),  # a false alarm at 0.4
    JudgedRow((), 1),  # a miss
]


def test_strict_f1_by_hand() -> None:
    assert strict_f1(ROWS, 0.55) == pytest.approx(2 * 2 / (3 + 4))
    assert strict_f1(ROWS, 0.45) == pytest.approx(2 * 1 / (3 + 4))
    assert strict_f1(ROWS, 0.35) == pytest.approx(2 * 1 / (4 + 4))
    assert strict_f1(ROWS, 0.95) == 0


def test_threshold_is_the_best_that_leaves_right_text_alone() -> None:
    judged = {"erroneous": ROWS, "clean": [JudgedRow((), 0)] * 124 + [JudgedRow(((0.8, False, 1),), 0)]}
    said: list[str] = []
    assert 0.5 < choose_threshold(judged, said.append) <= 0.6
    judged["clean"] = [*judged["clean"], JudgedRow(((0.8, False, 1),), 0)]  # now two of 126: too many below 0.8
    assert choose_threshold(judged, said.append) > 0.8
    assert said
