"""Every window once, little padding, results in input order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrector.electra.batching import (
    Batch,
    Longs,
    batches,
    check_lengths,
    log_softmax,
    run_discriminator,
    run_generator,
)
from corrector.electra.runtime import Encoding, Floats
from corrector.errors import ModelError

PAD = 9


def window(*ids: int) -> Encoding:
    tokens = np.array(ids, dtype=np.int32)
    empty = np.zeros(0, dtype=np.int32)
    return Encoding(tokens, tokens % 2, empty, empty.astype(np.bool_))


def test_batch_by_hand() -> None:
    (batch,) = batches([window(5, 6), window(1, 2, 3)], PAD)
    assert batch.indexes == (1, 0)
    assert batch.ids.tolist() == [[1, 2, 3], [5, 6, PAD]]
    assert batch.mask.tolist() == [[1, 1, 1], [1, 1, 0]]
    assert batch.types.tolist() == [[1, 0, 1], [1, 0, 0]]
    assert batch.ids.dtype == batch.mask.dtype == batch.types.dtype == np.int64


@given(st.lists(st.integers(2, 120), max_size=30), st.sampled_from([1, 100, 1000]))
def test_batches_hold_every_window_once(lengths: list[int], budget: int) -> None:
    made = list(batches([window(*[1] * length) for length in lengths], PAD, budget))
    assert sorted(index for batch in made for index in batch.indexes) == list(range(len(lengths)))
    for batch in made:
        rows, length = batch.ids.shape
        assert rows == 1 or rows * length <= budget
        assert length == max(lengths[index] for index in batch.indexes)
        assert all(length - lengths[index] <= max(8, length // 8) for index in batch.indexes)
        assert batch.mask.sum(axis=1).tolist() == [lengths[index] for index in batch.indexes]


def test_batches_are_as_full_as_they_may_be() -> None:
    made = batches([window(*[1] * length) for length in (10, 2, 9, 1)], PAD, 30)
    assert [batch.indexes for batch in made] == [(0, 2, 1), (3,)]  # thirty tokens, eight of which fill the shortest up


WINDOWS = [window(1, 2), window(*range(40)), window(3, 4, 5)]


def test_discriminator_results_come_in_input_order() -> None:
    found = run_discriminator(WINDOWS, PAD, lambda batch: (batch.ids * 10).astype(np.float32))
    assert [reading.logits.tolist() for reading in found] == [[10, 20], [10 * i for i in range(40)], [30, 40, 50]]
    assert run_discriminator([], PAD, lambda batch: np.zeros((0, 0), dtype=np.float32)) == []


def test_generator_results_come_in_input_order() -> None:
    seen: list[int] = []

    def forward(batch: Batch, flat: Longs) -> Floats:
        """A generator certain of the token that is already there."""
        seen.extend(batch.ids.shape)
        return np.where(np.arange(50) == batch.ids.reshape(-1)[flat][:, None], 100, 0).astype(np.float32)

    found = run_generator(WINDOWS, [[1], [39, 7], []], PAD, 50, forward)
    assert [one.argmax(axis=1).tolist() for one in found] == [[2], [39, 7], []]
    assert [one.shape for one in found] == [(1, 50), (2, 50), (0, 50)]
    assert seen == [1, 40, 1, 2]  # the third window was never run
    assert found[0][0].max() == pytest.approx(0)


@pytest.mark.parametrize("position", [-1, 2])
def test_position_outside_its_window(position: int) -> None:
    with pytest.raises(ValueError, match="outside a window of 2 tokens"):
        run_generator([window(1, 2)], [[position]], PAD, 50, lambda batch, flat: np.zeros((1, 50), dtype=np.float32))


def test_log_softmax_by_hand() -> None:
    found = log_softmax(np.log(np.array([[1, 2, 5], [1, 1, 2]], dtype=np.float32)))
    assert np.exp(found) == pytest.approx(np.array([[0.125, 0.25, 0.625], [0.25, 0.25, 0.5]]))
    assert log_softmax(np.array([[1e4, 0]], dtype=np.float32)).tolist() == [[0, -1e4]]


def test_windows_longer_than_the_model() -> None:
    check_lengths(WINDOWS, 40, "tiny")
    check_lengths(WINDOWS, None, "tiny")
    with pytest.raises(ModelError, match="tiny: a window of 40 tokens does not fit its 39 positions"):
        check_lengths(WINDOWS, 39, "tiny")
