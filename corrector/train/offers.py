"""Fits what says how surely two characters are meant instead of two that stand there (``corrector.offers``), on labelled sentences.

Of such slips labelled sets have few, so that a few weights are all that can be learned: two logistic regressions of each kind, one over
what is known of an offer before the networks read it and one over all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corrector.electra.manifest import MANIFEST
from corrector.electra.model import RANKER
from corrector.electra.model_dir import find_model
from corrector.errors import CorrectorError
from corrector.offer_options import KINDS, Kind
from corrector.offers import HOPE_FEATURES, OFFER_FEATURES, Offer, OfferWeights, offered, read
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

_NONE = dict.fromkeys(OFFER_FEATURES, 0.0)
START: Mapping[Kind, OfferWeights] = {
    "words": OfferWeights(
        dict.fromkeys(HOPE_FEATURES, 0.0) | {
            "bias": -13.5, "word_model_gain": 0.27, "first": 0.24, "second": 0.31, "associated_before": -0.9, "associated_after": 7.8,
            "commoner": -0.09, "pinyin_similarity": 5.6,
        },
        _NONE,
    ),
    "swaps": OfferWeights(dict.fromkeys(HOPE_FEATURES, 0.0), _NONE),  # of these there are few that fit better
    "phrases": OfferWeights(dict.fromkeys(HOPE_FEATURES, 0.0), _NONE),
}  # fmt: skip
"""Weights by hand, by which every fit takes its examples."""
LEAST_HOPE = 0.002  # of an example
INVERSE_PENALTY = 1.0  # of the weights, features being scaled to variance 1


def fit_offers(
    model: Path, fit: Sequence[PairSet], say: Callable[[str], None], data: Path | None = None, kinds: Sequence[Kind] = KINDS
) -> None:
    """Fit ``Ranker.offers`` of a model directory on labelled sets, each row of which counts for its set's weight; save the ranker, and
    bring the manifest up to date. Text that the model's counts were made of is read by those of the folder ``data`` that are without its
    part of the corpus. None of the sets may be a test set. The model is as it was until all is done, and stays so on errors.

    Raises CorrectorError when the sets have hardly any slip of either kind.
    """
    with changed_together(model, (RANKER, MANIFEST, CARD)) as copy:
        directory = find_model(copy)
        if directory.ranker is None:
            raise CorrectorError(f"offers: {model} has no {RANKER}; make one with `calibrate` first")
        stages = Stages.of(directory, Ranker.load(directory.ranker))
        weights = {**stages.ranker.offers, **fitted(stages, fit, say, data, {kind: START[kind] for kind in kinds})}
        dataclasses.replace(stages.ranker, offers=weights).save(copy / RANKER)
        refresh_manifest(copy, say)


def fitted(
    stages: Stages,
    fit: Sequence[PairSet],
    say: Callable[[str], None],
    data: Path | None = None,
    start: Mapping[Kind, OfferWeights] = START,
) -> dict[Kind, OfferWeights]:
    """The weights for the model of ``stages``, whatever it has: examples are what ``start`` hopes for. None of a kind of which the
    sets have too few; raises CorrectorError when that is so of all."""
    examples: dict[Kind, list[tuple[Floats, bool, float]]] = {kind: [] for kind in start}
    for item in fit:
        reading = by_counts_of(stages, item, data)
        for kind, features, is_right in _examples(reading, item.pairs, start):
            examples[kind].append((features, is_right, item.weight))
        told = (f"{len(own):,} {kind}, {sum(right for _, right, _ in own):,} of them meant" for kind, own in examples.items())
        say(f"to {item.name}: {'; '.join(told)}")
    enough = {kind: own for kind, own in examples.items() if sum(right for _, right, _ in own) >= FEWEST}
    if not enough:
        raise CorrectorError(f"offers: of each kind fewer than {FEWEST} in the labelled sets are meant; give more rows with such slips")
    for kind in examples.keys() - enough.keys():
        say(f"too few {kind} are meant to learn from: they stay as they were")
    return {kind: _fitted(own) for kind, own in enough.items()}


def _fitted(examples: Sequence[tuple[Floats, bool, float]]) -> OfferWeights:
    """The weights for examples of one kind, each with its features, whether it is meant, and for how much it counts."""
    features, right, counts = (np.array(column) for column in zip(*examples, strict=True))
    hope, check = _regression(features[:, : len(HOPE_FEATURES)], right, counts), _regression(features, right, counts)
    return OfferWeights(dict(zip(HOPE_FEATURES, hope, strict=True)), dict(zip(OFFER_FEATURES, check, strict=True)))


def _examples(
    stages: Stages, rows: Sequence[tuple[str, str]], start: Mapping[Kind, OfferWeights]
) -> Iterator[tuple[Kind, Floats, bool]]:
    """The kind and the ``OFFER_FEATURES`` of all that may be meant in the sources of ``rows``, and whether it is."""

    def ask(windows: list[Sentence]) -> list[tuple[Offer, Floats]]:
        encodings = stages.tokenizer.encode_many([window.text for window in windows])
        readings = stages.runtime.read(encodings)
        offers = [
            offer
            for kind, weights in start.items()
            for offer in offered(kind, windows, encodings, readings, stages.characters, weights, LEAST_HOPE)
        ]
        return list(zip(offers, read(stages, offers, encodings, readings), strict=True)) if offers else []

    for block, found in read_windows(stages, rows, ask):
        for offer, features in found:
            number, window = block[offer.place.window]
            place = window.span.start + offer.place.index
            new = "".join([stages.vocabulary[i] for i in offer.ids])
            yield offer.kind, features, rows[number][1][place : place + len(new)] == new


def _regression(features: Floats, right: NDArray[np.bool_], counts: NDArray[np.float64]) -> list[float]:
    """Weights of the features, the first of which is 1."""
    from sklearn.linear_model import LogisticRegression

    scale = features[:, 1:].std(0)
    scale[scale < 1e-6] = 1.0
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=5000).fit(features[:, 1:] / scale, right, sample_weight=counts)
    return [round(float(value), 5) for value in (*model.intercept_, *model.coef_[0] / scale)]
