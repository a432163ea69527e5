"""Jupyter notebooks: their Markdown cells, as Markdown; code, outputs and everything else of the JSON stay.

The format of notebooks, nbformat 4, has the text of a cell as one string or as a list of its lines.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from corrector.errors import InputError
from corrector.formats.json_strings import spelling, string_characters, strings_of
from corrector.formats.markdown import Markdown
from corrector.formats.passages import Passage
from corrector.text.decode import STDIN
from corrector.types import Document, Span


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook. ``passages`` raises InputError, with the line, for what is not JSON, and for JSON that is no notebook."""

    name: str = "ipynb"
    streams: bool = False

    def passages(self, document: Document) -> Iterator[Passage]:
        strings = strings_of(document, ["cells.source"])
        text = document.text.removeprefix("\ufeff")
        if not text.strip():
            return
        try:
            cells = _cells(json.loads(text))
        except RecursionError:
            cells = None
        if cells is None or sum(count for _, count in cells) != len(strings):
            raise InputError(document.path or STDIN, "JSON, but no Jupyter notebook; pass --input-format json")
        at = 0
        for is_markdown, count in cells:
            if is_markdown and count:
                yield from _cell_passages(document, strings[at : at + count])
            at += count


def format_named(name: str, column: str | Sequence[str] | None) -> Notebook:
    """``ipynb``, which has no columns."""
    return Notebook()


def _cells(notebook: Any) -> list[tuple[bool, int]] | None:
    """Of each cell whether it is Markdown and how many strings its text is; None for what is no notebook."""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        return None
    found: list[tuple[bool, int]] = []
    for cell in cells:
        source = cell.get("source") if isinstance(cell, dict) else None
        count = sum(isinstance(line, str) for line in source) if isinstance(source, list) else int(isinstance(source, str))
        found.append((isinstance(cell, dict) and cell.get("cell_type") == "markdown", count))
    return found


def _cell_passages(document: Document, strings: Sequence[Span]) -> Iterator[Passage]:
    """The passages of one cell, with their places in the notebook."""
    characters = [character for string in strings for character in string_characters(document.text, string)]
    source = "".join(char for char, _ in characters)
    places = [place for _, place in characters]
    for passage in Markdown().passages(Document(document.path, source)):
        inner = passage.places
        spans = [Span(at, at + 1) for at in range(inner, inner + len(passage.text))] if isinstance(inner, int) else inner
        outer = [places[span.start] if len(span) == 1 else Span(0, 0) for span in spans]
        yield dataclasses.replace(passage, places=outer, spell=spelling(document.text, Span(strings[0].start, strings[-1].end)))
