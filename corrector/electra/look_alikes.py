"""How well each character of a text fits its neighbours, and how likely it is a slip for one that sounds or looks alike.

The score of a character c is ln p(c|l₂l₁) + ln p(r₁|l₁c) + ln p(r₂|cr₁), every triple it takes part in (``ngrams``). In the comparison
it is raised by how strongly a word through the character is associated with another around (``associations``).

For networks that were trained so, the comparison is a noisy channel (Kernighan, Church & Gale 1990): the log-odds that a writer meant the
look-alike c′. They weigh by how much likelier the text is with c′, in triples and as a row of words (``word_evidence``), how similar the
two are, and how common c is: a slip of an input method is seldom a rare character, so that rare names are left in peace. For some pairs
they weigh what stands further off, too (``contrasts``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corrector.electra.associations import STRENGTHS, WordsAround
from corrector.electra.contrasts import Contrasts, ids_around
from corrector.electra.ngrams import (
    PAIR_COUNTS,
    SIMILARITY_WEIGHT,
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
_FITTING = -10.0  # a character that scores more is not compared with others
_FEW_PAIRS = 2  # a look-alike is compared when it makes known pairs of at least this step in all
_ASSOCIATION_WEIGHT = np.float32(1.5)  # of an association's strength beside the score; compared on development rows
_NEARLY = np.float32(-4.0)  # a look-alike that scores so much less than the character is still offered
_ODDS_STEPS = np.array([-8.0, -6.5, -5.5, -4.7, -4.0, -3.4, -2.9, -2.4, -1.9, -1.4, -0.8, -0.1, 0.7, 1.6, 2.8], dtype=np.float32)
"""Log-odds of a slip from which levels 1 to 15 begin."""
_HOPELESS = np.float32(-7.0)  # a look-alike that similarity and triples leave less is not weighed on: words hardly ever make up for it
_FAR_BEHIND = np.float32(2.0)  # nor is one that they leave so much less than the best of its place
_WORTH_NAMING = np.float32(-6.0)  # log-odds from which on a look-alike is offered: at one right character in five
_BLOCK = 800  # places compared at a time: for so many keys array operations pay, and the caches nearly hold them


class SlipWeights(NamedTuple):
    """What the log-odds of a slip weigh, each in nats: by how much likelier the text is with the look-alike, in triples and as a row of
    words; ln similarity; the strength of associations with the look-alike and with the character there; ln of the count of that and how
    well it fits; and a constant."""

    triples: np.float32
    words: np.float32
    similarity: np.float32
    associated_after: np.float32
    associated_before: np.float32
    common: np.float32
    fitting: np.float32
    bias: np.float32


SLIP_WEIGHTS = SlipWeights(*map(np.float32, (0.22, 0.23, 8.2, 0.40, -0.19, 0.30, 0.08, -5.2)))
"""A logistic regression of whether a look-alike is what was meant, on half of the development rows and on rows held back from training
(eval/results/2026-11-24-trials-0.14.0.json)."""


class ContrastWeights(NamedTuple):
    """What the log-odds of a slip become where ``contrasts`` tell the two apart: what these odds, the contrasts, and ln of the counts of
    the character there and of the look-alike weigh; and a constant."""

    odds: np.float32
    apart: np.float32
    given: np.float32
    meant: np.float32
    bias: np.float32


_CONTRASTED = ContrastWeights(*map(np.float32, (0.83, 0.61, -0.58, -0.42, 12.01)))
"""A logistic regression, on the development rows and on rows held back from training, of whether a look-alike is what was meant."""


class Evidence(NamedTuple):
    """Of ``joined`` texts: the step of each token with its right neighbour (tokens - 1,); how well each token fits, 0 well … 3 is rare, 4 a
    look-alike fits as well … 15 far better, or how likely it is a slip, 0 to 15 (tokens,); and the id of its best look-alike, 0 where none
    comes near it (tokens,)."""

    pair_steps: Steps
    levels: NDArray[np.int64]
    alternatives: Ids


def evidence(
    ngrams: Ngrams, flat: Ids, wanted: NDArray[np.bool_], words: WordsAround | None = None, model: WordModel | None = None,
    contrasts: Contrasts | None = None,
) -> Evidence:
    """What speaks for and against each token of ``joined`` texts with these ``words``; look-alikes are looked at only where ``wanted``.
    ``contrasts`` are asked only beside a ``model``."""
    pairs, _, single = ngrams.triples_of(flat)
    own = np.zeros(len(flat), dtype=np.float32)
    own[2:-2] = single[:-2] + single[1:-1] + single[2:]  # the three triples of each character
    comparable = ngrams.comparable[flat]
    alternatives = np.zeros_like(flat)
    if model is not None:
        levels, through = np.zeros_like(flat), WordsThrough(model, flat)
        for block in _blocks(comparable & wanted):
            compared = _compare(ngrams, flat, pairs, block, own[block])
            odds, best = _best(compared, block, _slip_odds(ngrams, flat, block, own[block], compared, words, through, contrasts))
            alternatives[block] = best * (odds > _WORTH_NAMING)
            levels[block] = _ODDS_STEPS.searchsorted(odds, side="right")
        return Evidence(pairs.step, levels, alternatives)
    levels = 3 - _OWN_STEPS.searchsorted(own, side="right")
    levels *= comparable
    for block in _blocks(comparable & wanted & (own < _FITTING)):
        compared = _compare(ngrams, flat, pairs, block, own[block])
        gain, best = _best(compared, block, _gains(flat, block, compared, words))
        alternatives[block] = best * (gain > _NEARLY)
        better = gain > 0
        levels[block[better]] = 4 + _GAIN_STEPS.searchsorted(gain[better], side="right")
    return Evidence(pairs.step, levels, alternatives)


def _blocks(wanted: NDArray[np.bool_]) -> Iterator[Ids]:
    """The places that are wanted, ``_BLOCK`` at a time."""
    (places,) = wanted.nonzero()
    return (places[start : start + _BLOCK] for start in range(0, len(places), _BLOCK))


class _Compared(NamedTuple):
    """Look-alikes that are known beside the neighbours of some places: the number of the place of each, its id, by how much its triples
    beat those of the character there, and ln of how similar the two are; (look-alikes,) each, in order of the places."""

    which: Ids
    characters: Ids
    gain: Scores
    log_similarity: Scores


def _compare(ngrams: Ngrams, flat: Ids, pairs: Pairs, places: Ids, own: Scores) -> _Compared:
    """The look-alikes at ``places``, whose characters score ``own`` (places,), that make pairs with their neighbours that are known."""
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
    gain = _scores(ngrams, flat, pairs, places, which, characters, left, right)
    gain -= own[which]
    return _Compared(which, characters, gain, ngrams.log_similarity[present].reshape(-1)[compared])


def _best(compared: _Compared, places: Ids, scores: Scores) -> tuple[Scores, Ids]:
    """The best score of the look-alikes at each place and the id of that one, the first of equal ones; -inf and 0 where there is none:
    (places,) each."""
    best, found = np.full(len(places), -np.inf, dtype=np.float32), np.zeros_like(places)
    np.maximum.at(best, compared.which, scores)
    (winners,) = (scores == best[compared.which]).nonzero()
    winners = winners[::-1]  # the first is written last
    found[compared.which[winners]] = compared.characters[winners]
    return best, found


def _gains(flat: Ids, places: Ids, compared: _Compared, words: WordsAround | None) -> Scores:
    """By how much each look-alike beats the character in its place, similarity and associations weighed in: (look-alikes,)."""
    gains: Scores = compared.gain + np.float32(SIMILARITY_WEIGHT) * compared.log_similarity
    if words is not None:
        gains += _ASSOCIATION_WEIGHT * _association(words, flat, places[compared.which], compared.characters)
        gains -= (_ASSOCIATION_WEIGHT * _association(words, flat, places, flat[places]))[compared.which]
    return gains


def _slip_odds(
    ngrams: Ngrams, flat: Ids, places: Ids, own: Scores, compared: _Compared, words: WordsAround | None, through: WordsThrough,
    contrasts: Contrasts | None,
) -> Scores:
    """The log-odds that each look-alike was meant, -inf for hopeless ones: (look-alikes,)."""
    weights = SLIP_WEIGHTS
    of_place = weights.bias + weights.common * ngrams.log_counts[flat[places]] + weights.fitting * own
    odds: Scores = of_place[compared.which]
    odds += weights.triples * compared.gain
    odds += weights.similarity * compared.log_similarity
    best = np.full(len(places), _HOPELESS + _FAR_BEHIND)
    np.maximum.at(best, compared.which, odds)
    hopeful = odds >= (best - _FAR_BEHIND)[compared.which]
    characters, found = compared.characters[hopeful], odds[hopeful]
    some, which = np.unique(compared.which[hopeful], return_inverse=True)
    places = places[some]  # most have no look-alike left
    found += weights.words * through.gains(places, which, characters)
    if words is not None:
        found += weights.associated_after * _association(words, flat, places[which], characters)
        found += (weights.associated_before * _association(words, flat, places, flat[places]))[which]
    if contrasts is not None:
        numbers = contrasts.numbers(flat[places][which], characters)
        (told,) = numbers.nonzero()
        if len(told):
            asked, row = np.unique(which[told], return_inverse=True)
            apart = contrasts.log_odds(ids_around(flat, places[asked]), row, numbers[told])
            given, meant = ngrams.log_counts[flat[places[which[told]]]], ngrams.log_counts[characters[told]]
            found[told] = _CONTRASTED.bias + _CONTRASTED.odds * found[told] + _CONTRASTED.apart * apart
            found[told] += _CONTRASTED.given * given + _CONTRASTED.meant * meant
    odds[hopeful], odds[~hopeful] = found, -np.inf
    return odds


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
    """How strong the strongest association of a word through each of ``characters`` at ``places`` is: (places,)."""
    size = words.associations.vocabulary_size
    left = words.support((flat[places - 1] * size + characters).view(np.uint64), places - 1, (places, places + 1))
    right = words.support((characters * size + flat[places + 1]).view(np.uint64), places, (places, places + 1))
    found: Scores = STRENGTHS[np.maximum(left, right)]
    return found


def joined(texts: Sequence[NDArray[Any]] | NDArray[Any]) -> tuple[Ids, NDArray[np.bool_]]:
    """Texts of any lengths as one, ``GAP`` zeros before, between and after them; and which of its places are text."""
    gap = np.zeros(GAP, dtype=np.int64)
    parts = [gap]
    for text in texts:
        parts += (text, gap)
    sizes = [len(part) for part in parts]
    flat: Ids = np.concatenate(parts, dtype=np.int64, casting="unsafe")
    return flat, np.repeat(np.arange(len(sizes)) % 2 == 1, sizes)
