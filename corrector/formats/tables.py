"""Tables of texts: JSON, JSON Lines, CSV and TSV. Only the chosen columns are passages, each value one; no quote is ever rewritten.

A column that nobody chose is called ``text``; in JSON, which messages of programs are in, that is every value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from json import JSONDecodeError

from corrector.errors import ConfigError, InputError
from corrector.formats.builder import PassageBuilder
from corrector.formats.json_strings import string_passage, string_spans, strings_of
from corrector.formats.lines import lines
from corrector.formats.passages import Passage
from corrector.text.decode import STDIN
from corrector.types import Document

DEFAULT_COLUMN = "text"
NAMED_COLUMNS = 30  # of those there are, in the message that one is missing
OTHER_DELIMITERS = ";\t"  # in CSV, as Excel writes it where the comma stands before decimals, and as "Unicode text"
SAMPLED_ROWS = 20  # of which it is seen whether others separate them
_SEPARATOR_LINE = re.compile(r"sep=([,;\t|])(?:\r\n?|\n)")  # Excel's own, which it shows to nobody


@dataclass(frozen=True, slots=True)
class Json:
    """One JSON value, of which every string is prose, or with ``columns`` those at them, as in JsonLines; never a key.

    ``passages`` raises InputError, with the line, for what is not JSON.
    """

    name: str
    columns: tuple[str, ...]
    streams: bool = False

    def passages(self, document: Document) -> Iterator[Passage]:
        for span in strings_of(document, self.columns or None):
            if passage := string_passage(document.text, span):
                yield passage


@dataclass(frozen=True, slots=True)
class JsonLines:
    """One JSON value a line. A column is a key, or dotted keys such as ``meta.title``; lists are gone through item by item.

    A line that lacks the key, or has no string there, stays as it is. ``passages`` raises InputError, with the line counted
    from 1 in the document it is given, at the first line that is not JSON; empty lines are allowed.
    """

    name: str
    columns: tuple[str, ...]
    streams: bool = True

    def passages(self, document: Document) -> Iterator[Passage]:
        text = document.text
        for number, (start, end) in enumerate(lines(text), 1):
            if not text[start:end].strip(" \t"):
                continue
            try:
                spans = string_spans(text, start, end, self.columns)
            except JSONDecodeError as error:
                where = f"not valid JSON at column {error.pos - start + 1} ({error.msg})"
                raise InputError(document.path or STDIN, f"{where}; every line must be a JSON value", number) from None
            for span in spans:
                if passage := string_passage(text, span):
                    yield passage


@dataclass(frozen=True, slots=True)
class Separated:
    """CSV or TSV with its column names in the first row. A column is a name, or else a number counted from 1.

    If all columns are numbers, the first row is taken for data as well. CSV is separated by commas, unless a line such as
    ``sep=;`` before the first row says otherwise, or only semicolons or only tabs give that row all the columns, or make equally
    many fields of every row where commas leave the first one whole. The rules are those of the csv module's strict dialect; a
    field that they do not allow, such as one with a lone quote before it, is taken as it stands, up to the next separator. Rows
    that are too short stay as they are. A row may go on over many lines, so the document must come whole. ``passages`` raises
    ConfigError, with the columns there are, for a name that is not in the first row.
    """

    name: str
    columns: tuple[str, ...]
    delimiter: str
    streams: bool = False

    def passages(self, document: Document) -> Iterator[Passage]:
        text = document.text
        delimiter, start = self._separation(text)
        rows = records(text, delimiter, start)
        header = next(rows, None)
        if header is None:
            return
        names = _names(text, header)
        wanted = self._wanted(names, document.path)
        if not any(column in names for column in self.columns):
            rows = records(text, delimiter, start)
        for row in rows:
            for index in wanted:
                if index < len(row) and (passage := _field_passage(text, row[index])):
                    yield passage

    def _separation(self, text: str) -> tuple[str, int]:
        """What separates the fields, and where the first row begins."""
        start = 1 if text.startswith("\ufeff") else 0
        if self.name == "csv":
            if line := _SEPARATOR_LINE.match(text, start):
                return line[1], line.end()
            others = []
            if not self._has_columns(text, self.delimiter, start):
                others = [other for other in OTHER_DELIMITERS if self._has_columns(text, other, start, strict=True)]
            if len(others) != 1 and len(next(records(text, self.delimiter, start), ())) == 1:
                others = [other for other in OTHER_DELIMITERS if _is_regular(text, other, start)]
            if len(others) == 1:
                return others[0], start
        return self.delimiter, start

    def _has_columns(self, text: str, delimiter: str, start: int, strict: bool = False) -> bool:
        """Whether all columns are in the first row; ``strict`` refuses one with a quote in a field that is not in quotes."""
        header = next(records(text, delimiter, start), [])
        names = _names(text, header)
        return not (strict and _has_stray_quote(text, header)) and all(_indices(names, column) for column in self.columns)

    def _wanted(self, names: Sequence[str], path: str | None) -> list[int]:
        """The indices of the columns."""
        wanted: set[int] = set()
        for column in self.columns:
            found = _indices(names, column)
            if not found:
                shown = ", ".join(map(repr, names[:NAMED_COLUMNS]))
                message = f"there is no column {column!r}; choose one of {shown} or a number from 1 to {len(names)}"
                raise ConfigError(path or STDIN, "column", message)
            wanted.update(found)
        return sorted(wanted)


def _names(text: str, header: Sequence[Field]) -> list[str]:
    return [_content(text, field).strip() for field in header]


def _indices(names: Sequence[str], column: str) -> list[int]:
    """Where a column is among these, by its name or else by its number; nowhere if it is not there."""
    named = [index for index, name in enumerate(names) if name == column]
    if not named and re.fullmatch("0*[1-9][0-9]{0,8}", column) and int(column) <= len(names):
        return [int(column) - 1]
    return named


def format_named(name: str, column: str | Sequence[str] | None) -> Json | JsonLines | Separated:
    """The format called ``json``, ``jsonl``, ``csv`` or ``tsv`` with one column, several, or the default one."""
    columns = (column,) if isinstance(column, str) else tuple(column or ())
    if name == "json":
        return Json(name, columns)
    columns = columns or (DEFAULT_COLUMN,)
    if name == "jsonl":
        return JsonLines(name, columns)
    return Separated(name, columns, "\t" if name == "tsv" else ",")


Field = tuple[int, int, bool]
"""Start and end of a field's content, without its quotes, and whether it has them."""


