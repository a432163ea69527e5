"""Divides a corpus into words and counts them: what ``corrector.electra.word_model`` looks up.

There is no text that people divided: the words of a lexicon are counted wherever they could stand, then text is divided by these counts,
the words of that division are counted, and so on (hard EM).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from corrector.electra.ngrams import SPECIALS
from corrector.electra.static_map import LARGEST_VALUE, StaticMap
from corrector.electra.word_model import LONGEST_WORD, STEP, WordModel, word_numbers
from corrector.electra.word_set import Words, WordSet
from corrector.similarity.words import word_keys
from corrector.train.keys import count_without, sorted_by_key

Tokens = NDArray[np.uint16]
Numbers = NDArray[np.int32]
Often = tuple[NDArray[np.int64], NDArray[np.int64], float]
"""The numbers, in base of all words, of words next to one another that occur often, sorted; how often each does; and the discount
n₁ / (n₁ + 2·n₂), of those that occur once and twice."""

FEWEST_PAIRS, FEWEST_TRIPLES = 3, 6  # occurrences from which on a pair or three of words are kept
LEAST_PAIR_GAIN, LEAST_TRIPLE_GAIN = 3.4, 2.5  # nats: those whose gain is nearer to that of the ones left out are hardly missed
ROUNDS = 2
_ROW, _ROWS = 256, 8192  # characters divided at a time
_NEVER = np.float32(-1e9)
_BREAK = 0  # a word number that is none


def word_models_of(
    parts: Sequence[Sequence[Tokens]], left_out: Sequence[int], words: Words, vocabulary_size: int, say: Callable[[str], None]
) -> Iterator[WordModel]:
    """For each number ``left_out`` the model of all parts of a corpus but that one (of all, for a number of none), in words of this
    lexicon; how text is divided is learned from the first part."""
    size = vocabulary_size + sum(map(len, words))
    say("dividing text into words")
    counts = _counts((word_numbers(rows, vocabulary_size, words) for rows in _rows(parts[0])), size)
    for _ in range(ROUNDS):
        counts = _counts((divided(rows, _log_p(counts), vocabulary_size, words) for rows in _rows(parts[0])), size)
    log_p = _log_p(counts)
    texts = [[divided(rows, log_p, vocabulary_size, words) for rows in _rows(part)] for part in parts]
    say("counting pairs and triples of words")
    singles = np.stack([_counts(iter(part), size) for part in texts])
    singles[:, :SPECIALS] = 0
    shares = [1 - singles[number].sum() / singles.sum() if number in range(len(parts)) else 1.0 for number in left_out]
    pairs, triples = (_often(texts, left_out, shares, *kind, size) for kind in ((2, FEWEST_PAIRS), (3, FEWEST_TRIPLES)))
    for number, two, three in zip(left_out, pairs, triples, strict=True):
        single = singles.sum(0) - (singles[number] if number in range(len(parts)) else 0)
        yield _model(single, two, three, words, vocabulary_size, size)


def occurrences(words: Iterable[str], vocabulary: Sequence[str], texts: Iterable[Tokens]) -> dict[str, int]:
    """How often each word that the vocabulary can write stands in the texts, be it within other words."""
    size = len(vocabulary)
    two, three, four = (WordSet(keys) for keys in word_keys(words, vocabulary))
    counts = _counts((word_numbers(rows, size, (two, three, four)) for rows in _rows(texts)), size + sum(map(len, (two, three, four))))
    found = {}
    for key, count in zip(chain(two.keys.tolist(), three.keys.tolist(), four.keys.tolist()), counts[size:].tolist(), strict=True):
        word = ""
        while key:
            key, char = divmod(key, size)
            word = vocabulary[char] + word
        found[word] = count
    return found


def _rows(texts: Iterable[Tokens]) -> Iterator[NDArray[np.int64]]:
    """The texts cut into rows, the last few characters filled up with zeros: (rows, _ROW) at a time."""
    for tokens in texts:
        for start in range(0, len(tokens), _ROW * _ROWS):
            block = tokens[start : start + _ROW * _ROWS].astype(np.int64)
            yield np.pad(block, (0, -len(block) % _ROW)).reshape(-1, _ROW)


def _counts(numbers: Iterator[NDArray[np.integer]], size: int) -> NDArray[np.int64]:
    counts = np.zeros(size, dtype=np.int64)
    for found in numbers:
        counts += np.bincount(found[found >= 0].ravel(), minlength=size)
    return counts


def _log_p(counts: NDArray[np.int64]) -> NDArray[np.float32]:
    p: NDArray[np.float32] = np.log((counts + 0.3) / counts.sum()).astype(np.float32)
    return p


def divided(rows: NDArray[np.int64], log_p: NDArray[np.float32], vocabulary_size: int, words: Words) -> Numbers:
    """The words of the likeliest division of rows (rows, length), by ln p of each word alone: their numbers one after another, with a
    ``_BREAK`` after each row."""
    begun = word_numbers(rows, vocabulary_size, words)
    length, _, count = begun.shape
    score = np.where(begun >= 0, log_p[begun], _NEVER)
    best = np.full((length + 1, count), _NEVER)
    best[0] = 0.0
    last = np.zeros((length + 1, count), dtype=np.int64)  # how long the last word is
    for end in range(1, length + 1):
        sizes = np.arange(1, min(LONGEST_WORD, end) + 1)
        ways = best[end - sizes] + score[end - sizes, sizes - 1]
        which = ways.argmax(0)
        best[end], last[end] = ways[which, np.arange(count)], which + 1
    placed = np.full((count, length + 1), -1, dtype=np.int32)
    placed[:, length] = _BREAK
    ends = np.full(count, length)
    while ends.any():
        (open_rows,) = ends.nonzero()
        size = last[ends[open_rows], open_rows]
        ends[open_rows] -= size
        placed[open_rows, ends[open_rows]] = begun[ends[open_rows], size - 1, open_rows]
    found: Numbers = placed[placed >= 0]
    return found


def _model(
    single: NDArray[np.int64], often_two: Often, often_three: Often, words: Words, vocabulary_size: int, size: int
) -> WordModel:
    p = (single + 0.1) / (single.sum() + 0.1 * size)
    pairs, times, discount = often_two
    first, second = np.divmod(pairs, size)
    share = np.maximum(times - discount, 0) / np.maximum(single[first], 1)
    left = np.maximum(1 - np.bincount(first, share, minlength=size), 1e-4)  # b(v)
    p_pair = share + left[first] * p[second]
    gain = np.log(p_pair / p[second])
    triples, often, discount = often_three
    begin, end = triples // size, triples % (size * size)
    known = _has(pairs, begin) & _has(pairs, end)
    triples, often, begin, end = triples[known], often[known], pairs.searchsorted(begin[known]), pairs.searchsorted(end[known])
    share = np.maximum(often - discount, 0) / times[begin]
    left_of_pair = np.maximum(1 - np.bincount(begin, share, minlength=len(pairs)), 1e-4)
    more = np.log((share + left_of_pair[begin] * p_pair[end]) / p_pair[end])
    worth = np.abs(more) >= LEAST_TRIPLE_GAIN
    kept = np.abs(gain - np.log(left[first])) >= LEAST_PAIR_GAIN
    kept[begin[worth]] = kept[end[worth]] = True  # a triple is only looked up where both its pairs are known
    pair_gains, pair_levels = _levels(gain[kept])
    triple_gains, triple_levels = _levels(more[worth])
    return WordModel(
        vocabulary_size, words, _steps(-np.log(p)), _steps(-np.log(left)),
        StaticMap.build(pairs[kept].astype(np.uint64), pair_levels), StaticMap.build(triples[worth].astype(np.uint64), triple_levels),
        pair_gains, triple_gains,
    )  # fmt: skip


def _steps(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    return np.clip(np.round(values / STEP), 0, 255).astype(np.uint8)


def _levels(values: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """What levels 0..15 stand for, evenly spaced over nearly all values from 1 on, and the level nearest to each value."""
    low, high = np.quantile(values, (0.005, 0.995)) if len(values) else (0.0, 1.0)
    centres = np.linspace(low, max(high, low + 1e-3), LARGEST_VALUE)
    levels = np.clip(np.round((values - low) / (centres[1] - centres[0])), 0, LARGEST_VALUE - 1) + 1
    return np.concatenate([[0.0], centres]).astype(np.float32), levels.astype(np.uint8)


def _has(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = keys.take(keys.searchsorted(wanted), mode="clip") == wanted
    return found


def _often(
    texts: Sequence[Sequence[Numbers]], left_out: Sequence[int], shares: Sequence[float], length: int, fewest: int, size: int
) -> list[Often]:
    """For each number ``left_out`` what of so many words next to one another occurs ``fewest`` times or more in the texts of all parts but
    that one, which are this share of all."""
    found: list[list[tuple[NDArray[np.uint64], NDArray[np.int64]]]] = [[] for _ in left_out]
    rare = np.zeros((len(left_out), 2), dtype=np.int64)
    for counts in count_without(texts, left_out, length, size, SPECIALS):
        for number, (keys, times) in enumerate(counts):
            rare[number] += [(times == 1).sum(), (times == 2).sum()]
            often = times >= max(1, int(fewest * shares[number] + 0.6))  # rounded, and up where in doubt
            found[number].append((keys[often], times[often]))
    often_of = []
    for own, (once, twice) in zip(found, rare.tolist(), strict=True):
        keys, times = sorted_by_key(own)
        often_of.append((keys.astype(np.int64), times, once / max(1, once + 2 * twice)))
    return often_of
