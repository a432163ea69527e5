"""What must never change: which characters are Han, and which spans of a text are frozen altogether.

Only Han characters are ever corrected, so a span is needed only where Han characters are part of a name that machines
read: addresses, paths, code, placeholders, mentions, topics; and where someone chose the very form of one. No span crosses
a line break, and every pattern is linear in the text: a repeat is either bounded or starts only where the one before it
cannot have reached.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain

from corrector.types import Span

HAN_CLASS = (
    "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # 〇, Extension A, the URO, compatibility ideographs
    "\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"  # Extensions B, C, D
    "\U0002b820-\U0002ceaf\U0002ceb0-\U0002ebef\U0002ebf0-\U0002ee5f"  # Extensions E, F, I
    "\U0002f800-\U0002fa1f\U00030000-\U0003134f\U00031350-\U000323af"  # compatibility supplement, Extensions G, H
)
"""Every Han character, as the inside of a regular-expression character class (Unicode 16, blocks)."""

_BREAKS = r"\r\n\v\f\x85\u2028\u2029"  # what ends a line, as the inside of a character class

HAN_RUN = re.compile(f"[{HAN_CLASS}]+")

# The rest of an address or a path: ASCII as RFC 3986 allows it, and Han only right after a separator, so that
# `https://zh.wikipedia.org/wiki/中国` is frozen whole and the sentence after `https://example.com请看` is not.
_TAIL = rf"(?:[a-z0-9._~:/?#@!$&*+=%\\-]|(?<=[/\\=_#&-])(?-i:[{HAN_CLASS}])+)*"

# Variation selectors: who puts one behind a character, mostly in a name, means that character and no other.
_SELECTORS = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))

# By the sign that each asks for; compiled when a text first has it.
_PATTERNS = (
    ("://", r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://" + _TAIL),  # addresses with a scheme
    (".", r"(?<![a-z0-9.-])www\." + _TAIL),  # and without
    ("@", rf"(?<![a-z0-9._%+-])[a-z0-9._%+-]{{1,64}}@(?:[a-z0-9.-]|(?<=[@.])(?-i:[{HAN_CLASS}])+)+"),  # e-mail
    ("`", rf"``[^{_BREAKS}]+?``|`[^`{_BREAKS}]+`"),  # code between backticks
    (":", r"(?<![a-z])[a-z]:[\\/]" + _TAIL),  # C:\文档
    ("/", r"(?<![\w/.~])(?:~|\.{1,2}|/[a-z0-9_.-]{1,255})/" + _TAIL),  # ~/文档, ./数据, /srv/数据
    ("@", r"(?<![a-z0-9._%+-])@[\w-]{1,30}(?=[\s:：]|$)"),  # @name, ended by a space or a colon
    ("#", r"(?<![a-z0-9#])#[^#\s]{1,64}#(?!#)"),  # #topic#
    ("{", r"\$?\{[^{}\s]{1,64}\}"),  # {name}, ${name}
    ("%(", r"%\([^()\s]{1,64}\)[a-z]"),  # %(name)s
    ("<", rf"</?[a-z][a-z0-9:-]*(?:[ \t][^<>{_BREAKS}]*)?/?>"),  # tags with their attributes
)
_VARIANT = rf"(?-i:(?<=[{HAN_CLASS}])[{''.join(_SELECTORS)}]+)"  # sought by the selector, of which there are few


def is_han(char: str) -> bool:
    """Whether one code point is a Han character: the only kind that is ever corrected."""
    return "\u4e00" <= char <= "\u9fff" or HAN_RUN.match(char) is not None


def protected_spans(text: str) -> tuple[Span, ...]:
    """The spans of ``text`` in which nothing may change: sorted, disjoint, not touching; none crosses a line break."""
    found = (_compiled(pattern).finditer(text) for sign, pattern in _PATTERNS if sign in text)
    spans = [Span(*match.span()) for match in chain.from_iterable(found)]
    if not _SELECTORS.isdisjoint(text):
        spans += (Span(match.start() - 1, match.end()) for match in _compiled(_VARIANT).finditer(text))
    return merged(spans)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The union of ``spans`` as sorted spans that neither overlap nor touch."""
    union: list[Span] = []
    for span in sorted(spans):
        if union and span.start <= union[-1].end:
            union[-1] = Span(union[-1].start, max(span.end, union[-1].end))
        else:
            union.append(span)
    return tuple(union)


class SpanIndex:
    """Sorted disjoint spans, asked for what they cover. Each is found in logarithmic time."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._ends = [span.end for span in spans]

    def would_be_cut(self, offset: int) -> bool:
        """Whether ``offset`` lies inside a span, not at its edge."""
        index = bisect_right(self._ends, offset)
        return index < len(self._spans) and self._spans[index].start < offset

    def touches(self, place: Span) -> bool:
        """Whether any of ``place`` is covered."""
        index = bisect_right(self._ends, place.start)
        return index < len(self._spans) and self._spans[index].start < place.end

    def within(self, window: Span) -> tuple[Span, ...]:
        """The covered parts of ``window``."""
        clipped = []
        for index in range(bisect_right(self._ends, window.start), len(self._spans)):
            span = self._spans[index]
            if span.start >= window.end:
                break
            clipped.append(Span(max(span.start, window.start), min(span.end, window.end)))
        return tuple(clipped)
