"""What ``--from`` names: a checkpoint of a run, or a model."""

from __future__ import annotations

from pathlib import Path

from corrector.electra.model import ModelDirectory
from corrector.electra.model_dir import find_model

DEFAULT = "default"
"""The embedded model."""


def is_checkpoint(start: Path) -> bool:
    """Whether it is a checkpoint, which is a file, there or not."""
    return start.is_file() or start.suffix == ".pt"


def open_model(start: Path) -> ModelDirectory:
    """The model that it names. Raises ModelError as ``find_model`` does."""
    return find_model(None if str(start) == DEFAULT else start)
