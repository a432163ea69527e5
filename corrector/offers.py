"""What is offered whatever the discriminator and the generator think of it, as it is known what may be meant: whole words written for
others that sound alike, as input methods offer them (接待的有课 for 游客), two characters in the other order (正真 for 真正), and in a set
phrase a character that is nothing like the right one (马不停歇 for 马不停蹄).

What stands there looks hardly wrong: of two wrong characters each fits the other, and to change one alone is never right; and slips that
are nothing like what is meant are too rare to be expected. What is known without asking the networks again picks one of a kind for each
place; if there is hope for it, they read it, in its place and masked, and all of that says how surely it is meant. Both steps are logistic
regressions, of each kind apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from corrector.check import WORDS_AROUND, logits_beside, suspicions
from corrector.edit_features import SAME_SOUND
from corrector.electra.associations import WordsAround
from corrector.electra.look_alikes import joined
from corrector.electra.marks import levels_of
from corrector.electra.static_map import LARGEST_VALUE
from corrector.in_order import portions
from corrector.offer_options import OPTIONS, Kind
from corrector.propose import around

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corrector.electra.runtime import Encoding, Floats, Reading
    from corrector.propose import Characters
    from corrector.stages import Stages
    from corrector.types import Reason, Sentence

HOPE_FEATURES = (
    "bias", "word_model_gain", "first", "second", "left", "right", "associated_before", "associated_after", "commoner",
    "pinyin_similarity", "was_word", "level", "slip", "given_away",
)  # fmt: skip
"""By how much likelier the offer makes its surroundings as a row of words, in nats; the discriminator's logits of the two characters, or of
one twice, and of those beside them; of two characters the strongest associations of what stands there and of the offer with words around,
0..1; ln of how much commoner its characters are; how alike they sound, 0..1 each; whether what stands there is a word, too, one character
with one beside it; the highest level of the marks; ln of how often these characters were seen written for those; and whether the rest of
a set phrase gives the character away, a half if the phrase is rare."""
OFFER_FEATURES = (
    *HOPE_FEATURES, "first_after", "second_after", "left_after", "right_after", "suspicion_removed", "level_after",
    "visible_log_odds", "masked_log_odds",
)  # fmt: skip
"""And with the offer in its place: the logits, the suspicion that is gone, the level; the generator's log-odds of it, of each character
where it stands, and of all masked together."""

LEAST_GAIN: Mapping[Kind, float] = {"words": 1.0, "swaps": 1.0, "phrases": 6.0}  # nats
LEAST_HOPE = 0.02  # a probability: of every word that is sure to 0.56 in the end there was more, and three sentences in a hundred have one
_MOST = 16.0  # nats, of log-odds and of suspicion: the generator thinks little of rare words, right ones too
_TOGETHER = 64  # offers whose views of the vocabulary, 33 kB each and four of each word, are in memory at a time


@dataclass(frozen=True)
class OfferWeights:
    """Weights of ``HOPE_FEATURES`` and of ``OFFER_FEATURES``, of one kind."""

    hope: Mapping[str, float]
    check: Mapping[str, float]

    @classmethod
    def of(cls, record: Mapping[str, Mapping[str, float]]) -> OfferWeights:
        """From what ``record`` gives. A feature that it lacks counts for nothing."""
        given = ({name: float(weight) for name, weight in record[step].items()} for step in ("hope", "check"))
        return cls(*(dict.fromkeys(names, 0.0) | own for names, own in zip((HOPE_FEATURES, OFFER_FEATURES), given, strict=True)))

    @property
    def are_known(self) -> bool:
        """Whether they are of just the features that this version has."""
        return set(self.hope) == set(HOPE_FEATURES) and set(self.check) == set(OFFER_FEATURES)

    def record(self) -> dict[str, dict[str, float]]:
        """As it stands in ``ranker.json``."""
        return {"hope": dict(self.hope), "check": dict(self.check)}

    def hopes(self, features: Floats) -> Floats:
        """The probability that each offer is meant, from (offers, HOPE_FEATURES): (offers,)."""
        return _logistic(features.astype(np.float64) @ self._columns[0])

    def confidences(self, features: Floats) -> Floats:
        """The same from (offers, OFFER_FEATURES): (offers,)."""
        return _logistic(features.astype(np.float64) @ self._columns[1])

    @cached_property
    def _columns(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The weights in the order of the features."""
        hope, check = ([weights[name] for name in names] for weights, names in ((self.hope, HOPE_FEATURES), (self.check, OFFER_FEATURES)))
        return np.array(hope), np.array(check)


