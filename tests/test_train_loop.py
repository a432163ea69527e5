from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from corrector.errors import ConfigError, InputError, ModelError
from corrector.train.config import NoiseConfig
from tests import training
from tests.training import FIRST_HAN, LOUD, MASK_ID, QUIET, SEP_ID, SIZE

torch = pytest.importorskip("torch")

from corrector.train import checkpoint, loop  # noqa: E402
from corrector.train.batches import Arrays, Batch, BatchMaker, Rows  # noqa: E402
from corrector.train.learner import learning_rate_at  # noqa: E402
from corrector.train.loop import Trainer  # noqa: E402
from corrector.train.model import JointElectra  # noqa: E402
from corrector.train.noise import Noise  # noqa: E402

if TYPE_CHECKING:
    from corrector.train.batches import Source
    from corrector.train.config import TrainConfig


def fresh_windows() -> Source:
    """New random text at every call, in an order of its own."""
    calls = iter(range(10_000))

    def source(count: int, length: int) -> Rows:
        original = training.windows(count, length, seed=next(calls))
        return Rows(original, np.full_like(original, -1), np.arange(count) % 2, np.full(count, True))

    return source


def trainer(config: TrainConfig, source: Source) -> Trainer:
    torch.manual_seed(0)
    noise = Noise(training.noise_tables(), config.noise, SIZE, MASK_ID)
    features = torch.eye(SIZE)[:, FIRST_HAN : FIRST_HAN + 5].contiguous()
    marks = tuple(training.mark_tables(level) for level in (1, 2, 3))
    return Trainer(config, JointElectra(config.model, features), noise, marks, 6, source)


SIGNALS = (signal.SIGTERM, signal.SIGINT, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


class HeededError(Exception):
    """What the handlers do that were there before the run."""


@pytest.fixture
def handlers() -> Iterator[tuple[Any, ...]]:
    def heed(number: int, _: object) -> None:
        raise HeededError(signal.Signals(number).name)

    before = [signal.signal(number, heed) for number in SIGNALS]
    yield (heed,) * len(SIGNALS)
    for number, handler in zip(SIGNALS, before, strict=True):
        signal.signal(number, handler)


def test_learning_rate_schedule() -> None:
    config = training.config(learning_rate=1.0, warmup_tokens=100, total_tokens=1000, decay_share=0.2, decay_floor=0.1)
    rates = [learning_rate_at(tokens, config) for tokens in (0, 49, 99, 100, 799, 800, 900, 1000, 2000)]
    assert rates == pytest.approx([0.01, 0.5, 1.0, 1.0, 1.0, 1.0, 0.55, 0.1, 0.1])


def test_a_run_that_has_so_many_seconds_ends_by_then_and_its_rate_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count(100.0)
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    config = training.config(learning_rate=1e-3, warmup_tokens=1, decay_share=1.0, decay_floor=0.0, total_seconds=60, total_tokens=10**9)
    one = trainer(config, fresh_windows())
    one.run(tmp_path, lambda: None, lambda _: None)
    assert 55 <= one.step <= 60  # the clock is looked at once a step
    assert 0.0 <= one.optimizer.param_groups[0]["lr"] <= 1e-4


def test_a_run_that_has_so_many_seconds_goes_on_in_those_that_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handlers: tuple[Any, ...]
) -> None:
    ticks = count(100.0)
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    config = training.config(learning_rate=1e-3, decay_share=1.0, decay_floor=0.0, total_seconds=60, total_tokens=1, log_steps=30)
    first = trainer(config, fresh_windows())
    with pytest.raises(HeededError):
        first.run(tmp_path, lambda: None, lambda _: signal.raise_signal(signal.SIGTERM))
    assert first.step == 30
    second = trainer(config, fresh_windows())
    second.restore(checkpoint.load(tmp_path / "checkpoint.pt"))
    second.run(tmp_path, lambda: None, lambda _: None)
    assert 55 <= second.step <= 60
    assert 0.0 <= second.optimizer.param_groups[0]["lr"] <= 1e-4


def test_processes_that_make_the_batches_begin_a_stage_when_so_much_was_learned(tmp_path: Path) -> None:
    config = training.config(workers=3, total_tokens=90 * 128, log_steps=1, stages=((0, 16), (30 * 128, 32)))
    trainer(config, fresh_windows()).run(tmp_path, lambda: None, lambda _: None)
    records = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text("utf-8").splitlines()]
    lengths = [record["length"] for record in records]
    waiting = 30  # batches at most that were made before and are still to be learned from
    assert set(lengths[:30]) == {16} and set(lengths[30 + waiting :]) == {32}


