"""Rows of Parquet, corrected: every column as it was, and two more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from corrector.apply import corrected_text
from corrector.errors import ConfigError
from corrector.ray.pieces import Piece, open_parquet
from corrector.ray.rows import Counts, TextCorrector, Unread, correct_texts, decoded, records

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 10_000
"""Rows read, corrected and written together; also a row group of the output."""


def check_schema(path: str, column: str, output: str) -> None:
    """Raises ConfigError unless the file has that column, of strings, and room for the new ones."""
    with open_parquet(path) as file:
        schema = file.schema_arrow
    names = schema.names
    if names.count(column) != 1:
        raise ConfigError(path, "column", f"there is no column {column!r}; choose one of {', '.join(map(repr, names))}")
    if not _is_text(schema.field(column).type):
        raise ConfigError(path, "column", f"{column!r} is of type {schema.field(column).type}, not of strings")
    for name in (output, "corrections"):
        if name in names:
            raise ConfigError(path, "output-column", f"there is a column {name!r} already; rename it, or choose another name")


def write_piece(corrector: TextCorrector, piece: Piece, column: str, output: str, target: str, counts: Counts) -> None:
    """Writes the piece's rows, corrected, to ``target``. A row without text has no corrected text either."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    with open_parquet(piece.path) as file:
        schema: pa.Schema = file.schema_arrow
        fields = (pa.field(output, pa.large_string()), pa.field("corrections", _corrections_type()))
        wider = schema.append(fields[0]).append(fields[1])
        with ParquetWriter(target, wider) as writer:
            at = piece.start
            for table in _tables(file, piece):
                texts = _texts(table.column(column))
                new = _columns(corrector, texts, piece.path, at, counts)
                arrays = [pa.array(values, type=field.type) for values, field in zip(new, fields, strict=True)]
                writer.write_table(pa.table([*table.columns, *arrays], schema=wider))
                at += table.num_rows


def _columns(
    corrector: TextCorrector, texts: list[str | Unread], path: str, at: int, counts: Counts
) -> tuple[list[str | None], list[list[dict[str, Any]] | None]]:
    corrected: list[str | None] = []
    lists: list[list[dict[str, Any]] | None] = []
    found = correct_texts(corrector, [text for text in texts if isinstance(text, str)])
    for row, text in enumerate(texts, at):
        if isinstance(text, Unread):
            counts.leave(f"{path}: row {row}", text.why)
            corrected.append(None)
            lists.append(None)
            continue
        one = next(found)
        counts.take(one)
        corrected.append(corrected_text(one))
        lists.append(records(one.corrections))
    return corrected, lists


def _texts(column: pa.ChunkedArray) -> list[str | Unread]:
    """The texts of a column of strings, which other programs may have filled with anything."""
    import pyarrow as pa

    try:
        values = column.to_pylist()
    except UnicodeDecodeError:
        plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        values = [None if value is None else decoded(value) for value in plain.cast(pa.large_binary()).to_pylist()]
    return [Unread("no text") if value is None else value for value in values]


def _tables(file: Any, piece: Piece) -> Iterator[pa.Table]:
    """The rows of the piece, in tables of at most BATCH_ROWS; row groups before it are not even read."""
    import pyarrow as pa

    first = 0
    for group in range(file.num_row_groups):
        end = first + file.metadata.row_group(group).num_rows
        if first < piece.end and piece.start < end:
            at = first
            for batch in file.iter_batches(BATCH_ROWS, row_groups=[group]):
                start, stop = max(piece.start - at, 0), min(piece.end - at, batch.num_rows)
                if start < stop:
                    yield pa.Table.from_batches([batch.slice(start, stop - start)])
                at += batch.num_rows
        first = end


def _corrections_type() -> pa.DataType:
    import pyarrow as pa

    fields = [
        ("start", pa.int64()), ("end", pa.int64()), ("original", pa.string()), ("replacement", pa.string()),
        ("confidence", pa.float64()), ("reason", pa.string()),
    ]  # fmt: skip
    return pa.list_(pa.struct(fields))


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value))
