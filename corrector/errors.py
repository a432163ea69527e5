"""One exception tree. Every message says what is wrong, where, and what to do next."""

from __future__ import annotations

from pathlib import Path


class CorrectorError(Exception):
    """The base of every error this package raises on purpose."""


class InputError(CorrectorError):
    """A text that cannot be read or written: ``path[:line]: message``."""

    def __init__(self, path: str | Path, message: str, line: int | None = None) -> None:
        self.path, self.line = str(path), line
        where = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{where}: {message}")


class ConfigError(CorrectorError):
    """A setting that is unknown or out of range: ``file: key: message``."""

    def __init__(self, file: str | Path, key: str, message: str) -> None:
        self.file, self.key = str(file), key
        super().__init__(f"{self.file}: {key}: {message}")


class ModelError(CorrectorError):
    """A model directory that is missing, incomplete or damaged: ``path: message``."""

    def __init__(self, path: str | Path, message: str) -> None:
        self.path = str(path)
        super().__init__(f"{self.path}: {message}")


class EvalDataError(CorrectorError):
    """A labelled file with a row that cannot be used: ``file:row: message``."""

    def __init__(self, file: str | Path, message: str, row: int | None = None) -> None:
        self.file, self.row = str(file), row
        where = self.file if row is None else f"{self.file}:{row}"
        super().__init__(f"{where}: {message}")
