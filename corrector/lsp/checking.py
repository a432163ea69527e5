"""What is wrong in an open text, by the settings of its project; the same as ``electra-correct`` finds in the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from corrector.config import Settings, find_settings
from corrector.formats import PACKAGES, TEXT, format_name, format_of
from corrector.formats.passages import correct_passages
from corrector.inputs import writable
from corrector.lsp.memory import Memory, RememberingCorrector
from corrector.session import open_corrector
from corrector.text.discover import is_excluded
from corrector.text.ignore import IgnoreState
from corrector.types import Correction, Document
from corrector.words import ProtectedWords

if TYPE_CHECKING:
    from corrector.command import DocumentCorrector

_LANGUAGES = {
    "markdown": "markdown", "mdx": "markdown", "rmd": "markdown", "quarto": "markdown", "latex": "latex", "tex": "latex",
    "restructuredtext": "rst", "html": "html", "xml": "xml", "json": "json", "csv": "csv", "tsv": "tsv", "po": "po",
}  # fmt: skip
"""Formats by what editors call them, for what has no extension that says more."""


@dataclass(frozen=True)
class Checked:
    """What was found in a text, and whether all of it has been read."""

    corrections: tuple[Correction, ...] = ()
    suggestions: tuple[Correction, ...] = ()
    is_complete: bool = True


class Checker:
    """Checks texts, one at a time, with one corrector for each set of settings that is in use.

    ``options`` are settings that go before those of files. Everything raises CorrectorError for settings, lists and models
    that cannot be used, and for texts that are not of their format.
    """

    def __init__(self, options: Mapping[str, Any], make: Callable[[Settings], DocumentCorrector] | None = None) -> None:
        self._options = {name.replace("-", "_"): value for name, value in options.items()}
        self._make = make or (lambda settings: open_corrector(settings, new_words=True))
        self._memories: dict[tuple[object, object], Memory] = {}

    def settings(self, path: str | None) -> Settings:
        """The settings for a file; of a text without one, those of the working directory."""
        found = find_settings(os.path.dirname(path) if path else ".")
        return found.overridden("initialization options", **self._options)

    def check(self, text: str, path: str | None, language: str, goes_on: Callable[[], bool] = lambda: True) -> Checked:
        """The corrections of a text, none of a file that the settings leave out; of the lines that are new, as many are read as ``goes_on``
        allows."""
        settings = self.settings(path)
        if path and is_excluded(path, settings.exclude, os.path.dirname(settings.sources.get("exclude", ""))):
            return Checked()
        name = format_name(path, settings.format_in)
        if name == TEXT or name in PACKAGES:
            name = _LANGUAGES.get(language, TEXT)
        form = format_of(path, name, settings.column)
        document = Document(path, text)
        whole_file = IgnoreState().read(text)[1].whole_file
        marked, _ = IgnoreState(whole_file=whole_file).mark(document)
        corrector = RememberingCorrector(self._memory(settings), goes_on)
        found = writable(correct_passages(corrector, marked, form.passages(marked)))
        return Checked(found.corrections, found.suggestions, corrector.is_complete)

    def protect(self, path: str | None, word: str) -> None:
        """Puts a word into the last list of the settings for a file. Raises InputError where it cannot be."""
        ProtectedWords.add(self.settings(path).words[-1], word)

    def _memory(self, settings: Settings) -> Memory:
        """What is known by these settings; of lists, as they are now."""
        key = settings.model, settings.origin, settings.min_confidence, settings.profile, settings.words, settings.confusions
        lists = tuple(_changed(path) for path in (*settings.words, *settings.confusions))
        if (key, lists) not in self._memories:
            self._memories = {old: memory for old, memory in self._memories.items() if old[0] != key}  # of lists as they were
            self._memories[key, lists] = Memory(self._make(settings))
        return self._memories[key, lists]


def _changed(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None
