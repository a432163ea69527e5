"""What a model suspects in labelled rows, or in any text given as such."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from corrector.in_order import Result, in_order
from corrector.pipeline import windows_of
from corrector.stages import GroupChoice, Stages
from corrector.types import Document, Sentence

Rows = Sequence[tuple[str, str]]
_BLOCK = 64


@dataclass(frozen=True)
class Found:
    """A group found in the window of a row."""

    row: int
    sentence: Sentence
    choice: GroupChoice


def find_groups(stages: Stages, rows: Rows) -> Iterator[Found]:
    """Every group of suspicions in the sources of ``rows``, in order."""
    for block, choices in read_windows(stages, rows, stages.choices):
        for (number, sentence), groups in zip(block, choices, strict=True):
            yield from (Found(number, sentence, choice) for choice in groups)


Block = list[tuple[int, Sentence]]
"""Windows of the sources, with the numbers of their rows."""


def read_windows(stages: Stages, rows: Rows, ask: Callable[[list[Sentence]], Result]) -> Iterator[tuple[Block, Result]]:
    """What ``ask`` says of the windows of the sources, ``_BLOCK`` at a time, in order."""
    windows = (
        (number, sentence)
        for number, (source, _) in enumerate(rows)
        for sentence in windows_of(Document(None, source), stages.max_length)
    )
    blocks = iter(lambda: list(islice(windows, _BLOCK)), [])
    return in_order(lambda block: (block, ask([sentence for _, sentence in block])), blocks, stages.runtime.callers)
