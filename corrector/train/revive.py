"""A new start for what a network no longer uses: feed-forward units that never fire, and attention heads that always say the same.

Too high a learning rate leaves many of them in a post-LN encoder, and no gradient brings them back. Their mean output goes into the
bias behind them, the weights that lead out become 0, those that lead in are drawn anew (Sokar et al. 2023, "The Dormant Neuron
Phenomenon in Deep Reinforcement Learning", section 4): the network computes nearly the same, and learns on with all of its parts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from corrector.train import checkpoint, ledger
from corrector.train.activity import Activity
from corrector.train.export import load_model
from corrector.train.model import Layer
from corrector.train.watch import watch

SAME = 0.8  # a head varies too little when of its mean square output this share is that of its mean
_HEAD_SCALE = 0.5  # of new queries and keys: heads begin by looking everywhere


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def begin_anew(layer: Layer, activity: Activity, generator: torch.Generator) -> tuple[int, int]:
    """Give a layer's dormant units and unvarying heads a new start; says how many of each."""
    dormant, hidden, size = activity.dormant(), layer.out.in_features, layer.out.in_features // layer.heads

    def drawn(rows: int, scale: float) -> Tensor:
        return torch.randn(rows, hidden, generator=generator) * scale * hidden**-0.5

    layer.down.bias += layer.down.weight[:, dormant] @ (torch.as_tensor(activity.units) / activity.tokens)[dormant]
    layer.down.weight[:, dormant] = 0.0
    layer.up.weight[dormant], layer.up.bias[dormant] = drawn(int(dormant.sum()), 1.0), 0.0
    unvarying = (activity.same(layer.heads) > SAME).nonzero().flatten().tolist()
    for head in unvarying:
        own = slice(head * size, (head + 1) * size)
        layer.out.bias += layer.out.weight[:, own] @ (torch.as_tensor(activity.heads) / activity.tokens)[own]
        layer.out.weight[:, own] = 0.0
        for part, scale in enumerate((_HEAD_SCALE, _HEAD_SCALE, 1.0)):  # query, key, value
            rows = slice(part * hidden + own.start, part * hidden + own.stop)
            layer.qkv.weight[rows], layer.qkv.bias[rows] = drawn(size, scale), 0.0
    return int(dormant.sum()), len(unvarying)


def revive(path: Path, data: Path, out: Path, say: Callable[[str], None]) -> None:
    """Write ``out/checkpoint.pt``: the networks at ``path`` with a new start for all that is dormant in their encoder while it reads
    text packed in ``data``, and their ledger.

    Raises ModelError for a checkpoint that cannot be read, and InputError for a folder without enough text.
    """
    checkpoint.check_apart(out, [path])
    model, config, _ = load_model(path, data)
    activities = watch(model, config, data)
    generator = torch.Generator().manual_seed(config.seed)
    counts = []
    for number, (layer, activity) in enumerate(zip(model.encoder.layers, activities, strict=True), 1):
        assert isinstance(layer, Layer)
        counts.append(begin_anew(layer, activity, generator))
        units, heads = counts[-1]
        say(f"layer {number}: {units:,} of {layer.up.out_features:,} units and {heads} of {layer.heads} heads begin anew")
    record = ledger.noted(path, revived=[units for units, _ in counts])
    checkpoint.save(out / "checkpoint.pt", checkpoint.with_networks(checkpoint.load(path), model.state_dict()))
    ledger.write(out, record)
