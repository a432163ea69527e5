"""Pre-training from packed shards: wires the corpus to the loop."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np

from corrector.electra.marks import MarkTables
from corrector.electra.tokenizer import Tokenizer
from corrector.train import checkpoint
from corrector.train.config import TrainConfig, to_json
from corrector.train.corpus import SPECIALS, WindowStream, load_shards, shard_names
from corrector.train.loop import Arrays, Trainer
from corrector.train.model import JointElectra
from corrector.train.noise import Noise
from corrector.train.noise_tables import NoiseTables


def with_vocabulary(config: TrainConfig, tokenizer: Tokenizer) -> TrainConfig:
    model = dataclasses.replace(config.model, vocabulary_size=len(tokenizer.vocabulary))
    return dataclasses.replace(config, model=model)


def make_trainer(config: TrainConfig, tokenizer: Tokenizer, source: Callable[[int, int], tuple[Arrays, Arrays, Arrays]]) -> Trainer:
    """A fresh trainer on the marks and noise tables in ``config.data``. A half is marked with the other half's counts; half 2 with all."""
    import torch

    data = Path(config.data)
    torch.manual_seed(config.seed)
    noise = Noise(NoiseTables.load(data / "noise.npz"), config.noise, len(tokenizer.vocabulary), tokenizer.mask_id)
    marks = tuple(MarkTables.load(data / f"marks.{name}.npz") for name in ("1", "0", "all"))
    features = torch.from_numpy(np.load(data / "features.npy"))
    return Trainer(config, JointElectra(config.model, features), noise, marks, len(SPECIALS), source)


def pretrain(config: TrainConfig, say: Callable[[str], None]) -> None:
    """Train until ``total_tokens``, going on from ``out/checkpoint.pt`` if there is one."""
    data, out = Path(config.data), Path(config.out)
    tokenizer = Tokenizer.load(data / "vocab.txt")
    config = with_vocabulary(config, tokenizer)
    stream = WindowStream(
        load_shards(data, list(shard_names(data, "mixed")), tokenizer.vocabulary), config.seed, tokenizer.cls_id, tokenizer.sep_id
    )

    def source(count: int, length: int) -> tuple[Arrays, Arrays, Arrays]:
        windows, folds = stream.batch(count, length)
        original = windows.astype(np.int64)
        return original, np.full_like(original, -1), folds

    trainer = make_trainer(config, tokenizer, source)
    path = out / "checkpoint.pt"
    if path.exists():
        stream.epoch, stream.index = trainer.restore(checkpoint.load(path))
        say(f"going on from {trainer.tokens:,} tokens")
    out.mkdir(parents=True, exist_ok=True)
    (out / "config.json").write_text(to_json(config), "utf-8")
    trainer.run(out, lambda: (stream.epoch, stream.index), say)
