"""Correctors that other processes open: importable by name, without pytest. What they do stands in their texts."""

from __future__ import annotations

import os
import signal
import time

from corrector.config import Settings
from corrector.errors import ModelError
from corrector.types import CorrectedDocument, Document
from tests.fakes import FakeCorrector

SURE = {"天汽": "天气", "平果": "苹果"}


class Obedient(FakeCorrector):
    """The fake corrector; a text can also ask it to fail, to die, to dawdle or to say who it is."""

    def correct_document(self, document: Document) -> CorrectedDocument:
        if "死" in document.text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "败" in document.text:
            raise ValueError("败")
        if "慢" in document.text:
            time.sleep(0.2)
        if "停" in document.text:
            time.sleep(600)
        corrected = super().correct_document(document)
        if "谁" in document.text:
            return CorrectedDocument(document, corrected.corrections, corrected.suggestions, os.getpid())
        return corrected


def make(settings: Settings) -> Obedient:
    """Opens it; the model ``none`` is not there, and the model ``deadly`` kills whoever opens it."""
    if settings.model == "none":
        raise ModelError("none", "no such model")
    if settings.model == "deadly":
        os._exit(3)
    assert settings.threads == 1
    return Obedient(SURE, min_confidence=settings.min_confidence)
