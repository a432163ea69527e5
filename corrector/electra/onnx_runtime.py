"""Runs the own model directories with onnxruntime, which is imported when the first network is needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from corrector.electra.batching import check_lengths, check_positions, log_softmax
from corrector.electra.runtime import Encoding, Floats, Reading
from corrector.errors import ModelError

if TYPE_CHECKING:
    from corrector.electra.model import ModelDirectory, Network

_ERRORS_ONLY = 3  # onnxruntime's log level
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class OnnxRuntime:
    """A ``Runtime`` over two ONNX files; each session is created when first asked, so clean text loads one of them.

    The discriminator takes int64 ``input_ids``, ``attention_mask`` and ``token_type_ids`` of shape (batch, length) and gives
    ``logits`` (batch, length) and its encoder's ``states`` (batch, length, hidden). The generator is a head on the same
    encoder: it takes ``states`` (n, hidden) and gives ``logits`` (n, vocabulary).

    Every window runs by itself, unpadded, ``threads`` of them side by side: int8 scales its activations over everything
    given at once, so that in a batch a window's result would depend on its neighbours.
    """

    def __init__(self, model: ModelDirectory, threads: int = 0) -> None:
        self.model = model
        self.threads = threads or usable_cores()

    def read(self, encodings: Sequence[Encoding]) -> list[Reading]:
        """See ``Runtime``. Raises ModelError for a window longer than the model's positions."""
        self._check(encodings)
        self._discriminator  # noqa: B018 - opened before the threads ask for it
        return list(self._side_by_side(self._read, encodings))

    def log_probabilities(
        self, encodings: Sequence[Encoding], positions: Sequence[Sequence[int]], readings: Sequence[Reading] | None = None
    ) -> list[Floats]:
        """See ``Runtime``. Raises ModelError for a window longer than the model's positions."""
        self._check(encodings)
        check_positions(encodings, positions)
        results = [np.zeros((0, self.model.generator.setting("vocab_size") or 0), dtype=np.float32)] * len(encodings)
        asked = [index for index, wanted in enumerate(positions) if len(wanted)]
        if not asked:
            return results
        self._discriminator, self._generator  # noqa: B018

        def propose(index: int) -> Floats:
            reading = self._read(encodings[index]) if readings is None else readings[index]
            assert reading.states is not None
            given = {"states": reading.states[list(positions[index])]}
            return log_softmax(_run(self._generator, self.model.generator, ["logits"], given)[0])

        for index, found in zip(asked, self._side_by_side(propose, asked), strict=True):
            results[index] = found
        return results

    def _read(self, encoding: Encoding) -> Reading:
        ids, types = (part[None].astype(np.int64) for part in (encoding.ids, encoding.types))
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
        logits, states = _run(self._discriminator, self.model.discriminator, ["logits", "states"], inputs)
        return Reading(logits[0], states[0])

    def _check(self, encodings: Sequence[Encoding]) -> None:
        check_lengths(encodings, self.model.discriminator.setting("max_position_embeddings"), self.model.name)

    def _side_by_side(self, work: Callable[[_Item], _Result], items: Sequence[_Item]) -> Iterator[_Result]:
        """``map`` in order, over threads when there are several of both (onnxruntime releases the interpreter lock)."""
        if self.threads == 1 or len(items) < 2:
            yield from map(work, items)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            yield from pool.map(work, items)

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


def _run(session: Any, network: Network, outputs: Sequence[str], inputs: Mapping[str, Any]) -> list[Floats]:
    try:
        found: list[Floats] = session.run(outputs, inputs)
    except Exception as error:
        message = f"onnxruntime cannot run it ({_first_line(error)}); use the model this version came with"
        raise ModelError(network.weights, message) from error
    return found


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
