"""A run of training: step after step, with checkpoints and ``metrics.jsonl`` on the way, until the end or a signal."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from corrector.electra.marks import MarkTables
from corrector.errors import ModelError
from corrector.train import checkpoint
from corrector.train.ahead import Ahead
from corrector.train.batches import Batch, Source
from corrector.train.config import TrainConfig, to_json
from corrector.train.learner import Drawn, Learner, Pending
from corrector.train.model import JointElectra
from corrector.train.noise import Noise
from corrector.train.stopping import stopping
from corrector.train.workers import Workers

Numbers = dict[str, float]

Share = Callable[[int, int, int], None]
"""(number, count, seed): from here on the source gives only what is for worker ``number`` of ``count``."""

_Place = tuple[Any, Mapping[str, Any]]
_Made = tuple[Batch | Drawn, _Place]


class Trainer(Learner):
    """A learner and its run, which goes on until ``total_tokens``, or for ``total_seconds``."""

    def __init__(
        self, config: TrainConfig, model: JointElectra, noise: Noise, marks: tuple[MarkTables, ...], specials: int, source: Source,
        share: Share = lambda *_: None, vocabulary: str = "",
    ) -> None:  # fmt: skip
        super().__init__(config, model, noise, marks, specials, source)
        self.share, self.vocabulary = share, vocabulary

    def run(
        self, out: Path, position: Callable[[], Any], say: Callable[[str], None], dev: Callable[[], Numbers] | None = None
    ) -> None:
        """Train to the end or until a signal; checkpoint on the way and at the end. ``position`` is the data stream's state,
        ``dev`` what is measured every ``dev_tokens`` and at the end (``dev.jsonl``).

        SIGINT, SIGTERM and SIGHUP are heeded after a step, when the checkpoint is written.
        """
        out.mkdir(parents=True, exist_ok=True)
        saved = logged = now = time.monotonic()
        since, sums, before, measured = 0, Pending(), self.tokens, self.tokens

        def here() -> _Place:
            return position(), self.rng.bit_generator.state

        place = here()  # where the data that was learned from ends: what was drawn ahead is drawn again
        ahead = not any(self.in_context(self.config.batch_tokens))
        with stopping() as stop, self._windows(here, ahead) as windows:
            while self.tokens < self.total_tokens() and stop.signal is None:
                drawn, place = windows.take()
                for name, value in self.learn(drawn).items():
                    sums[name] = sums[name] + value if name in sums else value
                if not ahead:
                    place = here()
                since += 1
                last, now = now, time.monotonic()
                self.seconds += now - last
                if since == self.config.log_steps:
                    record = {name: round(value.item() / since, 5) for name, value in sums.items()}
                    record |= {"step": self.step, "tokens": self.tokens, "length": _length_of(drawn)}
                    record["tokens_per_second"] = round((self.tokens - before) / (now - logged))
                    if isinstance(windows, Workers):
                        record["repeated"] = windows.repeated
                    _add_line(out / "metrics.jsonl", record, say)
                    since, sums, logged, before = 0, {}, now, self.tokens
                if dev and self.tokens // self.config.dev_tokens > measured // self.config.dev_tokens:
                    self._measure(out, dev, say)
                    measured, logged = self.tokens, logged + time.monotonic() - now
                if now - saved > self.config.checkpoint_seconds:
                    self.save(out / "checkpoint.pt", *place)
                    saved = now
            self.save(out / "checkpoint.pt", *place)
            if dev and self.tokens > measured and stop.signal is None:
                self._measure(out, dev, say)

    def _windows(self, here: Callable[[], _Place], ahead: bool) -> Ahead[_Made] | Workers[_Made]:
        if not self.config.workers:
            return Ahead(lambda: (self.draw(), here()), ahead=ahead)
        start = here()

        def begin(number: int) -> Callable[[], _Made]:
            self.rng = np.random.default_rng((self.config.seed, self.tokens, number))
            self.share(number, self.config.workers, self.config.seed + self.tokens)

            def make() -> _Made:
                self.drawn = self.learned.value  # the others draw, too, and what they drew may be repeated
                return self.draw(), start

            return make

        return Workers(begin, self.config.workers, self.config.repeats, self._received)

    def _received(self, made: _Made) -> _Made:
        """What a worker made, on the device. Nothing that is learned from has to wait for the copy."""
        drawn, place = made
        return (Batch(*map(self._copied, drawn)), place) if isinstance(drawn, Batch) else made

    def _copied(self, array: Any) -> Tensor | None:
        if array is None:
            return None
        tensor = torch.as_tensor(array)
        return tensor if self.config.device == "cpu" else tensor.pin_memory().to(self.config.device, non_blocking=True)

    def _measure(self, out: Path, dev: Callable[[], Numbers], say: Callable[[str], None]) -> None:
        _add_line(out / "dev.jsonl", {"tokens": self.tokens, "step": self.step} | dev(), say)

    def save(self, path: Path, position: Any, rng: Mapping[str, Any] | None = None) -> None:
        """Write a checkpoint to go on from at this position in the data and this state of the random generator (default: its own)."""
        state = {
            "config": to_json(self.config), "vocabulary": self.vocabulary,
            "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "scaler": self.scaler.state_dict(),
            "tokens": self.tokens, "step": self.step, "seconds": self.seconds,
            "rng": rng or self.rng.bit_generator.state, "torch_rng": self.torch_rng.get_state(), "position": position,
        }  # fmt: skip
        checkpoint.save(path, state)

    def restore(self, state: dict[str, Any]) -> Any:
        """Go on from a checkpoint; returns the data position. Raises ModelError for one that only a new run can begin from."""
        if state["optimizer"] is None:
            why = "its networks were changed (averaged, grown, pruned, revived), or are of version 0.8 or earlier"
            message = f"has no optimiser to go on with, as {why}; begin a new run in another --out with --from"
            raise ModelError(Path(self.config.out) / "checkpoint.pt", message)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        if state.get("scaler"):  # not in a run that had none
            self.scaler.load_state_dict(state["scaler"])
        self.tokens, self.step = state["tokens"], state["step"]
        self.drawn = self.learned.value = self.tokens
        self.seconds = state.get("seconds", 0.0)  # not in one of version 0.29.1 or earlier
        self.rng.bit_generator.state = state["rng"]
        self.torch_rng.set_state(state["torch_rng"])
        return state["position"]


def _length_of(drawn: Batch | Drawn) -> int:
    """Tokens of a window."""
    return int((drawn.corrupted if isinstance(drawn, Drawn) else drawn.ids).shape[1])


def _add_line(path: Path, record: Mapping[str, Any], say: Callable[[str], None]) -> None:
    """Put these numbers at the end of a file of JSON lines, and say them."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    say(" ".join(f"{name} {value}" for name, value in record.items()))
