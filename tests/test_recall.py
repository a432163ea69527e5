from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corrector import recall
from corrector.electra.runtime import Encoding, Reading
from corrector.recall import Recall


class Reader:
    """A runtime that only reads, and remembers what."""

    callers = 1

    def __init__(self) -> None:
        self.asked: list[int] = []

    def read(self, encodings: Sequence[Encoding]) -> list[Reading]:
        self.asked += [int(encoding.ids[0]) for encoding in encodings]
        return [Reading(encoding.ids.astype(np.float32)) for encoding in encodings]

    def glance(self, encodings: Sequence[Encoding]) -> list[Reading | None]:
        """Only what begins with an odd id is read."""
        return [reading if encoding.ids[0] % 2 else None for encoding, reading in zip(encodings, self.read(encodings), strict=True)]

    def log_probabilities(self, *_: object) -> list[np.ndarray]:
        raise AssertionError


def window(first: int, types: int = 0) -> Encoding:
    ids = np.array([first, 7], dtype=np.int32)
    return Encoding(ids, np.full(2, types, dtype=np.int32), np.arange(2, dtype=np.int32), np.ones(2, dtype=np.bool_))


def test_what_is_kept_is_not_read_again_but_once() -> None:
    kept, reader, before = Recall(), Reader(), Reading(np.array([0.5], dtype=np.float32))
    kept.keep(window(2), before)
    found = kept.read([window(1), window(2), window(3)], reader)
    assert found[1] is before and [float(one.logits[0]) for one in found[::2]] == [1.0, 3.0]
    assert reader.asked == [1, 3]
    kept.read([window(2)], reader)
    assert reader.asked == [1, 3, 2]


def test_what_is_kept_needs_no_glance() -> None:
    kept, reader, before = Recall(), Reader(), Reading(np.array([0.5], dtype=np.float32))
    kept.keep(window(2), before)
    first, second, third = kept.glance([window(1), window(2), window(4)], reader)
    assert first is not None and first.logits[0] == 1.0
    assert second is before and third is None
    assert reader.asked == [1, 4]


def test_the_same_characters_with_other_marks_are_another_window() -> None:
    kept, reader = Recall(), Reader()
    kept.keep(window(2, types=1), Reading(np.zeros(2, dtype=np.float32)))
    kept.read([window(2)], reader)
    assert reader.asked == [2]


def test_only_the_last_are_kept(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(recall, "KEPT", 2)
    kept, reader = Recall(), Reader()
    for first in (1, 2, 3):
        kept.keep(window(first), Reading(np.zeros(2, dtype=np.float32)))
    kept.read([window(1), window(2), window(3)], reader)
    assert reader.asked == [1]
