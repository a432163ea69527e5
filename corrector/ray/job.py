"""The job: pieces go to workers that hold a model each, parts come out, and the folder appears when all are there."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from corrector import __version__
from corrector.config import Settings
from corrector.errors import ConfigError, CorrectorError, InputError
from corrector.ray.pieces import FormatName, Piece, files_of, lines_of, pieces_of
from corrector.ray.rows import Counts, TextCorrector, json_rows, text_rows
from corrector.session import open_corrector
from corrector.text.write import reason

SUMMARY = "_summary.json"
CORRECTIONS = ".corrections.jsonl"
_EXTENSIONS = {"text": ".txt", "jsonl": ".jsonl", "parquet": ".parquet"}
_TEMPORARY = ".tmp-"


@dataclass(frozen=True)
class Job:
    """What is asked for. Every worker sees ``input`` and ``output`` under the same path: one machine, or a shared file system.

    ``make`` opens a worker's corrector, and is importable by name.
    """

    input: str
    output: str
    column: str = "text"
    output_column: str | None = None
    format_name: FormatName | None = None
    concurrency: int | None = None
    address: str | None = None
    settings: Settings = dataclasses.field(default_factory=Settings)
    make: Callable[[Settings], TextCorrector] = open_corrector

    @property
    def corrected_column(self) -> str:
        return self.output_column or f"{self.column}_corrected"


def run_job(job: Job, watch: Callable[[int, int, Counts], None] = lambda done, pieces, counts: None) -> Counts:
    """Corrects the input into the folder ``output``, which must not be there yet and appears, whole, at the end.

    ``watch`` is told after each piece how many are done, of how many, and what was counted. Raises CorrectorError, with
    nothing left behind, for anything a user can mend.
    """
    if job.corrected_column == "corrections":
        raise ConfigError("job", "output-column", "cannot be 'corrections', which is the column of the corrections")
    if os.path.lexists(job.output):
        raise InputError(job.output, "is there already; name a new folder, or remove it first")
    files, format_name = files_of(job.input, job.format_name)
    if format_name == "parquet":
        from corrector.ray.table import check_schema

        for file in files:
            check_schema(file, job.column, job.corrected_column)
    if job.make is open_corrector:
        from corrector.electra.model_dir import find_model

        find_model(job.settings.model)  # what is wrong with it is said before a cluster is asked for
    with _cluster(job.address) as cores, _folder(job.output) as folder:
        workers = job.concurrency or cores
        pieces = pieces_of(files, format_name, workers)
        work = Work(folder, format_name, job.column, job.corrected_column, job.settings, job.make)
        counts = _collected(_done(pieces, work, min(workers, len(pieces))), len(pieces), watch)
        _finish(folder, format_name, pieces, counts)
    return counts


@dataclass(frozen=True)
class Work:
    """What a worker is told once: where parts go, what is corrected, and by what."""

    folder: str
    format_name: FormatName
    column: str
    output: str
    settings: Settings
    make: Callable[[Settings], TextCorrector]


class Worker:
    """A process of the cluster. It opens its model with its first piece and keeps it."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._corrector: TextCorrector | None = None

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Pieces as columns, one row each, to their numbers, their counts, and an error or nothing."""
        rows = zip(*(batch[field.name].tolist() for field in dataclasses.fields(Piece)), strict=True)
        results = [self._result(Piece(*row)) for row in rows]
        return {key: [result[key] for result in results] for key in results[0]}

    def _result(self, piece: Piece) -> dict[str, Any]:
        counts, error = Counts(), ""
        try:
            if self._corrector is None:
                self._corrector = self._work.make(dataclasses.replace(self._work.settings, threads=1))
            write_part(self._work, self._corrector, piece, counts)
        except (CorrectorError, OSError) as problem:
            error = str(problem)
        except Exception as problem:  # told at once; Ray would try it again and again
            error = f"{piece.path}: internal fault, please report it: {type(problem).__name__}: {problem}"
        return {"number": piece.number, "error": error, **dataclasses.asdict(counts)}


def write_part(work: Work, corrector: TextCorrector, piece: Piece, counts: Counts) -> None:
    """Corrects a piece into its part, which appears when it is complete; done twice, it is the same part."""
    with _appearing(part_path(work.folder, piece.number, work.format_name)) as target:
        if work.format_name == "parquet":
            from corrector.ray.table import write_piece

            write_piece(corrector, piece, work.column, work.output, target, counts)
        elif work.format_name == "jsonl":
            with open(target, "wb") as file:
                file.writelines(json_rows(corrector, piece.path, lines_of(piece), work.column, work.output, counts))
        else:
            beside = part_path(work.folder, piece.number, work.format_name, CORRECTIONS)
            with _appearing(beside) as second, open(target, "wb") as file, open(second, "wb") as corrections:
                for text, record in text_rows(corrector, piece.path, lines_of(piece), counts):
                    file.write(text)
                    corrections.write(record)


def part_path(folder: str, number: int, format_name: FormatName, extension: str | None = None) -> str:
    """Where a part is: by name, parts sort as their pieces do."""
    return os.path.join(folder, f"part-{number:06}{extension or _EXTENSIONS[format_name]}")


def _done(pieces: list[Piece], work: Work, workers: int) -> Iterator[dict[str, Any]]:
    """The results of the pieces as they come. What a worker that dies was at is done again by another."""
    if not pieces:
        return
    import ray

    items = [dataclasses.asdict(piece) for piece in pieces]
    results = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
        Worker,
        fn_constructor_args=(work,),
        compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=2),
        batch_size=1,
        num_cpus=1,
    )
    try:
        yield from results.iter_rows()
    except ray.exceptions.RayError as error:
        message = str(error).strip().rpartition("\n")[2]
        raise CorrectorError(f"the cluster gave up: {message}; see the log of Ray") from error


def _collected(
    results: Iterable[dict[str, Any]], pieces: int, watch: Callable[[int, int, Counts], None]
) -> Counts:
    """The counts of all pieces together; the first passed row is that of the first piece that has one."""
    by_number: dict[int, Counts] = {}
    total = Counts()
    for result in results:
        if result["error"]:
            raise CorrectorError(result["error"])
        counts = Counts(**{field.name: result[field.name] for field in dataclasses.fields(Counts)})
        by_number[result["number"]] = counts
        total = total.plus(counts)
        watch(len(by_number), pieces, total)
    if len(by_number) != pieces:
        raise CorrectorError(f"the cluster gave {len(by_number)} of {pieces} parts; try again")
    first = next((by_number[number].first for number in sorted(by_number) if by_number[number].first), "")
    return dataclasses.replace(total, first=first)


def _finish(folder: str, format_name: FormatName, pieces: list[Piece], counts: Counts) -> None:
    """Sees that every part is there, removes what workers that died have left, and writes the summary."""
    names = {os.path.basename(part_path(folder, piece.number, format_name)) for piece in pieces}
    there = set(os.listdir(folder))
    if missing := sorted(names - there):
        raise CorrectorError(f"{missing[0]} is missing in {folder}; do all machines share this folder?")
    for name in there:
        if _TEMPORARY in name:
            os.remove(os.path.join(folder, name))
    summary = {
        "version": __version__,
        "format": format_name,
        **dataclasses.asdict(counts),
        "parts": [dataclasses.asdict(piece) for piece in pieces],
    }
    with open(os.path.join(folder, SUMMARY), "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(json.dumps(summary, ensure_ascii=False, indent=1) + "\n")


@contextlib.contextmanager
def _folder(output: str) -> Iterator[str]:
    """A folder beside ``output`` that gets its name at the end, and is removed if anything fails."""
    target = os.path.abspath(output)
    parent, name = os.path.split(target)
    temporary = os.path.join(parent, f".{name}.{secrets.token_hex(4)}.partial")
    try:
        os.mkdir(temporary)
    except OSError as error:
        raise InputError(output, f"cannot be made: {reason(error)}") from error
    try:
        yield temporary
        if os.path.lexists(target):
            raise InputError(output, "has appeared meanwhile; nothing of it was touched")
        os.rename(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def _appearing(path: str) -> Iterator[str]:
    """A temporary name of its own for a file that gets its name at the end; two at once, and the last one wins."""
    temporary = f"{path}{_TEMPORARY}{secrets.token_hex(4)}"
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)


@contextlib.contextmanager
def _cluster(address: str | None) -> Iterator[int]:
    """Its number of cores. The cluster at ``address`` or RAY_ADDRESS, one this process is connected to, or else one made here."""
    import ray

    started = not ray.is_initialized()
    if started:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
        try:
            chosen = address or os.environ.get("RAY_ADDRESS") or "local"  # without one Ray joins whatever was started on this machine
            ray.init(address=chosen, log_to_driver=False, logging_level="ERROR", include_dashboard=False if chosen == "local" else None)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise CorrectorError(f"there is no cluster: {error}") from error
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_no_progress_timeout_s = -1  # a large piece may take its time
    try:
        yield max(int(ray.cluster_resources().get("CPU", 1)), 1)
    finally:
        if started:
            ray.shutdown()
