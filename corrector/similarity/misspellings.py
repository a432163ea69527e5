"""Well-known misspellings: forms that hardly anyone means, each with the right one (膺品 → 赝品, 走头无路 → 走投无路).

Whoever writes one takes it for right, so text has many of them and teaches that they are; and of rare words a small model knows little.
Those of two characters may stand side by side by chance (山脉 博物馆), so a form of the list is evidence and no verdict, and where one word
ends in the middle of it and another begins (不必|竟然) it is none; nor is one that often does so where a word begins in the middle of it
and mended it would leave the rest of that word behind (促|消费|措施: 促销|费|措施, but 报|消费|用: 报销|费用).

Some forms have characters in places of others that neither sound nor look like them, in another order most of all (鸡皮蒜毛 → 鸡毛蒜皮).
No step of the pipeline would think of that, and to change one character alone would be worse than nothing. They are wrong as a whole,
wherever they stand.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from corrector.types import Span
from corrector.words import WordIndex, read_lines

AS_A_WHOLE, SURE, BY_CHANCE = 3, 2, 1
_LIST = Path(__file__).with_name("misspellings.txt")
_EVIDENCE = {"!": AS_A_WHOLE, "": SURE, "?": BY_CHANCE}  # by the marks of the list


class Meant(NamedTuple):
    """The character that should stand in a place, and how much the form found there says: ``SURE`` where it hardly ever stands in text
    by chance, else ``BY_CHANCE``."""

    char: str
    evidence: int


class Misspellings:
    """Wrong forms, each with the right one of equal length and its evidence, looked up together. Immutable."""

    __slots__ = ("_index", "_right_of", "_whole")

    def __init__(self, forms: Mapping[str, tuple[str, int]]) -> None:
        self._right_of = dict(forms)
        self._whole = WordIndex(wrong for wrong, (_, evidence) in forms.items() if evidence == AS_A_WHOLE)
        self._index = WordIndex(wrong for wrong in forms if wrong not in self._whole)

    def are_in(self, text: str) -> bool:
        """Whether any of the forms stands in ``text``."""
        return any(True for _ in chain(self._index.occurrences(text), self._whole.occurrences(text)))

    def meant(self, text: str, words_begin: Container[int] = (), words_of_two: Container[int] = ()) -> dict[int, Meant]:
        """The places of ``text`` that a wrong form has wrong, with what is meant; not those of two characters whose second is at
        ``words_begin``, the places where one word ends and another begins; nor those ``BY_CHANCE`` whose second is at ``words_of_two``,
        the places where a word of two characters begins whose second does not begin another.

        >>> Misspellings({"膺品": ("赝品", SURE)}).meant("都是膺品。")
        {2: Meant(char='赝', evidence=2)}
        >>> Misspellings({"必竟": ("毕竟", SURE)}).meant("不必竟然", {2})
        {}
        """
        found: dict[int, Meant] = {}
        for span in self._index.occurrences(text):
            wrong = text[span.start : span.end]
            right, evidence = self._right_of[wrong]
            middle = span.start + 1
            if len(wrong) == 2 and (middle in words_begin or (evidence == BY_CHANCE and middle in words_of_two)):
                continue
            for place, (old, new) in enumerate(zip(wrong, right, strict=True), span.start):
                if old != new:
                    found.setdefault(place, Meant(new, evidence))
        return found

    def wrong_as_a_whole(self, text: str) -> Iterator[tuple[Span, str]]:
        """The forms of ``text`` that are wrong ``AS_A_WHOLE``, from the first wrong character to the last, with what is meant.

        >>> list(Misspellings({"鸡皮蒜毛": ("鸡毛蒜皮", AS_A_WHOLE)}).wrong_as_a_whole("都是鸡皮蒜毛。"))
        [(Span(start=3, end=6), '毛蒜皮')]
        """
        for span in self._whole.occurrences(text):
            right, _ = self._right_of[text[span.start : span.end]]
            wrong = [place for place, (old, new) in enumerate(zip(text[span.start : span.end], right, strict=True)) if old != new]
            first, end = wrong[0], wrong[-1] + 1
            yield Span(span.start + first, span.start + end), right[first:end]


@cache
def well_known() -> Misspellings:
    """Those of the list that comes with the program."""
    forms = {}
    for _, line in read_lines(_LIST):
        wrong, right, *mark = line.split()
        forms[wrong] = right, _EVIDENCE[mark[0] if mark else ""]
    return Misspellings(forms)
