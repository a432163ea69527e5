"""The own layout, run with onnxruntime on two hand-made graphs whose answers are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corrector.electra import load_runtime
from corrector.electra.manifest import file_entries
from corrector.electra.model_dir import ModelDirectory, find_model
from corrector.electra.onnx_runtime import OnnxRuntime
from corrector.errors import ModelError

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "汉", "字", "错", "别")
OPSET = 17


def save_graph(path: Path, nodes: list[Any], inputs: dict[str, int], outputs: dict[str, int], table: Any) -> None:
    """An ONNX file: ``inputs`` (name → rank; int64 but for states), the constant ``table``, float ``outputs`` (name → rank)."""
    helper, types = onnx.helper, onnx.TensorProto
    given, found = (
        [
            helper.make_tensor_value_info(name, types.INT64 if name.endswith(("ids", "mask")) else types.FLOAT, [None] * size)
            for name, size in ranks.items()
        ]
        for ranks in (inputs, outputs)
    )
    constants = [onnx.numpy_helper.from_array(table, "table"), onnx.numpy_helper.from_array(np.array([-1]), "last")]
    graph = helper.make_graph(nodes, "tiny", given, found, constants)
    opsets = [helper.make_opsetid("", OPSET)]
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))


@pytest.fixture
def model(tmp_path: Path) -> ModelDirectory:
    """Discriminator: id + mask + 100 × type; its states: id × mask. Generator: the row of the table with the state's number."""
    node = onnx.helper.make_node
    three = {"input_ids": 2, "attention_mask": 2, "token_type_ids": 2}
    save_graph(
        tmp_path / "discriminator" / "model.int8.onnx",
        [
            node("Mul", ["token_type_ids", "table"], ["types"]),
            node("Add", ["input_ids", "types"], ["typed"]),
            node("Add", ["typed", "attention_mask"], ["whole"]),
            node("Cast", ["whole"], ["logits"], to=onnx.TensorProto.FLOAT),
            node("Mul", ["input_ids", "attention_mask"], ["seen"]),
            node("Cast", ["seen"], ["numbers"], to=onnx.TensorProto.FLOAT),
            node("Unsqueeze", ["numbers", "last"], ["states"]),
        ],
        three,
        {"logits": 2, "states": 3},
        np.array(100),
    )
    save_graph(
        tmp_path / "generator" / "model.int8.onnx",
        [
            node("Cast", ["states"], ["numbers"], to=onnx.TensorProto.INT64),
            node("Squeeze", ["numbers", "last"], ["line"]),
            node("Gather", ["table", "line"], ["logits"]),
        ],
        {"states": 2},
        {"logits": 2},
        TABLE,
    )
    for network in ("discriminator", "generator"):
        config = json.dumps({"vocab_size": len(VOCABULARY), "max_position_embeddings": 64})
        (tmp_path / network / "config.json").write_text(config)
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    (tmp_path / "ranker.json").write_text("{}")
    names = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    manifest = {"schema": 2, "name": "tiny", "version": "1", "files": file_entries(tmp_path, names)}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return find_model(tmp_path, verify=True)


TABLE = np.random.default_rng(3).normal(size=(len(VOCABULARY), len(VOCABULARY))).astype(np.float32)


def test_discriminator_in_input_order(model: ModelDirectory) -> None:
    runtime = load_runtime(model, threads=1)
    assert isinstance(runtime, OnnxRuntime)
    encode = model.tokenizer.encode
    texts = ["汉字", "错别字" * 15, "", "错"]
    found = runtime.read([encode(text) for text in texts])
    for text, logits in zip(texts, (reading.logits for reading in found), strict=True):
        assert logits.dtype == np.float32
        assert logits.tolist() == [identifier + 1 for identifier in encode(text).ids]
    (typed,) = runtime.read([encode("汉", np.array([0, 3, 0]))])
    assert typed.logits.tolist() == [3, 306, 4]
    assert runtime.read([]) == []


def test_generator_gives_log_probabilities(model: ModelDirectory) -> None:
    runtime = load_runtime(model, threads=1)
    encodings = [model.tokenizer.encode(text) for text in ("汉字", "错别字" * 15, "错")]
    found = runtime.log_probabilities(encodings, [[2], [], [1, 0]])
    for rows, ids in zip(found, ([6], [], [7, 2]), strict=True):
        wanted = TABLE[ids] - np.log(np.exp(TABLE[ids]).sum(axis=1, keepdims=True))
        assert rows.shape == (len(ids), len(VOCABULARY))
        assert rows == pytest.approx(wanted, abs=1e-5)
    again = runtime.log_probabilities(encodings, [[2], [], [1, 0]], runtime.read(encodings))
    assert all(map(np.array_equal, found, again))
    assert runtime.log_probabilities([], []) == []
    for outside in (-1, 4):
        with pytest.raises(ValueError, match="outside a window of 4 tokens"):
            runtime.log_probabilities(encodings[:1], [[outside]])


def test_states_that_are_there_spare_the_encoder(model: ModelDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = OnnxRuntime(model, threads=1)
    windows = [model.tokenizer.encode("汉字")]
    readings = runtime.read(windows)
    monkeypatch.setattr(runtime, "_read", lambda encoding: pytest.fail("read again"))
    assert runtime.log_probabilities(windows, [[1]], readings)[0].shape == (1, len(VOCABULARY))


def test_clean_text_never_loads_the_generator(model: ModelDirectory) -> None:
    runtime = OnnxRuntime(model, threads=1)
    model.generator.weights.write_bytes(b"not a model")
    windows = [model.tokenizer.encode("汉字")]
    assert len(runtime.read(windows)) == 1
    assert runtime.log_probabilities(windows, [[]])[0].shape == (0, len(VOCABULARY))
    with pytest.raises(ModelError, match=r"generator.model\.int8\.onnx: onnxruntime cannot load it"):
        runtime.log_probabilities(windows, [[1]])


def test_a_network_with_other_inputs(model: ModelDirectory) -> None:
    model.discriminator.weights.write_bytes(model.generator.weights.read_bytes())
    with pytest.raises(ModelError, match=r"discriminator.model\.int8\.onnx: onnxruntime cannot run it .*states"):
        OnnxRuntime(model).read([model.tokenizer.encode("汉字")])


def test_windows_longer_than_the_model(model: ModelDirectory) -> None:
    runtime = OnnxRuntime(model)
    assert len(runtime.read([model.tokenizer.encode("字" * 62)])[0].logits) == 64
    for ask in (runtime.read, lambda windows: runtime.log_probabilities(windows, [[1]])):
        with pytest.raises(ModelError, match="a window of 65 tokens does not fit its 64 positions"):
            ask([model.tokenizer.encode("字" * 63)])
