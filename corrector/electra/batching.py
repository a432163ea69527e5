"""Windows of any length to padded batches of similar length, and results back into input order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.electra.runtime import Encoding, Floats
from corrector.errors import ModelError

Longs = NDArray[np.int64]

TOKEN_BUDGET = 4096
"""Tokens in a batch, padding included: large enough to keep two cores busy, small enough to stay within tens of MB."""

ALONE = 1
"""A token budget that gives every window a batch of its own, unpadded: what int8 needs, whose activations are scaled over
the whole batch, so that a window's result would depend on its neighbours."""


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


def run_discriminator(
    encodings: Sequence[Encoding],
    pad_id: int,
    forward: Callable[[Batch], Floats],
    token_budget: int = TOKEN_BUDGET,
    workers: int = 1,
) -> list[Floats]:
    """Logits per window, each of shape (tokens,), from a ``forward`` that gives (batch, length); ``workers`` threads call it."""
    results: list[Floats] = [np.zeros(0, dtype=np.float32)] * len(encodings)
    made = list(batches(encodings, pad_id, token_budget))
    for batch, logits in zip(made, _each(forward, made, workers=workers), strict=True):
        for row, index in enumerate(batch.indexes):
            results[index] = logits[row, : len(encodings[index].ids)]
    return results


def run_generator(
    encodings: Sequence[Encoding],
    positions: Sequence[Sequence[int]],
    pad_id: int,
    vocabulary_size: int,
    forward: Callable[[Batch, Longs], Floats],
    token_budget: int = TOKEN_BUDGET,
    workers: int = 1,
) -> list[Floats]:
    """Log-probabilities per window, each of shape (positions, vocabulary).

    ``forward`` gives logits (n, vocabulary) at n flat indexes into batch × length. Windows without positions cost
    nothing. Raises ValueError for a position outside its window.
    """
    for encoding, wanted in zip(encodings, positions, strict=True):
        if any(not 0 <= position < len(encoding.ids) for position in wanted):
            raise ValueError(f"a position of {list(wanted)} is outside a window of {len(encoding.ids)} tokens")
    results: list[Floats] = [np.zeros((0, vocabulary_size), dtype=np.float32)] * len(encodings)
    asked = [index for index, wanted in enumerate(positions) if len(wanted)]
    made = list(batches([encodings[index] for index in asked], pad_id, token_budget))
    owners = [[asked[index] for index in batch.indexes] for batch in made]
    flat = [_flat_positions(batch, windows, positions) for batch, windows in zip(made, owners, strict=True)]
    for windows, logits in zip(owners, _each(forward, made, flat, workers=workers), strict=True):
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


def _each(forward: Callable[..., Floats], *arguments: Sequence[Any], workers: int) -> Iterator[Floats]:
    """``map`` in order, over threads when there is more than one worker (the runtimes release the interpreter lock)."""
    if workers == 1 or len(arguments[0]) < 2:
        yield from map(forward, *arguments)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(forward, *arguments)


def log_softmax(logits: Floats) -> Floats:
    """Natural-log probabilities of each row: x - max - log Σ exp(x - max), which cannot overflow."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    normalised: Floats = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return normalised


def check_lengths(encodings: Sequence[Encoding], max_length_tokens: int | None, model: str) -> None:
    """Raise ModelError if a window has more tokens than the model has positions (``None``: not known)."""
    longest = max((len(encoding.ids) for encoding in encodings), default=0)
    if max_length_tokens is not None and longest > max_length_tokens:
        message = f"a window of {longest} tokens does not fit its {max_length_tokens} positions; cut the text shorter"
        raise ModelError(model, message)
