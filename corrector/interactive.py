"""One question for every correction and suggestion; what is accepted is corrected, everything else stays.

The questions are lines of text: the answer is typed and sent with Enter. Where they are asked is the caller's business.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from corrector.errors import CorrectorError, InputError
from corrector.render.columns import safe
from corrector.render.describe import other_candidates, percent
from corrector.render.findings import Finding, findings
from corrector.render.human import render_finding, render_line, render_place
from corrector.render.summary import Summary
from corrector.types import CorrectedDocument, Correction, Span

Reader = Callable[[], str]
"""The next line with its line end; '' at the end of the input."""

Writer = Callable[[str], None]

HELP = """\
    Enter, y   correct it
    1, 2, …    correct it in this way
    s, n       skip it, leave the text as it is
    a          correct it, and every other one like it from here on (a2: in the second way)
    p          protect a word: type the characters around that belong together
    q          stop asking: what was accepted is kept, the rest stays as it is
    ?          this help; Ctrl-C leaves the file untouched
"""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where to ask."""

    read: Reader
    write: Writer


class Reviewer:
    """Asks about the corrections of one document after another, or of one block after another.

    ``protect`` saves a word to the words file; without it a word is protected until the end only. What was accepted or
    protected for all that follows is remembered, and so is that the user has ``quit``. Ctrl-C raises KeyboardInterrupt as
    ``read`` does, and nothing is returned.
    """

    def __init__(
        self, read: Reader, write: Writer, protect: Callable[[str], None] | None = None, color: bool = False
    ) -> None:
        self._read, self._write, self._protect, self._color = read, write, protect, color
        self._always: dict[tuple[str, str], str] = {}  # (original, proposed) → what was accepted for all of them
        self._words: list[str] = []
        self.quit = False

    def review(self, corrected: CorrectedDocument, before: Summary | None = None) -> CorrectedDocument:
        """The document with exactly the accepted corrections; those not accepted become suggestions, but for protected words.

        ``before`` sums up the blocks of the same input that came earlier.
        """
        accepted: list[Correction] = []
        declined: list[Correction] = []
        found = list(findings(corrected, before))
        for number, finding in enumerate(found, 1):
            correction, text = finding.correction, corrected.document.text
            if self._is_protected(text, correction.span):
                continue
            if accepted and accepted[-1].span.end > correction.span.start:  # corrected by now in another way
                declined.append(correction)
                continue
            replacement = None if self.quit else self._always.get((correction.original, correction.replacement))
            if replacement is None and not self.quit:
                replacement = self._ask(corrected, finding, f"{number}/{len(found)}")
            if replacement is not None:
                accepted.append(_chosen(correction, replacement))
            elif not self._is_protected(text, correction.span):
                declined.append(correction)
        return dataclasses.replace(corrected, corrections=tuple(accepted), suggestions=tuple(declined))

    def _ask(self, corrected: CorrectedDocument, finding: Finding, progress: str) -> str | None:
        """What to put in place of the original; None to leave it."""
        correction = finding.correction
        choices = [correction.replacement, *(ranked.candidate.text for ranked in other_candidates(correction))]
        self._show(corrected, finding)
        keys = f"y/1-{len(choices)}/s/a/p/q/?" if len(choices) > 1 else "y/s/a/p/q/?"
        while True:
            self._write(f"{progress} correct? [{keys}] ")
            line = self._read()
            answer = line.strip().lower()
            if not line or answer in ("q", "quit"):
                self._write("" if line else "\n")
                self.quit = True
                return None
            if answer in ("s", "n", "skip", "no"):
                return None
            if answer in ("p", "protect"):
                if self._ask_word(corrected, correction.span):
                    return None
                continue
            choice = _choice(answer, len(choices))
            if choice is None:
                unknown = f"{safe(line.strip())}: no such answer; ? for help\n"
                self._write(HELP if answer in ("?", "h", "help") else unknown)
                continue
            if answer.startswith("a"):
                self._always[correction.original, correction.replacement] = choices[choice]
            return choices[choice]

    def _show(self, corrected: CorrectedDocument, finding: Finding) -> None:
        """The correction in its context, with everything that may be chosen."""
        correction = finding.correction
        scores = [(correction.replacement, correction.confidence)]
        scores += [(ranked.candidate.text, ranked.score) for ranked in other_candidates(correction)]
        numbered = "   ".join(f"{n} {safe(text)} {percent(score)}" for n, (text, score) in enumerate(scores, 1))
        self._write("\n" + render_place(corrected, finding, self._color) + render_finding(finding, self._color))
        self._write(render_line(corrected, finding, self._color, others=False) + f"    {numbered}\n")

    def _ask_word(self, corrected: CorrectedDocument, span: Span) -> bool:
        """Asks for the word to protect, which must stand in the text over ``span``; False when it is taken back."""
        original = safe(corrected.document.text[span.start : span.end])
        while True:
            self._write(f"    which word? it has {original} in it; Enter takes it back: ")
            word = self._read().strip()
            if not word:
                return False
            if not _covers(corrected.document.text, span, word):
                self._write(f"    {safe(word)} is not here in the text\n")
                continue
            self._words.append(word)
            self._save(word)
            return True

    def _save(self, word: str) -> None:
        """Saves the word where words are saved; what goes wrong is told and does not lose the decisions made so far."""
        if self._protect is None:
            self._write(f"    {safe(word)} is protected until the end; --words FILE keeps it\n")
            return
        try:
            self._protect(word)
        except CorrectorError as error:
            self._write(f"    {safe(word)} is protected until the end, but could not be saved: {safe(str(error))}\n")

    def _is_protected(self, text: str, span: Span) -> bool:
        return any(_covers(text, span, word) for word in self._words)


