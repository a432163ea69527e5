"""Excel workbooks (``.xlsx``, ``.xlsm``): the texts of the named columns of every sheet; numbers, formulas and all else stay.

A sheet is read row by row, a line each, its cells apart. Cells of the same text share it: it is read where it comes first, and stays
when a cell of another column has it too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from corrector.errors import ConfigError
from corrector.formats.archive import Archive
from corrector.formats.packages import SIGNATURES_OF_OFFICE, PackageOptions, not_a
from corrector.formats.sheetml import Cell, cells_of, column_number, shared_texts, sheet_titles, table_columns
from corrector.formats.tables import DEFAULT_COLUMN, NAMED_COLUMNS
from corrector.formats.xml_parts import Piece, changed_characters, decoded, rewritten
from corrector.text.protect import merged
from corrector.types import CorrectedDocument, Document, Span

if TYPE_CHECKING:
    from corrector.command import DocumentCorrector

_WORKBOOK, _RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_STRINGS = "xl/sharedStrings.xml"
_SHEET = re.compile(r"xl/worksheets/sheet\d*\.xml", re.ASCII)
_TABLE = re.compile(r"xl/tables/table\d*\.xml", re.ASCII)
_APART = "\v"  # between cells, and where a cell has a line break: it ends a sentence, and is none of the lines that are counted


class Xlsx:
    """The workbook in ``archive``, of which some columns are corrected. Raises InputError when it is none, ConfigError for a column that
    none of its sheets has."""

    signatures = SIGNATURES_OF_OFFICE

    def __init__(self, archive: Archive, options: PackageOptions) -> None:
        self._archive = archive
        sheets = [name for name in archive.names if _SHEET.fullmatch(name)]
        if not sheets:
            raise not_a("an Excel workbook", archive, "xl/worksheets/sheet1.xml")
        self._shared_xml = self._xml(_STRINGS) if _STRINGS in archive.names else None
        self._shared = shared_texts(self._shared_xml) if self._shared_xml else []
        self._rewritten: dict[Span, str] = {}  # characters of the shared texts
        self._titles: Mapping[str, str] = {}
        if _WORKBOOK in archive.names and _RELATIONS in archive.names:
            self._titles = sheet_titles(self._xml(_WORKBOOK), self._xml(_RELATIONS))
        shown = [name for name in self._titles if name in sheets]
        self.members = (*shown, *(name for name in sheets if name not in shown))
        self._sheets = {member: self._xml(member) for member in self.members}
        cells = {member: cells_of(sheet) for member, sheet in self._sheets.items()}
        self._cells = self._chosen(cells, options.columns or (DEFAULT_COLUMN,))

    def part(self, member: str) -> SheetPart:
        """The text of a sheet."""
        cells = [(cell, self._pieces(cell)) for cell in self._cells[member]]
        title = self._titles.get(member, member)
        return SheetPart(self._sheets[member], f"{self._archive.path}/{title}", title, cells, self._rewritten.update)

    def common(self, changed: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The shared texts, if any of them has changed."""
        if self._shared_xml is None or not self._rewritten:
            return {}
        return {_STRINGS: rewritten(self._shared_xml, self._rewritten.items())}

    def _chosen(self, sheets: Mapping[str, Sequence[Cell]], columns: Sequence[str]) -> dict[str, list[Cell]]:
        """The cells of each sheet that are read: those in the columns, each text once and none that stands elsewhere too."""
        kept = frozenset(chain.from_iterable(table_columns(self._xml(name)) for name in self._archive.names if _TABLE.fullmatch(name)))
        wanted: dict[str, list[Cell]] = {}
        taken: set[int | None] = set()
        missing = dict.fromkeys(columns)
        for member, cells in sheets.items():
            header = [cell for cell in cells if cell.row == cells[0].row]
            numbers: set[int] = set()
            for column in columns:
                found = self._numbers(column, header)
                numbers.update(found)
                if found:
                    missing.pop(column, None)
            first = len(header) if any(self._text(cell).strip() in columns for cell in header) else 0
            wanted[member] = []
            for number, cell in enumerate(cells):
                if number >= first and cell.column in numbers and self._text(cell) not in kept:
                    wanted[member].append(cell)
                else:
                    taken.add(cell.shares)
        if missing:
            raise self._no_column(next(iter(missing)), sheets)
        chosen: dict[str, list[Cell]] = {member: [] for member in sheets}
        for member, cells in wanted.items():
            for cell in cells:
                if cell.shares is None or cell.shares not in taken:
                    chosen[member].append(cell)
                    taken.add(cell.shares)
        return chosen

    def _numbers(self, column: str, header: Sequence[Cell]) -> list[int]:
        """The columns called so in a sheet, or else the one of that letter or number; none in a sheet without text."""
        named = [cell.column for cell in header if self._text(cell).strip() == column]
        if named or not header:
            return named
        if re.fullmatch("[A-Z]{1,3}", column):
            return [column_number(column)]
        return [int(column)] if re.fullmatch("[1-9][0-9]{0,4}", column) else []

    def _no_column(self, column: str, sheets: Mapping[str, Sequence[Cell]]) -> ConfigError:
        cells = next(filter(None, sheets.values()), [])
        names = [self._text(cell).strip() for cell in cells if cell.row == cells[0].row]
        shown = ", ".join(map(repr, names[:NAMED_COLUMNS]))
        what = f"there is no column {column!r} in any sheet; choose one of {shown} or a letter such as B"
        return ConfigError(self._archive.path, "column", what)

    def _text(self, cell: Cell) -> str:
        return "".join(piece.text for piece in self._pieces(cell))

    def _pieces(self, cell: Cell) -> tuple[Piece, ...]:
        if cell.shares is None:
            return cell.pieces
        return self._shared[cell.shares] if cell.shares < len(self._shared) else ()

    def _xml(self, member: str) -> Document:
        return decoded(self._archive.read(member), f"{self._archive.path}/{member}")


