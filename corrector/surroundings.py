"""What the rest of its window says of an edit: whether what it takes away, or what it brings, stands there once more; quotation;
whether it swaps two of the few characters that are hardly ever told apart by the sentence alone; and how much there is to go by.

Terms, names and turns of phrase come back within a paragraph, slips seldom do (祖国观、民族观、文化观 is no misspelt 文化馆).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, permutations

from corrector.text.protect import HAN_RUN, is_han

SWAPS = {
    name: frozenset(characters)
    for name, characters in (
        ("zai", "在再"), ("zuo", "做作"), ("na", "那哪"), ("ta", "他她它"), ("jue", "决绝"), ("xiang", "象像"), ("liang", "两俩"),
        ("yu", "余馀"), ("jin", "进近"), ("jinri", "今近"), ("mai", "买卖"),
    )
}  # fmt: skip
"""Characters of like sound that writers waver between (决不 and 绝不), or that make sense both where they stand, so that a sentence seldom
says which was meant (今日 and 近日, 买 and 卖): each set needs its own caution. 的地得 is no such set: what annotators make
of these differs so much that what is learned from some does harm with others."""
SURROUNDINGS = (
    *(f"{what}_repeated_{when}" for what in ("character", "pair", "triple") for when in ("before", "after")),
    "quoted", "after_mark", "before_mark",
    *(f"swap_{name}" for name in SWAPS),
    "run", "han_share",
)  # fmt: skip
_SWAPPED = {pair: name for name, characters in SWAPS.items() for pair in permutations(characters, 2)}
_LONG_RUN = 30
_LEAST_SHARE = 0.9  # below, digits and Latin decide, from which a ranker would only guess what kind of text it is
_OPENING, _CLOSING = "“「『", "”」』"
_MARKS = frozenset("“”‘’「」『』\"《》、")  # what stands between them is often a word by itself, or one of a list


def surroundings(text: str, start: int, new: str) -> list[float]:
    """``SURROUNDINGS`` of putting ``new`` in the place of as many characters of a window, from ``start`` on: each 0 or 1, but for the
    last two: the length of the unbroken run of Han characters with the edit in it, of ``_LONG_RUN``, at most 1; and the share of the
    window that is Han characters, at least ``_LEAST_SHARE``.
    """
    end = start + len(new)
    rest = f"{text[:start]}\0{text[end:]}"  # no string of Han characters crosses the gap
    changed = f"{text[:start]}{new}{text[end:]}"
    repeated = chain(*zip(_repeated(text, rest, start, end), _repeated(changed, rest, start, end), strict=True))
    quoted = _is_open(text[:start]) and any(mark in text[end:] for mark in _CLOSING)
    marks = text[start - 1 : start] in _MARKS, text[end : end + 1] in _MARKS
    swapped = _SWAPPED.get((text[start:end], new))
    swaps = [name == swapped for name in SWAPS]
    runs = [run.span() for run in HAN_RUN.finditer(text)]
    run = next(last - first for first, last in runs if start < last)  # the one with the edit in it
    share = sum(last - first for first, last in runs) / len(text)
    room = min(run / _LONG_RUN, 1.0), max(share, _LEAST_SHARE)
    return [float(value) for value in (*repeated, quoted, *marks, *swaps, *room)]


def _repeated(text: str, rest: str, start: int, end: int) -> list[bool]:
    """Whether a character from ``start`` to ``end``, a pair or a triple with any of these stands in the rest, too."""
    if not any(character in rest for character in text[start:end]):
        return [False, False, False]  # as is mostly so: nothing with one of them can
    return [any(part in rest for part in _through(text, start, end, size)) for size in (1, 2, 3)]


def _through(text: str, start: int, end: int, size: int) -> Iterator[str]:
    """The strings of ``size`` Han characters that have any of those from ``start`` to ``end`` in them."""
    for first in range(max(0, start - size + 1), end):
        part = text[first : first + size]
        if len(part) == size and all(map(is_han, part)):
            yield part


def _is_open(text: str) -> bool:
    """Whether a quotation that begins in ``text`` goes on at its end."""
    return max(map(text.rfind, _OPENING)) > max(map(text.rfind, _CLOSING))
