"""From a labelled set and its predictions to a ``SetResult``: statistics once, then everything made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from corrector.errors import EvalDataError
from corrector.eval.curve import ScoredEdit, precision_at_recall, precision_recall, sweep
from corrector.eval.dataset import LabelledSet, Row
from corrector.eval.intervals import bootstrap
from corrector.eval.metrics import Counts, Scores, count_sentence, remove_de, total
from corrector.eval.predict import Prediction
from corrector.eval.reliability import outcomes
from corrector.eval.report import Intervals, SetResult
from corrector.eval.signature import Signature


def score_set(
    labelled: LabelledSet,
    predictions: Sequence[Prediction],
    signature: Signature,
    seconds: float | None = None,
    removed_de: bool = False,
    resamples: int = 1000,
    by: str | None = None,
) -> SetResult:
    """Score one prediction per row, in order; ValueError when their numbers differ.

    ``by`` is ``domain`` or ``kind``; whether any row has one is for ``check_groups`` to say, before the predictions are made.
    """
    if removed_de:
        predicted = zip(labelled.rows, predictions, strict=True)
        predictions = [_without_de(row.source, prediction) for row, prediction in predicted]
    per_sentence = [
        count_sentence(row.source, row.target, prediction.text)
        for row, prediction in zip(labelled.rows, predictions, strict=True)
    ]
    groups = {} if by is None else _groups(labelled, per_sentence, by, resamples)
    pairs = [(row.source, row.target) for row in labelled.rows]
    edits = _edits(predictions)
    points = None if edits is None or all(source == target for source, target in pairs) else sweep(pairs, edits)
    return SetResult(
        labelled=labelled,
        scores=Scores.of(total(per_sentence)),
        intervals=bootstrap(per_sentence, resamples),
        signature=signature,
        precision_at=None if points is None else precision_at_recall(points),
        curve=None if points is None else precision_recall(points),
        outcomes=None if edits is None else outcomes(pairs, edits),
        groups=groups,
        group_by=by or "",
        unprocessed=sum(prediction.unprocessed for prediction in predictions),
        seconds=seconds,
    )


def check_groups(labelled: LabelledSet, by: str | None) -> None:
    """Raises EvalDataError when no row has what it is to be grouped ``by``."""
    if by is not None and not any(_group(row, by) for row in labelled.rows):
        column = "third" if by == "domain" else "fourth"
        raise EvalDataError(labelled.path, f"no {by} in it, which is the {column} column of a TSV; leave --by out")


def _group(row: Row, by: str) -> str:
    return row.domain if by == "domain" else row.kind


def _groups(
    labelled: LabelledSet, per_sentence: Sequence[Counts], by: str, resamples: int
) -> dict[str, tuple[Scores, Intervals]]:
    members: dict[str, list[Counts]] = {}
    for row, counts in zip(labelled.rows, per_sentence, strict=True):
        members.setdefault(_group(row, by), []).append(counts)
    ordered = sorted(members.items())
    return {name: (Scores.of(total(several)), bootstrap(several, resamples)) for name, several in ordered}


def _edits(predictions: Sequence[Prediction]) -> list[tuple[ScoredEdit, ...]] | None:
    """The proposed edits of every prediction; None unless all of them have confidences."""
    edits = [prediction.edits for prediction in predictions if prediction.edits is not None]
    return edits if len(edits) == len(predictions) else None


def _without_de(source: str, prediction: Prediction) -> Prediction:
    if prediction.edits is None:
        return replace(prediction, text=remove_de(source, prediction.text))
    edits = tuple(_edit_without_de(source, edit) for edit in prediction.edits)
    return replace(prediction, text=remove_de(source, prediction.text), edits=edits)


def _edit_without_de(source: str, edit: ScoredEdit) -> ScoredEdit:
    original = source[edit.start : edit.start + len(edit.replacement)]
    return replace(edit, replacement=remove_de(original, edit.replacement))
