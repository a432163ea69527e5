"""Unified diffs that ``patch -p1`` applies.

A correction never adds or removes a line, so line i of the target answers line i of the source and the hunks are found
in one pass; difflib's search for matching lines would take quadratic time on long repetitive texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from corrector.text.decode import STDIN

CONTEXT_LINES = 3

_LINE = re.compile("[^\n]*\n|[^\n]+")


def render_diff(path: str | None, source: str, target: str) -> str:
    """The unified diff from ``source`` to ``target``, header included; empty when they are equal."""
    hunks = render_hunks(source, target)
    return render_header(path) + hunks if hunks else ""


def render_header(path: str | None) -> str:
    """The two lines that name the file, as git writes them: ``a/…`` and ``b/…``."""
    name = (path or STDIN).lstrip("/")
    return f"--- {_quoted('a/' + name)}\n+++ {_quoted('b/' + name)}\n"


def render_hunks(source: str, target: str) -> str:
    """The hunks alone. Raises ValueError when the texts differ in their number of lines."""
    before, after = _LINE.findall(source), _LINE.findall(target)
    changed = [index for index, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    return "".join(
        line
        for first, last in _groups(changed)
        for line in _hunk(before, after, max(0, first - CONTEXT_LINES), min(len(before), last + 1 + CONTEXT_LINES))
    )


def _groups(changed: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last changed line of each hunk; changes whose context would touch share one."""
    if not changed:
        return
    first = last = changed[0]
    for index in changed[1:]:
        if index - last - 1 > 2 * CONTEXT_LINES:
            yield first, last
            first = index
        last = index
    yield first, last


def _hunk(before: Sequence[str], after: Sequence[str], start: int, end: int) -> Iterator[str]:
    """The lines of one hunk over ``[start, end)``: removed before added within each run of changes."""
    lines = f"{start + 1}" if end - start == 1 else f"{start + 1},{end - start}"
    yield f"@@ -{lines} +{lines} @@\n"
    for same, run in groupby(range(start, end), key=lambda index: before[index] == after[index]):
        indices = list(run)
        if same:
            yield from (_marked(" ", before[index]) for index in indices)
        else:
            yield from (_marked("-", before[index]) for index in indices)
            yield from (_marked("+", after[index]) for index in indices)


def _marked(mark: str, line: str) -> str:
    return mark + (line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")


def _quoted(name: str) -> str:
    """A file name as GNU patch reads it: quoted when it has control characters, ended by a tab when it has spaces."""
    if re.search(r'[\x00-\x1f"\\]', name):
        escaped = re.sub(r'[\x00-\x1f"\\]', lambda match: f"\\{ord(match[0]):03o}", name)
        return f'"{escaped}"'
    return name + "\t" if " " in name else name
