"""Readings that the next round begins with: a corrected sentence was read, as it now stands, when its correction was checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TypeVar

from corrector.electra.runtime import Encoding, Reading, Runtime

Found = TypeVar("Found")
KEPT = 512  # readings, of some 50 kB each


class Recall:
    """The last readings kept, each for the first that asks; threads may share it."""

    def __init__(self) -> None:
        self._readings: dict[tuple[bytes, bytes], Reading] = {}
        self._lock = Lock()

    def keep(self, encoding: Encoding, reading: Reading) -> None:
        with self._lock:
            self._readings[_key(encoding)] = reading
            if len(self._readings) > KEPT:
                self._readings.pop(next(iter(self._readings)))

    def read(self, encodings: Sequence[Encoding], runtime: Runtime) -> list[Reading]:
        """As ``runtime.read``, which is asked for what is not kept."""
        return self._or(encodings, runtime.read)

    def glance(self, encodings: Sequence[Encoding], runtime: Runtime) -> list[Reading | None]:
        """As ``runtime.glance``, which is asked for what is not kept."""
        return self._or(encodings, runtime.glance)

    def _or(self, encodings: Sequence[Encoding], ask: Callable[[Sequence[Encoding]], Sequence[Found]]) -> list[Reading | Found]:
        with self._lock:
            kept = [self._readings.pop(_key(encoding), None) for encoding in encodings] if self._readings else [None] * len(encodings)
        missing = iter(ask([encoding for encoding, reading in zip(encodings, kept, strict=True) if reading is None]))
        return [next(missing) if reading is None else reading for reading in kept]


def _key(encoding: Encoding) -> tuple[bytes, bytes]:
    return encoding.ids.tobytes(), encoding.types.tobytes()
