"""Files and streams to documents and back. A text that is not corrected is written byte for byte as it was read."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from corrector.errors import InputError
from corrector.text.decode import STDIN, Decoder
from corrector.types import Document

BLOCK_CHARACTERS = 1 << 16
"""How much of a text is read or corrected at a time."""


class ByteStream(Protocol):
    """What is asked of standard input: at most ``size`` bytes as soon as there are any, none at the end."""

    def read1(self, size: int, /) -> bytes: ...


def decode(data: bytes, path: str | None, encoding: str | None = None) -> Document:
    """The document in ``data``. Raises InputError, with line and byte offset, for bytes that are not text."""
    decoder = Decoder(path, encoding)
    text = decoder.feed(data, final=True)
    return Document(path, text, decoder.encoding, _usual_newline(text))


def read_document(path: str | Path, encoding: str | None = None) -> Document:
    """The document in a file. Raises InputError when it cannot be opened or is not text."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(path, f"cannot be read: {_reason(error)}") from error
    except ValueError as error:  # a NUL in the name
        raise InputError(path, f"cannot be read: {error}") from error
    return decode(data, str(path), encoding)


def read_blocks(stream: ByteStream, path: str | None = None, encoding: str | None = None) -> Iterator[Document]:
    """The input as documents of complete lines, each as soon as its bytes are there; the last may lack its line end.

    Memory is bounded by the longest line. Raises InputError as ``decode`` does, after the blocks before the bad one.
    """
    decoder = Decoder(path, encoding)
    unfinished: list[str] = []
    while data := stream.read1(BLOCK_CHARACTERS):
        text = decoder.feed(data)
        if unfinished and unfinished[-1].endswith("\r"):  # it may be one half of a line end
            text = unfinished.pop() + text
        end = _last_line_end(text)
        if end:
            yield Document(path, "".join((*unfinished, text[:end])), decoder.encoding, _usual_newline(text))
            unfinished, text = [], text[end:]
        if text:
            unfinished.append(text)
    unfinished.append(decoder.feed(b"", final=True))
    if rest := "".join(unfinished):
        yield Document(path, rest, decoder.encoding, _usual_newline(rest))


def split_blocks(document: Document) -> Iterator[Document]:
    """The document as documents of complete lines of about BLOCK_CHARACTERS together; at least one, even of no text."""
    text, start = document.text, 0
    while len(text) - start > BLOCK_CHARACTERS:
        end = start + _last_line_end(text[start : start + BLOCK_CHARACTERS])
        if end == start:  # one long line
            newline = text.find("\n", start + BLOCK_CHARACTERS - 1)
            end = newline + 1 if newline >= 0 else len(text)
        yield Document(document.path, text[start:end], document.encoding, document.newline)
        start = end
    if start < len(text) or not text:
        yield Document(document.path, text[start:], document.encoding, document.newline)


def encode(text: str, encoding: str, path: str | None = None) -> bytes:
    """The bytes of ``text``. Raises InputError when a character of it does not exist in the encoding."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        message = f"{error.object[error.start]!r} cannot be written in {encoding}; convert the text to UTF-8 first"
        raise InputError(path or STDIN, message) from None


def write_atomically(path: str | Path, data: bytes) -> None:
    """Puts ``data`` into a file that at every moment has either its old or its new content.

    Symbolic links are followed; the mode, and where allowed the owner, of an existing file are kept. A device or a pipe
    is simply written to. Raises InputError when it cannot be done; nothing is left behind then.
    """
    target = os.path.realpath(path)
    try:
        before = os.stat(target) if os.path.lexists(target) else None
        if before is not None and not stat.S_ISREG(before.st_mode):
            with open(target, "wb") as stream:
                stream.write(data)
            return
        _replace(target, data, before)
    except (OSError, ValueError) as error:
        reason = _reason(error) if isinstance(error, OSError) else error
        raise InputError(path, f"cannot be written: {reason}") from error


def _replace(target: str, data: bytes, before: os.stat_result | None) -> None:
    """Writes a temporary file beside ``target`` and renames it over it."""
    temporary = os.path.join(os.path.dirname(target), f".electra-correct-{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if before is not None:
            if hasattr(os, "chown"):
                with contextlib.suppress(PermissionError):
                    os.chown(temporary, before.st_uid, before.st_gid)
            os.chmod(temporary, stat.S_IMODE(before.st_mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _last_line_end(text: str) -> int:
    """The offset after the last line end; a carriage return at the very end may be half of one and does not count."""
    return max(text.rfind("\n"), text.rfind("\r", 0, max(0, len(text) - 1))) + 1


def _usual_newline(text: str) -> str:
    """The line end that ``text`` uses most; a line feed when it has none."""
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=lambda newline: counts[newline])


def _reason(error: OSError) -> str:
    """The system's words for an error, in the middle of a sentence."""
    reason = error.strerror or str(error)
    return reason[:1].lower() + reason[1:]
