"""Several processes give what one gives, in order; one that fails or dies is told of; Ctrl-C leaves none behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from corrector.apply import corrected_text
from corrector.config import Settings
from corrector.errors import CorrectorError
from corrector.formats import format_of
from corrector.formats.passages import correct_passages
from corrector.in_order import AHEAD
from corrector.parallel import ParallelCorrector
from corrector.types import Document, Span
from tests.fakes import FakeCorrector
from tests.spawned import SURE, make

ROOT = Path(__file__).parents[1]
TEXTS = ["天汽好。\n", "慢，平果。\n", "", "字 `天汽`。\n", "\ud800\n", "慢。\n", *(f"第{n}个平果。\n" for n in range(20))]


@pytest.fixture(scope="module")
def parallel() -> Iterator[ParallelCorrector]:
    with ParallelCorrector(Settings(min_confidence=0.6), 2, make) as corrector:
        yield corrector


def documents(*texts: str) -> list[Document]:
    return [Document("a.txt", text, protected=(Span(0, 1),)) for text in texts]


def test_the_same_in_the_same_order_as_one(parallel: ParallelCorrector) -> None:
    alone = FakeCorrector(SURE, min_confidence=0.6)
    blocks = documents(*TEXTS)
    assert list(parallel.correct_blocks(blocks)) == [alone.correct_document(block) for block in blocks]
    assert parallel.model_name == "fake"
    assert list(parallel.correct_blocks([])) == []


def test_two_processes_share_the_work(parallel: ParallelCorrector) -> None:
    found = {corrected.unprocessed for corrected in parallel.correct_blocks(documents(*["慢谁"] * 6))}
    assert len(found) == 2 and os.getpid() not in found


def test_little_is_read_ahead(parallel: ParallelCorrector) -> None:
    taken = 0

    def endless() -> Iterator[Document]:
        nonlocal taken
        while True:
            taken += 1
            yield Document(None, "平果")

    found = parallel.correct_blocks(endless())
    for number in range(1, 20):
        assert corrected_text(next(found)) == "苹果"
        assert taken < number + AHEAD * parallel.jobs
    found.close()  # type: ignore[attr-defined]


def test_any_format_goes_over_processes(parallel: ParallelCorrector) -> None:
    pages = [Document("a.jsonl", f'{{"n": {n}, "text": "\\u5929汽"}}\n') for n in range(5)]
    form = format_of("a.jsonl", None, ())
    found = parallel.in_order(lambda page: correct_passages(parallel, page, form.passages(page)), pages)
    assert [corrected_text(one) for one in found] == [page.text.replace("汽", "气") for page in pages]


def test_an_error_comes_in_its_place_and_harms_nothing(parallel: ParallelCorrector) -> None:
    found = parallel.correct_blocks(documents("慢。", "败。", "平果。"))
    assert next(found).unprocessed == 0
    with pytest.raises(RuntimeError, match=r"^ValueError: 败$"):
        next(found)
    assert corrected_text(parallel.correct_document(Document(None, "平果"))) == "苹果"


def test_a_process_that_dies_is_told_of_and_replaced(parallel: ParallelCorrector) -> None:
    with pytest.raises(CorrectorError, match="was ended by signal 9; fewer --jobs"):
        list(parallel.correct_blocks(documents("平果。", "死。", "平果。")))
    before = [corrected.unprocessed for corrected in parallel.correct_blocks(documents(*["慢谁"] * 4))]
    os.kill(before[0], signal.SIGKILL)  # an idle one: it shows with the next question
    with pytest.raises(CorrectorError, match="signal 9"):
        list(parallel.correct_blocks(documents(*["慢"] * 4)))
    assert [corrected_text(one) for one in parallel.correct_blocks(documents("平果", "平果"))] == ["平果", "平果"]
    assert [corrected_text(one) for one in parallel.correct_blocks([Document(None, "平果")] * 3)] == ["苹果"] * 3


def test_what_cannot_be_opened_is_told_at_once() -> None:
    with pytest.raises(CorrectorError, match=r"^none: no such model$"):
        ParallelCorrector(Settings(model="none"), 2, make)
    with pytest.raises(CorrectorError, match="ended with status 3; try again with --jobs 1"):
        ParallelCorrector(Settings(model="deadly"), 2, make)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        ParallelCorrector(Settings(), 0, make)


def test_closing_ends_what_is_being_done() -> None:
    corrector = ParallelCorrector(Settings(), 2, make)
    timer = threading.Timer(0.3, corrector.close)
    timer.start()
    with pytest.raises(CorrectorError, match="was ended by signal 15"):
        list(corrector.correct_blocks(documents("停", "停")))
    timer.join()
    with pytest.raises(RuntimeError, match="closed"):
        corrector.correct_document(Document(None, ""))


_INTERRUPTED = """
import sys, time
from corrector.config import Settings
from corrector.parallel import ParallelCorrector
from corrector.types import Document
from tests.spawned import make

def run():
    with ParallelCorrector(Settings(), 2, make) as corrector:
        found = corrector.correct_blocks([Document(None, "慢谁")] * 4 + [Document(None, sys.argv[1])] * 4)
        print(*sorted({next(found).unprocessed for _ in range(4)}), flush=True)
        next(found)
        time.sleep(600)

if __name__ == "__main__":
    try:
        run()
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.skipif(os.name != "posix", reason="process groups")
@pytest.mark.parametrize("number, at_work", [(signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGKILL, False)])
def test_ctrl_c_and_a_sudden_end_leave_no_process_behind(tmp_path: Path, number: int, at_work: bool) -> None:
    script = tmp_path / "run.py"
    script.write_text(_INTERRUPTED, encoding="utf-8")
    running = subprocess.Popen(
        [sys.executable, str(script), "停" if at_work else "慢"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert running.stdout is not None
    line = running.stdout.readline()
    if number == signal.SIGINT:
        os.killpg(running.pid, number)  # as the terminal does: all processes get it
    else:
        running.kill()
    _, complaints = running.communicate(timeout=60)  # returns when every process has closed its standard error
    assert len(line.split()) == 2, complaints
    assert running.returncode == (130 if number == signal.SIGINT else -number)
    assert "Traceback" not in complaints


def test_the_command_line_gives_the_same_with_jobs(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("我今天很高形。\n没有错误的句子。\n" * 3, encoding="utf-8")
    command = [sys.executable, "-m", "corrector", "--no-config", "--format", "json", str(path)]
    one, two = (subprocess.run([*command, *more], cwd=ROOT, capture_output=True, check=True) for more in ([], ["--jobs", "2"]))
    assert one.stdout == two.stdout and b"correction" in one.stdout
