"""What is written so on purpose: quotations, whose spelling is that of their time (学而时习之，不亦说乎), and playful spellings (小盆友).

Nothing in one is an error, however unlikely a model finds it; and what differs from a quotation in one character is most likely a slip
(春风不渡玉门关).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path

from corrector.text.protect import SpanIndex
from corrector.types import Span
from corrector.words import ProtectedWords, read_lines

KNOWN_BY_THE_REST = 5
"""A quotation of so many characters and more is known by all but one of them."""

_SHORTEST = 4  # characters of a clause; of a line without commas, any number
_LIST = Path(__file__).with_name("verbatim.txt")
_EITHER = re.compile(r"\[(.+?)\]|(.)")


class Verbatim:
    """Clauses to be left as they are, looked up together. Immutable."""

    __slots__ = ("_known_by", "_words")

    def __init__(self, clauses: Iterable[str]) -> None:
        known = dict.fromkeys(clauses)
        self._words = ProtectedWords.of(known)
        self._known_by: dict[str, list[tuple[str, int]]] = {}  # two characters → the clauses with them, and where in these
        for clause in known:
            if len(clause) >= KNOWN_BY_THE_REST:  # so that the first two of its characters are right, or the last two
                for place in (0, len(clause) - 2):
                    self._known_by.setdefault(clause[place : place + 2], []).append((clause, place))

    def spans(self, text: str) -> tuple[Span, ...]:
        """Where ``text`` has a clause: sorted, disjoint, not touching."""
        return self._words.spans(text)

    def meant(self, text: str) -> dict[int, str]:
        """The places of ``text`` where one character differs from a clause of ``KNOWN_BY_THE_REST`` or more, with that of the clause.

        >>> Verbatim(["春风不度玉门关"]).meant("春风不渡玉门关。")
        {3: '度'}
        >>> Verbatim(["春风不度玉门关"]).meant("春风不渡玉门。")
        {}
        """
        found: dict[int, str] = {}
        for place in range(len(text) - 1):
            for clause, within in self._known_by.get(text[place : place + 2], ()):
                found |= _other(text, place - within, clause)
        if found:  # 天生我材必有用 is a clause itself, one character from 天生我才必有用
            known = SpanIndex(self.spans(text))
            found = {place: char for place, char in found.items() if not known.touches(Span(place, place + 1))}
        return found


def _other(text: str, start: int, clause: str) -> dict[int, str]:
    """The only place where ``text`` from ``start`` on differs from the clause, with the character of the clause; nothing if there are more
    such places or none."""
    written = text[start : start + len(clause)] if start >= 0 else ""
    if len(written) < len(clause):
        return {}
    others = [(start + i, new) for i, (old, new) in enumerate(zip(written, clause, strict=True)) if old != new]
    return dict(others) if len(others) == 1 else {}


@cache
def by_heart() -> Verbatim:
    """Those of the list that comes with the program."""
    return Verbatim(clause for _, line in read_lines(_LIST) for clause in clauses_of(line))


def clauses_of(line: str) -> list[str]:
    """What a line of the list stands for, each spelling that is right by itself.

    >>> clauses_of("师者，所以传道[受授]业解惑也")
    ['所以传道受业解惑也', '所以传道授业解惑也']
    """
    clauses = line.split("，")
    return [own for clause in clauses for own in _spellings(clause) if len(clauses) == 1 or len(own) >= _SHORTEST]


def _spellings(clause: str) -> list[str]:
    if "[" not in clause:
        return [clause]
    return ["".join(chars) for chars in product(*(either or one for either, one in _EITHER.findall(clause)))]
