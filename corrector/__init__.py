"""Correct misspelt characters in Chinese text with a pair of ELECTRA models.

    >>> from corrector import Corrector, corrected_text
    >>> found = Corrector().correct("我今天很高形。")
    >>> corrected_text(found)
    '我今天很高兴。'
    >>> [(c.span.start, c.original, c.replacement) for c in found.corrections]
    [(5, '形', '兴')]

Importing the package loads nothing but this file; each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corrector.apply import corrected_text
    from corrector.errors import ConfigError, CorrectorError, EvalDataError, InputError, ModelError
    from corrector.pipeline import Corrector
    from corrector.types import Candidate, CorrectedDocument, Correction, Document, RankedCandidate, Reason, Span

__version__ = "0.40.0"

__all__ = [
    "Candidate",
    "ConfigError",
    "CorrectedDocument",
    "Correction",
    "Corrector",
    "CorrectorError",
    "Document",
    "EvalDataError",
    "InputError",
    "ModelError",
    "RankedCandidate",
    "Reason",
    "Span",
    "__version__",
    "corrected_text",
]

_MODULE_OF = {
    "Corrector": "corrector.pipeline",
    "corrected_text": "corrector.apply",
    **dict.fromkeys(
        ("ConfigError", "CorrectorError", "EvalDataError", "InputError", "ModelError"), "corrector.errors"
    ),
    **dict.fromkeys(
        ("Candidate", "CorrectedDocument", "Correction", "Document", "RankedCandidate", "Reason", "Span"),
        "corrector.types",
    ),
}


def __getattr__(name: str) -> Any:
    """The public name, loaded from the module that defines it. Raises AttributeError for any other."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
