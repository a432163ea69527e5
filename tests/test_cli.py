"""The command line as data: a case of cases/cli.json is arguments, standard input and files, and what comes of them."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import corrector
from corrector import cli
from corrector.errors import ModelError
from corrector.text.files import BLOCK_CHARACTERS
from tests.fakes import FakeCorrector, write

ROOT = Path(__file__).resolve().parent.parent
CASES = json.loads((ROOT / "tests/cases/cli.json").read_text(encoding="utf-8"))
SURE, DOUBTFUL = {"天汽": "天气", "平果": "苹果"}, {"做": "作"}

# A program that runs the command with the fake corrector in a process of its own.
PROGRAM = f"""
import sys, types
sys.path.insert(0, {str(ROOT)!r})
from tests.fakes import FakeCorrector
pipeline = types.ModuleType("corrector.pipeline")
pipeline.Corrector = lambda model, min_confidence: FakeCorrector({SURE!r}, min_confidence=min_confidence)
sys.modules["corrector.pipeline"] = pipeline
import corrector
corrector.__version__ = "9.9.9"
from corrector.cli import main
sys.exit(main())
"""


def fake_corrector(model: str | None, *, min_confidence: float | None = None) -> FakeCorrector:
    if model is not None:
        raise ModelError(model, "no such model")
    return FakeCorrector(SURE, DOUBTFUL, min_confidence=min_confidence, fails_on="坏")


@dataclass(frozen=True)
class Outcome:
    """What one run left: its exit code and the bytes of its streams."""

    status: int
    stdout: bytes
    stderr: bytes


class Shell:
    """Runs the command within this process, with the fake corrector, in an empty directory."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
        self.directory = directory
        pipeline = ModuleType("corrector.pipeline")
        pipeline.Corrector = fake_corrector  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "corrector.pipeline", pipeline)
        monkeypatch.setattr(corrector, "__version__", "9.9.9", raising=False)
        monkeypatch.chdir(directory)

    def run(self, *arguments: str, stdin: bytes | None = b"") -> Outcome:
        stdout, stderr = io.BytesIO(), io.BytesIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", None if stdin is None else io.TextIOWrapper(io.BytesIO(stdin)))
            patch.setattr(sys, "stdout", io.TextIOWrapper(stdout, encoding="utf-8", newline="\n", write_through=True))
            patch.setattr(sys, "stderr", io.TextIOWrapper(stderr, encoding="utf-8", newline="\n", write_through=True))
            status = cli.main(arguments)
            return Outcome(status, stdout.getvalue(), stderr.getvalue())


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    return Shell(monkeypatch, tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any], shell: Shell) -> None:
    encoding = case.get("encoding", "utf-8")
    for name, text in case["files"].items():
        write(shell.directory / name, text.encode(encoding))
    outcome = shell.run(*case["args"], stdin=case["stdin"].encode(encoding))
    stderr = outcome.stderr.decode()
    assert outcome.stdout == case["stdout"].encode(encoding)
    assert case["stderr"] in stderr
    assert bool(case["stderr"]) == bool(stderr)
    assert outcome.status == case["status"]
    after = {path.name: path.read_bytes() for path in shell.directory.iterdir()}
    assert after == {name: text.encode(encoding) for name, text in case.get("files_after", case["files"]).items()}


def test_corrected_text_is_left_as_it_is(shell: Shell) -> None:
    once = shell.run(stdin="天汽\r\n平果".encode()).stdout
    assert once == "天气\r\n苹果".encode()
    assert shell.run(stdin=once).stdout == once


@pytest.mark.parametrize("source", ["stdin", "file"])
def test_offsets_are_global_to_a_long_input(source: str, shell: Shell) -> None:
    lines = BLOCK_CHARACTERS // 2
    data = ("好。\r\n" * lines + "吃平果").encode()  # several blocks
    write(shell.directory / "a.txt", data)
    outcome = shell.run("--format", "json", *(["a.txt"] if source == "file" else []), stdin=data)
    record, summary = map(json.loads, outcome.stdout.splitlines())
    assert (record["start"], record["line"], record["column"]) == (4 * lines + 1, lines + 1, 2)
    assert (summary["characters"], summary["corrections"]) == (4 * lines + 3, 1)


def test_a_line_of_200_000_characters(shell: Shell) -> None:
    outcome = shell.run(stdin=("很" * 200_000 + "平果").encode())
    assert (outcome.status, outcome.stdout) == (0, ("很" * 200_000 + "苹果").encode())


def test_help_names_every_exit_code(shell: Shell) -> None:
    outcome = shell.run("-h")
    text = outcome.stdout.decode()
    assert outcome.status == 0
    assert text.startswith("Usage: electra-correct [OPTIONS] [INPUT]")
    assert re.findall(r"^ +(\d+)  ", text, re.MULTILINE) == ["0", "1", "2", "123", "130"]


@pytest.mark.parametrize(
    ("fault", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "\n"),
        (RuntimeError("oops"), 123, "error: internal fault, please report it: RuntimeError: oops\n"),
        (OSError(5, "broken disk"), 123, "error: [Errno 5] broken disk\n"),
    ],
)
def test_no_fault_shows_a_traceback(
    fault: BaseException, status: int, message: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise fault

    monkeypatch.setattr(FakeCorrector, "correct_document", fail)
    outcome = shell.run(stdin=b"a")
    assert (outcome.status, outcome.stderr.decode()) == (status, message)


def test_closed_standard_input_is_an_error(shell: Shell) -> None:
    outcome = shell.run(stdin=None)
    assert outcome.status == 123
    assert outcome.stderr.startswith(b"error: <stdin>: cannot be read")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 123, "error: <stdout>: cannot be written: standard output is closed\n"),
        (["--check"], 1, "a.txt: 1 correction to make\n"),
        (["-o", "b.txt"], 0, ""),
    ],
)
def test_closed_standard_output(
    arguments: list[str], status: int, message: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(shell.directory / "a.txt", "平果".encode())
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", stderr)
    assert cli.main(["a.txt", *arguments]) == status
    assert stderr.getvalue() == message


def test_what_came_before_an_undecodable_line_is_written(shell: Shell) -> None:
    class Slow(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            return self.readline()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "BytesIO", Slow)
        outcome = shell.run(stdin="平果\n好".encode() + b"\xff\n")
    assert (outcome.status, outcome.stdout) == (123, "苹果\n".encode())
    assert outcome.stderr.startswith(b"error: <stdin>:2: not valid UTF-8 (byte 10)")


def test_each_line_comes_back_before_the_next_is_sent() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdin.write("平果\n".encode())
            process.stdin.flush()
            assert process.stdout.readline() == "苹果\n".encode()  # would wait forever for a block to fill
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


def test_a_reader_that_stops_early_is_no_error() -> None:
    data = "平果\n".encode() * 100_000  # more than a pipe holds
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        try:
            process.stdin.write(data)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], input="平果".encode(), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.stderr == b"error: <stdout>: cannot be written: No space left on device\n"
    assert done.returncode == 123


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["--nonsense"]])
def test_help_loads_no_model_library(arguments: list[str]) -> None:
    program = (
        "import sys, runpy\n"
        f"sys.argv[1:] = {arguments!r}\n"
        "try: runpy.run_module('corrector', run_name='__main__')\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'transformers', 'onnxruntime', 'jieba', 'pypinyin', 'numpy'} & set(sys.modules)\n"
        "sys.stderr.write('loaded ' + repr(sorted(heavy)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.endswith("loaded []")
    assert "electra-correct" in done.stdout + done.stderr
