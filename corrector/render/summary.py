"""What a run came to, counted block by block, and how one line says it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from corrector.types import CorrectedDocument

LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over everything seen so far.

    ``characters``, ``lines`` (line ends) and ``columns`` (characters since the last line end, without a byte-order mark)
    tell where the next block of the same file begins. ``failed`` are the inputs that could not be read or written.
    """

    files: int = 0
    characters: int = 0
    lines: int = 0
    corrections: int = 0
    suggestions: int = 0
    unprocessed: int = 0
    columns: int = 0
    failed: int = 0

    def plus(self, corrected: CorrectedDocument) -> Summary:
        """These counts with one more block of the same file added."""
        text = corrected.document.text
        lines, columns = 0, self.columns + len(text)
        if self.characters == 0 and text.startswith("\ufeff"):
            columns -= 1
        for line_end in LINE_END.finditer(text):
            lines, columns = lines + 1, len(text) - line_end.end()
        return replace(
            self,
            characters=self.characters + len(text),
            lines=self.lines + lines,
            corrections=self.corrections + len(corrected.corrections),
            suggestions=self.suggestions + len(corrected.suggestions),
            unprocessed=self.unprocessed + corrected.unprocessed,
            columns=columns,
        )


def render_check(name: str, summary: Summary) -> str:
    """What ``--check`` says of one input: ``a.txt: 2 corrections to make, 1 suggestion``."""
    found = f"{_count(summary.corrections, 'correction')} to make" if summary.corrections else "nothing to correct"
    doubtful = f", {_count(summary.suggestions, 'suggestion')}" if summary.suggestions else ""
    return f"{name}: {found}{doubtful}"


def render_found(name: str, summary: Summary) -> str:
    """What ``--verbose`` says of one input: ``a.txt: 2 corrections, 1 suggestion``."""
    if not summary.corrections and not summary.suggestions:
        return f"{name}: nothing to correct"
    return f"{name}: {_count(summary.corrections, 'correction')}, {_count(summary.suggestions, 'suggestion')}"


def render_unprocessed(name: str, summary: Summary) -> str:
    """The warning that parts of an input were left as they were."""
    return f"{name}: {_count(summary.unprocessed, 'passage')} could not be processed, left unchanged"


def render_summary_line(summary: Summary, seconds: float) -> str:
    """The last line of a run: ``3 files, 12,345 characters: 4 corrections, 1 suggestion in 1.2 s``."""
    return f"{render_counts(summary)} in {_duration(seconds)}"


def render_counts(summary: Summary) -> str:
    """What was read and found: ``3 files, 12,345 characters: 4 corrections, 1 suggestion``."""
    found = f"{_count(summary.corrections, 'correction')}, {_count(summary.suggestions, 'suggestion')}"
    missed = f", {_count(summary.unprocessed, 'passage')} not processed" if summary.unprocessed else ""
    read = f"{_count(summary.files, 'file')}, {_count(summary.characters, 'character')}"
    return f"{read}: {found}{missed}"


def _duration(seconds: float) -> str:
    """``1.2 s``, ``2 min 05 s``, ``1 h 02 min``."""
    minutes, rest = divmod(round(max(0.0, seconds)), 60)
    if minutes == 0 and seconds < 59.95:
        return f"{max(0.0, seconds):.1f} s"
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
