"""Bytes to text, strictly: what is decoded here encodes to the very same bytes again.

A byte-order mark of UTF-8, UTF-16 or UTF-32 decides by itself and stays in the text as U+FEFF. Where no encoding is
asked for, what is valid UTF-8 is UTF-8; the rest is GB18030, Big5 or UTF-16 when that is beyond doubt, or else an error
that says what to pass.
"""

from __future__ import annotations

import codecs
import contextlib
import io

from corrector.errors import InputError

AUTO = "auto"
"""The name for an encoding that the bytes decide; so does None."""

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

_KNOWN = (
    (b"PK\3\4", "a zip archive; if it is a document, pass --input-format docx, pptx, xlsx, odf or epub"),
    (b"\xd0\xcf\x11\xe0", "an old Office file; save it as .docx, .pptx or .xlsx"),
    (b"%PDF-", "a PDF; pass --input-format pdf"),
    (b"{\\rtf", "rich text (RTF); save it as .docx"),
)
"""How files begin that some take for text, and what to do about them."""


class Decoder:
    """Turns the bytes of one input into text, piece by piece, and says where they cannot be text.

    ``encoding`` is settled with the first character that is not ASCII: it is UTF-8 if the piece it comes in is valid,
    else what that piece must be. ``path`` is for messages only.
    """

    def __init__(self, path: str | None, encoding: str | None = None) -> None:
        self.path = path or STDIN
        self._open = encoding in (None, AUTO)  # no text so far but ASCII, which reads the same in whatever is guessed
        self._guessed = False
        self.encoding = "utf-8" if encoding is None or encoding == AUTO else _canonical(encoding, self.path)
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
            self._refuse_known(data)
            self._decoder = self._start(data)
        waiting = self._decoder.getstate()[0]
        try:
            text = self._decoded(self._decoder, data, final)
        except InputError as error:
            if not self._open or not self._guess(waiting + data):
                raise
            first_error = error
        else:
            self._open = self._open and text.isascii()
            return text
        self._bytes -= len(waiting)
        try:
            return self._decoded(self._decoder, waiting + data, final)
        except InputError:
            raise first_error from None

    def _decoded(self, decoder: codecs.IncrementalDecoder, data: bytes, final: bool) -> str:
        self._refuse_binary(data)
        waiting = len(decoder.getstate()[0])
        try:
            text = decoder.decode(data, final)
        except UnicodeDecodeError as error:
            raise self._undecodable(error, self._bytes - waiting) from None
        self._prove(data, text, final)
        self._bytes += len(data)
        self._lines += self._newlines.decode(text).count("\n")
        return text

    def _start(self, data: bytes) -> codecs.IncrementalDecoder:
        """Settles the encoding by the byte-order mark, if there is one and a UTF was asked for."""
        marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
        if self.encoding in _UTF and marked is not None:
            self.encoding, self._open = marked, False
        self._encoder = codecs.getincrementalencoder(self.encoding)()
        return codecs.getincrementaldecoder(self.encoding)()

    def _guess(self, data: bytes) -> bool:
        """Settles the encoding by the first bytes that are no UTF-8; whether that could be done."""
        from corrector.text.guess import guess_encoding

        guess = guess_encoding(data)
        if guess is None or (guess in _UTF and self._bytes):  # UTF-16 does not begin in the middle
            return False
        self.encoding, self._guessed, self._open = guess, True, False
        self._decoder = self._start(b"")
        return True

    def _refuse_known(self, data: bytes) -> None:
        """Raises InputError for the beginning of a file of another kind, unless an encoding was asked for."""
        for magic, what in _KNOWN if self._open else ():
            if data.startswith(magic):
                raise InputError(self.path, f"is no text: {what}")

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
        elif self._guessed:
            hint = f"it began like {self.encoding.upper()} and was not valid UTF-8; {hint}"
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


def canonical(encoding: str) -> str:
    """Python's name of a text encoding, without the variants that add or drop a byte-order mark. Raises LookupError for no such."""
    try:
        name = codecs.lookup(encoding).name
        with contextlib.suppress(UnicodeDecodeError):
            b"    ".decode(name)  # LookupError for codecs that are not from bytes to text
        codecs.getincrementaldecoder(name), codecs.getincrementalencoder(name)
    except (LookupError, ValueError):
        raise LookupError(f"{encoding!r} is not a known text encoding; try utf-8 or gb18030") from None
    return _WITHOUT_MARK.get(name, name)


def _canonical(encoding: str, path: str) -> str:
    try:
        return canonical(encoding)
    except LookupError as error:
        raise InputError(path, str(error)) from None


def _may_be_gb18030(data: bytes) -> bool:
    """Whether GB18030 decodes ``data``, but for a character cut off at its end."""
    try:
        codecs.getincrementaldecoder("gb18030")().decode(data)
    except UnicodeDecodeError:
        return False
    return True
