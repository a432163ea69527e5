"""Text for a terminal: what is safe to show, how many columns it takes, and a line cut to fit.

Widths are those of the wcwidth library: two columns for full-width characters and emoji sequences, none for combining marks.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from corrector.types import Span

TAB = " " * 4
CUT = "…"

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))  # controls, formats (bidi, tags, the mark), surrogates, separators
_JOINER, _AS_EMOJI = "\u200d", "\ufe0f"
_SYMBOLS = frozenset(("So", "Sk"))  # emoji, and the tones of their skin


def safe(text: str) -> str:
    """``text`` with nothing in it that steers a terminal or hides: ESC as ``␛``, U+202E as ``<U+202E>``, a tab as spaces.

    >>> safe("a\\x1b[31m\\u202eb")
    'a␛[31m<U+202E>b'
    """
    if text.isascii() and text.isprintable():
        return text
    neighbours = zip(f" {text}", text, f"{text[1:]} ", strict=False)
    return "".join(
        char if char == _JOINER and _joins(left, right) else _shown(char) for left, char, right in neighbours
    )


def _joins(left: str, right: str) -> bool:
    """Whether a joiner between these makes one emoji of two; anywhere else it only hides."""
    symbol = left == _AS_EMOJI or unicodedata.category(left) in _SYMBOLS
    return symbol and unicodedata.category(right) in _SYMBOLS


def _shown(char: str) -> str:
    if char == "\t":
        return TAB
    if unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)  # the block of control pictures
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


def width(text: str) -> int:
    """How many columns ``safe`` text takes; the colours that were put around it take none.

    >>> [width(text) for text in ("a", "汉", "e\\u0301", "👨\\u200d👩\\u200d👧")]
    [1, 2, 1, 2]
    """
    import wcwidth

    return int(wcwidth.width(text))


def pad(text: str, columns: int, right: bool = False) -> str:
    """``text`` with spaces after it, or with ``right`` before it, so that it takes ``columns``; longer text stays whole."""
    space = " " * (columns - width(text))
    return space + text if right else text + space


def around(text: str, span: Span, line: Span, columns: int, continued: bool = False) -> tuple[str, str, str]:
    """The line before ``span``, the span and the line after it, safe to show and cut with … to about ``columns`` together.

    ``line`` holds ``span``; ``continued`` tells that text before the line is not at hand. The time does not depend on the
    length of the line.
    """
    reach = 4 * columns  # characters looked at on either side; enough for any text but heaps of combining marks
    first, last = max(line.start, span.start - reach), min(line.end, span.end + reach)
    before = _clusters(text[first : span.start])
    middle = safe(text[span.start : span.end])
    after = _clusters(text[span.end : last])
    cut_before, cut_after = first > line.start or continued, last < line.end
    room = max(columns - width(middle), columns // 2)
    wanted_before = _total(before) + cut_before * room
    wanted_after = _total(after) + cut_after * room
    room_before = max(room // 2, room - wanted_after)
    room_after = max(room // 2, room - wanted_before)
    if wanted_before > room_before:
        before = [CUT, *reversed(_fitting(reversed(before), room_before - 1))]
    if wanted_after > room_after:
        after = [*_fitting(after, room_after - 1), CUT]
    return "".join(before), middle, "".join(after)


def _clusters(text: str) -> list[str]:
    """What a reader takes for one character each, safe to show."""
    from wcwidth import iter_graphemes

    return [safe(cluster) for cluster in iter_graphemes(text)]


def _total(clusters: Iterable[str]) -> int:
    return sum(map(width, clusters))


def _fitting(clusters: Iterable[str], room: int) -> list[str]:
    """The first of the clusters, as many as fit."""
    fitting = []
    for cluster in clusters:
        room -= width(cluster)
        if room < 0:
            break
        fitting.append(cluster)
    return fitting
