"""Token types that tell a small model which neighbours belong together.

A mark is a mixed-radix number over five factors, computed from the token ids alone:

1. dictionary words (4 bits): the token ends a two-character word with its left neighbour (1), begins one with its right
   neighbour (2), lies inside a three-character (4) or four-character word (8) of the lexicon;
2. and 3. how often the pair with the left / right neighbour occurs in a large corpus, on a logarithmic scale of 8 levels;
4. how well the token fits between two characters on either side and among the words of the sentence, and how much better one that
   sounds or looks alike would, or how likely it is a slip for one (``look_alikes.Evidence``), on 16 levels;
5. the alternative: the id of the one that would fit best, 0 where none comes near the token.

Wrong characters break words, make rare pairs, and stand where a similar one is usual: the marks carry most of what a large network
would otherwise have to remember.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corrector.electra.associations import REACH, Associations, WordsAround
from corrector.electra.contrasts import REACH as CONTRAST_REACH
from corrector.electra.contrasts import Contrasts
from corrector.electra.look_alikes import LEVELS, evidence, joined
from corrector.electra.ngrams import Ids, Ngrams
from corrector.electra.static_map import StaticMap
from corrector.electra.word_evidence import CONTEXT as WORD_CONTEXT
from corrector.electra.word_model import LONGEST_WORD, WordModel
from corrector.electra.word_set import Keys, Words, WordSet

if TYPE_CHECKING:
    from corrector.electra.slips import Slips

MARK_FACTORS = (16, 8, 8, LEVELS)
"""All but the alternative."""
PLAIN_MARKS = math.prod(MARK_FACTORS)
"""So many marks are without an alternative; a mark is less than this times the size of the vocabulary."""

_PAIR_LEVELS = np.array([0, 0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7])  # of each step of ngrams.PAIR_STEPS


def levels_of(types: NDArray[Any]) -> NDArray[Any]:
    """The fourth factor of marks, 0 for the token types of networks without any: the same shape."""
    return types % PLAIN_MARKS // (PLAIN_MARKS // LEVELS)


def word_borders(types: NDArray[Any]) -> set[int]:
    """The tokens with which a word of two or three characters begins right after the end of another, by the marks (tokens,) of a text."""
    ends, begins, inside = (types & bit > 0 for bit in (1, 2, 4))
    three = np.zeros_like(inside)  # whether a word of three may begin with each token
    three[:-2] = inside[:-2] & inside[1:-1] & inside[2:]
    ends[2:] |= three[:-2]
    return set((np.flatnonzero(ends[:-1] & (begins | three)[1:]) + 1).tolist())


def words_of_two(types: NDArray[Any]) -> set[int]:
    """The tokens with which a word of two characters begins whose second begins no other, by the marks (tokens,) of a text."""
    begins = types & 2 > 0
    return set(np.flatnonzero(begins[:-1] & ~begins[1:]).tolist())


@dataclass(frozen=True, eq=False)
class MarkTables:
    """The words of a lexicon as sorted keys, for one vocabulary, and the corpus counts where there are any; ``associated`` is the table
    of ``associations``, which a model of an earlier version lacks, as its networks know no alternatives (``with_alternatives``); the
    ``word_model`` is weighed in where the networks were trained so, and with it the ``contrasts``, where the model brings any.

    The key of ids (a, b, …) is their number in base ``vocabulary_size``.
    """

    vocabulary_size: int
    words: tuple[Keys, Keys, Keys]  # of two, three and four characters
    ngrams: Ngrams | None = None
    associated: StaticMap | None = None
    with_alternatives: bool = True
    word_model: WordModel | None = None
    contrasts: Contrasts | None = None

    @classmethod
    def load(cls, path: Path, with_alternatives: bool = True) -> MarkTables:
        """Read ``marks.npz``."""
        with np.load(path) as data:
            words = tuple(np.cumsum(data[f"words{length}"], dtype=np.uint64) for length in (2, 3, 4))
            ngrams = Ngrams.from_arrays(data) if "pairs_map" in data else None
            return cls(int(data["vocabulary_size"]), words, ngrams, StaticMap.read(data, "associated"), with_alternatives)  # type: ignore[arg-type]

    def with_words(self, model: WordModel) -> MarkTables:
        """The same tables, whose marks also say how likely the text is as a row of words; ``model`` is one of ``sets``."""
        return dataclasses.replace(self, word_model=model)

    def with_contrasts(self, contrasts: Contrasts) -> MarkTables:
        """The same tables, whose marks also say which of two characters fits, where ``contrasts`` tell them apart."""
        return dataclasses.replace(self, contrasts=contrasts)

    def with_slips(self, slips: Slips) -> MarkTables:
        """The same tables, to whose marks each character is alike that was seen to be meant where the other stood, and no other."""
        if self.ngrams is None:
            return self
        alike, similarity = slips.look_alikes(self.ngrams.alike.shape[1])
        return dataclasses.replace(self, ngrams=dataclasses.replace(self.ngrams, alike=alike, similarity=similarity))

    def save(self, path: Path) -> None:
        """Write ``marks.npz``; it is not compressed, because it is read at every start."""
        arrays: dict[str, Any] = {"vocabulary_size": np.int64(self.vocabulary_size)}
        for length, keys in zip((2, 3, 4), self.words, strict=True):
            differences = np.diff(keys, prepend=np.uint64(0))
            narrow = not len(differences) or int(differences.max()) < 2**32
            arrays[f"words{length}"] = differences.astype(np.uint32) if narrow else differences
        if self.ngrams is not None:
            arrays |= self.ngrams.arrays()
        if self.associated is not None:
            arrays |= self.associated.arrays("associated")
        np.savez(path, **arrays)

    @cached_property
    def associations(self) -> Associations | None:
        """Which of the words of two characters stand near one another more often than by chance."""
        return None if self.associated is None else Associations(self.sets[0], self.vocabulary_size, self.associated)

    @cached_property
    def sets(self) -> Words:
        """``words``, to be asked for many keys at a time."""
        if self.word_model is not None:
            return self.word_model.words
        two, three, four = map(WordSet, self.words)
        return two, three, four

    @property
    def reach(self) -> int:
        """Associations aside, a mark depends on so many tokens on either side."""
        return LONGEST_WORD - 1 if self.word_model is None else WORD_CONTEXT

    @property
    def context(self) -> int:
        """A mark depends on so many tokens on either side."""
        apart = self.reach if self.contrasts is None else CONTRAST_REACH
        return apart if self.associated is None else max(apart, REACH + 1)

    def is_word(self, *ids: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether these two to four neighbours are a word of the lexicon; one array a place, all of one shape."""
        return self.sets[len(ids) - 2].has(self._key(*ids))

    def completions(self, texts: Ids) -> list[list[int]]:
        """The ids that in the middle of each row (rows, 7) make a word of four characters with those around; none where there is one."""
        found: list[list[int]] = [[] for _ in texts]
        windows = [texts[:, 3 - gap : 7 - gap] for gap in range(4)]  # the middle is their character number ``gap``
        open_rows = ~np.logical_or.reduce([self.is_word(*window.T) for window in windows])
        for gap, (window, (keys, ids)) in enumerate(zip(windows, self._gapped, strict=True)):
            wanted = self._key(*np.delete(window, gap, 1).T)
            first, last = keys.searchsorted(wanted), keys.searchsorted(wanted, side="right")
            for row in np.flatnonzero(open_rows & (last > first)).tolist():
                found[row] += ids[first[row] : last[row]].tolist()
        return found

    def doubled_completions(self, texts: Ids) -> list[list[int]]:
        """The ids that twice, in place of the two in the middle of each row (rows, 6), make a word of four characters with those around;
        none where there is one."""
        found: list[list[int]] = [[] for _ in texts]
        windows = [texts[:, 2 - gap : 6 - gap] for gap in range(3)]  # the two begin at their character number ``gap``
        open_rows = ~np.logical_or.reduce([self.is_word(*window.T) for window in windows])
        for gap, (window, words) in enumerate(zip(windows, self._doubled, strict=True)):
            around = np.delete(window, [gap, gap + 1], 1).tolist()
            for row in np.flatnonzero(open_rows).tolist():
                found[row] += words.get(tuple(around[row]), [])
        return found

    @cached_property
    def _doubled(self) -> list[dict[tuple[int, ...], list[int]]]:
        """The words of four characters whose first two are the same, whose second and third are, whose last two are: by the other two
        the ids that are doubled."""
        doubled: list[dict[tuple[int, ...], list[int]]] = []
        ids = np.stack(self._four_ids, 1)
        for gap in range(3):
            doubled.append({})
            for word in ids[ids[:, gap] == ids[:, gap + 1]].tolist():
                doubled[gap].setdefault(tuple(word[:gap] + word[gap + 2 :]), []).append(word[gap])
        return doubled

    @cached_property
    def _gapped(self) -> list[tuple[Keys, NDArray[np.int32]]]:
        """The words of four characters without the first, the second …: the keys of the other three, sorted, and the ids left out."""
        ids = self._four_ids
        gapped = []
        for gap in range(4):
            key = self._key(*ids[:gap], *ids[gap + 1 :])
            order = np.argsort(key, kind="stable")
            gapped.append((key[order], ids[gap][order]))
        return gapped

    @cached_property
    def _four_ids(self) -> list[NDArray[np.int32]]:
        """The first, the second … characters of the words of four: (words,) each."""
        ids: list[NDArray[np.int32]] = []
        rest = self.words[2].astype(np.int64)
        for _ in range(4):
            rest, last = np.divmod(rest, self.vocabulary_size)
            ids.insert(0, last.astype(np.int32))
        return ids

    def _key(self, *ids: NDArray[Any]) -> Keys:
        """Neighbours as their number in base ``vocabulary_size``."""
        key = ids[0].astype(np.int64)
        for part in ids[1:]:
            key = key * self.vocabulary_size + part.astype(np.int64)
        return key.view(np.uint64)

    def word_bits(self, ids: NDArray[Any]) -> NDArray[np.int64]:
        """The first factor of each token, (length,) or (rows, length): the same shape."""
        return self._of_rows(ids, self._word_bits)

    def changed_word_bits(self, ids: Ids, originals: Ids, owner: NDArray[np.integer]) -> NDArray[np.uint8]:
        """``word_bits`` of rows (rows, length) that are much like ``originals[owner]`` (n, length): only what differs is looked up."""
        found, key, before = [], ids, originals
        for size, words in zip((2, 3, 4), self.sets, strict=True):
            key = key[:, :-1] * self.vocabulary_size + ids[:, size - 1 :]
            before = before[:, :-1] * self.vocabulary_size + originals[:, size - 1 :]
            is_word, changed = words.has(before)[owner], key != before[owner]
            is_word[changed] = words.has(key[changed])
            found.append(is_word)
        return _bits(found, ids.shape)

    def types(self, ids: NDArray[Any]) -> NDArray[np.int32]:
        """The marks of token ids, (length,) or (rows, length): the same shape."""
        return self._of_rows(ids, self._types).astype(np.int32)

    def types_many(
        self, texts: Sequence[NDArray[Any]], wanted: Sequence[NDArray[np.bool_]] | None = None
    ) -> list[NDArray[np.int32]]:
        """``types`` of texts (length,) of any lengths, which together take far less time than one by one; less still where only some of
        their tokens are ``wanted``, beside which they may be wrong."""
        flat, inside = joined(texts)
        types = self._types(flat, inside, None if wanted is None else joined(wanted)[0] > 0)[inside].astype(np.int32)
        ends = list(accumulate(map(len, texts)))
        return [types[end - len(text) : end] for text, end in zip(texts, ends, strict=True)]

    def _of_rows(
        self, ids: NDArray[Any], marks: Callable[[Ids, NDArray[np.bool_]], NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        """What ``marks`` finds of all rows together: the shape of ``ids``."""
        ids = np.asarray(ids)
        if not ids.size:
            return np.zeros(ids.shape, dtype=np.int64)
        flat, inside = joined(ids.reshape(-1, ids.shape[-1]))
        return marks(flat, inside)[inside].reshape(ids.shape)

    def _word_bits(self, flat: Ids, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
        """``word_bits`` of ``joined`` texts."""
        found, key, whole = [], flat, inside
        for size, words in zip((2, 3, 4), self.sets, strict=True):
            key = key[:-1] * self.vocabulary_size
            key += flat[size - 1 :]
            whole = whole[:-1] & inside[size - 1 :]
            found.append(words.has(key) & whole)
        return _bits(found, flat.shape).astype(np.int64)

    def _types(self, flat: Ids, inside: NDArray[np.bool_], wanted: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """``types`` of ``joined`` texts, right where they are ``wanted``: by default everywhere."""
        marks = self._word_bits(flat, inside)
        if self.ngrams is not None:
            words = None if self.associations is None else WordsAround(self.associations, flat, inside)
            found = evidence(self.ngrams, flat, inside if wanted is None else wanted, words, self.word_model, self.contrasts)
            pairs = _PAIR_LEVELS[found.pair_steps] * (inside[:-1] & inside[1:])
            marks[1:] += 16 * pairs
            marks[:-1] += 16 * 8 * pairs
            marks += 16 * 8 * 8 * found.levels
            if self.with_alternatives:
                marks += PLAIN_MARKS * found.alternatives
        return marks


def _bits(found: Sequence[NDArray[np.bool_]], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """The first factor of each token, from whether words of two, three and four begin at each place of the last axis."""
    bits = np.zeros(shape, dtype=np.uint8)
    for size, is_word in zip((2, 3, 4), found, strict=True):
        begun, count = is_word.view(np.uint8), is_word.shape[-1]
        for place in range(size):
            bit = 1 - place if size == 2 else size - 1  # the first of two begins a word, the second ends one
            bits[..., place : count + place] |= begun << np.uint8(bit)
    return bits
