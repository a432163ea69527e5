"""One step of training, for pre-training and fine-tuning alike: windows in, better networks out.

A step is (1) the masked generator on a share of the windows (its loss, its samples; no gradient through sampling), (2) errors that the
corrective head finds plausible in another share, (3) errors from the confusion tables in the rest, (4) replaced-token detection on every
token and the corrective head at the wrong, the masked and a few right places, (5) one optimiser step on the weighted sum (ELECTRA,
equation 3).
"""

from __future__ import annotations

import dataclasses
import sys
from multiprocessing.sharedctypes import RawValue
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from corrector.electra.marks import MarkTables
from corrector.errors import ConfigError
from corrector.train.batches import Arrays, Batch, BatchMaker, Rows, Source
from corrector.train.config import TrainConfig
from corrector.train.model import JointElectra
from corrector.train.noise import Noise

Pending = dict[str, Tensor]
"""Numbers of a step, which wait on the device until they are asked for."""


def learning_rate_at(tokens: int, config: TrainConfig) -> float:
    """Linear warm-up, constant, linear decay over the last ``decay_share`` of the run."""
    start = config.total_tokens * (1 - config.decay_share)
    if tokens < config.warmup_tokens:
        return config.learning_rate * (tokens + 1) / config.warmup_tokens
    if tokens < start or config.decay_share == 0:
        return config.learning_rate
    left = max(0.0, (config.total_tokens - tokens) / (config.total_tokens - start))
    return config.learning_rate * (config.decay_floor + (1 - config.decay_floor) * left)


class Drawn(NamedTuple):
    """The windows of one step, with their errors from the tables, in which the networks are still to make some."""

    rows: Rows
    corrupted: Arrays


