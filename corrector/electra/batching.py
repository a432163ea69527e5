"""Windows of any length to padded batches of similar length, and results back into input order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corrector.electra.runtime import Encoding, Floats, Reading
from corrector.errors import ModelError

Longs = NDArray[np.int64]

TOKEN_BUDGET = 4096
"""Tokens in a batch, padding included: large enough to keep two cores busy, small enough to stay within tens of MB."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded windows: ``ids``, ``mask`` (1 for tokens, 0 for padding) and ``types`` have shape (batch, length).

    ``indexes`` tells which input window each row is.
    """

    indexes: tuple[int, ...]
    ids: Longs
    mask: Longs
    types: Longs


def batches(encodings: Sequence[Encoding], pad_id: int, token_budget: int = TOKEN_BUDGET) -> Iterator[Batch]:
    """Yield every window once, longest first, in batches of at most ``token_budget`` tokens (or one longer window).

    A batch holds similar lengths: padding is at most an eighth of the longest window, or eight tokens.
    """
    order = sorted(range(len(encodings)), key=lambda index: -len(encodings[index].ids))
    start = 0
    while start < len(order):
        longest = len(encodings[order[start]].ids)
        shortest = longest - max(8, longest // 8)
        end = start + 1
        while (
            end < len(order)
            and (end - start + 1) * longest <= token_budget
            and len(encodings[order[end]].ids) >= shortest
        ):
            end += 1
        yield _padded(encodings, tuple(order[start:end]), longest, pad_id)
        start = end


def _padded(encodings: Sequence[Encoding], indexes: tuple[int, ...], length: int, pad_id: int) -> Batch:
    ids = np.full((len(indexes), length), pad_id, dtype=np.int64)
    mask, types = np.zeros_like(ids), np.zeros_like(ids)
    for row, index in enumerate(indexes):
        encoding = encodings[index]
        count = len(encoding.ids)
        ids[row, :count], types[row, :count], mask[row, :count] = encoding.ids, encoding.types, 1
    return Batch(indexes, ids, mask, types)


def run_discriminator(encodings: Sequence[Encoding], pad_id: int, forward: Callable[[Batch], Floats]) -> list[Reading]:
    """The reading of each window, from a ``forward`` that gives logits (batch, length)."""
    results = [Reading(np.zeros(0, dtype=np.float32))] * len(encodings)
    for batch in batches(encodings, pad_id):
        logits = forward(batch)
        for row, index in enumerate(batch.indexes):
            results[index] = Reading(logits[row, : len(encodings[index].ids)])
    return results


def run_generator(
    encodings: Sequence[Encoding],
    positions: Sequence[Sequence[int]],
    pad_id: int,
    vocabulary_size: int,
    forward: Callable[[Batch, Longs], Floats],
) -> list[Floats]:
    """Log-probabilities per window, each of shape (positions, vocabulary).

    ``forward`` gives logits (n, vocabulary) at n flat indexes into batch × length. Windows without positions cost
    nothing. Raises ValueError for a position outside its window.
    """
    check_positions(encodings, positions)
    results: list[Floats] = [np.zeros((0, vocabulary_size), dtype=np.float32)] * len(encodings)
    asked = [index for index, wanted in enumerate(positions) if len(wanted)]
    for batch in batches([encodings[index] for index in asked], pad_id):
        windows = [asked[index] for index in batch.indexes]
        logits = forward(batch, _flat_positions(batch, windows, positions))
        start = 0
        for window in windows:
            end = start + len(positions[window])
            results[window] = log_softmax(logits[start:end])
            start = end
    return results


def _flat_positions(batch: Batch, windows: Sequence[int], positions: Sequence[Sequence[int]]) -> Longs:
    length = batch.ids.shape[1]
    flat = [row * length + position for row, window in enumerate(windows) for position in positions[window]]
    return np.array(flat, dtype=np.int64)


def log_softmax(logits: Floats) -> Floats:
    """Natural-log probabilities of each row: x - max - log Σ exp(x - max), which cannot overflow."""
    shifted: Floats = logits - logits.max(axis=-1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return shifted


def check_lengths(encodings: Sequence[Encoding], max_length_tokens: int | None, model: str) -> None:
    """Raise ModelError if a window has more tokens than the model has positions (``None``: not known)."""
    longest = max((len(encoding.ids) for encoding in encodings), default=0)
    if max_length_tokens is not None and longest > max_length_tokens:
        message = f"a window of {longest} tokens does not fit its {max_length_tokens} positions; cut the text shorter"
        raise ModelError(model, message)


def check_positions(encodings: Sequence[Encoding], positions: Sequence[Sequence[int]]) -> None:
    """Raise ValueError for a position outside its window."""
    for encoding, wanted in zip(encodings, positions, strict=True):
        if any(not 0 <= position < len(encoding.ids) for position in wanted):
            raise ValueError(f"a position of {list(wanted)} is outside a window of {len(encoding.ids)} tokens")
