"""The input of a job, cut into pieces that workers read by themselves: byte ranges of lines, row ranges of Parquet."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from corrector.errors import ConfigError, InputError
from corrector.text.write import reason

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

FormatName = Literal["text", "jsonl", "parquet"]

EXTENSIONS: dict[str, FormatName] = {
    ".txt": "text", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"
}  # fmt: skip
PACKED = (".gz", ".zst", ".bz2", ".xz")

SMALLEST, LARGEST = 1 << 16, 1 << 22
"""Bytes of a piece: below the first, starting it costs more than the rest; the second is about a minute of one core."""

MOST_PIECES = 20_000
"""More than this many pieces are not made; they grow instead, so that the driver's bookkeeping stays small."""

ROW_BYTES = 128
"""What a row of Parquet is taken to cost, a sentence; only for the size of pieces."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Part ``number`` of the output. Lines that start in the bytes ``[start, end)`` of a file, or these rows of it."""

    number: int
    path: str
    start: int
    end: int


def files_of(path: str, format_name: FormatName | None) -> tuple[list[str], FormatName]:
    """The files of an input, sorted by name, and their format; in a folder, those of its extensions.

    Names that start with ``.`` or ``_`` are left out, as other tools for such folders do. Raises InputError for what is
    not there or is compressed, and ConfigError where the format is not known or not one.
    """
    if not os.path.exists(path):
        raise InputError(path, "is not there; give a file, or a folder of .txt, .jsonl or .parquet files")
    files = sorted(_listed(path)) if os.path.isdir(path) else [path]
    if format_name is not None:
        wanted = [file for file in files if not os.path.isdir(path) or EXTENSIONS.get(_extension(file), format_name) == format_name]
    else:
        wanted = [file for file in files if _extension(file) in EXTENSIONS]
        found = {EXTENSIONS[_extension(file)] for file in wanted}
        if len(found) > 1:
            raise ConfigError(path, "format", f"holds {' and '.join(sorted(found))} files; choose one by --format")
        format_name = next(iter(found), None)
    for file in files if len(files) == 1 else wanted:
        if _extension(file) in PACKED:
            raise InputError(file, "is compressed, so that workers cannot read parts of it; unpack it first")
    if format_name is None:
        raise ConfigError(path, "format", "cannot be told from the extension; give --format text, jsonl or parquet")
    if not wanted:
        raise InputError(path, f"holds no {format_name} files")
    return wanted, format_name


def pieces_of(files: Sequence[str], format_name: FormatName, workers: int) -> list[Piece]:
    """The pieces of all files in order, several for each worker where the input is large enough.

    Raises InputError for a file that cannot be read.
    """
    sizes = [_rows(file) if format_name == "parquet" else _bytes(file) for file in files]
    unit = ROW_BYTES if format_name == "parquet" else 1
    size = max(_size(sum(sizes) * unit, workers) // unit, 1)
    pieces: list[Piece] = []
    for file, length in zip(files, sizes, strict=True):
        for start, end in _ranges(length, size, at_least_one=format_name == "parquet"):
            pieces.append(Piece(len(pieces), file, start, end))
    return pieces


def lines_of(piece: Piece) -> Iterator[tuple[int, bytes]]:
    """The lines that start in the piece, with their byte offsets and their line ends. Raises OSError."""
    with open(piece.path, "rb") as file:
        if piece.start:
            file.seek(piece.start - 1)
            file.readline()  # it started in the piece before
        at = file.tell()
        while at < piece.end and (line := file.readline()):
            yield at, line
            at += len(line)


def open_parquet(path: str) -> ParquetFile:
    """The file, to be closed. Raises InputError when it is none."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        return ParquetFile(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(path, f"is no Parquet file that can be read: {_first_line(error)}") from error


def _listed(folder: str) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (os.path.join(parent, name) for name in names if not name.startswith((".", "_")))


def _extension(path: str) -> str:
    return Path(path).suffix.lower()


def _size(total: int, workers: int) -> int:
    size = min(max(total // (4 * workers), SMALLEST), LARGEST)
    return max(size, -(-total // MOST_PIECES))


def _ranges(length: int, size: int, at_least_one: bool) -> list[tuple[int, int]]:
    ranges = [(start, min(start + size, length)) for start in range(0, length, size)]
    return ranges or ([(0, 0)] if at_least_one else [])


def _bytes(path: str) -> int:
    try:
        with open(path, "rb") as file:
            return os.fstat(file.fileno()).st_size
    except OSError as error:
        raise InputError(path, f"cannot be read: {reason(error)}") from error


def _rows(path: str) -> int:
    with open_parquet(path) as file:
        rows: int = file.metadata.num_rows
        return rows


def _first_line(error: Any) -> str:
    return str(error).strip().partition("\n")[0]
