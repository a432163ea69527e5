"""Slips: how often people were seen to write one character where another was meant.

The rate is the share of the places where a character was written at which another was meant, smoothed (Laplace):

    rate(given → meant) = (times(given, meant) + k) / (written(given) + m)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corrector.electra.ngrams import SPECIALS

_TIMES, _WRITTEN = np.float32(0.2), np.float32(50)  # k and m; of 0.02, 0.05 and 0.2, and 10, 50 and 200, all do nearly as well

_SIMILARITY_POWER, _WHOLLY_ALIKE = np.float32(0.12), np.log(np.float32(0.02))
"""Of a rate as a similarity, and the rate from which on two characters count as wholly alike (eval/results/2026-11-30-trials-ocr.json)."""

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

    def most_meant(self, count: int) -> Ids:
        """For each character the ids of those, up to so many, that were most often meant where it stood, the commonest first; 0 where
        there are fewer: (vocabulary, count)."""
        given, meant, place = self._ranked
        kept = place < count
        found = np.zeros((self.vocabulary_size, count), dtype=np.int64)
        found[given[kept], place[kept]] = meant[kept]
        return found

    @cached_property
    def _ranked(self) -> tuple[Ids, Ids, Ids]:
        """The pairs, those of each character given by falling times: what was given, what was meant, and its place among these."""
        given, meant = np.divmod(self.pairs, self.vocabulary_size)
        are_characters = meant >= SPECIALS
        given, meant, times = given[are_characters], meant[are_characters], self.times[are_characters]
        starts = given.searchsorted(np.arange(self.vocabulary_size))
        return given, meant[np.lexsort((-times, given))], np.arange(len(given)) - starts[given]

    def look_alikes(self, count: int) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
        """``most_meant`` as ``Ngrams`` has look-alikes: ids, and how similar they are in 255ths, by their rates: (vocabulary, count)."""
        ids = self.most_meant(count)
        rates = self.log_rates(np.arange(self.vocabulary_size)[:, None], ids)
        similarity = np.exp(_SIMILARITY_POWER * np.minimum(rates - _WHOLLY_ALIKE, 0)) * (ids > 0)
        return ids.astype(np.uint16), np.round(255 * similarity).astype(np.uint8)

    def log_rates(self, given: Ids, meant: Ids) -> NDArray[np.float32]:
        """ln rate(given → meant) of characters given by their ids: the same shape."""
        wanted = given * self.vocabulary_size + meant
        times = np.full(wanted.shape, _TIMES)
        if len(self.pairs):
            at = np.minimum(self.pairs.searchsorted(wanted), len(self.pairs) - 1)
            times += np.where(self.pairs[at] == wanted, self.times[at], 0)
        rates: NDArray[np.float32] = np.log(times / (self.written[given] + _WRITTEN))
        return rates
