"""A quick look at development pairs during training: detection and the corrective head alone, no ranker, no second look.

The number is for comparing moments of one run and runs with one another. It is well below what the whole pipeline reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from corrector.electra.marks import MarkTables
from corrector.electra.ngrams import SPECIALS
from corrector.electra.tokenizer import Tokenizer
from corrector.errors import EvalDataError
from corrector.train.activity import observed
from corrector.train.model import JointElectra
from corrector.train.pairs import read_pairs

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
        """At most ``rows`` pairs that fit into ``length`` tokens. Raises EvalDataError where none does, and as ``read_pairs`` does."""
        pairs = [pair for pair in read_pairs(path) if len(pair[0]) <= length - 2]
        if not pairs:
            raise EvalDataError(path, f"no sentence of at most {length - 2} characters, what a window holds; give shorter ones")
        chosen = [pairs[i] for i in np.linspace(0, len(pairs) - 1, min(rows, len(pairs))).astype(int)]
        arrays = [np.zeros((len(chosen), length), dtype=np.int64) for _ in range(2)]
        for row, pair in enumerate(chosen):
            for array, text in zip(arrays, pair, strict=True):
                ids = tokenizer.character_ids(text)
                array[row, : len(ids) + 2] = [tokenizer.cls_id, *ids, tokenizer.sep_id]
        return cls(path.name, *arrays)


@dataclass(frozen=True, eq=False)
class Prediction:
    """What the network says of a set: replaced-probabilities, the corrective head's choices, and -log of what it gives the right
    character among all others than the given one; (rows, length) each, the last 0 where nothing is wrong."""

    replaced: NDArray[np.float32]
    choices: Ids
    surprise: NDArray[np.float32]


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def predict(model: JointElectra, dev: DevSet, marks: MarkTables) -> Prediction:
    """Read every row of ``dev``."""
    device = next(model.parameters()).device
    parts = []
    for start in range(0, len(dev.source), _BATCH):
        rows = dev.source[start : start + _BATCH]
        ids = torch.from_numpy(rows).to(device)
        right = torch.from_numpy(dev.target[start : start + _BATCH]).to(device)
        types = torch.from_numpy(np.where(rows > 0, marks.types(rows), 0).astype(np.int64)).to(device)
        places = torch.arange(rows.size, device=device)
        logits, characters = model(ids, types, (ids > 0).float(), places)
        characters = characters.float().scatter_(1, ids.reshape(-1, 1), -1e9)  # a correction is another character
        surprise = F.cross_entropy(characters, right.reshape(-1), reduction="none").reshape(rows.shape)
        found = (logits.float().sigmoid(), characters.argmax(-1).reshape(rows.shape), surprise.where(ids != right, 0.0))
        parts.append([tensor.cpu().numpy() for tensor in found])
    return Prediction(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def strict_f1(dev: DevSet, found: Prediction, threshold: float) -> float:
    """Strict sentence-level correction F1: a sentence counts when every edit is there and none besides."""
    flagged = (found.replaced >= threshold) & (dev.source >= SPECIALS)
    predicted = np.where(flagged, found.choices, dev.source)
    wrong, edited = (dev.source != dev.target).any(1), flagged.any(1)
    hits = int(((predicted == dev.target).all(1) & wrong & edited).sum())
    return 2 * hits / max(1, int(wrong.sum()) + int(edited.sum()))


def smooth_scores(dev: DevSet, found: Prediction) -> tuple[float, float]:
    """Two numbers that move less by chance than F1 does: the average precision of the replaced-probabilities over all characters, and
    the mean surprise at the wrong ones."""
    from sklearn.metrics import average_precision_score

    looked_at, wrong = dev.source >= SPECIALS, dev.source != dev.target
    if not wrong.any():
        return 0.0, 0.0
    return float(average_precision_score(wrong[looked_at], found.replaced[looked_at])), float(found.surprise[wrong].mean())


def dev_scores(model: JointElectra, sets: Sequence[DevSet], marks: MarkTables) -> dict[str, float]:
    """F1 of every set at the one threshold with the best mean, the mean, and that threshold; detection's average precision and the
    corrective head's surprise, each a mean over the sets; and the share of the encoder's units that never fired."""
    with observed(model.encoder.layers) as layers:
        both = [(dev, predict(model, dev, marks)) for dev in sets]
    table = {t: [strict_f1(dev, found, t) for dev, found in both] for t in THRESHOLDS}
    best = max(table, key=lambda threshold: sum(table[threshold]))
    scores = {f"dev {dev.name}": round(f1, 4) for dev, f1 in zip(sets, table[best], strict=True)}
    precision, surprise = np.mean([smooth_scores(dev, found) for dev, found in both], axis=0)
    return scores | {
        "dev_f1": round(float(np.mean(table[best])), 4), "dev_threshold": best,
        "dev_average_precision": round(float(precision), 4), "dev_surprise": round(float(surprise), 4),
        "dev_dormant": round(float(np.mean([layer.dormant().float().mean().item() for layer in layers])), 4),
    }  # fmt: skip
