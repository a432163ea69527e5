"""Files and streams to documents and back. A text that is not corrected is written byte for byte as it was read."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from corrector.errors import InputError
from corrector.text.decode import AUTO, STDIN, Decoder
from corrector.text.segment import beginning_of
from corrector.text.write import FileState, reason
from corrector.types import Correction, Document

BLOCK_CHARACTERS = 1 << 16
"""How much of a text is read or corrected at a time."""

LONG_LINE = 1 << 20
"""A line of more characters is handed on in pieces, so that memory is bounded whatever the text."""

_FILE_BYTES = 3 * BLOCK_CHARACTERS  # a Han character has three bytes in UTF-8
_STATEFUL = ("utf-7", "hz", "iso2022")  # encodings in which a piece of a line is not written as it is within the line


class ByteStream(Protocol):
    """What is asked of standard input: at most ``size`` bytes as soon as there are any, none at the end."""

    def read1(self, size: int, /) -> bytes: ...


class TextFile:
    """A file that was read through once and is text; iterating reads it again, block by block, in bounded memory.

    ``state`` is for AtomicWriter, ``encoding`` the settled one. A device or a pipe can be read only once: it is not
    checked beforehand, its ``state`` is None and it is read as ``read_blocks`` reads a stream.
    """

    def __init__(self, path: str, encoding: str, state: FileState | None) -> None:
        self.path, self.encoding, self.state = path, encoding, state

    def __iter__(self) -> Iterator[Document]:
        """The blocks. Raises InputError when the file has changed since it was checked or cannot be read any more."""
        with _opened(self.path) as stream:
            self._refuse_changed(stream)
            yield from read_blocks(_Reported(stream, self.path), self.path, self.encoding, _FILE_BYTES)
            self._refuse_changed(stream)

    def _refuse_changed(self, stream: BinaryIO) -> None:
        if self.state is not None and FileState.of(os.fstat(stream.fileno())) != self.state:
            raise InputError(self.path, "has changed while it was read; try again")


def open_blocks(path: str | Path, encoding: str | None = None) -> TextFile:
    """The file as blocks of text. ``encoding`` None or ``auto`` lets the bytes decide.

    Raises InputError when the file cannot be opened or is not text: before anything of it has been handed on.
    """
    name = str(path)
    if not _is_regular(path):  # it is not even opened: whoever writes into a pipe would see its reader go away
        return TextFile(name, encoding or AUTO, None)
    with _opened(path) as stream:
        state = FileState.of(os.fstat(stream.fileno()))
        decoder, source = Decoder(name, encoding), _Reported(stream, name)
        while data := source.read1(_FILE_BYTES):
            decoder.feed(data)
        decoder.feed(b"", final=True)
        return TextFile(name, decoder.encoding, state)


def decode(data: bytes, path: str | None, encoding: str | None = None) -> Document:
    """The document in ``data``. Raises InputError, with line and byte offset, for bytes that are not text."""
    decoder = Decoder(path, encoding)
    text = decoder.feed(data, final=True)
    return Document(path, text, decoder.encoding, _usual_newline(text))


def read_blocks(
    stream: ByteStream, path: str | None = None, encoding: str | None = None, size: int = BLOCK_CHARACTERS
) -> Iterator[Document]:
    """The input, read ``size`` bytes at a time, as documents of complete lines, each as soon as its bytes are there.

    The last may lack its line end. A line longer than LONG_LINE comes in pieces, cut where ``beginning_of`` cuts.
    Raises InputError as ``decode`` does, after the blocks before the bad one.
    """
    decoder = Decoder(path, encoding)
    lines = _Lines(cut=not decoder.encoding.startswith(_STATEFUL))  # none of those is ever guessed
    while data := stream.read1(size):
        for block in lines.feed(decoder.feed(data)):
            yield Document(path, block, decoder.encoding, _usual_newline(block))
    for block in lines.end(decoder.feed(b"", final=True)):
        yield Document(path, block, decoder.encoding, _usual_newline(block))


def encode(text: str, encoding: str, path: str | None = None) -> bytes:
    """The bytes of ``text``. Raises InputError when a character of it does not exist in the encoding."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        message = f"{error.object[error.start]!r} cannot be written in {encoding}; convert the text to UTF-8 first"
        raise InputError(path or STDIN, message) from None


def encodable(correction: Correction, encoding: str) -> bool:
    """Whether the correction can be written: Big5, for one, lacks most Simplified characters."""
    try:
        codecs.encode(correction.replacement, encoding)
    except UnicodeEncodeError:
        return False
    return True


class _Lines:
    """Puts decoded text together to blocks of complete lines. Linear, and it holds no more than LONG_LINE and a piece."""

    def __init__(self, cut: bool = True) -> None:
        self._cut = cut  # whether lines are cut at all
        self._parts: list[str] = []  # of the unfinished line
        self._length = 0

    def feed(self, text: str) -> Iterator[str]:
        """The blocks that ``text`` completes. No more than its first line may be too long: feed less than LONG_LINE."""
        if self._parts and self._parts[-1].endswith("\r"):  # it may be one half of a line end
            text = self._parts.pop() + text
            self._length = sum(map(len, self._parts))
        first = _first_line_end(text)
        if self._cut and self._length + first > LONG_LINE:
            line = "".join((*self._parts, text[:first]))
            while len(line) > LONG_LINE:
                end = beginning_of(line, LONG_LINE)
                yield line[:end]
                line = line[end:]
            self._parts, self._length, text = [], 0, line + text[first:]
        end = _last_line_end(text)
        if end:
            yield "".join((*self._parts, text[:end]))
            self._parts, self._length = [], 0
        if end < len(text):
            self._parts.append(text[end:])
            self._length += len(text) - end

    def end(self, text: str) -> Iterator[str]:
        """What is left, with ``text`` at its end."""
        yield from self.feed(text)
        if rest := "".join(self._parts):
            yield rest


class _Reported:
    """A file whose read errors name it."""

    def __init__(self, stream: BinaryIO, path: str) -> None:
        self._stream, self._path = stream, path

    def read1(self, size: int, /) -> bytes:
        try:
            return self._stream.read(size)
        except OSError as error:
            raise InputError(self._path, f"cannot be read: {reason(error)}") from error


def _is_regular(path: str | Path) -> bool:
    """Whether the path leads to what can be read twice, or to nothing at all, which shows when it is opened."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _opened(path: str | Path) -> BinaryIO:
    try:
        return open(path, "rb")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise InputError(path, f"cannot be read: {reason(error)}") from error


def _first_line_end(text: str) -> int:
    """The offset after the first line end, or the end; a carriage return at the very end may be half of one."""
    ends = [at for at in (text.find("\n"), text.find("\r", 0, max(0, len(text) - 1))) if at >= 0]
    at = min(ends, default=len(text) - 1)
    return at + 2 if text.startswith("\r\n", at) else at + 1


def _last_line_end(text: str) -> int:
    """The offset after the last line end; a carriage return at the very end may be half of one and does not count."""
    return max(text.rfind("\n"), text.rfind("\r", 0, max(0, len(text) - 1))) + 1


def _usual_newline(text: str) -> str:
    """The line end that ``text`` uses most; a line feed when it has none."""
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=lambda newline: counts[newline])
