"""The parts of a job without a cluster: pieces that cover the input once, rows that change only where they should."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrector.errors import ConfigError, InputError
from corrector.ray import pieces, rows
from corrector.ray.__main__ import main
from corrector.ray.job import Job
from corrector.ray.pieces import MOST_PIECES, Piece, files_of, lines_of, pieces_of
from corrector.ray.rows import Counts, json_rows, text_rows
from corrector.types import CorrectedDocument, Document
from tests.fakes import FakeCorrector, write

SURE = {"天汽": "天气", "平果": "苹果"}
CORRECTION = '{"start": 0, "end": 2, "original": "平果", "replacement": "苹果", "confidence": 0.9877, "reason": "same_sound"}'


def corrected_json(*lines: bytes, column: str = "text") -> tuple[list[bytes], Counts]:
    counts, offset, numbered = Counts(), 0, []
    for line in lines:
        numbered.append((offset, line))
        offset += len(line)
    return list(json_rows(FakeCorrector(SURE), "a.jsonl", numbered, column, "new", counts)), counts


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=6))
def test_pieces_give_every_line_once(tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list[int]) -> None:
    path = write(tmp_path_factory.mktemp("lines") / "a.txt", data.replace(b"\x00", b"\n"))
    data = path.read_bytes()
    edges = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    several = [Piece(0, str(path), start, end) for start, end in zip(edges, edges[1:], strict=False)]
    found = [line for piece in several for line in lines_of(piece)]
    assert b"".join(line for _, line in found) == data
    assert [line for _, line in found] == data.splitlines(keepends=True) or b"\r" in data or b"\x0b" in data or b"\x0c" in data
    assert all(data.startswith(line, offset) for offset, line in found)


def test_pieces_are_few_and_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [str(write(tmp_path / name, b"x" * size)) for name, size in (("a", 300_000), ("b", 0), ("c", 70_000))]
    found = pieces_of(files, "text", 2)
    assert [piece.number for piece in found] == list(range(len(found)))
    assert [(piece.path[-1], piece.start) for piece in found] == [
        ("a", 0), ("a", 65_536), ("a", 131_072), ("a", 196_608), ("a", 262_144), ("c", 0), ("c", 65_536)
    ]  # fmt: skip
    monkeypatch.setattr(pieces, "SMALLEST", 1)
    monkeypatch.setattr(pieces, "LARGEST", 1)
    assert MOST_PIECES // 2 < len(pieces_of(files, "text", 2)) <= MOST_PIECES + len(files)


def test_files_of_a_folder(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "_summary.jsonl", ".c.jsonl", "note.md"):
        write(tmp_path / name, b"{}\n")
    (tmp_path / "_old").mkdir()
    write(tmp_path / "_old" / "d.jsonl", b"")
    assert files_of(str(tmp_path), None) == ([str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")], "jsonl")
    write(tmp_path / "x.txt", b"")
    with pytest.raises(ConfigError, match="jsonl and text files; choose one by --format"):
        files_of(str(tmp_path), None)
    assert files_of(str(tmp_path), "text")[0][-1].endswith("x.txt")


@pytest.mark.parametrize(
    "name, message", [("none", "is not there"), ("a.jsonl.gz", "is compressed"), ("a.md", "give --format text, jsonl or parquet")]
)
def test_what_is_no_input(tmp_path: Path, name: str, message: str) -> None:
    write(tmp_path / "a.jsonl.gz", b"")
    write(tmp_path / "a.md", b"")
    with pytest.raises((InputError, ConfigError), match=message):
        files_of(str(tmp_path / name), None)


def test_a_row_of_json_gets_two_keys_and_keeps_its_bytes() -> None:
    lines = [
        b'{"n": 1.50, "text":"\\u5e73\xe6\x9e\x9c" , "a":[1,\t2] }  \r\n',
        '{"text": "好"}'.encode(),
    ]
    found, counts = corrected_json(*lines)
    assert found == [
        b'{"n": 1.50, "text":"\\u5e73\xe6\x9e\x9c" , "a":[1,\t2], ' + f'"new": "苹果", "corrections": [{CORRECTION}]}}\r\n'.encode(),
        '{"text": "好", "new": "好", "corrections": []}\n'.encode(),
    ]
    assert counts == Counts(rows=2, characters=3, corrections=1)


@pytest.mark.parametrize(
    "line, why",
    [
        (b"{\n", "not JSON"),
        (b'{"text": "\xff"}\n', "not UTF-8"),
        (b'["text"]\n', "not a JSON object"),
        (b'{"text": 3}\n', "no text under 'text'"),
        (b'{"title": "x"}\n', "no text under 'text'"),
        (b'{"text": "x", "new": null}\n', "it has a key 'new' already"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        ('{"text": "x"}\n'.encode("utf-16-be"), "not JSON"),
    ],
)
def test_a_row_that_cannot_be_processed_stays_and_is_counted(line: bytes, why: str) -> None:
    good = '{"text": "平果"}\n'.encode()
    found, counts = corrected_json(good, line, b"\n", good)
    assert found[1:3] == [line, b"\n"]
    assert json.loads(found[3])["new"] == "苹果"
    assert (counts.rows, counts.passed, counts.first) == (3, 1, f"a.jsonl: byte {len(good)}: {why}")


def test_halves_of_pairs_and_byte_order_marks() -> None:
    found, counts = corrected_json('\ufeff{"text": "平果"}\n'.encode(), b'{"text": "\\ud800"}\n')
    assert found[0].startswith('\ufeff{"text": "平果", "new": "苹果"'.encode())
    assert found[1] == b'{"text": "\\ud800", "new": "\\ud800", "corrections": []}\n'
    assert counts.passed == 0


TEXTS = st.text("平果好\ud800a\"\\\n", max_size=9)


@given(st.dictionaries(st.text(max_size=5), st.integers() | TEXTS, max_size=4), TEXTS)
def test_every_json_row_reads_back(other: dict[str, object], text: str) -> None:
    value = {**other, "text": text}
    value.pop("new", None)
    value.pop("corrections", None)
    [line], counts = corrected_json(json.dumps(value).encode() + b"\n")
    read = json.loads(line)
    assert read == {**value, "new": text.replace("平果", "苹果"), "corrections": read["corrections"]}
    assert counts.corrections == text.count("平果") == len(read["corrections"])


def test_lines_of_text_and_the_list_of_their_corrections() -> None:
    lines = ["好。\r\n".encode(), "平果。\n".encode(), b"\xff\n", "天汽".encode()]
    offsets = [0, 8, 18, 20]
    counts = Counts()
    found = list(text_rows(FakeCorrector(SURE), "a.txt", zip(offsets, lines, strict=True), counts))
    assert [line for line, _ in found] == ["好。\r\n".encode(), "苹果。\n".encode(), b"\xff\n", "天气".encode()]
    assert [json.loads(record)["offset"] for _, record in found if record] == [8, 20]
    assert found[1][1].decode() == f'{{"path": "a.txt", "offset": 8, "corrections": [{CORRECTION}]}}\n'
    assert (counts.rows, counts.passed, counts.first) == (4, 1, "a.txt: byte 18: not UTF-8")


def test_a_very_long_line_goes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LONG_LINE", 64)
    line = "今天天汽很好，平果。" * 40
    seen = []

    class Watching(FakeCorrector):
        def correct_document(self, document: Document) -> CorrectedDocument:
            seen.append(len(document.text))
            return super().correct_document(document)

    counts = Counts()
    [(whole, record), (short, _)] = text_rows(Watching(SURE), "a.txt", [(0, line.encode()), (1, "平果".encode())], counts)
    assert whole.decode() == line.replace("天汽", "天气").replace("平果", "苹果") and short.decode() == "苹果"
    assert max(seen) <= 64 and len(seen) > 6
    for correction in json.loads(record)["corrections"]:
        assert line[correction["start"] : correction["end"]] == correction["original"]
    assert counts.corrections == 81


def test_markers_hold_for_all_of_a_very_long_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LONG_LINE", 64)
    kept, rest = "electra-correct: off " + "平果好吃。" * 40, "\nelectra-correct: on " + "平果好吃。" * 40
    [line], counts = corrected_json(json.dumps({"text": kept + rest}).encode())
    assert json.loads(line)["new"] == kept + rest.replace("平果", "苹果")
    assert counts.corrections == 40


def test_a_row_of_parquet_that_is_not_utf_8_stays_and_is_counted(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    from corrector.ray.table import write_piece

    good = "平果".encode()
    offsets = pa.array([0, 6, 8, 8, 14], pa.int32()).buffers()[1]
    texts = pa.Array.from_buffers(pa.string(), 4, [None, offsets, pa.py_buffer(good + b"\xff\xfe" + good)])
    for column in (texts, texts.dictionary_encode()):
        pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
        counts = Counts()
        piece = Piece(0, str(tmp_path / "a.parquet"), 0, 4)
        write_piece(FakeCorrector(SURE), piece, "text", "new", str(tmp_path / "b.parquet"), counts)
        found = pq.read_table(tmp_path / "b.parquet")
        assert found.column("new").to_pylist() == ["苹果", None, "", "苹果"]
        assert found.column("text").cast(pa.binary()).to_pylist() == [good, b"\xff\xfe", b"", good]
        assert (counts.rows, counts.passed, counts.first) == (4, 1, f"{tmp_path}/a.parquet: row 1: not UTF-8")


def test_a_parquet_file_may_have_braces_in_its_name(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    from corrector.ray.table import write_piece

    path, counts = tmp_path / "{a}.parquet", Counts()
    pq.write_table(pa.table({"text": [None, "平果"]}), path)
    write_piece(FakeCorrector(SURE), Piece(0, str(path), 0, 2), "text", "new", str(tmp_path / "b.parquet"), counts)
    assert pq.read_table(tmp_path / "b.parquet").column("new").to_pylist() == [None, "苹果"]
    assert counts.first == f"{path}: row 0: no text"


@pytest.mark.parametrize("model, whole", [("./mine", True), ("mine", True), ("electra-csc-zh", False), ("none", False), (None, False)])
def test_workers_find_a_model_wherever_they_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str | None, whole: bool
) -> None:
    asked: list[Job] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("corrector.ray.job.run_job", lambda job, _: asked.append(job) or Counts())
    (tmp_path / "mine").mkdir()
    (tmp_path / "electra-csc-zh").mkdir()  # the name of the embedded model goes before a folder here
    main(["a.txt", "out", *(("--model", model) if model else ())], standalone_mode=False)
    assert asked[0].settings.model == (str(tmp_path / "mine") if whole else model)
