"""Calibration and thresholds: what confidences mean, and from which one on a correction is made."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from corrector.detect import probability

UNCHANGED_SHARE = 0.993  # of error-free sentences left alone by a check fitted without them
UNCHANGED_AT_LAST = 0.995  # of these sentences left alone by the final check, which has learned from them
CHANGED_SHARES = (0.006, 0.007, 0.008, 0.010, 0.012, 0.015)  # of error-free sentences, at which models are compared


@dataclass(frozen=True)
class JudgedRow:
    """The best edit of each group of a row as (confidence, is it right), and how many wrong characters the row has."""

    edits: tuple[tuple[float, bool, int], ...]  # the last number: wrong characters the edit mends
    wrong: int

    def calibrated(self, scale: float, offset: float) -> JudgedRow:
        """The same row with every confidence put through the calibration, which keeps their order."""
        return dataclasses.replace(
            self, edits=tuple((probability(scale * _logit(c) + offset), right, n) for c, right, n in self.edits)
        )


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))


def platt(edits: Sequence[tuple[float, bool, int]]) -> tuple[float, float]:
    """Scale and offset of the logit of an edit's confidence, by logistic regression on whether it is right (Platt 1999, section 2.2:
    the targets are not 1 and 0 but (n₊ + 1) / (n₊ + 2) and 1 / (n₋ + 2), so that it does not matter if all edits are right)."""
    from sklearn.linear_model import LogisticRegression

    confidence = np.array([confidence for confidence, _, _ in edits])
    logits = np.log(confidence / (1 - confidence))
    right = np.array([right for _, right, _ in edits], dtype=np.bool_)
    if not len(right):
        raise ValueError("no edit is proposed in what is held back")
    target = np.where(right, (right.sum() + 1) / (right.sum() + 2), 1 / ((~right).sum() + 2))
    classes = np.repeat([True, False], len(edits))  # every edit is right with the weight of its target and wrong with the rest
    fitted = LogisticRegression(C=100.0).fit(np.tile(logits, 2)[:, None], classes, np.concatenate([target, 1 - target]))
    return round(float(fitted.coef_[0, 0]), 5), round(float(fitted.intercept_[0]), 5)


def choose_threshold(
    judged: Mapping[str, Sequence[JudgedRow]], say: Callable[[str], None], unchanged_share: float = UNCHANGED_SHARE
) -> float:
    """The threshold with the best mean strict correction F1 among those that leave so much of the clean text alone."""
    clean = _error_free(judged)
    best = (0.0, 0.99)
    for hundredths in range(30, 99):
        threshold = hundredths / 100
        scores = {name: strict_f1(rows, threshold) for name, rows in judged.items() if any(r.wrong for r in rows)}
        unchanged = 1 - sum(any(c >= threshold for c, _, _ in row.edits) for row in clean) / max(1, len(clean))
        mean = sum(scores.values()) / max(1, len(scores))
        if hundredths % 5 == 0:
            shown = " ".join(f"{name} {score:.3f}" for name, score in scores.items())
            say(f"threshold {threshold:.2f}: mean F1 {mean:.4f}, unchanged {unchanged:.4f}, {shown}")
        if unchanged >= unchanged_share and mean > best[0]:
            best = (mean, threshold)
    return best[1]


def cautious_enough(threshold: float, clean: Sequence[JudgedRow], unchanged_share: float = UNCHANGED_AT_LAST) -> float:
    """The threshold, raised by hundredths until so much of the clean text is left alone by the edits judged in it; at most 0.99."""
    surest = _surest(clean)
    hundredths, allowed = round(100 * threshold), (1 - unchanged_share) * len(clean)
    while hundredths < 99 and sum(confidence >= hundredths / 100 for confidence in surest) > allowed:
        hundredths += 1
    return hundredths / 100


def _error_free(judged: Mapping[str, Sequence[JudgedRow]]) -> list[JudgedRow]:
    """The rows of the sets without any error; where there is no such set, the rows without."""
    clean = [row for rows in judged.values() if not any(r.wrong for r in rows) for row in rows]
    return clean or [row for rows in judged.values() for row in rows if not row.wrong]


def _surest(rows: Sequence[JudgedRow]) -> list[float]:
    """The highest confidence of an edit in each row, 0 where there is none."""
    return [max((confidence for confidence, _, _ in row.edits), default=0.0) for row in rows]


def average_precision(judged: Mapping[str, Sequence[JudgedRow]]) -> float:
    """Of the best edits by confidence, over all sets; a wrong character that none mends counts as one that is never found."""
    from sklearn.metrics import average_precision_score

    rows = [row for own in judged.values() for row in own]
    edits = [edit for row in rows for edit in row.edits]
    right = np.array([ok and mended > 0 for _, ok, mended in edits], dtype=bool)
    if not right.any():
        return 0.0
    missed = sum(max(0, row.wrong - sum(mended for _, ok, mended in row.edits if ok)) for row in rows)
    found = float(average_precision_score(right, np.array([confidence for confidence, _, _ in edits])))
    return found * float(right.sum() / (right.sum() + missed))


def f1_at_equal_shares(judged: Mapping[str, Sequence[JudgedRow]]) -> float:
    """The mean strict F1 of the sets with errors at the thresholds where ``CHANGED_SHARES`` of the error-free sentences are changed."""
    clean = _error_free(judged)
    surest = sorted(_surest(clean), reverse=True)
    with_errors = [rows for rows in judged.values() if any(row.wrong for row in rows)]
    if not clean or not with_errors:
        return 0.0
    places = [round(share * len(surest)) for share in CHANGED_SHARES]
    thresholds = [float(np.nextafter(surest[place], 1)) for place in places]  # just above: that many are changed, not one more
    return float(np.mean([strict_f1(rows, threshold) for threshold in thresholds for rows in with_errors]))


def strict_f1(rows: Sequence[JudgedRow], threshold: float) -> float:
    """Strict sentence-level correction F1 of the first round at a threshold."""
    changed = right = erroneous = 0
    for row in rows:
        made = [(ok, mended) for confidence, ok, mended in row.edits if confidence >= threshold]
        changed += bool(made)
        erroneous += bool(row.wrong)
        right += bool(made) and all(ok for ok, _ in made) and sum(mended for _, mended in made) == row.wrong
    return 2 * right / max(1, changed + erroneous)
