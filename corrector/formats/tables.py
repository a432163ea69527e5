"""Tables of texts: JSON Lines, CSV and TSV. Only the chosen columns are passages, each value one; no quote is ever rewritten.

A column that nobody chose is called ``text``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json import JSONDecodeError

from corrector.errors import ConfigError, InputError
from corrector.formats.builder import PassageBuilder
from corrector.formats.json_strings import string_passage, string_spans
from corrector.formats.lines import lines
from corrector.formats.passages import Passage
from corrector.text.decode import STDIN
from corrector.types import Document

DEFAULT_COLUMN = "text"
NAMED_COLUMNS = 30  # of those there are, in the message that one is missing


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

    If all columns are numbers, the first row is taken for data as well. The rules are those of the csv module's strict
    dialect; a field that they do not allow, such as one with a lone quote before it, is taken as it stands, up to the
    next separator. Rows that are too short stay as they are. A row may go on over many lines, so the document must come
    whole. ``passages`` raises ConfigError, with the columns there are, for a name that is not in the first row.
    """

    name: str
    columns: tuple[str, ...]
    delimiter: str
    streams: bool = False

    def passages(self, document: Document) -> Iterator[Passage]:
        text = document.text
        rows = records(text, self.delimiter)
        header = next(rows, None)
        if header is None:
            return
        wanted, has_names = self._wanted([_content(text, field) for field in header], document.path)
        if not has_names:
            rows = records(text, self.delimiter)
        for row in rows:
            for index in wanted:
                if index < len(row) and (passage := _field_passage(text, row[index])):
                    yield passage

    def _wanted(self, header: Sequence[str], path: str | None) -> tuple[list[int], bool]:
        """The indices of the columns, and whether any was found by its name."""
        wanted: set[int] = set()
        has_names = False
        for column in self.columns:
            named = [index for index, name in enumerate(header) if name.strip() == column]
            if named:
                wanted.update(named)
                has_names = True
            elif re.fullmatch("0*[1-9][0-9]{0,8}", column) and int(column) <= len(header):
                wanted.add(int(column) - 1)
            else:
                names = ", ".join(repr(name.strip()) for name in header[:NAMED_COLUMNS])
                message = f"there is no column {column!r}; choose one of {names} or a number from 1 to {len(header)}"
                raise ConfigError(path or STDIN, "column", message)
        return sorted(wanted), has_names


def format_named(name: str, column: str | Sequence[str] | None) -> JsonLines | Separated:
    """The format called ``jsonl``, ``csv`` or ``tsv`` with one column, several, or the default one."""
    columns = (column,) if isinstance(column, str) else tuple(column or ())
    columns = columns or (DEFAULT_COLUMN,)
    if name == "jsonl":
        return JsonLines(name, columns)
    return Separated(name, columns, "\t" if name == "tsv" else ",")


Field = tuple[int, int, bool]
"""Start and end of a field's content, without its quotes, and whether it has them."""


def records(text: str, delimiter: str) -> Iterator[list[Field]]:
    """The records of a table, those of empty lines left out. Linear: no stretch is searched for a closing quote twice."""
    separator = re.compile(f"[{delimiter}\r\n]|\\Z")
    at = 1 if text.startswith("\ufeff") else 0
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
