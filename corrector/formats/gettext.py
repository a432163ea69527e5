r"""Translations in PO files of GNU gettext: what ``msgstr`` holds is prose, over all its lines; everything else stays.

Escapes, what programs fill in (``%(name)s``, ``{name}``) and tags are read in their sentence and never change. The manual of gettext,
"The Format of PO Files", says how entries look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corrector.formats.builder import PassageBuilder
from corrector.formats.languages import is_not_chinese
from corrector.formats.lines import lines
from corrector.formats.passages import Passage
from corrector.types import Document

_LINE = re.compile(r'[ \t]*(?P<keyword>msg[a-z]+(?:\[\d+\])?)?[ \t]*"(?P<text>(?:[^"\\]|\\.)*)"[ \t]*$')
_KEPT = re.compile(r"\\(?P<escape>[0-7]{1,3}|x[0-9A-Fa-f]+|.)|%\([^()]*\)|%?\{[^{}]*\}|<[^<>]*>")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_LANGUAGE = re.compile(r"Language: *([\w-]+)")


@dataclass(frozen=True, slots=True)
class Po:
    """Translations into Chinese; those into Japanese or Korean have no passages. No input is an error."""

    name: str = "po"
    streams: bool = False

    def passages(self, document: Document) -> Iterator[Passage]:
        text = document.text
        builder = PassageBuilder(text)
        keyword = ""
        entries, is_header = 0, False  # the first entry, if it has an empty msgid, says what the file is
        for start, end in lines(text):
            line = _LINE.match(text, start, end)
            if line is None or line["keyword"]:
                yield from builder.passages()
                keyword = line["keyword"] if line else ""
                entries += keyword == "msgid"
                is_header = entries == 1 and (is_header or keyword == "msgid")
            if line and keyword == "msgid" and line["text"]:
                is_header = False
            elif line and keyword.startswith("msgstr") and not is_header:
                _add(builder, text, *line.span("text"))
            elif line and (language := _LANGUAGE.match(line["text"])) and is_not_chinese(language[1].replace("_", "-")):
                return
        yield from builder.passages()


def format_named(name: str, column: str | Sequence[str] | None) -> Po:
    """``po``, which has no columns."""
    return Po()


def _add(builder: PassageBuilder, text: str, start: int, end: int) -> None:
    """A string between its quotes; what programs fill in stays, and markup in it."""
    for kept in _KEPT.finditer(text, start, end):
        builder.verbatim(start, kept.start())
        start = kept.end()
        if kept["escape"]:
            builder.context(_ESCAPES.get(kept["escape"], "\ufffd"))
        else:
            builder.verbatim(*kept.span(), frozen=True)
    builder.verbatim(start, end)
