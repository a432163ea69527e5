"""JSON lines: one record a correction or suggestion in the order of the text, then one summary record.

``schema/corrections.schema.json`` is the JSON Schema of both.
"""

from __future__ import annotations

import json
from typing import Any

from corrector.render.findings import findings
from corrector.render.summary import Summary
from corrector.types import CorrectedDocument, Correction, RankedCandidate

CONFIDENCE_DIGITS = 4


def render_corrections(corrected: CorrectedDocument, before: Summary | None = None) -> str:
    """One line a correction (``applied`` true) or suggestion (false).

    ``before`` sums up the blocks of the same input that came earlier: offsets and lines count on from there. Offsets
    count code points from 0, a byte-order mark included; lines and columns count from 1, and no column counts the mark.
    """
    records = []
    for finding in findings(corrected, before):
        record = {
            "type": "correction",
            "path": corrected.document.path,
            "start": finding.start,
            "end": finding.end,
            "line": finding.line,
            "column": finding.column,
            **_edit(finding.correction),
            "applied": finding.applied,
        }
        records.append(_line(record))
    return "".join(records)


def render_summary(summary: Summary, model: str, version: str) -> str:
    """The last line: what was counted, by which model and version."""
    return _line(
        {
            "type": "summary",
            "files": summary.files,
            "characters": summary.characters,
            "corrections": summary.corrections,
            "suggestions": summary.suggestions,
            "unprocessed": summary.unprocessed,
            "model": model,
            "version": version,
        }
    )


def _edit(correction: Correction) -> dict[str, Any]:
    return {
        "original": correction.original,
        "replacement": correction.replacement,
        "confidence": _rounded(correction.confidence),
        "alternatives": [_alternative(ranked) for ranked in correction.alternatives],
        "reason": correction.reason,
    }


def _alternative(ranked: RankedCandidate) -> dict[str, Any]:
    return {
        "text": ranked.candidate.text,
        "score": _rounded(ranked.score),
        "pinyin_similarity": _rounded(ranked.pinyin_similarity),
        "glyph_similarity": _rounded(ranked.glyph_similarity),
    }


def _rounded(value: float) -> float:
    return round(float(value), CONFIDENCE_DIGITS)  # float(): the models' numbers may be numpy's


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
