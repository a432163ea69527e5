from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corrector.electra.contrasts import Contrasts
from corrector.electra.manifest import short_checksum
from corrector.electra.marks import MarkTables
from corrector.electra.model_dir import find_model
from corrector.errors import ConfigError, EvalDataError
from corrector.rank import Ranker
from corrector.stages import Stages
from corrector.train.__main__ import _pair_set, main
from corrector.train.config import SHORTEST, TrainConfig, override, to_json
from corrector.train.counts import IN_NONE, load_marks
from corrector.train.ledger import runs
from corrector.train.log_linear import Example
from tests import training


def test_help_lists_the_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    steps = ("pack", "reviewed", "contrast", "pretrain", "finetune", "average", "grow", "prune", "revive", "calibrate", "export")
    for name in (*steps, "manifest", "debug"):
        assert f"  {name} " in shown


def test_wrong_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pretrain"]) == 2
    assert "error: Missing option '--data'" in capsys.readouterr().err
    assert main(["practise"]) == 2


def test_a_folder_to_write_to_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").touch()
    assert main(["pretrain", "--data", str(tmp_path), "--out", str(tmp_path / "mine")]) == 2
    assert capsys.readouterr().err.endswith("mine' is a file.\n")


def test_pack_without_such_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pack", "--raw", str(tmp_path / "none-*.txt"), "--out", str(tmp_path / "out")]) == 123
    assert "error: " in (shown := capsys.readouterr().err) and "no such file" in shown


def test_missing_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("pretrain", "loop"):
        monkeypatch.delitem(sys.modules, f"corrector.train.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["pretrain", "--data", str(tmp_path), "--out", str(tmp_path)]) == 123
    assert capsys.readouterr().err == "error: torch is not installed; pip install electra-correct[torch]\n"


def test_pretraining_without_a_packed_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert main(["pretrain", "--data", str(tmp_path), "--out", str(tmp_path)]) == 123
    assert "corpus.json: cannot be read" in capsys.readouterr().err


def test_unknown_setting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    arguments = ["pretrain", "--data", str(tmp_path), "--out", str(tmp_path), "--set", "noise.wrod=1"]
    assert main(arguments) == 123
    assert "error: --set: noise.wrod: unknown setting" in capsys.readouterr().err


def test_one_kind_of_half_precision() -> None:
    with pytest.raises(ConfigError, match="fp16: cannot be set together with bf16"):
        override(TrainConfig(bf16=True), ("fp16=true",))
    for settings in (("fp16=true", "bf16=false"), ("bf16=false", "fp16=true")):
        assert override(TrainConfig(bf16=True), settings).fp16
    assert override(TrainConfig(), ("bf16=true",)).bf16


def test_shares_of_the_windows_that_exceed_them() -> None:
    settings = ("noise.generator_windows=0.6", "noise.head_windows=0.5")
    with pytest.raises(ConfigError, match=r"noise\.head_windows: and generator_windows are shares of the same windows"):
        override(TrainConfig(), settings)
    assert override(TrainConfig(), (*settings, "noise.head_windows=0.4")).noise.head_windows == 0.4


def test_overriding_and_reading_settings(tmp_path: Path) -> None:
    config = override(TrainConfig(), ("model.layers=4", "stages=[[0,16]]", "device=cuda", "noise.rates=[0.1]"))
    assert (config.model.layers, config.stages, config.device, config.noise.rates) == (4, ((0, 16),), "cuda", (0.1,))
    (tmp_path / "config.json").write_text(to_json(config), "utf-8")
    from corrector.train.config import load

    assert load(tmp_path / "config.json") == config


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("compile=False", 'compile: must be true or false, not "False"'),
        ("threads=0", "threads: must be 1 or more, not 0"),
        ("threads=1.5", "threads: must be a whole number, not 1.5"),
        ("batch_tokens=true", "batch_tokens: must be a whole number, not true"),
        ("learning_rate=fast", 'learning_rate: must be a number, not "fast"'),
        ("learning_rate=-1", "learning_rate: must be 0 or more"),
        ("clip=NaN", "clip: must be a number"),
        ("device=1", "device: must be text, not 1"),
        ("dev=[1]", "dev: must be text"),
        ("dev=1", "dev: must be a list"),
        ("betas=[0.9]", "betas: must be a list of 2"),
        ("noise.rates=[0.1, 2]", "noise.rates: must be 0 to 1"),
        ("noise.clean_windows=1.5", "noise.clean_windows: must be 0 to 1"),
        ("noise=0.5", "noise: must be an object of settings"),
        ("model.heads=7", "model.hidden_size: must be a multiple of heads"),
        ("stages=[]", "stages: must be"),
        ("stages=[[5, 32]]", "stages: must be"),
        ("stages=[[0, 32], [0, 64]]", "stages: must be"),
        (f"stages=[[0, {SHORTEST - 1}]]", "stages: must be"),
        (f"stages=[[0, 32], [5, {SHORTEST - 1}]]", "stages: must be"),
        ("stages=[0, 32]", "stages: must be a list"),
    ],
)
def test_impossible_values_of_settings(setting: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"--set: {message}")):
        override(TrainConfig(), (setting,))


