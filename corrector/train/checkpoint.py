"""Checkpoints: everything needed to go on exactly, written to a temporary file and renamed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from corrector.errors import ModelError


def save(path: Path, state: dict[str, Any]) -> None:
    """Replace ``path`` by ``state`` in one step; a crash leaves the old file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    torch.save(state, temporary)
    os.replace(temporary, path)


def load(path: Path) -> dict[str, Any]:
    """Read a checkpoint written by ``save``. Raises ModelError if it is missing or damaged."""
    if not path.exists():
        raise ModelError(path, "no checkpoint there; run pretrain first")
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=False)
    except Exception as error:
        raise ModelError(path, f"cannot be read as a checkpoint ({error})") from error
    return state
