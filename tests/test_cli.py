"""The command line as data: a case of cases/cli.json is arguments, standard input and files, and what comes of them."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from corrector import cli, config, interactive, progress
from corrector.electra import model_dir
from corrector.text.files import BLOCK_CHARACTERS
from corrector.text.write import AtomicWriter
from corrector.train.__main__ import main as train
from corrector.types import CorrectedDocument, Document
from tests.fakes import FakeCorrector, write
from tests.packages import docx, text_of
from tests.shell import FakePipelineCorrector, Outcome, Shell

ROOT = Path(__file__).resolve().parent.parent
CASES = json.loads((ROOT / "tests/cases/cli.json").read_text(encoding="utf-8"))

# A program that runs the command with the fake corrector in a process of its own.
PROGRAM = f"""
import sys, types
sys.path.insert(0, {str(ROOT)!r})
from tests.shell import FakePipelineCorrector
pipeline = types.ModuleType("corrector.pipeline")
pipeline.Corrector = FakePipelineCorrector
sys.modules["corrector.pipeline"] = pipeline
import corrector
corrector.__version__ = "9.9.9"
from corrector.cli import main
sys.exit(main())
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any], shell: Shell) -> None:
    encoding = case.get("encoding", "utf-8")
    for name, text in case["files"].items():
        (shell.directory / name).parent.mkdir(exist_ok=True)
        write(shell.directory / name, text.encode(encoding))
    outcome = shell.run(*case["args"], stdin=case["stdin"].encode(encoding))
    stderr = outcome.stderr.decode()
    assert outcome.stdout == case["stdout"].encode(encoding)
    assert case["stderr"] in stderr
    assert bool(case["stderr"]) == bool(stderr)
    assert outcome.status == case["status"]
    assert shell.files() == {name: text.encode(encoding) for name, text in case.get("files_after", case["files"]).items()}


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
    assert text.startswith("Usage: electra-correct [OPTIONS] [PATH]...\n")
    assert re.findall(r"^ +(\d+)  ", text, re.MULTILINE) == ["0", "1", "2", "123", "130"]


@pytest.mark.parametrize(
    ("fault", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "\n"),
        (RuntimeError("oops"), 123, "error: <stdin>: internal fault, please report it (python -X dev shows where): RuntimeError: oops\n"),
        (OSError(5, "broken disk"), 123, "error: <stdin>: [Errno 5] broken disk\n"),
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
def test_closed_standard_output(arguments: list[str], status: int, message: str, shell: Shell) -> None:
    write(shell.directory / "a.txt", "平果".encode())
    outcome = shell.run("a.txt", *arguments, closed="stdout")
    assert (outcome.status, outcome.stderr.decode()) == (status, message)


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
    assert done.stderr == b"error: <stdout>: cannot be written: no space left on device\n"
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


def test_no_path_and_a_terminal_is_a_hint(shell: Shell) -> None:
    outcome = shell.run(terminals="stdin")
    assert (outcome.status, outcome.stdout) == (2, b"")
    assert outcome.stderr.decode().splitlines()[-1].startswith("error: Give a file or a directory, or - to type")
    assert shell.run("-", stdin="平果".encode(), terminals="stdin").stdout == "苹果".encode()


@pytest.mark.parametrize(
    ("arguments", "environ", "terminals", "colored"),
    [
        ([], {}, "", False),
        ([], {}, "stdout", True),
        ([], {"TERM": "dumb"}, "stdout", False),
        ([], {"NO_COLOR": "1"}, "stdout", False),
        ([], {"NO_COLOR": ""}, "stdout", True),
        ([], {"FORCE_COLOR": "1"}, "", True),
        ([], {"FORCE_COLOR": ""}, "", False),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, "stdout", False),
        (["--color", "always"], {"NO_COLOR": "1"}, "", True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, "stdout", False),
        (["--color", "auto"], {}, "stdout", True),
    ],
)
def test_colors(
    arguments: list[str], environ: dict[str, str], terminals: str, colored: bool, shell: Shell
) -> None:
    write(shell.directory / "a.txt", "平果".encode())
    environ = {"TERM": "xterm", **environ}
    outcome = shell.run("-q", "--format", "human", "a.txt", *arguments, terminals=terminals, environ=environ)
    assert (b"\x1b[" in outcome.stdout) == colored


