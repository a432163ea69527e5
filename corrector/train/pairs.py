"""Labelled pairs: read, weighed, and shared out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path

from corrector.errors import ConfigError, EvalDataError
from corrector.eval.dataset import load_set
from corrector.train.counts import IN_NONE

FEWEST = 20  # right sentences to adapt to; of fewer nothing is held back worth the name

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PairSet:
    """Labelled sentences (source, target) of equal length, drawn with a weight relative to the other sets.

    ``part`` is the part of the corpus that their text is in, ``counts.IN_NONE`` if it is in none: they are marked with counts without it.
    """

    pairs: Pairs
    weight: float
    name: str = ""
    part: int = IN_NONE


def read_set(path: Path, weight: float, part: int, say: Callable[[str], None]) -> PairSet:
    """The usable rows of a labelled file; how many are not is said. Raises EvalDataError if there are none, and as
    ``eval.dataset.load_set`` does."""
    labelled = load_set(path)
    if not labelled.rows:
        raise EvalDataError(path, "no usable pair of equal length")
    if labelled.dropped:
        say(f"{path}: {labelled.dropped:,} of {labelled.read:,} rows left out: source and target differ in length")
    return PairSet(tuple((row.source, row.target) for row in labelled.rows), weight, path.name, part)


def read_named(item: str, say: Callable[[str], None]) -> PairSet:
    """The labelled set that ``file.tsv``, ``file.tsv:weight`` or ``file.tsv:weight@part`` names; a weight is what can be read as a number
    after the last colon. Raises ConfigError for a weight or a part that there cannot be, and where no file is named."""
    name, colon, numbers = item.rpartition(":")
    weight, at, of_part = numbers.partition("@")
    factor = _number(weight) if colon else None
    if factor is None and name and Path(name).is_file() and not Path(item).exists():
        raise ConfigError(name, "weight", f"must be a number, and is {weight or 'missing after the colon'}")
    if factor is None:
        return read_set(Path(item), 1.0, IN_NONE, say)
    if not name:
        raise ConfigError(item, "file", "none is named; give file.tsv, file.tsv:weight or file.tsv:weight@part")
    if not 0 < factor < float("inf"):
        raise ConfigError(name, "weight", f"must be above 0, and is {weight}")
    if at and not of_part.isdecimal():
        raise ConfigError(name, "part", f"must be 0 or more, a whole number, and is {of_part or 'missing after the @'}")
    return read_set(Path(name), factor, int(of_part) if at else IN_NONE, say)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def read_pairs(path: Path) -> Pairs:
    """The rows of ``read_set``."""
    return read_set(path, 1.0, IN_NONE, lambda _: None).pairs


@dataclass(frozen=True)
class Parts:
    """Labelled rows by what they are for; no right sentence is in two parts."""

    train: tuple[PairSet, ...]
    ranker: Pairs
    held_back: Pairs


def split(sets: Sequence[PairSet]) -> Parts:
    """Every tenth right sentence for the scores, the one five after it for the ranker, the others for the networks.

    Raises EvalDataError for fewer than ``FEWEST`` of them.
    """
    targets = dict.fromkeys(target for item in sets for _, target in item.pairs)
    if len(targets) < FEWEST:
        message = f"{len(targets)} different sentences are too few to adapt to; give at least {FEWEST}, better some hundred"
        raise EvalDataError(" ".join(item.name for item in sets), message)
    number = {target: place for place, target in enumerate(targets)}

    def share(pairs: Pairs, wanted: Container[int]) -> Pairs:
        return tuple(pair for pair in pairs if number[pair[1]] % 10 in wanted)

    everything = tuple(pair for item in sets for pair in item.pairs)
    train = tuple(dataclasses.replace(item, pairs=share(item.pairs, {1, 2, 3, 4, 6, 7, 8, 9})) for item in sets)
    return Parts(tuple(item for item in train if item.pairs), share(everything, {5}), share(everything, {0}))


def with_right_sentences(rows: Pairs) -> Pairs:
    """The rows and, as rows without an error, the right sentences of those that have one; each once."""
    return tuple(dict.fromkeys((*rows, *((target, target) for _, target in rows))))
