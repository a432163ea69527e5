from __future__ import annotations

import difflib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.render.diff import Hunks, render_diff, render_hunks
from corrector.render.jsonl import render_corrections, render_summary
from corrector.render.summary import Summary, render_check, render_unprocessed
from corrector.render.text import render_text
from corrector.types import CorrectedDocument, Correction, Document, Span
from tests.fakes import FakeCorrector, write

CORRECTOR = FakeCorrector({"天汽": "天气", "平果": "苹果"}, {"做": "作"})


def test_text_keeps_everything_but_the_corrections() -> None:
    corrected = CORRECTOR.correct("\ufeff天汽\r\n做平果\r好")
    assert render_text(corrected) == "\ufeff天气\r\n做苹果\r好"


def test_json_records_in_the_order_of_the_text() -> None:
    text = "好\r\n天汽\r吃做平果"
    document = Document("a.txt", text)
    records = [json.loads(line) for line in render_corrections(CORRECTOR.correct_document(document)).splitlines()]
    alternative = {"text": "天气", "score": 0.9877, "pinyin_similarity": 0.9123, "glyph_similarity": 0.25}
    assert records[0] == {
        "type": "correction",
        "path": "a.txt",
        "start": 3,
        "end": 5,
        "line": 2,
        "column": 1,
        "original": "天汽",
        "replacement": "天气",
        "confidence": 0.9877,
        "alternatives": [alternative],
        "reason": "same_sound",
        "applied": True,
    }
    assert [(r["original"], r["start"], r["line"], r["column"], r["applied"]) for r in records] == [
        ("天汽", 3, 2, 1, True),
        ("做", 7, 3, 2, False),
        ("平果", 8, 3, 3, True),
    ]


def test_json_counts_on_from_the_blocks_before() -> None:
    before = Summary(files=1).plus(CORRECTOR.correct("\ufeff一\n二\n"))
    assert (before.characters, before.lines) == (5, 2)
    record = json.loads(render_corrections(CORRECTOR.correct("吃平果\n"), before))
    assert (record["start"], record["end"], record["line"], record["column"]) == (6, 8, 3, 2)


def test_no_column_counts_the_byte_order_mark() -> None:
    record = json.loads(render_corrections(CORRECTOR.correct("\ufeff平果")))
    assert (record["start"], record["line"], record["column"]) == (1, 1, 1)


def test_json_of_nothing_is_nothing() -> None:
    assert render_corrections(CORRECTOR.correct("")) == ""


def test_summary_adds_up() -> None:
    corrector = FakeCorrector({"天汽": "天气"}, {"做": "作"}, fails_on="坏")
    summary = Summary(files=1).plus(corrector.correct("天汽做天汽\n坏\n")).plus(corrector.correct("坏"))
    assert summary == Summary(files=1, characters=9, lines=2, corrections=2, suggestions=1, unprocessed=2, columns=1)
    assert json.loads(render_summary(summary, "tiny", "1.2.3")) == {
        "type": "summary",
        "files": 1,
        "characters": 9,
        "corrections": 2,
        "suggestions": 1,
        "unprocessed": 2,
        "model": "tiny",
        "version": "1.2.3",
    }
    assert render_check("a.txt", summary) == "a.txt: 2 corrections to make, 1 suggestion"
    assert render_check("a.txt", Summary()) == "a.txt: nothing to correct"
    assert render_unprocessed("a.txt", summary) == "a.txt: 2 passages could not be processed, left unchanged"


def test_diff_of_a_last_line_without_its_end() -> None:
    assert render_diff("dir/a.txt", "一\n天汽", "一\n天气") == (
        "--- a/dir/a.txt\n+++ b/dir/a.txt\n@@ -1,2 +1,2 @@\n 一\n"
        "-天汽\n\\ No newline at end of file\n+天气\n\\ No newline at end of file\n"
    )
    assert render_diff("a", "天汽\n", "天气\n") == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-天汽\n+天气\n"
    assert render_diff("a", "天气", "天气") == ""
    assert render_diff("a", "", "") == ""


