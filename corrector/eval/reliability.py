"""Whether a confidence means what it says: of the edits proposed with about 0.8, are about 80 % right?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from corrector.eval.curve import ScoredEdit
from corrector.eval.intervals import Interval, wilson

BINS = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """A proposed edit of this confidence (0..1), and whether the target has its replacement in that place."""

    confidence: float
    right: bool


@dataclass(frozen=True, slots=True)
class Bin:
    """The edits of a confidence above ``low`` and up to ``high``: at least one.

    ``confidence`` is their mean, ``share_right`` how many of them are right (0..1), ``interval`` its 95 % (Wilson).
    """

    low: float
    high: float
    edits: int
    confidence: float
    share_right: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Reliability:
    """The bins that have edits, in order, and the expected calibration error (0..1), None without edits."""

    edits: int
    ece: float | None
    bins: tuple[Bin, ...]


def outcomes(pairs: Sequence[tuple[str, str]], edits: Sequence[Sequence[ScoredEdit]]) -> tuple[Outcome, ...]:
    """Every edit judged by itself; ``edits[i]`` belong to ``pairs[i]`` (source, target). Edits that change nothing are left out."""
    judged = []
    for (source, target), several in zip(pairs, edits, strict=True):
        for edit in several:
            end = edit.start + len(edit.replacement)
            if source[edit.start : end] != edit.replacement:
                judged.append(Outcome(edit.confidence, target[edit.start : end] == edit.replacement))
    return tuple(judged)


def reliability(judged: Sequence[Outcome], bins: int = BINS) -> Reliability:
    """The reliability diagram over equal steps of confidence, and the expected calibration error (Guo et al. 2017, section 2).

    With M bins B_m = ((m − 1)/M, m/M], the first with its 0, of n edits in all:
    ECE = Σ_m |B_m|/n · |share right in B_m − mean confidence in B_m|.
    """
    edges = [(number + 1) / bins for number in range(bins)]
    members: list[list[Outcome]] = [[] for _ in edges]
    for outcome in judged:
        members[bisect_left(edges, outcome.confidence)].append(outcome)
    filled = tuple(_bin(number / bins, edges[number], inside) for number, inside in enumerate(members) if inside)
    gaps = [one.edits / len(judged) * abs(one.share_right - one.confidence) for one in filled]
    return Reliability(len(judged), fsum(gaps) if gaps else None, filled)


def _bin(low: float, high: float, inside: Sequence[Outcome]) -> Bin:
    right = sum(outcome.right for outcome in inside)
    mean = fsum(outcome.confidence for outcome in inside) / len(inside)
    return Bin(low, high, len(inside), mean, right / len(inside), wilson(right, len(inside)))
