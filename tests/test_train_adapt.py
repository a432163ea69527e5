"""Adapting a released model: what an export rounded is read back, rows are dealt out fairly, a confusion of the field is learned."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrector import Corrector, corrected_text
from corrector.electra.marks import PLAIN_MARKS
from corrector.electra.model import DISCRIMINATOR, GENERATOR, MARKS, RANKER, WORDS
from corrector.electra.model_dir import DEFAULT_MODEL, find_model
from corrector.errors import EvalDataError, ModelError
from corrector.eval.metrics import evaluate
from corrector.rank import default_ranker
from corrector.train.__main__ import main
from tests import training
from tests.training import SIZE, VOCABULARY

torch = pytest.importorskip("torch")
for name in ("onnx", "safetensors", "scipy"):
    pytest.importorskip(name)

from corrector.train import adapt, corpus  # noqa: E402
from corrector.train.config import ModelConfig  # noqa: E402
from corrector.train.export import export_onnx, export_pytorch  # noqa: E402
from corrector.train.learner import Learner  # noqa: E402
from corrector.train.log_linear import PRIOR_L2, Example, fit_log_linear  # noqa: E402
from corrector.train.model import JointElectra  # noqa: E402
from corrector.train.pairs import FEWEST, PairSet, split, with_right_sentences  # noqa: E402
from corrector.train.release import write_manifest  # noqa: E402
from corrector.train.released import read_network  # noqa: E402

SHAPE = ModelConfig(SIZE, 16, 32, 2, 4, 64)
TINY = {"embedding_size": 32, "hidden_size": 32, "layers": 1, "heads": 2, "max_positions": 32}
WRONG, RIGHT = "机酐", "肌酐"  # the confusion of the field; 机 by itself is right in 手机 and 机器
PEOPLE = ("医生", "护士", "患者", "家属", "老师", "主任")
FRAMES = (
    "{}说今天的肌酐偏高。", "{}在查看肌酐的变化。", "{}用手机记下了时间。", "{}等着复查肌酐结果。", "{}把机器搬到了楼下。",
    "{}认为肌酐已经正常。", "{}让我们先测肌酐。", "{}没有带手机出门。", "{}问肌酐是不是要紧。", "{}说公式和公事不一样。",
)  # fmt: skip
SENTENCES = tuple(frame.format(person) for frame in FRAMES for person in PEOPLE)
PAIRS = tuple((sentence.replace(RIGHT, WRONG), sentence) for sentence in SENTENCES)
LOUD = ("learning_rate=5e-3", "total_tokens=80000", "threads=1")


def set_of(*settings: str) -> list[str]:
    return [part for setting in settings for part in ("--set", setting)]


def write_pairs(path: Path, pairs: tuple[tuple[str, str], ...] = PAIRS) -> str:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), "utf-8")
    return str(path)


def write_rest(folder: Path, vocabulary: tuple[str, ...]) -> None:
    """What makes exported networks with marks a model directory."""
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", "utf-8")
    default_ranker().save(folder / RANKER)
    write_manifest(folder, folder.name, "0.2", {"training": {"hours": 3, "runs": [{"tokens": 640}]}, "sources": [{"name": "a paper"}]})


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model over the characters of the field that has learned nothing and suspects nothing."""
    data = tmp_path_factory.mktemp("data")
    for number in (0, 1):
        (data / f"raw-{number}.txt").write_text("\n".join(SENTENCES[number::2] * 60) + "\n", "utf-8")
    files = [data / "raw-0.txt", data / "raw-1.txt"]
    corpus.pack(files, data, {path.name: number for number, path in enumerate(files)}, lambda _: None, extra="")
    vocabulary = tuple((data / "vocab.txt").read_text("utf-8").rstrip("\n").split("\n"))
    torch.manual_seed(5)
    model = JointElectra(ModelConfig(len(vocabulary), **TINY), torch.zeros(len(vocabulary), 1))
    with torch.no_grad():
        for parameter in model.parameters():  # as after training no two are equal, which an export would store once
            parameter.add_(0.01 * torch.randn_like(parameter))
        model.detection.prediction.bias.fill_(-4.0)
    folder = tmp_path_factory.mktemp("models") / "base"
    export_onnx(model.eval(), folder)
    (folder / MARKS).write_bytes((data / "marks.all.npz").read_bytes())
    (folder / WORDS).write_bytes((data / "words.all.npz").read_bytes())
    write_rest(folder, vocabulary)
    return folder


