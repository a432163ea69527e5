"""Words that Traditional text writes otherwise than the mainland's Simplified text does: 連結, 自訂, 身分.

The models learned from the latter and take some of these for slips (連接, 自定, 身份). Taiwan's terms are OpenCC's; what these lack is in
``regional.txt``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from corrector.text.script import is_traditional, is_written_otherwise
from corrector.words import read_lines

_LIST = Path(__file__).with_name("regional.txt")
_LONGEST = 5  # characters of a word


def in_regional_word(text: str, place: int) -> bool:
    """Whether the character at ``place`` belongs to such a word, in a Traditional passage.

    >>> in_regional_word("請按這個連結。", 5), in_regional_word("支援前線", 1), in_regional_word("支援前线", 1)
    (True, True, False)
    """
    return any(map(_is_regional, _words_at(text, place))) and is_traditional(text, place)


def _words_at(text: str, place: int) -> Iterator[str]:
    """What of ``text`` may be a word with the character at ``place``, the shortest first."""
    for length in range(1, _LONGEST + 1):
        for start in range(max(0, place - length + 1), min(place, len(text) - length) + 1):
            yield text[start : start + length]


@lru_cache(1 << 14)
def _is_regional(word: str) -> bool:
    """Whether all of ``word`` and no part of it alone is one."""
    return word in _listed() or _is_term(word)


def _is_term(word: str) -> bool:
    return is_written_otherwise(word) and not any(map(is_written_otherwise, (word[1:], word[:-1])))


@cache
def _listed() -> frozenset[str]:
    return frozenset(line for _, line in read_lines(_LIST))
