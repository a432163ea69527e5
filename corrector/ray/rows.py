"""Lines of text and of JSON Lines, corrected: what is not corrected or added stays as it is, byte for byte.

A row is corrected by itself. ``electra-correct:`` markers in it hold for it alone.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from corrector.apply import corrected_text
from corrector.render.jsonl import CONFIDENCE_DIGITS
from corrector.text.files import LONG_LINE
from corrector.text.ignore import IgnoreState
from corrector.text.segment import beginning_of
from corrector.types import CorrectedDocument, Correction, Document, Span

TOGETHER, TOGETHER_BYTES = 256, 1 << 20
"""Rows corrected in one go, and their bytes: enough for the models, little memory."""


class TextCorrector(Protocol):
    """What a worker asks of its corrector."""

    def correct_many(self, texts: Iterable[str]) -> Iterator[CorrectedDocument]: ...

    def correct_document(self, document: Document) -> CorrectedDocument: ...


@dataclass
class Counts:
    """What came through: ``passed`` rows could not be processed and are as they were, ``first`` of them says where and why.

    ``unprocessed`` counts windows of the other rows that a model could not process.
    """

    rows: int = 0
    characters: int = 0
    corrections: int = 0
    passed: int = 0
    unprocessed: int = 0
    first: str = ""

    def plus(self, other: Counts) -> Counts:
        """Both together, in this order."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SUMS}
        return Counts(**sums, first=self.first or other.first)

    def take(self, found: CorrectedDocument) -> None:
        """Counts a row that was corrected."""
        self.rows += 1
        self.characters += len(found.document.text)
        self.corrections += len(found.corrections)
        self.unprocessed += found.unprocessed

    def leave(self, where: str, why: str) -> None:
        """Counts a row that is as it was."""
        self.rows += 1
        self.passed += 1
        self.first = self.first or f"{where}: {why}"


_SUMS = ("rows", "characters", "corrections", "passed", "unprocessed")


def correct_texts(corrector: TextCorrector, texts: Sequence[str]) -> Iterator[CorrectedDocument]:
    """Each text corrected by itself, in order; one longer than LONG_LINE in pieces, so that memory is bounded."""
    found = corrector.correct_many(text for text in texts if len(text) <= LONG_LINE)
    for text in texts:
        yield next(found) if len(text) <= LONG_LINE else _in_pieces(corrector, text)


def text_rows(
    corrector: TextCorrector, path: str, lines: Iterable[tuple[int, bytes]], counts: Counts
) -> Iterator[tuple[bytes, bytes]]:
    """For every line what it becomes, and a JSON line about its corrections if there are any."""
    for block in _blocks(lines):
        texts = [decoded(line) for _, line in block]
        found = correct_texts(corrector, [text for text in texts if isinstance(text, str)])
        for (offset, line), text in zip(block, texts, strict=True):
            if isinstance(text, Unread):
                counts.leave(f"{path}: byte {offset}", text.why)
                yield line, b""
                continue
            corrected = next(found)
            counts.take(corrected)
            record = {"path": path, "offset": offset, "corrections": records(corrected.corrections)}
            yield corrected_text(corrected).encode(), _json(record) + b"\n" if corrected.corrections else b""


def json_rows(
    corrector: TextCorrector, path: str, lines: Iterable[tuple[int, bytes]], column: str, output: str, counts: Counts
) -> Iterator[bytes]:
    """Every line with its text corrected under the key ``output`` and a list ``corrections``, added at its end."""
    for block in _blocks(lines):
        read = [_text_in(line, column, output) for _, line in block]
        found = correct_texts(corrector, [text for text in read if isinstance(text, str)])
        for (offset, line), text in zip(block, read, strict=True):
            if not isinstance(text, str):
                if text is not None:
                    counts.leave(f"{path}: byte {offset}", text.why)
                yield line
                continue
            corrected = next(found)
            counts.take(corrected)
            added = _json({output: corrected_text(corrected), "corrections": records(corrected.corrections)})
            yield line.rstrip(b" \t\r\n")[:-1].rstrip(b" \t") + b", " + added[1:] + (b"\r\n" if line.endswith(b"\r\n") else b"\n")


def records(corrections: Sequence[Correction]) -> list[dict[str, Any]]:
    """Corrections as plain values; offsets count code points of the row's text."""
    return [
        {
            "start": correction.span.start,
            "end": correction.span.end,
            "original": correction.original,
            "replacement": correction.replacement,
            "confidence": round(float(correction.confidence), CONFIDENCE_DIGITS),
            "reason": correction.reason,
        }
        for correction in corrections
    ]


@dataclass(frozen=True, slots=True)
class Unread:
    """A row without a text to correct, and why."""

    why: str


def decoded(text: bytes) -> str | Unread:
    """What is UTF-8 as text."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return Unread("not UTF-8")


def _text_in(line: bytes, column: str, output: str) -> str | Unread | None:
    """The text of a row; None for an empty line."""
    if not line.strip(b" \t\r\n"):
        return None
    try:
        value = json.loads(line.decode("utf-8-sig", "surrogatepass"))  # of bytes it would take UTF-16, too
    except (ValueError, RecursionError) as error:
        return Unread("not UTF-8" if isinstance(error, UnicodeDecodeError) else "not JSON")
    if not isinstance(value, dict):
        return Unread("not a JSON object")
    if taken := [key for key in (output, "corrections") if key in value]:
        return Unread(f"it has a key {taken[0]!r} already")
    text = value.get(column)
    return text if isinstance(text, str) else Unread(f"no text under {column!r}")


def _in_pieces(corrector: TextCorrector, text: str) -> CorrectedDocument:
    """A long text, whose markers hold for the pieces that follow, too."""
    corrections: list[Correction] = []
    markers, unprocessed, length = IgnoreState(), 0, 0
    for piece in _cut(text):
        document, markers = markers.mark(Document(None, piece))
        part = corrector.correct_document(document)
        corrections += _moved(part.corrections, length)
        unprocessed += part.unprocessed
        length += len(piece)
    return CorrectedDocument(Document(None, text), tuple(corrections), (), unprocessed)


def _cut(text: str) -> Iterator[str]:
    while len(text) > LONG_LINE:
        end = beginning_of(text, LONG_LINE)
        yield text[:end]
        text = text[end:]
    yield text


def _moved(corrections: Iterable[Correction], by: int) -> Iterator[Correction]:
    for correction in corrections:
        yield dataclasses.replace(correction, span=Span(correction.span.start + by, correction.span.end + by))


def _blocks(lines: Iterable[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    block: list[tuple[int, bytes]] = []
    size = 0
    for offset, line in lines:
        if block and (len(block) >= TOGETHER or size + len(line) > TOGETHER_BYTES):
            yield block
            block, size = [], 0
        block.append((offset, line))
        size += len(line)
    if block:
        yield block


def _json(value: Any) -> bytes:
    """One line of JSON in UTF-8; escaped where a character cannot be written, as half of a surrogate pair."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
