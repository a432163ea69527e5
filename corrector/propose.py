"""Proposals: what the generator, the sound, the shape and the dictionary offer in place of a suspicious character."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from corrector.similarity.glyph import nearest_by_shape
from corrector.similarity.pinyin import nearest_by_sound
from corrector.types import Candidate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corrector.electra.marks import MarkTables
    from corrector.electra.runtime import Encoding, Floats

FROM_EACH_VIEW = 6  # best of the generator with the character visible, and as many with it masked
FROM_SIMILAR = 6  # similar characters that fit their neighbours best
SOUND_NEIGHBOURS, SHAPE_NEIGHBOURS = 40, 16


def propose(
    encoding: Encoding,
    token: int,
    visible: Floats,
    masked: Floats,
    vocabulary: Sequence[str],
    replaceable: NDArray[np.bool_],
    tables: MarkTables,
    id_of: dict[str, int],
) -> tuple[Candidate, ...]:
    """Candidates for the character at ``token``, likeliest first (by the mean of the two views); the original is not among them.

    ``visible`` and ``masked`` are the generator's log-probabilities (vocabulary,) with the character in place and hidden;
    ``replaceable`` (vocabulary,) marks the ids a correction may use: single Han characters.
    """
    original = int(encoding.ids[token])
    mean = (visible + masked) / 2
    chosen: set[int] = set()
    for view in (visible, masked):
        allowed = np.where(replaceable, view, -np.inf)
        chosen.update(np.argpartition(-allowed, FROM_EACH_VIEW)[: FROM_EACH_VIEW + 1].tolist())
    similar = np.array([id_of[c] for c in similar_characters(vocabulary[original]) if c in id_of], dtype=np.int64)
    if len(similar):
        fit = mean[similar] + _fit(encoding, token, similar, tables)
        best = np.argsort(-fit, kind="stable")[:FROM_SIMILAR]
        chosen.update(similar[best].tolist())
    chosen.discard(original)
    ranked = sorted((i for i in chosen if replaceable[i]), key=lambda i: (-mean[i], i))
    return tuple(Candidate(vocabulary[i], float(mean[i])) for i in ranked)


def _fit(encoding: Encoding, token: int, candidates: NDArray[np.int64], tables: MarkTables) -> NDArray[np.float32]:
    """ln p of the three triples that each candidate would make: (candidates,); zeros without corpus counts."""
    if tables.ngrams is None:
        return np.zeros(len(candidates), dtype=np.float32)
    padded = np.pad(encoding.ids.astype(np.int64), 2)
    texts = np.repeat(padded[None, token : token + 5], len(candidates), 0)
    texts[:, 2] = candidates
    return tables.ngrams.text_score(texts)


@lru_cache(maxsize=20_000)
def similar_characters(character: str) -> tuple[str, ...]:
    """The nearest characters by sound and by shape, each once."""
    sound = [other for other, _ in nearest_by_sound(character, SOUND_NEIGHBOURS)]
    shape = [other for other, _ in nearest_by_shape(character, SHAPE_NEIGHBOURS)]
    return tuple(dict.fromkeys(sound + shape))
