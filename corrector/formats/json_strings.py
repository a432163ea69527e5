"""Where strings, all or those under a key, stand in a JSON text, and how their characters are written there.

The standard library reads every string, number and word; what is added here is the position of what it read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from json import JSONDecodeError, JSONDecoder

from corrector.errors import InputError
from corrector.formats.builder import PassageBuilder
from corrector.formats.passages import Passage
from corrector.text.decode import STDIN
from corrector.types import Document, Span

_Paths = tuple[str, ...] | None  # those that are wanted from some value on, or all

_SPACE = re.compile("[ \t\r\n]*")
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair that is one character above U+FFFF
    r"|\\u[0-9a-fA-F]{4}|\\."
)
_DECODER = JSONDecoder(parse_int=str, parse_float=str)  # as text: no number is too long


def strings_of(document: Document, paths: Sequence[str] | None) -> list[Span]:
    """The strings of ``string_spans`` in a document that is one JSON value; none in an empty one. Raises InputError, with the line."""
    text = document.text
    start = 1 if text.startswith("\ufeff") else 0
    if not text[start:].strip():
        return []
    try:
        return string_spans(text, start, len(text), paths)
    except JSONDecodeError as error:
        where = f"not valid JSON at column {error.colno} ({error.msg}); correct it first, or pass --input-format text"
        raise InputError(document.path or STDIN, where, error.lineno) from None


def string_spans(text: str, start: int, end: int, paths: Sequence[str] | None) -> list[Span]:
    """The string values at ``paths``, or all, in the one JSON value of ``text[start:end]``, quotes included; keys are no values.

    A path is a key or dotted keys. Lists on the way, and a list of strings at its end, are gone through item by item; what
    is missing or no string is left out. NaN and Infinity, which Python writes, are accepted. ``text`` must have a line end
    or nothing at ``end``. Linear, and nested as deep as it may be. Raises JSONDecodeError.
    """
    return list(_strings(text, start, end, paths if paths is None else tuple(paths)))


def string_passage(text: str, span: Span) -> Passage | None:
    """The passage of the string written at ``span``; None without Han. A replacement of an escape is an escape."""
    builder = PassageBuilder(text)
    for escaped, place in _pieces(text, span):
        if escaped is None:
            builder.verbatim(place.start, place.end)
        elif place:
            builder.written(escaped, place.start, place.end)
        else:
            builder.context(escaped)
    return builder.build(spelling(text, span))


def string_characters(text: str, span: Span) -> Iterator[tuple[str, Span]]:
    """The characters of the string written at ``span``, each with its place; an empty one where no other can be written there."""
    for escaped, place in _pieces(text, span):
        if escaped is None:
            yield from ((text[at], Span(at, at + 1)) for at in range(place.start, place.end))
        else:
            yield escaped, place


def spelling(text: str, span: Span) -> Callable[[str], str]:
    """How a character is escaped where the string at ``span`` has escapes: in its digits, small or capital."""
    escapes = _ESCAPE.finditer(text, span.start, span.end)
    return _spell_upper if any(map(_has_upper_digits, (escape[0] for escape in escapes))) else _spell_lower


def _pieces(text: str, span: Span) -> Iterator[tuple[str | None, Span]]:
    """What the string at ``span`` is made of: text as it stands (None), and what escapes stand for, with the place of those
    that another of equal length can replace."""
    at = span.start + 1
    for escape in _ESCAPE.finditer(text, at, span.end - 1):
        if at < escape.start():
            yield None, Span(at, escape.start())
        at = escape.end()
        char, _ = _DECODER.raw_decode(f'"{escape[0]}"')
        if _is_surrogate(char):
            yield "\ufffd", Span(at, at)
        else:
            yield char, Span(*escape.span()) if len(escape[0]) == len("\\u0000") else Span(at, at)
    if at < span.end - 1:
        yield None, Span(at, span.end - 1)


def _strings(text: str, at: int, end: int, wanted: _Paths) -> Iterator[Span]:
    """The values at ``wanted``, paths from the value at ``at`` on; the empty path is that value itself."""
    open_values: list[tuple[bool, _Paths]] = []  # of each container: is it an object, and the paths from it
    at = _skip_space(text, at, end)
    while True:
        opening = text[at : min(at + 1, end)]
        if opening in ("{", "["):
            at = _skip_space(text, at + 1, end)
            open_values.append((opening == "{", wanted))
            if not _closes(text, at, end, opening == "{"):
                at, wanted = _next_value(text, at, end, open_values[-1])
                continue
        else:
            value_start = at
            _, at = _DECODER.raw_decode(text, at)
            if opening == '"' and (wanted is None or "" in wanted):
                yield Span(value_start, at)
            at = _skip_space(text, at, end)
        while open_values and _closes(text, at, end, open_values[-1][0]):
            open_values.pop()
            at = _skip_space(text, at + 1, end)
        if not open_values:
            break
        if not text.startswith(",", at, end):
            raise JSONDecodeError("Expecting ',' delimiter", text, at)
        at, wanted = _next_value(text, _skip_space(text, at + 1, end), end, open_values[-1])
    if at < end:
        raise JSONDecodeError("Extra data", text, at)


def _next_value(text: str, at: int, end: int, container: tuple[bool, _Paths]) -> tuple[int, _Paths]:
    """Where the next value of an open container begins, its key read, and the paths that are wanted from there."""
    is_object, wanted = container
    if not is_object:
        return at, wanted
    if not text.startswith('"', at, end):
        raise JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
    key, at = _DECODER.raw_decode(text, at)
    at = _skip_space(text, at, end)
    if not text.startswith(":", at, end):
        raise JSONDecodeError("Expecting ':' delimiter", text, at)
    return _skip_space(text, at + 1, end), None if wanted is None else tuple(paths_below(key, wanted))


def paths_below(key: str, wanted: Sequence[str]) -> Iterator[str]:
    """The rest of each path that goes through ``key``, which may have dots itself."""
    for path in wanted:
        if path and path == key:
            yield ""
        elif path.startswith(f"{key}."):
            yield path[len(key) + 1 :]


def _closes(text: str, at: int, end: int, is_object: bool) -> bool:
    return text.startswith("}" if is_object else "]", at, end)


def _skip_space(text: str, at: int, end: int) -> int:
    match = _SPACE.match(text, at, end)
    return match.end() if match else at


def _is_surrogate(char: str) -> bool:
    """Whether ``char`` is half of a pair, by itself."""
    return "\ud800" <= char <= "\udfff"


def _has_upper_digits(escape: str) -> bool:
    return len(escape) == len("\\u0000") and any(digit in "ABCDEF" for digit in escape[2:])


def _spell_lower(char: str) -> str:
    return json.dumps(char)[1:-1]


def _spell_upper(char: str) -> str:
    return _spell_lower(char).upper().replace("\\U", "\\u")
