"""The reports: what is told of the corrections besides the corrected text. Each turns corrected blocks into bytes."""

from __future__ import annotations

import dataclasses
import os
from typing import Protocol

from corrector.render.diff import Hunks, render_header
from corrector.render.jsonl import render_corrections, render_summary
from corrector.render.summary import Summary
from corrector.render.text import render_text
from corrector.text.files import encode
from corrector.types import CorrectedDocument


class Report(Protocol):
    """Bytes for every block, at the end of every text and at the end of all; ``before`` sums up the text so far."""

    def block(self, corrected: CorrectedDocument, before: Summary) -> bytes: ...

    def end_of_text(self) -> bytes: ...

    def end(self, totals: Summary) -> bytes: ...


class Silence:
    """No report, and what the others build on: nothing at the ends."""

    def block(self, corrected: CorrectedDocument, before: Summary) -> bytes:
        return b""

    def end_of_text(self) -> bytes:
        return b""

    def end(self, totals: Summary) -> bytes:
        return b""


class JsonReport(Silence):
    """JSON lines in UTF-8, one summary at the end; undecodable bytes of a file name come out as JSON's own escapes."""

    def __init__(self, model: str, version: str) -> None:
        self._model, self._version = model, version

    def block(self, corrected: CorrectedDocument, before: Summary) -> bytes:
        return render_corrections(corrected, before).encode("utf-8", "backslashreplace")

    def end(self, totals: Summary) -> bytes:
        return render_summary(totals, self._model, self._version).encode()


class DiffReport(Silence):
    """A unified diff in the encoding of each text, or in UTF-8 where no patch reads that, as for UTF-16."""

    def __init__(self) -> None:
        self._hunks = Hunks()
        self._path: str | None = None
        self._encoding = "utf-8"
        self._named = False

    def block(self, corrected: CorrectedDocument, before: Summary) -> bytes:
        document = corrected.document
        self._path, self._encoding = document.path, document.encoding
        return self._written(self._hunks.add(document.text, render_text(corrected)))

    def end_of_text(self) -> bytes:
        written = self._written(self._hunks.end())
        self._hunks, self._named = Hunks(), False
        return written

    def _written(self, hunks: str) -> bytes:
        if not hunks:
            return b""
        header = b"" if self._named else os.fsencode(render_header(self._path))
        self._named = True
        encoding = self._encoding if "@@ -1 +1 @@\n".encode(self._encoding) == b"@@ -1 +1 @@\n" else "utf-8"
        return header + encode(hunks, encoding, self._path)


class HumanReport(Silence):
    """For reading: each correction with its line and its reason."""

    def __init__(self, color: bool) -> None:
        self._color = color

    def block(self, corrected: CorrectedDocument, before: Summary) -> bytes:
        from corrector.render.human import render_human

        return _readable(render_human(corrected, before, self._color))


class GithubReport(Silence):
    """GitHub's workflow commands, which annotate the lines of a pull request."""

    def block(self, corrected: CorrectedDocument, before: Summary) -> bytes:
        from corrector.render.github import render_annotations

        return _readable(render_annotations(corrected, before))


class GitlabReport(Silence):
    """GitLab's Code Quality report, one JSON array."""

    def __init__(self) -> None:
        from corrector.render.gitlab import GitlabFindings

        self._findings = GitlabFindings()
        self._begun = False

    def block(self, corrected: CorrectedDocument, before: Summary) -> bytes:
        lines = []
        for found in self._findings.of(corrected, before):
            lines.append(f"{',' if self._begun else '['}\n {found}")
            self._begun = True
        return _readable("".join(lines))

    def end(self, totals: Summary) -> bytes:
        return b"\n]\n" if self._begun else b"[]\n"


class HtmlReport(Silence):
    """A page for a browser. A text in which nothing is found is not named."""

    def __init__(self) -> None:
        from corrector.render import html

        self._page = html
        self._begun = self._named = False

    def block(self, corrected: CorrectedDocument, before: Summary) -> bytes:
        lines = self._page.render_lines(corrected, before)
        if not lines:
            return b""
        title = "" if self._named else self._page.render_title(corrected.document.path)
        self._named = True
        return self._written(title + lines)

    def end_of_text(self) -> bytes:
        self._named = False
        return b""

    def end(self, totals: Summary) -> bytes:
        return self._written(self._page.render_foot(totals))

    def _written(self, more: str) -> bytes:
        begun, self._begun = self._begun, True
        return _readable(more if begun else self._page.render_head() + more)


class SarifReport(Silence):
    """One SARIF log, at the end; holds the blocks that have something to tell, and the first of every text."""

    def __init__(self, model: str, version: str) -> None:
        self._model, self._version = model, version
        self._told: list[tuple[CorrectedDocument, Summary]] = []

    def block(self, corrected: CorrectedDocument, before: Summary) -> bytes:
        if corrected.corrections or corrected.suggestions or corrected.unprocessed:
            self._told.append((corrected, before))
        elif before.characters == 0:  # the file itself, without its text
            start = corrected.document.text[:1]
            emptied = dataclasses.replace(corrected.document, text=start, protected=())
            self._told.append((CorrectedDocument(emptied, ()), before))
        return b""

    def end(self, totals: Summary) -> bytes:
        from corrector.render.sarif import render_sarif

        return _readable(render_sarif(self._told, self._version, self._model, not totals.failed))


def _readable(text: str) -> bytes:
    """UTF-8, with the bytes of an undecodable file name as they are."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # lone surrogates that some encodings can bring
        return text.encode("utf-8", "backslashreplace")


def report_named(name: str, model: str, version: str, color: bool) -> Report:
    """The report that ``--format`` names, or ``diff``, or none for ``text``."""
    if name == "human":
        return HumanReport(color)
    if name == "html":
        return HtmlReport()
    if name == "github":
        return GithubReport()
    if name == "gitlab":
        return GitlabReport()
    if name == "json":
        return JsonReport(model, version)
    if name == "sarif":
        return SarifReport(model, version)
    return DiffReport() if name == "diff" else Silence()
