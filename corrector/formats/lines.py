"""The lines of a text, for formats that go line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")


def lines(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each line, its line end not counted; a byte-order mark is no part of the first."""
    for match in _LINE.finditer(text, 1 if text.startswith("\ufeff") else 0):
        yield match.span(1)
