"""One set's results, and how they read: an aligned plain-text table or a JSON object."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from corrector.eval.curve import PrecisionAt, PrecisionRecall
from corrector.eval.dataset import LabelledSet
from corrector.eval.intervals import Interval
from corrector.eval.metrics import PRF_NAMES, Scores
from corrector.eval.reliability import Outcome, Reliability, reliability
from corrector.eval.signature import Signature

NONE = "–"
"""Printed for a figure without a meaning, such as recall on a set without errors."""

Intervals = Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class SetResult:
    """All about one scored set. ``seconds`` is None without a model; ``outcomes`` without confidences, ``precision_at`` and
    ``curve`` also without errors.
    """

    labelled: LabelledSet
    scores: Scores
    intervals: Intervals
    signature: Signature
    precision_at: tuple[PrecisionAt, ...] | None = None
    curve: tuple[PrecisionRecall, ...] | None = None
    outcomes: tuple[Outcome, ...] | None = None
    groups: Mapping[str, tuple[Scores, Intervals]] = field(default_factory=dict)
    group_by: str = ""
    unprocessed: int = 0
    seconds: float | None = None


def text_report(results: Sequence[SetResult]) -> str:
    """The block of every set and, for several sets, the table that compares them; percentages with one decimal."""
    blocks = [_block(result) for result in results]
    if len(results) > 1:
        blocks.append(_summary(results))
    return "\n\n".join(blocks) + "\n"


def json_report(results: Sequence[SetResult]) -> dict[str, Any]:
    """The same as plain JSON values: fractions, intervals as ``[low, high]``, null for a figure without a meaning."""
    content: dict[str, Any] = {"sets": [_json_set(result) for result in results]}
    together = reliability_of(results)
    if together is not None:
        bins = [{**asdict(one), "interval": [one.interval.low, one.interval.high]} for one in together.bins]
        content["reliability"] = {**asdict(together), "bins": bins}
    return content


def reliability_of(results: Sequence[SetResult]) -> Reliability | None:
    """The reliability of the edits of all sets together; None unless all of them have confidences."""
    known = [result.outcomes for result in results if result.outcomes is not None]
    return reliability([one for several in known for one in several]) if len(known) == len(results) else None


def _percent(value: float | None, interval: Interval | None = None) -> str:
    if value is None:
        return NONE
    text = f"{100 * value:.1f}"
    return text if interval is None else f"{text} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def _block(result: SetResult) -> str:
    figures, intervals, counts = result.scores.flat(), result.intervals, result.scores.counts
    table = [["%", "precision", "recall", "F1"]]
    for name in PRF_NAMES:
        keys = [f"{name}.{part}" for part in ("precision", "recall", "f1")]
        table.append([name.replace("_", " "), *(_percent(figures[key], intervals.get(key)) for key in keys)])
    lines = [result.labelled.name, _rows_line(result), *_aligned(table)]
    for name in ("false_positive_rate", "unchanged_share", "accuracy"):
        lines.append(f"{_LABELS[name]}  {_percent(figures[name], intervals.get(name))}")
    if counts.broken_length or result.unprocessed:
        lines.append(f"broken: {counts.broken_length} changed length, {result.unprocessed} windows unprocessed")
    if result.precision_at is not None:
        lines += _aligned(_precision_table(result.precision_at))
    if result.groups:
        groups = [(name, scores, intervals) for name, (scores, intervals) in result.groups.items()]
        lines += _aligned(_comparison(f"by {result.group_by}", groups))
    if result.seconds:
        lines.append(f"{result.seconds:.1f} s, {counts.sentences / result.seconds:.0f} sentences/s")
    lines.append(f"signature: {result.signature}")
    return "\n".join(lines)


_LABELS = {
    "false_positive_rate": "false-positive rate (of the error-free)    ",
    "unchanged_share": "error-free sentences left unchanged        ",
    "accuracy": "sentences that come out exactly as labelled",
}


def _rows_line(result: SetResult) -> str:
    labelled, counts = result.labelled, result.scores.counts
    return (
        f"rows: {counts.sentences} used, {labelled.dropped} dropped (unequal length), {labelled.truncated} truncated; "
        f"{counts.erroneous} erroneous, {counts.error_free} error-free; {counts.gold_edits} wrong characters"
    )


def _precision_table(answers: Sequence[PrecisionAt]) -> list[list[str]]:
    return [
        ["recall (strict correction) ≥", *(f"{100 * answer.recall:.0f}" for answer in answers)],
        ["precision", *(_percent(answer.precision) for answer in answers)],
        ["at confidence ≥", *(NONE if a.threshold is None else f"{a.threshold:.3f}" for a in answers)],
    ]


def _comparison(title: str, rows: Sequence[tuple[str, Scores, Intervals]]) -> list[list[str]]:
    table = [[title, "rows", "erroneous", "P", "R", "F1", "detection F1", "official F1", "character F1", "FPR"]]
    for name, scores, intervals in rows:
        figures = scores.flat()
        keys = [f"strict_correction.{part}" for part in ("precision", "recall")]
        others = ["strict_detection.f1", "official_correction.f1", "character_correction.f1", "false_positive_rate"]
        f1 = _percent(figures["strict_correction.f1"], intervals.get("strict_correction.f1"))
        cells = [*(_percent(figures[key]) for key in keys), f1, *(_percent(figures[key]) for key in others)]
        table.append([name or "(none)", str(scores.counts.sentences), str(scores.counts.erroneous), *cells])
    return table


def _summary(results: Sequence[SetResult]) -> str:
    rows = [(result.labelled.name, result.scores, result.intervals) for result in results]
    lines = _aligned(_comparison("set (strict unless said)", rows))
    measured = [r.scores.strict_correction.f1 for r in results if r.scores.counts.erroneous]
    if len(measured) > 1:
        mean = _percent(sum(measured) / len(measured))
        lines.append(f"mean strict correction F1 over {len(measured)} sets with errors: {mean}")
    return "\n".join(lines)


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Lines with columns padded to one width; a wide (Chinese) character takes two columns of a terminal."""
    widths = [max(map(_width, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _json_scores(scores: Scores, intervals: Intervals) -> dict[str, Any]:
    return {
        "counts": {**asdict(scores.counts), "error_free": scores.counts.error_free},
        "scores": scores.flat(),
        "intervals": {name: [interval.low, interval.high] for name, interval in intervals.items()},
    }


def _json_set(result: SetResult) -> dict[str, Any]:
    labelled = result.labelled
    rows = {"read": labelled.read, "used": len(labelled.rows)}
    rows |= {"dropped": labelled.dropped, "truncated": labelled.truncated}
    content: dict[str, Any] = {"set": labelled.name, "path": labelled.path, "format": labelled.format, "rows": rows}
    content |= _json_scores(result.scores, result.intervals)
    if result.precision_at is not None:
        content["precision_at_recall"] = [asdict(answer) for answer in result.precision_at]
    if result.curve is not None:
        content["precision_recall"] = [asdict(point) for point in result.curve]
    if result.groups:
        values = {name: _json_scores(*group) for name, group in result.groups.items()}
        content["groups"] = {"by": result.group_by, "values": values}
    content |= {"unprocessed": result.unprocessed, "seconds": result.seconds}
    fields = asdict(result.signature)
    fields["options"] = dict(result.signature.options)
    return {**content, "signature": str(result.signature), "signature_fields": fields}
