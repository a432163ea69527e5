"""Checkpoints: everything needed to go on exactly, written to a temporary file and renamed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from corrector.electra.tokenizer import Tokenizer
from corrector.errors import InputError, ModelError
from corrector.train.config import TrainConfig, from_mapping

_KEYS = ("config", "model", "tokens")
_PROJECTION, _ALTERNATIVE, _CHARACTERS = "encoder.project.weight", "alternative.weight", "embeddings.word.weight"


def save(path: Path, state: dict[str, Any]) -> None:
    """Replace ``path`` by ``state`` in one step; a crash leaves the old file. Raises InputError where it cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        torch.save(state, temporary)
        os.replace(temporary, path)
    except (OSError, RuntimeError) as error:  # the latter is PyTorch's, for a disk that is full
        raise InputError(path, f"cannot be written ({error}); what was there before is kept: make room and go on from it") from error
    finally:
        temporary.unlink(missing_ok=True)


def check_apart(out: Path, read: Iterable[Path]) -> None:
    """Raise InputError if the checkpoint to be made in ``out`` would replace one that it is made of: then no run could go on from that."""
    made = out / "checkpoint.pt"
    if any(made.exists() and path.exists() and made.samefile(path) for path in read):
        raise InputError(made, "is what is read, and would be replaced; give --out another folder")


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
    if not isinstance(state, dict) or any(key not in state for key in _KEYS):
        raise ModelError(path, "not a checkpoint of this project; give one that `pretrain` or `finetune` wrote")
    networks = state["model"]
    if _ALTERNATIVE not in networks and _PROJECTION in networks:
        networks[_ALTERNATIVE] = torch.zeros_like(networks[_PROJECTION])
        state["optimizer"] = None
    return state


def with_networks(state: dict[str, Any], networks: dict[str, Any], config: str | None = None) -> dict[str, Any]:
    """The checkpoint with other networks, and settings as JSON; the optimiser knows nothing of these, so that a run can begin from
    them and not go on."""
    return state | {"model": networks, "optimizer": None, "config": config or state["config"]}


def check_vocabulary(state: dict[str, Any], path: Path, data: Path) -> None:
    """Raise ModelError unless the checkpoint ``state`` at ``path`` was trained on the vocabulary of the folder ``data``.

    Of one that was written by version 0.29.1 or earlier only the size is known.
    """
    ours = Tokenizer.load(data / "vocab.txt")
    size = len(state["model"][_CHARACTERS])
    if (state.get("vocabulary") or ours.checksum) != ours.checksum or size != len(ours.vocabulary):
        sizes = f" ({size:,} tokens, {len(ours.vocabulary):,} here)" if size != len(ours.vocabulary) else ""
        raise ModelError(path, f"was trained with another vocabulary than that of {data}{sizes}; give the --data it was trained on")


def config_in(state: dict[str, Any], path: Path) -> TrainConfig:
    """The settings of the run that wrote the checkpoint ``state`` at ``path``. Raises ConfigError for ones that this version has not."""
    return from_mapping(json.loads(state["config"]), str(path))