@pytest.fixture(scope="module")
def adapted(base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The model that the command makes, and what it said."""
    folder = tmp_path_factory.mktemp("adapted")
    said: list[str] = []
    pairs = (*PAIRS, ("短", "不等长"))
    arguments = [write_pairs(folder / "field.tsv", pairs), "--from", str(base), "--out", str(folder / "mine")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("corrector.train.__main__._say", said.append)
        assert main(["finetune", *arguments, *set_of(*LOUD)]) == 0
    return folder / "mine", "\n".join(said)


def test_the_confusion_of_the_field_is_learned(base: Path, adapted: tuple[Path, str]) -> None:
    held_back = split([PairSet(PAIRS, 1.0)]).held_back
    wrong = [(source, target) for source, target in held_back if source != target]
    assert len(wrong) >= 3
    before, after = Corrector(base, threads=1), Corrector(adapted[0], threads=1)
    assert [corrected_text(before.correct(source)) for source, _ in wrong] == [source for source, _ in wrong]
    assert [corrected_text(after.correct(source)) for source, _ in wrong] == [target for _, target in wrong]
    assert [corrected_text(after.correct(target)) for _, target in held_back] == [target for _, target in held_back]


def test_the_version_says_how_often_a_model_was_adapted() -> None:
    assert adapt.adapted_version("0.29.0") == "0.29.0+adapted"
    assert adapt.adapted_version("0.29.0+adapted") == "0.29.0+adapted.adapted"


def test_the_adapted_model_is_whole(base: Path, adapted: tuple[Path, str]) -> None:
    model = find_model(adapted[0], verify=True)
    assert (model.name, model.version, model.kind) == ("mine", "0.2+adapted", "onnx")
    training_ = model.manifest["training"]
    assert training_["hours"] == 3 and model.manifest["sources"] == [{"name": "a paper"}]
    first, run = training_["runs"]
    assert first == {"tokens": 640}
    assert run["base"] == f"base 0.2 {find_model(base).checksum}"
    assert run["pairs"] == [{"name": "field.tsv", "rows": 48, "weight": 1.0}] and run["learning_rate"] == 5e-3
    [score] = model.manifest["scores"]
    assert (score["set"], score["checksum"]) == ("held-back", model.checksum)
    for name in (MARKS, WORDS):
        assert (adapted[0] / name).read_bytes() == (base / name).read_bytes() and name in model.manifest["files"]
    assert "field.tsv: 48 rows" in (adapted[0] / "README.md").read_text("utf-8")
    assert os.listdir(adapted[0].parent) in (["mine", "field.tsv"], ["field.tsv", "mine"])


def test_what_is_said(adapted: tuple[Path, str]) -> None:
    folder, said = adapted
    assert "1 of 61 rows left out" in said
    assert "48 rows to learn from, 6 for the ranker, 6 held back" in said
    assert "adapting: step" in said
    held_back = with_right_sentences(split([PairSet(PAIRS, 1.0)]).held_back)
    wrong = sum(source != target for source, target in held_back)
    assert f"strict correction of {len(held_back)} sentences held back, {wrong} with errors, {len(held_back) - wrong} right" in said
    assert "warning: 6 rows held back say little" in said
    assert said.endswith(f"use it: electra-correct --model {folder} FILE")


def test_scores_side_by_side() -> None:
    rows = [("错", "对"), ("错", "对"), ("对", "对"), ("对", "对")]
    before, after = evaluate(rows, ["错", "错", "对", "对"]), evaluate(rows, ["对", "错", "对", "错"])
    _, head, *lines = adapt.table(before, after).split("\n")
    assert head.split() == ["before", "after"]
    assert [line.split() for line in lines] == [
        ["precision", "0.0", "(0/0)", "50.0", "(1/2)"],
        ["recall", "0.0", "(0/2)", "50.0", "(1/2)"],
        ["F1", "0.0", "50.0"],
        ["right", "unchanged", "100.0", "(2/2)", "50.0", "(1/2)"],
    ]


@pytest.mark.parametrize("place", ["train_step", "refit_ranker"])
def test_interrupted_it_leaves_nothing(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Learner if place == "train_step" else adapt, place, interrupt)
    pairs = write_pairs(tmp_path / "field.tsv")
    assert main(["finetune", pairs, "--from", str(base), "--out", str(tmp_path / "a" / "mine"), "--debug"]) == 130
    assert [path.name for path in tmp_path.rglob("*")] == ["field.tsv"]


def test_an_empty_folder_that_is_there_is_filled(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be it there by a link, or a mount that cannot be replaced by another folder."""

    def busy(_: Path) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    (tmp_path / "disk").mkdir()
    (tmp_path / "mine").symlink_to(tmp_path / "disk")
    pairs = write_pairs(tmp_path / "field.tsv")
    monkeypatch.setattr(Path, "rmdir", busy)
    assert main(["finetune", pairs, "--from", str(base), "--out", str(tmp_path / "mine"), "--debug"]) == 0
    assert find_model(tmp_path / "mine", verify=True).name == "mine"
    assert (tmp_path / "mine").is_symlink() and {path.name for path in tmp_path.iterdir()} == {"mine", "disk", "field.tsv"}
    assert not [path.name for path in (tmp_path / "disk").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_that_is_taken_in_the_meantime_loses_nothing(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], there: bool
) -> None:
    out, score = tmp_path / "mine", adapt.score

    def late(model: Path, held_back: Any) -> Any:
        out.mkdir(exist_ok=True)
        (out / "notes.txt").touch()
        return score(model, held_back)

    if there:
        out.mkdir()
    monkeypatch.setattr(adapt, "score", late)
    pairs = write_pairs(tmp_path / "field.tsv")
    assert main(["finetune", pairs, "--from", str(base), "--out", str(out), "--debug"]) == 123
    [message] = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    found = re.fullmatch(rf"error: {out}: cannot be written: .*; the adapted model is in (.*): move it", message)
    assert found and find_model(found[1], verify=True).name == "mine"


def test_a_folder_that_cannot_be_is_said_before_training(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(adapt, "score", pytest.fail)
    (tmp_path / "loop").symlink_to("loop")
    pairs = write_pairs(tmp_path / "field.tsv")
    for out in (tmp_path / "field.tsv" / "mine", tmp_path / "loop" / "mine"):
        assert main(["finetune", pairs, "--from", str(base), "--out", str(out), "--debug"]) == 123
        assert f"error: {out}: cannot be written: " in capsys.readouterr().err


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(adapt, "is_terminal", lambda _: True)
    said: list[str] = []
    with adapt._steps(3, said.append) as steps:
        assert list(steps) == [0, 1, 2]
    assert "Adapting" in capsys.readouterr().err
    assert not said


def test_the_embedded_model_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(adapt, "adapt", lambda *arguments: asked.append(arguments))
    pairs = write_pairs(tmp_path / "field.tsv")
    for start in ("default", DEFAULT_MODEL):
        assert main(["finetune", f"{pairs}:2", "--from", start, "--out", str(tmp_path / "mine")]) == 0
    for model, sets, out, *_ in asked:
        assert (model.name, out) == (DEFAULT_MODEL, tmp_path / "mine")
        assert sets == [PairSet(PAIRS, 2.0, "field.tsv")]
    assert len(asked) == 2


def test_complaints(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs, few = write_pairs(tmp_path / "field.tsv"), write_pairs(tmp_path / "few.tsv", PAIRS[:FEWEST] * 3)
    (tmp_path / "few.tsv").write_text((tmp_path / "few.tsv").read_text("utf-8").replace(PAIRS[0][1], "短"), "utf-8")
    start, out = ["--from", str(base)], ["--out", str(tmp_path / "mine")]
    for arguments, status, message in (
        ([str(tmp_path / "none.tsv"), *start, *out], 123, "none.tsv: cannot be read: No such file"),
        ([few, *start, *out], 123, f"few.tsv: {FEWEST - 1} different sentences are too few to adapt to"),
        ([few, *start, *out], 123, "few.tsv: 3 of 60 rows left out"),
        ([pairs, *start, "--out", str(tmp_path)], 123, f"{tmp_path}: already there"),
        ([pairs, "--from", str(tmp_path / "nothing"), *out], 123, "no such model"),
        ([pairs, *start, *out, "--set", "model.layers=3"], 123, "--set: model: a released network keeps its shape"),
        ([pairs, *start, *out, "--set", "stages=[[0,64]]"], 123, "--set: stages: a window must fit into 32 positions"),
        ([pairs, *start, *out, "--set", "total_seconds=60"], 123, "--set: total_seconds: has no say where a model is adapted"),
        ([pairs, *start, *out, "--set", "dev=x.tsv"], 123, "--set: dev: has no say where a model is adapted"),
        ([pairs, *start, *out, "--debug", "--set", "device=gpu"], 123, "device: 'gpu' cannot be used"),
        ([*start, *out], 2, "give at least one PAIRS.tsv"),
        ([pairs, *start, *out, "--data", str(tmp_path)], 123, "corpus.json: cannot be read"),
        ([pairs, "--from", str(tmp_path / "checkpoint.pt"), *out], 2, "Missing option '--data'"),
    ):
        assert main(["finetune", *arguments]) == status
        assert message in capsys.readouterr().err
    assert not (tmp_path / "mine").exists()


@given(st.lists(st.tuples(st.text("甲乙丙", min_size=1, max_size=3), st.sampled_from([f"句{n}" for n in range(45)])), max_size=120))
def test_rows_are_dealt_out_by_their_right_sentence(rows: list[tuple[str, str]]) -> None:
    sets = [PairSet(tuple(rows[::2]), 1.0, "a"), PairSet(tuple(rows[1::2]), 2.0, "b")]
    targets = {target for _, target in rows}
    if len(targets) < FEWEST:
        with pytest.raises(EvalDataError, match="too few"):
            split(sets)
        return
    parts = split(sets)
    train = [pair for item in parts.train for pair in item.pairs]
    assert sorted([*train, *parts.ranker, *parts.held_back]) == sorted(rows)
    shares = [{target for _, target in part} for part in (train, parts.ranker, parts.held_back)]
    assert sum(map(len, shares)) == len(targets)
    assert len(shares[2]) == -(-len(targets) // 10) and len(shares[1]) == (len(targets) + 4) // 10
    assert {item.name: item.weight for item in parts.train}.items() <= {"a": 1.0, "b": 2.0}.items()


# ---- reading an export back ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def network() -> JointElectra:
    """Random weights large enough that every one of them shows in the result; features that the table will have swallowed."""
    torch.manual_seed(3)
    model = JointElectra(SHAPE, torch.rand(SIZE, 5))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(float(name.endswith(("norm.weight", "norm1.weight", "norm2.weight"))), 0.25)
    return model.eval()


def outputs(model: JointElectra, with_alternatives: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.from_numpy(training.windows(4, 8, seed=1))
    rng = np.random.default_rng(2)
    types = torch.from_numpy(rng.integers(0, PLAIN_MARKS, (4, 8)) + with_alternatives * PLAIN_MARKS * rng.integers(0, SIZE, (4, 8)))
    with torch.no_grad():
        detection, correction = model(ids, types, None, torch.arange(32))
    return detection, correction


@pytest.fixture(scope="module")
def released(network: JointElectra, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both layouts of the network."""
    folders = {}
    for kind, export in (("onnx", export_onnx), ("pytorch", export_pytorch)):
        folders[kind] = tmp_path_factory.mktemp(kind)
        export(network, folders[kind])
        training.mark_tables().save(folders[kind] / MARKS)
        write_rest(folders[kind], VOCABULARY)
    return folders


@pytest.mark.parametrize("kind,share", [("onnx", 0.15), ("pytorch", 1e-2)])
def test_an_export_is_read_back(network: JointElectra, released: dict[str, Path], kind: str, share: float) -> None:
    found = read_network(find_model(released[kind]))
    assert found.config == replace(SHAPE, intermediate_size=SHAPE.units)
    for ours, theirs in zip(outputs(found), outputs(network), strict=True):
        assert (ours - theirs).abs().mean() < share * theirs.std()
    assert torch.allclose(found.embeddings.table(), network.embeddings.table(), atol=0.02 if kind == "onnx" else 2e-3)
    assert torch.allclose(found.embeddings.folded_types(), network.embeddings.folded_types(), atol=0.02)
    exact = dict(network.named_parameters())["encoder.layers.1.up.bias"]
    assert torch.allclose(found.encoder.layers[1].up.bias, exact, atol=0.0 if kind == "onnx" else 1e-3)


def test_an_export_of_an_earlier_version_is_read_back(network: JointElectra, released: dict[str, Path], tmp_path: Path) -> None:
    """Before 0.8 the tables of the marks were one in ONNX too; before 0.9 networks knew no alternatives."""
    import onnx
    from onnx import numpy_helper

    earlier = tmp_path / "model"
    shutil.copytree(released["onnx"], earlier)
    path = earlier / DISCRIMINATOR / "model.int8.onnx"
    model = onnx.load(str(path))
    kept = [item for item in model.graph.initializer if ".marks." not in item.name]
    types = network.embeddings.folded_types().numpy()
    scale = np.abs(types).max() / 127
    parts = {"quantized": np.round(types / scale).astype(np.int8), "zero_point": np.int8(0), "scale": np.float32(scale)}
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(part), f"types_{name}") for name, part in parts.items())
    for node in list(model.graph.node):
        if node.op_type == "MatMulInteger" and node.output[0].startswith("/alternative/"):
            model.graph.node.remove(node)
    onnx.save(model, str(path))
    for name in (DISCRIMINATOR, GENERATOR):
        settings = json.loads((earlier / name / "config.json").read_text("utf-8"))
        del settings["alternatives"]
        (earlier / name / "config.json").write_text(json.dumps(settings), "utf-8")
    write_rest(earlier, VOCABULARY)
    found = read_network(find_model(earlier))
    assert not found.alternative.weight.any()
    assert torch.allclose(found.embeddings.folded_types(), network.embeddings.folded_types(), atol=0.02)
    for ours, theirs in zip(outputs(found), outputs(network, with_alternatives=False), strict=True):
        assert (ours - theirs).abs().mean() < 0.1 * theirs.std()


def test_what_cannot_be_read(released: dict[str, Path], tmp_path: Path) -> None:
    own = find_model(released["onnx"])
    swapped = adapt.dataclasses.replace(own, discriminator=own.generator)
    with pytest.raises(ModelError, match="not laid out as this version does"):
        read_network(swapped)
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", "utf-8")
    for name in ("discriminator", "generator"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps({"vocab_size": SIZE, "type_vocab_size": 2}), "utf-8")
        (tmp_path / name / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ModelError, match=r"without this project's token marks.*--from default"):
        read_network(find_model(tmp_path))
    for name in ("discriminator", "generator"):
        (tmp_path / name / "config.json").write_text(json.dumps({"vocab_size": SIZE, "type_vocab_size": 4096}), "utf-8")
    with pytest.raises(ModelError, match="4096 token types where this version has 16384"):
        read_network(find_model(tmp_path))


def test_token_types_that_are_no_marks(network: JointElectra, released: dict[str, Path], tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    model = find_model(released["pytorch"])
    state = load_file(str(model.discriminator.weights))
    types = "electra.embeddings.token_type_embeddings.weight"
    state[types] = torch.randn_like(state[types])
    save_file(state, str(tmp_path / "model.safetensors"))
    other = adapt.dataclasses.replace(model.discriminator, weights=tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="not a sum of marks"):
        read_network(adapt.dataclasses.replace(model, discriminator=other))


# ---- the ranker -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 2000])
def test_a_weight_moves_as_far_as_the_examples_can_pull_it(times: int) -> None:
    """At the optimum the pull of N examples, right 3 times of 4, is that of the prior: N·(0.75 - σ(w)) = 2·PRIOR_L2·(w - w₀)."""
    one = np.ones((1, 1), dtype=np.float32)
    thrice_right = [Example(one, 0)] * 3 + [Example(one, -1)]
    [weight] = fit_log_linear(thrice_right * times, 1, PRIOR_L2 / (4 * times), prior=np.array([-1.0]))
    pull = 4 * times * (0.75 - 1 / (1 + np.exp(-weight)))
    assert pull == pytest.approx(2 * PRIOR_L2 * (weight + 1), rel=0.02)
    assert (weight > -0.5) == (times > 1)


def test_what_is_not_among_the_examples_keeps_its_weight() -> None:
    example = Example(np.array([[1.0, 0.0]], dtype=np.float32), 0)
    moved, kept = fit_log_linear([example] * 50, 2, PRIOR_L2 / 50, prior=np.array([0.5, -2.0]))
    assert moved > 0.5
    assert kept == -2.0
