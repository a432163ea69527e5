"""Fits the ranker on labelled sentences: both sets of weights, then the calibration on sentences held back.

A group of suspicions becomes one example: its edits, which of them is right (or none), features as the pipeline computes them. The weights
maximise the conditional log-likelihood of the right edit; scikit-learn's logistic regression does the calibration (Platt).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import ne
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.detect import probability
from corrector.edits import FEATURES
from corrector.electra.model import RANKER
from corrector.electra.model_dir import find_model
from corrector.errors import CorrectorError
from corrector.in_order import Result, in_order
from corrector.pipeline import windows_of
from corrector.rank import CHECK_FEATURES, Ranker, default_ranker
from corrector.stages import HOPELESS, GroupChoice, Stages
from corrector.train.finetune import read_pairs
from corrector.train.release import refresh_manifest
from corrector.types import Document, Sentence

Rows = Sequence[tuple[str, str]]
LOOK_THRESHOLD = 0.03  # of the discriminator; the ranker decides, so this and the next only bound the work
SUSPICION_THRESHOLD = 0.1  # from 0.05 on a quarter to a half more time for at most half a point of development F1
UNCHANGED_SHARE = 0.992  # of error-free sentences that must stay as they are: 99 % is the aim, the rest is room for chance
PROFILES = {"careful": 0.998, "eager": 0.97}  # the same for the other profiles
L2 = 1e-3
PRIOR_L2 = 1000.0  # of a refit, over all examples together; with 10 to 300, 25 examples of one field made false alarms in other text
KNOTS = (0.2, 0.4, 0.6, 0.8)  # quantiles where the check's weight of a feature may change
FEWEST = 5  # right edits without which the suspicions are of no use
FEW_VALUES = 8  # a feature of no more is left straight
_BLOCK = 64


@dataclass(frozen=True)
class Example:
    """One group: features of its alternatives (n, features), and the number of the right one or -1 for none."""

    features: NDArray[np.float32]
    right: int


def fit_log_linear(
    examples: Sequence[Example], size: int, steps: int = 200, prior: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Weights (size,) that maximise Σ log P(right), P(e) = exp(w·f(e)) / (1 + Σ exp(w·f)), with a small L2 penalty (L-BFGS).

    Given ``prior`` weights (size,) the penalty is on the distance from these, and as large as a normal prior of variance
    1 / (2·PRIOR_L2): few examples change little.
    """
    from scipy.optimize import minimize

    features = np.concatenate([example.features for example in examples]).astype(np.float64)
    scale = features.std(0)
    scale[scale < 1e-6] = 1.0  # a constant, such as the bias
    if prior is not None:
        scale = np.maximum(scale, 1.0)  # what hardly varies in few examples may vary more elsewhere
    start = np.zeros(size) if prior is None else prior * scale
    l2 = L2 if prior is None else PRIOR_L2 / len(examples)
    features = features / scale
    sizes = np.array([len(example.features) for example in examples])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    owner = np.repeat(np.arange(len(examples)), sizes)
    right = np.array([first + example.right for first, example in zip(starts, examples, strict=True) if example.right >= 0], dtype=np.int64)

    def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = features @ weights
        top = np.maximum(np.maximum.reduceat(scores, starts), 0.0)
        odds = np.exp(scores - top[owner])
        total = np.add.reduceat(odds, starts) + np.exp(-top)
        log_total = np.log(total) + top
        loss = (log_total.sum() - scores[right].sum()) / len(examples) + l2 * (weights - start) @ (weights - start)
        shares = odds / total[owner]
        gradient = (features.T @ shares - features[right].sum(0)) / len(examples) + 2 * l2 * (weights - start)
        return float(loss), gradient

    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    weights: NDArray[np.float64] = found.x / scale
    return weights


