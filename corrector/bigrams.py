"""Two neighbours changed at once: whole words written for others that sound alike, as input methods offer them (接待的有课 for 游客), and
characters in the other order (正真 for 真正).

Each of two such characters may fit the other, so that neither looks very wrong, and to change one alone is never right. So wherever the
discriminator has the least doubt of one of two neighbours, the words of the lexicon that sound like both and have neither are held against
them, and so is their exchange. What is known without asking the networks again picks one of a kind for each place; if there is hope for it,
they read it, in its place and masked, and all of that says how surely it is meant. Both steps are logistic regressions, of each kind apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from corrector.check import WORDS_AROUND, logits_beside, suspicions
from corrector.detect import is_correctable
from corrector.edit_features import SAME_SOUND
from corrector.electra.associations import WordsAround
from corrector.electra.look_alikes import joined
from corrector.electra.marks import levels_of
from corrector.electra.static_map import LARGEST_VALUE
from corrector.in_order import portions
from corrector.propose import around
from corrector.similarity.phrases import set_phrases

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corrector.electra.runtime import Encoding, Floats, Reading
    from corrector.propose import Characters
    from corrector.stages import Stages
    from corrector.types import Reason, Sentence

Kind = Literal["words", "swaps"]
"""Words that sound alike, and characters in the other order."""
KINDS: tuple[Kind, ...] = get_args(Kind)

HOPE_FEATURES = (
    "bias", "word_model_gain", "first", "second", "left", "right", "associated_before", "associated_after", "commoner",
    "pinyin_similarity", "was_word", "level", "slip",
)  # fmt: skip
"""By how much likelier the two make their surroundings as a row of words, in nats; the discriminator's logits of the two characters and of
those beside them; the strongest associations of what stands there and of the two with words around, 0..1; ln of how much commoner
they are; how alike they sound, 0..2; whether what stands there is a word, too; the higher level of the two marks; and ln of how often
these characters were seen written for those."""
BIGRAM_FEATURES = (
    *HOPE_FEATURES, "first_after", "second_after", "left_after", "right_after", "suspicion_removed", "level_after",
    "visible_log_odds", "masked_log_odds",
)  # fmt: skip
"""And with the two in their place: the logits, the suspicion that is gone, the level; the generator's log-odds of them, of each
character where it stands, and of both masked together."""

LEAST_DOUBT = -5.5  # the larger of the discriminator's logits of the two: no less at nine slips in ten, and at one place in twelve
LEAST_GAIN = 1.0  # nats
LEAST_HOPE = 0.02  # a probability: of every word that is sure to 0.56 in the end there was more, and three sentences in a hundred have one
_MOST = 16.0  # nats, of log-odds and of suspicion: the generator thinks little of rare words, right ones too
_TOGETHER = 64  # offers whose views of the vocabulary, 33 kB each and four of each word, are in memory at a time


@dataclass(frozen=True)
class BigramWeights:
    """Weights of ``HOPE_FEATURES`` and of ``BIGRAM_FEATURES``, of one kind."""

    hope: Mapping[str, float]
    check: Mapping[str, float]

    @classmethod
    def of(cls, record: Mapping[str, Mapping[str, float]]) -> BigramWeights:
        """From what ``record`` gives."""
        return cls(*({name: float(weight) for name, weight in record[step].items()} for step in ("hope", "check")))

    @property
    def are_known(self) -> bool:
        """Whether they are of just the features that this version has."""
        return set(self.hope) == set(HOPE_FEATURES) and set(self.check) == set(BIGRAM_FEATURES)

    def record(self) -> dict[str, dict[str, float]]:
        """As it stands in ``ranker.json``."""
        return {"hope": dict(self.hope), "check": dict(self.check)}

    def hopes(self, features: Floats) -> Floats:
        """The probability that each offer is meant, from (offers, HOPE_FEATURES): (offers,)."""
        return _logistic(features.astype(np.float64) @ self._columns[0])

    def confidences(self, features: Floats) -> Floats:
        """The same from (offers, BIGRAM_FEATURES): (offers,)."""
        return _logistic(features.astype(np.float64) @ self._columns[1])

    @cached_property
    def _columns(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The weights in the order of the features."""
        hope, check = ([weights[name] for name in names] for weights, names in ((self.hope, HOPE_FEATURES), (self.check, BIGRAM_FEATURES)))
        return np.array(hope), np.array(check)


