"""``python -m benchmarks.arpa CORPUS… MODEL``: a language model for pycorrector's default corrector, instead of its own of 3 GB.

Character trigrams with interpolated absolute discounting (Ney, Essen & Kneser 1994), in the ARPA format that KenLM reads:

    p(w|h) = max(n(hw) - D, 0) / n(h) + b(h)·p(w|h')        b(h) = 1 - Σ_w max(n(hw) - D, 0) / n(h)

over the n-grams kept; D = n₁ / (n₁ + 2·n₂), where n₁ and n₂ count the n-grams that occur once and twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

RARE_CHARACTER = 5  # characters that occur less often are unknown
LEAST = 2  # occurrences of a pair or a triple to be kept
UNKNOWN, START, END = range(3)
SPECIALS = ("<unk>", "<s>", "</s>")
_NEVER = -99.0  # what ARPA writes for ln 0

Keys = NDArray[np.int64]
Floats = NDArray[np.float64]


class Grams(NamedTuple):
    """n-grams of one length, by key: their probability, and what is left of each for the words that never followed it."""

    keys: Keys
    probability: Floats
    backoff: Floats


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("corpus", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
def main(corpus: tuple[Path, ...], model: Path) -> None:
    """Count the characters of CORPUS, UTF-8 texts of a sentence a line, and write the language model MODEL."""
    made = "".join(arpa(chain.from_iterable(map(_sentences, corpus))))
    model.write_text(made, encoding="utf-8")


def _sentences(path: Path) -> Iterator[str]:
    """The lines of a file that are not empty. Raises ClickException for one that is no UTF-8 text."""
    try:
        yield from filter(None, map(str.strip, path.open(encoding="utf-8")))
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{path}: no UTF-8 text ({error.reason}); unpack it or save it as UTF-8 first") from error


def arpa(lines: Iterable[str]) -> Iterator[str]:
    """The lines of the model of these sentences."""
    text = "\n".join(lines) + "\n"
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    found, counts = np.unique(codes, return_counts=True)
    characters = [chr(c) for c in found[counts >= RARE_CHARACTER].tolist() if chr(c).isprintable() and chr(c) != " "]
    vocabulary = [*SPECIALS, *characters]
    table = np.full(int(codes.max()) + 1, UNKNOWN, dtype=np.int64)
    table[[ord(c) for c in characters]] = np.arange(len(SPECIALS), len(vocabulary))
    table[ord("\n")] = END
    ids = table[codes]
    ids = np.insert(ids, np.flatnonzero(ids == END)[:-1] + 1, START)
    ids = np.insert(ids, 0, START)
    yield from _written(_grams(ids, len(vocabulary)), vocabulary)


def _grams(ids: Keys, size: int) -> list[Grams]:
    """The n-grams of a text of sentences, each from START to END, for n = 1, 2 and 3."""
    counts = np.bincount(ids, minlength=size) + 1.0
    counts[START] = 0.0  # it follows nothing
    found = [Grams(np.arange(size), counts / counts.sum(), np.ones(size))]
    history, keys, whole = np.bincount(ids[:-1], minlength=size).astype(np.float64), ids, np.ones(len(ids), dtype=bool)
    for n in (2, 3):
        whole = whole[:-1] & (ids[n - 1 :] != START)
        keys = keys[:-1] * size + ids[n - 1 :]
        grams, occurrences = np.unique(keys[whole], return_counts=True)
        once, twice = (int((occurrences == times).sum()) for times in (1, 2))
        kept = occurrences >= LEAST
        grams, occurrences = grams[kept], occurrences[kept].astype(np.float64)
        shorter = found[-1]  # has the first and the last characters of all that are kept, which occur as often or more
        before, after = (shorter.keys.searchsorted(part) for part in (grams // size, grams % size ** (n - 1)))
        discount = once / (once + 2 * twice) if once else 0.5
        share = (occurrences - discount) / history[before]
        backoff = 1.0 - np.bincount(before, share, minlength=len(shorter.keys))
        found[-1] = shorter._replace(backoff=backoff)
        found.append(Grams(grams, share + backoff[before] * shorter.probability[after], np.ones(len(grams))))
        history = occurrences
    return found


def _written(grams: Sequence[Grams], vocabulary: Sequence[str]) -> Iterator[str]:
    yield "\\data\\\n"
    yield from (f"ngram {n}={len(one.keys)}\n" for n, one in enumerate(grams, 1))
    for n, one in enumerate(grams, 1):
        yield f"\n\\{n}-grams:\n"
        with np.errstate(divide="ignore"):
            columns = [np.log10(values).clip(min=_NEVER).tolist() for values in one[1:]]
        for key, p, backoff in zip(one.keys.tolist(), *columns, strict=True):
            words = []
            for _ in range(n):
                key, word = divmod(key, len(vocabulary))
                words.append(vocabulary[word])
            tail = "" if n == len(grams) else f"\t{backoff:.5f}"
            yield f"{p:.5f}\t{' '.join(reversed(words))}{tail}\n"
    yield "\n\\end\\\n"


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.arpa")
