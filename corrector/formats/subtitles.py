"""Subtitles: SubRip, WebVTT and (Advanced) SubStation Alpha. Only what is shown on the screen is a passage.

The lines of one cue are one passage, because a sentence is often broken over two. Everything else — numbers, timings,
settings, notes, styles, headers, tags, voices, override blocks, drawings, comments — belongs to no passage, and neither
does a cue whose timing cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape

from corrector.formats.builder import PassageBuilder
from corrector.formats.languages import is_not_chinese
from corrector.formats.lines import lines
from corrector.formats.passages import Passage
from corrector.types import Document, Span

_TIME = r"(?:\d{1,4}:)?\d{1,2}:\d{1,2}[.,:]\d{1,4}"  # wider than the standards: 1:2:3.4 is seen in the wild
_TIMING = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}(?:[ \t].*)?", re.ASCII)
_NO_CUE = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t].*)?")  # WebVTT 1, sections 4.1 and 6.1
_SPEAKER_MARKS = frozenset("-‐‑–—－•")  # a line that begins so is somebody else's


class _Reading:
    """How the text behind the tags of a cue so far is read: not at all if ``hidden``, as mere context if ``kept``."""

    hidden = kept = False

    def tag(self, tag: str) -> None:
        """One more tag."""


class _VttReading(_Reading):
    """Ruby text (``<rt>``) is how a word is pronounced, not part of the sentence; ``<lang ja>`` is in another language."""

    def __init__(self) -> None:
        self._languages: list[bool] = []  # of the open <lang>, whether each is not Chinese

    def tag(self, tag: str) -> None:
        name, *annotation = tag[1:-1].split(None, 1) or [""]
        name = name.partition(".")[0]  # classes
        if name in ("rt", "/rt", "/ruby"):
            self.hidden = name == "rt"
        elif name == "lang":
            self._languages.append(is_not_chinese("".join(annotation)))
        elif name == "/lang" and self._languages:
            self._languages.pop()
        self.kept = bool(self._languages) and self._languages[-1]


class _AssReading(_Reading):
    r"""After ``{\p1}`` come drawing commands, until ``{\p0}``."""

    def tag(self, tag: str) -> None:
        if scales := re.findall(r"\\p(\d+)", tag, re.ASCII):
            self.hidden = bool(scales[-1].strip("0"))


@dataclass(frozen=True)
class _Markup:
    """The markup inside a cue: its tokens by group name, and how the text after a tag is read.

    Groups: ``tag`` is left out, ``line_break`` joins lines, ``entity`` is one character written as several.
    """

    tokens: re.Pattern[str]
    reading: type[_Reading] = _Reading


_ESCAPED = {"\\h": " ", "\\{": "{", "\\}": "}"}  # of SubStation
_BREAK = r"(?P<line_break>\r\n|\r|\n)"
_SRT = _Markup(re.compile(_BREAK + r"|(?P<tag></?[A-Za-z][^<>\r\n]*>|\{[\\/]?[A-Za-z][^{}\r\n]*\})"))
_ENTITY = r"(?P<entity>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
_VTT = _Markup(
    re.compile(_BREAK + r"|(?P<tag><[^<>]*>)|" + _ENTITY),
    _VttReading,
)
_ASS = _Markup(
    re.compile(r"(?P<line_break>\\[Nn])|(?P<entity>\\[h{}])|(?P<tag>\{[^}]*\}?)"),
    _AssReading,
)


@dataclass(frozen=True, slots=True)
class Subtitles:
    """Finds the spans of the cues, and in each the text between its markup."""

    name: str
    cues: Callable[[str], Iterator[Span]]
    markup: _Markup
    streams: bool = False  # a cue may go on in the next block

    def passages(self, document: Document) -> Iterator[Passage]:
        for cue in self.cues(document.text):
            if passage := _passage(document.text, cue, self.markup):
                yield passage


def format_named(name: str, column: object) -> Subtitles:
    """The format called ``srt``, ``vtt`` or ``ass`` (which is SSA too); none has columns."""
    if name == "srt":
        return Subtitles(name, lambda text: _cues(text, None), _SRT)
    if name == "vtt":
        return Subtitles(name, lambda text: _cues(text, _NO_CUE), _VTT)
    return Subtitles(name, _dialogues, _ASS)


def _cues(text: str, no_cue: re.Pattern[str] | None) -> Iterator[Span]:
    """The text of each cue: the lines after a timing, up to a blank line or the next timing."""
    skipped = inside = False
    begins_block = True
    start = end = -1
    for start_of_line, end_of_line in lines(text):
        blank = not text[start_of_line:end_of_line].strip()
        timing = not (blank or skipped) and _TIMING.fullmatch(text, start_of_line, end_of_line) is not None
        if (blank or timing) and start >= 0:
            yield Span(start, end)
            start = -1
        if blank:
            skipped = inside = False
        elif begins_block and no_cue is not None and no_cue.fullmatch(text, start_of_line, end_of_line):
            skipped = True
        elif timing:
            inside = True
        elif inside:
            start = start_of_line if start < 0 else start
            end = end_of_line
        begins_block = blank
    if start >= 0:
        yield Span(start, end)


def _dialogues(text: str) -> Iterator[Span]:
    """The Text field of each Dialogue line; none where the Format line does not have Text last."""
    in_events = False
    prefix: re.Pattern[str] | None = _dialogue_prefix(10)  # without a Format line: SSA v4 and ASS have ten fields
    for start, end in lines(text):
        line = text[start:end].strip()
        if line.startswith("[") and line.endswith("]"):
            in_events = line.lower() == "[events]"
        elif in_events and line.lower().startswith("format:"):
            fields = [field.strip().lower() for field in line[len("format:") :].split(",")]
            prefix = _dialogue_prefix(len(fields)) if fields[-1] == "text" and len(fields) <= 100 else None
        elif in_events and prefix is not None and (match := prefix.match(text, start, end)):
            yield Span(match.end(), end)


def _dialogue_prefix(fields: int) -> re.Pattern[str]:
    """What comes before the last of so many fields of a Dialogue line."""
    return re.compile(rf"[ \t]*Dialogue[ \t]*:(?:[^,]*,){{{fields - 1}}}", re.IGNORECASE)


def _passage(text: str, cue: Span, markup: _Markup) -> Passage | None:
    """The passage of a cue; None when it has nothing to correct."""
    reader, reading = _CueReader(text), markup.reading()
    at = cue.start
    for token in markup.tokens.finditer(text, cue.start, cue.end):
        if not reading.hidden:
            reader.read(at, token.start(), reading.kept)
        at, kind = token.end(), token.lastgroup
        if kind == "tag":
            reading.tag(token[0])
        elif kind == "line_break" and not reading.hidden:
            reader.break_line()
        elif not reading.hidden:
            reader.builder.context(_ESCAPED.get(token[0]) or unescape(token[0]))
    if not reading.hidden:
        reader.read(at, cue.end, reading.kept)
    return reader.builder.build()


class _CueReader:
    """Puts the pieces of a cue together: its lines are one text, but for those that somebody else says."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._begins_line = False
        self.builder = PassageBuilder(text)

    def break_line(self) -> None:
        self._begins_line = True
        self.builder.gap()

    def read(self, start: int, end: int, kept: bool) -> None:
        """``text[start:end]`` is shown as it stands; what is ``kept`` never changes."""
        if start < end:
            if self._begins_line and self._text[start] in _SPEAKER_MARKS:
                self.builder.context("\n")
            self._begins_line = False
            self.builder.verbatim(start, end, kept)
