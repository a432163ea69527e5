"""SARIF 2.1.0: valid by the official schema, and what its specification demands beyond it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.render.sarif import ROOT, render_sarif
from corrector.render.summary import Summary
from corrector.reports import SarifReport
from corrector.types import CorrectedDocument, Correction, Document, Reason, Span
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"天汽": "天气", "平果": "苹果"}, {"做": "作"}, fails_on="坏")
SCHEMA = Path(__file__).parent / "data" / "sarif-2.1.0-rtm.5.json"


@cache
def validator() -> Any:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def log_of(results: Sequence[tuple[CorrectedDocument, Summary]]) -> dict[str, Any]:
    """The only run of the log, which is valid."""
    text = render_sarif(results, "1.2.3", "tiny")
    assert text.endswith("}\n")
    log = json.loads(text)
    validator().validate(log)
    (run,) = log["runs"]
    return dict(run)


def run_of(path: str | None, text: str, encoding: str = "utf-8") -> dict[str, Any]:
    return log_of([(CORRECTOR.correct_document(Document(path, text, encoding)), Summary(files=1))])


def test_the_schema_refuses_what_is_wrong() -> None:
    log = json.loads(render_sarif([(CORRECTOR.correct("平果"), Summary())], "1", "m"))
    log["runs"][0]["results"][0]["level"] = "suggestion"
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(log)


def test_the_tool_and_its_rules() -> None:
    driver = run_of("a.txt", "好")["tool"]["driver"]
    assert (driver["name"], driver["version"], driver["properties"]) == ("electra-correct", "1.2.3", {"model": "tiny"})
    assert [rule["id"] for rule in driver["rules"]] == [
        "same-sound", "near-sound", "shape", "word", "context", "order", "script", "confusion",
    ]  # fmt: skip


def test_a_correction_and_a_suggestion() -> None:
    run = run_of("docs/a.txt", "好\r\n𠀀做天汽")
    suggestion, correction = run["results"]
    assert (suggestion["level"], suggestion["rank"], suggestion["properties"]["applied"]) == ("note", 40.0, False)
    assert (correction["level"], correction["rank"]) == ("warning", 98.77)
    assert correction["ruleId"] == "same-sound" and correction["ruleIndex"] == 0
    assert correction["message"]["text"] == "天汽 → 天气  同音 (tiān qì)  99 %"
    assert correction["properties"] == {
        "confidence": 0.9877, "original": "天汽", "replacement": "天气", "applied": True,
    }  # fmt: skip
    (location,) = correction["locations"]
    region = {"startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 5, "charOffset": 5, "charLength": 2}
    place = {"uri": "docs/a.txt", "uriBaseId": ROOT, "index": 0}
    assert location["physicalLocation"] == {"artifactLocation": place, "region": region | {"snippet": {"text": "天汽"}}}
    (change,) = correction["fixes"][0]["artifactChanges"]
    assert change == {
        "artifactLocation": place,
        "replacements": [{"deletedRegion": region, "insertedContent": {"text": "天气"}}],
    }
    assert run["columnKind"] == "unicodeCodePoints"


@pytest.mark.parametrize("reason", ["same_sound", "near_sound", "shape", "word", "context", "confusion"])
def test_every_reason_has_its_rule(reason: Reason) -> None:
    document = CorrectedDocument(Document("a", "{错}[x](y)"), (Correction(Span(1, 2), "错", "对", 0.5, (), reason),))
    run = log_of([(document, Summary())])
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == reason.replace("_", "-")


def test_messages_hold_no_placeholder_and_no_link() -> None:
    correction = Correction(Span(0, 5), "[{0}]", "[错](y)"[:5], 0.5)
    (result,) = log_of([(CorrectedDocument(Document("a", "[{0}]"), (correction,)), Summary())])["results"]
    assert result["message"]["text"].startswith(r"\[{{0}}\] → \[错\](y")
    assert result["properties"]["original"] == "[{0}]"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_order_mark_changes_no_number(mark: str) -> None:
    """Also in the blocks after the one that has the mark."""
    first = CORRECTOR.correct_document(Document("a.txt", f"{mark}平果\n"))
    summary = Summary(files=1)
    second = CORRECTOR.correct_document(Document("a.txt", "好平果"))
    run = log_of([(first, summary), (second, summary.plus(first))])
    regions = [result["locations"][0]["physicalLocation"]["region"] for result in run["results"]]
    assert [(r["startLine"], r["startColumn"], r["charOffset"]) for r in regions] == [(1, 1, 0), (2, 2, 4)]
    assert len(run["artifacts"]) == 1


def test_several_files_and_what_was_not_processed() -> None:
    results = [
        (CORRECTOR.correct_document(Document(p, t)), Summary(files=1)) for p, t in (("a", "坏\n"), ("b", "平果"))
    ]
    run = log_of(results)
    assert [artifact["location"]["uri"] for artifact in run["artifacts"]] == ["a", "b"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["index"] == 1
    (invocation,) = run["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert invocation["executionSuccessful"] is True
    assert notification["message"]["text"] == "1 passage could not be processed, left unchanged"
    assert notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a"


def test_an_input_that_failed_is_no_success() -> None:
    report = SarifReport("m", "1")
    log = json.loads(report.end(Summary(failed=1)))
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is False


@pytest.mark.parametrize(("path", "location"), [("d/a.docx", {"uri": "d/a.docx", "uriBaseId": ROOT}), ("<stdin>", None)])
def test_a_word_document_is_one_file_of_several_parts(path: str, location: dict[str, str] | None) -> None:
    parts = {"word/document.xml": "好\n天汽坏", "word/header1.xml": "平果"}
    documents = [Document(f"{path}/{part}", text, part=part) for part, text in parts.items()]
    run = log_of([(CORRECTOR.correct_document(document), Summary(files=1)) for document in documents])
    (artifact,) = run["artifacts"]
    assert artifact.get("location") == location and "encoding" not in artifact
    (warning,) = run["invocations"][0]["toolExecutionNotifications"]
    places = [result["locations"][0] for result in run["results"]] + warning["locations"]
    assert all(place["physicalLocation"]["artifactLocation"] == {**(location or {}), "index": 0} for place in places)
    named = [place["logicalLocations"] for place in places]
    assert named == [[{"fullyQualifiedName": f"word/{part}.xml"}] for part in ("header1", "document")]
    assert not any("fixes" in result for result in run["results"])


def test_nothing_read_is_valid() -> None:
    assert log_of([])["results"] == []


def test_standard_input_has_no_uri() -> None:
    run = run_of(None, "平果")
    (artifact,) = run["artifacts"]
    assert "location" not in artifact and "standardStream" in artifact["roles"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == {"index": 0}


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a.txt", "a.txt"),
        ("./a/../b c.txt", "b%20c.txt"),
        ("天 气/平%.md", "%E5%A4%A9%20%E6%B0%94/%E5%B9%B3%25.md"),
        ("a:b.txt", "a%3Ab.txt"),  # or "a" would be a scheme
        ("x?y#z.txt", "x%3Fy%23z.txt"),
        ("bad\udcff.txt", "bad%FF.txt"),  # a name that is not UTF-8
        ("a.docx/word/document.xml", "a.docx/word/document.xml"),  # of one that was unpacked
    ],
)
def test_relative_paths(path: str, uri: str) -> None:
    location = run_of(path, "平果")["artifacts"][0]["location"]
    assert location == {"uri": uri, "uriBaseId": ROOT}


@pytest.mark.parametrize("path", ["/tmp/天 气.txt", "../天 气.txt"])
def test_paths_out_of_the_directory_are_absolute(path: str) -> None:
    location = run_of(path, "平果")["artifacts"][0]["location"]
    assert "uriBaseId" not in location
    assert location["uri"].startswith("file:///") and location["uri"].endswith("%E5%A4%A9%20%E6%B0%94.txt")


@pytest.mark.parametrize(("encoding", "name"), [("utf-8", "UTF-8"), ("gb18030", "GB18030"), ("utf-16-le", "UTF-16LE")])
def test_encodings_by_their_registered_names(encoding: str, name: str) -> None:
    assert run_of("a", "好", encoding)["artifacts"][0]["encoding"] == name


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=40), st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_whatever_the_text_and_the_name_the_log_is_valid_and_exact(text: str, path: str) -> None:
    start, text = len(text), f"{text}平果{text}做"
    corrections = (Correction(Span(start, start + 2), "平果", "苹果", 0.9),)
    suggestions = (Correction(Span(len(text) - 1, len(text)), "做", "作", 0.4),)
    run = log_of([(CorrectedDocument(Document(path, text), corrections, suggestions), Summary())])
    plain = text.removeprefix("\ufeff")
    assert len(run["results"]) == 2
    for result in run["results"]:
        region = result["locations"][0]["physicalLocation"]["region"]
        offset = region["charOffset"]
        assert plain[offset : offset + region["charLength"]] == result["properties"]["original"]
        line = plain.replace("\r\n", "\n").replace("\r", "\n").split("\n")[region["startLine"] - 1]
        assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == result["properties"]["original"]
    uri = run["artifacts"][0]["location"]["uri"]
    assert uri.isascii() and (urlsplit(uri).scheme in ("", "file")) and unquote(uri)
