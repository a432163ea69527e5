"""The mean of networks that share a beginning: often better than any of them (Wortsman et al. 2022, "Model soups")."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corrector.errors import ModelError
from corrector.train import checkpoint, ledger


def average(paths: Sequence[Path], out: Path) -> None:
    """Write ``out/checkpoint.pt``, whose networks are the means of these checkpoints', for a run to begin from or to export; and the
    ledger of the last one, with a note.

    Raises ModelError for a checkpoint that cannot be read or whose networks have another shape than the last one's.
    """
    states = [checkpoint.load(path) for path in paths]
    last = states[-1]
    for path, state in zip(paths, states, strict=True):
        if _shapes(state) != _shapes(last):
            raise ModelError(path, f"its networks have another shape than those of {paths[-1]}; average runs of one shape")
    record = ledger.noted(paths[-1], averaged=[state["tokens"] for state in states])
    networks = {}
    for name, weights in last["model"].items():
        together = [state["model"][name] for state in states]
        networks[name] = sum(together) / len(together) if weights.is_floating_point() else weights
    checkpoint.save(out / "checkpoint.pt", last | {"model": networks})
    ledger.write(out, record)


def _shapes(state: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(weights.shape) for name, weights in state["model"].items()}
