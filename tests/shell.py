"""Runs the command within the process of the tests, with a fake corrector, in a folder of its own."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import corrector
from corrector import cli
from corrector.confusions import Confusions
from corrector.errors import ModelError
from corrector.text.protect import merged
from corrector.types import OCR, TYPED, CorrectedDocument, Document, Origin
from corrector.words import ProtectedWords
from tests.fakes import FakeCorrector

if TYPE_CHECKING:
    import pytest

SURE, DOUBTFUL, MISREAD = {"天汽": "天气", "平果": "苹果"}, {"做": "作"}, {"日木": "日本"}
VERSION = "9.9.9"


class FakePipelineCorrector(FakeCorrector):
    """The fake corrector with the arguments of the real one; it obeys words and confusions as far as tests need it."""

    def __init__(
        self,
        model: str | None = None,
        *,
        origin: Origin = TYPED,
        min_confidence: float | None = None,
        profile: str | None = None,
        words: Any = (),
        confusions: Confusions | None = None,
        threads: int = 0,
    ) -> None:
        if model is not None:
            raise ModelError(model, "no such model")
        confidence = {"careful": 0.99, "eager": 0.3}.get(profile or "", min_confidence)
        super().__init__(SURE | (MISREAD if origin == OCR else {}), DOUBTFUL, min_confidence=confidence, fails_on="坏")
        self._words = words if isinstance(words, ProtectedWords) else ProtectedWords.of(words)
        self._confusions = confusions or Confusions()

    def correct_document(self, document: Document) -> CorrectedDocument:
        words = self._words.spans(document.text)
        guarded = dataclasses.replace(document, protected=merged((*document.protected, *words)))
        found = super().correct_document(guarded)
        forced = self._confusions.corrections(document.text, guarded.protected)
        return dataclasses.replace(found, document=document, corrections=tuple(sorted((*found.corrections, *forced), key=lambda c: c.span)))


@dataclass(frozen=True)
class Outcome:
    """What one run left: its exit code and the bytes of its streams."""

    status: int
    stdout: bytes
    stderr: bytes


class Stream(io.TextIOWrapper):
    """A standard stream over bytes that may claim to be a terminal."""

    def __init__(self, buffer: io.BytesIO, terminal: bool = False) -> None:
        super().__init__(buffer, encoding="utf-8", errors="backslashreplace", newline="\n", write_through=True)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


class Shell:
    """Runs the command in ``directory``; ``corrector`` stands in for ``corrector.pipeline.Corrector``."""

    def __init__(self, directory: Path, corrector: type[FakeCorrector] = FakePipelineCorrector) -> None:
        self.directory, self._corrector = directory, corrector

    def run(
        self, *arguments: str, stdin: bytes | None = b"", terminals: str = "", environ: Mapping[str, str] | None = None,
        closed: str = "",
    ) -> Outcome:  # fmt: skip
        """``terminals`` names the streams that claim to be terminals, such as ``stdin stderr``; ``closed`` those that are not there."""
        stdout, stderr = io.BytesIO(), io.BytesIO()
        with self._world(environ or {}) as patch:
            patch.setattr(sys, "stdin", None if stdin is None else Stream(io.BytesIO(stdin), "stdin" in terminals))
            patch.setattr(sys, "stdout", Stream(stdout, "stdout" in terminals))
            patch.setattr(sys, "stderr", Stream(stderr, "stderr" in terminals))
            for name in closed.split():
                patch.setattr(sys, name, None)
            status = cli.main(arguments)
            return Outcome(status, stdout.getvalue(), stderr.getvalue())

    def files(self) -> dict[str, bytes]:
        """The content of every file below the directory, by its name there."""
        found = (path for path in self.directory.rglob("*") if path.is_file())
        return {path.relative_to(self.directory).as_posix(): path.read_bytes() for path in found}

    @contextlib.contextmanager
    def _world(self, environ: Mapping[str, str]) -> Iterator[pytest.MonkeyPatch]:
        import pytest  # only here: other processes use the fake without it

        pipeline = ModuleType("corrector.pipeline")
        pipeline.Corrector = self._corrector  # type: ignore[attr-defined]
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "corrector.pipeline", pipeline)
            patch.setattr(corrector, "__version__", VERSION, raising=False)
            patch.chdir(self.directory)
            for name in ("NO_COLOR", "FORCE_COLOR", *(name for name in os.environ if name.startswith("_ELECTRA"))):
                patch.delenv(name, raising=False)
            for name, value in environ.items():
                patch.setenv(name, value)
            yield patch
