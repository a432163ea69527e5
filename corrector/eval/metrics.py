"""Statistics first, scores second: counts per sentence, added up, then turned into every figure the field reports.

With s = source, t = target, p = prediction and G, H = the (position, character) edits of s→t and s→p:

- strict: P = #(H = G ≠ ∅) / #(H ≠ ∅), R = #(H = G ≠ ∅) / #(G ≠ ∅); detection compares the positions only
  (as ReaLiSe, SCOPE and LEMON report).
- official (SIGHAN 2014 and 2015, pycorrector): the same hits and recall, but a false positive is an error-free sentence
  that was changed, so a wrong edit in an erroneous sentence never hurts precision.
- character level: micro over all edits, by position and by (position, character).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

REMOVED_DE = frozenset("地得")
"""SIGHAN 2013 does not annotate 的/地/得; published results on it drop every predicted edit into 地 or 得 (ReaLiSe)."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What is counted in one sentence or, added up, in many: numbers of sentences, unless the name says edits."""

    sentences: int = 0
    erroneous: int = 0
    changed: int = 0
    false_positives: int = 0
    detected: int = 0
    corrected: int = 0
    gold_edits: int = 0
    predicted_edits: int = 0
    position_hit_edits: int = 0
    character_hit_edits: int = 0
    broken_length: int = 0
    exact: int = 0

    def vector(self) -> tuple[int, ...]:
        """The fields in their order, for arithmetic over many sentences."""
        return tuple(getattr(self, name) for name in COUNT_NAMES)

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(a + b for a, b in zip(self.vector(), other.vector(), strict=True)))

    def __sub__(self, other: Counts) -> Counts:
        return Counts(*(a - b for a, b in zip(self.vector(), other.vector(), strict=True)))

    @property
    def error_free(self) -> int:
        """Sentences without a gold edit."""
        return self.sentences - self.erroneous


COUNT_NAMES = tuple(field.name for field in fields(Counts))


def total(per_sentence: Iterable[Counts]) -> Counts:
    """The sum; of nothing, all zeros."""
    columns = list(zip(*(counts.vector() for counts in per_sentence), strict=True))
    return Counts(*(sum(column) for column in columns))


def edits(source: str, changed: str) -> dict[int, str]:
    """The code-point positions at which two texts of equal length differ, with the character of ``changed`` there."""
    return {i: b for i, (a, b) in enumerate(zip(source, changed, strict=True)) if a != b}


def count_sentence(source: str, target: str, prediction: str) -> Counts:
    """The statistics of one sentence. A prediction of another length counts as broken and as changing nothing.

    Raises ValueError when source and target differ in length: such a pair has no substitutions to score.
    """
    if len(source) != len(target):
        raise ValueError(f"source and target differ in length ({len(source)} and {len(target)}): {source!r}")
    broken = len(prediction) != len(source)
    gold = edits(source, target)
    predicted = {} if broken else edits(source, prediction)
    return Counts(
        sentences=1,
        erroneous=int(bool(gold)),
        changed=int(bool(predicted)),
        false_positives=int(bool(predicted) and not gold),
        detected=int(bool(gold) and gold.keys() == predicted.keys()),
        corrected=int(bool(gold) and gold == predicted),
        gold_edits=len(gold),
        predicted_edits=len(predicted),
        position_hit_edits=len(gold.keys() & predicted.keys()),
        character_hit_edits=len(gold.items() & predicted.items()),
        broken_length=int(broken),
        exact=int(prediction == target),
    )


def remove_de(source: str, prediction: str) -> str:
    """The prediction without its edits into 地 or 得; of another length than the source, unchanged."""
    if len(source) != len(prediction):
        return prediction
    return "".join(a if b in REMOVED_DE else b for a, b in zip(source, prediction, strict=True))


def ratio(numerator: int, denominator: int) -> float:
    """The quotient, and 0 where there is nothing to divide by (the field's convention)."""
    return numerator / denominator if denominator else 0.0


@dataclass(frozen=True, slots=True)
class PRF:
    """Precision, recall and their harmonic mean, each 0..1; 0 where undefined."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, hits: int, predicted: int, gold: int) -> PRF:
        precision, recall = ratio(hits, predicted), ratio(hits, gold)
        both = precision + recall
        return cls(precision, recall, 2 * precision * recall / both if both else 0.0)


PRF_NAMES = (
    "strict_correction",
    "strict_detection",
    "official_correction",
    "official_detection",
    "character_correction",
    "character_detection",
)
"""The fields of ``Scores`` that are a P/R/F1 triple."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Every figure computed from one ``Counts``. Fractions, not percentages.

    ``false_positive_rate`` and ``unchanged_share`` are over the error-free sentences and None where there are none.
    ``accuracy`` is the share of sentences that come out exactly as the target.
    """

    counts: Counts
    strict_correction: PRF
    strict_detection: PRF
    official_correction: PRF
    official_detection: PRF
    character_correction: PRF
    character_detection: PRF
    false_positive_rate: float | None
    unchanged_share: float | None
    accuracy: float

    @classmethod
    def of(cls, counts: Counts) -> Scores:
        c = counts
        rate = c.false_positives / c.error_free if c.error_free else None
        return cls(
            counts=c,
            strict_correction=PRF.of(c.corrected, c.changed, c.erroneous),
            strict_detection=PRF.of(c.detected, c.changed, c.erroneous),
            official_correction=PRF.of(c.corrected, c.corrected + c.false_positives, c.erroneous),
            official_detection=PRF.of(c.detected, c.detected + c.false_positives, c.erroneous),
            character_correction=PRF.of(c.character_hit_edits, c.predicted_edits, c.gold_edits),
            character_detection=PRF.of(c.position_hit_edits, c.predicted_edits, c.gold_edits),
            false_positive_rate=rate,
            unchanged_share=None if rate is None else 1.0 - rate,
            accuracy=ratio(c.exact, c.sentences),
        )

    def flat(self) -> dict[str, float | None]:
        """Every figure under one name, ``strict_correction.f1`` and so on.

        None where it has no meaning: P, R and F1 without erroneous sentences, rates without error-free ones.
        """
        figures: dict[str, float | None] = {}
        for name in PRF_NAMES:
            triple: PRF = getattr(self, name)
            for part in ("precision", "recall", "f1"):
                figures[f"{name}.{part}"] = getattr(triple, part) if self.counts.erroneous else None
        figures["false_positive_rate"] = self.false_positive_rate
        figures["unchanged_share"] = self.unchanged_share
        figures["accuracy"] = self.accuracy if self.counts.sentences else None
        return figures


def evaluate(rows: Iterable[Sequence[str]], predictions: Iterable[str] | None = None) -> Scores:
    """Score predictions against rows that begin (source, target).

    Without ``predictions`` each row is a (source, target, prediction) triple. Raises ValueError when rows and
    predictions differ in number, or a source and its target in length.
    """
    if predictions is None:
        return Scores.of(total(count_sentence(row[0], row[1], row[2]) for row in rows))
    return Scores.of(total(count_sentence(r[0], r[1], p) for r, p in zip(rows, predictions, strict=True)))
