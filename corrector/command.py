"""What ``electra-correct`` does with one input, free of options and of printing: blocks in, bytes to write out.

The input goes through block by block, so that a long text is never held whole (but for ``--diff``) and a slow pipe gets
each line back as soon as it is complete.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Protocol

from corrector.render.diff import render_header, render_hunks
from corrector.render.jsonl import render_corrections, render_summary
from corrector.render.summary import Summary
from corrector.render.text import render_text
from corrector.text.files import encode
from corrector.types import CorrectedDocument, Document


class DocumentCorrector(Protocol):
    """What a run asks of a corrector."""

    @property
    def model_name(self) -> str: ...

    def correct_document(self, document: Document) -> CorrectedDocument: ...


class Run:
    """One input on its way through a corrector, once: call one of ``text``, ``json``, ``diff`` and ``check``.

    ``summary`` counts what has come through so far and is complete when the iterator is exhausted.
    """

    def __init__(self, corrector: DocumentCorrector, blocks: Iterable[Document]) -> None:
        self._corrector, self._blocks = corrector, blocks
        self.summary = Summary(files=1)

    def text(self) -> Iterator[bytes]:
        """The corrected text in the encoding of the input."""
        for _, corrected in self._corrected():
            document = corrected.document
            yield encode(render_text(corrected), document.encoding, document.path)

    def json(self, version: str) -> Iterator[bytes]:
        """JSON lines in UTF-8; undecodable bytes of a file name come out as JSON's own escapes."""
        for before, corrected in self._corrected():
            yield render_corrections(corrected, before).encode("utf-8", "backslashreplace")
        yield render_summary(self.summary, self._corrector.model_name, version).encode()

    def diff(self) -> Iterator[bytes]:
        """A unified diff in the encoding of the input, or in UTF-8 for UTF-16 and UTF-32, which no patch reads."""
        source, target = [], []
        document: Document | None = None
        for _, corrected in self._corrected():
            document = corrected.document
            source.append(document.text)
            target.append(render_text(corrected))
        hunks = render_hunks("".join(source), "".join(target))
        if document is not None and hunks:
            encoding = "utf-8" if document.encoding.startswith(("utf-16", "utf-32")) else document.encoding
            yield os.fsencode(render_header(document.path)) + encode(hunks, encoding, document.path)

    def check(self) -> Iterator[bytes]:
        """Nothing to write; only the summary is filled in."""
        for _ in self._corrected():
            yield b""

    def _corrected(self) -> Iterator[tuple[Summary, CorrectedDocument]]:
        """Each corrected block with the summary of those before it."""
        for block in self._blocks:
            corrected = self._corrector.correct_document(block)
            before, self.summary = self.summary, self.summary.plus(corrected)
            yield before, corrected
