"""A quick look at development pairs during training: detection and the corrective head alone, no ranker, no second look.

The number is for comparing moments of one run and runs with one another. It is well below what the whole pipeline reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from corrector.electra.marks import MarkTables
from corrector.electra.ngrams import SPECIALS
from corrector.electra.tokenizer import Tokenizer
from corrector.train.finetune import read_pairs
from corrector.train.model import JointElectra

THRESHOLDS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
_BATCH = 50

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DevSet:
    """Evenly spaced pairs of one file as rows of token ids (rows, length), 0 after the end."""

    name: str
    source: Ids
    target: Ids

    @classmethod
    def read(cls, path: Path, tokenizer: Tokenizer, rows: int, length: int) -> DevSet:
        """At most ``rows`` pairs that fit into ``length`` tokens. Raises EvalDataError as ``read_pairs`` does."""
        pairs = [pair for pair in read_pairs(path) if len(pair[0]) <= length - 2]
        chosen = [pairs[i] for i in np.linspace(0, len(pairs) - 1, min(rows, len(pairs))).astype(int)]
        arrays = [np.zeros((len(chosen), length), dtype=np.int64) for _ in range(2)]
        for row, pair in enumerate(chosen):
            for array, text in zip(arrays, pair, strict=True):
                ids = tokenizer.character_ids(text)
                array[row, : len(ids) + 2] = [tokenizer.cls_id, *ids, tokenizer.sep_id]
        return cls(path.name, *arrays)


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def predict(model: JointElectra, dev: DevSet, marks: MarkTables) -> tuple[NDArray[np.float32], Ids]:
    """Replaced-probabilities and the corrective head's choices, (rows, length) each."""
    device = next(model.parameters()).device
    probabilities, choices = [], []
    for start in range(0, len(dev.source), _BATCH):
        rows = dev.source[start : start + _BATCH]
        ids = torch.from_numpy(rows).to(device)
        types = torch.from_numpy(np.where(rows > 0, marks.types(rows), 0).astype(np.int64)).to(device)
        places = torch.arange(rows.size, device=device)
        logits, characters = model(ids, types, (ids > 0).float(), places)
        characters.scatter_(1, ids.reshape(-1, 1), -1e9)  # a correction is another character
        probabilities.append(logits.float().sigmoid().cpu().numpy())
        choices.append(characters.argmax(-1).reshape(rows.shape).cpu().numpy())
    return np.concatenate(probabilities), np.concatenate(choices)


def strict_f1(dev: DevSet, probabilities: NDArray[np.float32], choices: Ids, threshold: float) -> float:
    """Strict sentence-level correction F1: a sentence counts when every edit is there and none besides."""
    flagged = (probabilities >= threshold) & (dev.source >= SPECIALS)
    predicted = np.where(flagged, choices, dev.source)
    wrong, edited = (dev.source != dev.target).any(1), flagged.any(1)
    hits = int(((predicted == dev.target).all(1) & wrong & edited).sum())
    return 2 * hits / max(1, int(wrong.sum()) + int(edited.sum()))


def dev_scores(model: JointElectra, sets: Sequence[DevSet], marks: MarkTables) -> dict[str, float]:
    """F1 of every set at the one threshold with the best mean, the mean, and that threshold."""
    predictions = [predict(model, dev, marks) for dev in sets]
    both = list(zip(sets, predictions, strict=True))
    table = {t: [strict_f1(dev, found, choices, t) for dev, (found, choices) in both] for t in THRESHOLDS}
    best = max(table, key=lambda threshold: sum(table[threshold]))
    scores = {f"dev {dev.name}": round(f1, 4) for dev, f1 in zip(sets, table[best], strict=True)}
    return scores | {"dev_f1": round(float(np.mean(table[best])), 4), "dev_threshold": best}
