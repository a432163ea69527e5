"""The confusion tables errors are drawn from: built once from the similarity rooms and the lexicon, stored as ``noise.npz``.

Row i of a character table holds up to ``WIDTH`` replacements of character i with cumulative probabilities. Weights favour similar
and frequent characters: people type what the input method offers first, and overlook what looks like the right one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.similarity.glyph import glyph_similarity, nearest_by_shape
from corrector.similarity.pinyin import nearest_by_sound, pinyin_similarity, readings, same_syllable

WIDTH = 32
WORD_WIDTH = 8
FREQUENCY_POWER, SAME_TONE, ALIKE = 0.8, 1.5, 3.5
"""How much likelier a slip is with the count of what is typed, in the same tone, and with a glyph wholly alike (ln of the latter two): what
6,500 errors of the right syllable in sighan.train and macro.textproof make likeliest, where 0.5, 0.8 and 0 were guesses before."""
PARTICLES = ("的地得", "他她它", "在再", "做作", "那哪", "已以", "像象", "坐座", "吗嘛", "带戴", "至致", "需须")
FUZZY = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("ng", "n"), ("l", "n"), ("h", "f"))


@dataclass(frozen=True, eq=False)
class NoiseTables:
    """Replacement ids and cumulative probabilities per character; homophone words as pair keys; syllable of each character."""

    same_sound: NDArray[np.int32]  # (vocabulary, WIDTH)
    same_sound_p: NDArray[np.float32]
    near_sound: NDArray[np.int32]
    near_sound_p: NDArray[np.float32]
    shape: NDArray[np.int32]
    shape_p: NDArray[np.float32]
    particles: NDArray[np.int32]
    particles_p: NDArray[np.float32]
    frequency_p: NDArray[np.float32]  # (vocabulary,) cumulative, Han only
    word_keys: NDArray[np.uint64]  # sorted keys of two-character words that have homophones
    word_alternatives: NDArray[np.int32]  # (words, WORD_WIDTH, 2)
    word_p: NDArray[np.float32]  # (words, WORD_WIDTH)
    similarity: NDArray[np.uint8]  # (vocabulary, vocabulary) 0..255, by sound or shape, whichever is greater
    is_han: NDArray[np.bool_]  # (vocabulary,)

    @classmethod
    def load(cls, path: Path) -> NoiseTables:
        with np.load(path) as data:
            return cls(**{name: data[name] for name in cls.__dataclass_fields__})

    def save(self, path: Path) -> None:
        np.savez(path, **{name: getattr(self, name) for name in self.__dataclass_fields__})


def build(vocabulary: tuple[str, ...], counts: NDArray[np.int64], lexicon: Mapping[str, int]) -> NoiseTables:
    """Tables for a vocabulary whose characters occur ``counts`` times; ``lexicon`` has words with their frequencies."""
    ids = {token: i for i, token in enumerate(vocabulary)}
    han = np.array([len(t) == 1 and bool(readings(t)) for t in vocabulary])
    weight = np.where(han, (counts + 1.0) ** FREQUENCY_POWER, 0.0)

    def table(neighbours: Callable[[str], Iterable[tuple[str, float]]]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        found = np.zeros((len(vocabulary), WIDTH), dtype=np.int32)
        shares = np.zeros((len(vocabulary), WIDTH), dtype=np.float64)
        for row in np.flatnonzero(han):
            known = [(ids[c], s * weight[ids[c]]) for c, s in neighbours(vocabulary[row]) if c in ids and ids[c] != row]
            known = sorted(known, key=lambda item: -item[1])[:WIDTH]
            for column, (neighbour, share) in enumerate(known):
                found[row, column], shares[row, column] = neighbour, share
        return found, cumulative(shares)

    sound = {vocabulary[i]: nearest_by_sound(vocabulary[i], 80) for i in np.flatnonzero(han)}
    shape = {vocabulary[i]: nearest_by_shape(vocabulary[i], 24) for i in np.flatnonzero(han)}
    same = table(lambda c: [(o, math.exp(SAME_TONE * (pinyin_similarity(c, o) > 0.95)) * _overlooked(c, o)) for o in same_syllable(c)])
    near = table(lambda c: [(o, s**2 * _overlooked(c, o)) for o, s in sound[c] if 0.45 <= s < 0.85])
    shapes = table(lambda c: [(o, s**3) for o, s in shape[c] if s >= 0.4])
    swaps = table(lambda c: [(o, 1.0) for group in PARTICLES if c in group for o in group])
    words = _word_tables(vocabulary, ids, lexicon)
    frequency = np.cumsum(weight / weight.sum()).astype(np.float32)
    similarity = _similarity(vocabulary, han, shape, ids)
    return NoiseTables(*same, *near, *shapes, *swaps, frequency, *words, similarity, han)


def _overlooked(right: str, typed: str) -> float:
    """How much likelier one word or character for another, as long, is not noticed because it looks alike."""
    alike = sum(1.0 if a == b else glyph_similarity(a, b) for a, b in zip(right, typed, strict=True))
    return math.exp(ALIKE * alike / len(right))


def cumulative(shares: NDArray[np.float64]) -> NDArray[np.float32]:
    """Cumulative probabilities of each row of weights, ending in 1; a row of zeros stays one."""
    total = shares.sum(1, keepdims=True)
    return np.cumsum(np.divide(shares, total, out=np.zeros_like(shares), where=total > 0), 1).astype(np.float32)


def _word_tables(vocabulary: tuple[str, ...], ids: dict[str, int], lexicon: Mapping[str, int]) -> tuple[Any, Any, Any]:
    """Two-character words that share their toneless pinyin (or nearly), with what a slip of the input method would give."""
    from pypinyin import lazy_pinyin

    exact: dict[str, list[str]] = defaultdict(list)
    fuzzy: dict[str, list[str]] = defaultdict(list)
    words = [w for w, n in lexicon.items() if len(w) == 2 and n >= 3 and all(c in ids for c in w)]
    sounds = {word: lazy_pinyin(word) for word in words}
    for word in words:
        exact[" ".join(sounds[word])].append(word)
        fuzzy[" ".join(map(_blur, sounds[word]))].append(word)
    size, rows = len(vocabulary), []
    for word in words:
        weights = {o: 0.3 * (lexicon[o] + 1) ** FREQUENCY_POWER for o in fuzzy[" ".join(map(_blur, sounds[word]))]}
        weights |= {o: (lexicon[o] + 1) ** FREQUENCY_POWER for o in exact[" ".join(sounds[word])]}
        weights.pop(word, None)
        weights = {other: weight * _overlooked(word, other) for other, weight in weights.items()}
        best = sorted(weights.items(), key=lambda item: -item[1])[:WORD_WIDTH]
        if best:
            rows.append((ids[word[0]] * size + ids[word[1]], best))
    rows.sort(key=lambda row: row[0])
    alternatives = np.zeros((len(rows), WORD_WIDTH, 2), dtype=np.int32)
    shares = np.zeros((len(rows), WORD_WIDTH))
    for number, (_, best) in enumerate(rows):
        for column, (other, share) in enumerate(best):
            alternatives[number, column] = ids[other[0]], ids[other[1]]
            shares[number, column] = share
    return np.array([key for key, _ in rows], dtype=np.uint64), alternatives, cumulative(shares)


def _blur(syllable: str) -> str:
    for sharp, blunt in FUZZY:
        syllable = syllable.replace(sharp, blunt)
    return syllable


def _similarity(
    vocabulary: tuple[str, ...], han: NDArray[np.bool_], shape: dict[str, Any], ids: dict[str, int]
) -> NDArray[np.uint8]:
    from corrector.similarity.pinyin import syllable_similarity_matrix

    syllables, matrix = syllable_similarity_matrix()
    number = {syllable: i for i, syllable in enumerate(syllables)}
    rows = np.flatnonzero(han)
    first = np.array([number[readings(vocabulary[row])[0]] for row in rows])
    similarity = np.zeros((len(vocabulary),) * 2, dtype=np.uint8)
    for row, syllable in zip(rows, first, strict=True):
        similarity[row, rows] = (matrix[syllable][first] * 255).astype(np.uint8)
        for other, score in shape[vocabulary[row]]:
            if other in ids:
                similarity[row, ids[other]] = max(int(similarity[row, ids[other]]), int(255 * score))
    return similarity
