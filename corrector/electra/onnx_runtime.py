"""Runs the own model directories with onnxruntime, which is imported when the first network is needed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from corrector.electra.batching import check_lengths, check_positions, log_softmax
from corrector.electra.runtime import Encoding, Floats, Reading
from corrector.errors import ModelError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from corrector.electra.model import ModelDirectory, Network

GLANCE, READ = "at_a_glance", "is_read"
"""An input of a discriminator with a gate, whether to mind it, and an output, whether it let the window through (``train/gate.py``)."""

_READING = ("logits", "states")
_ERRORS_ONLY = 3  # onnxruntime's log level
_SLOWER = ("SkipLayerNormFusion",)  # measured: the fused kernel takes four times as long as the sum and the norm that it replaces


class OnnxRuntime:
    """A ``Runtime`` over two ONNX files; each session is created when first asked, so clean text loads one of them.

    The discriminator takes int64 ``input_ids`` and ``token_type_ids`` of shape (batch, length), exported by version 0.4 or earlier
    also an ``attention_mask``, one with a gate the bool ``GLANCE``. It gives ``logits`` (batch, length) and its encoder's ``states``
    (batch, length, hidden), with a gate ``READ``. The generator is a head on the same encoder: it takes ``states`` (n, hidden) and
    gives ``logits`` (n, vocabulary).

    Every window runs by itself, unpadded, on one core: int8 scales its activations over everything given at once, so that
    in a batch a window's result would depend on its neighbours. As many threads as there are cores may call it at the same
    time (onnxruntime releases the interpreter lock); ``threads`` says how many other than that.
    """

    def __init__(self, model: ModelDirectory, threads: int = 0) -> None:
        self.model = model
        self.callers = threads or usable_cores()
        self._opening = Lock()
        self._sessions: dict[Path, Any] = {}

    def read(self, encodings: Sequence[Encoding]) -> list[Reading]:
        """See ``Runtime``. Raises ModelError for a window longer than the model's positions."""
        self._check(encodings)
        return [self._read(encoding) for encoding in encodings]

    def glance(self, encodings: Sequence[Encoding]) -> list[Reading | None]:
        """See ``Runtime``. Raises ModelError for a window longer than the model's positions."""
        self._check(encodings)
        if GLANCE not in self._inputs:
            return [*self.read(encodings)]
        found = [self._run_discriminator(encoding, [*_READING, READ], True) for encoding in encodings]
        return [Reading(logits[0], states[0]) if read else None for logits, states, read in found]

    def log_probabilities(
        self, encodings: Sequence[Encoding], positions: Sequence[Sequence[int]], readings: Sequence[Reading] | None = None
    ) -> list[Floats]:
        """See ``Runtime``. Raises ModelError for a window longer than the model's positions."""
        self._check(encodings)
        check_positions(encodings, positions)
        results = [np.zeros((0, self.model.generator.setting("vocab_size") or 0), dtype=np.float32)] * len(encodings)
        for index, (encoding, wanted) in enumerate(zip(encodings, positions, strict=True)):
            if not len(wanted):
                continue
            reading = self._read(encoding) if readings is None else readings[index]
            assert reading.states is not None
            given = {"states": reading.states[list(wanted)]}
            results[index] = log_softmax(_run(self._generator, self.model.generator, ["logits"], given)[0])
        return results

    def _read(self, encoding: Encoding) -> Reading:
        logits, states = self._run_discriminator(encoding, _READING, False)
        return Reading(logits[0], states[0])

    def _run_discriminator(self, encoding: Encoding, outputs: Sequence[str], at_a_glance: bool) -> list[Any]:
        inputs: dict[str, Any] = discriminator_inputs(encoding, "attention_mask" in self._inputs)
        if GLANCE in self._inputs:
            inputs[GLANCE] = np.array(at_a_glance)
        return _run(self._discriminator, self.model.discriminator, outputs, inputs)

    def _check(self, encodings: Sequence[Encoding]) -> None:
        check_lengths(encodings, self.model.discriminator.setting("max_position_embeddings"), self.model.name)

    @property
    def _discriminator(self) -> Any:
        return self._session(self.model.discriminator)

    @cached_property
    def _inputs(self) -> frozenset[str]:
        """The names of what the discriminator takes."""
        return frozenset(item.name for item in self._discriminator.get_inputs())

    @property
    def _generator(self) -> Any:
        return self._session(self.model.generator)

    def _session(self, network: Network) -> Any:
        """Its session, created when first asked for, by one thread only."""
        if network.weights not in self._sessions:
            with self._opening:
                if network.weights not in self._sessions:
                    self._sessions[network.weights] = _session(network)
        return self._sessions[network.weights]


def discriminator_inputs(encoding: Encoding, with_mask: bool) -> dict[str, NDArray[np.int64]]:
    """What a discriminator is given to read one window."""
    inputs = {"input_ids": encoding.ids[None].astype(np.int64), "token_type_ids": encoding.types[None].astype(np.int64)}
    if with_mask:
        inputs["attention_mask"] = np.ones_like(inputs["input_ids"])
    return inputs


def usable_cores() -> int:
    """The cores this process may use, which in a container are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _session(network: Network) -> Any:
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # small products gain little from threads; windows side by side do
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    try:
        return onnxruntime.InferenceSession(
            str(network.weights), options, providers=["CPUExecutionProvider"], disabled_optimizers=list(_SLOWER)
        )
    except Exception as error:  # onnxruntime's errors have no common public base
        message = f"onnxruntime cannot load it ({_first_line(error)}); install or copy the model again"
        raise ModelError(network.weights, message) from error


def _run(session: Any, network: Network, outputs: Sequence[str], inputs: Mapping[str, Any]) -> list[Floats]:
    try:
        found: list[Floats] = session.run(outputs, inputs)
    except Exception as error:
        message = f"onnxruntime cannot run it ({_first_line(error)}); use the model this version came with"
        raise ModelError(network.weights, message) from error
    return found


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
