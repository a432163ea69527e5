"""How well each character of a text fits its neighbours, and how much better one that sounds or looks alike would.

The score of a character c is ln p(c|l₂l₁) + ln p(r₁|l₁c) + ln p(r₂|cr₁), every triple it takes part in (``ngrams``). In the comparison
it is raised by how strongly a word through the character is associated with another around (``associations``). For networks that were
trained so, four fifths of the comparison are how likely the text is as a row of words (``word_evidence``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corrector.electra.associations import STRENGTHS, WordsAround
from corrector.electra.ngrams import (
    PAIR_COUNTS,
    SPECIALS,
    TRIPLE_COUNTS,
    TRIPLE_SMOOTHING,
    Ids,
    Ngrams,
    Pairs,
    Scores,
    Steps,
    as_keys,
)
from corrector.electra.word_evidence import CONTEXT, WordsThrough
from corrector.electra.word_model import WordModel

LEVELS = 16
GAP = CONTEXT  # zeros between texts, so that none is seen from another
_OWN_STEPS = np.array([-24.0, -16.0, -10.0], dtype=np.float32)  # scores of a character that no look-alike beats: levels 3, 2, 1, 0
_GAIN_STEPS = np.array([1.5, 3.0, 4.5, 6.0, 7.5, 9.0, 10.5, 12.0, 14.0, 17.0, 20.0], dtype=np.float32)  # of the best: levels 4 to 15
_GAIN_STEPS_OF_WORDS = np.array([0.7, 1.4, 2.2, 3.0, 4.0, 5.0, 6.0, 7.5, 9.0, 11.0, 14.0], dtype=np.float32)  # with words weighed in
_FITTING, _FITTING_WITH_WORDS = -10.0, -8.0  # a character that scores more is not compared with others
_FEW_PAIRS = 2  # a look-alike is compared when it makes known pairs of at least this step in all
_ASSOCIATION_WEIGHT = np.float32(1.5)  # of an association's strength beside the score; compared on development rows
_NEARLY = np.float32(-4.0)  # a look-alike that scores so much less than the character is still offered
_WORD_SHARE = np.float32(0.8)  # of the gain in words beside the gain in triples
_WORD_SIMILARITY = np.float32(1.75)  # how much more similarity weighs beside these; all compared on development rows
_BLOCK = 200  # places compared at a time: some thousand keys, which the caches hold


class Evidence(NamedTuple):
    """Of ``joined`` texts: the step of each token with its right neighbour (tokens - 1,); how well each token fits, 0 well … 3 is rare, 4 a
    look-alike fits as well … 15 far better (tokens,); and the id of its best look-alike, 0 where none comes near it (tokens,)."""

    pair_steps: Steps
    levels: NDArray[np.int64]
    alternatives: Ids


def evidence(
    ngrams: Ngrams, flat: Ids, wanted: NDArray[np.bool_], words: WordsAround | None = None, model: WordModel | None = None
) -> Evidence:
    """What speaks for and against each token of ``joined`` texts with these ``words``; look-alikes are looked at only where ``wanted``."""
    through = None if model is None else WordsThrough(model, flat)
    fitting, gain_steps = (_FITTING, _GAIN_STEPS) if model is None else (_FITTING_WITH_WORDS, _GAIN_STEPS_OF_WORDS)
    pairs, _, single = ngrams.triples_of(flat)
    own = np.zeros(len(flat), dtype=np.float32)
    own[2:-2] = single[:-2] + single[1:-1] + single[2:]  # the three triples of each character
    comparable = ngrams.comparable[flat]
    levels = 3 - _OWN_STEPS.searchsorted(own, side="right")
    levels *= comparable
    alternatives = np.zeros_like(flat)
    (places,) = (comparable & wanted & (own < fitting)).nonzero()
    for start in range(0, len(places), _BLOCK):
        block = places[start : start + _BLOCK]
        gain, best = _gains(ngrams, flat, pairs, block, own[block], words, through)
        alternatives[block] = best * (gain > _NEARLY)
        better = gain > 0
        levels[block[better]] = 4 + gain_steps.searchsorted(gain[better], side="right")
    return Evidence(pairs.step, levels, alternatives)


def _gains(
    ngrams: Ngrams, flat: Ids, pairs: Pairs, places: Ids, own: Scores, words: WordsAround | None, through: WordsThrough | None
) -> tuple[Scores, Ids]:
    """By how much the best look-alike at each place beats the character there, its similarity weighed in, and its id: (places,) each."""
    size, present = len(ngrams.counts), flat[places]
    candidates = ngrams.alike_ids[present]  # (places, most)
    keys = np.empty((2, *candidates.shape), dtype=np.int64)
    np.add(candidates, (flat[places - 1] * size)[:, None], out=keys[0])
    np.multiply(candidates, size, out=keys[1])
    keys[1] += flat[places + 1][:, None]
    left, right = ngrams.pairs.get(as_keys(keys))
    (compared,) = ((left + right >= _FEW_PAIRS) & (candidates > 0)).reshape(-1).nonzero()
    which = compared // candidates.shape[1]
    characters, left, right = (part.reshape(-1)[compared] for part in (candidates, left, right))
    score = _scores(ngrams, flat, pairs, places, which, characters, left, right)
    score -= own[which]
    similarity = ngrams.similarity_term[present].reshape(-1)[compared]
    if through is not None:
        score *= 1 - _WORD_SHARE
        score += _WORD_SHARE * through.gains(places, which, characters)
        similarity *= _WORD_SIMILARITY
    score += similarity
    if words is not None:
        score += _association(words, flat, places[which], characters)
        score -= _association(words, flat, places, present)[which]
    gains = np.full(candidates.shape, -np.inf, dtype=np.float32)
    gains.reshape(-1)[compared] = score
    rows, best = np.arange(len(gains)), gains.argmax(1)
    return gains[rows, best], candidates[rows, best]


def _scores(
    ngrams: Ngrams, flat: Ids, pairs: Pairs, places: Ids, which: Ids, characters: Ids, left_step: Steps, right_step: Steps
) -> Scores:
    """The score of each of ``characters`` at ``places[which]``, where its two pairs have these steps: (characters,)."""
    size = len(ngrams.counts)
    left, right = PAIR_COUNTS[left_step], PAIR_COUNTS[right_step]
    l1, r1 = flat[places - 1], flat[places + 1]
    keys = np.empty((3, len(characters)), dtype=np.int64)  # of the triples l₂l₁c, l₁cr₁ and cr₁r₂
    np.add(characters, (pairs.key[places - 2] * size)[which], out=keys[0])
    np.multiply(characters, size, out=keys[1])
    np.multiply(keys[1], size, out=keys[2])
    keys[1] += (l1 * (size * size) + r1)[which]
    keys[2] += pairs.key[places + 1][which]
    known = np.empty(keys.shape, dtype=np.bool_)  # both pairs of the triple
    known[1:] = right_step > 0
    known[0] = left_step > 0
    known[1] &= known[0]
    known[0] &= (pairs.step[places - 2] > 0)[which]
    known[2] &= (pairs.step[places + 1] > 0)[which]
    p = np.empty(keys.shape, dtype=np.float32)
    np.divide(left + ngrams.smoothing[characters], ngrams.smoothed[l1][which], out=p[0])
    np.divide(right + ngrams.smoothing[r1][which], ngrams.smoothed[characters], out=p[1])
    p[2] = pairs.p[places + 1][which]
    p *= TRIPLE_SMOOTHING
    p += TRIPLE_COUNTS[ngrams.step_of(keys, known)]
    p[0] /= pairs.smoothed[places - 2][which]
    p[1] /= left + TRIPLE_SMOOTHING
    p[2] /= right + TRIPLE_SMOOTHING
    np.log(p, out=p)
    p[1] *= (r1 >= SPECIALS)[which]
    p[2] *= (flat[places + 2] >= SPECIALS)[which]
    scores: Scores = p[0] + p[1]
    scores += p[2]
    return scores


def _association(words: WordsAround, flat: Ids, places: Ids, characters: Ids) -> Scores:
    """What the strongest association of a word through each of ``characters`` at ``places`` adds to its score: (places,)."""
    size = words.associations.vocabulary_size
    left = words.support((flat[places - 1] * size + characters).view(np.uint64), places - 1, (places, places + 1))
    right = words.support((characters * size + flat[places + 1]).view(np.uint64), places, (places, places + 1))
    added: Scores = _ASSOCIATION_WEIGHT * STRENGTHS[np.maximum(left, right)]
    return added


def joined(texts: Sequence[NDArray[Any]] | NDArray[Any]) -> tuple[Ids, NDArray[np.bool_]]:
    """Texts of any lengths as one, ``GAP`` zeros before, between and after them; and which of its places are text."""
    gap = np.zeros(GAP, dtype=np.int64)
    parts = [gap]
    for text in texts:
        parts += (text, gap)
    sizes = [len(part) for part in parts]
    flat: Ids = np.concatenate(parts, dtype=np.int64, casting="unsafe")
    return flat, np.repeat(np.arange(len(sizes)) % 2 == 1, sizes)
