"""Development scores: hand-worked rows, a model that knows the answers, and no trace of measuring in what is trained."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corrector.electra.tokenizer import Tokenizer
from corrector.errors import EvalDataError
from tests import training
from tests.training import CLS_ID, FIRST_HAN, MASK_ID, SEP_ID, SIZE, VOCABULARY

torch = pytest.importorskip("torch")

from corrector.train import checkpoint  # noqa: E402
from corrector.train.batches import Rows  # noqa: E402
from corrector.train.dev import THRESHOLDS, DevSet, Prediction, dev_scores, predict, smooth_scores, strict_f1  # noqa: E402
from corrector.train.loop import Trainer  # noqa: E402
from corrector.train.model import Encoder, JointElectra  # noqa: E402
from corrector.train.noise import Noise  # noqa: E402

A, B, C = FIRST_HAN, FIRST_HAN + 1, FIRST_HAN + 2
TOKENIZER = Tokenizer(VOCABULARY)


def dev_set(*pairs: tuple[list[int], list[int]], name: str = "a.tsv") -> DevSet:
    """Rows of seven tokens."""
    source, target = (
        np.array([[CLS_ID, *text, SEP_ID, *[0] * (5 - len(text))] for text in side], dtype=np.int64)
        for side in zip(*pairs, strict=True)
    )
    return DevSet(name, source, target)


# ---- strict F1 ---------------------------------------------------------------------------------------------------------

ROWS = dev_set(
    ([A, B, C], [A, C, C]),  # one wrong character
    ([A, A, B], [C, A, C]),  # two
    ([A, B, C], [A, B, C]),  # none
    ([B, B], [B, B]),  # none
)


def f1(flagged: list[dict[int, tuple[float, int]]], threshold: float = 0.5) -> float:
    """Of ``ROWS``, with what is found by row and token: probability and choice. Everywhere else: 0.1 and A."""
    probabilities = np.full(ROWS.source.shape, 0.1, dtype=np.float32)
    choices = np.full(ROWS.source.shape, A, dtype=np.int64)
    for row, found in enumerate(flagged):
        for token, (probability, choice) in found.items():
            probabilities[row, token], choices[row, token] = probability, choice
    return strict_f1(ROWS, Prediction(probabilities, choices, np.zeros_like(probabilities)), threshold)


FIRST, SECOND = {2: (0.9, C)}, {1: (0.9, C), 3: (0.9, C)}


def test_everything_right_is_one() -> None:
    assert f1([FIRST, SECOND, {}, {}]) == 1.0


def test_nothing_found_is_nothing() -> None:
    assert f1([{}, {}, {}, {}]) == 0.0


@pytest.mark.parametrize(
    "flagged,expected",
    [
        ([FIRST, {}, {}, {}], 2 * 1 / (2 + 1)),  # one of two sentences found, nothing else touched
        ([FIRST, {1: (0.9, C)}, {}, {}], 2 * 1 / (2 + 2)),  # half a sentence is no hit
        ([FIRST, SECOND, {1: (0.9, C)}, {}], 2 * 2 / (2 + 3)),  # a right sentence changed
        ([FIRST | {1: (0.9, C)}, SECOND, {}, {}], 2 * 1 / (2 + 2)),  # one edit too many
        ([{2: (0.9, B)}, SECOND, {}, {}], 2 * 1 / (2 + 2)),  # the right place, and the wrong character
        ([{2: (0.5, C)}, {1: (0.5, C), 3: (0.49, C)}, {}, {}], 2 * 1 / (2 + 2)),  # the threshold itself is enough
    ],
)
def test_by_hand(flagged: list[dict[int, tuple[float, int]]], expected: float) -> None:
    assert f1(flagged) == pytest.approx(expected)


def test_the_threshold_decides() -> None:
    flagged = [FIRST, {1: (0.7, C), 3: (0.6, C)}, {2: (0.55, C)}, {}]
    assert [f1(flagged, threshold) for threshold in (0.5, 0.58, 0.65, 0.95)] == pytest.approx([4 / 5, 1.0, 2 / 4, 0.0])


def test_specials_and_padding_are_never_changed() -> None:
    assert f1([FIRST | {0: (0.9, C), 4: (0.9, C), 5: (0.9, C)}, SECOND, {0: (0.9, C)}, {6: (0.9, C)}]) == 1.0


def test_no_errors_and_no_edits() -> None:
    clean = dev_set(([A, B], [A, B]))
    nothing = np.zeros(clean.source.shape, dtype=np.float32)
    assert strict_f1(clean, Prediction(nothing, clean.source, nothing), 0.5) == 0.0
    assert smooth_scores(clean, Prediction(nothing, clean.source, nothing)) == (0.0, 0.0)


def test_smooth_scores_by_hand() -> None:
    dev = dev_set(([A, B], [A, C]), ([C, A], [B, A]))
    replaced = np.array([[0.9, 0.2, 0.8, 0.9, 0, 0, 0], [0.9, 0.4, 0.6, 0.9, 0, 0, 0]], dtype=np.float32)
    surprise = np.array([[0, 0, 2.0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0, 0, 0]], dtype=np.float32)
    # The right one, a false one, the other: precision 1/1 at the first half of the recall, 2/3 at the second. Specials do not count.
    assert smooth_scores(dev, Prediction(replaced, dev.source, surprise)) == pytest.approx(((1 + 2 / 3) / 2, 1.5))


# ---- reading -----------------------------------------------------------------------------------------------------------


def test_reading_takes_evenly_spaced_rows_that_fit(tmp_path: Path) -> None:
    path = tmp_path / "dev.tsv"
    lines = [f"{'天' * n}\t{'地' * n}\n" for n in (1, 2, 3, 4, 5, 9)]
    path.write_text("".join(lines), "utf-8")
    found = DevSet.read(path, TOKENIZER, 3, 7)
    a, b = TOKENIZER.id_of["天"], TOKENIZER.id_of["地"]
    assert found.name == "dev.tsv"
    assert found.source.tolist() == [
        [CLS_ID, a, SEP_ID, 0, 0, 0, 0],
        [CLS_ID, a, a, a, SEP_ID, 0, 0],
        [CLS_ID, a, a, a, a, a, SEP_ID],
    ]
    assert found.target.tolist() == [[b if token == a else token for token in row] for row in found.source.tolist()]
    assert len(DevSet.read(path, TOKENIZER, 400, 7).source) == 5
    path.write_text("天地\n", "utf-8")
    with pytest.raises(EvalDataError, match="found one column"):
        DevSet.read(path, TOKENIZER, 3, 7)
    path.write_text("天地人你我他\t天地人你我它\n", "utf-8")
    with pytest.raises(EvalDataError, match=r"dev\.tsv: no sentence of at most 5 characters"):
        DevSet.read(path, TOKENIZER, 3, 7)


# ---- scores ------------------------------------------------------------------------------------------------------------


class Knowing(torch.nn.Module):
    """Suspects B with 0.75 and C with 0.4, and takes C, then A, for the likeliest character everywhere."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(1))
        self.encoder = Encoder(8, 8, 1, 2, 32, 1e-12)
        self.seen: list[tuple[Any, Any, Any]] = []

    def forward(self, ids: Any, types: Any, mask: Any, places: Any) -> tuple[Any, Any]:
        self.seen.append((ids.clone(), types, mask))
        assert places.tolist() == list(range(ids.numel()))
        probability = torch.full(ids.shape, 0.05)
        probability[ids == B], probability[ids == C] = 0.75, 0.4
        characters = torch.zeros(ids.numel(), SIZE)
        characters[:, C], characters[:, A] = 2.0, 1.0
        return torch.logit(probability) + self.bias, characters


