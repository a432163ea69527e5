"""Source code: comments and docstrings are prose. Strings, names and everything else stay: programs depend on them.

Pygments tells them apart, by the language that the name of the file stands for.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, String
from pygments.util import ClassNotFound

from corrector.errors import InputError
from corrector.formats.builder import PassageBuilder
from corrector.formats.passages import Passage
from corrector.formats.wrapped import columns
from corrector.text.decode import STDIN
from corrector.text.protect import HAN_RUN
from corrector.types import Document, Span

_FULL = 60  # columns from which on a line may have been broken because it was full

_LINE = re.compile(r"[^\r\n]+")
_MARKS = "/*#!;%<>{}[]()='\"|~^+-"
_OPENING = re.compile(rf"[\s{re.escape(_MARKS)}]*")
_BETWEEN = re.compile(rf"[ \t]*(?:\r\n|\r|\n)[ \t{re.escape(_MARKS)}]*")
_SENTENCE_END = re.compile(r"[。！？；：.!?;:…]\Z")
_ITEM = re.compile(r"[@:\\•·【①-⑳]|[（(]?(?:[0-9A-Za-z]{1,3}|[一二三四五六七八九十]{1,3})[)）.、．:：]")
_BULLET = re.compile(r"(?:(?<!-)[-+]|[*#/!;%][ \t]+\*)[ \t]*\Z")
_EXAMPLE = re.compile(r"[ \t]*(?:>>>|\.\.\.)[ \t]")  # of Python
_OPEN_EXPRESSION = "([{,=+%|\\"
"""What ends a line of Python that goes on: a string that stands alone on the next one is no docstring."""


@dataclass(frozen=True, slots=True)
class SourceCode:
    """A file of a program or a style sheet; its name tells its language."""

    name: str = "source"
    streams: bool = False

    def passages(self, document: Document) -> Iterator[Passage]:
        """The lines of comments and docstrings, those that go on as one. Raises InputError for a language that is not known."""
        text = document.text
        if not HAN_RUN.search(text):
            return
        builder = PassageBuilder(text)
        for paragraph in _paragraphs(text, _comment_lines(text, _comments(text, document.path))):
            for line in paragraph:
                builder.verbatim(line.start, line.end)
                builder.gap()
            yield from builder.passages()


def format_named(name: str, column: str | Sequence[str] | None) -> SourceCode:
    """``source``, which has no columns."""
    return SourceCode()


def _comments(text: str, path: str | None) -> Iterator[Span]:
    """The comments and docstrings, with their marks, in order."""
    if path is None:
        raise InputError(STDIN, "the language of source code is told by the name of its file; give a file, or pass --input-format text")
    before = ""  # the last character that is neither space nor comment
    for start, kind, value in _lexer(path, text).get_tokens_unprocessed(text.replace("\r\n", " \n").replace("\r", "\n")):
        if _is_prose(kind, value, before):
            yield Span(start, start + len(value))
        elif value.strip() and kind not in String.Affix:
            before = value.rstrip()[-1]


def _lexer(path: str, text: str) -> Any:
    """What reads the language of a file; of several that have files of such a name, the one that the text looks like."""
    name = os.path.basename(path)
    for known_as in (name, name.lower()):
        with contextlib.suppress(ClassNotFound):
            return get_lexer_for_filename(known_as, text)
    raise InputError(path, "no language of source code has files of this name; pass --input-format text")


def _is_prose(kind: Any, value: str, before: str) -> bool:
    if kind in String.Doc:
        return not (value[:1] in ("'", '"') and before and before in _OPEN_EXPRESSION)
    return kind in Comment and not any(kind in code for code in (Comment.Preproc, Comment.PreprocFile, Comment.Hashbang))


def _comment_lines(text: str, comments: Iterable[Span]) -> Iterator[Span]:
    """What stands on each line of the comments, without marks at its ends; lines without Han and examples left out."""
    for comment in comments:
        for line in _LINE.finditer(text, comment.start, comment.end):
            if _EXAMPLE.match(line[0]):
                continue
            start = _OPENING.match(line[0]).end()  # type: ignore[union-attr]
            shown = line[0][start:].rstrip(_MARKS + " \t")
            if HAN_RUN.search(shown):
                yield Span(line.start() + start, line.start() + start + len(shown))


def _paragraphs(text: str, comment_lines: Iterable[Span]) -> Iterator[list[Span]]:
    """The lines, those together of which one goes on in the next."""
    paragraph: list[Span] = []
    for line in comment_lines:
        if paragraph and not _goes_on(text, paragraph[-1], line):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph


def _goes_on(text: str, line: Span, following: Span) -> bool:
    """Whether a line was broken because it was full: nothing ends there, and no item begins on the one that follows it."""
    between = text[line.end : following.start]
    own = text[line.start : line.end]
    if not _BETWEEN.fullmatch(between) or _BULLET.search(between) or _SENTENCE_END.search(own):
        return False
    begins = text.rfind("\n", 0, line.start) + 1
    begins = max(begins, text.rfind("\r", begins, line.start) + 1)
    return columns(text[begins : line.end]) >= _FULL and not _ITEM.match(text, following.start)
