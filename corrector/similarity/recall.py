"""How many pairs of published confusion sets are among our nearest neighbours: a check of the tables, not their source.

    python -m corrector.similarity.recall FOLDER

reads ``confusion.*.tsv`` (``character<TAB>similar characters``) and prints, by sound and by shape, the share of pairs
(a, b) with b among a's nearest 30, 60 and 100, over the pairs whose two characters are known; the share of pairs known;
and the ceiling: no list of 30 can hold more than 30 of a character's pairs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from corrector.errors import EvalDataError

COUNTS = (30, 60, 100)

Nearest = Callable[[str, int], tuple[tuple[str, float], ...]]


class Recall(NamedTuple):
    """``pairs`` in the file, ``known`` of them to the table, ``found[n]`` of those at each of `COUNTS`, ``ceiling`` 0..1."""

    pairs: int
    known: int
    found: tuple[int, ...]
    ceiling: float

    def shares(self) -> tuple[float, ...]:
        """``found`` as shares of ``known``, 0..1."""
        return tuple(n / max(self.known, 1) for n in self.found)


def read_confusions(path: Path) -> Iterator[tuple[str, str]]:
    """Each row's character and its similar characters; raises `EvalDataError` for a row of another form."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        character, tab, similar = line.partition("\t")
        if len(character) != 1 or not tab:
            raise EvalDataError(path, "expected: character, tab, similar characters", row=number)
        yield character, similar


def measure(confusions: Iterable[tuple[str, str]], nearest: Nearest, covers: Callable[[str], bool]) -> Recall:
    """Count the pairs (a, b) with b among ``nearest(a, n)`` for each n of `COUNTS`."""
    pairs = known = reachable = 0
    found = [0] * len(COUNTS)
    for character, similar in confusions:
        pairs += len(similar)
        both = [other for other in similar if covers(character) and covers(other)]
        known += len(both)
        reachable += min(len(both), COUNTS[0])
        place = {other: i for i, (other, _) in enumerate(nearest(character, COUNTS[-1]))} if both else {}
        for i, count in enumerate(COUNTS):
            found[i] += sum(place.get(other, count) < count for other in both)
    return Recall(pairs, known, tuple(found), reachable / max(known, 1))


def table(folder: Path) -> str:
    """The recall of every confusion file in a folder, one line each; raises `EvalDataError` where there is none."""
    from corrector.similarity import glyph, pinyin

    measures: tuple[tuple[str, Nearest, Callable[[str], bool]], ...] = (
        ("sound", pinyin.nearest_by_sound, lambda c: bool(pinyin.readings(c))),
        ("shape", glyph.nearest_by_shape, glyph.covers),
    )
    counts = " ".join(f"{f'@{count}':>6}" for count in COUNTS)
    lines = [f"{'file':<30} {'by':<5} {'pairs':>7} {'known':>6} {counts} ceiling@{COUNTS[0]}"]
    paths = sorted(folder.glob("confusion.*.tsv"))
    if not paths:
        raise EvalDataError(folder, "has no file confusion.*.tsv")
    for path in paths:
        confusions = list(read_confusions(path))
        for name, nearest, covers in measures:
            recall = measure(confusions, nearest, covers)
            shares = " ".join(f"{share:>6.1%}" for share in recall.shares())
            known = recall.known / max(recall.pairs, 1)
            lines.append(f"{path.stem:<30} {name:<5} {recall.pairs:>7} {known:>6.1%} {shares} {recall.ceiling:>10.1%}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m corrector.similarity.recall FOLDER")
    try:
        sys.stdout.write(table(Path(sys.argv[1])))
    except EvalDataError as problem:
        sys.exit(f"error: {problem}")
