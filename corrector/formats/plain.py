"""Plain text: all of it is prose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corrector.formats.passages import Passage
from corrector.types import Document


@dataclass(frozen=True, slots=True)
class PlainText:
    """The whole document is one passage."""

    name: str = "text"
    streams: bool = True

    def passages(self, document: Document) -> Iterator[Passage]:
        yield Passage(document.text, 0, plain=True)


def format_named(name: str, column: str | Sequence[str] | None) -> PlainText:
    """The one format of this module; it has no columns."""
    return PlainText(name)
