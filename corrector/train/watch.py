"""What an encoder does while it reads: its activity over packed text, with errors made as in its training."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import torch

from corrector.electra.tokenizer import Tokenizer
from corrector.train.activity import Activity, observed
from corrector.train.batches import types_of
from corrector.train.config import TrainConfig
from corrector.train.counts import load_marks
from corrector.train.model import JointElectra
from corrector.train.noise import Noise
from corrector.train.noise_tables import NoiseTables
from corrector.train.prepare import shard_names
from corrector.train.pretrain import made_rows, window_stream

LOOKED_AT = 200_000  # tokens
_BATCH, _LENGTH = 64, 64


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def watch(model: JointElectra, config: TrainConfig, data: Path) -> list[Activity]:
    """The activity of the encoder's layers over ``LOOKED_AT`` tokens of text in ``data``, edited text if there is any.

    Raises InputError for a folder without enough text.
    """
    raw, clean = shard_names(data)
    tokenizer = Tokenizer.load(data / "vocab.txt")
    config = dataclasses.replace(config, data=str(data), stages=((0, _LENGTH),), batch_tokens=_BATCH * _LENGTH)
    stream = window_stream(config, tokenizer, clean or raw, "clean" if clean else "raw")
    noise = Noise(NoiseTables.load(data / "noise.npz"), config.noise, len(tokenizer.vocabulary), tokenizer.mask_id)
    rng = np.random.default_rng(config.seed)
    marks = load_marks(data)
    with observed(model.encoder.layers) as activities:
        for _ in range(LOOKED_AT // (_BATCH * _LENGTH)):
            rows = made_rows(stream, _BATCH, _LENGTH, trusted=True)
            ids = noise.corrupt(rows.original, rng)
            types = types_of(marks, ids, rows.folds)
            model.encode(torch.from_numpy(ids), torch.from_numpy(types), None, model.embeddings.table())
    return activities