@dataclass(frozen=True)
class Place:
    """Where something else may be meant: the number of the window, the index in it and the token of the first character."""

    window: int
    index: int
    token: int


@dataclass(frozen=True)
class Offer:
    """One or two characters in place of as many: their kind, the place, the new ids, how alike they sound, 0..1 each, and their
    ``HOPE_FEATURES``."""

    kind: Kind
    place: Place
    ids: tuple[int, ...]
    likeness: float
    features: Floats

    @property
    def tokens(self) -> range:
        """Those in the place."""
        return range(self.place.token, self.place.token + len(self.ids))

    @property
    def new_ids(self) -> dict[int, int]:
        """Token → id."""
        return dict(zip(self.tokens, self.ids, strict=True))


@dataclass(frozen=True)
class OfferChoice:
    """What may be meant instead of the ``original`` at ``index`` of the window, its ``OFFER_FEATURES``, and how surely it is."""

    kind: Kind
    index: int
    original: str
    replacement: str
    pinyin_similarity: float  # 0..1
    features: Floats
    confidence: float

    @property
    def reason(self) -> Reason:
        """The other order, the phrase, the same sound, or a near one."""
        if self.kind == "words":
            return "same_sound" if self.pinyin_similarity >= SAME_SOUND else "near_sound"
        return "order" if self.kind == "swaps" else "word"


def offers_in(
    stages: Stages, windows: Sequence[Sentence], encodings: Sequence[Encoding], readings: Sequence[Reading]
) -> list[list[OfferChoice]]:
    """For each window what may be meant instead of some of its characters, of each kind from left to right; they may overlap."""
    found: list[list[OfferChoice]] = [[] for _ in windows]
    weights, vocabulary = stages.ranker.offers, stages.vocabulary
    offers = [
        offer for kind, own in weights.items() for offer in offered(kind, windows, encodings, readings, stages.characters, own)
    ]
    for part in portions(offers, lambda _: 1, _TOGETHER):
        for offer, features in zip(part, read(stages, part, encodings, readings), strict=True):
            index, new = offer.place.index, "".join([vocabulary[i] for i in offer.ids])
            original = windows[offer.place.window].text[index : index + len(new)]
            (confidence,) = weights[offer.kind].confidences(features[None]).tolist()
            choice = OfferChoice(offer.kind, index, original, new, offer.likeness / len(new), features, confidence)
            found[offer.place.window].append(choice)
    return found


class _Options(NamedTuple):
    """Places, and of every option the number of its place, its ids (options, length), how alike they sound, ``given_away``, and
    ``word_model_gain``: (options,) each."""

    places: Sequence[Place]
    owner: NDArray[np.int64]
    ids: NDArray[np.int64]
    likeness: Floats
    given: Floats
    gains: Floats


def offered(
    kind: Kind,
    windows: Sequence[Sentence],
    encodings: Sequence[Encoding],
    readings: Sequence[Reading],
    characters: Characters,
    weights: OfferWeights,
    least: float = LEAST_HOPE,
) -> list[Offer]:
    """The likeliest of a kind in every place where there is so much hope for any, in order."""
    possible = [found for found in OPTIONS[kind](windows, encodings, readings, characters) if len(found.ids)]
    if not possible:
        return []
    places = [Place(found.window, found.index, int(encodings[found.window].token_of[found.index])) for found in possible]
    owner = np.repeat(np.arange(len(places)), [len(found.ids) for found in possible])
    columns = zip(*((found.ids, found.likeness, found.given) for found in possible), strict=True)
    ids, likeness, given = (np.concatenate(column) for column in columns)
    texts = around([(encodings[place.window], place.token) for place in places], WORDS_AROUND, ids.shape[1] - 1 + WORDS_AROUND)
    changed = texts[owner]
    changed[:, WORDS_AROUND : WORDS_AROUND + ids.shape[1]] = ids
    gains = characters.word_score(changed) - characters.word_score(texts)[owner]
    likelier = np.flatnonzero(gains >= LEAST_GAIN[kind])
    some = _Options(places, owner[likelier], ids[likelier], likeness[likelier], given[likelier], gains[likelier])
    features = _hope_features(some, encodings, readings, characters)
    hopes = weights.hopes(features)
    order = np.lexsort((-hopes, some.owner))
    best = order[np.diff(some.owner[order], prepend=-1) > 0]
    return [
        Offer(kind, places[some.owner[i]], tuple(some.ids[i].tolist()), float(some.likeness[i]), features[i])
        for i in best[hopes[best] >= least].tolist()
    ]


