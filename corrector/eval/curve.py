"""Precision against recall: sweep the confidence from high to low, letting one correction after the other through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from corrector.eval.metrics import Counts, Scores, count_sentence, total

RECALL_LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5)

MOST_POINTS = 100
"""Points of a curve that is kept: more than a picture shows, few enough to print."""


@dataclass(frozen=True, slots=True)
class ScoredEdit:
    """A proposed replacement of equal length at code point ``start`` of its sentence, with its confidence (0..1)."""

    start: int
    replacement: str
    confidence: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What is counted when every edit of at least this confidence is applied."""

    threshold: float
    counts: Counts


@dataclass(frozen=True, slots=True)
class PrecisionAt:
    """The best strict sentence-level precision at a recall of at least ``recall``, and the lowest confidence applied.

    Both are None where the proposed edits never reach that recall.
    """

    recall: float
    precision: float | None
    threshold: float | None


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """The strict sentence-level correction precision and recall when every edit of at least ``threshold`` is applied."""

    threshold: float
    precision: float
    recall: float


def sweep(pairs: Sequence[tuple[str, str]], edits: Sequence[Sequence[ScoredEdit]]) -> list[CurvePoint]:
    """The curve over every distinct confidence, falling. ``edits[i]`` belong to ``pairs[i]`` (source, target)."""
    texts = [source for source, _ in pairs]
    counted = [count_sentence(source, target, source) for source, target in pairs]
    running = total(counted)
    events = [(edit.confidence, i, edit) for i, several in enumerate(edits) for edit in several]
    events.sort(key=lambda event: -event[0])
    points = []
    for confidence, group in groupby(events, key=lambda event: event[0]):
        touched = set()
        for _, i, edit in group:
            texts[i] = texts[i][: edit.start] + edit.replacement + texts[i][edit.start + len(edit.replacement) :]
            touched.add(i)
        for i in touched:
            after = count_sentence(*pairs[i], texts[i])
            running = running - counted[i] + after
            counted[i] = after
        points.append(CurvePoint(confidence, running))
    return points


def precision_recall(points: Sequence[CurvePoint], most: int = MOST_POINTS) -> tuple[PrecisionRecall, ...]:
    """The curve in at most ``most`` (≥ 2) points, evenly spaced among all, first and last kept.

    Points at which no sentence is changed have no precision and are left out.
    """
    changing = [point for point in points if point.counts.changed]
    if len(changing) > most:
        changing = [changing[i * (len(changing) - 1) // (most - 1)] for i in range(most)]
    scored = [(point.threshold, Scores.of(point.counts).strict_correction) for point in changing]
    return tuple(PrecisionRecall(threshold, score.precision, score.recall) for threshold, score in scored)


def precision_at_recall(
    points: Sequence[CurvePoint], levels: Sequence[float] = RECALL_LEVELS
) -> tuple[PrecisionAt, ...]:
    """For each recall level the best strict correction precision among the points that reach it."""
    scored = [(Scores.of(point.counts).strict_correction, point.threshold) for point in points]
    answers = []
    for level in levels:
        reaching = [(score.precision, threshold) for score, threshold in scored if score.recall >= level]
        answers.append(PrecisionAt(level, *max(reaching)) if reaching else PrecisionAt(level, None, None))
    return tuple(answers)