def test_diff_names() -> None:
    def header(path: str | None) -> list[str]:
        return render_diff(path, "错\n", "对\n").split("\n")[:2]

    assert header(None) == ["--- a/<stdin>", "+++ b/<stdin>"]
    assert header("/tmp/a.txt") == ["--- a/tmp/a.txt", "+++ b/tmp/a.txt"]
    assert header("a b") == ["--- a/a b\t", "+++ b/a b\t"]
    assert header('a\n"') == ['--- "a/a\\012\\042"', '+++ "b/a\\012\\042"']


def test_diff_names_of_files_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def name(path: str) -> str:
        return render_diff(path, "错\n", "对\n").split("\n")[0].removeprefix("--- a/")

    (tmp_path / "one" / "two").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "one" / "two")
    assert (name("./a.txt"), name("b/./a.txt"), name("b/../a.txt")) == ("a.txt", "b/a.txt", "a.txt")
    assert name("../../../" + tmp_path.name + "/one/two/a.txt") == "a.txt"
    assert name("../a.txt") == os.path.realpath(tmp_path / "one" / "a.txt").lstrip("/")
    (tmp_path / ".git").mkdir()
    assert (name("../a.txt"), name("../../a.txt")) == ("one/a.txt", "a.txt")  # from the repository on


def test_diff_refuses_texts_with_different_lines() -> None:
    with pytest.raises(ValueError, match="number of lines: 2 and 1"):
        render_diff("a", "一\n二", "一 二")


LINES = st.lists(st.tuples(st.sampled_from("一二三"), st.booleans()), max_size=40)


@settings(deadline=None)
@given(LINES, st.booleans())
def test_diff_is_the_one_difflib_writes(lines: list[tuple[str, bool]], ended: bool) -> None:
    # Numbered lines, so that difflib has only one way to match them.
    source = [f"{number}{char}\n" for number, (char, _) in enumerate(lines)]
    target = [f"{number}{'对' if wrong else char}\n" for number, (char, wrong) in enumerate(lines)]
    if source and not ended:
        source[-1], target[-1] = source[-1][:-1], target[-1][:-1]
    expected = "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(source, target, "a/x", "b/x")
    )
    assert render_diff("x", "".join(source), "".join(target)) == expected


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the patch program")
@pytest.mark.parametrize(
    "text", ["平果", "一\r\n平果\r\n三\r\n", "\ufeff平果\n\n\n\n\n\n\n\n\n平果\r好", "x\n" * 50 + "平果\n" + "x\n" * 50]
)
@pytest.mark.parametrize("name", ["a.txt", "a b.txt", 'a"b.txt'])
def test_patch_applies_the_diff(tmp_path: Path, name: str, text: str) -> None:
    path = write(tmp_path / name, text.encode())
    expected = text.replace("平果", "苹果")
    diff = render_diff(name, text, expected).encode()
    subprocess.run(["patch", "-p1", "--quiet", "--fuzz=0"], input=diff, cwd=tmp_path, check=True)
    assert path.read_bytes() == expected.encode()


def test_numbers_are_plain_and_rounded() -> None:
    numpy = pytest.importorskip("numpy")
    correction = Correction(Span(0, 1), "错", "对", numpy.float32(0.123456))
    record = json.loads(render_corrections(CorrectedDocument(Document(None, "错"), (correction,))))
    assert (record["confidence"], record["path"], record["alternatives"]) == (0.1235, None, [])


@given(
    st.lists(st.tuples(st.sampled_from(["好", "错", "错好", ""]), st.sampled_from(["\n", "\r\n", "\n", ""])), max_size=60),
    st.integers(1, 9),
)
def test_a_diff_in_pieces_is_the_diff_of_the_whole(lines: list[tuple[str, str]], size: int) -> None:
    source = "".join(text + end for text, end in lines)
    target = source.replace("错", "对")
    hunks = Hunks()
    pieces = [hunks.add(source[at : at + size], target[at : at + size]) for at in range(0, len(source), size)]
    assert "".join(pieces) + hunks.end() == render_hunks(source, target)
