"""Headings, tables aligned by display width, and colours, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from corrector.render.columns import pad, width

Row = Sequence[str]


class View:
    """Headings, tables and colours."""

    def __init__(self, color: bool) -> None:
        self.color = color

    def title(self, text: str) -> str:
        return f"\n{self.styled(text, bold=True)}\n"

    def styled(self, text: str, **style: Any) -> str:
        return click.style(text, **style) if self.color else text

    def table(self, head: Row, rows: Sequence[Row], right: str) -> str:
        """Columns two spaces apart; ``right`` has an ``r`` for each column that is flush right, else an ``l``."""
        widths = [max(map(width, column)) for column in zip(head, *rows, strict=True)]
        lines = []
        for number, row in enumerate((head, *rows)):
            cells = [pad(cell, w, side == "r") for cell, w, side in zip(row, widths, right, strict=True)]
            line = "  ".join(cells).rstrip()
            lines.append(f"  {self.styled(line, dim=True) if number == 0 else line}\n")
        return "".join(lines)
