"""The open elements of HTML or XML, and which of them a tag of HTML ends: many need no end tag of their own.

The rules are those of the WHATWG standard for tags that may be left out (section 13.1.2.4) and for tags that do not match
(13.2.6), as far as it matters how the text after them is read. Every step is linear in the tags, whatever these are.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

Reading = Literal["prose", "context", "hidden"]
"""How the text of an element is read: as prose, as a part of the sentence that never changes, or not at all."""

BLOCKS = frozenset(
    {
        "address", "article", "aside", "base", "blockquote", "body", "br", "button", "caption", "center",
        "col", "colgroup", "datalist", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6",
        "head", "header", "hgroup", "hr", "html", "iframe", "input", "legend", "li", "main", "menu",
        "nav", "noframes", "noscript", "ol", "optgroup", "option", "p",
        "plaintext", "pre", "section", "select", "summary", "table", "tbody",
        "td", "template", "textarea", "tfoot", "th", "thead", "title", "tr", "ul", "video", "audio",
        "xmp",
    }
)  # fmt: skip
"""Elements at whose edges a reader's line ends (HTML standard, section 15.3, and controls with texts of their own)."""

_AFTER_P = (
    "address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div", "dl", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "main",
    "menu", "nav", "ol", "p", "plaintext", "pre", "search", "section", "summary", "table", "ul", "xmp",
)  # fmt: skip
_CELLS = ("td", "th", "caption", "colgroup")
_ROWS = (*_CELLS, "tr")
_ROW_GROUPS = (*_ROWS, "tbody", "thead", "tfoot")
_ENDED_BY = {
    **dict.fromkeys(_AFTER_P, ("p",)),
    "li": ("li", "p"),
    **dict.fromkeys(("dt", "dd"), ("dt", "dd", "p")),
    **dict.fromkeys(("td", "th"), _CELLS),
    "tr": _ROWS,
    **dict.fromkeys(("tbody", "thead", "tfoot", "caption", "colgroup"), _ROW_GROUPS),
    "option": ("option",),
    "optgroup": ("option", "optgroup"),
    "body": ("head",),
    "a": ("a",),
    "button": ("button",),
    **dict.fromkeys(("ruby", "rb", "rtc", "rt", "rp"), ("rt", "rp")),
}
"""The elements that a start tag ends."""

_APART = frozenset({"table", "td", "th", "caption", "template", "object", "svg", "math"})
_TABLE = frozenset({"table"})
_AROUND = {
    "p": _APART | {"button"},
    "li": _APART | {"ul", "ol", "menu", "dir"},
    **dict.fromkeys(("dt", "dd"), _APART | {"dl"}),
    **dict.fromkeys((*_ROW_GROUPS, "table"), _TABLE),
    **dict.fromkeys(("template", "object", "svg", "math"), frozenset[str]()),
}
"""The elements inside which no tag ends an element around them; for all that are not named, ``_APART``."""

_FORMATTING = frozenset(
    {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}
)
"""Elements that go on behind the end of the elements around them, up to an end tag of their own."""


class OpenElements:
    """The open elements from the outermost to the innermost; ``kept`` and ``hidden`` of them are not read as prose."""

    def __init__(self) -> None:
        self.kept = self.hidden = 0
        self._open: list[tuple[str, Reading]] = []
        self._places: defaultdict[str, list[int]] = defaultdict(list)  # where in ``_open`` those of each name are
        self._blocks: list[int] = []  # and where those of BLOCKS are

    def begin(self, name: str, reading: Reading) -> None:
        """An element begins inside the innermost."""
        if name in BLOCKS:
            self._blocks.append(len(self._open))
        self._places[name].append(len(self._open))
        self._open.append((name, reading))
        self._count(reading, 1)

    def make_way(self, name: str) -> None:
        """A start tag of HTML ends what an element of this name cannot be in."""
        for ended in _ENDED_BY.get(name, ()):
            self.end(ended)

    def end(self, name: str) -> None:
        """The innermost element of this name ends, with those in it that were never closed; nothing if there is none.

        An inline element ends alone where a block has begun in it.
        """
        place = self._last(name)
        if place < 0 or any(self._last(around) > place for around in _AROUND.get(name, _APART)):
            return
        if self._blocks and self._blocks[-1] > place and name not in BLOCKS:
            self._places[name].pop()
            self._count(self._open[place][1], -1)
            self._open[place] = ("", "prose")
            return
        going_on: dict[str, Reading] = {}  # one of each name, or the end of every element could begin all of them again
        while len(self._open) > place + 1:
            inner, reading = self._pop()
            if inner in _APART:
                going_on.clear()
            elif inner in _FORMATTING and reading != "prose":
                going_on[inner] = reading
        self._pop()
        if name not in _APART:
            for inner, reading in going_on.items():
                self.begin(inner, reading)

    def _pop(self) -> tuple[str, Reading]:
        name, reading = self._open.pop()
        if name:
            self._places[name].pop()
        if self._blocks and self._blocks[-1] == len(self._open):
            self._blocks.pop()
        self._count(reading, -1)
        return name, reading

    def _last(self, name: str) -> int:
        """Where the innermost open element of this name is; -1 without one."""
        places = self._places.get(name)
        return places[-1] if places else -1

    def _count(self, reading: Reading, number: int) -> None:
        self.kept += number if reading != "prose" else 0
        self.hidden += number if reading == "hidden" else 0
