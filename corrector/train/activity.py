"""What the parts of an encoder put out while it reads: which feed-forward units never fire, which attention heads always say the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from corrector.train.model import Layer

FIRES = 0.1  # a unit whose greatest output is no more than this share of the mean of its layer is dormant


class Activity:
    """What the feed-forward units (units,) and the attention (hidden,) of a layer put out, over all tokens seen so far."""

    def __init__(self) -> None:
        self.tokens = 0
        self.greatest: Tensor | float = -torch.inf
        self.units: Tensor | float = 0.0  # sums
        self.unit_squares: Tensor | float = 0.0
        self.heads: Tensor | float = 0.0
        self.head_squares: Tensor | float = 0.0

    def see_units(self, _: nn.Module, given: tuple[Tensor]) -> None:
        """A hook before the product that leads out of the units."""
        values = given[0].detach().float().flatten(0, -2)
        self.greatest = torch.maximum(values.amax(0), torch.as_tensor(self.greatest))
        self.units, self.unit_squares = self.units + values.sum(0), self.unit_squares + values.square().sum(0)
        self.tokens += len(values)

    def see_heads(self, _: nn.Module, given: tuple[Tensor]) -> None:
        """A hook before the product that leads out of the heads."""
        values = given[0].detach().float().flatten(0, -2)
        self.heads, self.head_squares = self.heads + values.sum(0), self.head_squares + values.square().sum(0)

    def dormant(self) -> Tensor:
        """Which units never fire: (units,)."""
        greatest = torch.as_tensor(self.greatest)
        return greatest <= FIRES * greatest.clamp(min=0.0).mean()

    def same(self, heads: int) -> Tensor:
        """The share of each head's mean square output that is its mean's: (heads,)."""
        mean = torch.as_tensor(self.heads) / self.tokens
        squares = torch.as_tensor(self.head_squares) / self.tokens
        return mean.square().view(heads, -1).sum(1) / squares.view(heads, -1).sum(1).clamp(min=1e-12)


@contextmanager
def observed(layers: Iterable[nn.Module]) -> Iterator[list[Activity]]:
    """The activity of encoder layers in whatever the network reads inside the block."""
    found, hooks = [], []
    for layer in layers:
        assert isinstance(layer, Layer)
        found.append(Activity())
        hooks += [layer.down.register_forward_pre_hook(found[-1].see_units), layer.out.register_forward_pre_hook(found[-1].see_heads)]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()
