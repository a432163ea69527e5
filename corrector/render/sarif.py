"""SARIF 2.1.0, the format of code-scanning services: one run with a result for every correction and suggestion.

Corrections are warnings, suggestions notes; each brings its fix. Columns and offsets count code points, without a
byte-order mark (§3.30.2); ``rank`` is the confidence in per cent. In a package such as a Word document, which is one artifact,
lines are those of a part, named by a logical location, and there are no fixes, which would be made in the bytes of the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from corrector.render.describe import REASONS, alternatives, described
from corrector.render.findings import Finding, findings
from corrector.render.summary import Summary
from corrector.text.decode import STDIN
from corrector.types import CorrectedDocument, Reason

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"
"""What relative paths start from; the name that GitHub and others resolve by themselves."""

_ABOUT: dict[Reason, tuple[str, str]] = {
    "same_sound": ("SameSound", "Another character of the same sound is meant."),
    "near_sound": ("NearSound", "Another character of a similar sound is meant."),
    "shape": ("Shape", "Another character of a similar shape is meant."),
    "word": ("Word", "Another character completes a word of the dictionary."),
    "context": ("Context", "Another character fits the sentence."),
    "order": ("Order", "The characters are meant in the other order."),
    "script": ("Script", "The surroundings are in the other script, Simplified or Traditional."),
    "confusion": ("Confusion", "The list of confusions says so."),
}
_RULES = tuple(_ABOUT)
_ENCODINGS = {"utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE", "utf-32-le": "UTF-32LE", "utf-32-be": "UTF-32BE"}


def render_sarif(
    results: Iterable[tuple[CorrectedDocument, Summary]], version: str, model: str, successful: bool = True
) -> str:
    """The whole log, with a final line end.

    ``results`` are the blocks of all inputs, those of one input in order, each with the summary of the blocks of the same
    input that came before it. ``version`` is the program's, ``model`` the name of the model;
    ``successful`` says whether every input came through.
    """
    artifacts: list[dict[str, Any]] = []
    places: dict[str | None, _Place] = {}
    found: list[dict[str, Any]] = []
    notifications: list[dict[str, Any]] = []
    for corrected, before in results:
        document = corrected.document
        file = None if document.file == STDIN else document.file
        if file not in places:
            mark = before.characters == 0 and document.text.startswith("\ufeff")
            places[file] = _Place(file, len(artifacts), mark)
            artifacts.append(_artifact(file, "" if document.part else document.encoding))
        place = places[file]
        found += (_result(finding, place, document.part) for finding in findings(corrected, before))
        if corrected.unprocessed:
            notifications.append(_notification(corrected.unprocessed, place, document.part))
    run = {
        "tool": {"driver": _driver(version, model)},
        "invocations": [{"executionSuccessful": successful, "toolExecutionNotifications": notifications}],
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\r", "\n"],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The directory the program was run in."}}},
        "artifacts": artifacts,
        "results": found,
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


class _Place:
    """A file among the artifacts: how results point to it, and whether its first character is a byte-order mark."""

    def __init__(self, path: str | None, index: int, mark: bool) -> None:
        self.location = {**_location(path), "index": index}
        self.mark = int(mark)


def _driver(version: str, model: str) -> dict[str, Any]:
    rules = [
        {
            "id": rule_id(reason),
            "name": name,
            "shortDescription": {"text": f"{REASONS[reason]}: {text}"},
            "defaultConfiguration": {"level": "warning"},
            "properties": {"tags": ["spelling", "chinese"]},
        }
        for reason, (name, text) in _ABOUT.items()
    ]
    return {"name": "electra-correct", "version": version, "rules": rules, "properties": {"model": model}}


def rule_id(reason: Reason) -> str:
    """The rule of a reason: ``same-sound``, ``near-sound``, ``shape``, ``word``, ``context``, ``order``, ``script`` or ``confusion``."""
    return reason.replace("_", "-")


def _artifact(path: str | None, encoding: str) -> dict[str, Any]:
    described: dict[str, Any] = {"roles": ["analysisTarget"]}
    if encoding:  # what is no text has none
        described["encoding"] = _ENCODINGS.get(encoding, encoding.upper())
    if path is None:
        return {**described, "roles": ["analysisTarget", "standardStream"], "description": {"text": "standard input"}}
    return {**described, "location": _location(path)}


def _location(path: str | None) -> dict[str, str]:
    """The URI of a file: relative to ROOT where the path is relative and does not lead out of it, else absolute."""
    if path is None:
        return {}
    normal = os.path.normpath(path)
    if os.path.isabs(normal) or normal.split(os.sep)[0] == os.pardir:
        return {"uri": Path(os.path.abspath(normal)).as_uri()}
    return {"uri": quote(os.fsencode(normal.replace(os.sep, "/"))), "uriBaseId": ROOT}


def _located(place: dict[str, Any], part: str) -> dict[str, Any]:
    """A location at this physical place, in this part of the file if there are parts."""
    return {"physicalLocation": place, **({"logicalLocations": [{"fullyQualifiedName": part}]} if part else {})}


def _result(finding: Finding, place: _Place, part: str) -> dict[str, Any]:
    correction = finding.correction
    others = alternatives(correction)
    region = _region(finding, place.mark)
    shown = {**region, "snippet": {"text": correction.original}}
    result: dict[str, Any] = {
        "ruleId": rule_id(correction.reason),
        "ruleIndex": _RULES.index(correction.reason),
        "level": "warning" if finding.applied else "note",
        "message": {"text": _plain(described(correction) + (f" (or {others})" if others else ""))},
        "locations": [_located({"artifactLocation": place.location, "region": shown}, part)],
        "rank": round(100 * float(correction.confidence), 2),
        "properties": {
            "confidence": round(float(correction.confidence), 4),
            "original": correction.original,
            "replacement": correction.replacement,
            "applied": finding.applied,
        },
    }
    if not part:
        change = {"deletedRegion": region, "insertedContent": {"text": correction.replacement}}
        changes = [{"artifactLocation": place.location, "replacements": [change]}]
        result["fixes"] = [{"description": {"text": _plain(f"Write {correction.replacement}")}, "artifactChanges": changes}]
    return result


def _plain(text: str) -> str:
    """Escaped, so that a message has neither placeholders nor links (§3.11.5 and 3.11.6)."""
    escaped = text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return escaped.replace("{", "{{").replace("}", "}}")


def _region(finding: Finding, mark: int) -> dict[str, int]:
    length = finding.end - finding.start
    return {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.line,
        "endColumn": finding.column + length,
        "charOffset": finding.start - mark,
        "charLength": length,
    }


def _notification(unprocessed: int, place: _Place, part: str) -> dict[str, Any]:
    passages = "1 passage" if unprocessed == 1 else f"{unprocessed} passages"
    return {
        "level": "warning",
        "message": {"text": f"{passages} could not be processed, left unchanged"},
        "locations": [_located({"artifactLocation": place.location}, part)],
    }