def _hope_features(
    options: _Options, encodings: Sequence[Encoding], readings: Sequence[Reading], characters: Characters
) -> Floats:
    """``HOPE_FEATURES`` of options: (options, HOPE_FEATURES)."""
    places, owner, ids, likeness, given, gains = options
    length = ids.shape[1]
    around_it = around([(encodings[place.window], place.token) for place in places], 1, length)
    old = around_it[:, 1:-1]
    seen = np.array([beside(readings[place.window].logits, place.token, length) for place in places])
    levels = [levels_of(encodings[at.window].types[at.token : at.token + length]).max() for at in places]
    is_word = characters.tables.is_word
    was_word = is_word(*old.T) if length > 1 else is_word(*around_it[:, :2].T) | is_word(*around_it[:, 1:].T)
    commoner = characters.log_counts[ids].sum(1) - characters.log_counts[old].sum(1)[owner]
    slip: NDArray[Any] = np.zeros(len(owner))
    if characters.slips is not None:
        slip = sum((characters.slips.log_rates(old[owner, n], ids[:, n]) for n in range(length)), slip)
    associated: list[NDArray[Any]] = [np.zeros(len(owner))] * 2
    associations = characters.tables.associations
    if associations is not None and length > 1:
        flat, inside = joined([encoding.ids for encoding in encodings])
        around_them = WordsAround(associations, flat, inside)
        starts = np.flatnonzero(inside & ~np.roll(inside, 1))
        at = (starts[[place.window for place in places]] + np.array([place.token for place in places]))[owner]
        new = (ids[:, 0] * associations.vocabulary_size + ids[:, 1]).view(np.uint64)
        associated = [around_them.support(keys, at, (at, at + 2)) / LARGEST_VALUE for keys in (around_them.keys[at], new)]
    columns = (
        np.ones(len(owner)), gains, *seen[owner].T, *associated, commoner, likeness, was_word[owner], np.array(levels)[owner], slip,
        given,
    )  # fmt: skip
    features: Floats = np.column_stack(columns).astype(np.float32)
    return features


def read(stages: Stages, offers: Sequence[Offer], encodings: Sequence[Encoding], readings: Sequence[Reading]) -> Floats:
    """Let both networks read the offers in their places: (offers, OFFER_FEATURES)."""
    own = [encodings[offer.place.window] for offer in offers]
    changed = stages.rewritten([(encoding, offer.new_ids) for encoding, offer in zip(own, offers, strict=True)])
    afters = stages.runtime.read(changed)
    places = [list(offer.tokens) for offer in offers]
    mask = stages.tokenizer.mask_id
    hidden = stages.rewritten([(encoding, dict.fromkeys(place, mask)) for encoding, place in zip(own, places, strict=True)])
    visible = stages.runtime.log_probabilities(own, places, [readings[offer.place.window] for offer in offers])
    masked = stages.runtime.log_probabilities(hidden, places)
    rows = []
    for offer, encoding, reading, after, *views in zip(offers, own, changed, afters, visible, masked, strict=True):
        place, before = slice(offer.tokens.start, offer.tokens.stop), readings[offer.place.window].logits
        removed = float((suspicions(before[1:-1]) - suspicions(after.logits[1:-1])).sum())
        level = int(levels_of(reading.types[place]).max())
        odds = [_log_odds(view, offer.ids, encoding.ids[place].tolist()) for view in views]
        limited = np.clip([removed, *odds], -_MOST, _MOST)
        rows.append((*offer.features, *beside(after.logits, offer.tokens.start, len(offer.ids)), limited[0], level, *limited[1:]))
    return np.array(rows, dtype=np.float32)


def _log_odds(view: Floats, new: Sequence[int], old: Sequence[int]) -> float:
    """By how much likelier the new ids are than the old, each in its own row of log-probabilities (ids, vocabulary)."""
    rows = np.arange(len(view))
    return float((view[rows, new] - view[rows, old]).sum())


def beside(logits: Floats, token: int, length: int) -> tuple[float, float, float, float]:
    """The logits of the first and the last of so many tokens, and of those to the left and the right, of a window with its [CLS] and
    [SEP]."""
    own = logits.tolist()
    _, left, right, _ = logits_beside(own, range(token, token + length))
    return own[token], own[token + length - 1], left, right


def _logistic(scores: NDArray[np.float64]) -> Floats:
    found: Floats = (1.0 / (1.0 + np.exp(-np.clip(scores, -30, 30)))).astype(np.float32)
    return found
