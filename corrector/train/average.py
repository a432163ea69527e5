"""The mean of networks that share a beginning: often better than any of them (Wortsman et al. 2022, "Model soups")."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from corrector.errors import ModelError
from corrector.train import checkpoint, ledger


def average(paths: Sequence[Path], out: Path) -> None:
    """Write ``out/checkpoint.pt``, whose networks are the means of these checkpoints', for a run to begin from or to export; and the
    ledger of the last one, with a note, and before it the runs that led to the others only.

    Raises ModelError for a checkpoint that cannot be read or whose networks have another shape or vocabulary than the last one's,
    ConfigError for one with settings that this version has not.
    """
    checkpoint.check_apart(out, paths)
    states = [checkpoint.load(path) for path in paths]
    last = states[-1]
    for path, state in zip(paths, states, strict=True):
        if _shapes(state) != _shapes(last):
            raise ModelError(path, f"its networks have another shape than those of {paths[-1]}; average runs of one shape")
        if state.get("vocabulary") and last.get("vocabulary") and state["vocabulary"] != last["vocabulary"]:
            raise ModelError(path, f"was trained with another vocabulary than {paths[-1]}; average runs on one folder of text")
    led = [ledger.runs(path, checkpoint.config_in(state, path), state["tokens"]) for path, state in zip(paths, states, strict=True)]
    record = ledger.noted(paths[-1], averaged=[state["tokens"] for state in states])
    record["earlier"] += _runs_besides(led[-1], led[:-1])
    networks = {}
    for name, weights in last["model"].items():
        together = [state["model"][name] for state in states]
        networks[name] = sum(together) / len(together) if weights.is_floating_point() else weights
    checkpoint.save(out / "checkpoint.pt", checkpoint.with_networks(last, networks))
    ledger.write(out, record)


def _shapes(state: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(weights.shape) for name, weights in state["model"].items()}


def _runs_besides(own: Sequence[dict[str, Any]], others: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The runs in ``others`` that are not in ``own``, each once; an earlier state of a run, or one averaged since, is the same run."""
    besides: list[dict[str, Any]] = []
    for run in chain.from_iterable(others):
        if _settings(run) not in map(_settings, chain(own, besides)):
            besides.append(run)
    return besides


def _settings(run: Mapping[str, Any]) -> str:
    """As JSON, as a ledger that was read has lists where a run's own record has tuples."""
    return json.dumps({key: value for key, value in run.items() if key not in ("tokens", *ledger.NOTES)}, sort_keys=True)
