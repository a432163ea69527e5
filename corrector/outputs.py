"""Where corrected text and reports go: standard output, a file, or the place they came from."""

from __future__ import annotations

import contextlib
import sys
from types import TracebackType
from typing import Any, Protocol

from corrector.errors import InputError
from corrector.exit import silence
from corrector.inputs import Input, Part
from corrector.text.write import AtomicWriter, reason

HELD_BYTES = 1 << 20
"""How much of a file that has not changed so far is held back before a new one is begun."""

STDOUT = "<stdout>"


class Sink(Protocol):
    """Takes bytes. ``gone`` tells that nobody reads them any more."""

    @property
    def gone(self) -> bool: ...

    def write(self, data: bytes) -> None: ...


class StandardOutput:
    """Standard output, each write at once. A reader that has seen enough is no error: what follows goes nowhere."""

    gone = False

    def write(self, data: bytes) -> None:
        """Raises InputError when standard output is closed or cannot take it."""
        if not data or self.gone:
            return
        stream: Any = sys.stdout
        if stream is None:
            raise InputError(STDOUT, "cannot be written: standard output is closed")
        try:
            stream.buffer.write(data)
            stream.buffer.flush()
        except BrokenPipeError:
            silence(stream)
            self.gone = True
        except (OSError, ValueError) as error:  # ValueError: closed
            silence(stream)
            raise InputError(STDOUT, f"cannot be written: {reason(error)}") from error


class FileOutput:
    """A file that appears, whole, when the ``with`` block ends, and not when it raises."""

    gone = False

    def __init__(self, path: str) -> None:
        self._writer = AtomicWriter(path)

    def __enter__(self) -> FileOutput:
        self._writer.__enter__()
        return self

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._writer.__exit__(kind, error, trace)


class InPlace:
    """Writes an input back over itself, if anything in it has changed, when the ``with`` block ends without an error.

    An input that has not changed needs no permission and no space; ``changed`` and ``other_names`` are known at the end.
    """

    def __init__(self, source: Input, backup: str | None) -> None:
        self.changed, self.other_names = False, 0
        self._source, self._backup = source, backup
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._changes = False  # whether anything has changed so far
        self._refused: InputError | None = None  # why it could not be written, which matters once something changes
        self._writer: AtomicWriter | None = None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> InPlace:
        return self

    def take(self, part: Part) -> None:
        """Takes the next part of the input. Raises InputError for an input that is no file, or cannot be written and has changed."""
        if self._source.path is None or self._source.state is None:
            raise InputError(self._source.name, "cannot be written in place: it is no regular file")
        self._changes = self._changes or part.changes
        data = part.data()
        if self._refused is None:
            try:
                self._put(self._source.path, data)
            except InputError as error:  # the writer has cleaned up
                self._refused, self._writer, self._held = error, None, []
                self._stack.pop_all()
        if self._refused is not None and self._changes:
            raise self._refused

    def _put(self, path: str, data: bytes) -> None:
        """Holds ``data`` back or writes it, after what was held back."""
        if self._writer is None:
            self._held.append(data)
            self._held_bytes += len(data)
            if not self._changes and self._held_bytes <= HELD_BYTES:
                return
            self._writer = self._stack.enter_context(AtomicWriter(path, backup=self._backup, expected=self._source.state))
            data = b"".join(self._held)
            self._held = []
        self._writer.write(data)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)
        if kind is None and self._writer is not None:
            self.changed, self.other_names = self._writer.changed, self._writer.other_names
