"""Pre-training from packed shards: wires the corpus to the loop."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corrector.electra.model_dir import find_model
from corrector.electra.tokenizer import Tokenizer
from corrector.errors import ConfigError, InputError, ModelError
from corrector.train import checkpoint, ledger
from corrector.train.batches import Rows, Source
from corrector.train.config import TrainConfig, to_json
from corrector.train.corpus import SPECIALS, WindowStream, load_shards
from corrector.train.counts import load_marks
from corrector.train.loop import Numbers, Share, Trainer
from corrector.train.model import JointElectra
from corrector.train.neighbours import attend_to_neighbours
from corrector.train.noise import Noise
from corrector.train.noise_tables import NoiseTables
from corrector.train.observed import Observed
from corrector.train.prepare import RECORD, shard_names
from corrector.train.start import is_checkpoint


def with_vocabulary(config: TrainConfig, tokenizer: Tokenizer) -> TrainConfig:
    """The config with the size of this vocabulary."""
    model = dataclasses.replace(config.model, vocabulary_size=len(tokenizer.vocabulary))
    return dataclasses.replace(config, model=model)


def window_stream(config: TrainConfig, tokenizer: Tokenizer, names: Sequence[str], kind: str) -> WindowStream:
    """The windows of these shards of ``config.data``. Raises ConfigError for windows that fit no batch or no network,
    InputError for too little text."""
    data, longest = Path(config.data), max(length for _, length in config.stages)
    if longest > min(config.batch_tokens, config.model.max_positions):
        limits = f"batch_tokens {config.batch_tokens} and max_positions {config.model.max_positions}"
        raise ConfigError("config", "stages", f"windows of {longest} tokens do not fit {limits}")
    if not names:
        raise InputError(data / RECORD, f"no {kind} text in it; pack some with --{kind}")
    shards = load_shards(data, list(names), tokenizer.vocabulary)
    smallest = min(len(shard.tokens) for shard in shards)
    if smallest < 4 * longest:
        raise InputError(
            data, f"a {kind} shard of {smallest} tokens is too small for windows of {longest}; pack more text"
        )
    return WindowStream(shards, config.seed, tokenizer.cls_id, tokenizer.sep_id)


def made_rows(stream: WindowStream, count: int, length: int, *, trusted: bool) -> Rows:
    """The next windows of packed text, all of whose errors will be made ones."""
    windows, folds = stream.batch(count, length)
    original = windows.astype(np.int64)
    return Rows(original, np.full_like(original, -1), folds, np.full(count, trusted))


def make_trainer(
    config: TrainConfig,
    tokenizer: Tokenizer,
    source: Source,
    share: Share,
    observed: Observed | None = None,
) -> Trainer:
    """A fresh trainer on the marks and noise tables in ``config.data``, and on observed errors if there are any.

    Each part of the corpus is marked with the other parts' counts, text in none with all of them.
    """
    import torch

    data = Path(config.data)
    torch.manual_seed(config.seed)
    noise = Noise(NoiseTables.load(data / "noise.npz"), config.noise, len(tokenizer.vocabulary), tokenizer.mask_id, observed)
    marks = load_marks(data)
    features = torch.from_numpy(np.load(data / "features.npy"))
    model = JointElectra(config.model, features)
    attend_to_neighbours(model)
    return Trainer(config, model, noise, marks, len(SPECIALS), source, share, tokenizer.checksum)


def dev_measure(config: TrainConfig, tokenizer: Tokenizer, trainer: Trainer) -> Callable[[], Numbers] | None:
    """What ``Trainer.run`` measures on ``config.dev``; None when there are no such files."""
    from corrector.train.dev import DevSet, dev_scores

    length = max(length for _, length in config.stages)
    sets = [DevSet.read(Path(path), tokenizer, config.dev_rows, length) for path in config.dev]
    return (lambda: dev_scores(trainer.model, sets, trainer.batches.marks[-1])) if sets else None


def load_fitting(path: Path, config: TrainConfig) -> dict[str, Any]:
    """A checkpoint whose network has the shape that ``config`` asks for. Raises ConfigError naming the first difference, ModelError for
    one of another vocabulary than ``config.data`` has."""
    state = checkpoint.load(path)
    checkpoint.check_vocabulary(state, path, Path(config.data))
    theirs, ours = json.loads(state["config"])["model"], dataclasses.asdict(config.model)
    for key, value in ours.items():
        if theirs.get(key, value) != value:
            raise ConfigError(
                path, f"model.{key}", f"is {theirs.get(key)} there, {value} here; use another --out or setting"
            )
    return state


def begin_from(
    trainer: Trainer, start: Path, config: TrainConfig, out: Path, pairs: Sequence[Mapping[str, Any]] = (), pair_share: float = 0.0
) -> None:
    """Take the networks of ``start``, a checkpoint or a model directory, and write into ``out`` which runs led to them."""
    if is_checkpoint(start):
        begun = load_fitting(start, config)
        trainer.model.load_state_dict(begun["model"])
        earlier = ledger.runs(start, checkpoint.config_in(begun, start), begun["tokens"])
    else:
        from corrector.train.released import begin_with

        directory = find_model(start)
        if directory.tokenizer.vocabulary != Tokenizer.load(Path(config.data) / "vocab.txt").vocabulary:
            raise ConfigError(directory.path, "vocabulary", f"is not that of {config.data}; pack the text it was trained on")
        begin_with(trainer.model, directory)
        earlier = directory.manifest.get("training", {}).get("runs", [])
    ledger.write_ledger(out, earlier, pairs, pair_share)


def pretrain(config: TrainConfig, say: Callable[[str], None], start: Path | None = None) -> None:
    """Train until ``total_tokens``, going on from ``out/checkpoint.pt`` if there is one; else from the networks of ``start``,
    a checkpoint or a model, with a new optimiser and a new order of the text; else from nothing."""
    data, out = Path(config.data), Path(config.out)
    raw, _ = shard_names(data)
    tokenizer = Tokenizer.load(data / "vocab.txt")
    config = with_vocabulary(config, tokenizer)
    stream = window_stream(config, tokenizer, raw, "raw")

    def source(count: int, length: int) -> Rows:
        return made_rows(stream, count, length, trusted=False)

    trainer = make_trainer(config, tokenizer, source, stream.share)
    path = out / "checkpoint.pt"
    if path.exists():
        state = load_fitting(path, config)
        if not isinstance(state["position"][0], int):
            raise ModelError(path, "is of a fine-tuning run; give another --out, and to begin with its networks this one as --from")
        stream.epoch, stream.index = trainer.restore(state)
        say(f"going on from {trainer.tokens:,} tokens")
    out.mkdir(parents=True, exist_ok=True)
    if start is not None and not path.exists():
        begin_from(trainer, start, config, out)
    (out / "config.json").write_text(to_json(config), "utf-8")
    trainer.run(out, lambda: (stream.epoch, stream.index), say, dev_measure(config, tokenizer, trainer))
