"""The job on a cluster of this machine, two workers: what one process gives; a killed worker loses nothing; all or nothing."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from corrector.apply import corrected_text
from corrector.config import Settings
from corrector.errors import ConfigError, CorrectorError, InputError
from corrector.ray import job as jobs
from corrector.ray import pieces
from corrector.ray.job import CORRECTIONS, SUMMARY, Job, run_job
from corrector.ray.rows import Counts
from tests.fakes import FakeCorrector
from tests.spawned import SURE, make

ray = pytest.importorskip("ray")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.filterwarnings("default")  # those of Ray are its own affair
ROWS = [f"第{n}个平果，天汽好。" for n in range(400)]
RIGHT = [row.replace("平果", "苹果").replace("天汽", "天气") for row in ROWS]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", str(ROOT))
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR", object_store_memory=100_000_000)
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.shutdown()
        gc.collect()  # now, while nobody minds that Ray leaves its processes without waiting for them


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "SMALLEST", 2048)


def job(tmp_path: Path, name: str, **settings: object) -> Job:
    return Job(str(tmp_path / name), str(tmp_path / "out"), concurrency=2, make=make, **settings)  # type: ignore[arg-type]


def parts(tmp_path: Path, extension: str) -> list[Path]:
    """The parts in order, with nothing else in the folder but the summary and, for text, the corrections."""
    found = sorted((tmp_path / "out").iterdir())
    assert all(path.name == SUMMARY or path.name.endswith((extension, CORRECTIONS)) for path in found)
    return [path for path in found if path.suffix == extension and not path.name.endswith(CORRECTIONS)]


def test_text_is_what_one_process_gives(tmp_path: Path, cluster: None) -> None:
    text = "\r\n".join(ROWS) + "\n\n \ud7ff字"
    (tmp_path / "a.txt").write_text(text, encoding="utf-8", newline="")
    counts = run_job(job(tmp_path, "a.txt"))
    whole = b"".join(path.read_bytes() for path in parts(tmp_path, ".txt"))
    assert len(parts(tmp_path, ".txt")) > 4
    assert whole.decode() == corrected_text(FakeCorrector(SURE).correct(text))
    assert (counts.rows, counts.corrections, counts.passed) == (len(ROWS) + 2, 2 * len(ROWS), 0)
    lists = "".join(path.read_text("utf-8") for path in sorted((tmp_path / "out").glob("*" + CORRECTIONS)))
    found = [json.loads(line) for line in lists.splitlines()]
    assert [len(one["corrections"]) for one in found] == [2] * len(ROWS)
    assert text.encode()[found[7]["offset"] :].decode().startswith(ROWS[7])


def test_json_lines_of_a_folder_in_order(tmp_path: Path, cluster: None) -> None:
    (tmp_path / "in").mkdir()
    lines = [json.dumps({"id": number, "body": row}, ensure_ascii=False) + "\n" for number, row in enumerate(ROWS)]
    (tmp_path / "in" / "b.jsonl").write_text("".join(lines[200:]), encoding="utf-8")
    (tmp_path / "in" / "a.jsonl").write_text("".join(lines[:200]) + "{bad\n", encoding="utf-8")
    seen: list[tuple[int, int]] = []
    counts = run_job(job(tmp_path, "in", column="body"), lambda done, pieces, counts: seen.append((done, counts.rows)))
    rows = [line for path in parts(tmp_path, ".jsonl") for line in path.read_text("utf-8").splitlines()]
    assert rows.pop(200) == "{bad"
    assert [json.loads(row)["id"] for row in rows] == list(range(400))
    assert [json.loads(row)["body_corrected"] for row in rows] == RIGHT
    assert counts.passed == 1 and counts.first.endswith("not JSON") and "a.jsonl" in counts.first
    assert seen[-1] == (len(parts(tmp_path, ".jsonl")), 401)
    summary = json.loads((tmp_path / "out" / SUMMARY).read_text("utf-8"))
    assert summary["rows"] == 401 and len(summary["parts"]) == seen[-1][0]


def test_parquet_keeps_columns_and_order(tmp_path: Path, cluster: None) -> None:
    texts = [None if number == 5 else row for number, row in enumerate(ROWS)]
    table = pa.table({"id": pa.array(range(400), pa.uint16()), "text": pa.array(texts).dictionary_encode()})
    table = table.replace_schema_metadata({"who": "me"})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=150)
    counts = run_job(job(tmp_path, "a.parquet", output_column="right"))
    assert len(parts(tmp_path, ".parquet")) > 4
    found = pa.concat_tables([pq.read_table(path) for path in parts(tmp_path, ".parquet")]).combine_chunks()
    assert found.schema.names == ["id", "text", "right", "corrections"] and found.schema.metadata[b"who"] == b"me"
    assert found.column("id").to_pylist() == list(range(400)) and found.schema.field("id").type == pa.uint16()
    assert found.column("text").to_pylist() == texts
    assert found.column("right").to_pylist() == [None if number == 5 else row for number, row in enumerate(RIGHT)]
    lists = found.column("corrections").to_pylist()
    assert lists[5] is None and [one["replacement"] for one in lists[6]] == ["苹果", "天气"]
    assert (counts.passed, counts.first) == (1, f"{tmp_path}/a.parquet: row 5: no text")


def test_parquet_without_rows(tmp_path: Path, cluster: None) -> None:
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "a.parquet")
    assert run_job(job(tmp_path, "a.parquet")) == Counts()
    [part] = parts(tmp_path, ".parquet")
    assert pq.read_table(part).schema.names == ["text", "text_corrected", "corrections"]


def test_a_killed_worker_loses_nothing(tmp_path: Path, cluster: None) -> None:
    rows = [row + "慢" if number % 20 == 0 else row for number, row in enumerate(ROWS)]
    (tmp_path / "a.txt").write_text("\n".join(rows), encoding="utf-8")
    killed: list[int] = []

    def kill(done: int, pieces: int, counts: Counts) -> None:
        if not killed:
            killed.append(_a_worker())
            os.kill(killed[0], signal.SIGKILL)

    counts = run_job(job(tmp_path, "a.txt"), kill)
    whole = "".join(path.read_text("utf-8") for path in parts(tmp_path, ".txt"))
    assert killed and whole == "\n".join(rows).replace("平果", "苹果").replace("天汽", "天气")
    assert counts.rows == len(ROWS)


def _a_worker() -> int:
    """The id of a process of this very cluster that holds a Worker, as Ray names it: a grandchild of this process."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if b"MapWorker" in (folder / "cmdline").read_bytes() and _parent(_parent(folder.name)) == str(os.getpid()):
                    return int(folder.name)
            except OSError:
                continue
        time.sleep(0.1)
    raise AssertionError("no worker is there")


