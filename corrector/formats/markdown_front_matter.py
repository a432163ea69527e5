"""Front matter of Markdown: what the programs that make pages of it read at its very start, and Slidev at the start of a slide."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

from corrector.formats.passages import Passage
from corrector.types import Span

PROSE = ("title", "subtitle", "description", "summary", "excerpt")
"""The keys at the top of front matter whose strings are shown to readers of the page."""

_EOL = r"(?:\r\n|\r(?!\n)|\n)"  # one way to read each, or a block that is never closed takes exponential time
_TOML = re.compile(rf"\+\+\+[ \t]*{_EOL}(?:(?!\+\+\+)[^\r\n]*{_EOL})*\+\+\+[ \t]*(?=\r|\n|\Z)")
_YAML_END = r"(?:\1-*|\.\.\.)[ \t]*(?=\r|\n|\Z)"  # at the very start of a line: indented it may be part of a value
_YAML = re.compile(rf"(-{{3,}})[ \t]*{_EOL}(?P<yaml>(?:(?!{_YAML_END})[^\r\n]*{_EOL})*){_YAML_END}")
# Hexo's need not begin with a line of hyphens; without a name that it knows, it would be a heading that is underlined.
_HEXO_NAMES = "title|date|updated|layout|author|tags|categories|keywords|description|excerpt|comments|permalink|cover|top|abbrlink"
_HEXO_LINE = rf"(?:[a-zA-Z_][a-zA-Z0-9_-]*:|[ \t]+\S|-[ \t])[^\r\n]*{_EOL}"
_HEXO = re.compile(rf"(?=(?:{_HEXO_NAMES}):)(?P<yaml>(?:{_HEXO_LINE})+)-{{3,}}[ \t]*(?=\r|\n|\Z)")
_JSON_START = re.compile(rf"\{{[ \t]*{_EOL}")
_JSON_END = re.compile(r"(?<=[\r\n])\}[ \t]*(?=\r|\n|\Z)")

_KEY = rf"[ \t]*[a-z][a-zA-Z0-9_-]*:(?:[ \t][^\r\n]*)?{_EOL}"  # prose would have a capital, or a colon of full width
_SLIDE = re.compile(rf"(?<=[\r\n])---[ \t]*{_EOL}{_KEY}(?:{_KEY}|[ \t]*{_EOL})*---[ \t]*(?=\r|\n|\Z)")


def front_matter_end(source: str) -> int:
    """Where the text begins: after front matter in YAML, TOML or JSON, or in Hexo's form, and after a byte-order mark."""
    found = _at_start(source, _TOML, _YAML, _HEXO)
    return found.end() if found else _json_end(source, _begin(source))


def front_matter_passages(source: str) -> Iterator[Passage]:
    """What of the front matter in YAML is prose: the values of ``PROSE``; nothing where it is no YAML."""
    found = _at_start(source, _YAML, _HEXO)
    if found:
        from yaml import YAMLError

        from corrector.formats.yaml_scalars import value_passages

        with suppress(YAMLError):  # a template, perhaps, that is filled in before it is read
            yield from list(value_passages(source, Span(*found.span("yaml")), PROSE))  # all or nothing


def slides_front_matter(source: str) -> Iterator[Span]:
    """The front matter of slides but for the first, in a text that begins with YAML: keys right after a line ``---``, up to the next.

    Of thematic breaks, which are written alike, a blank line or prose follows the first.
    """
    first = _at_start(source, _YAML)
    if first:
        yield from (Span(*found.span()) for found in _SLIDE.finditer(source, first.end()))


def _begin(source: str) -> int:
    """Where a text begins, after a byte-order mark."""
    return 1 if source.startswith("\ufeff") else 0


def _at_start(source: str, *kinds: re.Pattern[str]) -> re.Match[str] | None:
    """The front matter that a text begins with, if it is of one of these kinds."""
    begin = _begin(source)
    return next(filter(None, (kind.match(source, begin) for kind in kinds)), None)


def _json_end(source: str, begin: int) -> int:
    """The end of a JSON object between lines of a brace each, as Hugo reads it; ``begin`` if there is none."""
    if not _JSON_START.match(source, begin):
        return begin
    try:
        _, end = json.JSONDecoder().raw_decode(source, begin)
    except (ValueError, RecursionError):
        return begin
    closing = _JSON_END.match(source, end - 1)
    return closing.end() if closing else begin
