"""The bake-offs' own formats: the SGML of the training sets and the input and truth files of the test sets.

Positions count code points from 1. ``location`` (``wrong_position`` in 2013) is the wrong character itself, somewhere
inside the WRONG word, not where the word begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from corrector.errors import EvalDataError

INPUT_LINE = re.compile(r"\((?:nid|pid)=([^)\s]+)\)[ \t]+([^ \t].*)", re.IGNORECASE)
"""An ideographic space that the sentence begins with is a part of it: positions count it."""

BLANKS = " \t\r"  # around a line
MOST_DIGITS = 9  # of a position; Python refuses to read thousands of them


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as written; its id is unique in its essay (counted from 1). ``line`` is where it begins."""

    essay: int
    id: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Mistake:
    """A marked word of a passage of the same essay and what it should be, with the line of the mark."""

    essay: int
    id: str
    location: str
    wrong: str
    correction: str
    line: int


class _Parser(HTMLParser):
    """Collects passages and mistakes; the 2013 set leaves attributes unquoted and names its tags differently."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.passages: list[Passage] = []
        self.mistakes: list[Mistake] = []
        self._document = self._id = self._location = self._text = ""
        self._essay = self._line = self._mistake_line = 0
        self._words: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self._text, self._line = "", self.getpos()[0]
        if tag in {"essay", "doc"}:
            self._essay += 1
            self._document = given.get("nid", "")
        elif tag in {"passage", "p"}:
            self._id = given.get("id", self._document)
        elif tag == "mistake":
            self._id = given.get("id", self._document)
            self._location = given.get("location", given.get("wrong_position", ""))
            self._words, self._mistake_line = {}, self._line

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag in {"passage", "p"}:
            self.passages.append(Passage(self._essay, self._id, self._text.strip(), self._line))
        elif tag in {"wrong", "correction", "correct"}:
            self._words[tag] = self._text.strip()
        elif tag == "mistake":
            correction = self._words.get("correction", self._words.get("correct", ""))
            wrong = self._words.get("wrong", "")
            self.mistakes.append(Mistake(self._essay, self._id, self._location, wrong, correction, self._mistake_line))


def training_rows(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    """(line, source, target) for every passage of an SGML file.

    A correction of another length than the wrong word makes a target of another length than the source.
    """
    parser = _Parser()
    parser.feed(text)
    parser.close()
    marked: dict[tuple[int, str], list[Mistake]] = {}
    for mistake in parser.mistakes:
        marked.setdefault((mistake.essay, mistake.id), []).append(mistake)
    seen: set[tuple[int, str]] = set()
    for passage in parser.passages:
        key = passage.essay, passage.id
        if key in seen:
            raise EvalDataError(path, f"passage id {passage.id!r} is used twice in its essay", passage.line)
        seen.add(key)
        target = _apply(path, passage, marked.pop(key, []))
        yield passage.line, passage.text, target
    for mistakes in marked.values():
        raise EvalDataError(path, f"mistake in passage {mistakes[0].id!r}, which is not in its essay", mistakes[0].line)


def _apply(path: Path, passage: Passage, mistakes: list[Mistake]) -> str:
    """The passage corrected character by character, so that two marked words may share their context."""
    cells = list(passage.text)
    unequal = False
    for mistake in mistakes:
        start = _find(path, passage, mistake)
        if len(mistake.wrong) != len(mistake.correction):
            unequal = True
            cells[start : start + len(mistake.wrong)] = [mistake.correction] + [""] * (len(mistake.wrong) - 1)
            continue
        for i, (wrong, right) in enumerate(zip(mistake.wrong, mistake.correction, strict=True), start=start):
            if wrong != right:
                cells[i] = right
    target = "".join(cells)
    if unequal and len(target) == len(passage.text):
        raise EvalDataError(path, f"passage {passage.id}: insertions and deletions that cancel out", passage.line)
    return target


def _find(path: Path, passage: Passage, mistake: Mistake) -> int:
    """Where the wrong word begins: the occurrence that covers the location, else the nearest (some labels are off)."""
    if not _is_position(mistake.location.strip()):
        raise EvalDataError(path, f"mistake without a numeric location, found {mistake.location!r}", mistake.line)
    if not mistake.wrong or not mistake.correction:
        raise EvalDataError(path, "mistake without a wrong word or its correction", mistake.line)
    at = int(mistake.location) - 1
    starts = [m.start() for m in re.finditer(f"(?={re.escape(mistake.wrong)})", passage.text)]
    if not starts:
        raise EvalDataError(path, f"{mistake.wrong!r} does not occur in passage {passage.id}", mistake.line)
    pairs = enumerate(zip(mistake.wrong, mistake.correction, strict=False))
    within = next((i for i, (a, b) in pairs if a != b), 0)
    return min(starts, key=lambda start: (not start <= at < start + len(mistake.wrong), abs(start + within - at)))


def labelled_rows(path: Path, text: str, truth_path: Path, truth_text: str) -> Iterator[tuple[int, str, str]]:
    """(line, source, target) for each ``(NID=id) sentence``; truths are ``id, position, character, …`` or ``id, 0``."""
    truth = _truth(truth_path, truth_text)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        match = INPUT_LINE.fullmatch(line.strip(BLANKS))
        if match is None:
            raise EvalDataError(path, "expected (NID=id)<TAB>sentence", number)
        name, source = match.groups()
        if name not in truth:
            raise EvalDataError(truth_path, f"no line for sentence {name} ({path}:{number}), or it was given twice")
        truth_line, characters = truth.pop(name)
        target = list(source)
        for position, character in characters:
            if not 1 <= position <= len(source):
                raise EvalDataError(truth_path, f"position {position} is outside the sentence {name}", truth_line)
            target[position - 1] = character
        yield number, source, "".join(target)
    for name, (truth_line, _) in truth.items():
        raise EvalDataError(truth_path, f"sentence {name} is not in {path}", truth_line)


def _truth(path: Path, text: str) -> dict[str, tuple[int, list[tuple[int, str]]]]:
    answers: dict[str, tuple[int, list[tuple[int, str]]]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        name, *cells = (cell.strip() for cell in line.split(","))
        if name in answers:
            raise EvalDataError(path, f"sentence {name} is answered twice", number)
        answers[name] = number, _pairs(path, number, cells)
    return answers


def _pairs(path: Path, number: int, cells: list[str]) -> list[tuple[int, str]]:
    if cells == ["0"]:
        return []
    positions, characters = cells[::2], cells[1::2]
    whole = len(positions) == len(characters) > 0
    if not whole or not all(map(_is_position, positions)) or not all(len(c) == 1 for c in characters):
        raise EvalDataError(path, "expected 'id, 0' or 'id, position, character, …'", number)
    return [(int(p), c) for p, c in zip(positions, characters, strict=True)]


def _is_position(text: str) -> bool:
    return text.isdecimal() and len(text) <= MOST_DIGITS
