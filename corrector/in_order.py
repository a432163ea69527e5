"""``map`` over threads: in order, reading ahead no more than it must."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""Items taken in for each thread before the first result is handed on: one in work, one waiting."""


def in_order(call: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """``call`` of each item, up to ``threads`` of them side by side; with one thread, in the caller's own.

    An error comes where its result would, after the results before it; the rest is given up.
    """
    if threads <= 1:
        yield from map(call, items)
        return
    pool = ThreadPoolExecutor(threads, "correct")
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(call, item))
            if len(waiting) >= AHEAD * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
