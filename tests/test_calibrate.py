"""Fitting the ranker: the log-linear model against frequencies worked by hand, and the choice of the threshold."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("sklearn")

from corrector.electra.model import DISCRIMINATOR, GENERATOR
from corrector.electra.model_dir import find_model
from corrector.errors import CorrectorError, InputError, ModelError
from corrector.rank import CHECK_FEATURES, Ranker, default_ranker
from corrector.text.write import AtomicWriter
from corrector.train import calibrate as calibration
from corrector.train.__main__ import main
from corrector.train.calibrate import CLEAN_WEIGHT, PARTS, calibrate
from corrector.train.log_linear import FEW_VALUES, MISSPELLING_CHECK, Example, fit_check, fit_log_linear
from corrector.train.pairs import PairSet
from corrector.train.release import write_manifest
from corrector.train.thresholds import (
    JudgedRow,
    average_precision,
    cautious_enough,
    choose_threshold,
    f1_at_equal_shares,
    platt,
    strict_f1,
)
from corrector.types import OCR, TYPED

if TYPE_CHECKING:
    from corrector.electra.model_dir import ModelDirectory
    from corrector.types import Origin


def test_one_alternative_gets_the_odds_it_was_right_with() -> None:
    """With a constant feature the model is the log odds: right 3 times of 4 → w = ln 3 (less a little for the penalty)."""
    one = np.ones((1, 1), dtype=np.float32)
    one_and_other = [Example(one, 0)] * 300 + [Example(one, -1)] * 100
    varied = [*one_and_other, Example(np.zeros((1, 1), dtype=np.float32), -1)]
    assert fit_log_linear(varied, 1)[0] == pytest.approx(np.log(3), abs=0.05)


def test_the_telling_feature_gets_the_weight() -> None:
    rng = np.random.default_rng(0)
    examples = []
    for _ in range(400):
        features = rng.normal(size=(3, 2)).astype(np.float32)
        examples.append(Example(features, int(features[:, 0].argmax()) if features[:, 0].max() > 0 else -1))
    telling, idle = fit_log_linear(examples, 2)
    assert telling > 1
    assert abs(idle) < 0.5


def test_a_constant_feature_does_not_hide_the_others() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=400)
    examples = [Example(np.array([[1.0, v]], dtype=np.float32), 0 if v > 0 else -1) for v in values]
    bias, slope = fit_log_linear(examples, 2)
    assert abs(bias) < 1
    assert slope > 2


def test_an_example_counts_as_often_as_it_weighs() -> None:
    rng = np.random.default_rng(2)
    rows = [rng.normal(size=(2, 3)).astype(np.float32) for _ in range(60)]
    rights = [int(rng.integers(-1, 2)) for _ in rows]
    weighed = [Example(row, right, 1.0 + number % 3) for number, (row, right) in enumerate(zip(rows, rights, strict=True))]
    repeated = [Example(e.features, e.right) for e in weighed for _ in range(int(e.weight))]
    assert fit_log_linear(weighed, 3, 1e-9) == pytest.approx(fit_log_linear(repeated, 3, 1e-9), abs=1e-3)


def checked(**values: np.ndarray) -> list[Example]:
    """Groups of one alternative with these features, right every second time, and every time where ``score`` is above 2."""
    count = len(next(iter(values.values())))
    rows = np.zeros((count, 1, len(CHECK_FEATURES)), dtype=np.float32)
    for name, own in (values | {"bias": np.ones(count)}).items():
        rows[:, 0, CHECK_FEATURES.index(name)] = own
    right = (np.arange(count) % 2 == 0) | (rows[:, 0, CHECK_FEATURES.index("score")] > 2)
    return [Example(row, 0 if ok else -1) for row, ok in zip(rows, right, strict=True)]


def test_the_check_bends_at_the_thirds_of_what_has_many_values() -> None:
    number = np.arange(900)
    examples = checked(score=np.linspace(0, 3, 900), margin=number % FEW_VALUES, company=number % (FEW_VALUES + 1))
    fitted = fit_check(examples)
    weights, bends = fitted["check_weights"], fitted["check_bends"]
    assert tuple(weights) == CHECK_FEATURES and weights["misspelling"] == MISSPELLING_CHECK
    knots = {name: [knot for knot, _ in own] for name, own in bends.items()}
    assert knots == {"score": [1.0, 2.0], "company": pytest.approx([8 / 3, 16 / 3], abs=0.01)}
    (_, at_one), (_, at_two) = bends["score"]
    assert abs(weights["score"]) < 0.5 and abs(at_one) < 1 and at_two > 2  # even odds up to 2, and from there on none is wrong


def test_a_check_fitted_anew_to_a_few_examples_stays_near_the_one_before() -> None:
    shipped = default_ranker()
    shipped = replace(
        shipped, check_weights={**shipped.check_weights, "score": 1.25, "misspelling": 0.5}, check_bends={"score": ((1.5, -0.75),)}
    )
    fitted = fit_check(checked(score=np.linspace(0, 3, 30)), shipped)
    assert fitted["check_weights"] == pytest.approx(dict(shipped.check_weights), abs=0.02)
    assert fitted["check_weights"]["misspelling"] == 0.5
    [(knot, weight)] = fitted["check_bends"]["score"]
    assert knot == 1.5 and weight == pytest.approx(-0.75, abs=0.02)
    moved = fit_check(checked(score=np.linspace(0, 3, 3000)), shipped)
    assert abs(moved["check_weights"]["score"] - 1.25) > 0.05  # a hundred times as many pull as much harder


@pytest.mark.parametrize("right", [True, False])
def test_platt_does_with_edits_of_one_kind(right: bool) -> None:
    scale, offset = platt([(confidence, right, 1) for confidence in (0.3, 0.5, 0.6, 0.7)])
    logit = scale * math.log(0.55 / 0.45) + offset
    assert (logit > 0) == right and abs(logit) < 4


def test_platt_aims_a_little_below_certainty() -> None:
    """Right 3 times of 4, all of one confidence: the mean of three times (3 + 1) / (3 + 2) and once 1 / (1 + 2)."""
    scale, offset = platt([(0.6, True, 1)] * 3 + [(0.6, False, 1)])
    logit = scale * math.log(0.6 / 0.4) + offset
    assert 1 / (1 + math.exp(-logit)) == pytest.approx((3 * 4 / 5 + 1 / 3) / 4, abs=1e-3)


def test_a_row_is_calibrated_edit_by_edit() -> None:
    row = JudgedRow(((0.9, True, 1), (0.5, False, 2)), 3).calibrated(0.5, 1.0)
    (first, *_), (second, *_) = row.edits
    assert (first, second) == pytest.approx((3 * math.e / (3 * math.e + 1), math.e / (math.e + 1)))  # √9 and √1 to one, times e
    assert row == JudgedRow(((first, True, 1), (second, False, 2)), 3)


def test_platt_needs_edits() -> None:
    with pytest.raises(ValueError, match="no edit is proposed"):
        platt([])


def test_files_held_back_need_names_of_their_own(tmp_path: Path) -> None:
    files = [tmp_path / folder / "dev.tsv" for folder in "ab"]
    for file in files:
        file.parent.mkdir()
        file.write_text("甲\t甲\n", "utf-8")
    with pytest.raises(CorrectorError, match="same name"):
        calibration.fit_ranker(tmp_path, [PairSet((("甲", "甲"),), 1.0)], files, print)


def test_a_model_to_calibrate_is_a_folder_and_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Path] = []
    monkeypatch.setattr(calibration, "fit_ranker", lambda model, *_: taken.append(model))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "electra-csc-zh").mkdir()
    (tmp_path / "dev.tsv").write_text("甲\t甲\n", "utf-8")
    assert main(["calibrate", "--model", "electra-csc-zh", "--pairs", "dev.tsv", "--held-back", "dev.tsv"]) == 0
    assert taken == [tmp_path / "electra-csc-zh"]


@pytest.mark.parametrize("name", ["default", "electra-csc-zh"])
@pytest.mark.parametrize(
    "command", [["manifest"], ["offers", "--pairs", "dev.tsv"], ["calibrate", "--pairs", "dev.tsv", "--held-back", "dev.tsv"]]
)
def test_a_model_to_change_is_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dev.tsv").write_text("甲\t甲\n", "utf-8")
    assert main([*command, "--model", name]) == 123
    assert capsys.readouterr().err.startswith(f"error: {name}: no such directory; name the one of the model to change (")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model directory without networks, whose ranker has a second name elsewhere."""
    folder = tmp_path / "model"
    for name in (DISCRIMINATOR, GENERATOR):
        (folder / name).mkdir(parents=True)
        (folder / name / "config.json").write_text("{}", "utf-8")
        (folder / name / "model.int8.onnx").touch()
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n甲\n乙\n", "utf-8")
    default_ranker().save(folder / "ranker.json")
    (tmp_path / "ranker.json").hardlink_to(folder / "ranker.json")
    write_manifest(folder, "tiny", "0.2", {"scores": []})
    return folder


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def fit_tiny(model: Path, origin: Origin = TYPED, **replaced: Any) -> None:
    """Calibrate with a ranker that is given, and with slips."""
    held = model.parent / "dev.tsv"
    held.write_text("甲\t乙\n", "utf-8")
    ranker = replace(default_ranker(), min_confidence=0.61)
    with pytest.MonkeyPatch.context() as patch:
        for name, function in ({"calibrate": lambda *_: ranker} | replaced).items():
            patch.setattr(calibration, name, function)
        rows = [PairSet((("甲", "乙"),), 1.0, "rows.tsv")]
        calibration.fit_ranker(model, rows, [held], lambda _: None, rows, origin=origin)