def test_a_file_gets_no_colors_from_the_terminal(shell: Shell) -> None:
    write(shell.directory / "a.txt", "平果".encode())
    shell.run("--format", "human", "a.txt", "-o", "x", terminals="stdout stderr")
    assert b"\x1b[" not in shell.files()["x"]


@pytest.mark.parametrize(
    ("arguments", "terminals", "summed_up"),
    [
        (["a.txt"], "", False),
        (["a.txt"], "stderr", True),
        (["a.txt", "-q"], "stderr", False),
        (["a.txt", "-v"], "", True),
        ([], "stderr", False),
        (["-v"], "", True),
        (["--diff", "."], "", False),
        (["--diff", "."], "stderr", True),
        (["-w", "a.txt"], "", True),
        (["-w", "-q", "a.txt"], "stderr", False),
    ],
)
def test_when_a_run_is_summed_up(arguments: list[str], terminals: str, summed_up: bool, shell: Shell) -> None:
    write(shell.directory / "a.txt", "平果".encode())
    stderr = shell.run(*arguments, stdin="平果".encode(), terminals=terminals).stderr.decode()
    assert ("1 file, 2 characters: 1 correction, 0 suggestions in " in stderr) == summed_up


def test_a_bar_is_shown_on_a_terminal_only_and_makes_way(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    for name in ("a.txt", "b.txt"):
        write(shell.directory / name, "平果".encode())
    write(shell.directory / "bad.txt", b"\0")
    arguments = ["-w", "a.txt", "bad.txt", "b.txt"]
    shown = shell.run(*arguments, terminals="stderr").stderr.decode()
    assert "Correcting" in shown and "1/3 files, 2 characters" in shown
    assert "\x1b[2Kerror: bad.txt" in shown  # wiped off before the message
    assert shown.rstrip().endswith("; 2 written; 1 failed")
    for quiet in ([], ["-q"]):
        hidden = shell.run(*arguments, *quiet, terminals="stderr" if quiet else "").stderr.decode()
        assert "Correcting" not in hidden
    assert "Correcting" not in shell.run("a.txt", terminals="stdout stderr").stderr.decode()


def test_control_c_leaves_what_is_done(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: f"平果{name}".encode() for name in ("a.txt", "b.txt", "c.txt")}
    for name, data in before.items():
        write(shell.directory / name, data)
    correct = FakePipelineCorrector.correct_document

    def interrupted(self: FakePipelineCorrector, document: Document) -> CorrectedDocument:
        if document.path == "b.txt":
            raise KeyboardInterrupt
        return correct(self, document)

    monkeypatch.setattr(FakePipelineCorrector, "correct_document", interrupted)
    outcome = shell.run("-w", ".")
    assert outcome.status == 130
    assert shell.files() == before | {"a.txt": "苹果a.txt".encode()}
    assert b"interrupted; files corrected before that: 1; all others are as they were" in outcome.stderr


def test_a_fault_in_one_file_does_not_stop_the_others(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.txt", "b.txt"):
        write(shell.directory / name, "平果".encode())
    correct = FakePipelineCorrector.correct_document

    def faulty(self: FakePipelineCorrector, document: Document) -> CorrectedDocument:
        if document.path == "a.txt":
            raise RuntimeError("oops")
        return correct(self, document)

    monkeypatch.setattr(FakePipelineCorrector, "correct_document", faulty)
    outcome = shell.run("-wq", ".")
    assert outcome.status == 123
    assert outcome.stderr.startswith(b"error: a.txt: internal fault, please report it")
    assert outcome.stderr.endswith(b": RuntimeError: oops\n")
    assert shell.files() == {"a.txt": "平果".encode(), "b.txt": "苹果".encode()}


def test_an_unchanged_file_is_not_written(shell: Shell) -> None:
    path = write(shell.directory / "a.txt", "好\r\n".encode())
    path.chmod(0o444)  # writing would be refused
    before = path.stat()
    assert shell.run("-wq", "--backup", ".bak", "a.txt").status == 0
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (before.st_ino, before.st_mtime_ns, before.st_mode)
    assert list(shell.files()) == ["a.txt"]


@pytest.mark.parametrize("failing", ["open", "write"])
def test_a_long_file_that_cannot_be_written_matters_only_if_it_changes(
    failing: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corrector.outputs.HELD_BYTES", 1 << 10)
    good = "好好好\n".encode() * 60_000  # some blocks
    path = write(shell.directory / "a.txt", good)
    if failing == "open":
        path.chmod(0o444)
    else:
        monkeypatch.setattr(AtomicWriter, "write", lambda self, data: self._guarded(full))
    assert shell.run("-wq", "a.txt") == Outcome(0, b"", b"")
    path.unlink()
    write(path, good + "平果".encode()).chmod(0o444 if failing == "open" else 0o644)
    outcome = shell.run("-wq", "a.txt")
    reason = "the file is read-only" if failing == "open" else "no space left on device"
    assert (outcome.status, outcome.stderr.decode()) == (123, f"error: a.txt: cannot be written: {reason}\n")
    assert list(shell.directory.iterdir()) == [path]


def full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "gb18030"])
def test_a_file_in_place_keeps_its_encoding_mark_and_mode(encoding: str, shell: Shell) -> None:
    line = "我们在公园里吃平果，今天的天汽很好。\r\n"
    path = write(shell.directory / "a.txt", line.encode(encoding))
    path.chmod(0o640)
    assert shell.run("-wq", "a.txt").status == 0
    assert path.read_bytes() == "我们在公园里吃苹果，今天的天气很好。\r\n".encode(encoding)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_read_only_file_is_refused(shell: Shell) -> None:
    write(shell.directory / "a.txt", "平果".encode()).chmod(0o444)
    outcome = shell.run("-wq", "a.txt")
    assert (outcome.status, outcome.stderr) == (123, b"error: a.txt: cannot be written: the file is read-only\n")


def test_a_hard_link_is_warned_of(shell: Shell) -> None:
    path = write(shell.directory / "a.txt", "平果".encode())
    os.link(path, shell.directory / "b.txt")
    assert b"warning: a.txt: its other names (hard links) keep the old text\n" in shell.run("-w", "a.txt").stderr
    assert shell.files() == {"a.txt": "苹果".encode(), "b.txt": "平果".encode()}


@pytest.mark.skipif(os.name == "nt", reason="file names are bytes")
def test_a_name_that_is_no_text(shell: Shell) -> None:
    name = os.fsdecode(b"a\xff.txt")
    try:
        write(shell.directory / name, "平果\n".encode())
    except OSError:
        pytest.skip("the file system takes no such name")
    assert shell.run(name).stdout == "苹果\n".encode()
    assert shell.run("--diff", name).stdout.startswith(b"--- a/a\xff.txt\n")
    for form in ("human", "html", "json", "sarif", "github", "gitlab"):
        outcome = shell.run("--format", form, name)
        assert (outcome.status, outcome.stderr) == (0, b"")
        assert b"txt" in outcome.stdout
    assert b"a<U+DCFF>.txt: 1 correction to make\n" in shell.run("--check", name).stderr  # as in the report for people
    assert shell.run("-wq", ".").status == 0
    assert (shell.directory / name).read_bytes() == "苹果\n".encode()


def test_many_files(shell: Shell) -> None:
    for number in range(200):
        write(shell.directory / f"{number:04}.txt", "平果".encode())
    outcome = shell.run("-w", ".")
    assert outcome.status == 0
    assert outcome.stderr.startswith(b"200 files, 400 characters: 200 corrections, 0 suggestions in ")
    assert set(shell.files().values()) == {"苹果".encode()}


def test_a_word_document(shell: Shell) -> None:
    data = docx("吃平果", "好")
    write(shell.directory / "a.docx", data)
    write(shell.directory / "b.docx", docx("好"))
    assert shell.run("b.docx").stdout == docx("好")
    written = shell.run("a.docx").stdout
    assert text_of(written) == ["吃苹果", "好"]
    assert shell.run("-", "--input-format", "docx", stdin=data).stdout == written
    assert shell.run("a.docx", "-o", "c.docx").status == 0
    report = [json.loads(line) for line in shell.run("a.docx", "--format", "json").stdout.splitlines()]
    assert [(line.get("path"), line.get("start")) for line in report] == [("a.docx/word/document.xml", 1), (None, None)]
    assert report[-1]["files"] == 1
    refused = shell.run("a.docx", terminals="stdout")
    assert (refused.status, refused.stdout) == (123, b"")
    assert b"error: a.docx: is no text for a terminal; pass -w or -o FILE" in refused.stderr
    assert shell.run("-wq", "a.docx", "b.docx").status == 0
    assert shell.files() == {"a.docx": written, "b.docx": docx("好"), "c.docx": written}


def test_changes_are_tracked_in_word_documents_only(shell: Shell) -> None:
    write(shell.directory / "a.docx", docx("吃平果", "好"))
    write(shell.directory / "b.txt", "平果".encode())
    assert shell.run("a.docx", "--track-changes", "-o", "c.docx").status == 0
    with zipfile.ZipFile(shell.directory / "c.docx") as archive:
        xml = archive.read("word/document.xml").decode()
    assert re.findall("<w:(?:delText|t)(?: [^>]*)?>(.*?)</w:", xml) == ["吃", "平", "苹", "果", "好"]
    mixed = shell.run("-wq", "--track-changes", "b.txt", "a.docx")
    assert (mixed.status, shell.files()["b.txt"], text_of(shell.files()["a.docx"])[:1]) == (123, "平果".encode(), ["吃"])
    assert b"error: b.txt: changes are tracked in Word documents only; leave --track-changes out for this one" in mixed.stderr
    for options in (["--check"], ["--diff"], ["--format", "json"], ["--explain", "好"]):
        refused = shell.run(*(["c.docx"] if options[0] != "--explain" else []), "--track-changes", *options)
        assert refused.status == 2 and b"--track-changes" in refused.stderr


@pytest.mark.parametrize("options", ["a.docx -i --comments", "a.docx --comments --check", "--explain 好 --comments"])
def test_comments_go_with_a_document_that_is_written(shell: Shell, options: str) -> None:
    write(shell.directory / "a.docx", docx("好"))
    refused = shell.run(*options.split())
    assert refused.status == 2 and b"--comments" in refused.stderr


def answering(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Has the questions of --interactive answered; returns what is written to the terminal, as it comes."""
    written: list[str] = []
    lines = iter([f"{answer}\n" for answer in answers])

    @contextlib.contextmanager
    def terminal() -> Iterator[interactive.Terminal]:
        yield interactive.Terminal(lambda: next(lines), written.append)

    monkeypatch.setattr(interactive, "open_terminal", terminal)
    return written


def test_interactive_writes_what_is_accepted(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    write(shell.directory / "a.txt", "平果，天汽，做\n".encode())
    written = answering(monkeypatch, "y", "s", "1")
    assert shell.run("-iq", "a.txt").status == 0
    assert shell.files() == {"a.txt": "苹果，天汽，作\n".encode()}
    assert "a.txt:1:1: " in "".join(written)


def test_interactive_into_another_file_or_a_diff(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    write(shell.directory / "a.txt", "平果\n平果\n".encode())
    answering(monkeypatch, "y", "s")
    assert shell.run("-iq", "a.txt", "-o", "b.txt").status == 0
    assert shell.files() == {"a.txt": "平果\n平果\n".encode(), "b.txt": "苹果\n平果\n".encode()}
    answering(monkeypatch, "s", "y")
    assert shell.run("-iq", "a.txt", "--diff").stdout.decode().splitlines()[3:] == [" 平果", "-平果", "+苹果"]


@pytest.mark.skipif(os.name == "nt", reason="needs pseudo-terminals")
def test_interactive_on_a_terminal(tmp_path: Path) -> None:
    import pty

    path = write(tmp_path / "a.txt", "平果，天汽\n".encode())
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(tmp_path)
        os.execv(sys.executable, [sys.executable, "-c", PROGRAM, "-i", "a.txt"])
    screen = ""
    for answer in (b"y\n", b"s\n"):
        screen = ""
        while "correct?" not in screen:
            screen += os.read(terminal, 4096).decode("utf-8", "replace")
        os.write(terminal, answer)
    with contextlib.suppress(OSError):  # the end, as Linux tells it
        while data := os.read(terminal, 4096):
            screen += data.decode("utf-8", "replace")
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    os.close(terminal)
    assert path.read_bytes() == "苹果，天汽\n".encode()
    assert "1 file, 6 characters: 1 correction, 1 suggestion in " in screen


def test_interactive_quit_leaves_the_other_files(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.txt", "b.txt"):
        write(shell.directory / name, "平果平果".encode())
    answering(monkeypatch, "y", "q")
    assert shell.run("-iq", ".").status == 0
    assert shell.files() == {"a.txt": "苹果平果".encode(), "b.txt": "平果平果".encode()}


def test_interactive_saves_words_in_a_file_that_is_made(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    write(shell.directory / "a.txt", "平果公司".encode())
    answering(monkeypatch, "p", "平果公司")
    assert shell.run("-iq", "a.txt", "--words", "w").status == 0
    assert shell.files() == {"a.txt": "平果公司".encode(), "w": "平果公司\n".encode()}
    assert shell.run("a.txt", "--words", "w").stdout == "平果公司".encode()


def test_interactive_on_a_word_document(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    write(shell.directory / "a.docx", docx("吃平果", "平果"))
    answering(monkeypatch, "s", "y")
    assert shell.run("-iq", "a.docx").status == 0
    assert text_of(shell.files()["a.docx"]) == ["吃平果", "苹果"]


@pytest.mark.parametrize(
    "options", ["-o x.txt", "-w", "--backup .bak", "--diff", "--check", "--format json", "-i"]
)
def test_explain_refuses_what_it_would_pass_over(shell: Shell, options: str) -> None:
    outcome = shell.run("--explain", "平果", *options.split())
    assert outcome.status == 2 and b"error: --explain only shows and --" in outcome.stderr
    assert shell.files() == {}


def test_explain_reads_standard_input(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("corrector.explain")
    module.explain = lambda corrector, text, color: f"{corrector.model_name} {text} {color}\n"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "corrector.explain", module)
    assert shell.run("--explain", "平果").stdout == "fake 平果 False\n".encode()
    assert shell.run("--explain", "-", "--color", "always", stdin="好".encode()).stdout == "fake 好 True\n".encode()


def test_recognised_text_is_corrected_otherwise_than_typed_text(shell: Shell) -> None:
    text = "日木的天汽\n".encode()
    assert shell.run(stdin=text).stdout == "日木的天气\n".encode()
    assert shell.run("--origin", "ocr", stdin=text).stdout == "日本的天气\n".encode()
    write(shell.directory / ".electra-correct.toml", b'origin = "ocr"\n')
    assert shell.run(stdin=text).stdout == "日本的天气\n".encode()
    assert shell.run("--origin", "typed", stdin=text).stdout == "日木的天气\n".encode()
    assert b"'scan' is not one of 'typed', 'ocr'" in shell.run("--origin", "scan", stdin=text).stderr


def test_settings_are_shown(shell: Shell) -> None:
    write(shell.directory / ".electra-correct.toml", b'profile = "eager"\n')
    shown = shell.run("--show-config", "--column", "a", "--column", "b", "--no-gitignore").stdout.decode()
    assert f'profile = "eager"  # {shell.directory.resolve() / ".electra-correct.toml"}\n' in shown
    assert 'column = ["a", "b"]  # command line\n' in shown
    assert "gitignore = false  # command line\n" in shown


def test_every_setting_has_an_option() -> None:
    """A setting that only a file can give, or a default that differs from what the help says, would be a trap."""
    names = {parameter.name for parameter in cli.electra_correct.params} | {"gitignore"}
    assert {field.name for field in dataclasses.fields(config.Settings)} - names == {"sources"}


@pytest.mark.parametrize("program", ["bash", "zsh", "fish"])
def test_shell_completion(program: str, shell: Shell) -> None:
    environ = {"_ELECTRA_CORRECT_COMPLETE": f"{program}_source"}
    outcome = shell.run(environ=environ)
    assert outcome.status == 0
    assert b"_ELECTRA_CORRECT_COMPLETE" in outcome.stdout and b"electra-correct" in outcome.stdout


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--format s", ["plain,sarif"]),
        ("--input-format m", ["plain,markdown"]),
        ("--ba", ["plain,--backup"]),
        ("a", ["file,a"]),
        ("--words a", ["file,a"]),
        ("--model ./m", ["dir,./m"]),
    ],
)
def test_completions(line: str, expected: list[str], shell: Shell) -> None:
    words = f"electra-correct {line}"
    environ = {"_ELECTRA_CORRECT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    assert shell.run(environ=environ).stdout.decode().splitlines() == expected


def test_models_are_completed(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models" / "mine").mkdir(parents=True)
    monkeypatch.setattr(model_dir, "model_places", lambda: (tmp_path / "models", tmp_path / "none"))
    environ = {"_ELECTRA_CORRECT_COMPLETE": "bash_complete", "COMP_WORDS": "electra-correct --model m", "COMP_CWORD": "2"}
    assert shell.run(environ=environ).stdout == b"plain,mine\ndir,m\n"


# The first block of a long file is corrected, then the process says so and hangs.
HANGING = PROGRAM.replace(
    "import corrector\n",
    """import corrector, time
once = FakePipelineCorrector.correct_document
def correct(self, document, seen=[]):
    if seen:
        print("ready", flush=True)
        time.sleep(60)
    seen.append(1)
    return once(self, document)
FakePipelineCorrector.correct_document = correct
""",
)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP), (signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_a_signal_leaves_the_file_as_it_was(number: signal.Signals, status: int, tmp_path: Path) -> None:
    data = ("平果" + "很" * 30 + "\n").encode() * 20_000
    path = write(tmp_path / "a.txt", data)
    with subprocess.Popen(
        [sys.executable, "-c", HANGING, "-w", "a.txt"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"ready\n"
        assert len(list(tmp_path.iterdir())) == 2  # the new file has been begun
        process.send_signal(number)
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == status
    assert path.read_bytes() == data
    if number != signal.SIGKILL:
        assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_read_but_not_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for arguments, status, stdout in ((["pipe"], 0, "苹果"), (["-w", "pipe"], 123, "")):
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            write(tmp_path / "pipe", "平果".encode())
            out, err = process.communicate()
        assert (process.returncode, out.decode()) == (status, stdout)
        assert status == 0 or b"pipe: cannot be written in place: it is no regular file" in err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("arguments", "status"), [(["--help"], 123), (["--nonsense"], 2), (["none.txt"], 123), (["--check", "-"], 0)]
)
def test_streams_that_take_nothing(arguments: list[str], status: int, tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments], cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=full, stderr=full, check=False
        )
    assert done.returncode == status


CONFUSED = {
    "a.jsonl": b'{"text": "\xe7\x94\xb2\xe4\xb9\x99"}\n',
    "a.csv": "text,b\n甲乙,丙\n".encode(),
    "a.html": "<p>甲乙</p>\n".encode(),
    "a.md": "甲乙\n".encode(),
    "a.srt": "1\n00:00:01,000 --> 00:00:02,000\n甲乙\n".encode(),
}


@pytest.mark.parametrize("name", CONFUSED)
@pytest.mark.parametrize("right", ['"', ",", "<", "&", "\\", "|", "*"])
def test_confusions_break_no_syntax(name: str, right: str, shell: Shell) -> None:
    write(shell.directory / "c.txt", f"甲 {right}\n乙 A\n".encode())
    write(shell.directory / name, CONFUSED[name])
    outcome = shell.run("--confusions", "c.txt", name)
    assert (outcome.status, outcome.stdout) == (0, CONFUSED[name].replace("乙".encode(), b"A"))
    assert shell.run("--confusions", "c.txt", stdin="甲乙".encode()).stdout == f"{right}A".encode()


def test_confusions_in_a_word_document_are_escaped(shell: Shell) -> None:
    namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    with zipfile.ZipFile(shell.directory / "a.docx", "w") as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{namespace}"><w:p><w:r><w:t>甲乙</w:t></w:r></w:p></w:document>')
    write(shell.directory / "c.txt", "甲 &\n乙 <\n".encode())
    assert shell.run("--confusions", "c.txt", "-w", "a.docx").status == 0
    with zipfile.ZipFile(shell.directory / "a.docx") as archive:
        assert b"<w:t>&amp;&lt;</w:t>" in archive.read("word/document.xml")


def test_a_confusion_with_a_control_character_is_refused(shell: Shell) -> None:
    write(shell.directory / "c.txt", "甲 \x01\n".encode())
    outcome = shell.run("--confusions", "c.txt", stdin=b"a")
    assert outcome.status != 0 and "c.txt:1: 甲" in outcome.stderr.decode() and "control character" in outcome.stderr.decode()


def test_a_file_that_asks_to_be_ignored_beyond_its_first_block_is(shell: Shell) -> None:
    data = ("天汽\n" + "a" * 4 * BLOCK_CHARACTERS + "\n# electra-correct: ignore-file\n天汽\n").encode()
    write(shell.directory / "a.txt", data)
    assert shell.run("a.txt").stdout == data
    assert shell.run("--check", "a.txt").status == 0
    late = ("天汽\n" * 20 + "# electra-correct: ignore-file\n").encode()
    write(shell.directory / "b.txt", late)
    assert shell.run("b.txt").stdout == late.replace("汽".encode(), "气".encode())


@pytest.mark.parametrize("report", ["json", "sarif"])
def test_a_report_of_nothing_is_a_report(report: str, shell: Shell) -> None:
    (shell.directory / "empty").mkdir()
    write(shell.directory / "old", b"old")
    assert json.loads(shell.run("empty", "--format", report).stdout)
    assert shell.run("empty", "--format", report, "-o", "old").status == 0
    assert json.loads((shell.directory / "old").read_bytes())


def test_a_report_does_not_replace_an_input(shell: Shell) -> None:
    write(shell.directory / "a.txt", "天汽".encode())
    outcome = shell.run("a.txt", "-o", "a.txt", "--format", "json")
    assert (outcome.status, (shell.directory / "a.txt").read_text("utf-8")) == (2, "天汽")
    assert "-o: a.txt is an input" in outcome.stderr.decode()
    assert shell.run("a.txt", "-o", "a.txt").status == 0
    assert (shell.directory / "a.txt").read_text("utf-8") == "天气"


def test_help_on_a_terminal_of_another_encoding() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    found = subprocess.run([sys.executable, "-c", PROGRAM, "--help"], check=False, capture_output=True, env=environment, cwd=ROOT)
    assert found.returncode == 0 and rb"\u9519" in found.stdout


def test_a_backup_does_not_replace_an_input(shell: Shell) -> None:
    for name, text in (("a.txt", "天汽"), ("a.txt.bak", "平果")):
        write(shell.directory / name, text.encode())
    outcome = shell.run("-w", "--backup", ".bak", "a.txt", "a.txt.bak")
    assert outcome.status == 2 and "--backup: a.txt.bak is an input" in outcome.stderr.decode()
    assert shell.files() == {"a.txt": "天汽".encode(), "a.txt.bak": "平果".encode()}


def test_a_backup_does_not_replace_an_input_found_in_a_folder_or_behind_a_link(shell: Shell) -> None:
    files = {"d/a.md": "天汽", "d/a.md.txt": "平果", "d.txt": "好"}
    (shell.directory / "d").mkdir()
    for name, text in files.items():
        write(shell.directory / name, text.encode())
    (shell.directory / "link").symlink_to("d/a.md")
    outcome = shell.run("-w", "--backup", ".txt", "d", "d.txt")
    assert outcome.status == 123 and "error: d/a.md: d/a.md.txt is an input" in outcome.stderr.decode()
    files |= {"d/a.md.txt": "苹果", "d/a.md.txt.txt": "平果"}
    assert shell.files() == {name: text.encode() for name, text in {**files, "link": "天汽"}.items()}
    assert shell.run("-w", "--backup", ".txt", "link", "d/a.md.txt").status == 2


def test_what_the_settings_exclude_stays_excluded_in_a_part_of_the_project(shell: Shell) -> None:
    for name, text in ((".electra-correct.toml", 'exclude = ["docs/old/"]'), ("docs/a.txt", "天汽"), ("docs/old/b.txt", "天汽")):
        (shell.directory / name).parent.mkdir(exist_ok=True, parents=True)
        write(shell.directory / name, text.encode())
    outcome = shell.run("--check", "docs")
    assert (outcome.status, outcome.stderr.decode().count("to make")) == (1, 1)


def test_the_lists_of_a_project_are_not_corrected_themselves(shell: Shell) -> None:
    texts = {".electra-correct.toml": 'words = ["names.txt"]\nconfusions = ["style.txt"]', "names.txt": "张林  # 天汽\n",
             "style.txt": "# 平果\n帐户 账户\n", "docs/a.txt": "帐户\n"}  # fmt: skip
    for name, text in texts.items():
        (shell.directory / name).parent.mkdir(exist_ok=True)
        write(shell.directory / name, text.encode())
    assert shell.run("--write", ".").status == shell.run("--write", "style.txt", "docs/../names.txt").status == 0
    assert shell.files() == {name: text.encode() for name, text in (texts | {"docs/a.txt": "账户\n"}).items()}
    assert shell.run("style.txt").stdout.decode() == texts["style.txt"]
    assert shell.run("--no-config", "style.txt").stdout.decode() == "# 苹果\n帐户 账户\n"


def test_a_program_of_commands_given_none_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert train([]) == cli.USAGE
    shown = capsys.readouterr().err
    assert shown.startswith("Usage: python -m corrector.train") and shown.count("Usage:") == 1


def test_the_name_of_a_file_puts_no_control_and_no_line_of_its_own_into_a_message(shell: Shell) -> None:
    write(shell.directory / "a\n::error::\x1b[2Jb.txt", "平果".encode())
    write(shell.directory / "c\n::error::d.txt", b"\xff")
    outcome = shell.run("--check", "-v", ".", terminals="stderr")
    assert outcome.status == 123
    lines = outcome.stderr.decode().splitlines()
    assert [line.partition("b.txt: ")[0].partition("d.txt:")[0] for line in lines[:2]] == ["a␊::error::␛[2J", "error: c␊::error::"]
    assert len(lines) == 3


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-7", "cp037"])
def test_a_diff_of_what_no_patch_reads_is_in_utf_8(encoding: str, shell: Shell) -> None:
    write(shell.directory / "a.txt", "a\nb\n".encode(encoding))
    write(shell.directory / "c", b"a z\n")
    expected = b"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-a\n+z\n b\n"
    assert shell.run("--diff", "--confusions", "c", "--encoding", encoding, "a.txt").stdout == expected


@pytest.mark.parametrize("arguments", [[""], ["-o", "", "a.txt"], ["--words", "", "a.txt"]])
def test_an_empty_path_is_an_error_of_the_options(arguments: list[str], shell: Shell) -> None:
    write(shell.directory / "a.txt", "平果".encode())
    outcome = shell.run(*arguments)
    assert (outcome.status, outcome.stdout) == (2, b"")
    assert b"a path cannot be empty" in outcome.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="POSIX signals")
def test_a_terminal_that_closes_ends_nothing_under_nohup(tmp_path: Path) -> None:
    ignoring = "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); import sys,"
    program = HANGING.replace("import sys,", ignoring).replace("time.sleep(60)", "os.kill(os.getpid(), signal.SIGHUP)")
    path = write(tmp_path / "a.txt", ("平果" + "很" * 30 + "\n").encode() * 20_000)
    done = subprocess.run([sys.executable, "-c", program, "-wq", "a.txt"], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert path.read_bytes().startswith("苹果".encode())
