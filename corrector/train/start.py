"""What ``--from`` names: a checkpoint of a run, or a model."""

from __future__ import annotations

from pathlib import Path


def is_checkpoint(start: Path) -> bool:
    """Whether it is a checkpoint, which is a file, there or not."""
    return start.is_file() or start.suffix == ".pt"
