"""Scores against hand-worked tables, the bake-off's own toy evaluation, and an independent scorer."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from corrector.eval.curve import PrecisionAt, ScoredEdit, precision_at_recall, sweep
from corrector.eval.intervals import bootstrap
from corrector.eval.metrics import PRF, Counts, Scores, count_sentence, evaluate, remove_de, total

SCORER = Path(__file__).resolve().parents[2] / "shared" / "tools" / "score.py"

# source, target, prediction, and what happens. Letters stand for characters; X, Y, Z are the changed ones.
TABLE = [
    ("abcd", "aXcd", "aXcd"),  # right
    ("abcd", "aXcd", "aYcd"),  # right place, wrong character: detected, not corrected
    ("abcd", "aXcd", "aXYd"),  # one right edit and one too many
    ("abcd", "aXYd", "aXcd"),  # one of two errors
    ("abcd", "aXcd", "abcd"),  # missed
    ("abcd", "abcd", "abcd"),  # error-free, left alone
    ("abcd", "abcd", "abcd"),  # error-free, left alone
    ("abcd", "abcd", "abZd"),  # error-free, changed: the only official false positive
]


def test_hand_worked_table() -> None:
    scores = evaluate(TABLE)
    assert scores.counts == Counts(
        sentences=8,
        erroneous=5,
        changed=5,
        false_positives=1,
        detected=2,
        corrected=1,
        gold_edits=6,
        predicted_edits=6,
        position_hit_edits=4,
        character_hit_edits=3,
        exact=3,
    )
    assert scores.strict_correction == PRF(1 / 5, 1 / 5, pytest.approx(1 / 5))
    assert scores.strict_detection == PRF(2 / 5, 2 / 5, pytest.approx(2 / 5))
    assert scores.official_correction == PRF(1 / 2, 1 / 5, pytest.approx(2 / 7))
    assert scores.official_detection == PRF(2 / 3, 2 / 5, pytest.approx(1 / 2))
    assert scores.character_correction == PRF(3 / 6, 3 / 6, pytest.approx(1 / 2))
    assert scores.character_detection == PRF(4 / 6, 4 / 6, pytest.approx(2 / 3))
    assert scores.false_positive_rate == pytest.approx(1 / 3)
    assert scores.unchanged_share == pytest.approx(2 / 3)
    assert scores.accuracy == pytest.approx(3 / 8)


def test_pairs_with_predictions_score_like_triples() -> None:
    assert evaluate([row[:2] for row in TABLE], [row[2] for row in TABLE]) == evaluate(TABLE)


def test_the_outcomes_of_the_bake_offs_toy_evaluation() -> None:
    """The 2015 tool's report on ten sentences: FPR 1/3, detection P 4/5 and R 4/7, correction P 3/4 and R 3/7."""
    rows = [
        ("abcd", "abcd", "abcd"),
        ("abcd", "XbYd", "XbcY"),  # a place wrong
        ("abcd", "abcd", "abcd"),
        ("abcd", "abXd", "abXd"),
        ("abcd", "aXcY", "aXcZ"),  # places right, a character wrong
        ("abcd", "aXcd", "abcd"),
        ("abcd", "abcd", "Xbcd"),
        ("abcd", "abcX", "abcX"),
        ("abcd", "aXcd", "abcd"),
        ("abcd", "aXYd", "aXYd"),
    ]
    scores = evaluate(rows)
    assert scores.false_positive_rate == pytest.approx(1 / 3)
    assert scores.official_detection == PRF(4 / 5, 4 / 7, pytest.approx(0.6667, abs=1e-4))
    assert scores.official_correction == PRF(3 / 4, 3 / 7, pytest.approx(0.5455, abs=1e-4))
    assert scores.strict_detection.precision == pytest.approx(4 / 6)
    assert scores.accuracy == pytest.approx(5 / 10)


def test_nothing_to_divide_by() -> None:
    nothing = evaluate([])
    assert nothing.strict_correction == PRF(0.0, 0.0, 0.0)
    assert nothing.false_positive_rate is None and nothing.unchanged_share is None
    assert set(nothing.flat().values()) == {None}
    silent = evaluate([("ab", "aX", "ab")])
    assert silent.official_correction == PRF(0.0, 0.0, 0.0)
    assert silent.flat()["strict_correction.recall"] == 0.0
    clean = evaluate([("ab", "ab", "aX"), ("ab", "ab", "ab")])
    assert clean.flat()["strict_correction.f1"] is None
    assert clean.unchanged_share == 0.5


def test_a_prediction_of_another_length_is_broken_and_changes_nothing() -> None:
    counts = count_sentence("abcd", "aXcd", "aXcde")
    assert (counts.broken_length, counts.changed, counts.corrected, counts.erroneous) == (1, 0, 0, 1)


def test_a_prediction_of_another_length_is_not_exact() -> None:
    scores = evaluate([("abcd", "abcd", "abcde"), ("abcd", "abcd", "abcd")])
    assert (scores.accuracy, scores.unchanged_share, scores.false_positive_rate) == (0.5, 1.0, 0.0)


def test_unusable_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        count_sentence("abc", "ab", "abc")
    with pytest.raises(ValueError, match="zip"):
        evaluate([("ab", "ab")], [])


