"""GitLab's Code Quality report: a JSON array, which a job leaves as an artifact and GitLab shows in a merge request.

Corrections are minor, suggestions informations. The fingerprint, by which GitLab tells new findings from those it has seen, is made of
what stands on the line and not of its number.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections import Counter
from collections.abc import Iterator
from typing import Any

from corrector.render.describe import alternatives, described
from corrector.render.findings import Finding, findings
from corrector.render.summary import Summary
from corrector.text.decode import STDIN
from corrector.types import CorrectedDocument


class GitlabFindings:
    """The findings of all inputs; counts those that are alike, which are told apart by their number."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def of(self, corrected: CorrectedDocument, before: Summary) -> Iterator[str]:
        """Each finding of a block as JSON; ``before`` sums up the blocks of the same input ahead of it."""
        for finding in findings(corrected, before):
            yield json.dumps(self._finding(corrected, finding), ensure_ascii=False)

    def _finding(self, corrected: CorrectedDocument, finding: Finding) -> dict[str, Any]:
        correction, document = finding.correction, corrected.document
        others = alternatives(correction)
        where = f"{document.part}: " if document.part else ""
        return {
            "description": where + described(correction) + (f" (or {others})" if others else ""),
            "check_name": f"electra-correct/{correction.reason.replace('_', '-')}",
            "fingerprint": self._fingerprint(corrected, finding),
            "severity": "minor" if finding.applied else "info",
            "location": {"path": posixpath.normpath(document.file or STDIN), "lines": {"begin": finding.line}},
        }

    def _fingerprint(self, corrected: CorrectedDocument, finding: Finding) -> str:
        correction, document = finding.correction, corrected.document
        line = document.text[finding.line_span.start : finding.line_span.end]
        same = "\0".join((document.path or STDIN, line, correction.original, correction.replacement))
        self._seen[same] += 1
        return hashlib.sha256(f"{same}\0{self._seen[same]}".encode("utf-8", "backslashreplace")).hexdigest()
