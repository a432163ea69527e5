"""GitHub annotations: one workflow command a finding, escaped so that the runner reads back what was meant."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.render.github import render_annotations
from corrector.render.summary import Summary
from corrector.types import Document
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"天汽": "天气", "平果": "苹果"}, {"做": "作"})


def commands(path: str | None, text: str, before: Summary | None = None) -> list[str]:
    return render_annotations(CORRECTOR.correct_document(Document(path, text)), before).splitlines()


def read_back(command: str) -> tuple[str, dict[str, str], str]:
    """What GitHub's runner makes of a line: the command, its properties, its message (by the rules of its source)."""
    match = re.fullmatch(r"::([^ ]+) (.*?)::(.*)", command)
    assert match is not None
    listed = dict(pair.split("=", 1) for pair in match[2].split(","))
    properties = {name: _unescaped(value.replace("%3A", ":").replace("%2C", ",")) for name, value in listed.items()}
    return match[1], properties, _unescaped(match[3])


def _unescaped(value: str) -> str:
    return value.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def test_corrections_are_warnings_and_suggestions_notices() -> None:
    assert commands("docs/a.txt", "\ufeff好\r\n𠀀做天汽") == [
        "::notice file=docs/a.txt,line=2,col=2,endColumn=2,title=Spelling? 做 → 作::做 → 作  同音 (zuò)  40 %25",
        "::warning file=docs/a.txt,line=2,col=3,endColumn=4,title=Spelling%3A 天汽 → 天气::"
        "天汽 → 天气  同音 (tiān qì)  99 %25",
    ]


def test_what_has_no_path_is_named_in_the_message() -> None:
    assert commands(None, "平果") == [
        "::warning title=Spelling%3A 平果 → 苹果::<stdin>:1:1: 平果 → 苹果  同音 (píng guǒ)  99 %25"
    ]


def test_a_part_of_a_word_document_is_named_in_the_message() -> None:
    for path, place in (("d/a.docx", "file=d/a.docx,line=1,col=1,endColumn=2,"), ("<stdin>", "")):
        document = Document(f"{path}/word/header1.xml", "平果", part="word/header1.xml")
        said = "" if place else "<stdin>:1:1: "
        assert render_annotations(CORRECTOR.correct_document(document)) == (
            f"::warning {place}title=Spelling%3A 平果 → 苹果::{said}word/header1.xml: 平果 → 苹果  同音 (píng guǒ)  99 %25\n"
        )


def test_names_are_escaped_and_relative_to_the_repository() -> None:
    (command,) = commands("./a/../50%,b:c\r\nd.txt", "平果")
    assert command.startswith("::warning file=50%25%2Cb%3Ac%0D%0Ad.txt,line=1,")
    assert read_back(command)[1]["file"] == "50%,b:c\r\nd.txt"


def test_lines_count_on_from_the_blocks_before() -> None:
    before = Summary(files=1).plus(CORRECTOR.correct("一\n二"))
    assert commands("a", "平果", before)[0].startswith("::warning file=a,line=2,col=2,endColumn=3,")


def test_nothing_found_is_nothing_said() -> None:
    assert commands("a.txt", "好") == []


@settings(deadline=None, max_examples=150)
@given(st.text("ab.%:,\r\n=%025A", min_size=1).filter(lambda name: name.strip("./")))
def test_every_name_is_read_back(name: str) -> None:
    # A name that itself looks escaped ("%0A") is safe because its own % is escaped first.
    rendered = render_annotations(CORRECTOR.correct_document(Document(f"x/{name}", "平果")))
    assert rendered.count("\n") == 1 and "\r" not in rendered
    kind, properties, message = read_back(rendered[:-1])
    assert (kind, properties["line"], properties["endColumn"]) == ("warning", "1", "2")
    assert message.startswith("平果 → 苹果  同音 (píng guǒ)  99 %")
    assert _unescaped(rendered.partition("file=")[2].partition(",line=")[0]).count("\n") == name.count("\n")
