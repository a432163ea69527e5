"""Pairs of characters that writers confuse, often told apart only by what stands further off: which they are, and the weights of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.electra.contrasts import BUCKET_BITS, MIDDLE_VALUE, Contrasts, features, ids_around
from corrector.electra.marks import MarkTables
from corrector.electra.model import VOCABULARY
from corrector.electra.ngrams import Ngrams
from corrector.electra.slips import Slips
from corrector.electra.static_map import StaticMap
from corrector.electra.tokenizer import Tokenizer
from corrector.errors import InputError
from corrector.train.counts import AGAIN, IN_NONE, contrasts_path, marks_path
from corrector.train.pairs import PairSet
from corrector.train.prepare import shard_names
from corrector.train.slips import count_slips

Tokens = NDArray[np.uint16]
Places = list[NDArray[np.int64]]  # of each text

UNDECIDED = ("的地得", "他她它牠祂", "你妳您")  # surroundings do not tell which is right, or writers do not agree
_FEWEST = 8_000  # occurrences of each of the two
_ALIKE = 0.55  # similarity from which on who types may slip
_OBSERVED = 2  # a pair that writers were seen to confuse so often is taken, however little alike
_MOST_SAMPLED, _MOST_PLACES = 500_000, 250_000  # places of each character, and of those where the other is possible
_POSSIBLE = 18.0  # nats that triples may prefer the character to the other: beyond that neither the marks nor who reads needs a contrast
_AT_A_TIME = 20_000  # places scored
_ALPHA, _REFIT_ALPHA, _EPOCHS = 5e-5, 7e-5, 3  # of stochastic gradient descent, compared by log-loss on other places
_LARGEST = 0.98  # the quantile of the weights' sizes that is seven steps


def contrast(data: Path, sets: Sequence[PairSet], count: int, weights_each: int, say: Callable[[str], None]) -> None:
    """Write ``contrasts.npz`` of a folder made by ``pack``: ``count`` pairs, likely to be confused or confused in these labelled sets.

    Raises InputError for a folder without counts, or whose text is too little for any pair.
    """
    if not marks_path(data, IN_NONE).is_file():
        raise InputError(data, f"has no counts of the corpus; {AGAIN}")
    tokenizer = Tokenizer.load(data / VOCABULARY)
    raw, clean = shard_names(data)
    ngrams = MarkTables.load(marks_path(data, IN_NONE)).ngrams
    assert ngrams is not None  # they are counted
    undecided = [frozenset(tokenizer.character_ids(characters).tolist()) for characters in UNDECIDED]
    pairs = confusable_pairs(ngrams, count_slips(sets, tokenizer), undecided)[:count]
    texts = [np.load(data / f"{name}.npy") for name in (*clean, *raw)]
    found = contrasted(ngrams, texts, pairs, weights_each, say)
    if not len(found.pairs):
        raise InputError(data, f"no two characters that are alike occur {_FEWEST:,} times each where either is possible; pack more text")
    found.save(contrasts_path(data))


def confusable_pairs(ngrams: Ngrams, slips: Slips, undecided: Sequence[frozenset[int]]) -> list[tuple[int, int]]:
    """Pairs of ids, those likeliest to be confused first: half by how often those who type should slip, as far as both are common,
    half by how often such ``slips`` were seen."""
    typed: defaultdict[tuple[int, int], float] = defaultdict(float)
    counts, alike, similarity = ngrams.counts, ngrams.alike.astype(np.int64), ngrams.similarity / 255
    common = counts >= _FEWEST
    weight = counts[alike] * similarity**8 * (alike > 0)
    share = weight / np.maximum(weight.sum(1, keepdims=True), 1e-9) * similarity**4 * (common[alike] & (similarity > _ALIKE))
    for meant in np.flatnonzero(common).tolist():
        for other, part in zip(alike[meant].tolist(), share[meant].tolist(), strict=True):
            if part:
                typed[min(meant, other), max(meant, other)] += min(counts[meant], counts[other]) * part
    seen: defaultdict[tuple[int, int], float] = defaultdict(float)
    for wrong, right, times in zip(*np.divmod(slips.pairs, slips.vocabulary_size), slips.times.tolist(), strict=True):
        if common[wrong] and common[right]:
            seen[min(int(wrong), int(right)), max(int(wrong), int(right))] += times
    often = {pair: times for pair, times in seen.items() if times >= _OBSERVED}
    all_typed, all_often = sum(typed.values()) or 1.0, sum(often.values()) or 1.0
    score = {pair: typed.get(pair, 0.0) / all_typed + often.get(pair, 0.0) / all_often for pair in {*typed, *often}}
    able = [pair for pair in score if not any(set(pair) <= group for group in undecided)]
    return sorted(able, key=lambda pair: (-score[pair], pair))


def contrasted(
    ngrams: Ngrams, texts: Sequence[Tokens], pairs: Sequence[tuple[int, int]], weights_each: int, say: Callable[[str], None]
) -> Contrasts:
    """The ``weights_each`` weights of each pair that tell most, fitted to ``texts``; without pairs of which one is never possible in place
    of the other."""
    random = np.random.default_rng(1)
    sample = _sampled(texts, sorted({one for pair in pairs for one in pair}), random)
    keys, values, biases, steps = [], [], [], []
    kept: list[tuple[int, int]] = []
    for number, (first, second) in enumerate(pairs):
        where_first = _possible(ngrams, texts, sample[first], second, random)
        where_second = _possible(ngrams, texts, sample[second], first, random)
        if not (sum(map(len, where_first)) and sum(map(len, where_second))):
            continue
        buckets, weights, bias = _fit(texts, where_first, where_second, weights_each, random)
        step = max(float(np.quantile(np.abs(weights), _LARGEST)) / 7, 1e-6)
        value = np.clip(np.rint(weights / step), -7, 7).astype(np.int64)
        keys.append((buckets[value != 0] + (len(kept) << BUCKET_BITS)).astype(np.uint64))
        values.append(value[value != 0] + MIDDLE_VALUE)
        biases.append(bias)
        steps.append(step)
        kept.append((first, second))
        if number % 10 == 9:
            say(f"{number + 1} of {len(pairs)} pairs")
    nothing = np.zeros(0, dtype=np.int64)
    table = StaticMap.build(np.concatenate([nothing.astype(np.uint64), *keys]), np.concatenate([nothing, *values]))
    ids = np.array(kept, dtype=np.uint16).reshape(-1, 2)
    return Contrasts(len(ngrams.counts), ids, np.array(biases, dtype=np.float32), np.array(steps, dtype=np.float32), table)


def _sampled(texts: Sequence[Tokens], characters: Sequence[int], random: np.random.Generator) -> dict[int, Places]:
    """At most about ``_MOST_SAMPLED`` places of each of the characters."""
    found: dict[int, list[NDArray[np.int64]]] = {character: [] for character in characters}
    size = 1 + max(int(text.max(initial=0)) for text in texts)
    counts = np.sum([np.bincount(text, minlength=size) for text in texts], axis=0)
    taken = {one: min(1.0, _MOST_SAMPLED / max(1, int(counts[one]))) for one in characters}
    is_one = np.zeros(size, dtype=bool)
    is_one[np.array(characters, dtype=np.int64)] = True
    for text in texts:
        (places,) = is_one[text].nonzero()
        places = places[np.argsort(text[places], kind="stable")]
        present = text[places]
        for one in characters:
            own = places[present.searchsorted(one) : present.searchsorted(one, side="right")]
            found[one].append(own[random.random(len(own)) < taken[one]])
    return found


def _possible(ngrams: Ngrams, texts: Sequence[Tokens], places: Places, other: int, random: np.random.Generator) -> Places:
    """Those of the places where another character would be ``_POSSIBLE``, at most about ``_MOST_PLACES``."""
    found = []
    for text, own in zip(texts, places, strict=True):
        own = own[(own >= 2) & (own < len(text) - 2)]
        possible = np.zeros(len(own), dtype=bool)
        for start in range(0, len(own), _AT_A_TIME):
            part = slice(start, start + _AT_A_TIME)
            around = text[own[part, None] + np.arange(-2, 3)].astype(np.int64)
            changed = around.copy()
            changed[:, 2] = other
            possible[part] = ngrams.text_score(changed) - ngrams.text_score(around) > -_POSSIBLE
        found.append(own[possible])
    count = sum(map(len, found))
    if count > _MOST_PLACES:
        found = [own[random.random(len(own)) < _MOST_PLACES / count] for own in found]
    return found


def _fit(
    texts: Sequence[Tokens], first: Places, second: Places, most: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
    """Buckets and weights of the features that tell most, and the bias: a logistic regression on all, then one on those alone; as if both
    characters were equally common."""
    rows, labels = [], []
    for kind, own in enumerate((first, second)):
        for text, places in zip(texts, own, strict=True):
            rows.append(features(ids_around(text, places)).astype(np.int32))
            labels.append(np.full(len(places), kind))
    buckets, label = np.concatenate(rows), np.concatenate(labels)
    order = random.permutation(len(label))
    buckets, label = buckets[order], label[order]
    buckets[buckets == 0] = -1
    weights, _ = _regression(buckets, label, 1 << BUCKET_BITS, _ALPHA)
    told = np.abs(weights) * np.sqrt(np.bincount(buckets[buckets >= 0], minlength=1 << BUCKET_BITS))
    chosen = np.sort(np.argpartition(-told, most)[:most])
    place_of = np.full(1 << BUCKET_BITS, -1, dtype=np.int32)
    place_of[chosen] = np.arange(most)
    weights, bias = _regression(np.where(buckets >= 0, place_of[buckets], -1), label, most, _REFIT_ALPHA)
    ones = int(label.sum())
    return chosen, weights, bias - float(np.log(ones / (len(label) - ones)))


def _regression(buckets: NDArray[np.int32], label: NDArray[Any], size: int, alpha: float) -> tuple[NDArray[np.float64], float]:
    """Weights (size,) and bias of whether a row with these features (rows, features), -1 for none, has label 1."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import SGDClassifier

    there = buckets >= 0
    ends = np.concatenate([[0], np.cumsum(there.sum(1))])
    matrix = csr_matrix((np.ones(int(ends[-1]), dtype=np.float32), buckets[there], ends), shape=(len(buckets), size))
    fitted = SGDClassifier(loss="log_loss", alpha=alpha, max_iter=_EPOCHS, tol=None, average=True, shuffle=False).fit(matrix, label)
    return fitted.coef_[0], float(fitted.intercept_[0])
