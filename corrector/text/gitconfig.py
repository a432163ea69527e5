"""Where git is told of the patterns that a user ignores everywhere: ``core.excludesFile`` in the files git-config(1) describes."""

from __future__ import annotations

import os
import re

_SECTION = re.compile(r"\s*\[([^\]\s]*)([^\]]*)\]")
_SETTING = re.compile(r"\s*excludesfile\s*=\s*(.*)", re.IGNORECASE)
_PIECE = re.compile(r'"((?:\\.|[^"\\])*)"?|((?:\\.|[^"\\#;])+)|[#;].*')


def excludes_file(root: str, git_folder: str) -> str:
    """The file with a user's own patterns for the working tree in ``root``, which need not be there; empty where git is told of none.

    Of ``git_folder`` (the repository's) and the user, whatever names a file last counts, as for git; the system's settings, files that
    these include and values that go on in the next line do not.
    """
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    own = os.environ.get("GIT_CONFIG_GLOBAL")
    files = [os.path.join(home, "git", "config"), os.path.expanduser("~/.gitconfig")] if own is None else [own]
    found = os.path.join(home, "git", "ignore")
    for file in (*files, os.path.join(git_folder, "config")):
        try:
            with open(file, encoding="utf-8-sig", errors="surrogateescape") as stream:
                found = _named_in(stream.read(), found)
        except OSError:  # not there; git stops at one that it may not read, and says so itself
            continue
    return found and os.path.join(root, os.path.expanduser(found))


def _named_in(text: str, found: str) -> str:
    """The last value of ``core.excludesFile`` in a file of settings, or else what was ``found`` before."""
    section = ""
    for line in text.split("\n"):
        if header := _SECTION.match(line):
            section, line = (header[1] + header[2].strip()).lower(), line[header.end() :]
        if section == "core" and (setting := _SETTING.match(line)):
            found = _value(setting[1])
    return found


def _value(written: str) -> str:
    """What stands behind a ``=`` without quotes, escapes and a comment."""
    pieces = (piece[1] or piece[2] or "" for piece in _PIECE.finditer(written))
    return re.sub(r"\\(.)", r"\1", "".join(pieces).rstrip())
