"""How much likelier a text is as a row of words when one of its characters is another.

A place and ``CONTEXT`` characters on either side are read under ``WordModel``, with pairs of words only. What comes before each word
through the place, and what comes after it, is divided into words once (Viterbi); a character in the place then costs no more than its own
words: the character alone, and the words of the lexicon that it makes with its neighbours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corrector.electra.word_model import LONGEST_WORD, WordModel, word_numbers

CONTEXT = 5  # characters on either side
_NEVER = np.float32(-1e9)
_SIZES = range(1, LONGEST_WORD + 1)

Ids = NDArray[np.int64]
Scores = NDArray[np.float32]


class WordsThrough:
    """The divisions of a text (length,), no place of which that is asked for is nearer than ``CONTEXT`` to an end."""

    def __init__(self, model: WordModel, flat: Ids) -> None:
        self.model, self.flat = model, flat
        self.begun = word_numbers(flat[None], model.vocabulary_size, model.words)[:, :, 0]  # (length, sizes)
        self.ended = np.full_like(self.begun, -1)  # the words that end before each place
        for size in _SIZES:
            self.ended[size:, size - 1] = self.begun[:-size, size - 1]
        before, after = self.ended[:, :, None], self.begun[:, None]
        possible = (before >= 0) & (after >= 0)
        at, old, new = possible.nonzero()
        self.chances = np.full(possible.shape, _NEVER)  # ln p(w|v), by place, size of v that ends there, size of w that begins there
        self.chances[possible] = model.log_chances(self.ended[at, old], self.begun[at, new])

    def gains(self, places: Ids, which: Ids, characters: Ids) -> Scores:
        """By how much each of ``characters`` at ``places[which]`` makes the text likelier than the character there: (characters,)."""
        count = len(places)
        which, characters = np.concatenate([np.arange(count), which]), np.concatenate([self.flat[places], characters])
        scores = self._scores(places, which, characters)
        gains: Scores = scores[count:] - scores[:count][which[count:]]
        return gains

    def _scores(self, places: Ids, which: Ids, characters: Ids) -> Scores:
        """ln p of the text around ``places[which]`` with each of ``characters`` there: (characters,)."""
        before, after = self._before(places), self._after(places)
        owner, word, start, size = self._words(places[which], characters)
        place, row = places[which[owner]], which[owner]
        old, new = self.ended[place - start], self.begun[place - start + size]  # (words, sizes)
        left, right = before[CONTEXT - start, row], after[CONTEXT + 1 + start - size, row]
        own = np.broadcast_to(word[:, None], old.shape)
        score = self._best(left, old, own)
        score += self._best(right, own, new)
        best = np.full(len(characters), _NEVER)
        np.maximum.at(best, owner, score)
        return best

    def _best(self, scores: Scores, first: Ids, second: Ids) -> Scores:
        """The best over neighbours of each size, of which there may be none, of a score and that of the pair: (words,)."""
        total = np.full(scores.shape, _NEVER)
        there = (first >= 0) & (second >= 0)
        total[there] = scores[there] + self.model.log_chances(first[there], second[there])
        best: Scores = total.max(1)
        return best

    def _words(self, places: Ids, characters: Ids) -> tuple[Ids, Ids, Ids, Ids]:
        """The words with each of ``characters`` at ``places``: whose it is, its number, how far before the place it begins, its size."""
        model = self.model
        everything = np.arange(len(places))
        found = [(everything, characters, np.zeros_like(places), np.ones_like(places))]
        base = model.vocabulary_size
        for size, words in zip(_SIZES[1:], model.words, strict=True):
            for start in range(size):
                key = np.zeros_like(places)
                for offset in range(-start, size - start):
                    key = key * model.vocabulary_size + (characters if offset == 0 else self.flat[places + offset])
                owner, number = words.find(key.view(np.uint64))
                found.append((owner, number + base, np.full_like(owner, start), np.full_like(owner, size)))
            base += len(words)
        whose, which, starts, sizes = (np.concatenate(column) for column in zip(*found, strict=True))
        return whose, which, starts, sizes

    def _before(self, places: Ids) -> Scores:
        """ln p of the likeliest division of the ``CONTEXT`` characters before each place, less the last few of them, by how many are left
        and the size of its last word: (CONTEXT + 1, places, sizes)."""
        first = places - CONTEXT
        best = np.full((CONTEXT + 1, len(places), LONGEST_WORD), _NEVER)
        for end in range(1, CONTEXT + 1):
            for size in _SIZES[: min(end, LONGEST_WORD)]:
                if size == end:
                    number = self.begun[first, size - 1]
                    best[end, :, size - 1] = np.where(number >= 0, self.model.log_p[number], _NEVER)
                else:
                    best[end, :, size - 1] = (best[end - size] + self.chances[first + end - size, :, size - 1]).max(1)
        return best

    def _after(self, places: Ids) -> Scores:
        """ln p of the likeliest division of the last few characters of those up to ``CONTEXT`` after each place, given its first word, by
        how many they are and the size of that: (CONTEXT + 1, places, sizes)."""
        last = places + CONTEXT + 1
        best = np.full((CONTEXT + 1, len(places), LONGEST_WORD), _NEVER)
        for length in range(1, CONTEXT + 1):
            for size in _SIZES[: min(length, LONGEST_WORD)]:
                if size == length:
                    best[length, :, size - 1] = np.where(self.begun[last - length, size - 1] >= 0, np.float32(0), _NEVER)
                else:
                    best[length, :, size - 1] = (best[length - size] + self.chances[last - length + size, size - 1]).max(1)
        return best