def test_the_networks_are_measured_every_so_many_tokens_whenever_the_run_goes_on(tmp_path: Path) -> None:
    config = training.config(dev_tokens=4 * 128, log_steps=100)
    for total in (3, 6, 13):
        one = trainer(replace(config, total_tokens=total * 128), fresh_windows())
        if total > 3:
            one.restore(checkpoint.load(tmp_path / "checkpoint.pt"))
        one.run(tmp_path, lambda: None, lambda _: None, lambda: {"dev_f1": 0.5})
    measured = [json.loads(line)["step"] for line in (tmp_path / "dev.jsonl").read_text("utf-8").splitlines()]
    assert measured == [3, 4, 6, 8, 12, 13]  # at the end of each run, too


def test_processes_that_make_the_batches_share_them_out(tmp_path: Path) -> None:
    shares: list[tuple[int, ...]] = []
    source = Counted()

    def share(number: int, count: int, seed: int) -> None:
        shares.append((number, count, seed))
        source.drawn = 1000 * number

    one = trainer(training.config(workers=2, seed=5, total_tokens=30 * 128, log_steps=10), source)
    one.share = share
    one.run(tmp_path, lambda: source.drawn, lambda _: None)
    records = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text("utf-8").splitlines()]
    assert [record["tokens"] for record in records] == [1280, 2560, 3840]
    assert records[-1]["repeated"] == 0 and records[-1]["loss"] < records[0]["loss"]
    assert not shares and source.drawn == 0  # that was done in the processes
    again = trainer(training.config(), source)
    assert again.restore(checkpoint.load(tmp_path / "checkpoint.pt")) == 0
    assert again.tokens == 3840


def test_overfits_one_batch() -> None:
    original = training.windows(8, 16, seed=5)
    given = original.copy()
    given[:, 4] = np.where(
        original[:, 4] >= FIRST_HAN, (original[:, 4] - FIRST_HAN + 9) % (SIZE - FIRST_HAN) + FIRST_HAN, given[:, 4]
    )
    folds = np.full(8, 2)
    one = trainer(training.config(), lambda *_: Rows(original, given, folds, np.full(8, True)))
    first = one.train_step()
    for _ in range(200):
        last = one.train_step()
    assert last["loss"] < 0.1 * first["loss"]
    assert last["detection_precision"] == last["detection_recall"] == 1.0
    assert last["correction_accuracy"] == 1.0


@pytest.mark.parametrize("setting", ["bf16", "fp16"])
def test_half_precision_learns_and_goes_on(tmp_path: Path, setting: str) -> None:
    original = training.windows(8, 16, seed=5)
    rows = Rows(original, np.full_like(original, -1), np.full(8, 2), np.full(8, True))
    config = training.config(noise=LOUD, **{setting: True})
    one = trainer(config, lambda *_: rows)
    losses = [one.train_step()["loss"] for _ in range(40)]
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])
    assert {parameter.dtype for parameter in one.model.parameters()} == {torch.float32}
    one.save(tmp_path / "checkpoint.pt", None)
    other = trainer(config, lambda *_: rows)
    other.restore(checkpoint.load(tmp_path / "checkpoint.pt"))
    assert other.scaler.state_dict() == one.scaler.state_dict()
    assert other.train_step() == one.train_step()


def test_generator_learns() -> None:
    line = np.arange(14) % 7 + FIRST_HAN
    original = np.concatenate([[2], line, [SEP_ID]])[None].repeat(8, 0)
    settings = NoiseConfig(generator_windows=1.0)
    rows = Rows(original, np.full_like(original, -1), np.zeros(8, dtype=int), np.full(8, True))
    one = trainer(training.config(noise=settings), lambda *_: rows)
    losses = [one.train_step()["generator_loss"] for _ in range(80)]
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])


def test_no_gradient_flows_through_sampling() -> None:
    config = training.config(noise=NoiseConfig(generator_windows=1.0), generator_weight=0.0)
    one = trainer(config, fresh_windows())
    one.train_step()
    for name, parameter in one.model.named_parameters():
        if name.startswith("generator"):
            assert parameter.grad is not None and not parameter.grad.any(), name
    assert one.model.encoder.project.weight.grad.any()


def test_the_corrective_head_makes_errors_that_it_finds_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """In its share of the windows, of similar characters, never the right one; the generator is left alone."""
    noise = replace(QUIET, head_windows=0.5, generator_masked=0.4, generator_similarity=1.0, similarity_power=20.0)
    one = trainer(training.config(noise=noise), fresh_windows())
    likely = FIRST_HAN + 3
    torch.nn.init.constant_(one.model.correction.bias[likely], 40.0)
    made, make = [], BatchMaker.make

    def spy(self: BatchMaker, original: Arrays, corrupted: Arrays, *rest: Any) -> Batch:
        made.append((original, corrupted))
        return make(self, original, corrupted, *rest)

    monkeypatch.setattr(BatchMaker, "make", spy)
    for _ in range(20):
        one.train_step()
    original, corrupted = (np.concatenate(part) for part in zip(*((a[:4], b[:4]) for a, b in made), strict=True))
    changed = original != corrupted
    assert 0.1 < changed.mean() < 0.3  # half of the masked places
    assert all((a[4:] == b[4:]).all() for a, b in made)
    assert (original[changed] >= FIRST_HAN).all()
    assert (training.group_of(original[changed]) == training.group_of(corrupted[changed])).all()
    alike = changed & (training.group_of(original) == training.group_of(np.array(likely))) & (original != likely)
    assert alike.any() and (corrupted[alike] == likely).all()
    assert (corrupted[changed & (original == likely)] != likely).all()
    assert all(p.grad is None for name, p in one.model.named_parameters() if name.startswith("generator"))


