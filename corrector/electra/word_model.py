"""How likely a text is as a row of words, by counts of words and of two and three next to one another.

Neighbouring characters say little of where one word ends and the next begins: 幅作用 is as good as 副作用 until 副作用 is a word. The score
of a text is that of its likeliest division into words of the lexicon and single characters (Viterbi), ln Π p(w|uv), with

    ln p(w|v)  = ln p(w) + gain(v, w)         ln p(w|uv) = ln p(w|v) + gain(u, v, w)

where a pair of words that was hardly ever seen has the gain ln b(v), what v leaves to words that never followed it (absolute
discounting, Ney, Essen & Kneser 1994), and such three words have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.electra.ngrams import SPECIALS
from corrector.electra.static_map import StaticMap
from corrector.electra.word_set import Words

LONGEST_WORD = 4
STEP = 0.08  # nats: how finely ln p(w) and ln b(w) are kept, in a byte each
_NEVER = np.float32(-1e9)
_LENGTHS = range(1, LONGEST_WORD + 1)
_UNSEEN = 255  # the rarity of a word that the corpus lacks, or all but lacks
_START = LONGEST_WORD  # the length of the word before the last, where there is none

Ids = NDArray[np.int64]
Scores = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class WordModel:
    """Words have numbers: a single character that of its token, then the ``words`` of two, three and four characters, in order of their
    keys. ``rarity`` and ``reserve`` are -ln p(w) and -ln b(w) of each in ``STEP`` nats (words,); ``pair_gains`` and ``triple_gains``
    (16,) what the levels of ``pairs`` and ``triples`` stand for, in nats, the first for none."""

    vocabulary_size: int
    words: Words
    rarity: NDArray[np.uint8]
    reserve: NDArray[np.uint8]
    pairs: StaticMap
    triples: StaticMap
    pair_gains: Scores
    triple_gains: Scores

    @classmethod
    def load(cls, path: Path, words: Words) -> WordModel:
        """Read ``words.npz``, given the words of the lexicon (``MarkTables.sets``). Raises ValueError if it was made for others."""
        with np.load(path) as data:
            pairs, triples = StaticMap.read(data, "pairs"), StaticMap.read(data, "triples")
            if pairs is None or triples is None:
                raise KeyError("pairs_map or triples_map")
            rest = (data["rarity"], data["reserve"], pairs, triples, data["pair_gains"], data["triple_gains"])
            model = cls(int(data["vocabulary_size"]), words, *rest)
        if len(model.rarity) != model.count:
            raise ValueError(f"made for {len(model.rarity)} words where the lexicon has {model.count}")
        return model

    def save(self, path: Path) -> None:
        """Write ``words.npz``."""
        arrays: dict[str, Any] = {"vocabulary_size": np.int64(self.vocabulary_size), "rarity": self.rarity, "reserve": self.reserve}
        arrays |= self.pairs.arrays("pairs") | self.triples.arrays("triples")
        np.savez(path, **arrays, pair_gains=self.pair_gains, triple_gains=self.triple_gains)

    @property
    def count(self) -> int:
        """Of words, single characters included."""
        return self.vocabulary_size + sum(map(len, self.words))

    def score(self, texts: Ids) -> Scores:
        """ln of the probability of each text (rows, length), ids below ``SPECIALS`` being no text: (rows,)."""
        begun = word_numbers(texts, self.vocabulary_size, self.words)
        chances, bonus = self._chances(begun)
        rows, length = texts.shape
        best = np.full((length + 1, LONGEST_WORD, LONGEST_WORD + 1, rows), _NEVER)  # by place, lengths of the last word and the one before
        for end in range(1, length + 1):
            for size in _LENGTHS[: min(LONGEST_WORD, end)]:
                start = end - size
                number = begun[start, size - 1]
                if start == 0:
                    best[end, size - 1, _START] = np.where(number >= 0, self.log_p[number], _NEVER)
                elif size == 1 or (number >= 0).any():
                    before = (best[start] + bonus[start, size - 1]).max(1)  # by length of the last word so far
                    best[end, size - 1, :_START] = before + chances[start, size - 1]
        found: Scores = best[length].max((0, 1))
        return found

    def words_of_four(self, texts: Ids) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Where in texts (texts, 7) a word of four begins that includes the character in the middle, and which of these words the corpus
        has, as the lexicon has misspelt ones: (texts, 4) each."""
        numbers = word_numbers(texts, self.vocabulary_size, self.words)[:4, LONGEST_WORD - 1].T
        are_words = numbers >= 0
        return are_words, are_words & (self.rarity[numbers] < _UNSEEN)

    def log_chances(self, first: Ids, second: Ids) -> Scores:
        """ln p(second | first) of pairs of words, the same shape."""
        return self._log_chances(self._pair_levels(first, second), first, second)

    def _log_chances(self, levels: NDArray[np.uint8], first: Ids, second: Ids) -> Scores:
        chances: Scores = self.log_p[second] + np.where(levels > 0, self.pair_gains[levels], self._log_b[first])
        return chances

    def _pair_levels(self, first: Ids, second: Ids) -> NDArray[np.uint8]:
        return self.pairs.get((first * self.count + second).view(np.uint64))

    def _chances(self, begun: Ids) -> tuple[Scores, Scores]:
        """Of word numbers (length, sizes, rows): ln p(w|v) of words v that end where w begins (places, size of w, size of v, rows), and
        what the word u before v adds (places, size of w, size of v, size of u or ``_START``, rows)."""
        length, _, rows = begun.shape
        before = np.full_like(begun, -1)  # the words that end at each place
        for size in _LENGTHS[: min(LONGEST_WORD, length - 1)]:
            before[size:, size - 1] = begun[:-size, size - 1]
        possible = (begun >= 0)[:, :, None] & (before >= 0)[:, None]
        at, w_size, v_size, row = possible.nonzero()
        first, second = before[at, v_size, row], begun[at, w_size, row]
        levels = self._pair_levels(first, second)
        chances = np.full(possible.shape, _NEVER)
        chances[possible] = self._log_chances(levels, first, second)
        bonus = np.zeros((length, LONGEST_WORD, LONGEST_WORD, LONGEST_WORD + 1, rows), dtype=np.float32)
        known = np.zeros_like(possible)
        known[possible] = levels > 0  # three words are only known where both pairs are
        at, w_size, v_size, row, first, second = (values[levels > 0] for values in (at, w_size, v_size, row, first, second))
        middle = at - v_size - 1  # where v begins
        which, u_size = known[middle, v_size, :, row].nonzero()
        at, w_size, v_size, row, first, second = (values[which] for values in (at, w_size, v_size, row, first, second))
        key = (before[middle[which], u_size, row] * self.count + first) * self.count + second
        bonus[at, w_size, v_size, u_size, row] = self.triple_gains[self.triples.get(key.view(np.uint64))]
        return chances, bonus

    @cached_property
    def log_p(self) -> Scores:
        """Of each word (words,)."""
        log_p: Scores = self.rarity.astype(np.float32) * np.float32(-STEP)
        log_p[:SPECIALS] = 0.0
        return log_p

    @cached_property
    def _log_b(self) -> Scores:
        log_b: Scores = self.reserve.astype(np.float32) * np.float32(-STEP)
        log_b[:SPECIALS] = 0.0
        return log_b


def word_numbers(texts: Ids, vocabulary_size: int, words: Words) -> Ids:
    """The numbers of the words of one to four characters that begin at each place of texts (rows, length), -1 where there is none:
    (length, LONGEST_WORD, rows)."""
    rows, length = texts.shape
    numbers = np.full((length, LONGEST_WORD, rows), -1, dtype=np.int64)
    numbers[:, 0] = texts.T
    key, before = texts, vocabulary_size
    for size, own in enumerate(words, 2):
        key = key[:, :-1] * vocabulary_size + texts[:, size - 1 :]
        which, number = own.find(key.view(np.uint64).reshape(-1))
        row, place = np.divmod(which, key.shape[1])
        numbers[place, size - 1, row] = number + before
        before += len(own)
    return numbers
