"""YAML: messages of programs, descriptions, settings. Values are prose, or with columns those at them; never a key.

PyYAML tells where each scalar stands and how it is written; what is added here is what a reader sees of it, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from corrector.errors import InputError
from corrector.formats.builder import PassageBuilder
from corrector.formats.json_strings import paths_below
from corrector.formats.passages import Passage
from corrector.text.decode import STDIN
from corrector.types import Document, Span

_Paths = tuple[str, ...] | None  # those that are wanted from some value on, or all

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # seventeen times as fast, where PyYAML was built with it
_PLAIN, _SINGLE, _DOUBLE, _FOLDED = None, "'", '"', ">"
_ESCAPES = {
    _SINGLE: re.compile("''"),
    _DOUBLE: re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|(?:\r\n|[\r\n\x85\u2028\u2029])[ \t]*|[\s\S])"),
}
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "/": "/", "\\": "\\", " ": " "}
_STRING = "tag:yaml.org,2002:str"
_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")  # of YAML 1.1
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")  # anchor and tag, which stand before a node


@dataclass(frozen=True, slots=True)
class Yaml:
    """A stream of YAML documents, of which every string is prose, or with ``columns`` those at them, as in JSON; keys and comments are not.

    What is escaped stays, and so do the characters of a value with a tag of its own (``!include``). ``passages`` raises InputError, with
    the line, for what is not YAML.
    """

    name: str
    columns: tuple[str, ...]
    streams: bool = False

    def passages(self, document: Document) -> Iterator[Passage]:
        text = document.text
        begin = 1 if text.startswith("\ufeff") else 0  # which one of PyYAML's parsers counts, and the other does not
        try:
            yield from value_passages(text, Span(begin, len(text)), self.columns or None)
        except yaml.YAMLError as error:
            raise _no_yaml(error, document.path or STDIN) from None


def format_named(name: str, column: str | Sequence[str] | None) -> Yaml:
    """The format called ``yaml``, of which everything or only some columns are prose."""
    return Yaml(name, (column,) if isinstance(column, str) else tuple(column or ()))


def value_passages(text: str, within: Span, paths: tuple[str, ...] | None) -> Iterator[Passage]:
    """The passages of the strings at ``paths``, or all, in what of a text is YAML; keys are no values. Raises yaml.YAMLError."""
    for start, end, style in _scalars(yaml.parse(text[within.start : within.end], Loader=_LOADER), paths):
        properties = _PROPERTIES.match(text, within.start + start, within.start + end)
        begin = properties.end() if properties else within.start + start
        if passage := _passage(text, Span(begin, within.start + end), style):
            yield passage


def _no_yaml(error: yaml.YAMLError, path: str) -> InputError:
    mark = getattr(error, "problem_mark", None)
    where = f" at column {mark.column + 1}" if mark else ""
    reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
    message = f"not valid YAML{where} ({reason}); correct it first, or pass --input-format text"
    return InputError(path, message, mark.line + 1 if mark else None)


def _scalars(events: Iterator[Any], paths: _Paths) -> Iterator[tuple[int, int, str | None]]:
    """Start, end and style of the scalars at ``paths`` that are no keys."""
    open_nodes: list[_Collection] = [_Collection(False, paths)]
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            open_nodes.pop()
        elif isinstance(event, yaml.NodeEvent):
            is_key, wanted = open_nodes[-1].next(event.value if isinstance(event, yaml.ScalarEvent) else None)
            if isinstance(event, yaml.CollectionStartEvent):
                open_nodes.append(_Collection(isinstance(event, yaml.MappingStartEvent) and not is_key, wanted))
            elif isinstance(event, yaml.ScalarEvent) and not is_key and event.tag in (None, _STRING) and (wanted is None or "" in wanted):
                yield event.start_mark.index, event.end_mark.index, event.style or _PLAIN


class _Collection:
    """A collection whose nodes come one after another: of a mapping keys and values in turn."""

    def __init__(self, is_mapping: bool, wanted: _Paths) -> None:
        self._is_mapping, self._wanted = is_mapping, wanted
        self._key_is_read = False
        self._below: _Paths = ()  # the paths that are wanted below the key

    def next(self, scalar: str | None) -> tuple[bool, _Paths]:
        """Whether the next node, which may be a ``scalar``, is a key, and the paths that are wanted from it on."""
        if not self._is_mapping:
            return False, self._wanted
        self._key_is_read = not self._key_is_read
        if self._key_is_read:
            self._below = None if self._wanted is None else tuple(paths_below(scalar or "", self._wanted))
            return True, ()
        return False, self._below


def _passage(text: str, span: Span, style: str | None) -> Passage | None:
    """What a reader sees of a scalar; None without Han. Where a line ends in all but literal ones, the text goes on."""
    builder = PassageBuilder(text)
    if style in (_PLAIN, _SINGLE, _DOUBLE):
        quotes = 0 if style is _PLAIN else 1
        _flow(builder, text, Span(span.start + quotes, span.end - quotes), style)
    else:
        _block(builder, text, span, style == _FOLDED)
    return builder.build()


def _flow(builder: PassageBuilder, text: str, span: Span, style: str | None) -> None:
    """A plain or quoted scalar, the quotes left out."""
    at = span.start
    escapes = _ESCAPES[style].finditer(text, span.start, span.end) if style is not None else iter(())
    for escape in escapes:
        _folded(builder, text, at, escape.start())
        at = escape.end()
        if not _LINE_END.match(escape[0], 1):  # else the line goes on in the next
            builder.context(_meant(escape[0]))
    _folded(builder, text, at, span.end)


def _meant(escape: str) -> str:
    """The character that an escape stands for."""
    if escape[1] in "xuU" and len(escape) > len("\\x"):
        code = int(escape[2:], 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return "'" if escape == "''" else _ESCAPED.get(escape[1], "\ufffd")


def _folded(builder: PassageBuilder, text: str, start: int, end: int) -> None:
    """Lines that are one, but where others between them are empty."""
    empty = 0
    for number, (first, last) in enumerate(_lines(text, start, end)):
        if number and last < end and not text[first:last].strip(" \t"):
            empty += 1
            continue
        if number and empty:
            builder.context("\n" * empty)
        elif number:
            builder.gap()
        empty = 0
        builder.verbatim(first + (_indent(text[first:last]) if number else 0), last)


def _block(builder: PassageBuilder, text: str, span: Span, folded: bool) -> None:
    """A literal or folded scalar, of which the first line is its indicator."""
    _, *content = _lines(text, span.start, span.end)
    indent = min((_indent(text[first:last]) for first, last in content if text[first:last].strip()), default=0)
    before_is_text = False
    for first, last in content:
        start = min(first + indent, last)
        is_text = start < last and not text[start].isspace()  # lines that are further in are not folded
        if folded and is_text and before_is_text:
            builder.gap()
        elif first != content[0][0]:
            builder.context("\n")
        builder.verbatim(start, last)
        before_is_text = is_text


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Start and end of each line of a part of a text, without its line end; after one there is another line, if only an empty one."""
    for line_end in _LINE_END.finditer(text, start, end):
        yield start, line_end.start()
        start = line_end.end()
    yield start, end