@dataclass(frozen=True)
class Offer:
    """Two characters in place of two: their kind, the number of the window, the index of the first in it and its token, the new ids, how
    alike they sound, 0..2, and their ``HOPE_FEATURES``."""

    kind: Kind
    window: int
    index: int
    token: int
    ids: tuple[int, int]
    likeness: float
    features: Floats

    @property
    def new_ids(self) -> dict[int, int]:
        """Token → id."""
        return {self.token: self.ids[0], self.token + 1: self.ids[1]}


@dataclass(frozen=True)
class BigramChoice:
    """What may be meant instead of the ``original`` two characters at ``index`` of the window, its ``BIGRAM_FEATURES``, and how surely it
    is."""

    kind: Kind
    index: int
    original: str
    replacement: str
    pinyin_similarity: float  # 0..1
    features: Floats
    confidence: float

    @property
    def reason(self) -> Reason:
        """The other order, the same sound, or a near one."""
        if self.kind == "swaps":
            return "order"
        return "same_sound" if self.pinyin_similarity >= SAME_SOUND else "near_sound"


def bigrams_in(
    stages: Stages, windows: Sequence[Sentence], encodings: Sequence[Encoding], readings: Sequence[Reading]
) -> list[list[BigramChoice]]:
    """For each window what may be meant instead of two of its characters, left to right of either kind; they may overlap."""
    found: list[list[BigramChoice]] = [[] for _ in windows]
    weights, vocabulary = stages.ranker.bigrams, stages.vocabulary
    offers = [
        offer for kind, own in weights.items() for offer in offered(kind, windows, encodings, readings, stages.characters, own)
    ]
    for part in portions(offers, lambda _: 1, _TOGETHER):
        for offer, features in zip(part, read(stages, part, encodings, readings), strict=True):
            original = windows[offer.window].text[offer.index : offer.index + 2]
            new = "".join([vocabulary[i] for i in offer.ids])
            (confidence,) = weights[offer.kind].confidences(features[None]).tolist()
            found[offer.window].append(BigramChoice(offer.kind, offer.index, original, new, offer.likeness / 2, features, confidence))
    return found


class _Options(NamedTuple):
    """Places (window, index, token), and of every option the number of its place, its ids, how alike they sound, and ``word_model_gain``:
    (options,) each."""

    places: Sequence[tuple[int, int, int]]
    owner: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    likeness: Floats
    gains: Floats


def offered(
    kind: Kind,
    windows: Sequence[Sentence],
    encodings: Sequence[Encoding],
    readings: Sequence[Reading],
    characters: Characters,
    weights: BigramWeights,
    least: float = LEAST_HOPE,
) -> list[Offer]:
    """The likeliest of a kind in every place where there is so much hope for any, in order."""
    places = [place for number, window in enumerate(windows) for place in _doubtful(number, window, encodings[number], readings[number])]
    sites = [(encodings[number], token) for number, _, token in places]
    ask = characters.homophones if kind == "words" else characters.exchanged
    options = [ask(*encoding.ids[token : token + 2].tolist()) for encoding, token in sites]
    owner = np.repeat(np.arange(len(places)), [len(likeness) for _, _, likeness in options])
    if not len(owner):
        return []
    first, second, likeness = (np.concatenate(column) for column in zip(*options, strict=True))
    texts = around(sites, WORDS_AROUND, 1 + WORDS_AROUND)
    changed = texts[owner]
    changed[:, WORDS_AROUND], changed[:, WORDS_AROUND + 1] = first, second
    gains = characters.word_score(changed) - characters.word_score(texts)[owner]
    likelier = np.flatnonzero(gains >= LEAST_GAIN)
    some = _Options(places, owner[likelier], first[likelier], second[likelier], likeness[likelier], gains[likelier])
    features = _hope_features(some, encodings, readings, characters)
    hopes = weights.hopes(features)
    order = np.lexsort((-hopes, some.owner))
    best = order[np.diff(some.owner[order], prepend=-1) > 0]
    result = []
    for i in best[hopes[best] >= least].tolist():
        number, index, token = places[some.owner[i]]
        ids = int(some.first[i]), int(some.second[i])
        result.append(Offer(kind, number, index, token, ids, float(some.likeness[i]), features[i]))
    return result


def _doubtful(number: int, window: Sentence, encoding: Encoding, reading: Reading) -> Iterator[tuple[int, int, int]]:
    """The places of two neighbours that may both change, neither in a set phrase, and of which the discriminator doubts one: window,
    index, token."""
    token_of, logits = encoding.token_of, reading.logits
    side_by_side = (np.diff(token_of) == 1) & encoding.is_whole[:-1] & encoding.is_whole[1:]
    doubted = np.maximum(logits[token_of[:-1]], logits[token_of[1:]]) >= LEAST_DOUBT
    indexes = np.flatnonzero(side_by_side & doubted).tolist()
    standing = set_phrases().standing(window.text) if indexes else np.zeros(0, dtype=np.bool_)
    for index in indexes:
        if not standing[index : index + 2].any() and is_correctable(window, index) and is_correctable(window, index + 1):
            yield number, index, int(token_of[index])


