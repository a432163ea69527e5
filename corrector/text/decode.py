"""Bytes to text, strictly: what is decoded here encodes to the very same bytes again.

UTF-8 is the default; a byte-order mark of UTF-8, UTF-16 or UTF-32 decides by itself and stays in the text as U+FEFF.
Other encodings are never guessed, because GB18030 accepts nearly any bytes: the error says what to pass.
"""

from __future__ import annotations

import codecs
import contextlib
import io

from corrector.errors import InputError

STDIN = "<stdin>"
"""What messages call a document without a path."""

_MARKS = (  # the longer mark first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UTF = frozenset(name for _, name in _MARKS)
# Python's names that would swallow or invent a byte-order mark, and what they mean without one.
_WITHOUT_MARK = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


class Decoder:
    """Turns the bytes of one input into text, piece by piece, and says where they cannot be text.

    ``encoding`` is settled once the first bytes have been fed. ``path`` is for messages only.
    """

    def __init__(self, path: str | None, encoding: str | None = None) -> None:
        self.path = path or STDIN
        self.encoding = _canonical(encoding, self.path) if encoding else "utf-8"
        self._decoder: codecs.IncrementalDecoder | None = None
        self._newlines = io.IncrementalNewlineDecoder(None, translate=True)
        self._held = b""  # first bytes that may still become a byte-order mark
        self._unproved = b""  # bytes whose text has not been encoded again yet
        self._bytes = self._lines = 0

    def feed(self, data: bytes, final: bool = False) -> str:
        """The text that ``data`` completes. Raises InputError for NUL bytes and for bytes not in the encoding."""
        if self._decoder is None:
            data, self._held = self._held + data, b""
            if not final and any(len(data) < len(mark) and mark.startswith(data) for mark, _ in _MARKS):
                self._held = data
                return ""
            self._decoder = self._start(data)
        self._refuse_binary(data)
        waiting = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            raise self._undecodable(error, self._bytes - waiting) from None
        self._prove(data, text, final)
        self._bytes += len(data)
        self._lines += self._newlines.decode(text).count("\n")
        return text

    def _start(self, data: bytes) -> codecs.IncrementalDecoder:
        """Settles the encoding by the byte-order mark, if there is one and a UTF was asked for."""
        if self.encoding in _UTF:
            self.encoding = next((name for mark, name in _MARKS if data.startswith(mark)), self.encoding)
        self._encoder = codecs.getincrementalencoder(self.encoding)()
        return codecs.getincrementaldecoder(self.encoding)()

    def _refuse_binary(self, data: bytes) -> None:
        """Raises InputError at a NUL byte, in encodings where no character has one."""
        at = -1 if self.encoding.startswith(("utf-16", "utf-32")) else data.find(b"\0")
        if at >= 0:
            hint = "a binary file, or UTF-16 without a byte-order mark: then pass --encoding utf-16-le"
            raise InputError(self.path, f"NUL at byte {self._bytes + at}: {hint}")

    def _undecodable(self, error: UnicodeDecodeError, base: int) -> InputError:
        """The error to raise: line and offset of the first bad byte, and what to try."""
        before = error.object[: error.start].decode(self.encoding, "replace")
        line = 1 + self._lines + self._newlines.decode(before, final=True).count("\n")
        hint = "pass the encoding it is in with --encoding"
        if self.encoding == "utf-8":
            hint = "pass --encoding gb18030" if _may_be_gb18030(error.object[error.start :]) else hint
        name = self.encoding.upper()
        return InputError(self.path, f"not valid {name} (byte {base + error.start}); {hint}", line)

    def _prove(self, data: bytes, text: str, final: bool) -> None:
        """Raises InputError when the text would not be written back as the bytes it came from."""
        if self.encoding in _UTF:
            return  # strict UTF decoders accept nothing that has a second spelling
        self._unproved += data
        again = self._encoder.encode(text, final)
        if not self._unproved.startswith(again) or (final and len(again) < len(self._unproved)):
            raise InputError(self.path, f"does not survive {self.encoding} unchanged; convert it to UTF-8 first")
        self._unproved = self._unproved[len(again) :]


def _canonical(encoding: str, path: str) -> str:
    """Python's name of a text encoding, without the variants that add or drop a byte-order mark."""
    try:
        name = codecs.lookup(encoding).name
        with contextlib.suppress(UnicodeDecodeError):
            b"    ".decode(name)  # LookupError for codecs that are not from bytes to text
        codecs.getincrementaldecoder(name), codecs.getincrementalencoder(name)
    except (LookupError, ValueError):
        raise InputError(path, f"{encoding!r} is not a known text encoding; try utf-8 or gb18030") from None
    return _WITHOUT_MARK.get(name, name)


def _may_be_gb18030(data: bytes) -> bool:
    """Whether GB18030 decodes ``data``, but for a character cut off at its end."""
    try:
        codecs.getincrementaldecoder("gb18030")().decode(data)
    except UnicodeDecodeError:
        return False
    return True