class SheetPart:
    """The ``cells`` of a sheet that are read, with their texts, as ``document``: the line of a cell is its row.

    ``share`` takes the characters that change in shared texts.
    """

    def __init__(
        self, xml: Document, name: str, title: str, cells: Iterable[tuple[Cell, Sequence[Piece]]], share: Callable[[dict[Span, str]], None]
    ) -> None:
        self._xml, self._share = xml, share
        self._starts: list[int] = []  # of the pieces in the text
        self._found: list[tuple[Piece, bool]] = []  # the pieces, and whether they are shared
        parts: list[str] = []
        protected: list[Span] = []
        length, row = 0, 1
        for cell, pieces in cells:
            parts.append("\n" * (cell.row - row) or _APART * (length > 0))
            length, row = length + len(parts[-1]), cell.row
            for piece in pieces:
                self._starts.append(length)
                self._found.append((piece, cell.shares is not None))
                parts.append(piece.text.replace("\n", _APART))
                length += len(parts[-1])
                if not piece.width:
                    protected.append(Span(self._starts[-1], length))
        self.document = Document(name, "".join(parts), protected=merged(protected), part=title)

    def correct(self, corrector: DocumentCorrector, marked: Document) -> CorrectedDocument:
        """The corrections in ``document``, of which ``marked`` may protect more."""
        return corrector.correct_document(marked)

    def written(self, found: CorrectedDocument) -> bytes | None:
        """The member with corrections of its own texts made; those of shared ones are made where these are. None without any."""
        if not found.corrections:
            return None
        own: dict[Span, str] = {}
        shared: dict[Span, str] = {}
        for offset, new in changed_characters(found.corrections):
            number = bisect_right(self._starts, offset) - 1
            piece, is_shared = self._found[number]
            start = piece.start + (offset - self._starts[number] if piece.width == 1 else 0)
            (shared if is_shared else own)[Span(start, start + piece.width)] = new
        self._share(shared)
        return rewritten(self._xml, own.items())
