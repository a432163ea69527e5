"""Labelled files as rows of equal-length source and target: TSV, CSCD, SIGHAN's own formats, pycorrector JSON."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from corrector.errors import EvalDataError
from corrector.types import OCR, TYPED, Origin

InputFormat = Literal["tsv", "cscd", "sighan", "pycorrector"]
FORMATS: tuple[InputFormat, ...] = ("tsv", "cscd", "sighan", "pycorrector")
JSON_KEYS = (("original_text", "correct_text"), ("source", "target"))
"""pycorrector's training and evaluation files use the first pair; its newer data sets on model hubs the second."""

COMPRESSED = ".xz"
SHIPPED: Mapping[Origin, tuple[str, ...]] = {TYPED: ("sentences.tsv", "traps.tsv", "traditional.tsv", "varieties.tsv"), OCR: ("scans.tsv",)}


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled sentence. ``number`` is its 1-based line, or record of a JSON array, in the file."""

    source: str
    target: str
    number: int
    domain: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """The usable rows of one file and what happened to the others.

    ``ordinals[i]`` is the 0-based place of ``rows[i]`` among the ``read`` rows of the file, dropped ones included.
    ``sha256`` is the hash of the file's bytes, decompressed (with a truth file, of both, input first).
    """

    name: str
    path: str
    format: InputFormat
    sha256: str
    rows: tuple[Row, ...]
    ordinals: tuple[int, ...]
    read: int
    dropped: int
    truncated: int = 0
    limit: int | None = None
    max_length: int | None = None


def load_set(path: str | Path, input_format: InputFormat | None = None, truth: str | Path | None = None) -> LabelledSet:
    """Read a labelled file, plain or compressed (.xz), finding out its format unless told. Rows of unequal length are dropped and counted.

    Raises EvalDataError, with the row, for anything else that cannot be scored.
    """
    path = Path(path)
    data = read_bytes(path)
    text = _decode(path, data)
    chosen = input_format or detect_format(path, text)
    if truth is not None and chosen != "sighan":
        raise EvalDataError(path, f"a truth file belongs to SIGHAN test input, but this is {chosen}; leave --truth out")
    if truth is not None:
        data += read_bytes(Path(truth))
    kept, ordinals, read = [], [], 0
    for row in _rows(path, text, chosen, truth):
        _check(path, row)
        if len(row.source) == len(row.target):
            kept.append(row)
            ordinals.append(read)
        read += 1
    if not read:
        raise EvalDataError(path, "no labelled sentences in it; expected source<TAB>target, SIGHAN or JSON records")
    sha256 = hashlib.sha256(data).hexdigest()
    name = uncompressed_name(path).stem
    return LabelledSet(name, str(path), chosen, sha256, tuple(kept), tuple(ordinals), read, read - len(kept))


def shipped_paths(root: Path | None = None, origin: Origin = TYPED) -> tuple[Path, ...]:
    """The labelled files made for this project with text of this origin, in ``eval/`` at the top of a source checkout."""
    folder = (root or Path(__file__).resolve().parents[2]) / "eval"
    paths = tuple(folder / name for name in SHIPPED[origin])
    for path in paths:
        if not path.is_file():
            raise EvalDataError(
                path, "the project's own labelled set is in a source checkout only; pass a labelled file"
            )
    return paths


def every_nth(labelled: LabelledSet, limit: int | None) -> LabelledSet:
    """At most ``limit`` of the rows, evenly spaced over the file; all of them for None."""
    size = len(labelled.rows)
    if limit is None or limit >= size:
        return labelled
    chosen = [i * size // limit for i in range(limit)]
    rows, ordinals = tuple(labelled.rows[i] for i in chosen), tuple(labelled.ordinals[i] for i in chosen)
    return replace(labelled, rows=rows, ordinals=ordinals, limit=limit)


def truncate(labelled: LabelledSet, max_length: int | None) -> LabelledSet:
    """Source and target cut to ``max_length`` characters where longer, and counted; as it is for None."""
    if max_length is None:
        return labelled
    rows = tuple(replace(r, source=r.source[:max_length], target=r.target[:max_length]) for r in labelled.rows)
    cut = sum(len(row.source) > max_length for row in labelled.rows)
    return replace(labelled, rows=rows, truncated=cut, max_length=max_length)


def detect_format(path: Path, text: str) -> InputFormat:
    """The format by the first characters and, for tables, by the first rows."""
    head = text.lstrip()
    first = head.partition("\n")[0]
    if (head.startswith("<") and "\t" not in first) or first.lower().startswith(("(nid=", "(pid=")):
        return "sighan"
    if head.startswith(("[", "{")) and (uncompressed_name(path).suffix in {".json", ".jsonl"} or "\t" not in first):
        return "pycorrector"
    cells = [line.split("\t") for _, line in _table_lines(text)][:20]
    if cells and all(len(row) == 3 and row[0] in {"0", "1"} for row in cells):
        return "cscd"
    return "tsv"


def read_bytes(path: Path) -> bytes:
    """What is in a file, decompressed if it is an .xz. Raises EvalDataError if it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EvalDataError(path, f"cannot be read: {error.strerror}") from error
    if path.suffix != COMPRESSED:
        return data
    try:
        return lzma.decompress(data)
    except lzma.LZMAError as error:
        raise EvalDataError(path, f"cannot be read: not a whole xz file ({error}); get it or compress it once more") from error


