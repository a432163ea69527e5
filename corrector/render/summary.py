"""What a run came to, counted block by block, and how one line says it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from corrector.types import CorrectedDocument

LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over everything seen so far; ``characters`` and ``lines`` (line ends) tell where the next block begins."""

    files: int = 0
    characters: int = 0
    lines: int = 0
    corrections: int = 0
    suggestions: int = 0
    unprocessed: int = 0

    def plus(self, corrected: CorrectedDocument) -> Summary:
        """These counts with one more block of the same file added."""
        text = corrected.document.text
        return replace(
            self,
            characters=self.characters + len(text),
            lines=self.lines + sum(1 for _ in LINE_END.finditer(text)),
            corrections=self.corrections + len(corrected.corrections),
            suggestions=self.suggestions + len(corrected.suggestions),
            unprocessed=self.unprocessed + corrected.unprocessed,
        )


def render_check(name: str, summary: Summary) -> str:
    """What ``--check`` says of one input: ``a.txt: 2 corrections to make, 1 suggestion``."""
    found = f"{_count(summary.corrections, 'correction')} to make" if summary.corrections else "nothing to correct"
    doubtful = f", {_count(summary.suggestions, 'suggestion')}" if summary.suggestions else ""
    return f"{name}: {found}{doubtful}"


def render_unprocessed(name: str, summary: Summary) -> str:
    """The warning that parts of an input were left as they were."""
    return f"{name}: {_count(summary.unprocessed, 'passage')} could not be processed, left unchanged"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
