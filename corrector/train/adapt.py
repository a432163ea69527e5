"""Adapting a released model to a field: a few hundred labelled pairs, some minutes on a CPU, no corpus.

The rows are dealt out by their right sentences: every tenth is kept for the scores, another tenth for the ranker, and the networks learn
from the others. Half of each batch are the labelled rows, half the right sentences with synthetic errors in them, or without any, so
that the field's right text is learned along with its errors. All text is marked by the model's own counts, which never saw it. The
embeddings stay as they are: trained along, they win nothing in the field and cost precision outside it.

The ranker's check is fitted again with its weights drawn to the shipped ones. Its calibration, ``min_confidence`` and the profiles stay:
they were set on thousands of sentences of which most are right, as in real text. Pairs collected for training have far more errors, and
a few dozen rows cannot show a false alarm in a hundred; set by them the model would be too sure of itself. Whoever has some thousand
rows that nothing was trained on can go on with the command `calibrate`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from corrector import __version__
from corrector.electra.model import CONTRASTS, MARKS, RANKER, SLIPS, VOCABULARY, WORDS, ModelDirectory
from corrector.electra.model_dir import find_model
from corrector.errors import ConfigError, InputError
from corrector.eval.dataset import LabelledSet, Row
from corrector.eval.metrics import Scores
from corrector.eval.predict import run_model
from corrector.eval.report import SetResult, json_report
from corrector.eval.scoring import score_set
from corrector.eval.signature import sign
from corrector.pipeline import Corrector
from corrector.progress import is_terminal
from corrector.rank import Ranker, default_ranker
from corrector.stages import Stages
from corrector.train import noise_tables
from corrector.train.batches import Rows
from corrector.train.calibrate import refit_check
from corrector.train.config import ModelConfig, TrainConfig, override
from corrector.train.corpus import SPECIALS, lexicon_words
from corrector.train.export import export_onnx, parameters
from corrector.train.finetune import FINETUNE_NOISE, PairStream
from corrector.train.learner import Learner
from corrector.train.ledger import run_record
from corrector.train.noise import Noise
from corrector.train.pairs import Pairs, PairSet, Parts, split, with_right_sentences
from corrector.train.release import refresh_manifest, write_new_manifest
from corrector.train.released import read_network
from corrector.train.slips import count_slips
from corrector.train.workplace import MADE, workplace

if TYPE_CHECKING:
    from corrector.electra.tokenizer import Tokenizer
    from corrector.train.model import JointElectra

Say = Callable[[str], None]

FEW = 20  # rows held back, below which the scores say little
PASSES, MOST_STEPS = 8, 2000  # over the labelled rows; about three minutes on two cores for 500, and a quarter of an hour at most
WINDOWS = 16  # of a batch
PAIR_SHARE = 0.5  # of them are labelled rows
SHORTEST = 16  # tokens of a window
_OF_A_RUN = (
    "data", "out", "total_seconds", "raw_share", "workers", "repeats", "checkpoint_seconds", "log_steps", "dev", "dev_tokens", "dev_rows",
)  # fmt: skip
LEARNING_RATE = 3e-4  # 1e-4 mends less of the field, 6e-4 no more of it and makes more false alarms in other text


def adapt_config(
    model: ModelConfig, train: Sequence[PairSet], pair_share: float, settings: Sequence[str] = (), debug: bool = False
) -> TrainConfig:
    """The schedule for these rows: windows that hold nine of ten, ``PASSES`` over them, a short warm-up and a long decay.

    ``debug`` makes it a few steps; ``settings`` (``key=value``) come last. Raises ConfigError for those that the network cannot follow.
    """
    import torch

    lengths = [len(target) + 2 for item in train for _, target in item.pairs]
    length = min(model.max_positions, max(SHORTEST, 8 * int(np.ceil(np.quantile(lengths, 0.9) / 8))))
    steps = 4 if debug else min(MOST_STEPS, round(PASSES * len(lengths) / max(1, round(WINDOWS * pair_share))))
    tokens = steps * WINDOWS * length
    config = TrainConfig(
        batch_tokens=WINDOWS * length, stages=((0, length),), total_tokens=tokens, warmup_tokens=tokens // 20, decay_share=0.9,
        learning_rate=LEARNING_RATE, compile=False, threads=torch.get_num_threads(), model=model, noise=FINETUNE_NOISE,
        kept_share=0.03,
    )  # fmt: skip
    config = override(config, tuple(settings))
    for name in _OF_A_RUN:
        if getattr(config, name) != getattr(TrainConfig, name):
            raise ConfigError("--set", name, "has no say where a model is adapted, which is one short run; leave it out, or give --data")
    if config.model != model:
        raise ConfigError("--set", "model", "a released network keeps its shape; leave it out")
    if max(length for _, length in config.stages) > min(model.max_positions, config.batch_tokens):
        limits = f"{model.max_positions} positions and batch_tokens {config.batch_tokens}"
        raise ConfigError("--set", "stages", f"a window must fit into {limits}")
    return config


def adapt(
    base: ModelDirectory, sets: Sequence[PairSet], out: Path, pair_share: float, settings: Sequence[str], debug: bool, say: Say
) -> None:
    """Write the model ``base`` adapted to these sets to ``out``, all or nothing, and say its scores and those of ``base``.

    ``settings`` and ``debug`` are those of ``adapt_config``. Raises InputError when there is something in ``out``, and as ``workplace``
    does; EvalDataError for too few rows, ModelError for a model without this project's marks, ConfigError for settings.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(out, "already there; give --out a folder that is not")
    parts = split(sets)
    network = read_network(base)
    config = adapt_config(network.config, parts.train, pair_share, settings, debug)
    used = sum(len(item.pairs) for item in parts.train)
    say(f"{used:,} rows to learn from, {len(parts.ranker):,} for the ranker, {len(parts.held_back):,} held back for the scores")
    with workplace(out) as scratch:
        before = score(base.path, parts.held_back)
        learn(network, base.tokenizer, parts.train, config, pair_share, say)
        made = scratch / MADE
        name = out.absolute().name
        write_model(network, base, made, name, run_record(config, config.total_tokens) | _told(base, parts, pair_share))
        count_slips(parts.train, base.tokenizer, base.slips).save(made / SLIPS)
        refit_ranker(made, parts.ranker)
        refresh_manifest(made, say)
        after = score(made, parts.held_back)
        report = scratch / "scores.json"
        report.write_text(json.dumps(json_report([after])), "utf-8")
        refresh_manifest(made, say, report)
    say(table(before.scores, after.scores))
    if len(parts.held_back) < FEW:
        say(f"warning: {len(parts.held_back)} rows held back say little; from {10 * FEW} pairs on the scores mean something")
    say(f"use it: electra-correct --model {out} FILE")


