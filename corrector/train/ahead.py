"""The next batch is made while the network learns from this one: making errors and marks takes about as long."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Ahead(Generic[Made]):
    """Hands out what ``make`` returns, call by call; with ``ahead`` it makes the next in a thread meanwhile.

    What ``make`` raises is raised where its result would have been handed out. Leaving the block waits for the thread.
    """

    def __init__(self, make: Callable[[], Made], *, ahead: bool) -> None:
        self._make, self._ahead = make, ahead
        self._thread = ThreadPoolExecutor(1)
        self._next: Future[Made] | None = None

    def __enter__(self) -> Ahead[Made]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._thread.shutdown()

    def take(self) -> Made:
        """The next one, in order."""
        if not self._ahead:
            return self._make()
        waiting = self._next or self._thread.submit(self._make)
        made = waiting.result()
        self._next = self._thread.submit(self._make)
        return made
