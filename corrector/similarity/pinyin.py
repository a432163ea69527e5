"""How alike two characters sound: readings, similarity 0..1, nearest neighbours. Symmetric; 1 only for equal characters.

The likeness of syllables is `corrector.similarity.syllables`; the readings are a table built by
`corrector.similarity.build_pinyin`. A character with several readings (行 xing2, hang2) is as near as its nearest pair of
readings, each pair scaled by how usual both readings are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from corrector.similarity.syllables import OTHER_TONE, SAME_TONE, TONE_BONUS, split_tone, syllable_likeness

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TABLE_PATH = Path(__file__).with_name("pinyin_table.npz")

# A character ten times as rare loses as much as a wrong tone and a half; checked at 0.1 and 0.2, where little changes.
_RARITY_COST = 0.15


class _Table(NamedTuple):
    """Row i of ``characters`` (most frequent first) owns ``syllable_ids[starts[i]:starts[i + 1]]``, weights alike.

    Syllable j is ``toneless[j]`` with tone ``tones[j]``; ``likeness[a, b]`` is that of two toneless syllables.
    """

    characters: str
    common: int
    syllables: tuple[str, ...]
    starts: NDArray[np.int64]
    syllable_ids: NDArray[np.int64]
    weights: NDArray[np.float32]
    rows: dict[str, int]
    toneless: NDArray[np.intp]
    tones: NDArray[np.intp]
    likeness: NDArray[np.float32]


@lru_cache(maxsize=1)
def _table() -> _Table:
    import numpy as np

    with np.load(TABLE_PATH, allow_pickle=False) as stored:
        characters = stored["characters"].astype("<u4").tobytes().decode("utf-32-le")
        syllables = tuple(stored["syllables"].tobytes().decode("ascii").split(" "))
        split = [split_tone(syllable) for syllable in syllables]
        number = {plain: i for i, plain in enumerate(toneless_syllables(syllables))}
        return _Table(
            characters=characters,
            common=int(stored["common"]),
            syllables=syllables,
            starts=stored["starts"].astype(np.int64),
            syllable_ids=stored["readings"].astype(np.int64),
            weights=stored["weights"].astype(np.float32) / 100,
            rows=dict(zip(characters, range(len(characters)), strict=True)),
            toneless=np.array([number[plain] for plain, _ in split]),
            tones=np.array([tone for _, tone in split]),
            likeness=stored["likeness_values"][stored["likeness"]],
        )


def toneless_syllables(syllables: Sequence[str]) -> list[str]:
    """The syllables less their tones, each once, in the order in which the table numbers them."""
    return sorted({split_tone(syllable)[0] for syllable in syllables})


@cache
def _weighted_readings(character: str) -> tuple[tuple[str, float], ...]:
    table = _table()
    row = table.rows.get(character)
    if row is None:
        return ()
    start, end = table.starts[row], table.starts[row + 1]
    spelled = [table.syllables[i] for i in table.syllable_ids[start:end]]
    return tuple(zip(spelled, (round(float(w), 2) for w in table.weights[start:end]), strict=True))


def common_characters() -> str:
    """The characters proposed as neighbours, the most frequent first: GB 2312 and a few modern ones."""
    table = _table()
    return table.characters[: table.common]


def readings(character: str) -> tuple[str, ...]:
    """The readings of a character, the most used first: ``重`` → (``zhong4``, ``chong2``, …); unknown: ()."""
    return tuple(syllable for syllable, _ in _weighted_readings(character))


def pinyin_similarity(
    a: str, b: str, readings_a: Sequence[str] | None = None, readings_b: Sequence[str] | None = None
) -> float:
    """How alike two texts of equal length sound, 0..1: the mean over their characters; 1 only if they are equal.

    ``readings_a`` and ``readings_b`` give one syllable with tone digit per character, as read in context (what pypinyin
    says of the phrase); without them every reading of the dictionary counts. Raises ValueError if lengths differ.
    """
    if len(a) != len(b) or (readings_a and len(readings_a) != len(a)) or (readings_b and len(readings_b) != len(b)):
        raise ValueError(f"texts and readings of unequal length: {a!r}, {b!r}")
    if a == b:
        return 1.0
    total = 0.0
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        if x == y:
            total += 1.0
        elif readings_a or readings_b:
            left = ((readings_a[i], 1.0),) if readings_a else _weighted_readings(x)
            right = ((readings_b[i], 1.0),) if readings_b else _weighted_readings(y)
            total += _nearest_readings(left, right)
        else:
            total += _character_similarity(*sorted((x, y)))
    return total / len(a)


@lru_cache(maxsize=65536)
def _character_similarity(a: str, b: str) -> float:
    return _nearest_readings(_weighted_readings(a), _weighted_readings(b))


def _nearest_readings(a: tuple[tuple[str, float], ...], b: tuple[tuple[str, float], ...]) -> float:
    return max((u * v * syllable_likeness(x, y) for x, u in a for y, v in b), default=0.0)


@lru_cache(maxsize=1)
def syllable_similarity_matrix() -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """All syllables with tone digits and their likeness: (S,) and float32 (S, S), the diagonal `SAME_TONE`. Read-only."""
    import numpy as np

    syllables = _table().syllables
    matrix = _likeness_rows(np.arange(len(syllables)))
    matrix.setflags(write=False)
    return syllables, matrix


def _likeness_rows(syllable_ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """The likeness of these syllables to all: (given, S)."""
    import numpy as np

    table = _table()
    own, tones = table.toneless[syllable_ids, None], table.tones[syllable_ids, None]
    rows: NDArray[np.float32] = table.likeness[own, table.toneless]
    same_tone, same_syllable = tones == table.tones, own == table.toneless
    rows[same_tone & ~same_syllable & (rows > 0.5)] += TONE_BONUS
    rows[same_syllable] = np.where(same_tone, SAME_TONE, OTHER_TONE)[same_syllable]
    return rows


@lru_cache(maxsize=1)
def _rarity_costs() -> NDArray[np.float32]:
    import numpy as np

    costs: NDArray[np.float32] = np.float32(_RARITY_COST) * np.log10(
        np.arange(100, 100 + _table().common, dtype=np.float32)
    )
    return costs


@lru_cache(maxsize=1024)
def nearest_by_sound(character: str, count: int = 30) -> tuple[tuple[str, float], ...]:
    """The ``count`` common characters likeliest to be written for this one by its sound, with their similarities.

    Likelihood times prior: ordered by similarity - `_RARITY_COST` × log10(frequency rank + 100), so that the order is by
    similarity among equally frequent characters, by frequency among equally similar ones, and a rare homophone comes
    after a common near-homophone. Unknown characters have no neighbours.
    """
    import numpy as np

    table = _table()
    row = table.rows.get(character)
    if row is None:
        return ()
    start, end = table.starts[row], table.starts[row + 1]
    own = _likeness_rows(table.syllable_ids[start:end]) * table.weights[start:end, None]  # (readings of character, S)
    last = table.starts[table.common]
    scored = own.max(axis=0)[table.syllable_ids[:last]] * table.weights[:last]  # (readings of common characters,)
    similarity = np.maximum.reduceat(scored, table.starts[: table.common])  # (common characters,)
    cost = _rarity_costs() - similarity
    kept = min(count + 1, table.common)
    chosen = np.argpartition(cost, kept - 1)[:kept]
    chosen = chosen[np.lexsort((chosen, cost[chosen]))]
    found = [(table.characters[i], round(float(similarity[i]), 4)) for i in chosen.tolist() if i != row]
    return tuple(found[:count])


@lru_cache(maxsize=1)
def _by_toneless_syllable() -> dict[str, str]:
    table = _table()
    groups: dict[str, dict[str, None]] = {}
    for character in table.characters[: table.common]:
        for syllable in readings(character):
            groups.setdefault(split_tone(syllable)[0], {})[character] = None
    return {syllable: "".join(group) for syllable, group in groups.items()}


@cache
def same_syllable(character: str) -> str:
    """All common characters that share a syllable, tone aside, with this one; the character itself left out."""
    groups = _by_toneless_syllable()
    plain = dict.fromkeys(split_tone(syllable)[0] for syllable in readings(character))
    shared = dict.fromkeys(c for syllable in plain for c in groups.get(syllable, ""))
    return "".join(c for c in shared if c != character)