def fit_check(examples: Sequence[Example], shipped: Ranker | None = None) -> dict[str, Any]:
    """``check_weights`` and ``check_bends``: a log-linear fit with knots at the quantiles of every feature of many values.

    With a ``shipped`` ranker its knots stay, and its weights are where the fit starts and what it is drawn to.
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
    weights = fit_log_linear([Example(bent(e.features), e.right) for e in examples], size + len(knots), prior=prior)
    bends: dict[str, list[tuple[float, float]]] = {}
    for (column, knot), weight in zip(knots, weights[size:], strict=True):
        bends.setdefault(CHECK_FEATURES[column], []).append((knot, round(float(weight), 5)))
    return {
        "check_weights": _named(CHECK_FEATURES, weights[:size]),
        "check_bends": {name: tuple(pairs) for name, pairs in bends.items()},
    }


def calibrate(model: Path, rows: Rows, held_back: Mapping[str, Rows], say: Callable[[str], None]) -> Ranker:
    """Fit the ranker of a model directory on ``rows``; calibrate it and choose ``min_confidence`` on the sets held back.

    None of them may be a test set. Sets without any error only count for the share of text left unchanged.
    """
    directory = find_model(model)
    start = dataclasses.replace(default_ranker(), look_threshold=LOOK_THRESHOLD, suspicion_threshold=SUSPICION_THRESHOLD)
    stages = Stages.of(directory, start)
    stages.ranker = start = dataclasses.replace(start, suspicion=fit_suspicion(stages, rows))
    stages.hopeless = 0.0  # by weights that are still to be fitted nothing is hopeless
    first = _examples(stages, rows)
    if sum(example.right >= 0 for example in first) < FEWEST:  # a model so weak that it suspects nothing: all it flags will do
        start = dataclasses.replace(start, suspicion=default_ranker().suspicion, suspicion_threshold=LOOK_THRESHOLD)
        stages.ranker = start
        first = _examples(stages, rows)
    say(f"{len(first):,} groups, {sum(example.right >= 0 for example in first):,} with a right edit")
    stages.ranker = dataclasses.replace(start, weights=_named(FEATURES, fit_log_linear(first, len(FEATURES))))
    stages.hopeless = HOPELESS
    second = _check_examples(stages, rows)
    if not any(example.right >= 0 for example in second):  # a model so weak that all is hopeless: learn from what there is
        stages.hopeless = 0.0
        second = _check_examples(stages, rows)
    stages.ranker = dataclasses.replace(stages.ranker, **fit_check(second))
    judged = {name: judge(stages, held) for name, held in held_back.items()}
    scale, offset = platt([edit for held in judged.values() for row in held for edit in row.edits])
    calibrated = {name: [row.calibrated(scale, offset) for row in held] for name, held in judged.items()}
    threshold = choose_threshold(calibrated, say)
    profiles = {name: choose_threshold(calibrated, lambda _: None, share) for name, share in PROFILES.items()}
    return dataclasses.replace(stages.ranker, calibration=(scale, offset), min_confidence=threshold, profiles=profiles)


def refit_check(stages: Stages, rows: Rows) -> Ranker:
    """The ranker of ``stages`` with its check drawn towards what these rows say; as it is where nothing is suspected in them."""
    examples = _check_examples(stages, rows)
    return dataclasses.replace(stages.ranker, **fit_check(examples, stages.ranker)) if examples else stages.ranker


def _examples(stages: Stages, rows: Rows) -> list[Example]:
    found = find_groups(stages, rows)
    return [Example(f.choice.edits.features, _right_edit(f, rows, len(f.choice.edits))) for f in found]


def _check_examples(stages: Stages, rows: Rows) -> list[Example]:
    return [Example(f.choice.check[None], _right_edit(f, rows, 1)) for f in find_groups(stages, rows)]


def fit_ranker(model: Path, fit: Sequence[Path], held_back: Sequence[Path], say: Callable[[str], None]) -> None:
    """Calibrate the ranker of a model directory on labelled files, save it, and bring the manifest up to date.

    Raises CorrectorError when the files do not give the model both right and wrong edits to learn from.
    """
    rows = [row for path in fit for row in read_pairs(path)]
    held = {path.stem: read_pairs(path) for path in held_back}
    try:
        ranker = calibrate(model, rows, held, say)
    except ValueError as error:  # nothing to fit, or one class only
        raise CorrectorError(
            f"calibrate: {error}; give more labelled rows, right and wrong, or a better model"
        ) from error
    ranker.save(model / RANKER)
    refresh_manifest(model, say)
    say(f"min_confidence {ranker.min_confidence}, suspicion_threshold {ranker.suspicion_threshold}")


@dataclass(frozen=True)
class Found:
    """A group found in the window of a row."""

    row: int
    sentence: Sentence
    choice: GroupChoice


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


def _named(names: Sequence[str], weights: Iterable[float]) -> dict[str, float]:
    return {name: round(float(weight), 5) for name, weight in zip(names, weights, strict=True)}


def fit_suspicion(stages: Stages, rows: Rows) -> tuple[float, float, float]:
    """``Ranker.suspicion``: logistic regression on the characters that the discriminator flags, wrong or not."""
    from sklearn.linear_model import LogisticRegression

    values: list[NDArray[np.float32]] = []
    wrong: list[bool] = []
    for block, looks in _read(stages, rows, lambda windows: list(stages.looks(windows))):
        for look in looks:
            values.append(np.stack([look.logits, look.best_others], 1))
            row, sentence = block[look.window]
            source, target = (text[sentence.span.start :] for text in rows[row])
            wrong += [source[index] != target[index] for index in look.indexes]
    fitted = LogisticRegression().fit(np.concatenate(values), np.array(wrong))
    detection, other = (round(float(weight), 5) for weight in fitted.coef_[0])
    return detection, other, round(float(fitted.intercept_[0]), 5)


def find_groups(stages: Stages, rows: Rows) -> Iterator[Found]:
    """Every group of suspicions in the sources of ``rows``, in order."""
    for block, choices in _read(stages, rows, stages.choices):
        for (number, sentence), groups in zip(block, choices, strict=True):
            yield from (Found(number, sentence, choice) for choice in groups)


Block = list[tuple[int, Sentence]]
"""Windows of the sources, with the numbers of their rows."""


def _read(stages: Stages, rows: Rows, ask: Callable[[list[Sentence]], Result]) -> Iterator[tuple[Block, Result]]:
    """What ``ask`` says of the windows of the sources, ``_BLOCK`` at a time, in order."""
    windows = (
        (number, sentence)
        for number, (source, _) in enumerate(rows)
        for sentence in windows_of(Document(None, source), stages.max_length)
    )
    blocks = iter(lambda: list(islice(windows, _BLOCK)), [])
    return in_order(lambda block: (block, ask([sentence for _, sentence in block])), blocks, stages.runtime.callers)


def _is_right(found: Found, number: int, rows: Rows) -> bool:
    edit = found.choice.edits[number]
    start = found.sentence.span.start + edit.index
    return rows[found.row][1][start : start + len(edit.replacement)] == edit.replacement


def _right_edit(found: Found, rows: Rows, among: int) -> int:
    """The longest right edit that changes each of its characters; -1 if there is none."""
    edits = found.choice.edits[:among]
    right = [n for n, edit in enumerate(edits) if all(map(ne, edit.original, edit.replacement)) and _is_right(found, n, rows)]
    return max(right, key=lambda n: len(edits[n].replacement), default=-1)


def judge(stages: Stages, rows: Rows) -> list[JudgedRow]:
    """What the first round would do with each row, whatever the threshold."""
    edits: list[list[tuple[float, bool, int]]] = [[] for _ in rows]
    for found in find_groups(stages, rows):
        edit = found.choice.edits[0]
        mended = sum(map(ne, edit.original, edit.replacement))
        edits[found.row].append((found.choice.confidence, _is_right(found, 0, rows), mended))
    return [
        JudgedRow(tuple(own), sum(map(ne, source, target))) for own, (source, target) in zip(edits, rows, strict=True)
    ]


def platt(edits: Sequence[tuple[float, bool, int]]) -> tuple[float, float]:
    """Scale and offset of the logit of an edit's confidence, by logistic regression on whether it is right (Platt 1999)."""
    from sklearn.linear_model import LogisticRegression

    confidence = np.array([confidence for confidence, _, _ in edits])
    logits = np.log(confidence / (1 - confidence))
    fitted = LogisticRegression(C=100.0).fit(logits[:, None], np.array([right for _, right, _ in edits]))
    return round(float(fitted.coef_[0, 0]), 5), round(float(fitted.intercept_[0]), 5)


def choose_threshold(
    judged: Mapping[str, Sequence[JudgedRow]], say: Callable[[str], None], unchanged_share: float = UNCHANGED_SHARE
) -> float:
    """The threshold with the best mean strict correction F1 among those that leave so much of the clean text alone."""
    clean = [row for rows in judged.values() if not any(r.wrong for r in rows) for row in rows]
    clean = clean or [row for rows in judged.values() for row in rows if not row.wrong]
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


def strict_f1(rows: Sequence[JudgedRow], threshold: float) -> float:
    """Strict sentence-level correction F1 of the first round at a threshold."""
    changed = right = erroneous = 0
    for row in rows:
        made = [(ok, mended) for confidence, ok, mended in row.edits if confidence >= threshold]
        changed += bool(made)
        erroneous += bool(row.wrong)
        right += bool(made) and all(ok for ok, _ in made) and sum(mended for _, mended in made) == row.wrong
    return 2 * right / max(1, changed + erroneous)