def _hope_features(
    options: _Options, encodings: Sequence[Encoding], readings: Sequence[Reading], characters: Characters
) -> Floats:
    """``HOPE_FEATURES`` of options: (options, HOPE_FEATURES)."""
    places, owner, first, second, likeness, gains = options
    tokens = np.array([token for _, _, token in places])
    old = np.array([encodings[number].ids[token : token + 2] for number, _, token in places], dtype=np.int64)
    seen = np.array([beside(readings[number].logits, token) for number, _, token in places])
    levels = np.array([levels_of(encodings[number].types[token : token + 2]).max() for number, _, token in places])
    was_word = characters.tables.is_word(*old.T)
    commoner = characters.log_counts[first] + characters.log_counts[second] - characters.log_counts[old].sum(1)[owner]
    slip: NDArray[Any] = np.zeros(len(owner))
    if characters.slips is not None:
        slip = characters.slips.log_rates(old[owner, 0], first) + characters.slips.log_rates(old[owner, 1], second)
    associated: list[NDArray[Any]] = [np.zeros(len(owner))] * 2
    associations = characters.tables.associations
    if associations is not None:
        flat, inside = joined([encoding.ids for encoding in encodings])
        around_them = WordsAround(associations, flat, inside)
        starts = np.flatnonzero(inside & ~np.roll(inside, 1))
        at = (starts[[number for number, _, _ in places]] + tokens)[owner]
        new = (first * associations.vocabulary_size + second).view(np.uint64)
        associated = [around_them.support(keys, at, (at, at + 2)) / LARGEST_VALUE for keys in (around_them.keys[at], new)]
    columns = (
        np.ones(len(owner)), gains, *seen[owner].T, *associated, commoner, likeness, was_word[owner], levels[owner], slip
    )  # fmt: skip
    features: Floats = np.column_stack(columns).astype(np.float32)
    return features


def read(stages: Stages, offers: Sequence[Offer], encodings: Sequence[Encoding], readings: Sequence[Reading]) -> Floats:
    """Let both networks read the offers in their places: (offers, BIGRAM_FEATURES)."""
    own = [encodings[offer.window] for offer in offers]
    changed = stages.rewritten([(encoding, offer.new_ids) for encoding, offer in zip(own, offers, strict=True)])
    afters = stages.runtime.read(changed)
    places = [[offer.token, offer.token + 1] for offer in offers]
    mask = stages.tokenizer.mask_id
    hidden = stages.rewritten([(encoding, dict.fromkeys(place, mask)) for encoding, place in zip(own, places, strict=True)])
    visible = stages.runtime.log_probabilities(own, places, [readings[offer.window] for offer in offers])
    masked = stages.runtime.log_probabilities(hidden, places)
    rows = []
    for offer, encoding, reading, after, *views in zip(offers, own, changed, afters, visible, masked, strict=True):
        place, before = slice(offer.token, offer.token + 2), readings[offer.window].logits
        removed = float((suspicions(before[1:-1]) - suspicions(after.logits[1:-1])).sum())
        level = int(levels_of(reading.types[place]).max())
        odds = [_log_odds(view, offer.ids, encoding.ids[place].tolist()) for view in views]
        limited = np.clip([removed, *odds], -_MOST, _MOST)
        rows.append((*offer.features, *beside(after.logits, offer.token), limited[0], level, *limited[1:]))
    return np.array(rows, dtype=np.float32)


def _log_odds(view: Floats, new: Sequence[int], old: Sequence[int]) -> float:
    """By how much likelier the new ids are than the old, each in its own row of log-probabilities (ids, vocabulary)."""
    rows = np.arange(len(view))
    return float((view[rows, new] - view[rows, old]).sum())


def beside(logits: Floats, token: int) -> tuple[float, float, float, float]:
    """The logits of this token and the next, and of those to the left and the right, of a window with its [CLS] and [SEP]."""
    own = logits.tolist()
    _, left, right, _ = logits_beside(own, range(token, token + 2))
    return own[token], own[token + 1], left, right


def _logistic(scores: NDArray[np.float64]) -> Floats:
    found: Floats = (1.0 / (1.0 + np.exp(-np.clip(scores, -30, 30)))).astype(np.float32)
    return found
