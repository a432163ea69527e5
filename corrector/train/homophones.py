"""Fits what says how surely a whole word is meant that sounds like what stands there (``corrector.homophones``), on labelled sentences.

Of such slips labelled sets have few, so that a few weights are all that can be learned: two logistic regressions, one over what is known of
a word before the networks read it and one over all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corrector.electra.manifest import MANIFEST
from corrector.electra.model import RANKER
from corrector.electra.model_dir import find_model
from corrector.errors import CorrectorError
from corrector.homophones import HOPE_FEATURES, WORD_FEATURES, Offer, WordWeights, offered, read
from corrector.rank import Ranker
from corrector.stages import Stages
from corrector.train.calibrate import FEWEST, by_counts_of, read_windows
from corrector.train.pairs import PairSet
from corrector.train.release import CARD, refresh_manifest
from corrector.train.workplace import changed_together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corrector.electra.runtime import Floats
    from corrector.types import Sentence

START = WordWeights(
    dict.fromkeys(HOPE_FEATURES, 0.0) | {
        "bias": -13.5, "word_model_gain": 0.27, "first": 0.24, "second": 0.31, "associated_before": -0.9, "associated_after": 7.8,
        "commoner": -0.09, "pinyin_similarity": 5.6,
    },
    dict.fromkeys(WORD_FEATURES, 0.0),
)  # fmt: skip
"""Weights by hand, by which every fit takes its examples."""
LEAST_HOPE = 0.002  # of an example
INVERSE_PENALTY = 1.0  # of the weights, features being scaled to variance 1


def fit_homophones(model: Path, fit: Sequence[PairSet], say: Callable[[str], None], data: Path | None = None) -> None:
    """Fit ``Ranker.words`` of a model directory on labelled sets, each row of which counts for its set's weight; save the ranker, and bring
    the manifest up to date. Text that the model's counts were made of is read by those of the folder ``data`` that are without its part
    of the corpus. None of the sets may be a test set. The model is as it was until all is done, and stays so on errors.

    Raises CorrectorError when the sets have hardly any such word.
    """
    with changed_together(model, (RANKER, MANIFEST, CARD)) as copy:
        directory = find_model(copy)
        if directory.ranker is None:
            raise CorrectorError(f"homophones: {model} has no {RANKER}; make one with `calibrate` first")
        stages = Stages.of(directory, Ranker.load(directory.ranker))
        words = fitted(stages, fit, say, data)
        dataclasses.replace(stages.ranker, words=words).save(copy / RANKER)
        refresh_manifest(copy, say)


def fitted(
    stages: Stages, fit: Sequence[PairSet], say: Callable[[str], None], data: Path | None = None, start: WordWeights = START
) -> WordWeights:
    """The weights for the model of ``stages``, whatever it has: examples are what ``start`` hopes for. Raises CorrectorError when there is
    too little to learn from."""
    features, right, counts = [], [], []
    for item in fit:
        reading = by_counts_of(stages, item, data)
        found = list(_examples(reading, item.pairs, start))
        say(f"{item.name}: {len(found):,} words, {sum(is_right for _, is_right in found):,} of them meant")
        features += [own for own, _ in found]
        right += [is_right for _, is_right in found]
        counts += [item.weight] * len(found)
    if sum(right) < FEWEST:
        raise CorrectorError(f"homophones: only {sum(right)} words in the labelled sets are meant; give more rows with such slips")
    table, meant, weights = np.array(features), np.array(right), np.array(counts)
    hope, check = _regression(table[:, : len(HOPE_FEATURES)], meant, weights), _regression(table, meant, weights)
    return WordWeights(dict(zip(HOPE_FEATURES, hope, strict=True)), dict(zip(WORD_FEATURES, check, strict=True)))


def _examples(stages: Stages, rows: Sequence[tuple[str, str]], start: WordWeights) -> Iterator[tuple[Floats, bool]]:
    """``WORD_FEATURES`` of every word that may be meant in the sources of ``rows``, and whether it is."""

    def ask(windows: list[Sentence]) -> list[tuple[Offer, Floats]]:
        encodings = stages.tokenizer.encode_many([window.text for window in windows])
        readings = stages.runtime.read(encodings)
        offers = offered(windows, encodings, readings, stages.characters, start, LEAST_HOPE)
        return list(zip(offers, read(stages, offers, encodings, readings), strict=True)) if offers else []

    for block, found in read_windows(stages, rows, ask):
        for offer, features in found:
            number, window = block[offer.window]
            place = window.span.start + offer.index
            new = "".join([stages.vocabulary[i] for i in offer.ids])
            yield features, rows[number][1][place : place + 2] == new


def _regression(features: Floats, right: NDArray[np.bool_], counts: NDArray[np.float64]) -> list[float]:
    """Weights of the features, the first of which is 1."""
    from sklearn.linear_model import LogisticRegression

    scale = features[:, 1:].std(0)
    scale[scale < 1e-6] = 1.0
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=5000).fit(features[:, 1:] / scale, right, sample_weight=counts)
    return [round(float(value), 5) for value in (*model.intercept_, *model.coef_[0] / scale)]