def test_the_shortest_windows() -> None:
    assert override(TrainConfig(), (f"stages=[[0, {SHORTEST}]]",)).stages == ((0, SHORTEST),)


def test_values_of_settings_in_other_words() -> None:
    config = override(TrainConfig(), ("total_tokens=5e6", "learning_rate=1", "dev=a.tsv", "out=runs"))
    assert (config.total_tokens, config.learning_rate, config.dev, config.out) == (5_000_000, 1.0, ("a.tsv",), "runs")
    assert isinstance(config.total_tokens, int) and isinstance(config.learning_rate, float)


def test_a_file_of_settings_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "config.json"
    for text, message in (("[1]", "config: must be an object"), ("{", "config: cannot be read"), ('{"seed": "a"}', "seed: must be")):
        path.write_text(text, "utf-8")
        assert main(["pretrain", "--data", "x", "--out", "y", "--config", str(path)]) == 123
        assert f"error: {path}: {message}" in capsys.readouterr().err


def test_fine_tuning_takes_over_the_shape_of_the_network_and_no_setting_of_the_run_before() -> None:
    pytest.importorskip("torch")
    from corrector.train.finetune import finetune_config

    shape = dataclasses.replace(TrainConfig().model, layers=3)
    before = TrainConfig(
        model=shape, decay_floor=0.5, total_seconds=60.0, device="cuda", workers=15, repeats=2, raw_share=0.65, seed=82, bf16=True,
    )  # fmt: skip
    config = finetune_config(before, "data", "out")
    assert config == finetune_config(TrainConfig(model=shape), "data", "out")
    assert (config.model.layers, config.data, config.out) == (3, "data", "out")


