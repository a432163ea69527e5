"""GitLab's Code Quality report, by the fields its documentation asks for."""

from __future__ import annotations

import json
from typing import Any

from corrector.render.gitlab import GitlabFindings
from corrector.render.summary import Summary
from corrector.reports import report_named
from corrector.types import Document
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"天汽": "天气", "平果": "苹果"}, {"做": "作"})


def report(*documents: Document) -> Any:
    made = report_named("gitlab", "fake", "1", color=False)
    written = b"".join(made.block(CORRECTOR.correct_document(one), Summary(files=1)) + made.end_of_text() for one in documents)
    return json.loads(written + made.end(Summary()))


def test_corrections_are_minor_and_suggestions_informations() -> None:
    found = report(Document("./docs/a.txt", "好\n做天汽"), Document("b.docx/word/document.xml", "平果", part="word/document.xml"))
    assert [{key: value for key, value in one.items() if key != "fingerprint"} for one in found] == [
        {"description": "做 → 作  同音 (zuò)  40 %", "check_name": "electra-correct/same-sound", "severity": "info",
         "location": {"path": "docs/a.txt", "lines": {"begin": 2}}},
        {"description": "天汽 → 天气  同音 (tiān qì)  99 %", "check_name": "electra-correct/same-sound", "severity": "minor",
         "location": {"path": "docs/a.txt", "lines": {"begin": 2}}},
        {"description": "word/document.xml: 平果 → 苹果  同音 (píng guǒ)  99 %",
         "check_name": "electra-correct/same-sound", "severity": "minor", "location": {"path": "b.docx", "lines": {"begin": 1}}},
    ]  # fmt: skip


def test_nothing_found_is_an_empty_list() -> None:
    assert report() == report(Document("a.txt", "好")) == []


def test_fingerprints_differ_and_do_not_depend_on_the_number_of_the_line() -> None:
    def fingerprints(text: str, path: str | None = "a.txt") -> list[str]:
        corrected = CORRECTOR.correct_document(Document(path, text))
        return [json.loads(one)["fingerprint"] for one in GitlabFindings().of(corrected, Summary(files=1))]

    first = fingerprints("平果平果\n平果\n平果\n吃平果\n天汽")
    assert len(set(first)) == 6 and all(len(one) == 64 for one in first)
    assert fingerprints("\n\n平果平果\n平果\n平果\n吃平果\n天汽") == first
    assert set(fingerprints("平果", None)).isdisjoint(fingerprints("平果"))
