"""Runs the own model directories with onnxruntime, which is imported when the first network is needed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from corrector.electra.batching import ALONE, Batch, Longs, check_lengths, run_discriminator, run_generator
from corrector.electra.runtime import Encoding, Floats
from corrector.errors import ModelError

if TYPE_CHECKING:
    from corrector.electra.model import ModelDirectory, Network

_ERRORS_ONLY = 3  # onnxruntime's log level


class OnnxRuntime:
    """A ``Runtime`` over two ONNX files; each session is created when first asked, so clean text loads one of them.

    Every window runs by itself, ``threads`` of them side by side, so that a result depends on its window alone.

    Both networks take int64 ``input_ids``, ``attention_mask`` and ``token_type_ids`` of shape (batch, length). The
    discriminator gives ``logits`` (batch, length); the generator also takes ``positions`` (n,), flat indexes into
    batch × length, and gives ``logits`` (n, vocabulary).
    """

    def __init__(self, model: ModelDirectory, threads: int = 0) -> None:
        self.model = model
        self.threads = threads or usable_cores()
        self.pad_id = model.tokenizer.pad_id

    def replaced_logits(self, encodings: Sequence[Encoding]) -> list[Floats]:
        """See ``Runtime``. Raises ModelError for a window longer than the model's positions."""
        network = self.model.discriminator
        check_lengths(encodings, network.setting("max_position_embeddings"), self.model.name)

        session = self._discriminator

        def forward(batch: Batch) -> Floats:
            return _run(session, network, _inputs(batch))

        return run_discriminator(encodings, self.pad_id, forward, ALONE, self.threads)

    def log_probabilities(self, encodings: Sequence[Encoding], positions: Sequence[Sequence[int]]) -> list[Floats]:
        """See ``Runtime``. Raises ModelError for a window longer than the model's positions."""
        network = self.model.generator
        check_lengths(encodings, network.setting("max_position_embeddings"), self.model.name)

        if not any(map(len, positions)):
            return [np.zeros((0, network.setting("vocab_size") or 0), dtype=np.float32) for _ in encodings]
        session = self._generator

        def forward(batch: Batch, flat: Longs) -> Floats:
            return _run(session, network, _inputs(batch) | {"positions": flat})

        size = network.setting("vocab_size") or 0
        return run_generator(encodings, positions, self.pad_id, size, forward, ALONE, self.threads)

    @cached_property
    def _discriminator(self) -> Any:
        return _session(self.model.discriminator)

    @cached_property
    def _generator(self) -> Any:
        return _session(self.model.generator)


def usable_cores() -> int:
    """The cores this process may use, which in a container are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _inputs(batch: Batch) -> dict[str, Longs]:
    return {"input_ids": batch.ids, "attention_mask": batch.mask, "token_type_ids": batch.types}


def _session(network: Network) -> Any:
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # windows run side by side instead: small products gain little from threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    try:
        return onnxruntime.InferenceSession(str(network.weights), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common public base
        message = f"onnxruntime cannot load it ({_first_line(error)}); install or copy the model again"
        raise ModelError(network.weights, message) from error


def _run(session: Any, network: Network, inputs: dict[str, Longs]) -> Floats:
    try:
        logits: Floats = session.run(["logits"], inputs)[0]
    except Exception as error:
        message = f"onnxruntime cannot run it ({_first_line(error)}); use the model this version came with"
        raise ModelError(network.weights, message) from error
    return logits


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
