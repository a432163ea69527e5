"""A narrower network that computes nearly the same: feed-forward units that hardly fire are left out.

Training at a high rate leaves many units of a post-LN encoder silent for good. They cost as much as the others, in bytes and in time, and
bring nothing: what a unit brings is the variance of its output, as far as the weights behind it let it through; its mean goes into the
bias behind it. (A unit's own variance, over much text, as in Molchanov et al. 2019, "Importance Estimation for Neural Network Pruning".)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from corrector.errors import ConfigError
from corrector.train import checkpoint, ledger
from corrector.train.activity import Activity
from corrector.train.config import to_json
from corrector.train.export import load_model
from corrector.train.model import Layer
from corrector.train.watch import watch

_PRODUCTS = ("up.weight", "up.bias", "down.weight", "down.bias")


def prune(path: Path, units: int, data: Path, out: Path, say: Callable[[str], None]) -> None:
    """Write ``out/checkpoint.pt``: the networks at ``path`` with the ``units`` of each layer of the encoder that bring most while it reads
    text packed in ``data``, and their ledger.

    Raises ConfigError unless there are to be fewer than now; ModelError for a checkpoint that cannot be read, and InputError for a folder
    without enough text.
    """
    checkpoint.check_apart(out, [path])
    model, config, _ = load_model(path, data)
    now = config.model.units
    if not 0 < units < now:
        raise ConfigError("--units", str(units), f"a layer has {now:,}; give 1 to {now - 1:,}")
    networks = model.state_dict()
    for number, (layer, activity) in enumerate(zip(model.encoder.layers, watch(model, config, data), strict=True)):
        assert isinstance(layer, Layer)
        kept, lost = without_the_least(layer, activity, units)
        networks |= {f"encoder.layers.{number}.{name}": weights for name, weights in kept.items()}
        say(f"layer {number + 1}: {units:,} of {now:,} units stay; what the others brought, of all variance: {lost:.2%}")
    record = ledger.noted(path, pruned=[now, units])
    config = dataclasses.replace(config, model=dataclasses.replace(config.model, intermediate_size=units))
    checkpoint.save(out / "checkpoint.pt", checkpoint.with_networks(checkpoint.load(path), networks, to_json(config)))
    ledger.write(out, record)


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def without_the_least(layer: Layer, activity: Activity, units: int) -> tuple[dict[str, Tensor], float]:
    """The feed-forward parameters of a layer with the ``units`` that bring most, and the share of variance that the others brought."""
    mean = torch.as_tensor(activity.units) / activity.tokens
    variance = torch.as_tensor(activity.unit_squares) / activity.tokens - mean.square()
    brings = variance.clamp(min=0.0) * layer.down.weight.square().sum(0)
    order = brings.argsort(descending=True, stable=True)
    kept, left = order[:units].sort().values, order[units:]
    parameters = (
        layer.up.weight[kept], layer.up.bias[kept], layer.down.weight[:, kept],
        layer.down.bias + layer.down.weight[:, left] @ mean[left],
    )  # fmt: skip
    return dict(zip(_PRODUCTS, (weights.clone() for weights in parameters), strict=True)), float(brings[left].sum() / brings.sum())
