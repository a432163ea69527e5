from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from corrector.errors import ModelError
from corrector.train import workers
from corrector.train.workers import Workers


def counting(number: int) -> Callable[[], tuple[int, int]]:
    numbers = iter(range(10_000))
    return lambda: (number, next(numbers))


def once(number: int) -> Callable[[], int]:
    made = iter([number])

    def make() -> int:
        for value in made:
            return value
        while True:
            time.sleep(60)

    return make


def test_what_every_process_makes_comes_in_its_order() -> None:
    with Workers(counting, 3) as made:
        found = [made.take() for _ in range(200)]
    for number in range(3):
        own = [place for maker, place in found if maker == number]
        assert own == list(range(len(own)))
    assert len(set(found)) == 200 and made.repeated == 0


def test_while_nothing_new_is_ready_what_is_old_comes_again_so_many_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_APART", 2)
    with Workers(once, 3, repeats=2) as made:
        new = [made.take() for _ in range(3)]
        again = [made.take() for _ in range(4)]  # the first has been there three times
    assert sorted(new) == [0, 1, 2]
    assert again == [*new, new[0]]
    assert made.repeated == 4


def test_what_comes_is_received_in_a_thread_once_however_often_it_is_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_APART", 0)
    threads = []

    def receive(made: int) -> int:
        threads.append(threading.get_ident())
        return made + 10

    with Workers(once, 2, repeats=1, receive=receive) as made:
        assert sorted(made.take() for _ in range(4)) == [10, 10, 11, 11]
    assert len(threads) == 2 and threading.get_ident() not in threads


def test_an_error_while_receiving_is_raised() -> None:
    def receive(made: tuple[int, int]) -> tuple[int, int]:
        raise MemoryError("no room on the device")

    with Workers(counting, 1, receive=receive) as made, pytest.raises(MemoryError, match="no room on the device"):
        made.take()


def test_an_error_in_a_process_is_raised() -> None:
    def begin(number: int) -> Callable[[], int]:
        raise ValueError(f"in process {number}")

    with Workers(begin, 1) as made, pytest.raises(ValueError, match="in process 0"):
        made.take()


def test_a_process_that_does_not_heed_signals_is_ended_too() -> None:
    def begin(number: int) -> Callable[[], int]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as one has it that has not come to set its own
        return lambda: number

    with Workers(begin, 1) as made:
        assert made.take() == 0
    assert not any(process.is_alive() for process in made._processes)


def test_a_process_that_is_gone_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_PATIENCE", 0.05)
    with Workers(lambda _: lambda: os._exit(1), 1) as made, pytest.raises(ModelError, match="was ended; give fewer"):
        made.take()
