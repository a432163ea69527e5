"""Counts slips in labelled rows: what ``corrector.electra.slips`` looks up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from corrector.electra.slips import Slips
from corrector.electra.tokenizer import Tokenizer
from corrector.train.pairs import PairSet


def count_slips(sets: Sequence[PairSet], tokenizer: Tokenizer, earlier: Slips | None = None) -> Slips:
    """The slips in these sets, each row as often as its set weighs, and in what was counted ``earlier``."""
    size = len(tokenizer.vocabulary)
    times: defaultdict[int, float] = defaultdict(float)
    written = np.zeros(size)
    if earlier is not None:
        times |= dict(zip(earlier.pairs.tolist(), earlier.times.tolist(), strict=True))
        written += earlier.written
    for item in sets:
        for source, target in item.pairs:
            given, meant = (tokenizer.character_ids(text).astype(np.int64) for text in (source, target))
            np.add.at(written, given, item.weight)
            for pair in (given * size + meant)[given != meant].tolist():
                times[pair] += item.weight
    pairs = np.array(sorted(times), dtype=np.int64)
    return Slips(pairs, np.array([times[pair] for pair in pairs.tolist()], dtype=np.float32), written.astype(np.float32))
