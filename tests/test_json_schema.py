"""The published schema of the JSON lines describes them, all of them, and nothing else."""

from __future__ import annotations

import configparser
import json
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.render.jsonl import render_corrections, render_summary
from corrector.render.summary import Summary
from corrector.types import Document, Reason
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"天汽": "天气", "平果": "苹果"}, {"做": "作"})
SCHEMA = json.loads((files("corrector.render") / "schema" / "corrections.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def records(path: str | None, text: str) -> list[dict[str, Any]]:
    corrected = CORRECTOR.correct_document(Document(path, text))
    lines = render_corrections(corrected) + render_summary(Summary(files=1).plus(corrected), "tiny", "1.2.3")
    return [json.loads(line) for line in lines.split("\n")[:-1]]


def test_it_is_a_schema() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    VALIDATOR.check_schema(SCHEMA)


@settings(deadline=None)
@given(st.text(max_size=30), st.none() | st.text(min_size=1))
def test_every_record_is_valid(text: str, path: str | None) -> None:
    found = records(path, f"{text}\n平果，做")
    assert len(found) >= 3
    for record in found:
        VALIDATOR.validate(record)


def test_every_property_is_written_and_every_written_one_described() -> None:
    """So that neither the schema nor the output can grow alone."""
    correction, summary = records("a.txt", "平果")
    assert list(correction) == list(SCHEMA["$defs"]["correction"]["properties"])
    assert list(summary) == list(SCHEMA["$defs"]["summary"]["properties"])
    assert list(correction["alternatives"][0]) == list(SCHEMA["$defs"]["alternative"]["properties"])
    for definition in ("correction", "summary", "alternative"):
        assert SCHEMA["$defs"][definition]["required"] == list(SCHEMA["$defs"][definition]["properties"])


def test_reasons_are_those_of_the_types() -> None:
    assert SCHEMA["$defs"]["correction"]["properties"]["reason"]["enum"] == list(get_args(Reason))


@pytest.mark.parametrize(
    "change",
    [
        {"type": "other"},
        {"start": -1},
        {"start": 1.5},
        {"end": 0},
        {"line": 0},
        {"column": 0},
        {"path": ""},
        {"original": ""},
        {"confidence": 1.01},
        {"confidence": "high"},
        {"reason": "同音"},
        {"applied": None},
        {"alternatives": [{"text": "x"}]},
        {"more": 1},
    ],
)
def test_what_is_wrong_is_refused(change: dict[str, Any]) -> None:
    record = records("a.txt", "平果")[0]
    assert VALIDATOR.is_valid(record)
    assert not VALIDATOR.is_valid(record | change)


@pytest.mark.parametrize("missing", ["type", "applied", "confidence", "alternatives"])
def test_nothing_may_be_missing(missing: str) -> None:
    record = records("a.txt", "平果")[0]
    del record[missing]
    assert not VALIDATOR.is_valid(record)


def test_a_summary_counts() -> None:
    summary = records("a.txt", "")[0]
    assert VALIDATOR.is_valid(summary)
    assert not VALIDATOR.is_valid(summary | {"files": -1})
    assert not VALIDATOR.is_valid({name: value for name, value in summary.items() if name != "model"})


def test_it_is_packaged_and_documented() -> None:
    root = Path(__file__).resolve().parents[1]
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.read(root / "setup.cfg", encoding="utf-8")
    assert "schema/*.json" in parser["options.package_data"]["corrector.render"]
    assert "corrector/render/schema/corrections.schema.json" in (root / "README.md").read_text("utf-8")