def learn(
    network: JointElectra, tokenizer: Tokenizer, train: Sequence[PairSet], config: TrainConfig, pair_share: float, say: Say
) -> None:
    """Train ``network``, all but its embeddings, in place to the end of ``config``."""
    import torch

    tables = tokenizer.tables
    assert tables is not None  # a network with marks was read
    say("making the tables that synthetic errors are drawn from")
    counts = np.zeros(len(tokenizer.vocabulary)) if tables.ngrams is None else tables.ngrams.counts
    errors = noise_tables.build(tokenizer.vocabulary, counts.astype(np.int64), lexicon_words())
    rows = PairStream(train, tokenizer, config.seed)

    def source(count: int, length: int) -> Rows:
        batch = rows.batch(count, length)
        batch.given[round(count * pair_share) :] = -1
        return batch

    torch.manual_seed(config.seed)
    network.embeddings.requires_grad_(False)
    noise = Noise(errors, config.noise, len(tokenizer.vocabulary), tokenizer.mask_id)
    learner = Learner(config, network.train(), noise, (tables,), len(SPECIALS), source)
    with _steps(-(-config.total_tokens // config.batch_tokens), say) as steps:
        for _ in steps:
            learner.train_step()
    network.cpu().eval()


@contextlib.contextmanager
def _steps(count: int, say: Say) -> Iterator[Iterable[int]]:
    """The numbers of the steps, with a bar on a terminal and else a line now and then."""
    if is_terminal(sys.stderr):
        with click.progressbar(range(count), label="Adapting", file=sys.stderr) as bar:
            yield bar
        return

    def told() -> Iterator[int]:
        for step in range(count):
            yield step
            if 10 * (step + 1) // count > 10 * step // count:
                say(f"adapting: step {step + 1:,} of {count:,}")

    yield told()


def write_model(network: JointElectra, base: ModelDirectory, out: Path, name: str, run: dict[str, object]) -> None:
    """A whole model directory: the network, and vocabulary, marks, counts of words and ranker of ``base``; ``run`` joins the runs in
    its ledger."""
    export_onnx(network, out)
    shutil.copyfile(base.vocabulary, out / VOCABULARY)
    for table in (MARKS, WORDS, CONTRASTS):
        if (base.path / table).is_file():
            shutil.copyfile(base.path / table, out / table)
    (Ranker.load(base.ranker) if base.ranker else default_ranker()).save(out / RANKER)
    earlier = dict(base.manifest.get("training") or {})
    shape = {"parameters": parameters(network), **dataclasses.asdict(network.config)}
    training = {"network": shape, **earlier, "runs": [*earlier.get("runs", ()), run]}
    write_new_manifest(out, name, adapted_version(base.version or __version__), training, base.manifest.get("sources", []))


def adapted_version(version: str) -> str:
    """A version that says that a model is adapted from one of this version: a local one of PEP 440, as 0.29.0+adapted."""
    return f"{version}{'.' if '+' in version else '+'}adapted"


def _told(base: ModelDirectory, parts: Parts, pair_share: float) -> dict[str, object]:
    """What the ledger says of the run besides its settings."""
    pairs = [{"name": item.name, "rows": len(item.pairs), "weight": item.weight} for item in parts.train]
    return {"base": f"{base.name} {base.version} {base.checksum}", "pair_share": pair_share, "pairs": pairs}


def refit_ranker(model: Path, rows: Pairs) -> None:
    """Fit the check of a model directory's ranker again, near its old weights."""
    stages = Stages.of(find_model(model), Ranker.load(model / RANKER))
    refit_check(stages, with_right_sentences(rows)).save(model / RANKER)


def score(model: Path, held_back: Pairs) -> SetResult:
    """A model directory on the rows held back and their right sentences."""
    corrector = Corrector(model)
    pairs = with_right_sentences(held_back)
    digest = hashlib.sha256("".join(f"{source}\t{target}\n" for source, target in pairs).encode()).hexdigest()
    rows = tuple(Row(source, target, number) for number, (source, target) in enumerate(pairs, 1))
    held = LabelledSet("held-back", "", "tsv", digest, rows, tuple(range(len(rows))), len(rows), 0)
    signature = sign(held, corrector.model_name, corrector.model_checksum, corrector.min_confidence)
    return score_set(held, list(run_model(corrector, held)), signature)


def table(before: Scores, after: Scores) -> str:
    """Both scores side by side, in percent and as counts."""
    counts = before.counts
    lines = [
        f"strict correction of {counts.sentences:,} sentences held back, {counts.erroneous:,} with errors, {counts.error_free:,} right",
        f"{'':<16}{'before':>18}{'after':>18}",
    ]
    cells = [_cells(scores) for scores in (before, after)]
    lines += [f"{name:<16}{cells[0][name]:>18}{cells[1][name]:>18}" for name in cells[0]]
    return "\n".join(lines)


def _cells(scores: Scores) -> dict[str, str]:
    c, strict = scores.counts, scores.strict_correction
    unchanged = "–" if scores.unchanged_share is None else _percent(scores.unchanged_share, c.error_free - c.false_positives, c.error_free)
    return {
        "precision": _percent(strict.precision, c.corrected, c.changed),
        "recall": _percent(strict.recall, c.corrected, c.erroneous),
        "F1": f"{100 * strict.f1:.1f}",
        "right unchanged": unchanged,
    }


def _percent(share: float, hits: int, of: int) -> str:
    return f"{100 * share:.1f} ({hits:,}/{of:,})"