class Learner:
    """Model, optimiser, noise, and where the windows come from: what a step needs and changes."""

    def __init__(
        self, config: TrainConfig, model: JointElectra, noise: Noise, marks: tuple[MarkTables, ...], specials: int, source: Source,
    ) -> None:  # fmt: skip
        self.config, self.noise, self.source = config, noise, source
        self.batches = BatchMaker(marks, specials, noise.mask_id, config.kept_share)
        torch.set_num_threads(config.threads)
        torch.set_float32_matmul_precision("high")
        self.model = model.to(_device(config))
        decay = [p for p in model.parameters() if p.ndim > 1]
        rest = [p for p in model.parameters() if p.ndim <= 1]
        groups = [{"params": decay, "weight_decay": config.weight_decay}, {"params": rest, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=config.learning_rate, betas=config.betas, fused=True)
        self.scaler = torch.amp.GradScaler(config.device, enabled=config.fp16)  # Micikevicius et al. 2018, "Mixed Precision Training"
        self.tokens, self.step = 0, 0
        self.drawn = 0  # tokens of the windows drawn so far: those learned from, and those of the next step if it is drawn ahead
        self.learned = RawValue("q", 0)  # tokens learned from, for the processes that draw
        self.rng = np.random.default_rng(config.seed)
        self.torch_rng = torch.Generator(device=config.device).manual_seed(config.seed)
        wrap = torch.compile if config.compile else (lambda function: function)
        self._heads: Any = wrap(self._heads_loss)
        self._generator: Any = wrap(self._generator_loss)
        self.seconds = 0.0  # spent on learning

    def length_at(self, tokens: int) -> int:
        return [length for start, length in self.config.stages if tokens >= start][-1]

    def train_step(self) -> dict[str, float]:
        """Draw and learn; returns the numbers to log."""
        return {name: value.item() for name, value in self.learn(self.draw()).items()}

    def in_context(self, count: int) -> tuple[int, int]:
        """How many of ``count`` windows, the first ones, get errors of the generator, and how many, after these, of the corrective head."""
        return round(count * self.noise.config.generator_windows), round(count * self.noise.config.head_windows)

    def draw(self) -> Batch | Drawn:
        """What the next step learns from, as far as the networks need not be asked, so that it can be done ahead."""
        length = self.length_at(self.drawn)
        rows = self.source(self.config.batch_tokens // length, length)
        original, given, folds, trusted = rows
        in_context = sum(self.in_context(len(original)))
        corrupted = original.copy()
        corrupted[in_context:] = self.noise.corrupt(original[in_context:], self.rng)
        labelled = given[:, 0] >= 0
        if labelled.any():
            corrupted[labelled] = self.noise.corrupt_labelled(original[labelled], given[labelled], self.rng)
        self.drawn += original.size
        return Drawn(rows, corrupted) if in_context else self.batches.make(original, corrupted, folds, trusted, self.rng)

    def learn(self, drawn: Batch | Drawn) -> Pending:
        """A step from what was drawn; returns the numbers to log."""
        self.optimizer.zero_grad(set_to_none=True)
        rate = learning_rate_at(self.tokens, dataclasses.replace(self.config, total_tokens=self.total_tokens()))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        made, numbers = self._in_context_too(drawn) if isinstance(drawn, Drawn) else (drawn, {})
        batch = Batch(*(None if array is None else self.tensor(array) for array in made))
        with self._autocast():
            loss, detection, logits, right = self._heads(
                batch.ids, batch.types, batch.mask, batch.replaced, batch.detection_weight,
                batch.positions, batch.targets, batch.correction_weight, batch.trusted,
            )  # fmt: skip
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.tokens += batch.ids.numel()
        self.learned.value = self.tokens
        self.step += 1
        flagged, replaced = (logits > 0) & (batch.detection_weight > 0), batch.replaced > 0
        hits = (flagged & replaced).sum()
        wrong = batch.correction_weight == 1.0
        return numbers | {
            "loss": loss.detach(),
            "detection_loss": detection,
            "detection_precision": hits / flagged.sum().clamp(min=1),
            "detection_recall": hits / replaced.sum().clamp(min=1),
            "correction_accuracy": (right & wrong).sum() / wrong.sum().clamp(min=1),
            "gradient_norm": norm.nan_to_num(0.0, 0.0),  # a step whose scaled losses overflowed is left out
        }

    def _in_context_too(self, drawn: Drawn) -> tuple[Batch, Pending]:
        """These windows with the errors that the networks make in them, and the numbers of the generator, which learns from its own."""
        (original, _, folds, trusted), corrupted = drawn
        numbers: Pending = {}
        generated, expected = self.in_context(len(original))
        plausible = slice(generated, generated + expected)
        if generated:
            corrupted[:generated], numbers = self._generate(original[:generated])
        if expected:
            corrupted[plausible] = self._plausible(original[plausible], folds[plausible])
        return self.batches.make(original, corrupted, folds, trusted, self.rng), numbers

    def tensor(self, array: Any) -> Tensor:
        """An array, or a tensor elsewhere, on the device."""
        return torch.as_tensor(array).to(self.config.device)

    def _autocast(self) -> Any:
        dtype = torch.float16 if self.config.fp16 else torch.bfloat16
        return torch.autocast(self.config.device, dtype=dtype, enabled=self.config.bf16 or self.config.fp16)

    def _heads_loss(
        self, ids: Tensor, types: Tensor, mask: Tensor | None, replaced: Tensor, detection_weight: Tensor,
        positions: Tensor, targets: Tensor, correction_weight: Tensor, trusted: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
        logits, characters = self.model(ids, types, mask, positions)
        if self.config.doubt < 1:
            doubted = (logits.detach().float().sigmoid() > self.config.doubt) & (replaced == 0) & ~trusted
            detection_weight = detection_weight.masked_fill(doubted, 0.0)
        detection = F.binary_cross_entropy_with_logits(logits.float(), replaced, weight=detection_weight, reduction="sum")
        detection = detection / detection_weight.sum().clamp(min=1.0)
        correction = F.cross_entropy(characters.float(), targets, reduction="none")
        correction = (correction * correction_weight).sum() / correction_weight.sum().clamp(min=1.0)
        loss = self.config.detection_weight * detection + self.config.correction_weight * correction
        return loss, detection.detach(), logits.detach(), (characters.detach().argmax(-1) == targets)

    def _generator_loss(self, ids: Tensor, positions: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        logits = self.model.generate(ids, positions).float()
        return self.config.generator_weight * F.cross_entropy(logits, targets), logits.detach()

    def _generate(self, original: Arrays) -> tuple[Arrays, Pending]:
        """Train the masked generator on these windows and put its samples into them."""
        masked, places = self.noise.mask_for_generator(original, self.rng)
        targets = original.reshape(-1)[places]
        with self._autocast():
            loss, logits = self._generator(self.tensor(masked), self.tensor(places), self.tensor(targets))
        self.scaler.scale(loss).backward()
        accuracy = (logits.argmax(-1) == self.tensor(targets)).float().mean()
        corrupted = self._sampled(original, places, logits)
        return corrupted, {"generator_loss": loss.detach(), "generator_accuracy": accuracy}

    @torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
    def _plausible(self, original: Arrays, folds: Arrays) -> Arrays:
        """These windows with other characters in some places, such as the corrective head would expect where it reads [MASK]."""
        masked, places = self.noise.mask_for_generator(original, self.rng)
        types = self.tensor(self.batches.types(masked, folds))
        with self._autocast():
            _, logits = self.model(self.tensor(masked), types, None, self.tensor(places))
        targets = self.tensor(original.reshape(-1)[places])
        return self._sampled(original, places, logits.float().scatter(1, targets[:, None], -1e4))

    def _sampled(self, original: Arrays, places: Arrays, logits: Tensor) -> Arrays:
        """The windows with samples from ``logits`` (places, vocabulary), weighed by similarity, in half of the flat ``places``."""
        targets = original.reshape(-1)[places]
        bias = torch.from_numpy(self.noise.similarity_bias(targets, self.rng)).to(self.config.device)
        noise = torch.rand(logits.shape, generator=self.torch_rng, device=self.config.device)
        samples = (logits + bias - torch.log(-torch.log(noise.clamp(1e-9, 1 - 1e-7)))).argmax(-1)  # Gumbel-max
        corrupted = original.reshape(-1).copy()
        keep = self.rng.random(len(places)) < 0.5  # half of the places are given back: fewer errors than the paper's
        keep |= ~self.noise.tables.is_han[targets]
        corrupted[places] = np.where(keep, targets, samples.cpu().numpy())
        return corrupted.reshape(original.shape)

    def total_tokens(self) -> int:
        """Of the whole run; where its time is limited, as many as there will be time for, going by what was learned in it so far."""
        if not self.config.total_seconds:
            return self.config.total_tokens
        share = self.seconds / self.config.total_seconds
        return round(self.tokens / share) if self.tokens and share else sys.maxsize


def _device(config: TrainConfig) -> torch.device:
    """The one to learn on. Raises ConfigError for one that is not there."""
    try:
        return torch.empty(0, device=config.device).device
    except (RuntimeError, AssertionError) as error:  # the latter where PyTorch was built without it
        reason = str(error).partition("\n")[0]
        raise ConfigError("config", "device", f"{config.device!r} cannot be used ({reason}); give cpu, or cuda with a GPU") from error
