"""Batches made by several processes, for a device that learns faster than one process makes errors and marks."""

from __future__ import annotations

import multiprocessing
import queue
import signal
import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

from corrector.errors import ModelError

Made = TypeVar("Made")
_WAITING = 4  # batches of each process that may wait
_RECEIVED = 8  # batches that may be ready to be handed out
_APART = 64  # batches between a batch and its repetition, at least
_KEPT = 1024  # batches that may be repeated, at most
_PATIENCE = 2.0  # seconds after which it is looked whether the processes still live


class Workers(Generic[Made]):
    """Hands out what processes make, in the order in which it comes; ``begin(number)`` is called in process ``number`` and returns what
    makes the next one.

    A thread makes of each what ``receive`` does, such as a copy on the device. While none is ready, what was handed out a while ago is
    handed out again, each at most ``repeats`` times. What a process or ``receive`` raises is raised by ``take``. Leaving the block ends
    the processes. They are forked: what is loaded before is shared.
    """

    def __init__(
        self, begin: Callable[[int], Callable[[], Made]], count: int, repeats: int = 0, receive: Callable[[Made], Made] = lambda made: made
    ) -> None:
        context = multiprocessing.get_context("fork")
        self._made = context.Queue(_WAITING * count)
        self._processes = [context.Process(target=_work, args=(begin, number, self._made), daemon=True) for number in range(count)]
        self._repeats, self._receive = repeats, receive
        self._received: queue.Queue[Made | Exception] = queue.Queue(_RECEIVED)
        self._thread, self._left = threading.Thread(target=self._receiving, daemon=True), threading.Event()
        self._again: deque[tuple[Made, int]] = deque(maxlen=_KEPT)
        self.repeated = 0

    def __enter__(self) -> Workers[Made]:
        for process in self._processes:
            process.start()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._left.set()
        for process in self._processes:
            process.kill()  # one that has just begun may still have the handlers of this process, and outlive any other signal
        for process in self._processes:
            process.join()

    def take(self) -> Made:
        """The next one, or one again."""
        made: Made | Exception
        try:
            made, left = self._received.get_nowait(), self._repeats
        except queue.Empty:
            if len(self._again) > _APART:
                made, left = self._again.popleft()
                self.repeated += 1
            else:
                made, left = self._received.get(), self._repeats
        if isinstance(made, Exception):
            raise made
        if left:
            self._again.append((made, left - 1))
        return made

    def _receiving(self) -> None:
        made: Made | Exception
        while not self._left.is_set():
            try:
                made = self._made.get(timeout=_PATIENCE)
                made = made if isinstance(made, Exception) else self._receive(made)
            except queue.Empty:
                if all(process.is_alive() for process in self._processes):
                    continue
                made = ModelError("workers", "a process that makes batches was ended; give fewer, they may lack memory")
            except Exception as error:
                made = error
            self._hand_over(made)

    def _hand_over(self, made: Made | Exception) -> None:
        while not self._left.is_set():
            try:
                self._received.put(made, timeout=_PATIENCE)
                return
            except queue.Full:
                continue


def _work(begin: Callable[[int], Callable[[], Made]], number: int, made: multiprocessing.Queue[Made | Exception]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that learns decides when to end
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        make = begin(number)
        while True:
            made.put(make())
    except Exception as error:
        made.put(error)
