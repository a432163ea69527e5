"""What a run is made of, from its settings: the corrector, the report, and the questions of --interactive."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from corrector.progress import wants_color

if TYPE_CHECKING:
    from corrector.command import DocumentCorrector
    from corrector.config import Settings
    from corrector.interactive import Reviewer
    from corrector.pipeline import Corrector
    from corrector.reports import Report


def open_corrector(settings: Settings, new_words: bool = False) -> Corrector:
    """The corrector that the settings ask for; with ``new_words`` a words file may be one that is still to be made.

    Raises CorrectorError for a model, words or confusions that cannot be used.
    """
    from corrector.confusions import Confusions
    from corrector.pipeline import Corrector  # only now: it loads numpy and the model runtime
    from corrector.words import ProtectedWords

    words = [path for path in settings.words if not new_words or os.path.lexists(path)]
    return Corrector(
        settings.model,
        origin=settings.origin,
        min_confidence=settings.min_confidence,
        profile=settings.profile,
        words=ProtectedWords.load(*words) if words else (),
        confusions=Confusions.load(*settings.confusions) if settings.confusions else None,
        threads=settings.threads,
    )


def open_report(name: str, corrector: DocumentCorrector, color: bool) -> Report:
    """The report of that name."""
    from corrector import __version__
    from corrector.reports import report_named

    return report_named(name, corrector.model_name, __version__, color)


@contextlib.contextmanager
def reviewing(settings: Settings) -> Iterator[Reviewer]:
    """Asks on the terminal, whatever standard input and output are; protected words go into the last words file.

    Raises InputError where there is no terminal.
    """
    from corrector.interactive import Reviewer, open_terminal
    from corrector.words import ProtectedWords

    def protect(word: str) -> None:
        ProtectedWords.add(settings.words[-1], word)

    with open_terminal() as terminal:
        color = wants_color(settings.color, sys.stderr)
        yield Reviewer(terminal.read, terminal.write, protect if settings.words else None, color)


def read_text(settings: Settings) -> str:
    """All of standard input as text."""
    from corrector.inputs import Input

    return Input("-", settings).text()
