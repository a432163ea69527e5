"""Unified diffs that ``patch -p1`` applies.

A correction never adds or removes a line, so line i of the target answers line i of the source and the hunks are found
in one pass; difflib's search for matching lines would take quadratic time on long repetitive texts.
"""

from __future__ import annotations

import os
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
    """The two lines that name the file, as git writes them: ``a/…`` and ``b/…``.

    The name is as given, from the working folder on; a file above that is named from its repository on, or in full.
    """
    name = _name(path).lstrip("/") if path else STDIN
    return f"--- {_quoted('a/' + name)}\n+++ {_quoted('b/' + name)}\n"


def render_hunks(source: str, target: str) -> str:
    """The hunks alone. Raises ValueError when the texts differ in their number of lines."""
    hunks = Hunks()
    return hunks.add(source, target) + hunks.end()


class Hunks:
    """The hunks of a text that comes piece by piece; memory is bounded by the hunks and the longest line."""

    def __init__(self) -> None:
        self._before: list[str] = []  # lines that may still belong to a hunk
        self._after: list[str] = []
        self._skipped = 0  # how many lines came before those
        self._unfinished: list[tuple[str, str]] = []  # the pieces of a line whose end has not come yet

    def add(self, source: str, target: str) -> str:
        """The hunks that end within a piece of the source and of the target."""
        self._unfinished.append((source, target))
        if "\n" not in source and "\n" not in target:
            return ""
        self._take()
        if not self._before[-1].endswith("\n"):
            self._unfinished.append((self._before.pop(), self._after.pop()))
        return self._finished(2 * CONTEXT_LINES)

    def end(self) -> str:
        """The hunks that are left."""
        self._take()
        return self._finished(0)

    def _take(self) -> None:
        """Cuts what has come into lines; the last may lack its end."""
        before = _LINE.findall("".join(old for old, _ in self._unfinished))
        after = _LINE.findall("".join(new for _, new in self._unfinished))
        if len(before) != len(after):
            raise ValueError(f"the texts differ in their number of lines: {len(before)} and {len(after)}")
        self._unfinished.clear()
        self._before += before
        self._after += after

    def _finished(self, gap: int) -> str:
        """The hunks with more than ``gap`` unchanged lines behind them, or all at 0; later changes cannot touch them."""
        pairs = enumerate(zip(self._before, self._after, strict=True))
        groups = list(_groups([index for index, (old, new) in pairs if old != new]))
        keep = len(self._before) - CONTEXT_LINES
        if gap and groups and len(self._before) - 1 - groups[-1][1] <= gap:
            keep = groups.pop()[0] - CONTEXT_LINES
        rendered = "".join(line for first, last in groups for line in self._hunk(first, last))
        done = max(0, keep)
        del self._before[:done], self._after[:done]
        self._skipped += done
        return rendered

    def _hunk(self, first: int, last: int) -> Iterator[str]:
        """The lines of the hunk whose first and last changed lines are given: removed before added in each run."""
        start, end = max(0, first - CONTEXT_LINES), min(len(self._before), last + 1 + CONTEXT_LINES)
        number = self._skipped + start + 1
        lines = f"{number}" if end - start == 1 else f"{number},{end - start}"
        yield f"@@ -{lines} +{lines} @@\n"
        for same, run in groupby(range(start, end), key=lambda index: self._before[index] == self._after[index]):
            indices = list(run)
            if same:
                yield from (_marked(" ", self._before[index]) for index in indices)
            else:
                yield from (_marked("-", self._before[index]) for index in indices)
                yield from (_marked("+", self._after[index]) for index in indices)


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


def _marked(mark: str, line: str) -> str:
    return mark + (line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")


def _name(path: str) -> str:
    """The path without ``.`` and ``..``: relative if it was and lies below the working folder or in a repository."""
    parts = [part for part in path.replace(os.sep, "/").split("/") if part != "."]
    if ".." not in parts:
        return "/".join(parts)
    from corrector.text.gitignore import repository_root

    folder, name = os.path.split(os.path.abspath(path) if parts[-1] == ".." else path)
    full = os.path.join(os.path.realpath(folder), name)
    for root in (os.path.realpath(os.curdir), repository_root(os.path.dirname(full))):
        if root is not None and full.startswith(os.path.join(root, "")):
            full = full[len(os.path.join(root, "")) :]
            break
    return full.replace(os.sep, "/")


def _quoted(name: str) -> str:
    """A file name as GNU patch reads it: quoted when it has control characters, ended by a tab when it has spaces."""
    if re.search(r'[\x00-\x1f"\\]', name):
        escaped = re.sub(r'[\x00-\x1f"\\]', lambda match: f"\\{ord(match[0]):03o}", name)
        return f'"{escaped}"'
    return name + "\t" if " " in name else name