def test_a_checkpoint_of_version_0_8_is_only_begun_from(tmp_path: Path) -> None:
    config = training.config(out=str(tmp_path))
    one = trainer(config, fresh_windows())
    one.save(tmp_path / "checkpoint.pt", None)
    state = torch.load(tmp_path / "checkpoint.pt", weights_only=False)
    del state["model"]["alternative.weight"]
    checkpoint.save(tmp_path / "checkpoint.pt", state)
    read = checkpoint.load(tmp_path / "checkpoint.pt")
    assert read["model"]["alternative.weight"].shape == one.model.alternative.weight.shape
    assert not read["model"]["alternative.weight"].any()
    with pytest.raises(ModelError, match=r"checkpoint\.pt: has no optimiser to go on with.*version 0\.8 or earlier.*--from"):
        one.restore(read)


def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "checkpoint.pt"
    trainer(training.config(), fresh_windows()).save(path, None)
    before = path.read_bytes()

    def full(_: object, file: Path) -> None:
        file.write_bytes(b"the beginning")
        raise RuntimeError("PytorchStreamWriter failed writing file data/0: file write failed")

    monkeypatch.setattr(checkpoint.torch, "save", full)
    with pytest.raises(InputError, match=r"checkpoint\.pt: cannot be written \(.*file write failed\); what was there before is kept"):
        checkpoint.save(path, {})
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_what_is_no_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.pt"
    for other in ([1, 2], {"model": {}}):
        torch.save(other, path)
        with pytest.raises(ModelError, match=r"checkpoint\.pt: not a checkpoint of this project"):
            checkpoint.load(path)


def test_a_device_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match=r"device: 'gpu' cannot be used \(.*\); give cpu"):
        trainer(training.config(device="gpu"), fresh_windows())


def test_resumed_run_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    config = training.config(noise=LOUD)
    whole, source = trainer(config, fresh_windows()), fresh_windows()
    expected = [whole.train_step() for _ in range(6)]
    first = trainer(config, source)
    found = [first.train_step() for _ in range(3)]
    first.save(tmp_path / "checkpoint.pt", {"place": 3})
    torch.manual_seed(99)
    second = trainer(config, source)
    assert second.restore(checkpoint.load(tmp_path / "checkpoint.pt")) == {"place": 3}
    found += [second.train_step() for _ in range(3)]
    assert found == expected
    for (name, ours), (_, theirs) in zip(second.model.named_parameters(), whole.model.named_parameters(), strict=True):
        assert torch.equal(ours, theirs), name
    assert (second.tokens, second.step) == (6 * 128, 6)


class Counted:
    """Windows that depend on how many were drawn before: a position to go on from."""

    drawn = 0

    def __call__(self, count: int, length: int) -> Rows:
        original = training.windows(count, length, seed=self.drawn)
        self.drawn += 1
        return Rows(original, np.full_like(original, -1), np.zeros(count, dtype=int), np.full(count, True))


@pytest.mark.parametrize("noise", [LOUD, replace(LOUD, generator_windows=0.0, head_windows=0.0)], ids=["in turn", "drawn ahead"])
def test_a_run_that_was_cut_off_goes_on_as_if_it_had_not_been(tmp_path: Path, noise: NoiseConfig) -> None:
    config = training.config(noise=noise, total_tokens=6 * 128, checkpoint_seconds=-1.0)
    lines: list[str] = []
    source = Counted()
    whole = trainer(config, source)
    whole.run(tmp_path / "whole", lambda: source.drawn, lines.append)
    source = Counted()
    first = trainer(replace(config, total_tokens=3 * 128), source)
    first.run(tmp_path / "cut", lambda: source.drawn, lines.append)
    state = checkpoint.load(tmp_path / "cut" / "checkpoint.pt")
    assert (state["position"], source.drawn > 3) == (3, noise is not LOUD)
    source = Counted()
    second = trainer(config, source)
    source.drawn = second.restore(state)
    second.run(tmp_path / "cut", lambda: source.drawn, lines.append)
    for (name, ours), (_, theirs) in zip(second.model.named_parameters(), whole.model.named_parameters(), strict=True):
        assert torch.equal(ours, theirs), name