def _parent(process: str) -> str:
    return Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[1]


@pytest.mark.parametrize(
    "setup, settings, message",
    [
        ("out", {}, "is there already"),
        ("none", {"input": "none.txt"}, "is not there"),
        ("column", {"column": "body"}, "there is no column 'body'; choose one of 'text', 'id'"),
        ("type", {"column": "id"}, "'id' is of type int64, not of strings"),
        ("taken", {"output_column": "id"}, "there is a column 'id' already"),
        ("reserved", {"output_column": "corrections"}, "cannot be 'corrections'"),
    ],
)
def test_what_is_wrong_is_said_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setup: str, settings: dict[str, str], message: str
) -> None:
    monkeypatch.setattr(jobs, "_cluster", None)
    pq.write_table(pa.table({"text": ["a"], "id": [1]}), tmp_path / "a.parquet")
    if setup == "out":
        (tmp_path / "out").mkdir()
    before = sorted(tmp_path.rglob("*"))
    given = {key: value for key, value in settings.items() if key != "input"}
    with pytest.raises((ConfigError, InputError), match=message):
        run_job(job(tmp_path, settings.get("input", "a.parquet"), **given))
    assert sorted(tmp_path.rglob("*")) == before


def test_an_error_of_a_worker_leaves_nothing(tmp_path: Path, cluster: None) -> None:
    (tmp_path / "a.txt").write_text("\n".join(ROWS), encoding="utf-8")
    with pytest.raises(CorrectorError, match=r"^none: no such model$"):
        run_job(job(tmp_path, "a.txt", settings=Settings(model="none")))
    assert os.listdir(tmp_path) == ["a.txt"]
    broken = job(tmp_path, "a.txt")
    (tmp_path / "a.txt").write_text("\n".join([*ROWS, "败"]), encoding="utf-8")
    with pytest.raises(CorrectorError, match="internal fault, please report it: ValueError: 败"):
        run_job(broken)
    assert os.listdir(tmp_path) == ["a.txt"]


def test_the_command(tmp_path: Path) -> None:
    """From nothing: it makes a cluster of its own, with the embedded model, and interrupted leaves nothing."""
    lines = ["我今天很高形。\n", "\n", "今天我们去公园。\n"] * 40
    (tmp_path / "a.txt").write_text("".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "corrector.ray", "a.txt", "out", "--concurrency", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("RAY_ADDRESS", None)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "" and "Traceback" not in done.stderr  # besides, Ray may have something to say
    assert done.stderr.splitlines()[-1] == "120 rows, 720 characters, 40 corrections"
    alone = subprocess.run(
        [sys.executable, "-m", "corrector", "a.txt"], cwd=tmp_path, env=environment, capture_output=True, check=True
    )
    assert b"".join(path.read_bytes() for path in parts(tmp_path, ".txt")) == alone.stdout
    again = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stderr) == (123, f"error: {tmp_path}/out: is there already; name a new folder, or remove it first\n")
