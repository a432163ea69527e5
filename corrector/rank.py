"""Ranking: which edit of a group of neighbouring suspicions is right, if any.

A log-linear model over named features. For a group g with edits e (single characters, or two or three neighbours changed together as
one mistyped word), P(e | g) = exp(w·f(e)) / (1 + Σ exp(w·f(e'))); the 1 stands for leaving the text alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corrector.electra.static_map import LARGEST_VALUE
from corrector.errors import ModelError
from corrector.propose import similar_characters
from corrector.similarity.glyph import glyph_similarity
from corrector.similarity.pinyin import pinyin_similarity
from corrector.types import Candidate, Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corrector.electra.marks import MarkTables
    from corrector.electra.runtime import Encoding, Floats

FEATURES = (
    "changed", "detection", "visible_log_odds", "masked_log_odds", "visible_log_probability", "masked_log_probability",
    "pinyin_similarity", "glyph_similarity", "same_sound", "dissimilar", "in_name", "ngram_gain",
    "known_before", "known_after", "commoner", "word_gain", "long_word_gain", "together",
)  # fmt: skip
CHECK_FEATURES = ("bias", "score", "detection_after", "suspicion_removed", "margin", *FEATURES)

PAIR_CHOICES, TRIPLE_CHOICES, WORD_CHOICES = 5, 3, 4
SAME_SOUND, NEAR_SOUND, ALIKE = 0.9, 0.5, 0.45
_LOG_ODDS_LIMIT = 15.0
_SOUND, _SHAPE = FEATURES.index("pinyin_similarity"), FEATURES.index("glyph_similarity")
_CONTEXT = 3  # characters around a group whose pairs, triples and words an edit can change


@dataclass(frozen=True)
class Proposal:
    """What is known about one suspicious character: its place in the window and among the tokens, the discriminator's logit,
    how likely it is in a personal name (0..1), both views of the generator, and its candidates."""

    index: int
    token: int
    logit: float
    in_name: float
    visible: Floats  # (vocabulary,)
    masked: Floats
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Edit:
    """A possible change of neighbouring characters, the first at ``index`` of the window; ``features`` follow ``FEATURES``."""

    index: int
    token: int
    original: str
    replacement: str
    features: Floats
    pinyin_similarity: float
    glyph_similarity: float


@dataclass(frozen=True)
class Ranker:
    """Weights of both steps and the calibration (Platt: logit → scale·logit + offset).

    Before them two gates bound the work. The generator looks at a character from the discriminator's probability
    ``look_threshold`` on; it is suspicious when σ(a·logit + b·ln p + c) ≥ ``suspicion_threshold``, with ``suspicion`` (a, b, c)
    and p the generator's probability of the likeliest other character.

    The check is piecewise linear in each feature: ``check_bends`` names (knot, weight) pairs, each of which adds
    weight·max(0, value - knot) to what ``check_weights`` gives.
    """

    weights: Mapping[str, float]
    check_weights: Mapping[str, float]
    calibration: tuple[float, float] = (1.0, 0.0)
    look_threshold: float = 0.05
    suspicion: tuple[float, float, float] = (1.0, 0.0, 0.0)
    suspicion_threshold: float = 0.05
    min_confidence: float = 0.5
    check_bends: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    profiles: Mapping[str, float] = field(default_factory=dict)  # confidences asked for by name (``config.profile_confidence``)
    source: str = field(default="built in", compare=False)

    @classmethod
    def load(cls, path: Path) -> Ranker:
        """Read ``ranker.json``. Raises ModelError if it does not name exactly the features of this version."""
        try:
            data: dict[str, Any] = json.loads(path.read_text("utf-8"))
            detection, other, offset = map(float, data["suspicion"])
            ranker = cls(
                data["weights"], data["check_weights"], (data["calibration"]["scale"], data["calibration"]["offset"]),
                data["look_threshold"], (detection, other, offset), data["suspicion_threshold"], data["min_confidence"],
                {name: tuple((float(k), float(w)) for k, w in bends) for name, bends in data["check_bends"].items()},
                {name: float(confidence) for name, confidence in data["profiles"].items()}, str(path),
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(path, f"cannot be read as a ranker ({error!r}); install or copy the model again") from error
        known = set(ranker.weights) == set(FEATURES) and set(ranker.check_weights) == set(CHECK_FEATURES)
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
        path.write_text(json.dumps(record, indent=1) + "\n", "utf-8")

    def is_suspicious(self, logits: Floats, best_others: Floats) -> NDArray[np.bool_]:
        """Which characters are worth proposals, from the discriminator's logits and the generator's best other (n,) each."""
        detection, other, offset = self.suspicion
        score = detection * logits + (other * best_others if other else 0.0) + offset
        found: NDArray[np.bool_] = score >= np.log(self.suspicion_threshold / (1 - self.suspicion_threshold))
        return found

    def scores(self, edits: Sequence[Edit]) -> Floats:
        """w·f of each edit: (edits,)."""
        weights = np.array([self.weights[name] for name in FEATURES], dtype=np.float32)
        scores: Floats = np.stack([edit.features for edit in edits]) @ weights
        return scores

    def confidences(self, checks: Floats) -> Floats:
        """Calibrated probability of each checked edit of one group, from its check features (edits, len(CHECK_FEATURES))."""
        odds = np.exp(np.clip(self.check_shares(checks).sum(1), -30, 30))
        shares = np.clip(odds / (1.0 + odds.sum()), 1e-6, 1 - 1e-6)
        scale, offset = self.calibration
        logits = np.clip(scale * np.log(shares / (1 - shares)) + offset, -30, 30)
        confidences: Floats = 1.0 / (1.0 + np.exp(-logits))
        return confidences

    def check_shares(self, checks: Floats) -> Floats:
        """What each check feature adds to the score of each edit: (edits, len(CHECK_FEATURES))."""
        shares = checks * np.array([self.check_weights[name] for name in CHECK_FEATURES], dtype=np.float32)
        for name, bends in self.check_bends.items():
            column = CHECK_FEATURES.index(name)
            for knot, weight in bends:
                shares[:, column] += np.float32(weight) * np.maximum(checks[:, column] - np.float32(knot), 0)
        return shares


def default_ranker() -> Ranker:
    """For models that bring no ranker (public checkpoints): hand-set weights, a cautious threshold."""
    weights = dict.fromkeys(FEATURES, 0.0) | {
        "changed": -6.0, "detection": 0.5, "masked_log_odds": 0.5, "visible_log_odds": 0.3, "pinyin_similarity": 4.0,
        "glyph_similarity": 2.0, "dissimilar": -4.0, "word_gain": 0.5, "together": -1.0,
    }  # fmt: skip
    check = dict.fromkeys(CHECK_FEATURES, 0.0) | {"score": 1.0, "detection_after": -0.3, "suspicion_removed": 0.1, "margin": 0.0}
    return Ranker(weights, check, look_threshold=0.2, suspicion_threshold=0.2, min_confidence=0.8)


def group(proposals: Sequence[Proposal], longest: int = 3) -> list[tuple[Proposal, ...]]:
    """Neighbouring proposals put together, at most ``longest`` in a group."""
    groups: list[list[Proposal]] = []
    for proposal in proposals:
        last = groups[-1][-1] if groups else None
        follows = last is not None and (last.index + 1, last.token + 1) == (proposal.index, proposal.token)
        if follows and len(groups[-1]) < longest:
            groups[-1].append(proposal)
        else:
            groups.append([proposal])
    return [tuple(members) for members in groups]


def edits_of(
    members: Sequence[Proposal], encoding: Encoding, vocabulary: Sequence[str], id_of: Mapping[str, int], tables: MarkTables
) -> list[Edit]:
    """All edits considered for a group, with their features; empty when there are no candidates."""
    changes: dict[tuple[int, tuple[int, ...]], None] = {}  # (first member, new ids)
    choices = [[id_of[candidate.text] for candidate in member.candidates] for member in members]
    for first, options in enumerate(choices):
        changes.update(((first, (option,)), None) for option in options)
    for first in range(len(members) - 1):
        pairs = product(choices[first][:PAIR_CHOICES], choices[first + 1][:PAIR_CHOICES])
        changes.update(((first, pair), None) for pair in pairs)
        originals = [int(encoding.ids[member.token]) for member in members[first : first + 2]]
        changes.update(((first, pair), None) for pair in similar_words(originals, vocabulary, id_of, tables))
    if len(members) == 3:
        changes.update(((0, triple), None) for triple in product(*(options[:TRIPLE_CHOICES] for options in choices)))
    if not changes:
        return []
    gains = _gains(members, encoding, list(changes), tables)
    single: dict[tuple[int, int], tuple[float, ...]] = {}  # (member, new id): characters recur in many edits
    edits = []
    for (first, ids), gain in zip(changes, gains.tolist(), strict=True):
        for place, new in enumerate(ids, first):
            if (place, new) not in single:
                member = members[place]
                single[place, new] = _character_features(member, int(encoding.ids[member.token]), new, vocabulary)
        parts = [single[place, new] for place, new in enumerate(ids, first)]
        edits.append(_edit(members[first : first + len(ids)], encoding, vocabulary, ids, parts, gain))
    return edits


def similar_words(
    originals: Sequence[int], vocabulary: Sequence[str], id_of: Mapping[str, int], tables: MarkTables
) -> list[tuple[int, int]]:
    """Dictionary words of two characters, both different from the originals but similar to them, the most frequent first."""
    options = [[id_of[c] for c in similar_characters(vocabulary[i])[:30] if c in id_of] for i in originals]
    if not all(options):
        return []
    left, right = (grid.ravel() for grid in np.meshgrid(*map(np.array, options), indexing="ij"))
    is_word = tables.is_word(left, right)
    left, right = left[is_word], right[is_word]
    steps = np.zeros(len(left)) if tables.ngrams is None else tables.ngrams.pair_step(left, right).astype(np.int64)
    best = np.argsort(-steps, kind="stable")[:WORD_CHOICES]
    return [(int(left[i]), int(right[i])) for i in best]


def _gains(
    members: Sequence[Proposal], encoding: Encoding, changes: list[tuple[int, tuple[int, ...]]], tables: MarkTables
) -> Floats:
    """What each change does to the text around it: ``ngram_gain`` to ``long_word_gain`` of FEATURES, (changes, 6)."""
    start = max(0, members[0].token - _CONTEXT)
    region = np.asarray(encoding.ids[start : members[-1].token + _CONTEXT + 1], dtype=np.int64)
    texts = np.repeat(region[None], len(changes) + 1, 0)  # the last row is the original
    for row, (first, ids) in enumerate(changes):
        place = members[first].token - start
        texts[row, place : place + len(ids)] = ids
    bits = tables.word_bits(texts)
    words = np.stack([bits & 1, ((bits & 4) > 0).astype(int) + ((bits & 8) > 0)], -1).sum(1)
    places = np.array([(members[first].token - start, len(ids)) for first, ids in changes])
    gains: Floats = np.column_stack([_fit(texts, places, tables), words[:-1] - words[-1]]).astype(np.float32)
    return gains


def _fit(texts: NDArray[np.int64], places: NDArray[np.int64], tables: MarkTables) -> Floats:
    """How the corpus knows each changed text (all rows but the last) and the original: ``ngram_gain``, the most frequent triple
    through the change before and after it (0..1), and ln of how much commoner the new characters are; (changes, 4).

    ``places`` (changes, 2) are the first changed column and the number of columns. All zeros without corpus counts.
    """
    if tables.ngrams is None:
        return np.zeros((len(places), 4), dtype=np.float32)
    padded = np.pad(texts, ((0, 0), (2, 2)))
    score, steps = tables.ngrams.text_fit(padded)
    triples = steps / np.float32(LARGEST_VALUE)  # (rows, columns + 2), by their first token
    first, size = places[:, :1], places[:, 1:]
    column = np.arange(triples.shape[1])
    through = (column >= first) & (column < first + size + 2)
    before, after = (np.where(through, known, 0).max(1) for known in (triples[-1:], triples[:-1]))
    counts = np.log(tables.ngrams.counts[texts] + 1)
    fit: Floats = np.column_stack([score[:-1] - score[-1], before, after, counts[:-1].sum(1) - counts[-1].sum()])
    return fit


def _character_features(member: Proposal, old: int, new: int, vocabulary: Sequence[str]) -> tuple[float, ...]:
    """What one changed character adds to the features up to and including ``in_name``, in their order."""
    a, b = vocabulary[old], vocabulary[new]
    sound, shape = pinyin_similarity(a, b), glyph_similarity(a, b)
    visible, masked = member.visible[new], member.masked[new]
    return (
        1.0, member.logit, _limit(visible - member.visible[old]), _limit(masked - member.masked[old]), _limit(visible),
        _limit(masked), sound, shape, float(sound >= SAME_SOUND), float(max(sound, shape) < ALIKE), member.in_name,
    )  # fmt: skip


def _edit(
    changed: Sequence[Proposal], encoding: Encoding, vocabulary: Sequence[str], ids: tuple[int, ...],
    parts: Sequence[tuple[float, ...]], gains: Sequence[float],
) -> Edit:  # fmt: skip
    """The edit that gives the ``changed`` members these ids; ``parts`` are their ``_character_features``."""
    sums = [sum(values) for values in zip(*parts, strict=True)]
    size = len(ids)
    features = np.array([*sums, *gains, float(size > 1)], dtype=np.float32)
    original = "".join(vocabulary[int(encoding.ids[member.token])] for member in changed)
    return Edit(
        changed[0].index, changed[0].token, original, "".join(vocabulary[i] for i in ids), features,
        sums[_SOUND] / size, sums[_SHAPE] / size,
    )  # fmt: skip


def _limit(value: Any) -> float:
    return float(min(_LOG_ODDS_LIMIT, max(-_LOG_ODDS_LIMIT, value)))


def reason_of(edit: Edit) -> Reason:
    """同音, 近音, 形近, 词 or context: the strongest evidence for an edit."""
    if edit.pinyin_similarity >= SAME_SOUND:
        return "same_sound"
    if edit.glyph_similarity >= ALIKE and edit.glyph_similarity > edit.pinyin_similarity:
        return "shape"
    if edit.pinyin_similarity >= NEAR_SOUND:
        return "near_sound"
    if edit.glyph_similarity >= ALIKE:
        return "shape"
    if edit.features[FEATURES.index("word_gain")] > 0 or edit.features[FEATURES.index("long_word_gain")] > 0:
        return "word"
    return "context"