def uncompressed_name(path: Path) -> Path:
    """``set.tsv`` for ``set.tsv.xz``, anything else as it is."""
    return path.with_suffix("") if path.suffix == COMPRESSED else path


def _decode(path: Path, data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise EvalDataError(path, "not valid UTF-8; convert the file to UTF-8 first", line) from error
    return text if "\n" in text else text.replace("\r", "\n")  # line ends of old


def _rows(path: Path, text: str, chosen: InputFormat, truth: str | Path | None) -> Iterator[Row]:
    if chosen == "tsv":
        return _tsv_rows(path, text)
    if chosen == "cscd":
        return _cscd_rows(path, text)
    if chosen == "pycorrector":
        return _json_rows(path, text)
    from corrector.eval import sighan

    if text.lstrip().startswith("<"):
        if truth is not None:
            raise EvalDataError(path, "this SIGHAN file holds its own corrections; leave --truth out")
        return _as_rows(sighan.training_rows(path, text))
    if truth is None:
        raise EvalDataError(path, "SIGHAN test input has no corrections in it; pass its truth file with --truth")
    return _as_rows(sighan.labelled_rows(path, text, Path(truth), _decode(Path(truth), read_bytes(Path(truth)))))


def _as_rows(triples: Iterable[tuple[int, str, str]]) -> Iterator[Row]:
    for number, source, target in triples:
        yield Row(source, target, number)


def _check(path: Path, row: Row) -> None:
    if not row.source or not row.target:
        raise EvalDataError(path, "empty source or target", row.number)
    if any(mark in text for text in (row.source, row.target) for mark in "\n\t"):
        raise EvalDataError(path, "a line break or tab inside a sentence; give one sentence a row", row.number)


def _table_lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without blank ones and without ``#`` comments before the first row (``#topic#`` is no comment)."""
    heading = True
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if heading and line.startswith("#") and (line[1:2] in {"", " ", "!"} or "\t" not in line):
            continue
        heading = False
        yield number, line


def _tsv_rows(path: Path, text: str) -> Iterator[Row]:
    for number, line in _table_lines(text):
        source, *others = line.split("\t")
        if not others:
            raise EvalDataError(path, "expected source<TAB>target, found one column", number)
        target, domain, kind = (*others, "", "")[:3]
        yield Row(source, target, number, domain, kind)


def _cscd_rows(path: Path, text: str) -> Iterator[Row]:
    for number, line in _table_lines(text):
        cells = line.split("\t")
        if len(cells) != 3:
            raise EvalDataError(path, f"expected label<TAB>source<TAB>target, found {len(cells)} columns", number)
        if cells[0] not in {"0", "1"}:
            raise EvalDataError(path, f"expected the label 0 or 1, found {cells[0]!r}", number)
        yield Row(cells[1], cells[2], number)


def _json_rows(path: Path, text: str) -> Iterator[Row]:
    for number, record in _json_records(path, text):
        pair = _json_pair(record)
        if pair is None:
            raise EvalDataError(path, 'expected an object with text "original_text" and "correct_text"', number)
        yield Row(*pair, number)


def _json_pair(record: object) -> tuple[str, str] | None:
    if not isinstance(record, dict):
        return None
    for source_key, target_key in JSON_KEYS:
        source, target = record.get(source_key), record.get(target_key)
        if isinstance(source, str) and isinstance(target, str):
            return source, target
    return None


def _json_records(path: Path, text: str) -> Iterator[tuple[int, object]]:
    """The records of a JSON array, numbered from 1, or of JSON lines, numbered by line."""
    beyond = "not usable JSON: a number too long or too many brackets inside each other"
    try:
        if text.lstrip().startswith("["):
            yield from enumerate(json.loads(text), start=1)
            return
    except json.JSONDecodeError as error:
        raise EvalDataError(path, f"not valid JSON: {error.msg}", error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise EvalDataError(path, beyond) from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except json.JSONDecodeError as error:
            raise EvalDataError(path, f"not valid JSON: {error.msg}; one record a line or one array", number) from error
        except (ValueError, RecursionError) as error:
            raise EvalDataError(path, beyond, number) from error
