"""Labelled pairs from raw text: edits that a model proposed in it, and what someone who read them says should stand there.

Natural slips and right text that looks like one are what made errors are not, and labelled sets have few. A file of verdicts holds no
text, only where in it they are: ``file<TAB>line<TAB>offset<TAB>original<TAB>right``, the first three as numbers from 0 on, with ``?`` where
it could not be told.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corrector.errors import InputError
from corrector.eval.dataset import read_bytes
from corrector.pipeline import windows_of
from corrector.train.corpus import read_text
from corrector.train.prepare import PARTS, part_of
from corrector.types import Document, Sentence

HELD_BACK = 12  # every so many rows, by their right sentence, are not to be trained on
LONGEST = 62  # characters of a row: as much as the embedded networks read at a time
UNTOLD = "?"
_COLUMNS = 5
_SAME = "give the files that were judged, in the same order"

Row = tuple[str, str]


@dataclass(frozen=True)
class Verdict:
    """What should stand at ``offset`` of a line (code points) instead of ``original``: the same where that is right; None if untold.

    ``number`` is its line in the file of verdicts, from 1 on.
    """

    offset: int
    original: str
    right: str | None
    number: int = 0


Verdicts = Mapping[int, Mapping[int, Sequence[Verdict]]]
"""By the number of the raw file and of the line in it, both from 0 on."""


def read_verdicts(path: Path) -> Verdicts:
    """Read a file of verdicts, plain or compressed (.xz). Raises InputError for one that is not as described above, EvalDataError for
    one that cannot be read."""
    try:
        lines = read_bytes(path).decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(path, f"cannot be read ({error}); give verdicts in UTF-8, plain or compressed by xz") from error
    found: defaultdict[int, defaultdict[int, list[Verdict]]] = defaultdict(lambda: defaultdict(list))
    for number, line in enumerate(lines, 1):
        columns = line.split("\t")
        if not _is_verdict(columns):
            message = f"expected file<TAB>line<TAB>offset<TAB>original<TAB>right, the last two of equal length, or {UNTOLD} for the last"
            raise InputError(f"{path}:{number}", message)
        file, place, offset = map(int, columns[:3])
        found[file][place].append(Verdict(offset, columns[3], None if columns[4] == UNTOLD else columns[4], number))
    return found


def _is_verdict(columns: Sequence[str]) -> bool:
    if len(columns) != _COLUMNS or not all(map(str.isdecimal, columns[:3])):
        return False
    return columns[4] == UNTOLD or len(columns[3]) == len(columns[4]) > 0


def rows_of(text: str, verdicts: Sequence[Verdict]) -> Iterator[Row]:
    """The sentences of a line that verdicts are about, as they are and as they should be; none with an untold one.

    Raises ValueError where the line has something else than what they are about.
    """
    for window in windows_of(Document(None, text), LONGEST):
        own = [verdict for verdict in verdicts if window.core.start <= verdict.offset < window.core.end]
        if own and all(verdict.right is not None for verdict in own):
            yield window.text, _mended(window, own)


def _mended(window: Sentence, verdicts: Sequence[Verdict]) -> str:
    mended = list(window.text)
    for verdict in verdicts:
        place = verdict.offset - window.span.start
        end = place + len(verdict.original)
        if window.text[place:end] != verdict.original:
            raise ValueError(f"{window.text[place:end]!r} where {verdict.original!r} was judged")
        mended[place:end] = verdict.right or verdict.original
    return "".join(mended)


def write_pairs(verdicts: Path, raw: Sequence[Path], out: Path, say: Callable[[str], None]) -> None:
    """Write ``fit.N.tsv`` and ``held.N.tsv`` for every part N of the corpus that ``prepare`` deals these raw files out to, the rows to
    train on and those held back (one of ``HELD_BACK``).

    Sentences with a tab in them cannot be told apart from columns: they are left out, and how many is said. Raises InputError for
    verdicts on other text.
    """
    judged = read_verdicts(verdicts)
    if max(judged, default=0) >= len(raw):
        message = f"verdicts on {max(judged) + 1} files, and {len(raw)} are given; give all the files that were judged"
        raise InputError(verdicts, message)
    found = [_rows_in(path, judged.get(number, {}), verdicts) for number, path in enumerate(raw)]  # all of them, before any is written
    parts: list[list[Row]] = [[] for _ in raw[:PARTS]]
    for number, (path, rows) in enumerate(zip(raw, found, strict=True)):
        own = [row for row in rows if "\t" not in row[0]]
        parts[part_of(number)] += own
        left_out = f"; {len(rows) - len(own):,} left out: a tab in the sentence" if len(own) < len(rows) else ""
        wrong = sum(source != target for source, target in own)
        say(f"{path.name}: {len(own):,} rows, {wrong:,} with an error{left_out}; of part {part_of(number)}")
    out.mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(parts):
        for name, held in (("fit", False), ("held", True)):
            chosen = [row for row in rows if _is_held_back(row) is held]
            (out / f"{name}.{number}.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in chosen), "utf-8")


def _rows_in(path: Path, judged: Mapping[int, Sequence[Verdict]], verdicts: Path) -> list[Row]:
    """``rows_of`` every line of a file. Raises InputError where it is too short for a verdict, or has something else than was judged."""
    lines = read_text(path).split("\n")
    rows: list[Row] = []
    for place, own in sorted(judged.items()):
        line = lines[place] if place < len(lines) else ""
        for verdict in own:
            if place >= len(lines) or verdict.offset + len(verdict.original) > len(line):
                message = f"on offset {verdict.offset} of line {place + 1} of {path}, where there is no text"
                raise InputError(verdicts, f"{message}; {_SAME}", verdict.number)
        try:
            rows += rows_of(line, own)
        except ValueError as error:
            raise InputError(path, f"line {place + 1} has {error}; {_SAME}") from error
    return rows


def _is_held_back(row: Row) -> bool:
    return zlib.crc32(row[1].encode()) % HELD_BACK == HELD_BACK // 2
