"""The one file to read first: a text becomes sentences, suspicions, candidates, a ranking, and corrections.

    text ─ protected words, confusions, script ─ sentences ─ detect ─ propose ─ rank ─ check ─ CorrectedDocument
             └──────────────────────── again on what has changed ◄────────────────────────┘
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NoReturn, SupportsFloat

from corrector.config import profile_confidence
from corrector.config_values import checked
from corrector.confusions import Confusions
from corrector.edits import reason_of
from corrector.electra.model_dir import find_model
from corrector.errors import ConfigError
from corrector.in_order import in_order, portions
from corrector.known_forms import FormChoice, forms_in
from corrector.offers import OfferChoice
from corrector.rank import Ranker, default_ranker
from corrector.revision import Revision, least_reported, windows_in
from corrector.stages import GroupChoice, Stages
from corrector.text.ignore import ignored_spans
from corrector.text.protect import merged, protected_spans
from corrector.text.spacing import ClosedUp
from corrector.types import (
    DIGITS,
    TYPED,
    Candidate,
    CorrectedDocument,
    Correction,
    Document,
    Origin,
    RankedCandidate,
    Sentence,
    Span,
)
from corrector.words import ProtectedWords

BLOCK, BLOCK_CHARACTERS = 1024, 1 << 15  # texts taken together by correct_many, no more than have so many characters: bounds the memory
PART = 128  # windows taken together by the stages: enough for array operations to pay, few enough to share out among threads
ALTERNATIVES = 3


Part = Sequence[tuple[Revision, Sentence]]
"""Windows that the stages take together, with the documents they are of."""

Choice = GroupChoice | OfferChoice | FormChoice
"""What may be wrong in a window, with what is most likely meant."""


class Corrector:
    """Corrects Chinese spelling, Simplified and Traditional; opens its model once, never changes and may be shared by threads.

    ``model`` is a name, a directory or None for the embedded one; ``origin`` says where the text is from, 'typed' or 'ocr': characters
    recognised in images are taken for others that look like them. Corrections with a calibrated probability of at least
    ``min_confidence`` (default: the model's own) are made, less likely ones only suggested; or the ``profile`` 'careful',
    'balanced' or 'eager' says how sure is sure enough. ``words`` are never changed, ``confusions`` (wrong form → right
    form of the same length) are always corrected, but for protected words. ``threads``, up to 1,024, is how many cores to use; 0 is all.

    Raises ModelError for a model that cannot be opened or has no ranker for this origin, and ConfigError for an unknown origin, for a
    confidence outside 0..1, a confidence and a profile together, and for words, confusions and threads that cannot be used.

    >>> from corrector.apply import corrected_text
    >>> corrector = Corrector(words=["散部"], confusions={"帐户": "账户"})
    >>> corrected_text(corrector.correct("我今天很高形，去散部和开帐户。"))
    '我今天很高兴，去散部和开账户。'
    """

    words = ProtectedWords.of(())
    confusions = Confusions()

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        origin: Origin = TYPED,
        min_confidence: float | None = None,
        profile: str | None = None,
        words: Iterable[str] | ProtectedWords = (),
        confusions: Mapping[str, str] | Confusions | None = None,
        threads: int = 0,
    ) -> None:
        if min_confidence is not None and profile is not None:
            raise ConfigError("Corrector", "profile", "cannot be given together with min_confidence")
        is_number = isinstance(min_confidence, SupportsFloat) and not isinstance(min_confidence, bool)
        if min_confidence is not None and not (is_number and 0.0 <= min_confidence <= 1.0):
            raise ConfigError("Corrector", "min_confidence", f"must lie in 0..1, not {min_confidence!r:.60}")
        threads = checked("Corrector", "threads", "threads", threads)
        self.words = words if isinstance(words, ProtectedWords) else ProtectedWords.of(words)
        self.confusions = confusions if isinstance(confusions, Confusions) else Confusions.of(confusions or {})
        directory = find_model(model).of(checked("Corrector", "origin", "origin", origin))
        ranker = Ranker.load(directory.ranker) if directory.ranker else default_ranker()
        if profile is not None:
            min_confidence = profile_confidence(profile, directory.ranker)
        self.model_name, self.origin = directory.name, directory.origin
        self.model_checksum = directory.checksum
        self.min_confidence = ranker.min_confidence if min_confidence is None else min_confidence
        self.stages = Stages.of(directory, ranker, threads)

    def correct(self, text: str) -> CorrectedDocument:
        """The corrections of one text; the text itself stays as it is (``apply.corrected_text`` makes them).

        Its ``electra-correct:`` markers are obeyed (see ``text/ignore.py``). Raises TypeError for anything else than a text.
        """
        return self._correct_block([_whole(text)])[0]

    def correct_document(self, document: Document) -> CorrectedDocument:
        """The corrections of a document or a block of one; none in ``document.protected``.

        Markers in it mean nothing here: they go on from block to block, so whoever reads the blocks keeps an
        ``IgnoreState``, whose ``mark`` protects what they ignore. Raises TypeError for anything else than a document.
        """
        if not isinstance(document, Document):
            raise TypeError(f"a document must be a Document, not {type(document).__name__}; use correct for a text")
        return self._correct_block([document])[0]

    def correct_many(self, texts: Iterable[str]) -> Iterator[CorrectedDocument]:
        """The corrections of each text, as ``correct`` gives them, in order, reading ahead no more than a block.

        Raises TypeError for a single text, and for texts that are none: use ``correct`` for one.
        """
        if isinstance(texts, (str, bytes)):
            raise TypeError("correct_many takes texts; give [text], or use correct")
        return self._in_blocks(texts)

    def _in_blocks(self, texts: Iterable[str]) -> Iterator[CorrectedDocument]:
        for block in portions(texts, _weight, BLOCK_CHARACTERS):
            yield from self._correct_block([_whole(text) for text in block])

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Corrector is not pickled; open one in each process, where its model is opened once and for all")

    def _correct_block(self, documents: Sequence[Document]) -> list[CorrectedDocument]:
        """The corrections of each document; rounds over those whose text has changed, until none does any more."""
        closed = [ClosedUp.of(document, self.stages.in_words) for document in documents]
        revisions = [Revision(one.read, self.words, self.confusions, self.min_confidence) for one in closed]
        unsettled = revisions
        while unsettled:
            windows = ((revision, window) for revision in unsettled for window in revision.windows(self.stages.max_length))
            parts = _parts(windows, self.stages.runtime.callers)
            for part, found in in_order(self._found_in, parts, self.stages.runtime.callers):
                for (revision, window), corrections in zip(part, found, strict=True):
                    revision.note(window, corrections)
            unsettled = [revision for revision in unsettled if revision.settle()]
        return [one.opened(revision.result()) for one, revision in zip(closed, revisions, strict=True)]

    def _found_in(self, part: Part) -> tuple[Part, list[list[Correction] | None]]:
        return part, self._found_safely([window for _, window in part])

    def _found_safely(self, windows: Sequence[Sentence]) -> list[list[Correction] | None]:
        """What is found in each window; None for one that fails by itself, which stays as it is and is counted."""
        try:
            considered = self.stages.considered(windows)
            return [self.found(window, *choices) for window, choices in zip(windows, considered, strict=True)]
        except (ArithmeticError, LookupError, ValueError):
            if len(windows) == 1:
                return [None]
            return [result for window in windows for result in self._found_safely([window])]

    def found(self, window: Sentence, groups: Sequence[GroupChoice], offers: Sequence[OfferChoice]) -> list[Correction]:
        """The best correction of each group, and the offers and known forms, that are likely enough to be reported; of any that overlap
        the surest."""
        reported = least_reported(self.min_confidence)
        choices: tuple[Choice, ...] = (*groups, *offers, *forms_in(window))
        return surest(correction_of(window, choice) for choice in choices if choice.confidence >= reported)


def _parts(windows: Iterator[tuple[Revision, Sentence]], callers: int) -> Iterator[Part]:
    """The windows, ``PART`` or fewer at a time: so few that each caller gets some."""
    while block := list(islice(windows, PART * callers)):
        size = -(-len(block) // callers)
        yield from (block[start : start + size] for start in range(0, len(block), size))


def windows_of(document: Document, max_length: int) -> Iterator[Sentence]:
    """The windows of a document in which a Han character may change."""
    protected = merged((*protected_spans(document.text), *document.protected))
    return windows_in(document.text, protected, max_length)


def correction_of(sentence: Sentence, choice: Choice) -> Correction:
    """The best edit of a group, a word, or a known form, as a correction of the document."""
    found = choice.edits[0] if isinstance(choice, GroupChoice) else choice
    start, end = found.index, found.index + len(found.replacement)
    span = Span(sentence.span.start + start, sentence.span.start + end)
    alternatives, reason = (_alternatives(choice), reason_of(choice.edits[0])) if isinstance(choice, GroupChoice) else ((), choice.reason)
    return Correction(span, sentence.text[start:end], found.replacement, round(choice.confidence, DIGITS), alternatives, reason)


def surest(corrections: Iterable[Correction]) -> list[Correction]:
    """These in order, without those that overlap a surer one."""
    kept: list[Correction] = []
    for new in sorted(corrections, key=lambda correction: -correction.confidence):
        if all(new.span.end <= old.span.start or old.span.end <= new.span.start for old in kept):
            kept.append(new)
    return sorted(kept, key=lambda correction: correction.span)


def _alternatives(choice: GroupChoice) -> tuple[RankedCandidate, ...]:
    """The other edits of the span of the best, best first, with their share of the ranker's belief."""
    found = []
    for number in islice(choice.edits.same_place(0), ALTERNATIVES):
        edit, share = choice.edits[number], round(float(choice.shares[number]), DIGITS)
        candidate = Candidate(edit.replacement, math.log(max(share, 10**-DIGITS)))
        found.append(RankedCandidate(candidate, edit.pinyin_similarity, edit.glyph_similarity, share))
    return tuple(found)


def _whole(text: str) -> Document:
    """A text with what its own markers ignore protected. Raises TypeError for anything else than a text."""
    return Document(None, _text(text), protected=ignored_spans(text))


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"a text must be a str, not {type(text).__name__}")
    return text


def _weight(text: str) -> int:
    """The characters of a text; the shortest count as much as makes a block of ``BLOCK`` texts."""
    return max(len(_text(text)), BLOCK_CHARACTERS // BLOCK)
