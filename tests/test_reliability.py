"""Calibration of the confidence against hand-worked bins, and what holds for any edits."""

from __future__ import annotations

from math import fsum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.eval.curve import CurvePoint, PrecisionRecall, ScoredEdit, precision_recall, sweep
from corrector.eval.intervals import Interval, wilson
from corrector.eval.metrics import Counts
from corrector.eval.reliability import BINS, Outcome, Reliability, outcomes, reliability

judged = st.lists(st.builds(Outcome, st.floats(0, 1), st.booleans()), max_size=60)


def test_reliability_by_hand() -> None:
    """Two bins: 0.2, 0.4 and 0.5 with one right; 0.9 with one right. ECE = 3/4·|1/3 − 1.1/3| + 1/4·|1 − 0.9| = 0.05."""
    found = reliability([Outcome(0.5, False), Outcome(0.9, True), Outcome(0.2, True), Outcome(0.4, False)], bins=2)
    assert found.edits == 4 and found.ece == pytest.approx(0.05)
    low, high = found.bins
    assert (low.low, low.high, low.edits, high.low, high.high, high.edits) == (0, 0.5, 3, 0.5, 1, 1)
    assert (low.confidence, low.share_right) == (pytest.approx(1.1 / 3), pytest.approx(1 / 3))
    assert (high.confidence, high.share_right) == (0.9, 1.0)
    assert low.interval == wilson(1, 3) and high.interval == wilson(1, 1)


def test_nothing_has_no_calibration_error() -> None:
    assert reliability([]) == Reliability(0, None, ())


def test_errors_in_opposite_directions_do_not_cancel() -> None:
    sure_and_wrong, unsure_and_right = Outcome(1.0, False), Outcome(0.0, True)
    assert reliability([sure_and_wrong, unsure_and_right]).ece == 1.0


@settings(deadline=None)
@given(judged)
def test_bins_partition_the_edits(edits: list[Outcome]) -> None:
    found = reliability(edits)
    assert sum(one.edits for one in found.bins) == found.edits == len(edits)
    assert sum(round(one.edits * one.share_right) for one in found.bins) == sum(edit.right for edit in edits)
    assert fsum(one.edits * one.confidence for one in found.bins) == pytest.approx(fsum(e.confidence for e in edits))
    for one in found.bins:
        inside = [e for e in edits if one.low < e.confidence <= one.high or e.confidence == one.low == 0]
        assert len(inside) == one.edits > 0
        assert one.high - one.low == pytest.approx(1 / BINS)
        assert one.interval.low <= one.share_right <= one.interval.high
    assert [one.low for one in found.bins] == sorted({one.low for one in found.bins})


@settings(deadline=None)
@given(judged.filter(bool))
def test_the_calibration_error_is_a_fraction_and_blind_to_order(edits: list[Outcome]) -> None:
    error = reliability(edits).ece
    assert error is not None and 0 <= error <= 1 + 1e-12
    assert reliability(edits[::-1]).ece == pytest.approx(error)
    assert reliability(edits * 3).ece == pytest.approx(error)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 40)), min_size=1, max_size=10))
def test_a_confidence_that_tells_the_share_has_no_calibration_error(groups: list[tuple[int, int]]) -> None:
    """Groups of n edits, min(k, n) of them right, each with confidence k / n."""
    edits = [Outcome(min(k, n) / n, number < k) for n, k in groups for number in range(n)]
    assert reliability(edits).ece == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "hits, trials, low, high",
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)],
)
def test_wilson_intervals_as_published(hits: int, trials: int, low: float, high: float) -> None:
    """81 of 263 is the example of Newcombe (1998), table I, method 3; the others are the formula's values at z = 1.96."""
    assert wilson(hits, trials) == Interval(pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@settings(deadline=None)
@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_within_0_and_1(case: tuple[int, int]) -> None:
    hits, trials = case
    found = wilson(hits, trials)
    assert 0 <= found.low <= hits / trials <= found.high <= 1
    assert found.low < found.high


def test_each_edit_is_judged_by_itself() -> None:
    """Right in a sentence that comes out wrong, wrong on an error-free one, half right, and one that changes nothing."""
    pairs = [("abcd", "aXcY"), ("abcd", "abcd"), ("abcd", "aXYd"), ("abcd", "aXcd")]
    edits = [
        [ScoredEdit(1, "X", 0.9), ScoredEdit(3, "Z", 0.3)],
        [ScoredEdit(0, "Z", 0.8)],
        [ScoredEdit(1, "Xc", 0.7)],
        [ScoredEdit(2, "c", 0.6)],
    ]
    assert outcomes(pairs, edits) == (
        Outcome(0.9, True), Outcome(0.3, False), Outcome(0.8, False), Outcome(0.7, False),
    )  # fmt: skip


def test_the_curve_by_hand() -> None:
    pairs = [("abcd", "aXcd"), ("abcd", "abcd"), ("abcd", "aXcd"), ("abcd", "aXcd")]
    edits = [[ScoredEdit(1, "X", 0.9)], [ScoredEdit(0, "Z", 0.8)], [ScoredEdit(1, "X", 0.5)], [ScoredEdit(0, "a", 0.95)]]
    assert precision_recall(sweep(pairs, edits)) == (
        PrecisionRecall(0.9, 1.0, pytest.approx(1 / 3)),
        PrecisionRecall(0.8, 0.5, pytest.approx(1 / 3)),
        PrecisionRecall(0.5, pytest.approx(2 / 3), pytest.approx(2 / 3)),
    )
    assert precision_recall([]) == ()


@settings(deadline=None)
@given(st.integers(0, 500), st.integers(2, 120))
def test_a_long_curve_is_thinned_and_keeps_its_ends(length: int, most: int) -> None:
    points = [CurvePoint(1 - i / 1000, Counts(erroneous=length, changed=i + 1, corrected=i + 1)) for i in range(length)]
    kept = precision_recall(points, most)
    thresholds = [point.threshold for point in kept]
    assert len(kept) == min(length, most)
    assert thresholds == sorted(set(thresholds), reverse=True)
    if points:
        assert (thresholds[0], thresholds[-1]) == (points[0].threshold, points[-1].threshold)
