"""What the command says on standard error while it works: messages as loud as asked for, and a bar that makes way for them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import click

from corrector.exit import say
from corrector.types import Document

PATIENCE = 0.5
"""Seconds of work before a bar appears: what is done sooner needs none."""

_ERASE = "\r\x1b[2K"


class Progress:
    """A bar over the bytes of all inputs, with files and characters beside it; nothing at all unless ``shown``."""

    def __init__(self, shown: bool = False) -> None:
        self.shown = shown
        self._started = time.monotonic()
        self._bar: Any = None
        self._bytes = self._waiting = 0
        self._files = self._done = self._characters = 0

    def expect(self, paths: Sequence[str]) -> None:
        """Settles how much there is to do; a bar of unknown length is not shown."""
        self._files = len(paths)
        self._bytes = sum(map(_size, paths)) if self.shown else 0
        self.shown = self.shown and self._bytes > 0

    def advance(self, document: Document) -> None:
        """Counts a block that is done."""
        if not self.shown:
            return
        self._waiting += len(document.text.encode(document.encoding, "replace"))
        self._characters += len(document.text)
        if self._bar is None:
            if time.monotonic() - self._started < PATIENCE:
                return
            self._bar = click.progressbar(
                length=self._bytes, label="Correcting", file=sys.stderr, item_show_func=lambda _: self._counts()
            )
            self._bar.__enter__()
        self._bar.update(self._waiting)
        self._waiting = 0

    def file_done(self) -> None:
        """Counts a file, finished or given up."""
        self._done += 1

    def clear(self) -> None:
        """Wipes the bar off its line, for a message; the next block draws it again."""
        if self._bar is not None:
            click.echo(_ERASE, file=sys.stderr, nl=False)

    def finish(self) -> None:
        """Wipes the bar off for good and gives the cursor back."""
        if self._bar is not None:
            self.clear()
            click.echo("\x1b[?25h", file=sys.stderr, nl=False)
            self._bar = None
        self.shown = False

    def _counts(self) -> str:
        return f"{min(self._done + 1, self._files):,}/{self._files:,} files, {self._characters:,} characters"


class Messages:
    """Lines on standard error: errors always, the rest unless ``quiet``, notes only when ``verbose``."""

    def __init__(self, quiet: bool = False, verbose: bool = False, progress: Progress | None = None) -> None:
        self.quiet, self.verbose = quiet, verbose
        self.progress = progress or Progress()

    def error(self, message: object) -> None:
        """What failed, where, and what to do next."""
        self._say(f"error: {message}")

    def warning(self, message: str) -> None:
        """What was left undone."""
        self.tell(f"warning: {message}")

    def tell(self, message: str) -> None:
        """A result, such as what --check found."""
        if not self.quiet:
            self._say(message)

    def note(self, message: str) -> None:
        """What only the curious want to know."""
        if self.verbose:
            self._say(message)

    def _say(self, message: str) -> None:
        from corrector.render.columns import safe

        self.progress.clear()
        say(safe(message))  # a file's name may have line ends and controls in it


def is_terminal(stream: Any) -> bool:
    """Whether a standard stream is there and a terminal."""
    try:
        return stream is not None and bool(stream.isatty())
    except ValueError:  # closed
        return False


def wants_color(choice: str, stream: Any) -> bool:
    """Whether to colour what goes to ``stream``: ``always``, ``never``, or ``auto``.

    ``auto`` obeys NO_COLOR (no-color.org), then FORCE_COLOR (force-color.org), each when set and not empty, and else
    colours a terminal that is not TERM=dumb.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except (OSError, ValueError):
        return 0