def test_pairs_with_a_weight(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "a.tsv"
    path.write_text("高形\t高兴\n\n不等\t不相等\n", "utf-8")
    plain, weighted = _pair_set(str(path)), _pair_set(f"{path}:2.5")
    assert plain.pairs == weighted.pairs == (("高形", "高兴"),)  # the row of unequal length is left out
    assert (plain.weight, weighted.weight, plain.name) == (1.0, 2.5, "a.tsv")
    of_a_part = _pair_set(f"{path}:2@3")
    assert (of_a_part.weight, of_a_part.part, plain.part, weighted.part) == (2.0, 3, IN_NONE, IN_NONE)
    assert "1 of 2 rows left out" in capsys.readouterr().err
    colon = tmp_path / "a:b.tsv"
    colon.write_text("高形\t高兴\n", "utf-8")
    assert (_pair_set(str(colon)).name, _pair_set(f"{colon}:2").weight) == ("a:b.tsv", 2.0)
    for item, weight in ((f"{path}:two", "two"), (f"{path}:@3", "missing after the colon")):
        with pytest.raises(ConfigError, match=rf"a\.tsv: weight: must be a number, and is {weight}$"):
            _pair_set(item)
    with pytest.raises(EvalDataError, match="cannot be read"):
        _pair_set(str(tmp_path / "none.tsv"))
    path.write_text("一行\n", "utf-8")
    with pytest.raises(EvalDataError, match=r"a\.tsv:1: expected source<TAB>target"):
        _pair_set(str(path))
    path.write_text("一行\t两行字\n", "utf-8")
    with pytest.raises(EvalDataError, match=r"a\.tsv: no usable pair"):
        _pair_set(str(path))


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (":1@0", r"^:1@0: file: none is named; give file\.tsv"),
        (":2", "^:2: file: none is named"),
        ("x.tsv:0", r"^x\.tsv: weight: must be above 0, and is 0$"),
        ("x.tsv:nan@1", r"^x\.tsv: weight: must be above 0, and is nan$"),
        ("x.tsv:2@x", r"^x\.tsv: part: must be 0 or more, a whole number, and is x$"),
        ("x.tsv:2@", r"^x\.tsv: part: must be 0 or more, a whole number, and is missing after the @$"),
    ],
)
def test_pairs_of_a_weight_or_part_that_cannot_be(item: str, message: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(ConfigError, match=message):
        _pair_set(item)


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything `debug` makes."""
    for name in ("torch", "onnx", "sklearn", "scipy"):
        pytest.importorskip(name)
    out = tmp_path_factory.mktemp("chain")
    assert main(["debug", "--out", str(out)]) == 0
    return out


def test_debug_makes_a_whole_model(chain: Path) -> None:
    model = find_model(chain / "model", verify=True)
    training = model.manifest["training"]
    assert [run["tokens"] for run in training["runs"]] == [20_480, 20_480]
    assert training["runs"][1]["pairs"] == [{"name": "fit.tsv", "rows": 12, "weight": 1.0}]
    (score,) = model.manifest["scores"]
    assert score["checksum"] == model.checksum and score["set"] == "held_back"
    assert model.manifest["calibration"] == {
        "fit": [{"name": "fit.tsv", "rows": 12, "weight": 1.0}], "held_back": [{"name": "held_back.tsv", "rows": 12}],
        "slips": [{"name": "fit.tsv", "rows": 12, "weight": 1.0}],
    }  # fmt: skip
    slips = model.slips
    assert slips is not None and len(slips.pairs) and "slips.npz" in model.manifest["files"]
    record = json.loads((chain / "data" / "corpus.json").read_text("utf-8"))
    assert (record["raw"], record["clean"]) == (["raw-0", "raw-1"], ["clean-0"])
    assert training["corpus"]["sha256"] == record["sha256"]
    assert score["signature"] in (chain / "model" / "README.md").read_text("utf-8")


def test_a_ranker_asks_for_masked_readings_only_when_fitted_so(chain: Path, tmp_path: Path) -> None:
    model = shutil.copytree(chain / "model", tmp_path / "model")
    rows = ["--pairs", str(chain / "text" / "fit.tsv"), "--held-back", str(chain / "text" / "held_back.tsv")]
    for options, expected in (([], False), (["--masked"], True)):
        assert main(["calibrate", "--model", str(model), *rows, *options]) == 0
        assert Ranker.load(model / "ranker.json").reads_masked is expected


def test_contrasts_go_into_training_and_models(
    chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = shutil.copytree(chain / "data", tmp_path / "data")
    rows = str(chain / "text" / "fit.tsv")
    assert main(["contrast", "--data", str(data), rows]) == 123
    assert "no two characters that are alike occur 8,000 times each" in capsys.readouterr().err
    monkeypatch.setattr("corrector.train.contrast._FEWEST", 2)
    monkeypatch.setattr("corrector.train.contrast._POSSIBLE", 1000.0)  # in so little text all others seem impossible
    assert main(["contrast", "--data", str(data), "--count", "3", "--weights", "20", rows]) == 0
    contrasts = Contrasts.load(data / "contrasts.npz")
    assert contrasts.pairs.shape == (3, 2) and (contrasts.pairs[:, 0] < contrasts.pairs[:, 1]).all()
    assert all(tables.contrasts is not None for tables in load_marks(data))
    checkpoint = str(chain / "finetune" / "checkpoint.pt")
    assert main(["export", "--data", str(data), "--checkpoint", checkpoint, "--name", "tiny", "--out", str(tmp_path / "model")]) == 0
    tables = find_model(tmp_path / "model", verify=True).tokenizer.tables
    assert tables is not None and tables.contrasts is not None and tables.contrasts.pairs.tolist() == contrasts.pairs.tolist()
    assert main(["contrast", "--data", str(tmp_path)]) == 123
    assert "has no counts of the corpus" in capsys.readouterr().err


def test_one_set_must_count_in_full(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["--pairs", f"{chain / 'text' / 'fit.tsv'}:0.5", "--held-back", str(chain / "text" / "held_back.tsv")]
    assert main(["calibrate", "--model", str(chain / "model"), *rows, "--dry-run"]) == 123
    assert "all --pairs have a weight below 1" in capsys.readouterr().err


def test_a_dry_run_writes_nothing(
    chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Path(shutil.copytree(chain / "model", tmp_path / "model"))
    manifest = json.loads((model / "manifest.json").read_text("utf-8"))
    checksum = short_checksum({name: entry["sha256"] for name, entry in manifest["files"].items()})
    manifest["scores"] = [{"set": "some", "rows": 2, "erroneous": 1, "figures": {}, "signature": "set:some", "checksum": checksum}]
    (model / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    files = {path: path.read_bytes() for path in model.rglob("*") if path.is_file()}
    rows = ["--pairs", str(chain / "text" / "fit.tsv"), "--held-back", str(chain / "text" / "held_back.tsv")]
    more = ["--slips", str(chain / "text" / "fit.tsv"), "--dry-run"]
    copied: list[object] = []
    copytree = shutil.copytree

    def copy(source: str, target: str, *of_a_folder_in_it: Any) -> str:
        if not of_a_folder_in_it:
            copied.append(source)
        return str(copytree(source, target, *of_a_folder_in_it))

    monkeypatch.setattr(shutil, "copytree", copy)
    assert main(["calibrate", "--model", str(model), *rows, *more]) == 0
    said = capsys.readouterr().err
    assert "average precision 0." in said and "dropped" not in said  # the model's own scores stay
    assert files == {path: path.read_bytes() for path in model.rglob("*") if path.is_file()}
    assert len(copied) == 1


def test_text_of_the_corpus_is_read_by_counts_without_it(
    chain: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from corrector.train import calibrate

    data = ["--data", str(chain / "data")]
    rows, held = str(chain / "text" / "fit.tsv"), str(chain / "text" / "held_back.tsv")
    arguments = ["calibrate", "--model", str(chain / "model"), "--pairs", rows, "--pairs", f"{rows}:0.5@1"]
    arguments += ["--held-back", held, "--dry-run"]
    assert main(arguments) == 123
    assert "fit.tsv is said to be of part 1 of the corpus; give --data" in capsys.readouterr().err
    read: list[MarkTables | None] = []
    weighed_examples = calibrate._weighed_examples

    def weighed(stages: Stages, rows: calibrate.Rows, weight: float) -> list[Example]:
        read.append(stages.tokenizer.tables)
        return weighed_examples(stages, rows, weight)

    monkeypatch.setattr(calibrate, "_weighed_examples", weighed)
    assert main([*arguments, *data]) == 0
    without, everything = load_marks(chain / "data")[1:]
    counts = [tables.ngrams.counts.tolist() for tables in (*read[:2], everything, without)]  # type: ignore[union-attr]
    assert counts[0] == counts[2] != counts[1] == counts[3]
    assert main(["calibrate", "--model", str(chain / "model"), "--pairs", rows, "--pairs", f"{rows}:0.5@7", *arguments[7:], *data]) == 123
    assert "no counts of the corpus without part 7" in capsys.readouterr().err


def test_a_part_that_there_is_not(chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, out = str(chain / "text" / "fit.tsv"), ["--out", str(tmp_path / "run")]
    start = ["--from", str(chain / "pretrain" / "checkpoint.pt"), "--data", str(chain / "data"), "--debug"]
    for item, options, status, message in (
        (f"{rows}:1@7", start, 123, "has no counts of the corpus without part 7"),
        (f"{rows}:1@-3", start, 123, "fit.tsv: part: must be 0 or more, a whole number, and is -3"),
        (f"{rows}:1@0", ["--from", str(chain / "model")], 2, "pairs of a PART of the packed text need --data"),
    ):
        assert main(["finetune", item, *options, *out]) == status
        assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_pairs_of_a_part_are_marked_as_its_text(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from corrector.electra.tokenizer import Tokenizer
    from corrector.train.finetune import PairStream
    from corrector.train.pairs import PairSet

    tokenizer = Tokenizer(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "高", "形", "兴"))
    sets = [PairSet((("高形", "高兴"),) * 3, 1.0), PairSet((("高兴", "高兴"),), 3.0, part=4)]
    batch = PairStream(sets, tokenizer, 1).batch(64, 8)
    assert set(batch.folds.tolist()) == {IN_NONE, 4}
    for given, right, part in zip(batch.given, batch.original, batch.folds, strict=True):
        assert right.tolist() == [2, 5, 7, 3, 0, 0, 0, 0]
        assert given.tolist() == ([2, 5, 7, 3, 0, 0, 0, 0] if part == 4 else [2, 5, 6, 3, 0, 0, 0, 0])


def test_no_room_for_labelled_rows(chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--data", str(chain / "data"), "--from", str(chain / "pretrain" / "checkpoint.pt"), "--out", str(tmp_path / "run")]
    shares = ["--set", "noise.head_windows=0.9", "--pair-share", "0.2", "--debug"]
    assert main(["finetune", str(chain / "text" / "fit.tsv"), *arguments, *shares]) == 123
    assert "leave no room for a labelled share of 0.2" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_run_only_goes_on_from_one_of_its_own_kind(chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind, other in (("pretrain", "fine-tuning"), ("finetune", "pre-training")):
        out = tmp_path / kind
        out.mkdir()
        shutil.copy(chain / ("finetune" if kind == "pretrain" else "pretrain") / "checkpoint.pt", out)
        start = ["--from", str(chain / "pretrain" / "checkpoint.pt")]
        assert main([kind, *start, "--data", str(chain / "data"), "--out", str(out), "--debug"]) == 123
        assert f"checkpoint.pt: is of a {other} run; give another --out" in capsys.readouterr().err


def test_networks_that_were_changed_are_begun_from_and_not_gone_on_with(
    chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start, data = str(chain / "pretrain" / "checkpoint.pt"), ["--data", str(chain / "data")]
    assert main(["average", start, start, "--out", str(tmp_path / "mean")]) == 0
    assert main(["grow", start, "--layers", "3", "--out", str(tmp_path / "deep")]) == 0
    few = ["--debug", "--set", "total_tokens=2048"]
    for name, layers in (("mean", 2), ("deep", 3)):
        made = tmp_path / name / "checkpoint.pt"
        again = ["pretrain", *data, "--out", str(tmp_path / name), *few, "--set", f"model.layers={layers}"]
        assert main(again) == 123
        assert "has no optimiser to go on with" in capsys.readouterr().err
        from_it = ["pretrain", "--from", str(made), *data, "--out", str(tmp_path / name / "on"), *few]
        assert main(from_it) == 0  # of that shape, in --debug too
        assert (tmp_path / name / "on" / "checkpoint.pt").is_file()


def test_networks_know_the_vocabulary_they_were_trained_on(chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also from another of the same size."""
    import torch

    data, start, other = tmp_path / "data", chain / "finetune" / "checkpoint.pt", tmp_path / "other.pt"
    shutil.copytree(chain / "data", data)
    tokens = (data / "vocab.txt").read_text("utf-8").splitlines()
    (data / "vocab.txt").write_text("\n".join([*tokens[:-2], tokens[-1], tokens[-2]]) + "\n", "utf-8")
    out = ["--data", str(data), "--out", str(tmp_path / "out")]
    for command in (
        ["pretrain", "--from", str(start), *out, "--debug"],
        ["finetune", "--from", str(start), *out, "--debug"],
        ["prune", str(start), "--units", "100", *out],
        ["revive", str(start), *out],
        ["export", "--checkpoint", str(start), *out, "--name", "x"],
    ):
        assert main(command) == 123
        assert f"error: {start}: was trained with another vocabulary than that of {data}; give" in capsys.readouterr().err
        assert not list((tmp_path / "out").rglob("*.pt"))
    torch.save(torch.load(start, weights_only=False) | {"vocabulary": "0" * 64}, other)
    assert main(["average", str(other), str(start), "--out", str(tmp_path / "out")]) == 123
    assert "other.pt: was trained with another vocabulary" in capsys.readouterr().err
    fit, held = (str(chain / "text" / name) for name in ("fit.tsv", "held_back.tsv"))
    pairs = ["--pairs", fit, "--pairs", f"{fit}:1@0", "--held-back", held, "--data", str(data), "--dry-run"]
    assert main(["calibrate", "--model", str(chain / "model"), *pairs]) == 123
    assert f"error: {data}: has another vocabulary than the model" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "  ", "a|b", "a\nb"])
