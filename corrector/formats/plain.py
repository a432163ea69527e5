"""Plain text: all of it is prose. Lines are read by themselves, but for paragraphs of files that were wrapped at one width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corrector.formats.passages import Passage
from corrector.types import Document


@dataclass(frozen=True, slots=True)
class PlainText:
    """Everything is in some passage: the whole document is one, but for wrapped paragraphs.

    Standard input comes in blocks of any length, and what is found must not depend on them: there every line is by itself.
    """

    name: str = "text"
    streams: bool = True

    def passages(self, document: Document) -> Iterator[Passage]:
        """The passages, in order."""
        if document.path is None:
            yield Passage(document.text, 0, plain=True)
        else:
            from corrector.formats.wrapped import unwrapped_passages

            yield from unwrapped_passages(document.text)


def format_named(name: str, column: str | Sequence[str] | None) -> PlainText:
    """The one format of this module; it has no columns."""
    return PlainText(name)
