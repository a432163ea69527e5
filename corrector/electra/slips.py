"""Slips: how often people were seen to write one character where another was meant.

The rate is the share of the places where a character was written at which another was meant, smoothed (Laplace):

    rate(given → meant) = (times(given, meant) + k) / (written(given) + m)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_TIMES, _WRITTEN = np.float32(0.2), np.float32(50)  # k and m; of 0.02, 0.05 and 0.2, and 10, 50 and 200, all do nearly as well

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Slips:
    """What labelled rows tell: ``pairs`` (n,) sorted numbers given · vocabulary + meant, the ``times`` (n,) each was seen, and how often
    each character was ``written``, rightly or not (vocabulary,); rows may weigh differently, so none of these need be whole."""

    pairs: Ids
    times: NDArray[np.float32]
    written: NDArray[np.float32]

    @property
    def vocabulary_size(self) -> int:
        return len(self.written)

    @classmethod
    def load(cls, path: Path) -> Slips:
        """Read ``slips.npz``."""
        with np.load(path) as data:
            return cls(data["pairs"].astype(np.int64), data["times"], data["written"])

    def save(self, path: Path) -> None:
        """Write ``slips.npz``."""
        np.savez_compressed(path, pairs=self.pairs.astype(np.uint32), times=self.times, written=self.written)

    def forgotten(self) -> Slips:
        """As if no slip had ever been seen, in as much text."""
        return Slips(self.pairs[:0], self.times[:0], self.written)

    def log_rates(self, given: Ids, meant: Ids) -> NDArray[np.float32]:
        """ln rate(given → meant) of characters given by their ids: the same shape."""
        wanted = given * self.vocabulary_size + meant
        times = np.full(wanted.shape, _TIMES)
        if len(self.pairs):
            at = np.minimum(self.pairs.searchsorted(wanted), len(self.pairs) - 1)
            times += np.where(self.pairs[at] == wanted, self.times[at], 0)
        rates: NDArray[np.float32] = np.log(times / (self.written[given] + _WRITTEN))
        return rates
