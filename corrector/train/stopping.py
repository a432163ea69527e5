"""A run that is asked to stop first ends its step and writes its checkpoint."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class Stop:
    """Which signal asked the run to stop, if one did."""

    signal: int | None = None


@contextlib.contextmanager
def stopping() -> Iterator[Stop]:
    """Keeps SIGINT, SIGTERM and SIGHUP (of a terminal that is closed) back for the block, which looks at the ``Stop`` it is given; after it
    the one that came does what it would have done, so that whoever started the run sees that it was not finished. One that is ignored
    stays so, as in a job behind ``&`` or under ``nohup``."""
    stop = Stop()

    def keep(number: int, _: object) -> None:
        stop.signal = number

    ending = {signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)}
    heeded = [number for number in ending if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, keep) for number in heeded}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stop.signal is not None:
        signal.raise_signal(stop.signal)
