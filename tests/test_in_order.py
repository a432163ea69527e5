"""Results in order whatever order they are ready in, a bound on what is taken in, and errors in their place."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from corrector.in_order import AHEAD, in_order, portions


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_results_come_in_the_order_of_the_items(threads: int) -> None:
    waits = [0.01, 0.0, 0.005, 0.0, 0.02, 0.0] * 3

    def call(number: int) -> int:
        threading.Event().wait(waits[number])
        return number * number

    assert list(in_order(call, range(len(waits)), threads)) == [n * n for n in range(len(waits))]
    assert list(in_order(call, [], threads)) == []


@pytest.mark.parametrize("threads", [1, 3])
def test_no_more_is_taken_in_than_can_be_worked_on(threads: int) -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        while taken < 10_000:
            taken += 1
            yield taken

    results = in_order(lambda item: item, items(), threads)
    for number in range(1, 50):
        assert next(results) == number
        assert number <= taken < number + AHEAD * threads
    results.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_comes_in_its_place(threads: int) -> None:
    results = in_order(lambda item: 10 // item, [5, 2, 0, 1], threads)
    assert [next(results), next(results)] == [2, 5]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert list(results) == []


def test_one_thread_is_the_callers_own() -> None:
    own = threading.current_thread()
    assert list(in_order(lambda _: threading.current_thread() is own, range(3), 1)) == [True] * 3
    assert not any(in_order(lambda _: threading.current_thread() is own, range(3), 2))


def test_what_waits_is_given_up_with_the_results() -> None:
    started, may_end = set(), threading.Event()

    def call(number: int) -> int:
        started.add(number)
        assert number == 0 or may_end.wait(60)
        return number

    results = in_order(call, range(10), 2)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    may_end.set()
    for thread in threading.enumerate():
        if thread.name.startswith("correct"):
            thread.join(60)
    assert started <= {0, 1, 2}


@pytest.mark.parametrize(
    ("weights", "expected"), [([], []), ([1, 2, 3, 9, 1], [[1, 2], [3], [9], [1]]), ([1, 1, 1, 0, 1], [[1, 1, 1], [0, 1]])]
)
def test_a_portion_ends_with_what_makes_it_enough(weights: list[int], expected: list[list[int]]) -> None:
    assert list(portions(weights, lambda weight: weight, 3)) == expected
