"""GitHub annotations: workflow commands that a job prints and GitHub shows beside the lines of a pull request.

Corrections are warnings, suggestions notices. Columns count code points from 1, as in every report of ours; GitHub's
documentation names no unit. ``endColumn`` is the last column of the correction: where it is missing, GitHub takes the first.
"""

from __future__ import annotations

import posixpath

from corrector.render.columns import safe
from corrector.render.describe import alternatives, described
from corrector.render.findings import Finding, findings
from corrector.render.summary import Summary
from corrector.text.decode import STDIN
from corrector.types import CorrectedDocument, Document


def render_annotations(corrected: CorrectedDocument, before: Summary | None = None) -> str:
    """One workflow command a correction or suggestion; a text without a path, and a part of a package, is named in the message."""
    return "".join(_command(corrected.document, finding) for finding in findings(corrected, before))


def _command(document: Document, finding: Finding) -> str:
    correction = finding.correction
    change = f"{safe(correction.original)} → {safe(correction.replacement)}"
    properties = {"title": f"Spelling: {change}" if finding.applied else f"Spelling? {change}"}
    message = described(correction)
    if others := alternatives(correction):
        message += f" (or {others})"
    file = None if document.file == STDIN else document.file
    if document.part:
        message = f"{document.part}: {message}"
    if file is None:
        message = f"{STDIN}:{finding.line}:{finding.column}: {message}"
    else:
        last = finding.column + len(correction.span) - 1
        place = {"file": posixpath.normpath(file), "line": finding.line, "col": finding.column, "endColumn": last}
        properties = {name: str(value) for name, value in place.items()} | properties
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{'warning' if finding.applied else 'notice'} {listed}::{_data(message)}\n"


def _data(text: str) -> str:
    """Escaped as the message of a command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escaped as the value of a property."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
