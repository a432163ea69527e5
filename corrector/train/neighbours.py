"""A start that knows where the neighbours are."""

from __future__ import annotations

import math

import torch

from corrector.errors import ConfigError
from corrector.train.model import JointElectra, Layer

NEIGHBOURS = (-1, 1, -2, 2)
_WAVES = 16  # frequencies, two dimensions each
_POSITION_STD = 1.0  # of the position dimensions against the others of an embedding
_SHARPNESS = 0.9  # weight of the wave dimensions in query and key: the neighbour gets most of the attention


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def attend_to_neighbours(model: JointElectra) -> None:
    """Start with heads of the first layers looking at the characters one and two places to either side.

    A randomly initialised encoder spends its first millions of tokens finding out where the neighbours are. Position vectors become
    sines and cosines in dimensions of their own, and query and key of one head per offset rotate them by it: the score is
    Σ cos(ω(i + offset - j)), greatest at j = i + offset. Everything stays trainable and plain ELECTRA.
    """
    emb = model.embeddings
    size = 2 * _WAVES
    heads = min(tower.layers[0].out.in_features // tower.layers[0].heads for tower in (model.encoder, model.generator))
    if emb.word.embedding_dim <= size or heads < size:
        raise ConfigError("config", "model", f"needs embedding_size above {size} and at least {size} dimensions a head")
    frequencies = torch.logspace(math.log10(2.6), math.log10(0.08), _WAVES)
    angles = torch.arange(emb.position.num_embeddings)[:, None] * frequencies  # (positions, waves)
    for table in (emb.word.weight, emb.feature_rows, *(marks.weight for marks in emb.marks)):
        table[:, :size] = 0.0
    rest = (emb.table()[:, size:].std() ** 2 + sum(marks.weight[:, size:].std() ** 2 for marks in emb.marks)) ** 0.5
    amplitude = _POSITION_STD * float(rest) * 2**0.5
    emb.position.weight[:, :size] = amplitude * torch.cat([angles.sin(), angles.cos()], 1)
    for tower in (model.encoder, model.generator):
        tower.project.weight[:size] = 0.0
        tower.project.weight[:size, :size] = torch.eye(size)
        tower.project.bias[:size] = 0.0
        first = tower.layers[0]
        assert isinstance(first, Layer)
        hidden, head = first.out.in_features, first.out.in_features // first.heads
        for number, offset in zip(range(first.heads), NEIGHBOURS, strict=False):
            query, key = number * head, hidden + number * head
            turn = frequencies * offset
            rotation = torch.zeros(size, size)
            waves = torch.arange(_WAVES)
            # sin(a + t) = sin a cos t + cos a sin t;  cos(a + t) = cos a cos t - sin a sin t
            rotation[waves, waves] = rotation[waves + _WAVES, waves + _WAVES] = turn.cos()
            rotation[waves, waves + _WAVES] = turn.sin()
            rotation[waves + _WAVES, waves] = -turn.sin()
            for row, matrix in ((query, rotation), (key, torch.eye(size))):
                first.qkv.weight[row : row + size] = 0.0
                first.qkv.weight[row : row + size, :size] = matrix * _SHARPNESS
                first.qkv.bias[row : row + size] = 0.0