def test_predictions_come_row_by_row_and_never_repeat_the_source() -> None:
    model, marks = Knowing(), training.mark_tables(2)
    dev = dev_set(*[([A, B, C], [A, C, C])] * 70)
    prediction = predict(model, dev, marks)  # type: ignore[arg-type]
    probabilities, choices = prediction.replaced, prediction.choices
    assert probabilities.shape == choices.shape == prediction.surprise.shape == (70, 7)
    assert probabilities[69].tolist() == pytest.approx([0.05, 0.05, 0.75, 0.4, 0.05, 0.05, 0.05], abs=1e-6)
    assert choices[69].tolist() == [C, C, C, A, C, C, C]  # in place of C itself the next best
    assert sum(len(ids) for ids, *_ in model.seen) == 70 and len(model.seen) > 1
    others = math.log(math.exp(2) + math.exp(1) + SIZE - 3)  # of C, A and the rest but B, which is given; C is right
    assert prediction.surprise[69].tolist() == pytest.approx([0, 0, others - 2, 0, 0, 0, 0], abs=1e-5)
    ids, types, mask = model.seen[0]
    assert ids[0].tolist() == dev.source[0].tolist()
    assert types[0].tolist() == marks.types(dev.source[0]).tolist() and types.any()
    assert mask[0].tolist() == [1, 1, 1, 1, 1, 0, 0]


