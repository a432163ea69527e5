"""Checkpoints: everything needed to go on exactly, written to a temporary file and renamed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch

from corrector.errors import ModelError
from corrector.train.config import TrainConfig, from_mapping

_PROJECTION, _ALTERNATIVE = "encoder.project.weight", "alternative.weight"


def save(path: Path, state: dict[str, Any]) -> None:
    """Replace ``path`` by ``state`` in one step; a crash leaves the old file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    torch.save(state, temporary)
    os.replace(temporary, path)


def load(path: Path) -> dict[str, Any]:
    """Read a checkpoint written by ``save``. Raises ModelError if it is missing or damaged.

    Networks trained by version 0.8 or earlier know no alternatives: here they get a matrix that makes nothing of them, and lose the
    state of their optimiser, which has nothing for it.
    """
    if not path.exists():
        raise ModelError(path, "no checkpoint there; run pretrain first")
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=False)
    except Exception as error:
        raise ModelError(path, f"cannot be read as a checkpoint ({error})") from error
    networks = state["model"]
    if _ALTERNATIVE not in networks and _PROJECTION in networks:
        networks[_ALTERNATIVE] = torch.zeros_like(networks[_PROJECTION])
        state["optimizer"] = None
    return state


def config_in(state: dict[str, Any], path: Path) -> TrainConfig:
    """The settings of the run that wrote the checkpoint ``state`` at ``path``. Raises ConfigError for ones that this version has not."""
    return from_mapping(json.loads(state["config"]), str(path))
