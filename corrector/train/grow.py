"""A deeper network that begins by computing what a shallower one does (Chen et al. 2016, "Net2Net"; Wu et al. 2024, "LLaMA Pro").

A new layer is a copy of the one below it whose two output products are zero, so it hands on what it is given. In a post-LN layer that
takes one more step: LN(x) = x only for x of mean 0 and variance 1, so the scale and shift of the last norm below move above the new
layer, and the copied products, which now see values without them, take them in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from corrector.errors import ConfigError
from corrector.train import checkpoint, ledger

_NAME = re.compile(r"encoder\.layers\.(\d+)\.(.+)")
_Parts = dict[str, Tensor]


def grow(path: Path, layers: int, out: Path) -> None:
    """Write ``out/checkpoint.pt``: the networks at ``path`` with an encoder of ``layers`` layers that computes the same, and their ledger.

    New layers are spread evenly. Raises ConfigError unless there are to be more than now, and at most twice as many; ModelError for a
    checkpoint that cannot be read.
    """
    checkpoint.check_apart(out, [path])
    state = checkpoint.load(path)
    config = json.loads(state["config"])
    now = config["model"]["layers"]
    if not now < layers <= 2 * now:
        raise ConfigError("--layers", str(layers), f"the encoder has {now}; give {now + 1} to {2 * now}")
    record = ledger.noted(path, grown=[now, layers])
    config["model"]["layers"] = layers
    networks = grown(state["model"], now, layers)
    checkpoint.save(out / "checkpoint.pt", checkpoint.with_networks(state, networks, json.dumps(config)))
    ledger.write(out, record)


def grown(networks: Mapping[str, Tensor], now: int, layers: int) -> dict[str, Tensor]:
    """The parameters of a ``JointElectra`` of ``now`` layers as those of one of ``layers``."""
    parts: list[_Parts] = [{} for _ in range(now)]
    rest: dict[str, Tensor] = {}
    for name, weights in networks.items():
        found = _NAME.fullmatch(name)
        if found:
            parts[int(found[1])][found[2]] = weights
        else:
            rest[name] = weights
    new = layers - now
    followed = {(number + 1) * now // new - 1 for number in range(new)}
    stack: list[_Parts] = []
    for number, layer in enumerate(parts):
        stack += _with_one_above(layer) if number in followed else [layer]
    return rest | {f"encoder.layers.{number}.{name}": weights for number, layer in enumerate(stack) for name, weights in layer.items()}


def _with_one_above(layer: _Parts) -> tuple[_Parts, _Parts]:
    """A layer, and a new one above it that hands on what it is given."""
    ones, zeros = torch.ones_like(layer["norm2.weight"]), torch.zeros_like(layer["norm2.bias"])
    below = layer | {"norm2.weight": ones, "norm2.bias": zeros}
    above = layer | {"norm1.weight": ones, "norm1.bias": zeros}  # its norm2 has the scale and shift of the layer below
    for product, norm in (("qkv", "norm2"), ("up", "norm1")):
        weight, scale, shift = layer[f"{product}.weight"], layer[f"{norm}.weight"], layer[f"{norm}.bias"]
        above[f"{product}.weight"] = weight * scale
        above[f"{product}.bias"] = layer[f"{product}.bias"] + weight @ shift
    for product in ("out", "down"):
        for kind in ("weight", "bias"):
            above[f"{product}.{kind}"] = torch.zeros_like(layer[f"{product}.{kind}"])
    return below, {name: weights.clone() for name, weights in above.items()}
