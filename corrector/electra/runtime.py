"""What the stages ask of a model: two methods over encoded sentences, whoever computes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Encoding:
    """One window as tokens, [CLS] and [SEP] included.

    ``ids`` and ``types`` have shape (tokens,), ``token_of`` and ``is_whole`` (characters,). ``token_of[i]`` is the token that
    character ``i`` of the window belongs to; ``is_whole[i]`` tells whether that token is exactly this one character and in
    the vocabulary: only such characters can be scored or replaced.
    """

    ids: Ints
    types: Ints
    token_of: Ints
    is_whole: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the discriminator made of one window.

    ``logits`` (tokens,): for each token, that it was replaced. ``states`` (tokens, hidden): what its encoder made of each
    token, where the generator is a head on the same encoder; None where the generator has an encoder of its own.
    """

    logits: Floats
    states: Floats | None = None


class Runtime(Protocol):
    """Runs the discriminator and the generator. Results come in input order; batching and padding are the runtime's business.

    ``callers`` is how many threads may well ask it at the same time.
    """

    callers: int

    def read(self, encodings: Sequence[Encoding]) -> list[Reading]:
        """The discriminator's reading of each window."""
        ...

    def glance(self, encodings: Sequence[Encoding]) -> list[Reading | None]:
        """As ``read``, but None for a window in which the lower layers of the encoder find nothing that may be wrong: it is spared the
        others. A network without a gate there reads all."""
        ...

    def log_probabilities(
        self, encodings: Sequence[Encoding], positions: Sequence[Sequence[int]], readings: Sequence[Reading] | None = None
    ) -> list[Floats]:
        """For each window the generator's natural-log probabilities at the given token positions: shape (positions, vocabulary).

        ``readings`` are what ``read`` gave for these very windows, if it was asked: they may spare an encoder pass.
        """
        ...