def test_a_calibrated_model_is_whole_and_no_other_file_is_touched(model: Path) -> None:
    before = files_in(model)
    fit_tiny(model)
    after, found = files_in(model), find_model(model, verify=True)
    assert {name for name in after if after[name] != before.get(name)} == {"slips.npz", "ranker.json", "manifest.json", "README.md"}
    assert found.slips is not None and found.manifest["thresholds"]["min_confidence"] == 0.61
    assert found.manifest["calibration"]["slips"] == [{"name": "rows.tsv", "rows": 1, "weight": 1.0}]
    assert (model.parent / "ranker.json").read_bytes() == before["ranker.json"]


def test_text_of_another_origin_gets_a_ranker_and_slips_beside_those_of_typed_text(model: Path) -> None:
    asked: list[tuple[Any, ...]] = []

    def calibrate(directory: ModelDirectory, *given: Any) -> Any:
        asked.append((directory.origin, given[-1]))
        assert directory.slips is not None  # they are there when it is fitted
        return replace(default_ranker(), min_confidence=0.47, by_slips=given[-1])

    before = files_in(model)
    fit_tiny(model, OCR, calibrate=calibrate)
    after, found = files_in(model), find_model(model, verify=True)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"ocr/slips.npz", "ocr/ranker.json", "manifest.json", "README.md"}
    assert asked == [("ocr", 40)] and found.slips is None and "calibration" not in found.manifest
    assert found.manifest["origins"]["ocr"]["thresholds"]["min_confidence"] == 0.47
    ranker = Ranker.load(model / "ocr" / "ranker.json")
    assert ranker.by_slips == 40 and "by_slips" not in (model / "ranker.json").read_text("utf-8")
    assert after["README.md"].decode().count("## Ranker for text from ocr") == 1
    fit_tiny(model)
    assert find_model(model, verify=True).manifest["origins"] == found.manifest["origins"]


