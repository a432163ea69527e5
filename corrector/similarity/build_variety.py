"""Builds ``variety_weights.txt``: what each Han character says for older literature, and against it.

    python -m corrector.similarity.build_variety classics.txt poems.txt novel.txt ... --today mixed.txt.zst ...

All files are Simplified text, plain or compressed by zstd. Today's has a paragraph a line and should be of all kinds, since what is told in
few words, by whom and to whom ever, has little of what most of today's text is known by; of the older each file is one source, unlike the
others. It takes the extra ``[torch]``, for scikit-learn.

Logistic regression over pieces of 10 to 300 characters tells the older from today's; it is fitted once without each of the sources. A
character that speaks for older text has the least weight of these fits, and none where one disagrees: so names that a single novel is full
of say nothing. What speaks for today's text has the mean of its weights. Then all are scaled, and the constant is fitted, so that
the score is a logit again.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from math import exp, log, sqrt
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.errors import CorrectorError
from corrector.similarity.variety import WEIGHTS_PATH
from corrector.text.protect import is_han
from corrector.text.write import write_atomically
from corrector.train.corpus import read_text

_SHORTEST, _LONGEST = 10, 300  # characters of a piece, as often short as long
_PIECES, _CHARACTERS = 6_000, 25  # of a source at most, and one to so many of its characters
_PIECES_OF_TODAY = 5  # for each of the others
_SENTENCE = re.compile("[^。！？；]*[。！？；]?")
_LEAST = 40  # pieces with a character that gets a weight
_PENALTY = 0.3  # inverse of the L2 penalty
_LIMIT, _STEP = 4.0, 0.25  # of weights
_OTHER_LIMIT = 0.5  # rare characters stand in names of today, too
_HEADER = """\
# What a Han character says for older literature (above 0) and against it; made by build_variety.py. A line is a weight and the
# characters that have it; "other" has every character that is in no line, and "constant" is added to what a text comes to.
"""


def pieces(text: str, count: int, random: Random) -> Iterator[str]:
    """So many pieces of a text, from anywhere, that cross line ends."""
    text = "".join(text.split())
    for _ in range(count):
        length = _length(random)
        start = random.randrange(max(1, len(text) - length + 1))
        yield text[start : start + length]


def beginnings(text: str, random: Random) -> Iterator[str]:
    """Pieces from the beginning of any sentence of any line on, without end."""
    lines = text.splitlines()
    while True:
        sentences = [part for part in _SENTENCE.findall(random.choice(lines)) if part]
        if sentences:
            yield "".join(sentences[random.randrange(len(sentences)) :])[: _length(random)]


def _length(random: Random) -> int:
    return int(exp(random.uniform(log(_SHORTEST), log(_LONGEST))))


def fitted(today: str, older: Sequence[str], seed: int = 1) -> tuple[dict[str, float], float, float]:
    """The weight of each character, that of all others, and the constant."""
    from sklearn.linear_model import LogisticRegression

    random = Random(seed)
    texts: list[str] = []
    source: list[int] = []
    for number, text in enumerate(older):
        own = list(pieces(text, min(_PIECES, len(text) // _CHARACTERS), random))
        texts += own
        source += [number] * len(own)
    texts += islice(beginnings(today, random), _PIECES_OF_TODAY * len(texts))
    sources = np.array(source + [-1] * (len(texts) - len(source)))
    seen = Counter(char for text in texts for char in set(filter(is_han, text)))
    characters = sorted(char for char, count in seen.items() if count >= _LEAST)
    features, labels = _features(texts, characters), sources >= 0

    def weights_without(number: int) -> NDArray[np.float64]:
        rows = sources != number
        model = LogisticRegression(C=_PENALTY, max_iter=300).fit(features[rows], labels[rows])
        weights: NDArray[np.float64] = model.coef_[0]
        return weights

    fits = np.array([weights_without(number) for number in range(len(older))])
    weights = np.where(fits.min(0) > 0, fits.min(0), np.where(fits.max(0) < 0, fits.mean(0), 0.0))
    scale = LogisticRegression().fit((features @ weights)[:, None], labels)
    weights = np.clip(weights * scale.coef_[0, 0], -_LIMIT, _LIMIT)
    return dict(zip(characters, weights.tolist(), strict=False)), min(float(weights[-1]), _OTHER_LIMIT), float(scale.intercept_[0])


def _features(texts: Sequence[str], characters: Sequence[str]) -> Any:
    """How often each character, and in the last column any other Han character, is in each text, over the root of its length."""
    from scipy.sparse import csr_matrix

    column = {char: number for number, char in enumerate(characters)}
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for row, text in enumerate(texts):
        counts = Counter(filter(is_han, text))
        root = sqrt(counts.total() or 1)
        for char, count in counts.items():
            rows.append(row)
            columns.append(column.get(char, len(characters)))
            values.append(count / root)
    return csr_matrix((values, (rows, columns)), shape=(len(texts), len(characters) + 1))


def written(weights: dict[str, float], other: float, constant: float) -> str:
    """The list, most telling characters first."""
    steps = sorted(((round(weight / _STEP) * _STEP, char) for char, weight in weights.items()), reverse=True)
    lines = [f"{weight:+g} {''.join(sorted(char for _, char in own))}\n" for weight, own in groupby(steps, lambda step: step[0]) if weight]
    return _HEADER + "".join((f"{constant:+.2f} constant\n", f"{other:+.2f} other\n", *lines, f"+0 {_silent(steps)}\n"))


def _silent(steps: Sequence[tuple[float, str]]) -> str:
    return "".join(sorted(char for weight, char in steps if not weight))


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds and writes the list; returns the exit code."""
    parser = ArgumentParser(prog="python -m corrector.similarity.build_variety", description="Build variety_weights.txt.")
    parser.add_argument("--today", type=Path, nargs="+", required=True, help="text of today")
    parser.add_argument("older", type=Path, nargs="+", help="older literature, a source each")
    parsed = parser.parse_args(arguments)
    try:
        if len(parsed.older) < 2:
            raise CorrectorError("give two sources or more: each is left out once")
        table = fitted("\n".join(map(read_text, parsed.today)), [read_text(path) for path in parsed.older])
        write_atomically(WEIGHTS_PATH, written(*table).encode("utf-8"))
    except CorrectorError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
