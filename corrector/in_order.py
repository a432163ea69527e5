"""``map`` over threads, in order, and items in portions: both read ahead no more than they must."""

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


def portions(items: Iterable[Item], weight: Callable[[Item], int], enough: int) -> Iterator[list[Item]]:
    """The items, some at a time: a portion ends with the item that takes it to a weight of ``enough``.

    An error of the items, or of weighing one, comes after those before it.
    """
    portion: list[Item] = []
    total = 0
    try:
        for item in items:
            total += weight(item)
            portion.append(item)
            if total >= enough:
                yield portion
                portion, total = [], 0
    except Exception:
        if portion:
            yield portion
        raise
    if portion:
        yield portion
