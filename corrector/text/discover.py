"""From the paths on a command line to the files to read: folders are walked, ignored files left out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from corrector.errors import InputError
from corrector.formats import SEARCHED
from corrector.text.write import reason

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from corrector.text.gitignore import Ignored, Report

STANDARD_INPUT = "-"


def discover(
    paths: Sequence[str],
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    gitignore: bool = True,
    on_error: Report | None = None,
    exclude_from: str | None = None,
) -> Iterator[str]:
    """The files that ``paths`` stand for, each once, in the order of the paths and of names within a folder.

    A path that is no folder comes out as it is, whether it exists or not; so does ``-``. A folder is walked to its depths:
    without what is hidden (``.git``, ``.venv``), symbolic links, or what is no regular file; without what ``exclude`` matches;
    without what git would ignore by the ``.gitignore`` files from the repository's root down, by its ``.git/info/exclude`` and by the
    user's ``core.excludesFile``, unless ``gitignore`` is false; and of the rest only what ``include`` matches or, where there is none,
    what has the extension of a known format.
    ``include`` and ``exclude`` are written as lines of a ``.gitignore`` that lies in the folder; ``exclude`` counts as well as if it
    lay in the folder ``exclude_from``, above the one that is walked, unless that one itself is left out so and was named all the same.

    A folder that cannot be read is handed to ``on_error`` and the rest goes on; without ``on_error`` the first such
    InputError is raised after everything else. Raises ConfigError for a pattern that is none.
    """
    wanted = unwanted = None
    if include or exclude:
        from corrector.text.gitignore import patterns_of

        wanted = patterns_of(include, "include") if include else None
        unwanted = patterns_of(exclude, "exclude") if exclude else None
    errors: list[InputError] = []
    seen: set[str] = set()
    for path in paths:
        found: Iterator[tuple[str, str]] = iter([(path, _identity(path))])
        if path != STANDARD_INPUT and os.path.isdir(path):
            found = _Walk(path, wanted, unwanted, gitignore, on_error or errors.append, exclude_from).files()
        for file, identity in found:
            if identity not in seen:
                seen.add(identity)
                yield file
    if errors:
        raise errors[0]


def is_excluded(path: str, exclude: Sequence[str], folder: str) -> bool:
    """Whether ``exclude``, as the lines of a ``.gitignore`` that lies in ``folder``, leaves out a file below it."""
    if not exclude:
        return False
    from corrector.text.gitignore import patterns_of

    below = _below(os.path.realpath(path), os.path.realpath(folder)).removesuffix("/")
    return bool(below) and patterns_of(exclude, "exclude").match_file(below)


def _identity(path: str) -> str:
    """The same for two paths to one file."""
    try:
        return path if path == STANDARD_INPUT else os.path.realpath(path)
    except (OSError, ValueError):  # no path at all: whoever opens it will say so
        return path


class _Walk:
    """One folder on its way to its files."""

    def __init__(
        self, path: str, wanted: GitIgnoreSpec | None, unwanted: GitIgnoreSpec | None, gitignore: bool, report: Report,
        exclude_from: str | None = None,
    ) -> None:  # fmt: skip
        self._path, self._wanted, self._unwanted, self._report = path, wanted, unwanted, report
        self._gitignore = gitignore
        self._real = os.path.realpath(path)
        self._prefix = "" if os.path.normpath(path) == os.curdir else path
        self._above = _below(self._real, os.path.realpath(exclude_from)) if exclude_from is not None else ""
        if self._above and unwanted is not None and unwanted.match_file(self._above):
            self._above = ""

    def files(self) -> Iterator[tuple[str, str]]:
        """The files and their real paths, a folder's own in between its folders' by name."""
        from corrector.text.gitignore import Ignored, ignored_at

        pending = [iter(self._entries("", ignored_at(self._real, self._report) if self._gitignore else None))]
        while pending:  # a stack of its own: folders may lie deeper than Python calls
            entry = next(pending[-1], None)
            if entry is None:
                pending.pop()
                continue
            name, is_folder, ignored = entry
            if not is_folder:
                yield os.path.join(self._prefix, name), os.path.join(self._real, name)
                continue
            below = Ignored(os.path.join(self._real, name), ignored, self._report) if ignored else None
            pending.append(iter(self._entries(name, below)))

    def _entries(self, folder: str, ignored: Ignored | None) -> list[tuple[str, bool, Ignored | None]]:
        """(name below the walked folder, whether it is a folder, the rules it is under) of what is wanted in ``folder``."""
        place = os.path.join(self._prefix, folder) if folder else self._path
        try:
            with os.scandir(place) as found:
                kinds = [(e.name, e.is_dir(follow_symlinks=False), e.is_file(follow_symlinks=False)) for e in found]
        except OSError as error:
            self._report(InputError(place, f"cannot be read: {reason(error)}"))
            return []
        wanted = []
        for name, is_folder, is_file in sorted(kinds, key=lambda kind: os.fsencode(kind[0])):
            below = os.path.join(folder, name)
            hidden = name.startswith(".")
            if not hidden and (is_folder or is_file) and self._is_wanted(below, is_folder, ignored):
                wanted.append((below, is_folder, ignored))
        return wanted

    def _is_wanted(self, name: str, is_folder: bool, ignored: Ignored | None) -> bool:
        path = name.replace(os.sep, "/") + "/" * is_folder
        if self._unwanted is not None and (
            self._unwanted.match_file(path) or (self._above and self._unwanted.match_file(self._above + path))
        ):
            return False
        if not is_folder:
            if self._wanted is None and os.path.splitext(name)[1].lower() not in SEARCHED:
                return False
            if self._wanted is not None and not self._wanted.match_file(path):
                return False
        return ignored is None or not ignored.ignores(f"{self._real}/{path}")


def _below(folder: str, above: str) -> str:
    """How a pattern in ``above`` names a folder in it, as ``docs/old/``; empty for that folder itself and any outside it."""
    inside = folder.startswith(os.path.join(above, ""))
    return os.path.relpath(folder, above).replace(os.sep, "/") + "/" if inside and folder != above else ""
