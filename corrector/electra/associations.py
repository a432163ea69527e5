"""Words that stand near one another more often than by chance: 尽管 with 仍然, 刹车 with 轮胎.

Counts of neighbouring characters say whether a word fits in where it stands; what a sentence is about they hardly know. Two words of two
characters are associated when, at most ``REACH`` characters apart, they occur e² times as often as they would by chance or more
(pointwise mutual information, Church & Hanks 1990, "Word Association Norms", section 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corrector.electra.static_map import LARGEST_VALUE, StaticMap
from corrector.electra.word_set import Keys, WordSet

REACH = 12  # characters from the beginning of a word to that of another
WEAKEST, LEVEL = 2.0, 0.5  # the mutual information, in nats, from which on words are associated, and of each level above the first
STRENGTHS = np.array([0.0, *(WEAKEST + LEVEL * (np.arange(LARGEST_VALUE) + 0.5))], dtype=np.float32)  # in nats, of each level

Ids = NDArray[np.int64]

_GAPS = np.array([gap for gap in range(-REACH, REACH + 1) if abs(gap) >= 2])  # nearer ones share a character


@dataclass(frozen=True, eq=False)
class Associations:
    """How strongly words of two characters are associated: levels 1..15 of pairs of ``words``, whose keys are those of ``MarkTables``."""

    words: WordSet
    vocabulary_size: int
    table: StaticMap

    def levels(self, a: Keys, b: Keys) -> NDArray[np.uint8]:
        """0..15 for pairs of words given by their keys, in either order: the same shape."""
        return self.table.get(association_keys(a, b, self.vocabulary_size))


def association_keys(a: Keys, b: Keys, vocabulary_size: int) -> Keys:
    """Pairs of words as numbers, whatever their order: the same shape."""
    keys: Keys = np.minimum(a, b) * np.uint64(vocabulary_size**2) + np.maximum(a, b)
    return keys


class WordsAround:
    """The words of two characters in texts, given one after another with at least one place between any two that is not ``inside``."""

    def __init__(self, associations: Associations, flat: Ids, inside: NDArray[np.bool_]) -> None:
        self.associations = associations
        self.keys = (flat[:-1] * associations.vocabulary_size + flat[1:]).view(np.uint64)
        is_word = associations.words.has(self.keys) & inside[:-1] & inside[1:]
        self._text_of = np.cumsum(~inside)
        self._is_word = np.pad(is_word, REACH)

    def support(self, keys: Keys, at: Ids, changed: tuple[Ids, Ids]) -> NDArray[np.uint8]:
        """The strongest association, 0..15, of each of these words (words,) that stands or might stand ``at`` a place with a word around.

        ``changed`` says from where to before where the text is another there: the words around that overlap it do not count.
        """
        support = np.zeros(len(keys), dtype=np.uint8)
        (words,) = self.associations.words.has(keys).nonzero()
        begin, end = changed
        around = at[words, None] + _GAPS
        counts = self._is_word[around + REACH]  # REACH is what it was padded with
        row, column = counts.nonzero()
        other, own = around[row, column], words[row]
        counted = (self._text_of[other] == self._text_of[at[own]]) & ((other + 1 < begin[own]) | (other >= end[own]))
        own, other = own[counted], other[counted]
        levels = self.associations.levels(keys[own], self.keys[other])
        first = np.flatnonzero(np.diff(own, prepend=-1))
        support[own[first]] = np.maximum.reduceat(levels, first)
        return support