def review(
    corrected: CorrectedDocument, read: Reader, write: Writer, protect: Callable[[str], None] | None = None,
    color: bool = False,
) -> CorrectedDocument:  # fmt: skip
    """One document by itself: as ``Reviewer.review``."""
    return Reviewer(read, write, protect, color).review(corrected)


@contextlib.contextmanager
def open_terminal() -> Iterator[Terminal]:
    """The terminal of the process, whatever standard input and output are. Raises InputError where there is none."""
    source, target = ("CONIN$", "CONOUT$") if os.name == "nt" else ("/dev/tty", "/dev/tty")
    with contextlib.ExitStack() as stack:
        try:
            reader = stack.enter_context(open(source, encoding="utf-8", errors="replace"))
            writer = stack.enter_context(open(target, "w", encoding="utf-8", errors="replace"))
        except OSError as error:
            message = f"there is no terminal to ask on ({error.strerror or error}); run it in one, or leave out -i"
            raise InputError(target, message) from error

        def write(text: str) -> None:
            writer.write(text)
            writer.flush()

        yield Terminal(reader.readline, write)


def _choice(answer: str, count: int) -> int | None:
    """Which of ``count`` choices an answer means, from 0; None for none of them."""
    number = answer.removeprefix("a").strip()
    if answer in ("", "y", "yes", "a"):
        return 0
    if number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= count:
        return int(number) - 1
    return None


def _chosen(correction: Correction, replacement: str) -> Correction:
    """The correction with the replacement that was accepted, its score as confidence."""
    if replacement == correction.replacement:
        return correction
    score = next(
        (r.score for r in other_candidates(correction) if r.candidate.text == replacement), correction.confidence
    )
    return dataclasses.replace(correction, replacement=replacement, confidence=score, alternatives=(), reason="context")


def _covers(text: str, span: Span, word: str) -> bool:
    """Whether ``word`` stands in ``text`` in such a place that it overlaps ``span``."""
    first = text.find(word, max(0, span.start - len(word) + 1), span.end + len(word) - 1)
    return first >= 0
