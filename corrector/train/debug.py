"""The whole chain on a few sentences: pack, pretrain, finetune, export, calibrate, evaluate. Proves the plumbing, trains nothing."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from corrector.eval import dataset
from corrector.train.config import TrainConfig
from corrector.types import TYPED

REPEATS = 4  # of each sentence, so that a small text has pairs and characters that count
SENTENCES = 100
JUDGED = (
    12  # labelled rows that fit the ranker, and as many to calibrate it: an untrained network suspects every character
)
NAME = "debug"


@dataclass(frozen=True)
class DebugFiles:
    """What the chain reads, and where it writes."""

    raw: tuple[Path, Path]
    clean: Path
    fit: Path
    held_back: Path


def write_text(rows: Sequence[tuple[str, str]], out: Path) -> DebugFiles:
    """Two raw files, a clean one, and two halves of the labelled rows, all in ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    files = DebugFiles(
        (out / "raw-0.txt", out / "raw-1.txt"), out / "clean-0.txt", out / "fit.tsv", out / "held_back.tsv"
    )
    targets = [target for _, target in rows]
    for number, path in enumerate(files.raw):
        path.write_text("\n".join(targets[number::2] * REPEATS) + "\n", "utf-8")
    files.clean.write_text("\n".join(targets) + "\n", "utf-8")
    for number, path in enumerate((files.fit, files.held_back)):
        path.write_text("".join(f"{source}\t{target}\n" for source, target in rows[number::2][:JUDGED]), "utf-8")
    return files


def labelled_rows(path: Path | None) -> list[tuple[str, str]]:
    """``SENTENCES`` labelled rows of a file; None: the project's own sentences. Raises EvalDataError."""
    labelled = dataset.load_set(path or dataset.shipped_paths()[0])
    return [(row.source, row.target) for row in dataset.every_nth(labelled, SENTENCES).rows]


def run_chain(out: Path, rows: Sequence[tuple[str, str]], say: Callable[[str], None]) -> Path:
    """Everything from text to a scored model directory, which is returned. About a minute; the corrections are worthless."""
    from corrector.train.calibrate import fit_ranker
    from corrector.train.export import export_release
    from corrector.train.finetune import finetune, finetune_config
    from corrector.train.pairs import PairSet, read_pairs
    from corrector.train.prepare import prepare
    from corrector.train.pretrain import pretrain

    files, data, model = write_text(rows, out / "text"), out / "data", out / "model"
    prepare(files.raw, [files.clean], data, None, say, extra="")
    config = TrainConfig(data=str(data), out=str(out / "pretrain"), threads=1).debug()
    pretrain(config, say)
    checkpoint = out / "pretrain" / "checkpoint.pt"
    tuned = dataclasses.replace(debug_finetune(finetune_config(config, str(data), str(out / "finetune"))), threads=config.threads)
    pairs = PairSet(read_pairs(files.fit), 1.0, files.fit.name)
    finetune(tuned, checkpoint, [pairs], 0.5, say)
    export_release(out / "finetune" / "checkpoint.pt", data, model, NAME, "0", "onnx", say, {"note": "a debug run"})
    fit_ranker(model, [pairs], [files.held_back], say, [pairs])
    score(model, files.held_back, out / "scores.json", say)
    return model


def debug_finetune(config: TrainConfig) -> TrainConfig:
    """A fine-tuning config cut to a few steps; the network stays that of the checkpoint."""
    return dataclasses.replace(config.debug(), model=config.model)


def score(model: Path, labelled: Path, report: Path, say: Callable[[str], None]) -> None:
    """Evaluate a model directory on a labelled file, keep the report, and put the scores into the manifest."""
    from corrector.eval.__main__ import run
    from corrector.eval.report import json_report, text_report
    from corrector.train.release import refresh_manifest

    results = run(
        [str(labelled)], None, None, str(model), TYPED, None, 1, limit=40, max_length=None, remove_de=False, predictions=None,
        save_predictions=None, bootstrap=0, by=None,
    )  # fmt: skip
    report.write_text(json.dumps(json_report(results), ensure_ascii=False), "utf-8")
    refresh_manifest(model, say, report)
    say(text_report(results).rstrip())