def test_one_threshold_for_all_sets_the_first_of_the_best() -> None:
    # In the first set only B is wrong, in the second a C besides, which to a threshold above 0.4 is right.
    easy = dev_set(([A, B], [A, C]), ([A, C], [A, C]), name="easy.tsv")
    hard = dev_set(([A, B], [A, C]), ([A, C], [A, A]), name="hard.tsv")
    found = dev_scores(Knowing(), [easy, hard], training.mark_tables())  # type: ignore[arg-type]
    assert found.pop("dev_dormant") == 1.0  # its encoder is never asked
    # At 0.3: 2·1/(1+2) and 1; at 0.5 to 0.7: 1 and 2·1/(2+1); above, nothing. The first of equal means is taken.
    assert found.pop("dev_average_precision") == 1.0 and found.pop("dev_surprise") > 0  # the wrong ones come first
    assert found == {"dev easy.tsv": 0.6667, "dev hard.tsv": 1.0, "dev_f1": 0.8333, "dev_threshold": THRESHOLDS[0]}
    found = dev_scores(Knowing(), [easy], training.mark_tables())  # type: ignore[arg-type]
    assert found.items() >= {"dev easy.tsv": 1.0, "dev_f1": 1.0, "dev_threshold": 0.5}.items()


def trainer(total_tokens: int) -> Trainer:
    torch.manual_seed(0)
    config = training.config(total_tokens=total_tokens, dev_tokens=128, noise=training.LOUD)
    noise = Noise(training.noise_tables(), config.noise, SIZE, MASK_ID)
    features = torch.eye(SIZE)[:, FIRST_HAN : FIRST_HAN + 5].contiguous()
    marks = tuple(training.mark_tables(level) for level in (1, 2, 3))

    def source(count: int, length: int) -> Rows:
        original = training.windows(count, length, seed=one.step)
        return Rows(original, np.full_like(original, -1), np.arange(count) % 2, np.full(count, True))

    one = Trainer(config, JointElectra(config.model, features), noise, marks, 6, source)
    return one


def test_measuring_leaves_no_trace_in_what_is_trained(tmp_path: Path) -> None:
    """A run that measures, stops and goes on ends where one does that never measured."""
    dev = dev_set(([A, B], [A, C]), ([A, C], [A, A]))
    plain = trainer(768)
    plain.run(tmp_path / "plain", lambda: None, lambda _: None)
    first = trainer(384)
    first.run(tmp_path / "run", lambda: None, lambda _: None, lambda: dev_scores(first.model, [dev], first.batches.marks[-1]))
    second = trainer(768)
    second.restore(checkpoint.load(tmp_path / "run" / "checkpoint.pt"))
    second.run(tmp_path / "run", lambda: None, lambda _: None, lambda: dev_scores(second.model, [dev], second.batches.marks[-1]))
    for (name, ours), (_, theirs) in zip(second.model.named_parameters(), plain.model.named_parameters(), strict=True):
        assert torch.equal(ours, theirs), name
    assert (second.tokens, second.step) == (plain.tokens, plain.step) == (768, 6)
    records = [json.loads(line) for line in (tmp_path / "run" / "dev.jsonl").read_text("utf-8").splitlines()]
    assert [record["tokens"] for record in records] == [128, 256, 384, 512, 640, 768]
    assert all({"step", "dev a.tsv", "dev_f1", "dev_threshold"} <= set(record) for record in records)
    assert not (tmp_path / "plain" / "dev.jsonl").exists()
