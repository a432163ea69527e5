"""Proposals: what the generator, the sound, the shape and the dictionary offer in place of suspicious characters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING

import numpy as np

from corrector.electra.contrasts import REACH, to_ends
from corrector.electra.marks import PLAIN_MARKS, word_borders, words_of_two
from corrector.electra.ngrams import Fit
from corrector.similarity.glyph import glyph_similarity, nearest_by_shape
from corrector.similarity.misspellings import BY_CHANCE, SURE, Meant, well_known
from corrector.similarity.phrases import set_phrases
from corrector.similarity.pinyin import nearest_by_sound, pinyin_similarity
from corrector.similarity.verbatim import by_heart
from corrector.text.protect import is_han

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corrector.electra.marks import MarkTables
    from corrector.electra.runtime import Encoding, Floats
    from corrector.electra.slips import Slips
    from corrector.electra.word_model import WordModel

FROM_EACH_VIEW = 7  # best of the generator with the character in its place, and as many with it masked; the original may be one
FROM_SIMILAR = 6  # similar characters that fit their neighbours best
SOUND_NEIGHBOURS, SHAPE_NEIGHBOURS = 40, 16
HOMOPHONES, SOUNDS_ALIKE = 250, 0.7  # of the nearest by sound so many, as far as they are so much alike: with zh for z, ng for n
COMPLETION = 0.6  # how alike in sound or shape a character must be that makes a word of four characters
MISQUOTED = 0.8  # and one that would make an exact quotation, or surely a set phrase
_BLOCK = 800  # short texts scored at a time: some thousand keys, which the caches hold


class Characters:
    """What is known about the characters of a vocabulary: which may replace others, which are alike, how the corpus uses them and the
    words they make, which people were seen to confuse."""

    def __init__(
        self, vocabulary: Sequence[str], id_of: Mapping[str, int], tables: MarkTables,
        slips: Slips | None = None, word_model: WordModel | None = None, by_slips: int = 0,
    ) -> None:  # fmt: skip
        self.vocabulary, self.id_of, self.tables, self.slips, self.word_model = vocabulary, id_of, tables, slips, word_model
        self.by_slips = by_slips if slips is not None else 0
        self._similar: dict[int, NDArray[np.int64]] = {}
        self._heard: dict[int, tuple[NDArray[np.int64], Floats]] = {}

    @cached_property
    def replaceable(self) -> NDArray[np.bool_]:
        """The ids a correction may use: single Han characters. (vocabulary,)"""
        return np.array([len(token) == 1 and is_han(token) for token in self.vocabulary])

    def of_replaceable(self, views: Sequence[Floats] | Floats) -> Floats:
        """A copy of log-probabilities, of (vocabulary,) each, with -inf for what no correction may use: (views, vocabulary)."""
        allowed: Floats = np.empty((len(views), len(views[0])), dtype=np.float32)
        for row, view in zip(allowed, views, strict=True):
            np.add(view, self._forbidden[: len(view)], out=row)
        return allowed

    @cached_property
    def _forbidden(self) -> Floats:
        return np.where(self.replaceable, 0, -np.inf).astype(np.float32)

    def similar(self, character: int) -> NDArray[np.int64]:
        """The ids that this one was seen to stand for, then those nearest by sound, then those by shape, each once."""
        if character not in self._similar:
            alike = similar_characters(self.vocabulary[character])
            seen = self._seen[character].tolist() if self.by_slips else []
            ids = dict.fromkeys([*filter(None, seen), *(self.id_of[c] for c in alike if c in self.id_of)])
            self._similar[character] = np.array(list(ids), dtype=np.int64)
        return self._similar[character]

    @cached_property
    def _seen(self) -> NDArray[np.int64]:
        """What each character was most often seen to stand for, ``by_slips`` of them: (vocabulary, by_slips)."""
        assert self.slips is not None
        return self.slips.most_meant(self.by_slips)

    def homophones(self, first: int, second: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """The words of two characters, both different from these two and sounding much like them: their first ids, their second ids, and
        how alike they sound, 0..2, (words,) each."""
        firsts, alike = self._sounding_like(first)
        seconds, alike_too = self._sounding_like(second)
        left, right = self.tables.is_word(firsts[:, None], seconds[None]).nonzero()
        return firsts[left], seconds[right], alike[left] + alike_too[right]

    def exchanged(self, first: int, second: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """These two characters in the other order, none if they are the same, in the form of ``homophones``."""
        alike = np.full(int(first != second), 2 * self.likeness(first, second)[0])
        return np.full(len(alike), second), np.full(len(alike), first), alike

    def _sounding_like(self, character: int) -> tuple[NDArray[np.int64], Floats]:
        """The ids that sound much like this one, and how much: (ids,) each."""
        if character not in self._heard:
            near = nearest_by_sound(self.vocabulary[character], HOMOPHONES)
            known = [(self.id_of[other], likeness) for other, likeness in near if likeness >= SOUNDS_ALIKE and other in self.id_of]
            ids, likeness = np.array(known).reshape(-1, 2).T
            self._heard[character] = ids.astype(np.int64), likeness
        return self._heard[character]

    @cached_property
    def log_counts(self) -> Floats:
        """ln of how often the corpus has each character: (vocabulary,); zeros without corpus counts."""
        if self.tables.ngrams is None:
            return np.zeros(len(self.vocabulary), dtype=np.float32)
        return self.tables.ngrams.log_counts

    def text_score(self, texts: NDArray[np.int64]) -> Floats:
        """``Ngrams.text_score`` of any number of rows (rows, length); zeros without corpus counts."""
        if self.tables.ngrams is None or not len(texts):
            return np.zeros(len(texts), dtype=np.float32)
        return np.concatenate([self.tables.ngrams.text_score(part) for part in _blocks(texts)])

    def text_fit(self, texts: NDArray[np.int64]) -> Fit:
        """``Ngrams.text_fit`` of any number of rows (rows, length); zeros without corpus counts."""
        if self.tables.ngrams is None or not len(texts):
            rows, length = texts.shape
            return Fit(np.zeros(rows, dtype=np.float32), np.zeros((rows, length - 2), dtype=np.uint8))
        fits = [self.tables.ngrams.text_fit(part) for part in _blocks(texts)]
        return Fit(*(np.concatenate(part) for part in zip(*fits, strict=True)))

    def word_score(self, texts: NDArray[np.int64]) -> Floats:
        """``WordModel.score`` of rows (rows, length); zeros without such a model."""
        if self.word_model is None or not len(texts):
            return np.zeros(len(texts), dtype=np.float32)
        return np.concatenate([self.word_model.score(part) for part in _blocks(texts)])

    def told_apart(
        self, sites: Sequence[tuple[Encoding, int]], which: NDArray[np.int64], present: NDArray[np.int64], new: NDArray[np.int64]
    ) -> tuple[Floats, Floats]:
        """Whether ``Contrasts`` tell each of the new ids from the one ``present`` at the site of that number (window, token), 1 or 0, and
        the log-odds that it was meant, 0 where they do not: (ids,) each."""
        known, odds = np.zeros(len(new), dtype=np.float32), np.zeros(len(new), dtype=np.float32)
        if self.tables.contrasts is not None and len(new):
            numbers = self.tables.contrasts.numbers(present, new)
            (told,) = numbers.nonzero()
            if len(told):
                some, row = np.unique(which[told], return_inverse=True)
                texts = to_ends(around([sites[number] for number in some.tolist()], REACH, REACH))
                known[told], odds[told] = 1, self.tables.contrasts.log_odds(texts, row, numbers[told])
        return known, odds

    def completions(self, sites: Sequence[tuple[Encoding, int]]) -> list[list[int]]:
        """For each site (window, token) the ids alike that would make a word of four characters where there is none: 再接再历 → 厉; those
        that would in its place and in that of a like one next to it, too: 忧心冲冲 → 忡; and what is ``meant`` there."""
        if not sites:
            return []
        windows, result = {id(encoding): encoding for encoding, _ in sites}, []
        meant = {number: self.meant(encoding) for number, encoding in windows.items()}
        for (encoding, token), ids in zip(sites, self.tables.completions(around(sites, 3, 3)), strict=True):
            doubled = (*self.doubled(encoding, token - 1), *self.doubled(encoding, token))
            known = meant[id(encoding)].get(token, ())[:1]
            result.append(list(dict.fromkeys((*self._alike(encoding, token, ids), *doubled, *known))))
        return result

    def meant(self, encoding: Encoding) -> dict[int, tuple[int, int]]:
        """The tokens of a window that a well-known misspelling has wrong, or a set phrase or a quotation that is all but exact, with the
        ids that should stand there and the evidence of it."""
        text = "".join([self._letters[i] for i in encoding.ids.tolist()])
        found = well_known().meant(text)
        if found:  # in few windows; only these need the borders
            found = well_known().meant(text, word_borders(encoding.types), words_of_two(encoding.types))
        for place, (char, evidence) in set_phrases().meant(text).items():
            alike = max(likeness(text[place], char))
            if alike >= (MISQUOTED if evidence == BY_CHANCE else COMPLETION):
                found.setdefault(place, Meant(char, evidence if alike >= MISQUOTED else BY_CHANCE))
        for place, char in by_heart().meant(text).items():
            if max(likeness(text[place], char)) >= MISQUOTED:
                found[place] = Meant(char, SURE)
        return {token: (self.id_of[char], evidence) for token, (char, evidence) in found.items() if char in self.id_of}

    @cached_property
    def _letters(self) -> list[str]:
        """The vocabulary with a blank for each token that is no single character."""
        return [token if len(token) == 1 else " " for token in self.vocabulary]

    def is_misspelt(self, encoding: Encoding) -> bool:
        """Whether something in a window is known to be wrong, whatever the networks think of it."""
        return len(self.meant(encoding)) > 0 or bool(self.misspelt_doubles(encoding).any())

    def doubled(self, encoding: Encoding, token: int) -> list[int]:
        """The ids alike that would make a word of four characters, where there is none, in place of this one and of the next, which is
        the same: 忧心冲冲 → 忡. None where it is another."""
        if encoding.ids[token] != encoding.ids[token + 1]:
            return []
        (ids,) = self.tables.doubled_completions(around([(encoding, token)], 2, 3))
        return self._alike(encoding, token, ids)

    def misspelt_doubles(self, encoding: Encoding) -> NDArray[np.bool_]:
        """Which tokens of a window are ``doubled`` wrongly: (tokens,). Where one stands three times or more (哈哈哈), none is."""
        found = np.zeros(len(encoding.ids), dtype=np.bool_)
        same = (encoding.ids[1:] == encoding.ids[:-1]) & self.replaceable[encoding.ids[1:]]
        twice = same.copy()
        twice[1:] &= ~same[:-1]
        twice[:-1] &= ~same[1:]
        for token in np.flatnonzero(twice).tolist():
            found[token : token + 2] = len(self.doubled(encoding, token)) > 0
        return found

    def _alike(self, encoding: Encoding, token: int, ids: Iterable[int]) -> list[int]:
        """Those of the ids that are alike enough to what stands there."""
        return [new for new in ids if max(self.likeness(int(encoding.ids[token]), new)) >= COMPLETION]

    def likeness(self, a: int, b: int) -> tuple[float, float]:
        """How alike two characters sound and look, 0..1 each."""
        return likeness(self.vocabulary[a], self.vocabulary[b])


def _blocks(texts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return [texts[start : start + _BLOCK] for start in range(0, len(texts), _BLOCK)]


@lru_cache(maxsize=50_000)
def likeness(a: str, b: str) -> tuple[float, float]:
    """How alike two characters sound and look, 0..1 each."""
    return pinyin_similarity(a, b), glyph_similarity(a, b)


@lru_cache(maxsize=20_000)
def similar_characters(character: str, by_sound: int = SOUND_NEIGHBOURS, by_shape: int = SHAPE_NEIGHBOURS) -> tuple[str, ...]:
    """So many of the nearest characters by sound and by shape, each once."""
    sound = [other for other, _ in nearest_by_sound(character, by_sound)]
    shape = [other for other, _ in nearest_by_shape(character, by_shape)]
    return tuple(dict.fromkeys(sound + shape))


def around(sites: Sequence[tuple[Encoding, int]], before: int, after: int) -> NDArray[np.int64]:
    """For each site (window, token) the ids from so many tokens before it to so many after it, zeros for places outside the window:
    (sites, before + 1 + after)."""
    windows = {id(encoding): encoding.ids for encoding, _ in sites}
    gap = np.zeros(max(before, after), dtype=np.int64)
    flat = np.concatenate([gap, *chain.from_iterable((ids, gap) for ids in windows.values())])
    ends = accumulate((len(ids) + len(gap) for ids in windows.values()), initial=len(gap))
    starts = dict(zip(windows, ends, strict=False))
    places = np.array([starts[id(encoding)] + token for encoding, token in sites], dtype=np.int64)
    found: NDArray[np.int64] = flat[places[:, None] + np.arange(-before, after + 1)]
    return found


def propose(
    sites: Sequence[tuple[Encoding, int]],
    views: Sequence[Sequence[Floats]],
    completing: Sequence[Sequence[int]],
    characters: Characters,
) -> list[list[int]]:
    """Candidate ids for the characters at ``sites`` (window, token), likeliest first; never the original. They are the generator's
    best, similar characters that fit, what the marks name as fitting better, and what completes a word (``Characters.completions``).

    ``views`` are the generator's log-probabilities, for each site (vocabulary,): with the character in its place, and those with it
    masked if there are any. What is likeliest is said by their mean.
    """
    replaceable = characters.replaceable
    likeliest = np.concatenate([_best(characters.of_replaceable(view)) for view in views], 1).tolist()
    offered = zip(sites, _fitting(sites, views, characters), completing, strict=True)
    result = []
    for row, ((encoding, token), fitting, completed) in enumerate(offered):
        named = int(encoding.types[token]) // PLAIN_MARKS
        chosen = {*likeliest[row], *fitting, *completed, named} - {int(encoding.ids[token])}
        ids = np.array(sorted(i for i in chosen if replaceable[i]), dtype=np.int64)
        order = np.argsort(-sum(view[row][ids] for view in views), kind="stable")
        result.append(ids[order].tolist())
    return result


def _best(allowed: Floats) -> NDArray[np.int64]:
    """The likeliest ids of each row, which it loses: (rows, FROM_EACH_VIEW). For so few, maxima one by one beat a partial sort."""
    rows = np.arange(len(allowed))
    best = np.empty((len(allowed), FROM_EACH_VIEW), dtype=np.int64)
    for rank in range(FROM_EACH_VIEW):
        best[:, rank] = allowed.argmax(1)
        allowed[rows, best[:, rank]] = -np.inf
    return best


def _fitting(
    sites: Sequence[tuple[Encoding, int]], views: Sequence[Sequence[Floats]], characters: Characters
) -> list[list[int]]:
    """For each site the similar characters that the generator and the triples through them like best together."""
    similar = [characters.similar(int(encoding.ids[token])) for encoding, token in sites]
    sizes = [len(ids) for ids in similar]
    if not sum(sizes):
        return [[] for _ in sites]
    ids, owner = np.concatenate(similar), np.repeat(np.arange(len(sites)), sizes)
    texts = around(sites, 2, 2)[owner]
    texts[:, 2] = ids
    of_each = [np.concatenate([one[own] for one, own in zip(view, similar, strict=True)]) for view in views]
    fit = sum(of_each) / len(of_each) + characters.text_score(texts)
    if characters.by_slips and characters.slips is not None:
        given = np.array([encoding.ids[token] for encoding, token in sites], dtype=np.int64)
        fit += characters.slips.log_rates(given[owner], ids)
    ordered = ids[np.lexsort((-fit, owner))].tolist()
    ends = np.cumsum(sizes).tolist()
    return [ordered[end - size : end][:FROM_SIMILAR] for end, size in zip(ends, sizes, strict=True)]
