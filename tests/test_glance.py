"""The gate in a discriminator, fitted on a few sentences in the embedded one."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from corrector import Corrector, corrected_text
from corrector.electra.model_dir import find_model
from corrector.electra.onnx_runtime import OnnxRuntime
from corrector.errors import CorrectorError, ModelError

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from corrector.train import glance  # noqa: E402
from corrector.train.gate import load_graph, save_graph  # noqa: E402
from corrector.train.pairs import PairSet  # noqa: E402
from corrector.train.release import refresh_manifest  # noqa: E402

NETWORK = "discriminator/model.int8.onnx"

WRONG = ["他的身体很建康。", "请住意查收。", "我们去公园散部。", "我今天很高形。", "这件事以经办好了。"]
RIGHT = [
    "今天的天气很好。", "会议在下午三点开始。", "他坐在沙发上看书。", "我们去超市买了些水果。", "请在这里签字。", "公司总部设在上海。",
    "列车已经到站。", "她每天早上七点起床。",
]  # fmt: skip
PAIRS = PairSet([(text, text) for text in WRONG + RIGHT], 1.0)


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "gated"
    shutil.copytree(find_model().path, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(glance, "FEWEST", 3)
        glance.fit_glance(path, [PAIRS], lambda _: None, 3, 0.0)
    return path


def runtime_of(path: Path | None) -> OnnxRuntime:
    return OnnxRuntime(find_model(path), threads=1)


def test_what_has_corrections_is_read_and_some_other_text_is_not(gated: Path) -> None:
    runtime, encode = runtime_of(gated), find_model().tokenizer.encode
    assert None not in runtime.glance([encode(text) for text in WRONG])
    assert None in runtime.glance([encode(text) for text in RIGHT])


def test_a_reading_is_the_same_as_without_a_gate(gated: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    shutil.copytree(gated, plain)
    save_graph(load_graph(gated / NETWORK), plain / NETWORK)
    refresh_manifest(plain, lambda _: None)
    encodings = [find_model().tokenizer.encode(text) for text in WRONG + RIGHT]
    thorough = runtime_of(gated).read(encodings)
    for found in (runtime_of(plain).glance(encodings), runtime_of(gated).glance(encodings)):
        for one, other in zip(thorough, found, strict=True):
            if other is not None:
                assert np.array_equal(one.logits, other.logits)
                assert np.array_equal(one.states, other.states)


def test_it_corrects_what_it_did(gated: Path) -> None:
    for text in ("".join(WRONG + RIGHT), "\n".join(WRONG + RIGHT)):
        assert corrected_text(Corrector(gated).correct(text)) == corrected_text(Corrector().correct(text))


def test_what_is_known_to_be_wrong_is_read_whatever_the_gate_says(gated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corrector = Corrector(gated)
    monkeypatch.setattr(corrector.stages.runtime, "glance", lambda encodings: [None] * len(encodings))
    assert corrected_text(corrector.correct("请住意查收。")) == "请住意查收。"
    assert corrected_text(corrector.correct("他走头无路了。")) == "他走投无路了。"


def test_a_gate_is_replaced_and_a_network_with_one_can_be_adapted(gated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from corrector.train.released import read_network

    again = tmp_path / "again"
    shutil.copytree(gated, again)
    monkeypatch.setattr(glance, "FEWEST", 3)
    glance.fit_glance(again, [PAIRS], lambda _: None, 3, 0.0)
    first, second, plain = (read_network(find_model(path)).state_dict() for path in (gated, again, None))
    assert (again / NETWORK).read_bytes() == (gated / NETWORK).read_bytes()
    for name, tensor in first.items():
        assert name.startswith(("generator", "embeddings.feature")) or (tensor.equal(second[name]) and tensor.equal(plain[name])), name


@pytest.mark.parametrize("layers", [0, 8, 30])
def test_too_few_layers(layers: int, tmp_path: Path) -> None:
    shutil.copytree(find_model().path, tmp_path / "model")
    with pytest.raises(ModelError, match=f"has no {layers} layers with others above them"):
        glance.fit_glance(tmp_path / "model", [PAIRS], lambda _: None, layers, 0.0)


def test_too_few_corrections(tmp_path: Path) -> None:
    shutil.copytree(find_model().path, tmp_path / "model")
    before = {path: path.read_bytes() for path in (tmp_path / "model").rglob("*") if path.is_file()}
    with pytest.raises(CorrectorError, match=r"windows have corrections, 200 are needed"):
        glance.fit_glance(tmp_path / "model", [PAIRS], lambda _: None, 3, 0.0)
    assert {path: path.read_bytes() for path in before} == before
