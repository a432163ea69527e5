"""The one file to read first: a text becomes sentences, suspicions, candidates, a ranking, and corrections.

    text ─ sentences ─ detect ─ propose ─ rank ─ check ─ (again on what changed) ─ CorrectedDocument
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from corrector.apply import apply
from corrector.electra import load_runtime
from corrector.electra.model import ModelDirectory
from corrector.electra.model_dir import find_model
from corrector.errors import ConfigError
from corrector.rank import Edit, Ranker, default_ranker, reason_of
from corrector.stages import MAX_LENGTH, GroupChoice, Stages
from corrector.text.protect import is_han, merged, protected_spans
from corrector.text.segment import sentences
from corrector.types import Candidate, CorrectedDocument, Correction, Document, RankedCandidate, Sentence, Span

OVERLAP = 32  # characters of context on either side of a cut; less for a model of few positions
ROUNDS = 8  # a corrected sentence is read again until nothing more is accepted, which in practice is far sooner
BLOCK = 64  # texts taken together by correct_many, and windows by the models: bounds the memory
REPORTED_CONFIDENCE = 0.1  # a correction less likely than this is not even suggested
ALTERNATIVES = 3


class Corrector:
    """Corrects Chinese spelling; opens its model once and may be shared by threads.

    ``model`` is a name, a directory or None for the embedded one. Corrections with a calibrated probability of at least
    ``min_confidence`` (default: the model's own) are made, less likely ones only suggested. ``threads`` 0 uses every core.
    Raises ModelError for a model that cannot be opened and ConfigError for a confidence outside 0..1.

    >>> from corrector.apply import corrected_text
    >>> corrected_text(Corrector().correct("我今天很高形。"))  # doctest: +SKIP
    '我今天很高兴。'
    """

    def __init__(self, model: str | Path | None = None, *, min_confidence: float | None = None, threads: int = 0) -> None:
        directory = find_model(model)
        ranker = Ranker.load(directory.ranker) if directory.ranker else default_ranker()
        if min_confidence is not None and not 0.0 <= min_confidence <= 1.0:
            raise ConfigError("Corrector", "min_confidence", f"must lie in 0..1, not {min_confidence}")
        self.model_name = directory.name
        self.model_checksum = directory.checksum
        self.min_confidence = ranker.min_confidence if min_confidence is None else min_confidence
        self.stages = Stages(directory.tokenizer, load_runtime(directory, threads), ranker, window_length(directory))

    def correct(self, text: str) -> CorrectedDocument:
        """The corrections of one text; the text itself stays as it is (``apply.corrected_text`` makes them)."""
        return self.correct_document(Document(None, text))

    def correct_document(self, document: Document) -> CorrectedDocument:
        """The corrections of a document."""
        return self._correct_block([document])[0]

    def correct_many(self, texts: Iterable[str]) -> Iterator[CorrectedDocument]:
        """The corrections of each text in order, reading ahead no more than a block."""
        iterator = iter(texts)
        while block := [Document(None, text) for text in islice(iterator, BLOCK)]:
            yield from self._correct_block(block)

    def _correct_block(self, documents: Sequence[Document]) -> list[CorrectedDocument]:
        windows = ((n, window) for n, d in enumerate(documents) for window in windows_of(d, self.stages.max_length))
        found: list[list[Correction]] = [[] for _ in documents]
        unprocessed = [0] * len(documents)
        while block := list(islice(windows, BLOCK)):
            for (number, _), corrections in zip(block, self._correct_safely([s for _, s in block]), strict=True):
                found[number] += corrections or []
                unprocessed[number] += corrections is None
        return [
            CorrectedDocument(
                document,
                tuple(c for c in corrections if c.confidence >= self.min_confidence),
                tuple(c for c in corrections if c.confidence < self.min_confidence),
                missed,
            )
            for document, corrections, missed in zip(documents, found, unprocessed, strict=True)
        ]

    def _correct_safely(self, windows: Sequence[Sentence]) -> list[list[Correction] | None]:
        """The corrections of each window; None for one that fails by itself, which stays as it is and is counted."""
        try:
            return list(self._correct_sentences(windows))
        except (ArithmeticError, LookupError, ValueError):
            if len(windows) == 1:
                return [None]
            return [result for window in windows for result in self._correct_safely([window])]

    def _correct_sentences(self, windows: Sequence[Sentence]) -> list[list[Correction]]:
        """The corrections of each window; windows with accepted ones are read again until nothing more is accepted."""
        results: list[dict[Span, Correction]] = [{} for _ in windows]
        texts = list(windows)
        open_windows = list(range(len(windows)))
        for _ in range(ROUNDS):
            choices = self.stages.choices([texts[number] for number in open_windows])
            changed = []
            for number, groups in zip(open_windows, choices, strict=True):
                proposed = [self._correction(texts[number], choice) for choice in groups]
                accepted = self._add(results[number], proposed)
                if accepted:
                    local = [_shifted(correction, -windows[number].span.start) for correction in accepted]
                    texts[number] = dataclasses.replace(texts[number], text=apply(texts[number].text, local))
                    changed.append(number)
            open_windows = changed
            if not open_windows:
                break
        return [sorted(found.values(), key=lambda correction: correction.span) for found in results]

    def _add(self, found: dict[Span, Correction], proposed: Sequence[Correction]) -> list[Correction]:
        """Put a round's corrections to those found before; returns the ones to make. What is already corrected stays so."""
        accepted = []
        for new in proposed:
            overlapping = [old for span, old in found.items() if span.start < new.span.end and new.span.start < span.end]
            settled = any(old.confidence >= self.min_confidence for old in overlapping)
            if settled or new.confidence < REPORTED_CONFIDENCE:
                continue
            if new.confidence >= self.min_confidence:
                accepted.append(new)
            elif overlapping:
                continue
            for old in overlapping:
                del found[old.span]
            found[new.span] = new
        return accepted

    def _correction(self, sentence: Sentence, choice: GroupChoice) -> Correction:
        confidences = self.stages.ranker.confidences(choice.checks)
        best = int(np.argmax(confidences))
        edit = choice.edits[best]
        start, end = edit.index, edit.index + len(edit.replacement)
        span = Span(sentence.span.start + start, sentence.span.start + end)
        return Correction(
            span, sentence.text[start:end], edit.replacement, round(float(confidences[best]), 6),
            _alternatives(choice, edit), reason_of(edit),
        )  # fmt: skip


def window_length(model: ModelDirectory) -> int:
    """The longest window in characters that the model has positions for, [CLS] and [SEP] taken off; ``MAX_LENGTH`` at most."""
    positions = model.discriminator.setting("max_position_embeddings")
    return MAX_LENGTH if positions is None else min(MAX_LENGTH, positions - 2)


def windows_of(document: Document, max_length: int) -> Iterator[Sentence]:
    """The windows of a document that hold any Han character."""
    overlap = min(OVERLAP, max_length // 4)
    protected = merged((*protected_spans(document.text), *document.protected))
    for window in sentences(document.text, protected, max_length, overlap):
        if any(map(is_han, window.text)):
            yield window


def _alternatives(choice: GroupChoice, chosen: Edit) -> tuple[RankedCandidate, ...]:
    """The other edits of the same span, best first, with their share of the ranker's belief."""
    shares = np.exp(choice.scores - choice.scores.max())
    shares /= shares.sum() + np.exp(-choice.scores.max())
    same = [
        RankedCandidate(
            Candidate(edit.replacement, float(np.log(max(share, 1e-12)))), edit.pinyin_similarity, edit.glyph_similarity, float(share)
        )
        for edit, share in zip(choice.edits, shares, strict=True)
        if edit is not chosen and edit.index == chosen.index and len(edit.original) == len(chosen.original)
    ]
    return tuple(same[:ALTERNATIVES])


def _shifted(correction: Correction, by: int) -> Correction:
    return dataclasses.replace(correction, span=Span(correction.span.start + by, correction.span.end + by))
