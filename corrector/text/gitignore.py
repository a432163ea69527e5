"""What git ignores: the patterns of ``.gitignore`` files, of ``.git/info/exclude`` and of the user's own file, read as git reads them.

Pathspec knows the patterns. What it reads in another way than git does is rewritten first, or told apart afterwards.
"""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from corrector.errors import ConfigError, InputError
from corrector.text.gitconfig import excludes_file
from corrector.text.write import reason

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

Report = Callable[[InputError], None]

_BRACKETS = re.compile(r"\\.|\[[!^]?\]?(?:\[:[a-z]+:\]|[^\]])*\]")  # what is escaped is none
_CLASS = re.compile(r"\[:([a-z]+):\]")
_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \t", "cntrl": "\0-\x1f\x7f", "digit": "0-9", "graph": "A-~!-@", "lower": "a-z",
    "print": " -~", "punct": ":-@!-.[-`{-~", "space": " \t-\r", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
"""The classes of POSIX, of ASCII characters as in git. None begins with what would negate the brackets, none has a slash in it."""


def repository_root(path: str) -> str | None:
    """The nearest folder at or above ``path`` (a folder) that has a ``.git``, as a real path."""
    folder = os.path.realpath(path)
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


class Ignored:
    """What the ``.gitignore`` files of a folder and of those above it say, and what counts behind them for a whole repository.

    ``folder`` is a real path.
    """

    def __init__(self, folder: str, above: Ignored | None, report: Report) -> None:
        self._folder, self._above = folder, above
        self._patterns = _patterns_in(os.path.join(folder, ".gitignore"), report)
        if os.path.lexists(os.path.join(folder, ".git")):  # any ``.gitignore`` goes before these, the repository's own before the user's
            git_folder = _shared_git_folder(folder)
            for file in (os.path.join(git_folder, "info", "exclude"), excludes_file(folder, git_folder)):
                self._patterns = _patterns_in(file, report) + self._patterns

    def ignores(self, path: str) -> bool:
        """Whether git ignores ``path`` (in or below this folder, ``/`` at the end of a folder); its folder is not ignored."""
        level: Ignored | None = self
        while level is not None:
            below = path[len(level._folder) :].lstrip("/")
            for pattern in reversed(level._patterns):
                if pattern.include is not None and _matches(pattern, below):
                    return bool(pattern.include)
            level = level._above
        return False


def ignored_at(folder: str, report: Report) -> Ignored:
    """The rules for a folder (a real path) that is to be walked because it was named, even if those above ignore it."""
    root = repository_root(folder)
    if root is None or root == folder:
        return Ignored(folder, None, report)
    rules = Ignored(root, None, report)
    at = root
    for part in os.path.relpath(folder, root).split(os.sep):
        at = os.path.join(at, part)
        if rules.ignores(at + "/"):
            return Ignored(folder, None, report)
        rules = Ignored(at, rules, report)
    return rules


def _matches(pattern: GitIgnoreSpecPattern, path: str) -> bool:
    """Whether a pattern matches ``path`` itself; pathspec says so too of what lies in a folder that it matches."""
    result = pattern.match_file(path)
    if result is None:
        return False
    found = result.match
    folder_end = found.end("ps_d") if found.groupdict().get("ps_d") else -1  # after the slash that ends a matched folder
    if folder_end < 0:  # "a/**" is found in a/ too, which git leaves alone
        return not (path.endswith("/") and found.end() == len(path))
    if found.group() == "/":  # "*/" is found at the first slash and means every folder
        return path.endswith("/")
    return folder_end == len(path)


def _shared_git_folder(root: str) -> str:
    """Where a repository keeps what all its working trees share: the ``.git`` in ``root``, or where that file leads."""
    own = _led_to(os.path.join(root, ".git"), "gitdir: ") or os.path.join(root, ".git")
    return _led_to(os.path.join(own, "commondir")) or own


def _led_to(path: str, begins: str = "") -> str | None:
    """The folder that a file of git's names, from the file's own on; None where there is no such file."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return os.path.join(os.path.dirname(path), file.read().removeprefix(begins).rstrip("\r\n"))
    except OSError:
        return None


def _patterns_in(path: str, report: Report) -> list[GitIgnoreSpecPattern]:
    """The patterns in a file, if it is there; as in git, a line that is no pattern is passed over."""
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as stream:
            lines = stream.read().split("\n")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        if os.access(os.path.dirname(path), os.X_OK):  # else the folder itself will be reported
            report(InputError(path, f"cannot be read: {reason(error)}"))
        return []
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    patterns = []
    for line in lines:
        with contextlib.suppress(ValueError, re.error), _without_warnings():
            patterns.append(GitIgnoreSpecPattern(_rewritten(line)))
    return patterns


def _rewritten(line: str) -> str:
    """A pattern that means to pathspec what ``line`` means to git: classes as ranges, and ``a/**/`` not ``a`` itself."""
    line = _BRACKETS.sub(lambda part: _CLASS.sub(lambda name: _CLASSES.get(name[1], name[0]), part[0]), line)
    return line.rstrip() + "*/" if line.rstrip().endswith("/**/") else line


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Python warns of ``[[]`` in a regular expression, which may once mean something else there; pathspec makes one of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def patterns_of(lines: Sequence[str], option: str) -> GitIgnoreSpec:
    """The patterns of an option. Raises ConfigError for one that is no pattern."""
    from pathspec import GitIgnoreSpec

    for line in lines:
        check_pattern(line, "options", option)
    with _without_warnings():
        return GitIgnoreSpec.from_lines(map(_rewritten, lines))


def check_pattern(line: str, file: str | Path, key: str) -> None:
    """Raises ConfigError, with ``file`` and ``key``, for a line that is no pattern."""
    from pathspec import GitIgnoreSpec

    try:
        with _without_warnings():
            GitIgnoreSpec.from_lines([_rewritten(line)])
    except (ValueError, re.error) as error:
        raise ConfigError(file, key, f"{line!r} is no pattern: {error}") from error
