"""What a model was trained on, run by run: written beside a checkpoint, collected into the manifest of a release."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from corrector.errors import ModelError
from corrector.train.config import TrainConfig

LEDGER = "ledger.json"
_LOCAL = ("data", "out", "threads", "workers", "compile", "checkpoint_seconds", "log_steps", "model")
"""Settings that say nothing about the result, and the network, which a manifest has once."""
NOTES = ("averaged", "pruned", "grown", "revived")
"""What may have been done after the run: tokens of the runs whose networks were averaged; units of a layer before and after
pruning; layers before and after growing; units of each layer that began anew."""


def run_record(config: TrainConfig, tokens: int) -> dict[str, Any]:
    """One run: tokens seen and the settings that decide the result."""
    settings = {key: value for key, value in dataclasses.asdict(config).items() if key not in _LOCAL}
    return {"tokens": tokens, **settings}


def write_ledger(
    out: Path, earlier: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]], pair_share: float
) -> None:
    """Write ``ledger.json`` of a fine-tuning run: the runs it goes on from, and its labelled sets."""
    write(out, {"earlier": list(earlier), "pairs": list(pairs), "pair_share": pair_share})


def write(out: Path, record: Mapping[str, Any]) -> None:
    """Write ``ledger.json`` as it is, with ``NOTES`` where there are any."""
    (out / LEDGER).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


def noted(checkpoint: Path, **notes: Sequence[int]) -> dict[str, Any]:
    """The ledger beside a checkpoint, or one of nothing, with ``NOTES`` of what was done to its networks since, to ``write``.

    Raises ModelError for one that cannot be read.
    """
    return (read(checkpoint) or {"earlier": [], "pairs": [], "pair_share": 0.0}) | notes


def runs(checkpoint: Path, config: TrainConfig, tokens: int) -> list[dict[str, Any]]:
    """All runs that led to a checkpoint, the first one first: from the ledger beside it, then its own.

    Raises ModelError for a ledger that cannot be read.
    """
    own, record = run_record(config, tokens), read(checkpoint)
    if record is None:
        return [own]
    return [*record["earlier"], own | {key: value for key, value in record.items() if key != "earlier"}]


def read(checkpoint: Path) -> dict[str, Any] | None:
    """The ledger beside a checkpoint, None if there is none. Raises ModelError for one that cannot be read."""
    path = checkpoint.parent / LEDGER
    if not path.is_file():
        return None
    try:
        record = json.loads(path.read_text("utf-8"))
        return {key: record[key] for key in ("earlier", "pair_share", "pairs", *(note for note in NOTES if note in record))}
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(path, f"cannot be read as a training ledger ({error!r}); remove it to go without") from error