@pytest.mark.parametrize("error", [ValueError("no edit is proposed"), KeyboardInterrupt()])
@pytest.mark.parametrize("where", ["calibrate", "refresh_manifest"])
def test_what_goes_wrong_leaves_the_model_as_it_was(model: Path, where: str, error: BaseException) -> None:
    def fail(*_: Any, calibration: object = None, origin: object = None) -> None:
        if where == "calibrate" or calibration is not None:
            raise error

    before = files_in(model)
    with pytest.raises((CorrectorError, ValueError, KeyboardInterrupt)):
        fit_tiny(model, **{where: fail})
    assert files_in(model) == before
    assert {path.name for path in model.parent.iterdir()} == {"model", "ranker.json", "dev.tsv"}


def test_a_full_disk_leaves_the_model_as_it_was(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is so when the last of the files is written."""
    write, before = AtomicWriter.write, files_in(model)

    def until_slips(writer: AtomicWriter, data: bytes) -> None:
        if Path(writer.path).name == "slips.npz":
            raise InputError(writer.path, "cannot be written: no space left on device")
        write(writer, data)

    monkeypatch.setattr(AtomicWriter, "write", until_slips)
    with pytest.raises(InputError, match="no space left"):
        fit_tiny(model, refresh_manifest=lambda *_, **__: None)
    assert files_in(model) == before


def test_a_model_without_a_manifest_is_said_before_anything_is_fitted(model: Path) -> None:
    (model / "manifest.json").unlink()
    with pytest.raises(ModelError, match=rf"{model}/manifest\.json"):
        fit_tiny(model, calibrate=pytest.fail)


def test_a_damaged_model_is_named_and_not_its_copy(model: Path) -> None:
    (model / "slips.npz").write_bytes(b"none")
    with pytest.raises(ModelError, match=rf"^{model / 'slips.npz'}: cannot be read"):
        fit_tiny(model, calibrate=lambda directory, *_: directory.slips, count_slips=lambda *_: SimpleNamespace(save=lambda _: None))


def test_platt_undoes_overconfidence() -> None:
    edits = [(0.9, n % 2 == 0, 1) for n in range(200)] + [(0.1, n % 20 == 0, 1) for n in range(200)]
    scale, offset = platt(edits)
    assert 1 / (1 + np.exp(-(scale * np.log(9) + offset))) == pytest.approx(0.5, abs=0.02)
    assert 1 / (1 + np.exp(-(-scale * np.log(9) + offset))) == pytest.approx(0.05, abs=0.02)


ROWS = [
    JudgedRow(((0.9, True, 1),), 1),  # right above 0.9
    JudgedRow(((0.6, True, 1), (0.5, False, 1)), 1),  # right between 0.5 and 0.6
    JudgedRow(((0.7, True, 1),), 2),  # only one of two
    JudgedRow(((0.4, False, 1),), 0),  # a false alarm at 0.4
    JudgedRow((), 1),  # a miss
]


def test_strict_f1_by_hand() -> None:
    assert strict_f1(ROWS, 0.55) == pytest.approx(2 * 2 / (3 + 4))
    assert strict_f1(ROWS, 0.45) == pytest.approx(2 * 1 / (3 + 4))
    assert strict_f1(ROWS, 0.35) == pytest.approx(2 * 1 / (4 + 4))
    assert strict_f1(ROWS, 0.95) == 0
    assert strict_f1([JudgedRow(((0.9, True, 1), (0.8, False, 1)), 2)], 0.5) == 0  # two characters changed, one of them rightly


def test_threshold_is_the_best_that_leaves_right_text_alone() -> None:
    judged = {"erroneous": ROWS, "clean": [JudgedRow((), 0)] * 149 + [JudgedRow(((0.8, False, 1),), 0)]}
    said: list[str] = []
    assert 0.5 < choose_threshold(judged, said.append) <= 0.6
    judged["clean"] = [*judged["clean"], JudgedRow(((0.8, False, 1),), 0)]  # now two of 151: too many below 0.8
    assert choose_threshold(judged, said.append) > 0.8
    assert said[4] == "threshold 0.50: mean F1 0.2857, unchanged 0.9933, erroneous 0.286"
    assert len(said) == 2 * 14  # from 0.30 in steps of 0.05


RIGHT = JudgedRow(((0.985, True, 1),), 1)


@pytest.mark.parametrize(
    ("judged", "threshold"),
    [
        ({"people": [RIGHT]}, 0.3),  # the lowest of those that are as good
        ({"people": [RIGHT], "clean": [JudgedRow(((0.971, False, 1),), 0), JudgedRow(((0.4, False, 1),), 0)]}, 0.41),
        ({"people": [RIGHT], "clean": [JudgedRow(((0.971, False, 1),), 0)]}, 0.98),
        ({"people": [RIGHT], "clean": [JudgedRow(((0.999, False, 1),), 0)]}, 0.99),  # none leaves enough alone
        # Without a clean set the rows without errors are looked at, however many errors are found below.
        ({"people": [*[JudgedRow(((0.4, True, 1),), 1)] * 3, JudgedRow(((0.6, False, 1),), 0)]}, 0.99),
    ],
)
def test_threshold_of_a_few_rows(judged: dict[str, list[JudgedRow]], threshold: float) -> None:
    assert choose_threshold(judged, lambda _: None, 0.5) == threshold


def test_of_several_sets_the_mean_is_told() -> None:
    said: list[str] = []
    choose_threshold({"a": [RIGHT], "b": [JudgedRow((), 1)], "clean": [JudgedRow((), 0)]}, said.append)
    assert said[0] == "threshold 0.30: mean F1 0.5000, unchanged 1.0000, a 1.000 b 0.000"


def test_the_threshold_rises_until_nearly_all_clean_text_is_left_alone() -> None:
    clean = [JudgedRow(((0.554, False, 1), (0.2, False, 1)), 0), JudgedRow(((0.58, False, 1),), 0), *[JudgedRow((), 0)] * 198]
    assert cautious_enough(0.5, clean) == 0.56  # one of 200 may be changed
    assert cautious_enough(0.6, clean) == 0.6
    assert cautious_enough(0.5, clean, 1.0) == 0.59
    assert cautious_enough(0.5, []) == 0.5
    assert cautious_enough(0.5, [JudgedRow(((1.0, False, 1),), 0)]) == 0.99


def test_what_is_held_back_is_judged_with_a_check_that_has_not_seen_it(monkeypatch: pytest.MonkeyPatch) -> None:
    only = [("只", "指")]
    held = {"people": [(f"第{n}句", f"第{n // 2}句") for n in range(40)], "news": [(f"第{n}条",) * 2 for n in range(20)]}
    numbers = {row: number for number, row in enumerate([*only, *held["people"], *held["news"]])}
    fits: list[dict[int, float]] = []
    judged: list[tuple[str, str]] = []

    def examples(stages: object, rows: list[tuple[str, str]], _: object) -> list[Example]:
        return [Example(np.array([[numbers[row]]], dtype=np.float32), 0) for row in rows]

    def fit_check(examples: list[Example]) -> dict[str, Any]:
        fits.append({int(example.features[0, 0]): example.weight for example in examples})
        return {}

    def judge(stages: object, rows: list[tuple[str, str]]) -> list[JudgedRow]:
        rights = {right for (_, right), number in numbers.items() if number in fits[-1]}
        if len(fits) <= PARTS:
            assert not rights & {right for _, right in rows}  # not even a row with the same right sentence
        judged.extend(rows)
        return [JudgedRow(((0.6, n % 3 == 0, 1),), int(source != target)) for n, (source, target) in enumerate(rows)]

    monkeypatch.setattr(calibration, "_ranking", lambda *_: SimpleNamespace(ranker=default_ranker()))
    monkeypatch.setattr(calibration, "_examples_of_both", examples)
    monkeypatch.setattr(calibration, "fit_check", fit_check)
    monkeypatch.setattr(calibration, "judge", judge)
    calibrate(cast("ModelDirectory", None), [PairSet(tuple(only), 0.2)], held, lambda _: None)
    assert judged[60:] == held["news"]  # once more, by the final check
    assert sorted(judged[:60]) == sorted([*held["people"], *held["news"]])
    assert len(fits) == PARTS + 1 and all(0 in fit and len(fit) < len(numbers) for fit in fits[:-1])
    assert fits[-1] == {number: CLEAN_WEIGHT if number > 40 else 1.0 if number else 0.2 for number in numbers.values()}


def test_models_are_compared_by_two_figures() -> None:
    wrong = JudgedRow(((0.9, True, 1),), 1)
    missed = JudgedRow((), 1)
    misled = JudgedRow(((0.8, False, 1),), 0)
    later = JudgedRow(((0.5, True, 1),), 1)
    judged = {"people": [wrong, missed, misled, later]}
    # Right at ranks 1 and 3 of three edits: (1 + 2/3) / 2; two of the three errors have a right edit.
    assert average_precision(judged) == pytest.approx((1 + 2 / 3) / 2 * 2 / 3)
    assert average_precision({"people": [JudgedRow(((0.9, True, 1), (0.5, False, 1)), 2)]}) == pytest.approx(1 / 2)
    news = [JudgedRow(((0.6, False, 1),), 0), JudgedRow(((0.3, False, 1),), 0), *[JudgedRow((), 0)] * 198]
    # From 0.6 % of 200 on one row may be changed, from 0.8 % on two: only edits above 0.3, then any.
    assert strict_f1(judged["people"], 0.31) == strict_f1(judged["people"], 0.01) == pytest.approx(2 * 2 / 6)
    assert f1_at_equal_shares(judged | {"news": news}) == pytest.approx(2 / 3)
    assert f1_at_equal_shares(judged | {"news": [news[0]] * 200}) == pytest.approx(2 * 1 / 5)
    at_the_second = {"people": [wrong, JudgedRow(((0.3, True, 1),), 1)], "news": news}
    assert f1_at_equal_shares(at_the_second) == pytest.approx((2 * 2 / 3 + 4 * 1) / 6)  # changed where two rows may be
    assert average_precision({"news": news}) == 0 and f1_at_equal_shares({"news": news}) == 0
