"""Phrases of four characters of which three give away the fourth, as the corpus has hardly another one there: 变本加_ is 变本加厉.

Where a text has another character there, which sounds or looks like the right one, it is most likely a slip for it (变本加利). The list is
made by ``python -m corrector.train phrases``: a heading, then a phrase a line, with the places that the other three give away as the bits
of a digit (1, 2, 4 and 8 for the first to the fourth); 0 for what is right as well, though it is like one of the others. Idioms that the
corpus hardly has are there, too, as it has nothing else in their places; these have 16 more, a letter from g on, and count for less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corrector.similarity.misspellings import BY_CHANCE, SURE, Meant

Keys = NDArray[np.uint64]

LIST = Path(__file__).with_name("phrases.txt")
HEADING = "# Made by `python -m corrector.train phrases`: phrases, and which of their characters the others give away.\n"
LENGTH = 4
RARE = 1 << LENGTH  # the bit of an idiom that the corpus hardly has
DIGITS = "0123456789abcdefghijklmnopqrstuv"

PARTICLE = "的"  # stands between two phrases (攻无不克的|制胜) much more often than in one for another

_SHIFTS = np.arange(16 * (LENGTH - 1), -1, -16, dtype=np.uint64)  # of 16 bits each: a phrase is a number
_REST = [~(np.uint64(0xFFFF) << shift) for shift in _SHIFTS]  # all but one character of it
_LAST = np.array([~np.uint64(0)])  # behind all others, so that whatever is sought has a place; no text has it


class Almost(NamedTuple):
    """A phrase of a text but for one character: where it begins, the place of that character, and what is meant there."""

    start: int
    place: int
    meant: Meant


class Phrases:
    """Phrases with the places that the rest of them gives away, looked up together. Immutable."""

    def __init__(self, characters: NDArray[np.uint16], bits: NDArray[Any]) -> None:
        """The code points of the phrases (phrases, LENGTH), in order, all of the Basic Multilingual Plane, and their bits (phrases,)."""
        phrases = _keys(characters)
        self._all = np.concatenate([phrases, _LAST])
        rare = (bits & RARE).astype(np.bool_)
        given = [(bits >> place & 1).astype(np.bool_) for place in range(LENGTH)]
        self._by_rest = [_sorted_by(rest, phrases[own], rare[own]) for rest, own in zip(_REST, given, strict=True)]

    @classmethod
    def of(cls, places: Mapping[str, int]) -> Phrases:
        """Phrases with their bits.

        >>> Phrases.of({"变本加厉": 8}).meant("他变本加利。")
        {4: Meant(char='厉', evidence=2)}
        """
        characters = np.array([[ord(char) for char in phrase] for phrase in sorted(places)], dtype=np.uint16).reshape(-1, LENGTH)
        return cls(characters, np.array([places[phrase] for phrase in sorted(places)], dtype=np.uint8))

    def meant(self, text: str) -> dict[int, Meant]:
        """The places of ``text`` where one character, but for 的, differs from a phrase whose other three give it away, with that of the
        phrase; ``BY_CHANCE`` if it is ``RARE``."""
        found: dict[int, Meant] = {}
        for one in self.almost(text):
            found[one.place] = max(found.get(one.place, one.meant), one.meant, key=attrgetter("evidence"))
        return found

    def almost(self, text: str) -> Iterator[Almost]:
        """Where ``text`` has a phrase but for one character, not 的, that the other three give away.

        >>> list(Phrases.of({"变本加厉": 8}).almost("他变本加利。"))
        [Almost(start=1, place=4, meant=Meant(char='厉', evidence=2))]
        """
        if len(text) < LENGTH:
            return
        keys = _keys_of(text)
        wrong = ~self._has(keys)
        for place, (rest, (rests, phrases, rare)) in enumerate(zip(_REST, self._by_rest, strict=True)):
            left = keys & rest
            at = rests.searchsorted(left)
            for start in (wrong & (rests[at] == left)).nonzero()[0].tolist():
                if text[start + place] != PARTICLE:
                    char = chr(int(phrases[at[start]] >> _SHIFTS[place]) & 0xFFFF)
                    yield Almost(start, start + place, Meant(char, BY_CHANCE if rare[at[start]] else SURE))

    def standing(self, text: str) -> NDArray[np.bool_]:
        """Which characters of ``text`` are in one of the phrases: (characters,).

        >>> Phrases.of({"变本加厉": 8}).standing("他变本加厉。").tolist()
        [False, True, True, True, True, False]
        """
        found = np.zeros(len(text), dtype=np.bool_)
        if len(text) >= LENGTH:
            (starts,) = self._has(_keys_of(text)).nonzero()
            found[starts[:, None] + np.arange(LENGTH)] = True
        return found

    def _has(self, keys: Keys) -> NDArray[np.bool_]:
        """Which of these are phrases: the same shape."""
        found: NDArray[np.bool_] = self._all[self._all.searchsorted(keys)] == keys
        return found


@cache
def set_phrases() -> Phrases:
    """Those of the list that comes with the program."""
    lines = LIST.read_text("utf-8").removeprefix(HEADING)
    codes = np.frombuffer(lines.encode("utf-16-le"), dtype="<u2").reshape(-1, LENGTH + 2)  # with a digit and a line end
    digits = codes[:, LENGTH]
    return Phrases(codes[:, :LENGTH], np.where(digits <= ord("9"), digits - ord("0"), digits - ord("a") + 10))  # as in ``DIGITS``


def _keys(characters: NDArray[Any]) -> Keys:
    """Rows of code points (rows, LENGTH) as numbers: (rows,)."""
    keys: Keys = (characters.astype(np.uint64) << _SHIFTS).sum(1, dtype=np.uint64)
    return keys


def _keys_of(text: str) -> Keys:
    """All strings of ``LENGTH`` characters of a text, which has as many, as numbers; characters outside the plane count as NUL."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return _keys(np.lib.stride_tricks.sliding_window_view(np.where(codes < 0xFFFF, codes, 0), LENGTH))


def _sorted_by(rest: np.uint64, phrases: Keys, rare: NDArray[np.bool_]) -> tuple[Keys, Keys, NDArray[np.bool_]]:
    """What is left of each of the phrases, sorted, and in that order the phrases and whether they are rare; the usual ones first."""
    rests = phrases & rest
    order = np.lexsort((rare, rests))
    return np.concatenate([rests[order], _LAST]), np.concatenate([phrases[order], _LAST]), np.append(rare[order], False)
