"""Offsets of a text, in code points, as editors count: lines from 0, and on a line the units of the encoding agreed upon."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

_LINE_END = re.compile("\r\n|\r|\n")


class Places:
    """The places of ``text``; ``units`` counts the units of a string: UTF-16 code units, unless another encoding was agreed upon."""

    def __init__(self, text: str, units: Callable[[str], int]) -> None:
        self.text, self._units = text, units
        self._ends = [match.span() for match in _LINE_END.finditer(text)]
        self._starts = [0, *(end for _, end in self._ends)]
        self._last = 0, 0  # the offset asked for last, and its unit: what comes next is often on the same long line

    def place(self, offset: int) -> tuple[int, int]:
        """Line and unit of an offset."""
        line = bisect_right(self._starts, offset) - 1
        before, unit = self._last if self._starts[line] <= self._last[0] <= offset else (self._starts[line], 0)
        self._last = offset, unit + self._units(self.text[before:offset])
        return line, self._last[1]

    def offset(self, line: int, unit: int) -> int:
        """The offset of a place; of one beyond its line, or beyond the text, the end of that."""
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[line]
        end = self._ends[line][0] if line < len(self._ends) else len(self.text)
        for offset in range(start, end):
            if unit <= 0:
                return offset
            unit -= self._units(self.text[offset])
        return end
