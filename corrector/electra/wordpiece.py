"""BERT's basic tokenisation and WordPiece, rewritten so that every piece knows which characters it came from.

The rules are those of google-research/bert ``tokenization.py`` (uncased, Chinese characters split), applied one
character at a time: a character may vanish (controls, combining marks), stay one, or become several (Hangul syllables
under NFD), and none of that may shift the offset of its neighbours.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

CONTINUATION = "##"
MAX_WORD_CHARACTERS = 100
"""A longer run is one [UNK]: ``max_input_chars_per_word`` of BERT's own vocabulary converters."""

# The blocks BERT puts spaces around; Extensions F and later are not among them, exactly as in the released models.
_HAN_BLOCKS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_ASCII_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_SEPARATOR = " "


@dataclass(frozen=True, slots=True)
class Piece:
    """A token: its vocabulary id (``None`` is unknown), its text without ``##``, and the indexes of its characters.

    ``sources`` is in reading order; an index may repeat (a character that became several) and may belong to two pieces.
    """

    id: int | None
    text: str
    sources: tuple[int, ...]
    starts_word: bool


@lru_cache(maxsize=1 << 16)
def normalise_character(char: str) -> str:
    """What BERT reads for one character: '' (dropped), ' ' (ends a word), or its lower-case, accent-free letters."""
    category = unicodedata.category(char)
    if char in "\t\n\r" or category[0] == "Z":
        return _SEPARATOR
    if char == "\ufffd" or category[0] == "C":
        return ""
    letters = (c for c in unicodedata.normalize("NFD", char) if unicodedata.category(c) != "Mn")
    return "".join(letter.lower() for letter in letters)


@lru_cache(maxsize=1 << 16)
def stands_alone(letter: str) -> bool:
    """True for a normalised letter that is a word by itself: Han characters and punctuation."""
    code = ord(letter)
    if any(first <= code <= last for first, last in _HAN_BLOCKS):
        return True
    return letter in _ASCII_PUNCTUATION or unicodedata.category(letter)[0] == "P"


def words(text: str) -> Iterator[tuple[str, list[int]]]:
    """Yield BERT's basic tokens: the normalised word and, for each of its letters, the index of its character."""
    letters: list[str] = []
    sources: list[int] = []
    for index, char in enumerate(text):
        for letter in normalise_character(char):
            alone = letter != _SEPARATOR and stands_alone(letter)
            if letters and (alone or letter == _SEPARATOR):
                yield "".join(letters), sources
                letters, sources = [], []
            if alone:
                yield letter, [index]
            elif letter != _SEPARATOR:
                letters.append(letter)
                sources.append(index)
    if letters:
        yield "".join(letters), sources


def pieces(text: str, id_of: Mapping[str, int], longest: int) -> Iterator[Piece]:
    """Yield the WordPiece tokens of ``text``; ``longest`` is the length of the longest vocabulary entry."""
    for word, sources in words(text):
        ends = _greedy_ends(word, id_of, longest)
        if ends is None:
            yield Piece(None, word, tuple(sources), True)
            continue
        start = 0
        for end, identifier in ends:
            yield Piece(identifier, word[start:end], tuple(sources[start:end]), start == 0)
            start = end


def _greedy_ends(word: str, id_of: Mapping[str, int], longest: int) -> list[tuple[int, int]] | None:
    """Cut a word longest match first: (end, id) of every piece, or None when some part is not in the vocabulary."""
    if len(word) > MAX_WORD_CHARACTERS:
        return None
    ends: list[tuple[int, int]] = []
    start = 0
    while start < len(word):
        prefix = CONTINUATION if start else ""
        for end in range(min(len(word), start + longest), start, -1):
            identifier = id_of.get(prefix + word[start:end])
            if identifier is not None:
                ends.append((end, identifier))
                start = end
                break
        else:
            return None
    return ends
