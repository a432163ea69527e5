"""Ranking: which edit of a group of neighbouring suspicions is right, if any.

A log-linear model over named features. For a group g with edits e (single characters, or two or three neighbours changed together as
one mistyped word), P(e | g) = exp(w·f(e)) / (1 + Σ exp(w·f(e'))); the 1 stands for leaving the text alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corrector.edit_features import FEATURES
from corrector.errors import ModelError
from corrector.offer_options import KINDS, Kind
from corrector.offers import OfferWeights
from corrector.surroundings import SURROUNDINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corrector.electra.runtime import Floats

MASKED = ("masked_log_odds", "masked_log_probability")
BESIDE = tuple(f"{where}_{when}" for when in ("before", "after") for where in ("two_left", "left", "right", "two_right"))
"""The discriminator's logits of the two tokens on either side, without the edit and with it."""
ALTERNATIVES = ("alternative_before", "alternative_after")
"""Whether the marks name anything as fitting better at the edit's place, and whether they still do with the edit."""
CHECK_FEATURES = (
    "bias", "score", "detection_after", "suspicion_removed", "margin", "wide_word_model_gain", "level_after", "company",
    *BESIDE, *ALTERNATIVES, *SURROUNDINGS, *FEATURES,
)  # fmt: skip


@dataclass(frozen=True)
class Ranker:
    """Weights of both steps and the calibration (Platt: logit → scale·logit + offset). A feature that the
    ranker of an earlier version lacks counts for nothing.

    Before them two gates bound the work. The generator looks at a character from the discriminator's probability
    ``look_threshold`` on, where its answer could matter; it is suspicious when σ(a·logit + b·ln p + c + d·level) ≥
    ``suspicion_threshold``, with ``suspicion`` (a, b, c, d), p the generator's probability of the likeliest other character, and the level
    of its mark (``marks.levels_of``). Beside what the generator, sound and shape offer in its place, ``by_slips`` of the characters that
    were most often meant where one like it stood are considered.

    The check is piecewise linear in each feature: ``check_bends`` names (knot, weight) pairs, each of which adds
    weight·max(0, value - knot) to what ``check_weights`` gives.
    """

    weights: Mapping[str, float]
    check_weights: Mapping[str, float]
    calibration: tuple[float, float] = (1.0, 0.0)
    look_threshold: float = 0.05
    suspicion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    suspicion_threshold: float = 0.05
    by_slips: int = 0
    min_confidence: float = 0.5
    check_bends: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    profiles: Mapping[str, float] = field(default_factory=dict)  # confidences asked for by name (``config.profile_confidence``)
    offers: Mapping[Kind, OfferWeights] = field(default_factory=dict)  # kinds of which there are none are left alone
    source: str = field(default="built in", compare=False)

    @classmethod
    def load(cls, path: Path) -> Ranker:
        """Read ``ranker.json``. Raises ModelError if it names features that this version does not know."""
        try:
            data: dict[str, Any] = json.loads(path.read_text("utf-8"))
            detection, other, offset, level = map(float, [*data["suspicion"], 0.0][:4])  # earlier versions had no levels
            calibration = data["calibration"]["scale"], data["calibration"]["offset"]
            ranker = cls(
                _completed(data["weights"], FEATURES), _completed(data["check_weights"], CHECK_FEATURES), calibration,
                data["look_threshold"], (detection, other, offset, level), data["suspicion_threshold"], int(data.get("by_slips", 0)),
                data["min_confidence"],
                {name: tuple((float(k), float(w)) for k, w in bends) for name, bends in data["check_bends"].items()},
                {name: float(confidence) for name, confidence in data["profiles"].items()},
                {kind: OfferWeights.of(data[kind]) for kind in KINDS if kind in data}, str(path),
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(path, f"cannot be read as a ranker ({error!r}); install or copy the model again") from error
        known = set(ranker.weights) == set(FEATURES) and set(ranker.check_weights) == set(CHECK_FEATURES)
        known = known and all(weights.are_known for weights in ranker.offers.values())
        if not known or not set(ranker.check_bends) <= set(CHECK_FEATURES):
            raise ModelError(path, "has other features than this version; use the model this version came with")
        return ranker

    def save(self, path: Path) -> None:
        scale, offset = self.calibration
        record = {
            "weights": dict(self.weights), "check_weights": dict(self.check_weights), "check_bends": dict(self.check_bends),
            "calibration": {"scale": scale, "offset": offset},
            "look_threshold": self.look_threshold, "suspicion": list(self.suspicion),
            "suspicion_threshold": self.suspicion_threshold, "min_confidence": self.min_confidence,
            "profiles": dict(self.profiles),
        }  # fmt: skip
        record |= {"by_slips": self.by_slips} if self.by_slips else {}
        record |= {kind: weights.record() for kind, weights in self.offers.items()}
        path.write_text(json.dumps(record, indent=1) + "\n", "utf-8")

    def is_suspicious(self, logits: Floats, best_others: Floats, levels: NDArray[Any]) -> NDArray[np.bool_]:
        """Which characters are worth proposals, from the discriminator's logits, the generator's best other and the levels (n,) each."""
        detection, other, offset, level = self.suspicion
        score = detection * logits + (other * best_others if other else 0.0) + offset + level * levels
        found: NDArray[np.bool_] = score >= np.log(self.suspicion_threshold / (1 - self.suspicion_threshold))
        return found

    def may_be_suspicious(self, logits: Floats, levels: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of these ``is_suspicious`` could find so, whatever the generator says of them: the likeliest other has ln p = 0 at most."""
        certain = np.zeros_like(logits)
        return self.is_suspicious(logits, certain, levels) | (self.suspicion[1] < 0)

    def scores(self, features: Floats) -> Floats:
        """w·f of each edit: (edits, FEATURES) → (edits,); summed in double precision, so that it is the same beside any others."""
        scores: Floats = (features.astype(np.float64) @ self._weights).astype(np.float32)
        return scores

    def confidences(self, checks: Floats) -> Floats:
        """Calibrated probability of each group's best edit, from its check features (groups, CHECK_FEATURES)."""
        scale, offset = self.calibration
        scores = np.clip(self.check_shares(checks).sum(1), -15, 15)
        logits = np.clip(scale * scores + offset, -30, 30)
        confidences: Floats = 1.0 / (1.0 + np.exp(-logits))
        return confidences

    def check_shares(self, checks: Floats) -> Floats:
        """What each check feature adds to the score of each edit: (edits, CHECK_FEATURES)."""
        weights, columns, knots, slopes = self._check
        bent = np.maximum(checks[:, columns] - knots, 0).astype(np.float64)
        shares: Floats = (checks * weights + bent @ slopes).astype(np.float32)
        return shares

    @cached_property
    def reads_masked(self) -> bool:
        """Whether it weighs what the generator makes of a character that it does not see: else the generator need not be asked."""
        used = {name for weights in (self.weights, self.check_weights) for name, weight in weights.items() if weight}
        used |= {name for name, bends in self.check_bends.items() if any(weight for _, weight in bends)}
        return not used.isdisjoint(MASKED)

    @cached_property
    def _weights(self) -> Floats:
        return np.array([self.weights[name] for name in FEATURES], dtype=np.float32)

    @cached_property
    def _check(self) -> tuple[Floats, NDArray[np.int64], Floats, Floats]:
        """Weights, and of every bend its feature's column, its knot, and its weight in a row that is zero elsewhere."""
        weights = np.array([self.check_weights[name] for name in CHECK_FEATURES], dtype=np.float32)
        bends = [(CHECK_FEATURES.index(name), *bend) for name, own in self.check_bends.items() for bend in own]
        columns = np.array([column for column, _, _ in bends], dtype=np.int64)
        slopes = np.zeros((len(bends), len(CHECK_FEATURES)), dtype=np.float32)
        slopes[np.arange(len(bends)), columns] = [weight for _, _, weight in bends]
        return weights, columns, np.array([knot for _, knot, _ in bends], dtype=np.float32), slopes


def _completed(weights: Mapping[str, float], features: Sequence[str]) -> dict[str, float]:
    return dict.fromkeys(features, 0.0) | dict(weights)


def belief(scores: Floats, sizes: Sequence[int]) -> Floats:
    """P(e | g) of edits with these scores, in groups of these sizes one after another, none of them empty: (edits,)."""
    starts = np.cumsum([0, *sizes[:-1]])
    odds: Floats = np.exp(np.clip(scores, -30, 30))
    shares: Floats = odds / np.repeat(1 + np.add.reduceat(odds, starts), sizes)
    return shares


def default_ranker() -> Ranker:
    """For models that bring no ranker (public checkpoints): hand-set weights, a cautious threshold."""
    weights = dict.fromkeys(FEATURES, 0.0) | {
        "changed": -6.0, "detection": 0.5, "masked_log_odds": 0.5, "visible_log_odds": 0.3, "pinyin_similarity": 4.0,
        "glyph_similarity": 2.0, "dissimilar": -4.0, "word_gain": 0.5, "together": -1.0,
    }  # fmt: skip
    check = dict.fromkeys(CHECK_FEATURES, 0.0) | {"score": 1.0, "detection_after": -0.3, "suspicion_removed": 0.1, "margin": 0.0}
    return Ranker(weights, check, look_threshold=0.2, suspicion_threshold=0.2, min_confidence=0.8)
