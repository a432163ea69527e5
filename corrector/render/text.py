"""The corrected text itself."""

from __future__ import annotations

from corrector.apply import corrected_text
from corrector.types import CorrectedDocument


def render_text(corrected: CorrectedDocument) -> str:
    """The document's text with its corrections made and its line ends as they were."""
    return corrected_text(corrected)
