"""``python -m benchmarks``: all measurements, or some of them, in one run."""

from __future__ import annotations

import datetime
import json
import sys
import time
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # for `python benchmarks`

PARTS = ("speed", "scaling", "profile", "start-up", "jobs", "memory", "size")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--only", type=click.Choice(PARTS), multiple=True, help="Only this part. Repeatable.")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="More rounds, less chance.")
@click.option("--items", type=click.IntRange(20), default=64, show_default=True, help="Sentences of the texts side by side.")
@click.option("--no-peers", is_flag=True, help="Without the BERT-size peer and pycorrector.")
@click.option("--model", type=click.Path(), help="Model directory or name. Default: the embedded model.")
@click.option("--pytorch-model", type=click.Path(), help="A PyTorch model directory, for the fp32 runtime.")
@click.option("--kenlm-model", type=click.Path(path_type=Path), help="For pycorrector, as benchmarks.arpa makes one. Default: its own.")
@click.option("--threads", type=click.IntRange(0), default=0, show_default=True, help="0: as many as there are cores.")
@click.option("--large", is_flag=True, help="Files up to 100 MB for memory. Takes most of an hour.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results. Default: build/benchmarks.")
def main(
    only: tuple[str, ...], rounds: int, items: int, no_peers: bool, model: str | None, pytorch_model: str | None, kenlm_model: Path | None,
    threads: int, large: bool, out: Path | None,
) -> None:  # fmt: skip
    """Measure speed, scaling, shares of time, start-up, memory and size; write results.json, results.md and results.png.

    Pin it to cores by taskset: everything is measured on the cores that it may use.
    """
    started = time.monotonic()
    chosen = only or PARTS
    result = measured(chosen, rounds, items, not no_peers, model, pytorch_model, kenlm_model, threads, large)
    result["seconds of the run"] = round(time.monotonic() - started, 1)
    write(result, out or ROOT / "build" / "benchmarks")


def measured(
    chosen: tuple[str, ...], rounds: int, items: int, peers: bool, model: str | None, pytorch_model: str | None,
    kenlm_model: Path | None, threads: int, large: bool,
) -> dict[str, Any]:  # fmt: skip
    """The parts that are chosen, with what they were measured on."""
    from benchmarks import measure, processes
    from corrector import Corrector, __version__
    from corrector.electra.onnx_runtime import usable_cores

    corrector = Corrector(model, threads=threads)
    result: dict[str, Any] = {
        "version": __version__,
        "model": f"{corrector.model_name} ({corrector.model_checksum})",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "command": sys.argv[1:],
        "machine": measure.machine(),
        "load before": measure.load_average(),
    }
    if "speed" in chosen:
        result["side by side"] = measure.side_by_side(corrector, items, rounds, pytorch_model, kenlm_model, peers, say)
    if "scaling" in chosen:
        result["scaling"] = measure.scaling(corrector, rounds, say)
    if "profile" in chosen:
        say("share of the time by stage")
        result["profile"] = measure.profile(Corrector(model, threads=1), items, rounds)
    if "start-up" in chosen:
        say("start-up")
        found = processes.start_up(max(rounds, 5))
        result["start-up"] = {name: spread.as_json() for name, spread in found.items()}
    if "jobs" in chosen:
        say("threads and processes")
        result["jobs"] = processes.jobs(3 * 10**5, usable_cores(), rounds)
    if "memory" in chosen:
        say("memory")
        result["memory"] = processes.memory([10**n for n in range(3, 9)] if large else [10**5, 5 * 10**5], threads)
    if "size" in chosen:
        say("size")
        result["size"] = processes.sizes()
    result["load after"] = measure.load_average()
    return result


def write(result: dict[str, Any], folder: Path) -> None:
    """Puts the result into the folder and the tables on standard output."""
    from benchmarks import report

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    text = report.markdown(result)
    (folder / "results.md").write_text(text, encoding="utf-8")
    click.echo(text)
    try:
        report.plot(result, folder / "results.png")
    except ImportError:
        say("no plot: matplotlib is not installed; pip install electra-correct[bench]")
    say(f"results.json, results.md and results.png are in {folder}")


def say(message: str) -> None:
    click.echo(message, err=True)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