def test_adding_and_subtracting_statistics() -> None:
    first, second = count_sentence("abcd", "aXcd", "aXcd"), count_sentence("abcd", "abcd", "abZd")
    assert (first + second).changed == 2
    assert first + second - second == first
    assert total([first, second]) == first + second
    assert total([]) == Counts()


def test_remove_de_undoes_predicted_edits_into_de_only() -> None:
    assert remove_de("跑的快的人", "跑得快地仁") == "跑的快的仁"
    assert remove_de("得到", "的到") == "的到"
    assert remove_de("得到", "得到了") == "得到了"


def test_bootstrap_contains_the_estimate_and_repeats_with_its_seed() -> None:
    per_sentence = [count_sentence(*row) for row in TABLE * 20]
    estimate = Scores.of(total(per_sentence)).flat()
    intervals = bootstrap(per_sentence, 500, seed=1)
    assert intervals.keys() == estimate.keys()
    for name, value in estimate.items():
        assert value is not None
        assert intervals[name].low < value < intervals[name].high
    assert bootstrap(per_sentence, 500, seed=1) == intervals
    assert bootstrap(per_sentence, 500, seed=2) != intervals


def test_bootstrap_width_is_that_of_a_binomial() -> None:
    """100 of 400 error-free sentences changed: the standard error of the rate is sqrt(.25 × .75 / 400) = .02165."""
    per_sentence = [count_sentence("ab", "ab", "aX")] * 100 + [count_sentence("ab", "ab", "ab")] * 300
    rate = bootstrap(per_sentence, 2000)["false_positive_rate"]
    assert rate.low == pytest.approx(0.25 - 1.96 * 0.02165, abs=0.006)
    assert rate.high == pytest.approx(0.25 + 1.96 * 0.02165, abs=0.006)


def test_bootstrap_of_nothing() -> None:
    assert bootstrap([], 100) == {}
    assert bootstrap([count_sentence("ab", "aX", "aX")], 0) == {}
    assert "false_positive_rate" not in bootstrap([count_sentence("ab", "aX", "aX")], 10)


def test_precision_at_recall_by_hand() -> None:
    """Four errors; by falling confidence: right, a false alarm, right, then an edit that spoils the first sentence."""
    pairs = [("abcd", "aXcd"), ("abcd", "abcd"), ("abcd", "aXcd"), ("abcd", "aXcd"), ("abcd", "aXcd")]
    edits = [
        [ScoredEdit(1, "X", 0.9), ScoredEdit(3, "Z", 0.2)],
        [ScoredEdit(0, "Z", 0.8)],
        [ScoredEdit(1, "Xc", 0.5)],
        [],
        [],
    ]
    points = sweep(pairs, edits)
    assert [point.threshold for point in points] == [0.9, 0.8, 0.5, 0.2]
    assert [(p.counts.changed, p.counts.corrected) for p in points] == [(1, 1), (2, 1), (3, 2), (3, 1)]
    assert precision_at_recall(points, (0.1, 0.25, 0.5, 0.6)) == (
        PrecisionAt(0.1, 1.0, 0.9),
        PrecisionAt(0.25, 1.0, 0.9),
        PrecisionAt(0.5, pytest.approx(2 / 3), 0.5),
        PrecisionAt(0.6, None, None),
    )


def test_edits_of_equal_confidence_are_one_point() -> None:
    points = sweep([("ab", "XY"), ("ab", "ab")], [[ScoredEdit(0, "X", 0.7), ScoredEdit(1, "Y", 0.7)], []])
    assert [(point.threshold, point.counts.corrected) for point in points] == [(0.7, 1)]
    assert precision_at_recall([], (0.5,)) == (PrecisionAt(0.5, None, None),)


@pytest.mark.skipif(not SCORER.is_file(), reason="the independent scorer is not on this machine")
@pytest.mark.parametrize("find, put", [("b", "b"), ("b", "X"), ("c", "Y"), ("d", "Z")])
def test_agreement_with_an_independent_scorer(tmp_path: Path, find: str, put: str) -> None:
    rows = [(source, target) for source, target, _ in TABLE] + [("bcbd", "XcXd"), ("dab", "Zab"), ("acd", "acd")]
    table = tmp_path / "set.tsv"
    table.write_text("".join(f"{s}\t{t}\n" for s, t in rows), encoding="utf-8")
    program = f"import sys; sys.stdout.write(sys.stdin.read().replace({find!r}, {put!r}))"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"
    run = subprocess.run(
        [sys.executable, str(SCORER), command, str(table), "--json"], capture_output=True, text=True, check=True
    )
    (theirs,) = json.loads(run.stdout)
    ours = evaluate(rows, [source.replace(find, put) for source, _ in rows])
    assert ours.counts.sentences == theirs["rows"]
    assert ours.counts.erroneous == theirs["erroneous"]
    assert ours.strict_correction == PRF(*(pytest.approx(theirs[key]) for key in ("P", "R", "F1")))
    assert ours.strict_detection.f1 == pytest.approx(theirs["detF1"])
    assert ours.official_correction.f1 == pytest.approx(theirs["officialF1"])
    assert ours.false_positive_rate == pytest.approx(theirs["FPR"])