def test_a_name_that_would_break_signatures_is_no_name(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--checkpoint", str(tmp_path / "none.pt"), "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main(["export", *arguments, "--name", name]) == 2
    assert f"{name!r} cannot be the name of a model; give one line without '|'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_no_checkpoint_is_made_over_the_one_it_is_made_of(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start, data, out = chain / "pretrain" / "checkpoint.pt", ["--data", str(chain / "data")], ["--out", str(chain / "pretrain" / ".")]
    before = start.read_bytes()
    for arguments in (["average", str(start)], ["grow", str(start), "--layers", "3"], ["prune", str(start), "--units", "100", *data],
                      ["revive", str(start), *data]):  # fmt: skip
        assert main([*arguments, *out]) == 123
        assert "checkpoint.pt: is what is read, and would be replaced" in capsys.readouterr().err
    assert start.read_bytes() == before


def test_a_finished_run_is_left_alone(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (chain / "pretrain" / "metrics.jsonl").read_bytes()
    assert main(["pretrain", "--data", str(chain / "data"), "--out", str(chain / "pretrain"), "--debug"]) == 0
    assert "going on from 20,480 tokens" in capsys.readouterr().err
    assert (chain / "pretrain" / "metrics.jsonl").read_bytes() == before


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="sessions are POSIX")
def test_a_terminal_that_is_closed_ends_a_run_with_its_checkpoint(chain: Path, tmp_path: Path) -> None:
    import pty

    run = ["pretrain", "--data", str(chain / "data"), "--out", str(tmp_path), "--debug", "--set", "log_steps=1"]
    run += ["--set", "total_tokens=1000000000"]
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "corrector.train", *run])
    said = b""
    while b"tokens_per_second" not in said:
        said += os.read(terminal, 1000)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGHUP
    assert (tmp_path / "checkpoint.pt").is_file()


