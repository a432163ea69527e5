"""How alike two characters look: similarity 0..1, nearest neighbours. Symmetric; 1 only for equal characters.

The values come from a table built by `corrector.similarity.build_glyph` (shared components and rendered outlines). It
holds the nearest of each character, so a score of 0 means: not among each other's nearest, or unknown.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TABLE_PATH = Path(__file__).with_name("glyph_table.npz")

STEPS = 100
"""Similarities are stored in steps of 1/100; unequal characters stay below 1."""


class _Table(NamedTuple):
    """Pairs (lower row, higher row), each held once, the lower rows ascending, and for one lower row the higher ones.

    Row i is the lower one of pairs ``starts[i]:starts[i + 1]``; those that it is the higher one of come before these.
    """

    characters: str  # most frequent first
    common: int
    rows: dict[str, int]
    lower: NDArray[np.uint16]
    higher: NDArray[np.uint16]
    steps: NDArray[np.uint8]
    starts: NDArray[np.int64]


@lru_cache(maxsize=1)
def _table() -> _Table:
    import numpy as np

    with np.load(TABLE_PATH, allow_pickle=False) as stored:
        characters = "".join(map(chr, stored["characters"].tolist()))
        common, counts, gaps, steps = int(stored["common"]), stored["pairs_per_row"], stored["gaps"], stored["steps"]
    starts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    # A higher row is stored as its difference from the one before; the sums start anew at each lower row, and may overflow.
    sums = np.insert(np.cumsum(gaps, dtype=np.uint16), 0, 0)
    higher = sums[1:] - np.repeat(sums[starts[:-1]], counts)
    return _Table(
        characters=characters,
        common=common,
        rows={character: row for row, character in enumerate(characters)},
        lower=np.repeat(np.arange(len(characters), dtype=np.uint16), counts),
        higher=higher,
        steps=steps,
        starts=starts,
    )


def _stored(a: str, b: str) -> float:
    """The similarity of two characters in the table, 0 where there is none."""
    table = _table()
    first, second = table.rows.get(a), table.rows.get(b)
    if first is None or second is None:
        return 0.0
    low, high = min(first, second), max(first, second)
    start, end = int(table.starts[low]), int(table.starts[low + 1])
    place = start + int(table.higher[start:end].searchsorted(high))
    return int(table.steps[place]) / STEPS if place < end and table.higher[place] == high else 0.0


def _neighbours(character: str) -> dict[str, float]:
    """Every stored neighbour with its similarity, nearest first, then the more frequent first."""
    table = _table()
    row = table.rows.get(character)
    if row is None:
        return {}
    own = slice(table.starts[row], table.starts[row + 1])
    mirrored = (table.higher[: own.start] == row).nonzero()[0]
    pairs = [*zip(table.lower[mirrored].tolist(), table.steps[mirrored].tolist(), strict=True)]
    pairs += zip(table.higher[own].tolist(), table.steps[own].tolist(), strict=True)
    pairs.sort(key=lambda pair: -pair[1])
    return {table.characters[other]: step / STEPS for other, step in pairs}


def glyph_similarity(a: str, b: str) -> float:
    """How alike two texts of equal length look, 0..1: the mean over their characters; 1 only if they are equal.

    Raises ValueError if the lengths differ.
    """
    if len(a) != len(b):
        raise ValueError(f"texts of unequal length: {a!r}, {b!r}")
    if a == b:
        return 1.0
    return sum(1.0 if x == y else _stored(x, y) for x, y in zip(a, b, strict=True)) / len(a)


@lru_cache(maxsize=1024)
def nearest_by_shape(character: str, count: int = 30) -> tuple[tuple[str, float], ...]:
    """The ``count`` common characters that look most like this one, with similarities, nearest first.

    Equal similarities are ordered by frequency. Unknown characters have no neighbours; some have fewer than ``count``.
    """
    table = _table()
    common = ((c, s) for c, s in _neighbours(character).items() if table.rows[c] < table.common)
    return tuple(islice(common, count))


def covers(character: str) -> bool:
    """Whether the table knows this character's shape."""
    return character in _table().rows
