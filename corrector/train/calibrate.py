"""Fits the ranker on labelled sentences: its weights, those of its check, then the calibration on sentences held back.

A group of suspicions becomes one example: its edits, which of them is right (or none), features as the pipeline computes them. The weights
maximise the conditional log-likelihood of the right edit; scikit-learn's logistic regression does the calibration (Platt).

Sentences in which people erred in text of their own are few, so the check learns from those held back, too: each fifth of these is judged
with a check fitted on all others (cross-fitting), for the calibration and the threshold.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import ne
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corrector.edit_features import FEATURES
from corrector.electra.manifest import MANIFEST
from corrector.electra.model import RANKER, SLIPS, VOCABULARY, of_origin
from corrector.electra.model_dir import ModelDirectory, find_model
from corrector.electra.slips import Slips
from corrector.electra.tokenizer import Tokenizer
from corrector.electra.word_model import WordModel
from corrector.errors import CorrectorError, InputError
from corrector.in_order import Result, in_order
from corrector.pipeline import windows_of
from corrector.rank import MASKED, Ranker, default_ranker
from corrector.stages import HOPELESS, GroupChoice, Stages
from corrector.train.counts import IN_NONE, load_part
from corrector.train.log_linear import MISSPELLING, Example, fit_check, fit_log_linear, named
from corrector.train.pairs import PairSet, read_pairs
from corrector.train.release import CARD, refresh_manifest
from corrector.train.slips import count_slips
from corrector.train.thresholds import (
    JudgedRow,
    average_precision,
    cautious_enough,
    choose_threshold,
    f1_at_equal_shares,
    platt,
)
from corrector.train.workplace import changed_together
from corrector.types import OCR, TYPED, Document, Origin, Sentence

Rows = Sequence[tuple[str, str]]
LOOK_THRESHOLD = 0.03  # of the discriminator; the ranker decides, so this and the next only bound the work
SUSPICION_THRESHOLD = 0.1  # from 0.05 on a quarter to a half more time for at most half a point of development F1
PROFILES = {"careful": 0.998, "eager": 0.97}  # the same for the other profiles
BY_SLIPS: Mapping[Origin, int] = {TYPED: 0, OCR: 40}  # ``Ranker.by_slips``
PARTS = 5  # of the sets held back
CLEAN_WEIGHT = 3.0  # of an example from a set without any error: where false alarms count most
FEWEST = 5  # right edits without which the suspicions are of no use
_BLOCK = 64
_MISSPELLING = FEATURES.index("misspelling")


def calibrate(
    model: ModelDirectory,
    fit: Sequence[PairSet],
    held_back: Mapping[str, Rows],
    say: Callable[[str], None],
    masked: bool = False,
    data: Path | None = None,
    by_slips: int = 0,
) -> Ranker:
    """Fit the ranker of a model on the sets ``fit``, its check on the sets held back as well; calibrate it and choose
    ``min_confidence`` on the latter, each of whose ``PARTS`` parts is judged with a check fitted without it; the final check, too, must
    leave nearly all text of the sets without any error alone (``thresholds.UNCHANGED_AT_LAST``). A set of a weight below 1
    has no say in anything but the check, and there so much. Text that the model's counts were made of is read by those of the folder
    ``data`` that are without its part of the corpus.

    Unless ``masked``, it does without a reading in which the suspicious characters are masked (``Ranker.reads_masked``). ``by_slips`` is
    the ranker's. None of the sets may be a test set. Sets without any error only count for the share of text left unchanged, and in the
    check for ``CLEAN_WEIGHT``.
    """
    whole = [row for item in fit if item.weight >= 1 and item.part == IN_NONE for row in item.pairs]
    stages = _ranking(model, whole, say, masked, by_slips)
    judged = _fit_and_judge(stages, fit, held_back, data)
    scale, offset = platt([edit for held in judged.values() for row in held for edit in row.edits])
    calibrated = {name: [row.calibrated(scale, offset) for row in held] for name, held in judged.items()}
    clean = [rows for rows in (*(item.pairs for item in fit), *held_back.values()) if rows and all(a == b for a, b in rows)]
    at_last = [row.calibrated(scale, offset) for rows in clean for row in judge(stages, rows)]
    threshold = cautious_enough(choose_threshold(calibrated, say), at_last)
    say(f"average precision {average_precision(judged):.4f}, mean F1 at equal false alarms {f1_at_equal_shares(judged):.4f}")
    profiles = {name: choose_threshold(calibrated, lambda _: None, share) for name, share in PROFILES.items()}
    return dataclasses.replace(stages.ranker, calibration=(scale, offset), min_confidence=threshold, profiles=profiles)


def _ranking(directory: ModelDirectory, rows: Rows, say: Callable[[str], None], masked: bool, by_slips: int) -> Stages:
    """The stages of a model with a ranker whose weights are fitted on ``rows``; its check is still to be fitted."""
    start = default_ranker()
    start = dataclasses.replace(start, look_threshold=LOOK_THRESHOLD, suspicion_threshold=SUSPICION_THRESHOLD, by_slips=by_slips)
    if not masked:
        start = dataclasses.replace(start, weights=dict(start.weights) | dict.fromkeys(MASKED, 0.0))
    stages = Stages.of(directory, start)
    for _ in range(2):  # what the first fit finds suspicious is more than what the discriminator alone flags
        stages.ranker = start = dataclasses.replace(start, suspicion=fit_suspicion(stages, rows))
    stages.hopeless = 0.0  # by weights that are still to be fitted nothing is hopeless
    examples = _examples_of_both(stages, rows, _examples)
    if sum(example.right >= 0 for example in examples) < FEWEST:  # a model so weak that it suspects nothing: all it flags will do
        start = dataclasses.replace(start, suspicion=default_ranker().suspicion, suspicion_threshold=LOOK_THRESHOLD)
        stages.ranker = start
        examples = _examples_of_both(stages, rows, _examples)
    say(f"{len(examples):,} groups, {sum(example.right >= 0 for example in examples):,} with a right edit")
    weights = named(FEATURES, fit_log_linear(examples, len(FEATURES))) | {"misspelling": MISSPELLING}
    stages.ranker = dataclasses.replace(start, weights=weights)
    stages.hopeless = HOPELESS
    return stages


def _fit_and_judge(
    stages: Stages, fit: Sequence[PairSet], held_back: Mapping[str, Rows], data: Path | None
) -> dict[str, list[JudgedRow]]:
    """Give the ranker of ``stages`` a check fitted on all sets; judge those held back, each part with one fitted without it."""
    always = _always(stages, fit, data)
    if not any(example.right >= 0 for example in always):  # a model so weak that all is hopeless: learn from what there is
        stages.hopeless = 0.0
        always = _always(stages, fit, data)
    parts = [{name: [row for row in rows if _part(row) == part] for name, rows in held_back.items()} for part in range(PARTS)]
    learned = [
        [example for name, rows in part.items() for example in _weighed_examples(stages, rows, _weight(held_back[name]))] for part in parts
    ]
    judged: dict[str, list[JudgedRow]] = {name: [] for name in held_back}
    for number, part in enumerate(parts):
        others = chain.from_iterable(learned[:number] + learned[number + 1 :])
        stages.ranker = dataclasses.replace(stages.ranker, **fit_check([*always, *others]))
        for name, rows in part.items():
            judged[name] += judge(stages, rows)
    stages.ranker = dataclasses.replace(stages.ranker, **fit_check([*always, *chain.from_iterable(learned)]))
    return judged


def _always(stages: Stages, fit: Sequence[PairSet], data: Path | None) -> list[Example]:
    """Examples of these sets for the check."""
    examples = []
    for item in fit:
        reading = by_counts_of(stages, item, data)
        examples += _weighed_examples(reading, item.pairs, item.weight * _weight(item.pairs))
    return examples


def by_counts_of(stages: Stages, item: PairSet, data: Path | None) -> Stages:
    """The stages, but by the counts of ``data`` without the part of the corpus that the rows of ``item`` are from, if any."""
    if item.part == IN_NONE:
        return stages
    if data is None:
        raise CorrectorError(f"{item.name} is said to be of part {item.part} of the corpus; give --data, the folder made by `pack`")
    if Tokenizer.load(data / VOCABULARY).vocabulary != stages.vocabulary:
        raise InputError(data, "has another vocabulary than the model; give the --data it was trained on")
    tables = load_part(data, item.part)
    return _with(stages, Tokenizer(stages.vocabulary, tables.types), stages.slips, tables.word_model)


def _with(stages: Stages, tokenizer: Tokenizer, slips: Slips | None, word_model: WordModel | None) -> Stages:
    """The same stages over the same networks, but with these tables."""
    others = Stages(tokenizer, stages.runtime, stages.ranker, stages.max_length, slips, word_model)
    others.hopeless = stages.hopeless
    return others


def _part(row: tuple[str, str]) -> int:
    """The part of a row held back; rows with one right sentence share it."""
    return zlib.crc32(row[1].encode()) % PARTS


def refit_check(stages: Stages, rows: Rows) -> Ranker:
    """The ranker of ``stages`` with its check drawn towards what these rows say; as it is where nothing is suspected in them."""
    examples = _check_examples(stages, rows)
    return dataclasses.replace(stages.ranker, **fit_check(examples, stages.ranker)) if examples else stages.ranker


def _examples_of_both(stages: Stages, rows: Rows, examples: Callable[[Stages, Rows], list[Example]]) -> list[Example]:
    """Examples of the rows as they are, but of every other row as if none of its slips had been seen before.

    Where rows of one source are left out of the fit, slips help with the errors of people's own text and harm with others; so fitted
    they still help, and harm far less. Slips ``by_slips`` of which is proposed are no such hint, but are counted apart and stand for all.
    """
    if stages.slips is None or stages.ranker.by_slips:
        return examples(stages, rows)
    forgetful = _with(stages, stages.tokenizer, stages.slips.forgotten(), stages.word_model)
    return examples(stages, rows[::2]) + examples(forgetful, rows[1::2])


def _weight(rows: Rows) -> float:
    """How much an example of this set counts for the check."""
    return 1.0 if any(source != target for source, target in rows) else CLEAN_WEIGHT


def _weighed_examples(stages: Stages, rows: Rows, weight: float) -> list[Example]:
    return [dataclasses.replace(example, weight=weight) for example in _examples_of_both(stages, rows, _check_examples)]


def _examples(stages: Stages, rows: Rows) -> list[Example]:
    found = _unlisted(stages, rows)
    return [Example(f.choice.edits.features, _right_edit(f, rows, len(f.choice.edits))) for f in found]


def _check_examples(stages: Stages, rows: Rows) -> list[Example]:
    return [Example(f.choice.check[None], _right_edit(f, rows, 1)) for f in _unlisted(stages, rows)]


def _unlisted(stages: Stages, rows: Rows) -> Iterator[Found]:
    """The groups without a well-known misspelling: the weights of its feature are given, and no others shall make up for them."""
    return (found for found in find_groups(stages, rows) if not found.choice.edits.features[:, _MISSPELLING].any())


def fit_ranker(
    model: Path,
    fit: Sequence[PairSet],
    held_back: Sequence[Path],
    say: Callable[[str], None],
    slips: Sequence[PairSet] = (),
    masked: bool = False,
    data: Path | None = None,
    dry_run: bool = False,
    origin: Origin = TYPED,
) -> None:
    """Calibrate the ranker of a model directory on labelled sets, save it, and bring the manifest up to date; first, where there are
    any, replace its ``slips`` by those in these sets, none of whose rows may be in the others; both are those for text of this ``origin``.
    ``masked`` and ``data`` as in ``calibrate``. The model is as it was until all is done, and stays so on errors and in a ``dry_run``.

    Raises CorrectorError when the files do not give the model both right and wrong edits to learn from.
    """
    if all(item.weight < 1 for item in fit):
        raise CorrectorError("calibrate: all --pairs have a weight below 1, so that none is there to fit the ranker on; give one without")
    held = {path.stem: read_pairs(path) for path in held_back}
    if len(held) < len(held_back):
        raise CorrectorError("calibrate: two files of --held-back have the same name; rename one, as results go by the name")
    told = {
        "fit": [{"name": item.name, "rows": len(item.pairs), "weight": item.weight} for item in fit],
        "held_back": [{"name": path.name, "rows": len(held[path.stem])} for path in held_back],
        "slips": [{"name": item.name, "rows": len(item.pairs), "weight": item.weight} for item in slips],
    }
    say_changed = (lambda _: None) if dry_run else say
    own_slips, own_ranker = of_origin(SLIPS, origin), of_origin(RANKER, origin)
    with changed_together(model, () if dry_run else (own_slips, own_ranker, MANIFEST, CARD)) as copy:
        (copy / own_ranker).parent.mkdir(exist_ok=True)
        if slips:
            count_slips(slips, Tokenizer.load(find_model(copy).vocabulary)).save(copy / own_slips)
            refresh_manifest(copy, say_changed)
        directory = dataclasses.replace(find_model(copy), origin=origin)
        try:
            ranker = calibrate(directory, fit, held, say, masked, data, BY_SLIPS[origin])
        except ValueError as error:  # nothing to fit, or one class only
            raise CorrectorError(
                f"calibrate: {error}; give more labelled rows, right and wrong, or a better model"
            ) from error
        ranker.save(copy / own_ranker)
        refresh_manifest(copy, say_changed, calibration=told, origin=origin)
    say(f"min_confidence {ranker.min_confidence}, suspicion_threshold {ranker.suspicion_threshold}")


@dataclass(frozen=True)
class Found:
    """A group found in the window of a row."""

    row: int
    sentence: Sentence
    choice: GroupChoice


def fit_suspicion(stages: Stages, rows: Rows) -> tuple[float, float, float, float]:
    """``Ranker.suspicion``: logistic regression on the characters that are flagged, wrong or not."""
    from sklearn.linear_model import LogisticRegression

    values: list[NDArray[np.float32]] = []
    wrong: list[bool] = []
    for block, looks in read_windows(stages, rows, lambda windows: list(stages.looks(windows))):
        for look in looks:
            values.append(np.stack([look.logits, look.best_others, look.levels], 1))
            row, sentence = block[look.window]
            source, target = (text[sentence.span.start :] for text in rows[row])
            wrong += [source[index] != target[index] for index in look.indexes]
    fitted = LogisticRegression().fit(np.concatenate(values), np.array(wrong))
    detection, other, level = (round(float(weight), 5) for weight in fitted.coef_[0])
    return detection, other, round(float(fitted.intercept_[0]), 5), level


def find_groups(stages: Stages, rows: Rows) -> Iterator[Found]:
    """Every group of suspicions in the sources of ``rows``, in order."""
    for block, choices in read_windows(stages, rows, stages.choices):
        for (number, sentence), groups in zip(block, choices, strict=True):
            yield from (Found(number, sentence, choice) for choice in groups)


Block = list[tuple[int, Sentence]]
"""Windows of the sources, with the numbers of their rows."""


def read_windows(
    stages: Stages, rows: Rows, ask: Callable[[list[Sentence]], Result]
) -> Iterator[tuple[Block, Result]]:
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
