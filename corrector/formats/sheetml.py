"""The parts of an Excel workbook: its sheets and their cells with text, the texts that cells share, and what sheets are called.

ECMA-376 part 1, chapter 18 has the elements.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

from corrector.formats.xml_parts import Piece, read_xml
from corrector.types import Document

_CELL = re.compile(r"([A-Z]{1,3})[0-9]{1,7}")
_MAX_ROW = 1_048_576  # Excel's own limit


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with text, row and column counted from 1: its own ``pieces``, or the number of the text that it ``shares``."""

    row: int
    column: int
    pieces: tuple[Piece, ...] = ()
    shares: int | None = None


def shared_texts(xml: Document) -> list[tuple[Piece, ...]]:
    """The texts that cells share, in their order; how they are pronounced is left out."""
    texts: list[tuple[Piece, ...]] = []
    pieces: list[Piece] = []
    open_: list[str] = []

    def start(element: str, _: dict[str, str]) -> None:
        open_.append(_local_name(element))

    def end(_: str) -> None:
        if open_.pop() == "si":
            texts.append(tuple(pieces))
            pieces.clear()

    def text(piece: Piece) -> None:
        if _is_shown(open_):
            pieces.append(piece)

    read_xml(xml, start, end, text)
    return texts


def cells_of(xml: Document) -> list[Cell]:
    """The cells with text of a sheet, in order."""
    cells: list[Cell] = []
    pieces: list[Piece] = []
    open_: list[str] = []
    kind, row, column = "", 0, 0

    def start(element: str, attributes: dict[str, str]) -> None:
        nonlocal kind, row, column
        name = _local_name(element)
        open_.append(name)
        if name == "row":
            given = attributes.get("r", "")
            row, column = int(given) if re.fullmatch("[0-9]{1,7}", given) and int(given) <= _MAX_ROW else row + 1, 0
        elif name == "c":
            place = _CELL.fullmatch(attributes.get("r", ""))
            column = column_number(place[1]) if place else column + 1
            kind = attributes.get("t", "")

    def end(_: str) -> None:
        if open_.pop() != "c":
            return
        number = "".join(piece.text for piece in pieces)
        if kind == "inlineStr" and pieces:
            cells.append(Cell(row, column, tuple(pieces)))
        elif kind == "s" and re.fullmatch("[0-9]{1,9}", number):
            cells.append(Cell(row, column, shares=int(number)))
        pieces.clear()

    def text(piece: Piece) -> None:
        if (kind == "s" and open_[-1] == "v") or (kind == "inlineStr" and _is_shown(open_)):
            pieces.append(piece)

    read_xml(xml, start, end, text)
    return cells


def sheet_titles(workbook: Document, relations: Document) -> dict[str, str]:
    """What the sheets are called, by member, in the order they are shown."""
    targets: dict[str, str] = {}
    titles: dict[str, str] = {}

    def relation(_: str, attributes: dict[str, str]) -> None:
        targets[attributes.get("Id", "")] = posixpath.normpath(posixpath.join("/xl", attributes.get("Target", "")))[1:]

    def title(element: str, attributes: dict[str, str]) -> None:
        number = next((value for name, value in attributes.items() if name.endswith("/relationships id")), "")
        if _local_name(element) == "sheet" and number in targets:
            titles[targets[number]] = attributes.get("name", "")

    read_xml(relations, relation)
    read_xml(workbook, title)
    return titles


def table_columns(table: Document) -> frozenset[str]:
    """The names of the columns of a table, which must be those in its first cells."""
    names: set[str] = set()

    def start(element: str, attributes: dict[str, str]) -> None:
        if _local_name(element) == "tableColumn":
            names.add(attributes.get("name", ""))

    read_xml(table, start)
    return frozenset(names)


def column_number(letters: str) -> int:
    """The number, from 1, of a column named by letters."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _is_shown(open_: Sequence[str]) -> bool:
    """Whether text in these elements is a cell's, and not how it is pronounced."""
    return open_[-1] == "t" and "rPh" not in open_[-2:]


def _local_name(element: str) -> str:
    return element.rpartition(" ")[2]
