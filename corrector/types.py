"""The values that pass between the stages. Frozen, tuples not lists; imports nothing of ours.

Every offset is a half-open code-point offset into the original document text unless a field says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Reason = Literal["same_sound", "near_sound", "shape", "word", "context", "order", "script", "confusion"]
"""Why a correction was chosen: 同音, 近音, 形近, 词 (it completes a dictionary word), context alone, 颠倒 (two characters are in the
other order), 繁简 (what stands there is of the other script than its surroundings), or a pair of the user's confusions."""

Origin = Literal["typed", "ocr"]
"""Where text is from: someone typed it, or it was recognised in an image. It decides which slips are likely."""

Variety = Literal["today", "early", "older", "cantonese"]
"""Which Chinese a text is in: today's, that of the first prose in the modern vernacular, of older literature, or Cantonese."""

ORIGINS: tuple[Origin, ...] = get_args(Origin)
TYPED, OCR = ORIGINS


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range ``[start, end)`` of code points."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Document:
    """A decoded text. ``newline`` is what the file used most; ``text`` keeps every line end as it was read.

    ``protected`` (sorted, disjoint) are spans that its format or its user keeps from every change. ``part`` names the part of
    a package, such as a Word document, that the text is in; ``path`` ends with it. The lines of a text without a path have nothing to do
    with each other, but what is ``around`` them all may be of another variety than today's.
    """

    path: str | None
    text: str
    encoding: str = "utf-8"
    newline: str = "\n"
    protected: tuple[Span, ...] = ()
    part: str = ""
    around: Variety = "today"

    @property
    def file(self) -> str | None:
        """``path`` without ``part``: a file's, if it is one's."""
        return self.path.removesuffix(f"/{self.part}") if self.path and self.part else self.path


@dataclass(frozen=True, slots=True)
class Sentence:
    """A window of text given to the models in one piece.

    ``span`` is where ``text`` lies in the document. ``core`` (a part of ``span``) is where this window's corrections
    count: long sentences are cut into overlapping windows whose cores do not overlap. ``protected`` are spans that must not change.
    """

    text: str
    span: Span
    core: Span
    protected: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A span the discriminator believes was replaced, with that probability (0..1)."""

    span: Span
    probability: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed replacement and the generator's natural-log probability of it."""

    text: str
    log_probability: float


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate with its similarity to the original (0..1 each) and the ranker's probability that it is right."""

    candidate: Candidate
    pinyin_similarity: float
    glyph_similarity: float
    score: float


DIGITS = 6
"""Of confidences and scores; the next depends on what else the networks read at the same time."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One edit: ``original`` at ``span`` becomes ``replacement`` (equal length), right with probability ``confidence``."""

    span: Span
    original: str
    replacement: str
    confidence: float
    alternatives: tuple[RankedCandidate, ...] = ()
    reason: Reason = "context"


@dataclass(frozen=True, slots=True)
class CorrectedDocument:
    """A document, the corrections to apply, the doubtful ones only reported, and how many windows could not be processed."""

    document: Document
    corrections: tuple[Correction, ...]
    suggestions: tuple[Correction, ...] = ()
    unprocessed: int = 0
