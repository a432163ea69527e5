"""What a step of training learns from: windows, the errors in them, their marks, and the places of the corrective head."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corrector.electra.marks import MarkTables

Arrays = NDArray[np.int64]


class Rows(NamedTuple):
    """Windows to learn from, before errors are made."""

    original: Arrays  # (count, length)
    given: Arrays  # the same with the errors of a labelled row, or -1
    folds: Arrays  # (count,) part of the corpus
    trusted: NDArray[np.bool_]  # (count,) whether the original has no errors of its own, as far as anyone knows


Source = Callable[[int, int], Rows]
"""(count, window length) → that many windows."""


class Batch(NamedTuple):
    """What one step's heads learn from: arrays as they are made, tensors where they are learned from."""

    ids: Any  # (batch, length) as the encoder sees them
    types: Any
    mask: Any  # (batch, length), None without padding
    replaced: Any  # (batch, length) 0/1
    detection_weight: Any  # (batch, length) 0 on padding, specials and [MASK]
    positions: Any  # (n,) flat places of the corrective head
    targets: Any  # (n,)
    correction_weight: Any  # (n,)
    trusted: Any  # (batch, 1)


def types_of(marks: tuple[MarkTables, ...], windows: Arrays, folds: Arrays) -> Arrays:
    """The marks of windows (count, length), by the counts that were made without their parts of the corpus."""
    types = np.empty_like(windows)
    for fold in np.unique(folds):
        types[folds == fold] = marks[fold].types(windows[folds == fold])
    return types


@dataclass(frozen=True)
class BatchMaker:
    """Makes batches of windows and their corrupted text; ``marks`` are those of ``counts.load_marks``.

    The corrective head gets a place for every eight tokens: wrong and masked ones, and right ones, which weigh as much as if
    ``kept_share`` of all had been chosen.
    """

    marks: tuple[MarkTables, ...]
    specials: int
    mask_id: int
    kept_share: float

    def make(
        self, original: Arrays, corrupted: Arrays, folds: Arrays, trusted: NDArray[np.bool_], rng: np.random.Generator
    ) -> Batch:
        """Of windows (count, length) as they were and as they are read, their parts of the corpus and whether they are trusted (count,)."""
        types = self.types(corrupted, folds)
        flat_original, flat = original.reshape(-1), corrupted.reshape(-1)
        padding = flat == 0
        masked = flat == self.mask_id
        wrong = (flat != flat_original) & ~masked
        draw = rng.random(flat.size) + 2.0 * (wrong | masked)
        draw[padding | ((flat < self.specials) & ~masked)] = -1.0
        count = flat.size // 8
        places = np.argpartition(-draw, count)[:count]
        learned = (wrong | masked)[places]
        weight = np.where(learned, 1.0, self.kept_share * flat.size / count)
        weight[draw[places] < 0] = 0.0
        detect = ~padding & ~masked & (flat >= self.specials)
        shape = original.shape
        padded = bool(padding.any())
        return Batch(
            corrupted, types, (~padding).reshape(shape) if padded else None, wrong.astype(np.float32).reshape(shape),
            detect.astype(np.float32).reshape(shape), places, flat_original[places], weight.astype(np.float32), trusted[:, None],
        )  # fmt: skip

    def types(self, windows: Arrays, folds: Arrays) -> Arrays:
        """``types_of`` windows."""
        return types_of(self.marks, windows, folds)
