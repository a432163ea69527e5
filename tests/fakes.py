"""Stand-ins driven by dictionaries, so that a test says what is found without any model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from corrector.electra.runtime import Encoding, Floats, Reading
from corrector.text.protect import merged, protected_spans
from corrector.text.segment import sentences
from corrector.types import Candidate, CorrectedDocument, Correction, Document, RankedCandidate, Sentence, Span

SURE, DOUBTFUL = 0.98765, 0.4


class FakeCorrector:
    """Replaces each key of ``sure`` by its value, confidence 0.98765, and each of ``doubtful``, 0.4, within sentences.

    Keys and values have equal lengths. Edits below ``min_confidence`` (default 0.5) become suggestions. A window that
    contains ``fails_on`` is counted as unprocessed. Sentences and protected spans are the real ones.
    """

    def __init__(
        self,
        sure: Mapping[str, str] | None = None,
        doubtful: Mapping[str, str] | None = None,
        *,
        min_confidence: float | None = None,
        fails_on: str | None = None,
        model_name: str = "fake",
    ) -> None:
        edits = [(wrong, right, SURE) for wrong, right in (sure or {}).items()]
        edits += [(wrong, right, DOUBTFUL) for wrong, right in (doubtful or {}).items()]
        self._edits = tuple(edits)
        self._min_confidence = 0.5 if min_confidence is None else min_confidence
        self._fails_on = fails_on
        self.model_name = model_name

    def correct(self, text: str) -> CorrectedDocument:
        return self.correct_document(Document(None, text))

    def correct_many(self, texts: Iterable[str]) -> Iterator[CorrectedDocument]:
        return map(self.correct, texts)

    def correct_document(self, document: Document) -> CorrectedDocument:
        found: list[Correction] = []
        unprocessed = 0
        protected = merged((*protected_spans(document.text), *document.protected))
        for sentence in sentences(document.text, protected):
            if self._fails_on is not None and self._fails_on in sentence.text:
                unprocessed += 1
            else:
                found += self._found(sentence)
        return CorrectedDocument(
            document,
            tuple(edit for edit in found if edit.confidence >= self._min_confidence),
            tuple(edit for edit in found if edit.confidence < self._min_confidence),
            unprocessed,
        )

    def _found(self, sentence: Sentence) -> Iterator[Correction]:
        """The edits inside the sentence's core, left to right, the first dictionary entry winning."""
        at = sentence.core.start
        while at < sentence.core.end:
            edit = next((edit for edit in self._edits if self._fits(edit[0], at, sentence)), None)
            if edit is None:
                at += 1
                continue
            wrong, right, confidence = edit
            alternatives = (RankedCandidate(Candidate(right, -0.5), 0.912345, 0.25, confidence),)
            yield Correction(Span(at, at + len(wrong)), wrong, right, confidence, alternatives, "same_sound")
            at += len(wrong)

    @staticmethod
    def _fits(wrong: str, at: int, sentence: Sentence) -> bool:
        end = at + len(wrong)
        free = all(span.end <= at or end <= span.start for span in sentence.protected)
        return free and end <= sentence.core.end and sentence.text.startswith(wrong, at - sentence.span.start)


class FakeRuntime:
    """A ``Runtime`` that finds the wrong characters of ``replacements`` suspicious and proposes the right ones.

    The generator gives 0.9 to the replacement of a visible wrong character, to all replacements together at a mask, and
    to a character itself otherwise; what is left is spread over the vocabulary. ``calls`` counts windows by method.
    """

    callers = 1

    def __init__(self, vocabulary: Sequence[str], replacements: Mapping[str, str], logit: float = 6.0) -> None:
        self._id_of = {token: number for number, token in enumerate(vocabulary)}
        self._right_of = {self._id_of[wrong]: self._id_of[right] for wrong, right in replacements.items()}
        self._logit = logit
        self.calls = {"discriminator": 0, "generator": 0}

    def read(self, encodings: Sequence[Encoding]) -> list[Reading]:
        self.calls["discriminator"] += len(encodings)
        wrong = list(self._right_of)
        return [
            Reading(np.where(np.isin(encoding.ids, wrong), self._logit, -self._logit).astype(np.float32))
            for encoding in encodings
        ]

    def glance(self, encodings: Sequence[Encoding]) -> list[Reading | None]:
        return [*self.read(encodings)]

    def log_probabilities(
        self, encodings: Sequence[Encoding], positions: Sequence[Sequence[int]], readings: Sequence[Reading] | None = None
    ) -> list[Floats]:
        self.calls["generator"] += len(encodings)
        return [
            np.stack([self._distribution(int(encoding.ids[position])) for position in wanted])
            if len(wanted)
            else np.zeros((0, len(self._id_of)), dtype=np.float32)
            for encoding, wanted in zip(encodings, positions, strict=True)
        ]

    def _distribution(self, token: int) -> Floats:
        """Natural-log probabilities over the vocabulary: shape (vocabulary,)."""
        if token == self._id_of.get("[MASK]"):
            likely = sorted(set(self._right_of.values())) or [token]
        else:
            likely = [self._right_of.get(token, token)]
        probabilities = np.full(len(self._id_of), 0.1 / len(self._id_of))
        probabilities[likely] += 0.9 / len(likely)
        distribution: Floats = np.log(probabilities).astype(np.float32)
        return distribution


def write(path: Path, data: bytes) -> Path:
    """Puts ``data`` into ``path`` and returns it."""
    path.write_bytes(data)
    return path
