"""Runs PyTorch checkpoints (``ElectraForPreTraining`` and ``ElectraForMaskedLM``) through transformers.

The only inference module that needs the ``[torch]`` extra; it imports torch and transformers when a network is loaded.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from corrector.electra.batching import Batch, Longs, check_lengths, run_discriminator, run_generator
from corrector.electra.marks import PLAIN_MARKS
from corrector.electra.runtime import Encoding, Floats, Reading
from corrector.errors import ModelError

if TYPE_CHECKING:
    from corrector.electra.model import ModelDirectory, Network

ALTERNATIVE = "electra.alternative.weight"
"""The matrix (hidden, embedding) that takes the vector of an alternative to the layers, in the files of networks that know them."""


class TorchRuntime:
    """A ``Runtime`` over a PyTorch pair in evaluation mode, without gradients; each network is loaded when first asked.

    Token types reach only networks trained with marks. ``threads`` other than 0 sets torch's number of threads for the
    whole process. Threads that share it take turns: loading and hooks are no business of two at once.
    """

    callers = 1  # PyTorch spreads each batch over its own threads

    def __init__(self, model: ModelDirectory, threads: int = 0) -> None:
        self.model = model
        self.threads = threads
        self.pad_id = model.tokenizer.pad_id
        self._turn = Lock()

    def read(self, encodings: Sequence[Encoding]) -> list[Reading]:
        """See ``Runtime``. Raises ModelError for a window longer than the model's positions."""
        check_lengths(encodings, self.model.discriminator.setting("max_position_embeddings"), self.model.name)
        with self._turn:
            return run_discriminator(encodings, self.pad_id, self._forward_discriminator)

    def glance(self, encodings: Sequence[Encoding]) -> list[Reading | None]:
        """See ``Runtime``; no such network has a gate."""
        return [*self.read(encodings)]

    def log_probabilities(
        self, encodings: Sequence[Encoding], positions: Sequence[Sequence[int]], readings: Sequence[Reading] | None = None
    ) -> list[Floats]:
        """See ``Runtime``; the readings are not needed. Raises ModelError for a window longer than the model's positions."""
        network = self.model.generator
        check_lengths(encodings, network.setting("max_position_embeddings"), self.model.name)
        vocabulary_size = network.setting("vocab_size") or 0
        with self._turn:
            return run_generator(encodings, positions, self.pad_id, vocabulary_size, self._forward_generator)

    def _forward_discriminator(self, batch: Batch) -> Floats:
        network = self._discriminator  # loaded first: it reports a missing torch
        import torch

        with torch.inference_mode():
            logits = _run(network, network, batch, self.model.discriminator).logits  # (batch, length)
        return np.asarray(logits.float().numpy(), dtype=np.float32)

    def _forward_generator(self, batch: Batch, flat: Longs) -> Floats:
        """The vocabulary-wide head runs only at the positions asked, not at every token."""
        network = self._generator
        import torch

        with torch.inference_mode():
            hidden = _run(network.electra, network, batch, self.model.generator).last_hidden_state
            chosen = hidden.reshape(-1, hidden.shape[-1])[torch.from_numpy(flat)]  # (n, hidden)
            logits = network.generator_lm_head(network.generator_predictions(chosen))  # (n, vocabulary)
        return np.asarray(logits.float().numpy(), dtype=np.float32)

    @cached_property
    def _discriminator(self) -> Any:
        return _load("ElectraForPreTraining", self.model.discriminator, self.threads)

    @cached_property
    def _generator(self) -> Any:
        return _load("ElectraForMaskedLM", self.model.generator, self.threads)


def _run(part: Any, loaded: Any, batch: Batch, network: Network) -> Any:
    """What a network, or a part of it, makes of a batch. What alternatives tell is added behind its back to the projected embeddings."""
    import torch

    types = torch.from_numpy(batch.types if network.reads_types else np.zeros_like(batch.types))
    ids, mask = torch.from_numpy(batch.ids), torch.from_numpy(batch.mask)
    if not network.reads_alternatives:
        return part(input_ids=ids, attention_mask=mask, token_type_ids=types)
    alternatives = types // PLAIN_MARKS
    vectors = loaded.electra.embeddings.word_embeddings(alternatives) * (alternatives > 0)[..., None]
    told = vectors @ loaded.alternative.t()
    hook = loaded.electra.embeddings_project.register_forward_hook(lambda _, __, projected: projected + told)
    try:
        return part(input_ids=ids, attention_mask=mask, token_type_ids=types % PLAIN_MARKS)
    finally:
        hook.remove()


def _load(architecture: str, network: Network, threads: int) -> Any:
    """A transformers model in evaluation mode. Raises ModelError if a weight it needs is not in the file."""
    try:
        import torch
        import transformers
    except ImportError as error:
        message = "a PyTorch checkpoint, which needs PyTorch and transformers; install electra-correct[torch]"
        raise ModelError(network.path, message) from error
    if threads:
        torch.set_num_threads(threads)
    try:
        with _quiet_transformers():
            loaded, report = getattr(transformers, architecture).from_pretrained(
                str(network.path), local_files_only=True, output_loading_info=True
            )
    except Exception as error:  # OSError, RuntimeError, pickle and safetensors errors: all mean a damaged checkpoint
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(network.weights, f"cannot be loaded ({reason}); fetch the checkpoint again") from error
    missing = sorted(report["missing_keys"])
    if missing:
        message = f"no weights for {', '.join(missing[:3])}; {architecture} needs the checkpoint with its own head"
        raise ModelError(network.weights, message)
    if network.reads_alternatives:
        loaded.register_buffer("alternative", _alternative(network))
    return loaded.float().eval()


def _alternative(network: Network) -> Any:
    """The matrix for alternatives, which transformers leaves unread: (hidden, embedding)."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(network.weights), framework="pt") as weights:
            return weights.get_tensor(ALTERNATIVE)
    except (OSError, SafetensorError) as error:
        raise ModelError(network.weights, f"has no {ALTERNATIVE} ({error}); export the model again") from error


@contextlib.contextmanager
def _quiet_transformers() -> Iterator[None]:
    """Keep progress bars and advice of transformers off the terminal, and anything it prints off standard output."""
    import transformers

    logging: Any = transformers.utils.logging
    verbosity, had_progress = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        logging.set_verbosity(verbosity)
        if had_progress:
            logging.enable_progress_bar()
