"""Rounds, medians and spreads. Contenders take turns, so that whatever else the machine does meets all of them."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Spread:
    """A median with the least and the greatest value of ``rounds``."""

    median: float
    least: float
    greatest: float
    rounds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values), len(values))

    def each(self, change: Callable[[float], float]) -> Spread:
        """The same after a monotone change of every value."""
        ends = sorted((change(self.least), change(self.greatest)))
        return Spread(change(self.median), *ends, self.rounds)

    def as_json(self) -> dict[str, Any]:
        return {"median": _short(self.median), "min": _short(self.least), "max": _short(self.greatest), "rounds": self.rounds}

    def told(self, digits: int = 3) -> str:
        """``1.23 (1.10–1.40)``"""
        return f"{_digits(self.median, digits)} ({_digits(self.least, digits)}–{_digits(self.greatest, digits)})"


def seconds(action: Callable[[], object]) -> float:
    """How long one call takes, in seconds of wall time."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def interleaved(contenders: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every contender in every round, one after the other within a round; a call before that warms up."""
    for action in contenders.values():
        action()
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds):
        names = list(contenders)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            taken[name].append(seconds(contenders[name]))
    return taken


def ratios(first: Sequence[float], second: Sequence[float]) -> Spread:
    """first/second, round by round: what slows a whole round down falls out."""
    return Spread.of([a / b for a, b in zip(first, second, strict=True)])


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The k of time = c·size^k that fits best: the slope of a straight line through the logarithms (least squares)."""
    xs, ys = [math.log(size) for size in sizes], [math.log(taken) for taken in times]
    return statistics.linear_regression(xs, ys).slope


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def _digits(value: float, digits: int) -> str:
    if value == 0 or not math.isfinite(value):
        return str(value)
    places = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    return f"{value:,.{places}f}"