def records(text: str, delimiter: str, at: int = 0) -> Iterator[list[Field]]:
    """The records of a table from ``at`` on, those of empty lines left out. Linear: no stretch is searched for a closing quote twice."""
    separator = re.compile(f"[{delimiter}\r\n]|\\Z")
    while at < len(text):
        if text[at] in "\r\n":
            at += 1
            continue
        fields: list[Field] = []
        while True:
            field = _quoted_field(text, at, delimiter) or _plain_field(at, separator.search(text, at))
            fields.append(field)
            at = field[1] + field[2]
            if not text.startswith(delimiter, at):
                break
            at += 1
        yield fields


def _is_regular(text: str, delimiter: str, start: int) -> bool:
    """Whether the first rows, two or more, have equally many fields, more than one, and no quote where none belongs."""
    rows = list(islice(records(text, delimiter, start), SAMPLED_ROWS))
    sizes = {len(row) for row in rows}
    return len(rows) > 1 and len(sizes) == 1 and min(sizes) > 1 and not any(_has_stray_quote(text, row) for row in rows)


def _has_stray_quote(text: str, row: Sequence[Field]) -> bool:
    """Whether a field that is not in quotes has one."""
    return any(not quoted and '"' in text[start:end] for start, end, quoted in row)


def _quoted_field(text: str, at: int, delimiter: str) -> Field | None:
    """The field at ``at`` if it is in quotes, from the first to a last one right before a separator."""
    if not text.startswith('"', at):
        return None
    quote = text.find('"', at + 1)
    while quote >= 0 and text.startswith('"', quote + 1):  # two quotes are one in the field
        quote = text.find('"', quote + 2)
    if quote < 0 or (quote + 1 < len(text) and text[quote + 1] not in (delimiter, "\r", "\n")):
        return None
    return at + 1, quote, True


def _plain_field(start: int, separator: re.Match[str] | None) -> Field:
    return start, separator.start() if separator else start, False


def _content(text: str, field: Field) -> str:
    start, end, quoted = field
    return text[start:end].replace('""', '"') if quoted else text[start:end]


def _field_passage(text: str, field: Field) -> Passage | None:
    """The passage of a field, in which two quotes are one."""
    start, end, quoted = field
    builder = PassageBuilder(text)
    while quoted and (quotes := text.find('""', start, end)) >= 0:
        builder.verbatim(start, quotes)
        builder.context('"')
        start = quotes + 2
    builder.verbatim(start, end)
    return builder.build()