def test_what_cannot_be_drawn_ahead_ends_the_run_with_its_error(tmp_path: Path) -> None:
    calls = iter([Counted()(8, 16)])
    one = trainer(training.config(), lambda *_: next(calls))
    with pytest.raises(StopIteration):
        one.run(tmp_path, lambda: None, lambda _: None)
    assert one.step == 1


def test_labels_and_marks_of_a_batch() -> None:
    one = trainer(training.config(), fresh_windows())
    a, b, c = FIRST_HAN, FIRST_HAN + 1, FIRST_HAN + 2
    original = np.array([[2, a, b, c, c, c, c, 3], [2, a, c, c, 6, 3, 0, 0]])
    corrupted = np.array([[2, a, b, c, c, b, MASK_ID, 3], [2, a, b, c, 6, 3, 0, 0]])
    batch = one.batches.make(original, corrupted, np.array([0, 2]), np.array([True, False]), one.rng)
    assert batch.ids.tolist() == corrupted.tolist()
    assert batch.replaced.tolist() == [[0, 0, 0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0]]
    assert batch.detection_weight.tolist() == [[0, 1, 1, 1, 1, 1, 0, 0], [0, 1, 1, 1, 1, 0, 0, 0]]
    assert batch.mask is not None and batch.mask.tolist() == [[1] * 8, [1] * 6 + [0] * 2]
    # Marks are of the corrupted text, by the tables of each row's half: level 1 for half 0, level 3 for "half" 2.
    assert batch.types[0].tolist() == [0, 2 + 128, 1 + 16, 0, 0, 0, 0, 0]
    assert batch.types[1].tolist() == [0, 2 + 3 * 128, 1 + 3 * 16, 0, 0, 0, 0, 0]
    assert len(batch.positions) == 2  # an eighth of the places; the wrong and masked ones come first
    assert set(batch.positions.tolist()) < {5, 6, 10}
    assert batch.targets.tolist() == original.reshape(-1)[batch.positions].tolist()
    assert batch.correction_weight.tolist() == [1.0, 1.0]
    assert batch.trusted.tolist() == [[True], [False]]


def test_doubted_characters_of_raw_text_are_not_learned_as_right() -> None:
    original = training.windows(8, 16, seed=5)
    clean = NoiseConfig(clean_windows=1.0, generator_windows=0.0, masked=0.0)

    def detection_loss(doubt: float, trusted: bool) -> float:
        rows = Rows(original, np.full_like(original, -1), np.zeros(8, dtype=int), np.full(8, trusted))
        return trainer(training.config(noise=clean, doubt=doubt), lambda *_: rows).train_step()["detection_loss"]

    assert detection_loss(0.0, trusted=False) == 0.0  # the head gives every character more than nothing
    assert detection_loss(0.0, trusted=True) == detection_loss(1.0, trusted=False) > 0.0


def test_window_length_grows_with_the_tokens_seen() -> None:
    one = trainer(training.config(stages=((0, 16), (256, 32))), fresh_windows())
    lengths = []
    for _ in range(3):
        lengths.append(one.length_at(one.tokens))
        one.train_step()
    assert lengths == [16, 16, 32]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_saves_and_stops(tmp_path: Path, handlers: tuple[Any, ...], number: signal.Signals) -> None:
    """Then the signal does what it would have done: whoever started the run sees that it was not finished."""
    one = trainer(training.config(log_steps=2), fresh_windows())
    with pytest.raises(HeededError, match=number.name):
        one.run(tmp_path, lambda: "here", lambda _: signal.raise_signal(number))
    assert one.step == 2
    state = checkpoint.load(tmp_path / "checkpoint.pt")
    assert (state["step"], state["tokens"], state["position"]) == (2, 256, "here")
    assert tuple(map(signal.getsignal, SIGNALS)) == handlers
    (line,) = (tmp_path / "metrics.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["tokens"] == 256


def test_an_ignored_signal_stays_ignored(tmp_path: Path, handlers: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    one = trainer(training.config(log_steps=2, total_tokens=4 * 128), fresh_windows())
    one.run(tmp_path, lambda: None, lambda _: signal.raise_signal(signal.SIGINT))
    assert one.step == 4


def test_a_run_ends_at_its_tokens(tmp_path: Path) -> None:
    one = trainer(training.config(total_tokens=300), fresh_windows())
    one.run(tmp_path, lambda: None, lambda _: None)
    assert (one.step, one.tokens) == (3, 384)
    assert not list(tmp_path.glob(".checkpoint*"))


def test_quiet_noise_leaves_text_alone() -> None:
    original = training.windows(4, 16)
    noise = Noise(training.noise_tables(), QUIET, SIZE, MASK_ID)
    assert (noise.corrupt(original, np.random.default_rng(0)) == original).all()