def test_going_on_with_another_shape(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--data", str(chain / "data"), "--out", str(chain / "pretrain"), "--debug", "--set", "model.layers=3"]
    assert main(["pretrain", *arguments]) == 123
    assert "model.layers: is 2 there, 3 here" in capsys.readouterr().err


def test_fine_tuning_without_pairs_from_the_command_line(chain: Path, tmp_path: Path) -> None:
    start = str(chain / "pretrain" / "checkpoint.pt")
    arguments = [
        "--from",
        start,
        "--data",
        str(chain / "data"),
        "--out",
        str(tmp_path),
        "--debug",
        "--set",
        "total_tokens=2048",
    ]
    assert main(["finetune", *arguments]) == 0
    ledger = json.loads((tmp_path / "ledger.json").read_text("utf-8"))
    assert ledger["pairs"] == [] and [run["tokens"] for run in ledger["earlier"]] == [20_480]


def test_averaging_runs(chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    paths = [chain / "pretrain" / "checkpoint.pt", chain / "finetune" / "checkpoint.pt"]
    assert main(["average", *map(str, paths), "--out", str(tmp_path)]) == 0
    first, last, mean = (torch.load(path, weights_only=False) for path in (*paths, tmp_path / "checkpoint.pt"))
    for name, weights in mean["model"].items():
        assert torch.allclose(weights, (first["model"][name] + last["model"][name]) / 2), name
    assert any(not torch.equal(first["model"][name], last["model"][name]) for name in mean["model"])
    (earlier, own) = runs(tmp_path / "checkpoint.pt", TrainConfig(), mean["tokens"])
    assert earlier["tokens"] == 20_480 and own["averaged"] == [20_480, 20_480]
    assert own["pairs"] == [{"name": "fit.tsv", "rows": 12, "weight": 1.0}]
    assert main(["average", *map(str, reversed(paths)), "--out", str(tmp_path / "reversed")]) == 0  # what led to the other is not lost
    (beside, last_one) = runs(tmp_path / "reversed" / "checkpoint.pt", TrainConfig(), 20_480)
    assert beside["pairs"] and not last_one["pairs"] and last_one["averaged"] == [20_480, 20_480]
    again = [str(tmp_path / "checkpoint.pt"), str(paths[1])]  # the run averaged before is the same run as without
    assert main(["average", *again, "--out", str(tmp_path / "again")]) == 0
    assert [run["tokens"] for run in runs(tmp_path / "again" / "checkpoint.pt", TrainConfig(), 20_480)] == [20_480, 20_480]
    torch.save(first | {"model": {}}, tmp_path / "other.pt")
    assert main(["average", str(tmp_path / "other.pt"), str(paths[1]), "--out", str(tmp_path / "x")]) == 123
    assert "other.pt: its networks have another shape" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_grown_encoder_computes_the_same_and_learns_on(
    chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    from corrector.train.export import load_model

    start, grown = chain / "finetune" / "checkpoint.pt", tmp_path / "checkpoint.pt"
    assert main(["grow", str(start), "--layers", "3", "--out", str(tmp_path)]) == 0
    before, after = (load_model(path, chain / "data")[0].eval() for path in (start, grown))
    assert (len(before.encoder.layers), len(after.encoder.layers)) == (2, 3)
    ids = torch.arange(6, 46).reshape(2, 20)
    with torch.no_grad():
        told = [model(ids, torch.zeros_like(ids), None, torch.arange(5)) for model in (before, after)]
    for ours, theirs in zip(*told, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-4) and ours.std() > 0
    *_, own = runs(grown, TrainConfig(), 1)
    assert own["grown"] == [2, 3] and own["pairs"] == [{"name": "fit.tsv", "rows": 12, "weight": 1.0}]
    arguments = ["--from", str(grown), "--data", str(chain / "data"), "--out", str(tmp_path / "on"), "--set", "total_tokens=2048"]
    shape = ["batch_tokens=1024", "warmup_tokens=0", "compile=false", "raw_share=0.5", "doubt=0.9"]
    assert main(["finetune", *arguments, *(word for setting in shape for word in ("--set", setting))]) == 0
    trained = load_model(tmp_path / "on" / "checkpoint.pt", chain / "data")[0]
    assert all(layer.down.weight.any() and layer.out.weight.any() for layer in trained.encoder.layers)
    assert main(["grow", str(start), "--layers", "2", "--out", str(tmp_path / "x")]) == 123
    assert "the encoder has 2; give 3 to 4" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("now", "layers", "new"), [(1, 2, [1]), (2, 3, [2]), (2, 4, [1, 3]), (3, 4, [3]), (3, 5, [1, 4]), (3, 6, [1, 3, 5])]
)
def test_new_layers_are_spread_evenly_and_hand_on_what_they_are_given(now: int, layers: int, new: list[int]) -> None:
    torch = pytest.importorskip("torch")
    from corrector.train.grow import grown
    from corrector.train.model import JointElectra

    torch.manual_seed(3)
    shape, features = training.config().model, torch.rand(training.SIZE, 5)
    before, after = (JointElectra(dataclasses.replace(shape, layers=number), features).eval() for number in (now, layers))
    with torch.no_grad():
        for name, parameter in before.named_parameters():  # so large that every one of them shows in the result
            parameter.normal_(float("norm" in name and name.endswith("weight")), 0.25)
    after.load_state_dict(grown(before.state_dict(), now, layers))
    assert [number for number, layer in enumerate(after.encoder.layers) if not layer.down.weight.any()] == new
    ids = torch.from_numpy(training.windows(4, 8))
    with torch.no_grad():
        told = [model(ids, torch.zeros_like(ids), None, torch.arange(32)) for model in (before, after)]
    for ours, theirs in zip(*told, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5) and ours.std() > 1e-2


def test_a_pruned_encoder_computes_nearly_the_same_learns_on_and_ships(
    chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from corrector.train import watch
    from corrector.train.export import load_model

    monkeypatch.setattr(watch, "LOOKED_AT", 8192)
    state = torch.load(chain / "finetune" / "checkpoint.pt", weights_only=False)
    networks = state["model"]
    silent = torch.arange(256) % 2 == 0
    for number in (0, 1):
        networks[f"encoder.layers.{number}.up.bias"][silent] = -9.0  # units that never fire
        networks[f"encoder.layers.{number}.up.weight"][1] = 0.0  # one that always says the same
        networks[f"encoder.layers.{number}.up.bias"][1] = 2.0
    start, pruned = tmp_path / "start.pt", tmp_path / "pruned" / "checkpoint.pt"
    torch.save(state, start)
    data = ["--data", str(chain / "data")]
    assert main(["prune", str(start), "--units", "127", *data, "--out", str(pruned.parent)]) == 0
    assert "layer 2: 127 of 256 units stay; what the others brought, of all variance: 0.00%" in capsys.readouterr().err
    before, after = (load_model(path, chain / "data")[0].eval() for path in (start, pruned))
    silent[1] = True
    assert torch.equal(after.encoder.layers[1].up.weight, before.encoder.layers[1].up.weight[~silent])
    ids = torch.arange(6, 46).reshape(2, 20)
    with torch.no_grad():
        told = [model(ids, torch.zeros_like(ids), None, torch.arange(5)) for model in (before, after)]
    for ours, theirs in zip(*told, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-4) and ours.std() > 0
    *_, own = runs(pruned, TrainConfig(), 1)
    assert own["pruned"] == [256, 127]
    for units in ("0", "256"):
        assert main(["prune", str(start), "--units", units, *data, "--out", str(tmp_path / "x")]) == 123
        assert "a layer has 256; give 1 to 255" in capsys.readouterr().err
    few = ["--set", "total_tokens=1024", "--set", "batch_tokens=1024", "--set", "compile=false", "--set", "stages=[[0,32]]"]
    assert main(["finetune", "--from", str(pruned), *data, "--out", str(tmp_path / "on"), *few]) == 0
    model = tmp_path / "model"
    arguments = ["--checkpoint", str(tmp_path / "on" / "checkpoint.pt"), *data, "--out", str(model), "--name", "narrow"]
    assert main(["export", *arguments]) == 0
    assert json.loads((model / "discriminator" / "config.json").read_text("utf-8"))["intermediate_size"] == 127
    assert main(["finetune", "--from", str(model), *data, "--out", str(tmp_path / "again"), *few]) == 0
    wide = [*few, "--set", "model.intermediate_size=0"]
    assert main(["finetune", "--from", str(model), *data, "--out", str(tmp_path / "wide"), *wide]) == 123
    assert "model.intermediate_size: is 127 there, 256 here" in capsys.readouterr().err


def test_what_is_dormant_begins_anew_and_the_rest_stays(
    chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from corrector.train import watch
    from corrector.train.export import load_model

    monkeypatch.setattr(watch, "LOOKED_AT", 8192)
    state = torch.load(chain / "finetune" / "checkpoint.pt", weights_only=False)
    networks = state["model"]
    networks["encoder.layers.1.up.bias"][:5] = -9.0  # five units that can never fire
    hidden, size = 64, 32
    value = slice(2 * hidden + size, 3 * hidden)  # a second head that says the same of everything
    networks["encoder.layers.0.qkv.weight"][value], networks["encoder.layers.0.qkv.bias"][value] = 0.0, 1.0
    start, out = tmp_path / "start.pt", tmp_path / "revived"
    torch.save(state, start)
    assert main(["revive", str(start), "--data", str(chain / "data"), "--out", str(out)]) == 0
    said = capsys.readouterr().err
    before, after = (load_model(path, chain / "data")[0].eval() for path in (start, out / "checkpoint.pt"))
    layer, first = after.encoder.layers[1], after.encoder.layers[0]
    new = ~layer.down.weight.any(0)
    assert new[:5].all() and not new.all() and layer.up.weight[new].std() > 0.05 and not layer.up.bias[new].any()
    assert f"layer 2: {new.sum()} of 256 units" in said and "of 2 heads begin anew" in said
    assert torch.equal(layer.up.weight[~new], before.encoder.layers[1].up.weight[~new])
    assert not first.out.weight[:, size:].any() and first.qkv.weight[value].std() > 0.05
    ids = torch.arange(6, 46).reshape(2, 20)
    with torch.no_grad():
        told = [model(ids, torch.zeros_like(ids), None, torch.arange(5)) for model in (before, after)]
    for ours, theirs in zip(*told, strict=True):
        assert torch.allclose(ours, theirs, atol=0.02) and ours.std() > 0
    *_, own = runs(out / "checkpoint.pt", TrainConfig(), 1)
    assert own["revived"][1] == new.sum()


def test_windows_must_fit(chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["pretrain", "--data", str(chain / "data"), "--out", str(tmp_path), "--debug"]
    assert main([*arguments, "--set", "stages=[[0,512]]"]) == 123
    assert "windows of 512 tokens do not fit" in capsys.readouterr().err


def test_training_goes_on_from_a_model_or_a_checkpoint(
    chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--data", str(chain / "data"), "--set", "total_tokens=2048", "--set", "batch_tokens=1024", "--set", "compile=false"]
    assert main(["finetune", "--from", str(chain / "model"), "--out", str(tmp_path / "fine"), *arguments, "--set", "stages=[[0,32]]"]) == 0
    arguments.append("--debug")
    runs = json.loads((chain / "model" / "manifest.json").read_text("utf-8"))["training"]["runs"]
    for name, start in (("fine", chain / "model"), ("a", chain / "model"), ("b", chain / "pretrain" / "checkpoint.pt")):
        assert name == "fine" or main(["pretrain", "--from", str(start), "--out", str(tmp_path / name), *arguments]) == 0
        ledger = json.loads((tmp_path / name / "ledger.json").read_text("utf-8"))
        assert ledger["earlier"] == (runs[:1] if name == "b" else runs) and ledger["pairs"] == []
        assert (tmp_path / name / "checkpoint.pt").is_file()
    plain = [argument for argument in arguments if argument != "--debug"]  # the shape is the start's, not the default
    assert main(["pretrain", "--from", str(chain / "model"), "--out", str(tmp_path / "e"), *plain, "--set", "stages=[[0,32]]"]) == 0
    assert (tmp_path / "e" / "checkpoint.pt").is_file()
    capsys.readouterr()
    shape = ["--out", str(tmp_path / "c"), *arguments, "--set", "model.layers=3"]
    assert main(["pretrain", "--from", str(chain / "model"), *shape]) == 123
    assert "model.layers: is 2 there, 3 here" in capsys.readouterr().err
    assert main(["pretrain", "--from", "default", "--out", str(tmp_path / "d"), *arguments]) == 123
    assert "vocabulary: is not that of" in capsys.readouterr().err


def test_networks_of_a_model_are_taken_apart_again(chain: Path) -> None:
    """The same outputs, from a word table that is divided into features and the rest."""
    import torch

    from corrector.train.model import JointElectra
    from corrector.train.released import begin_with, read_network

    directory = find_model(chain / "model")
    features = torch.from_numpy(np.load(chain / "data" / "features.npy"))
    released = read_network(directory)
    begun = JointElectra(dataclasses.replace(released.config, max_positions=40), features).eval()
    generator = {name: tensor.clone() for name, tensor in begun.generator.state_dict().items()}
    begin_with(begun, directory)
    with torch.no_grad():
        table = released.embeddings.table()
        assert torch.allclose(begun.embeddings.table(), table, atol=1e-5)
        assert 0 < float(begun.embeddings.word.weight.square().sum()) < float(table.square().sum())  # features explain a part
    ids = torch.randint(6, len(features), (3, 20))
    places = torch.arange(ids.numel())
    types = torch.randint(0, 1000, ids.shape)
    with torch.no_grad():
        for ours, theirs in zip(begun(ids, types, None, places), released(ids, types, None, places), strict=True):
            assert torch.allclose(ours, theirs, atol=1e-3)
    assert all(torch.equal(tensor, generator[name]) for name, tensor in begun.generator.state_dict().items())
