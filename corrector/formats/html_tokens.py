"""HTML to tags, text and character references with their offsets, where a browser would see them.

This follows the tokenization of the WHATWG standard (section 13.2.5), as far as it matters where prose begins and ends.
``html.parser`` of the standard library is not used, because up to Python 3.13 it takes quadratic time over unclosed tags
and raises AssertionError for some malformed declarations. No input is an error, and every step moves forward: linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Literal

_NAME = re.compile(r"[A-Za-z][^\t\n\f\r />]*")
_SPACE = re.compile(r"[\t\n\f\r ]*")
_SPACE_OR_SLASH = re.compile(r"[\t\n\f\r /]*")
_ATTRIBUTE = re.compile(r"[^\t\n\f\r />][^\t\n\f\r />=]*")
_UNQUOTED = re.compile(r"[^\t\n\f\r >]+")
# Bounded: the longest name has 31 characters, and more than seven digits stand for no character.
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}(?![0-9]);?|#[xX][0-9a-fA-F]{1,6}(?![0-9a-fA-F]);?|[A-Za-z][A-Za-z0-9]{0,31};?)")
_SCRIPT = re.compile(r"<!--|-->|<(/?)script(?=[\t\n\f\r />])", re.IGNORECASE)

_RAW = frozenset({"script", "style", "xmp", "iframe", "noembed", "noframes"})  # text without references, never prose
_REFERENCES_ONLY = frozenset({"title", "textarea"})  # text with references, without tags
_FOREIGN = frozenset({"svg", "math"})


@dataclass(frozen=True, slots=True)
class Tag:
    """A start or an end tag; ``name`` and the names of ``attributes`` are in lower case."""

    start: int
    end: int
    kind: Literal["start", "end"]
    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    self_closing: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """Characters from ``start`` to ``end`` that a reader sees as they are written, or, for a reference, as ``shown``."""

    start: int
    end: int
    shown: str | None = None


def html_tokens(source: str, start: int = 0, end: int | None = None) -> Iterator[Tag | Text]:
    """The tags and the text of ``source[start:end]`` in order.

    Comments, declarations, processing instructions and the contents of scripts, styles and the like are left out, and
    so is everything from a construct on that is never closed.
    """
    return _Tokenizer(source, len(source) if end is None else end).tokens(start)


class _Tokenizer:
    def __init__(self, source: str, end: int) -> None:
        self._source, self._end = source, end
        self._foreign = 0  # open <svg> and <math>
        self._last: dict[str, int] = {}  # where a needle occurs for the last time

    def tokens(self, at: int) -> Iterator[Tag | Text]:
        while at < self._end:
            opening = self._markup_after(at)
            yield from self._text(at, opening)
            if opening == self._end:
                return
            if (end := self._template_end(opening)) is not None:
                yield Text(opening, end, self._source[opening:end])
                at = end
                continue
            if self._source[opening + 1] in "!?" or not _NAME.match(self._source, self._after_slash(opening), self._end):
                at = self._end_of_other(opening)
                continue
            tag = self._tag(opening)
            if tag is None:
                return
            yield tag
            at = tag.end
            self._count_foreign(tag)
            if tag.kind == "start" and not self._foreign:
                content_end = self._content_end(tag)
                if tag.name in _REFERENCES_ONLY and content_end < self._end:
                    yield from self._text(at, content_end)
                at = content_end

    def _after_slash(self, opening: int) -> int:
        return opening + 2 if self._source.startswith("/", opening + 1) else opening + 1

    def _markup_after(self, at: int) -> int:
        """Where the next tag, comment, declaration or code begins; the end if there is none. Any other ``<`` is text."""
        while (at := self._source.find("<", at, self._end)) >= 0 and at + 1 < self._end:
            following = self._source[at + 1]
            if following in "!?/" or (following.isascii() and following.isalpha()) or self._template_end(at) is not None:
                return at
            at += 1
        return self._end

    def _template_end(self, opening: int) -> int | None:
        """Where code of a template, as ERB, EJS or JSP have it, ends: text to a browser, but no prose. None if it is none."""
        return self._after("%>", opening) if self._source.startswith("<%", opening) else None

    def _text(self, start: int, end: int) -> Iterator[Text]:
        for match in _REFERENCE.finditer(self._source, start, end):
            shown = unescape(match[0])
            if shown != match[0]:
                if start < match.start():
                    yield Text(start, match.start())
                yield Text(match.start(), match.end(), shown)
                start = match.end()
        if start < end:
            yield Text(start, end)

    def _tag(self, opening: int) -> Tag | None:
        """The tag that begins at ``opening``; None if it is never closed."""
        source, end = self._source, self._end
        at = self._after_slash(opening)
        name = _NAME.match(source, at, end)
        attributes: dict[str, str] = {}
        at = name.end() if name else at
        while True:
            at = _matched(_SPACE_OR_SLASH, source, at, end)
            if at >= end:
                return None
            if source[at] == ">":
                kind: Literal["start", "end"] = "end" if source[opening + 1] == "/" else "start"
                called = name[0].lower() if name else ""
                return Tag(opening, at + 1, kind, called, attributes, source[at - 1] == "/")
            attribute_end = _matched(_ATTRIBUTE, source, at, end)
            attribute = source[at:attribute_end].lower()
            value, at = self._value(attribute_end)
            attributes.setdefault(attribute, value)

    def _value(self, at: int) -> tuple[str, int]:
        """The value after an attribute's name that ends at ``at``, and where it ends; empty without a value."""
        source, end = self._source, self._end
        equals = _matched(_SPACE, source, at, end)
        if not source.startswith("=", equals, end):
            return "", at
        at = _matched(_SPACE, source, equals + 1, end)
        if at < end and source[at] in "\"'":
            closing = source.find(source[at], at + 1, end)
            return ("", end) if closing < 0 else (source[at + 1 : closing], closing + 1)
        value_end = _matched(_UNQUOTED, source, at, end)
        return source[at:value_end], value_end

    def _end_of_other(self, opening: int) -> int:
        """Where a comment, a declaration, a processing instruction or an end tag without a name ends."""
        source = self._source
        if source.startswith("<!--", opening):
            for empty in ("<!-->", "<!--->"):
                if source.startswith(empty, opening):
                    return opening + len(empty)
            ends = (self._after("-->", opening + 4), self._after("--!>", opening + 4))
            return min((end for end in ends if end is not None), default=self._end)
        # Browsers end the following at the first ">", their authors meant more: what lies between is left alone too.
        for begin, closing in (("<![CDATA[", "]]>"), ("<?", "?>")):
            if source.startswith(begin, opening) and (end := self._after(closing, opening)) is not None:
                return end
        end = self._after(">", opening)
        return self._end if end is None else end

    def _after(self, needle: str, at: int) -> int | None:
        """Where the next ``needle`` from ``at`` on ends. What is not there is searched for only once."""
        if needle not in self._last:
            self._last[needle] = self._source.rfind(needle, 0, self._end)
        if self._last[needle] < at:
            return None
        return self._source.index(needle, at) + len(needle)

    def _count_foreign(self, tag: Tag) -> None:
        if tag.name in _FOREIGN:
            if tag.kind == "end":
                self._foreign = max(0, self._foreign - 1)
            elif not tag.self_closing:
                self._foreign += 1

    def _content_end(self, tag: Tag) -> int:
        """Where the content of an element ends that has no tags inside; for others, where it begins."""
        if tag.name == "plaintext":
            return self._end
        if tag.name == "script":
            return self._script_end(tag.end)
        if tag.name in _RAW or tag.name in _REFERENCES_ONLY:
            closing = re.compile(rf"</{tag.name}(?=[\t\n\f\r />])", re.IGNORECASE).search(self._source, tag.end, self._end)
            return closing.start() if closing else self._end
        return tag.end

    def _script_end(self, at: int) -> int:
        """Where a script ends; a ``</script>`` for a ``<script>`` within ``<!-- -->`` does not end it."""
        commented = nested = False
        for match in _SCRIPT.finditer(self._source, at, self._end):
            if match[0] in ("<!--", "-->"):
                commented, nested = match[0] == "<!--", False
            elif not match[1]:
                nested = commented
            elif nested:
                nested = False
            else:
                return match.start()
        return self._end


def _matched(pattern: re.Pattern[str], source: str, at: int, end: int) -> int:
    """Where the match of ``pattern`` at ``at`` ends; ``at`` itself without a match."""
    match = pattern.match(source, at, end)
    return match.end() if match else at
