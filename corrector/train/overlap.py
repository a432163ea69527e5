"""Which lines of a text share passages with other text: there the counts know more than they will of any new text.

A network that learns from such lines learns to trust its marks too much. Passages are compared by the hashes of ``GRAM`` tokens in a row,
of which one in ``SAMPLED`` is looked at (Broder 1997, "On the resemblance and containment of documents").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

GRAM, SAMPLED = 12, 8
_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


def shared_lines(
    tokens: NDArray[Any], parts_of_lines: NDArray[Any], parts: Sequence[Sequence[NDArray[Any]]], end: int
) -> NDArray[np.bool_]:
    """Whether each line of ``tokens``, all ended by the token ``end``, has a sampled passage that stands in one of ``parts`` of other
    text too; not in the one that ``parts_of_lines`` says is its own. (lines,)"""
    hashes, places = _sampled(tokens, end)
    line = (tokens == end).cumsum()[places]  # no passage goes over the end of a line
    shared = np.zeros(len(parts_of_lines), dtype=np.bool_)
    for number, part in enumerate(parts):
        known = np.concatenate([_sampled(text, end)[0] for text in part]) if part else hashes[:0]
        found = line[np.isin(hashes, known)]
        shared[found[parts_of_lines[found] != number]] = True
    return shared


def _sampled(tokens: NDArray[Any], end: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The hashes of the passages looked at, and where they begin."""
    length = max(0, len(tokens) - GRAM + 1)
    hashes, inside = np.zeros(length, dtype=np.uint64), np.ones(length, dtype=np.bool_)
    for offset in range(GRAM):
        token = tokens[offset : offset + length]
        inside &= token != end
        hashes += token.astype(np.uint64) + np.uint64(1)
        hashes *= _FACTOR
        hashes ^= hashes >> _SHIFT
    places = np.flatnonzero(inside & (hashes % np.uint64(SAMPLED) == 0))
    return hashes[places], places
