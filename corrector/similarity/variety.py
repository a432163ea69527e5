"""Which Chinese a passage is in: what is written today, that of older literature, or Cantonese; and what follows for corrections in it.

What the models learned from is nearly all of the first kind. The others have words and spellings of their own (那里 for 哪里, 嘱付 for
嘱咐; 依家, 一齊), which look like slips to them. The first prose in the modern vernacular (鲁迅) has those of older literature (慢慢的走),
and else is written as today.

Older literature, from the classics and poems to novels in the vernacular, is known by its characters: the score of a text is the sum of a
weight for each of its n Han characters over the square root of n (of 24 at least), plus a constant, as in logistic regression. The
weights are in ``variety_weights.txt`` (how they were made: ``build_variety.py``). Cantonese is known by characters that nothing else is
written with.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from math import exp, log, sqrt
from pathlib import Path
from typing import Literal, NamedTuple

from corrector.text.protect import is_han
from corrector.text.segment import line_around
from corrector.types import DIGITS, Correction, Variety
from corrector.words import read_lines

WEIGHTS_PATH = Path(__file__).with_name("variety_weights.txt")
REACH = 200  # characters on either side that are around a passage
DOUBT: Mapping[Variety, float] = {"early": 0.0, "older": 1.0, "cantonese": 0.5}
"""By how much less the logit of a confidence is outside of today's Chinese. Of novels and prose without slips hardly more is changed then
than of news, where a character in 10,000 is; of what is still changed in Cantonese from the web every second one is a slip."""

_FEW = 24  # characters; fewer say less
_OLDER, _NOT_OLDER = 1.0, -1.5  # an older passage or line has at least this score, and a passage of an older line more than that
_OLDER_AROUND, _NOT_OLDER_AMID = 3.0, -2.5  # the same for what is around
_EARLY_AROUND, _MANY = -4.5, 150  # of so many characters of today one text in a hundred has this score, of Lu Xun every second
_CANTONESE = frozenset("嘅咗喺佢哋冇嚟嘢啲噉㗎唔咁喎㖞啱攞嗰瞓嘥嬲冧咩揾搵畀嘞啫乜")
_OFTEN_TODAY = frozenset("唔咩冇嘞乜")  # in talk written down; by itself such a character says nothing
_MANDARIN = frozenset("的是这那们他她")
_CANTONESE_AROUND = 4  # so many different ones of the first around a passage make it Cantonese, if it has none of these


class Weights(NamedTuple):
    """What each Han character says for older literature, or against it."""

    of: Mapping[str, float]
    other: float  # of every other character
    constant: float


def variety_of(text: str, start: int, end: int, around: Variety = "today") -> Variety:
    """The variety of the passage of ``text``, read as Simplified, from ``start`` to ``end``, by itself, its line, and what is ``around``.

    >>> [variety_of(line, 0, len(line)) for line in ("佢哋喺度做嘢。", "黛玉听了，不觉又喜又惊，又悲又叹。", "他们听了很高兴。")]
    ['cantonese', 'older', 'today']
    """
    passage, line = text[start:end], line_around(text, start, end, REACH)
    amid = around == "cantonese" or _is_cantonese(line)
    if _is_cantonese(passage) or (amid and _MANDARIN.isdisjoint(passage)):
        return "cantonese"
    own = older_score(passage)
    by_line = own > _NOT_OLDER and older_score(line) >= _OLDER
    if own >= _OLDER or by_line or (around == "older" and own > _NOT_OLDER_AMID):
        return "older"
    return "early" if around in ("early", "older") and own > _EARLY_AROUND else "today"


def variety_around(text: str, start: int, end: int) -> Variety:
    """The variety of what is around a passage, in other lines, too: verses and talk say little by themselves."""
    return variety_of_surroundings(surroundings(text, start, end))


def surroundings(text: str, start: int, end: int) -> str:
    """What is around a passage, with the passage."""
    return text[max(0, start - REACH) : end + REACH]


def variety_of_surroundings(around: str) -> Variety:
    """The variety of a passage with what is around it, together."""
    if len(_CANTONESE.intersection(around)) >= _CANTONESE_AROUND:
        return "cantonese"
    score = older_score(around)
    if score >= _OLDER_AROUND:
        return "older"
    return "early" if score >= _EARLY_AROUND and sum(map(is_han, around)) >= _MANY else "today"


def older_score(text: str) -> float:
    """How much speaks for older literature in a text; below 0 what is written today is likelier."""
    weights = _weights()
    found = [weights.of.get(char, weights.other) for char in text if is_han(char)]
    return weights.constant + sum(found) / sqrt(max(len(found), _FEW))


def in_variety(correction: Correction, variety: Variety) -> Correction | None:
    """A correction of what the models read, with the confidence it has in a passage of this variety; None where what stands there is usual.

    >>> from corrector.types import Span
    >>> found = Correction(Span(0, 1), "那", "哪", 0.9, (), "same_sound")
    >>> in_variety(found, "older"), in_variety(found, "cantonese").confidence
    (None, 0.845172)
    """
    if variety == "today":
        return correction
    changed = [(old, new) for old, new in zip(correction.original, correction.replacement, strict=True) if old != new]
    if all(_is_usual(old, new, variety) for old, new in changed):
        return None
    return dataclasses.replace(correction, confidence=round(_doubted(correction.confidence, DOUBT[variety]), DIGITS))


def _is_cantonese(text: str) -> bool:
    found = _CANTONESE.intersection(text)
    return len(found) > 1 or bool(found - _OFTEN_TODAY)


def _is_usual(old: str, new: str, variety: Variety) -> bool:
    """Whether a character that today's text would have as ``new`` is right as it is."""
    if variety == "cantonese":
        return old in _CANTONESE or old + new in _spellings("cantonese")
    return old + new in _spellings("older")


def _doubted(confidence: float, doubt: float) -> float:
    if not 0 < confidence < 1:
        return confidence
    return 1 / (1 + exp(doubt - log(confidence / (1 - confidence))))


@cache
def _spellings(variety: Literal["older", "cantonese"]) -> frozenset[str]:
    return frozenset(line for _, line in read_lines(Path(__file__).with_name(f"variety_{variety}.txt")))


@cache
def _weights() -> Weights:
    """The lines of the list: a weight, then the characters that have it, or what else does."""
    of: dict[str, float] = {}
    named: dict[str, float] = {}
    for _, line in read_lines(WEIGHTS_PATH):
        weight, what = line.split()
        if what in ("other", "constant"):
            named[what] = float(weight)
        else:
            of |= dict.fromkeys(what, float(weight))
    return Weights(of, named["other"], named["constant"])
