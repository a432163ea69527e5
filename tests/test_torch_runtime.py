"""PyTorch checkpoints in the public Chinese ELECTRA layout, against transformers' own forward pass."""

from __future__ import annotations

import builtins
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corrector.electra import load_runtime
from corrector.electra.marks import MarkTables
from corrector.electra.model_dir import ModelDirectory, find_model
from corrector.electra.torch_runtime import TorchRuntime
from corrector.errors import ModelError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

VOCABULARY = (
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "汉", "字", "错", "别", "，", "。", "py", "##tho", "##n", "3", ".",
    "1", "##4", "cafe", "用", "写",
)  # fmt: skip
TEXTS = [
    "用Python 3.14写错别字。",
    "café，汉👍🏽字",
    "",
    "𠀀汉\u200b字 xyzzy 别 \u3000写",
    "错别字" * 12,
]
SHAPE: dict[str, Any] = {
    "vocab_size": len(VOCABULARY), "embedding_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
    "max_position_embeddings": 48, "initializer_range": 0.5, "pad_token_id": 0,
}  # fmt: skip


def save_release(parent: Path, name: str = "chinese_electra_tiny_{}_pytorch", **changes: Any) -> dict[str, Any]:
    """A randomly initialised pair saved as the public releases are; the networks themselves, for comparison."""
    torch.manual_seed(5)
    sizes = {"discriminator": 16, "generator": 8}
    classes = {"discriminator": transformers.ElectraForPreTraining, "generator": transformers.ElectraForMaskedLM}
    networks: dict[str, Any] = {}
    for role, hidden in sizes.items():
        config = transformers.ElectraConfig(**(SHAPE | changes), hidden_size=hidden, intermediate_size=2 * hidden)
        networks[role] = classes[role](config).eval()
        for parameter in networks[role].parameters():  # so that no bias is zero and no weight is passed over unnoticed
            torch.nn.init.normal_(parameter, std=0.3)
        folder = parent / name.format(role)
        folder.mkdir(parents=True)
        state = dict(networks[role].state_dict())
        state["electra.embeddings.position_ids"] = torch.arange(48)[None]  # older versions saved this buffer
        state.pop("generator_lm_head.weight", None)  # tied to the embeddings; not every release repeats it
        torch.save(state, folder / "pytorch_model.bin")
        (folder / "config.json").write_text(json.dumps(config.to_dict()))
        (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return networks


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModelDirectory, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("models")
    networks = save_release(folder)
    return find_model(folder / "chinese_electra_tiny_discriminator_pytorch"), networks


def test_offsets_in_mixed_text(release: tuple[ModelDirectory, dict[str, Any]]) -> None:
    tokenizer = release[0].tokenizer
    encoding = tokenizer.encode(TEXTS[0])
    assert [tokenizer.vocabulary[identifier] for identifier in encoding.ids] == [
        "[CLS]", "用", "py", "##tho", "##n", "3", ".", "1", "##4", "写", "错", "别", "字", "。", "[SEP]",
    ]  # fmt: skip
    #                                    用 P  y  t  h  o  n  ␠  3  .  1  4  写 错  别  字  。
    assert encoding.token_of.tolist() == [1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
    for text in TEXTS:
        encoding = tokenizer.encode(text)
        assert len(encoding.token_of) == len(text)
        for index, char in enumerate(text):
            if char in "汉字错别用写，。":
                assert tokenizer.vocabulary[encoding.ids[encoding.token_of[index]]] == char
                assert encoding.is_whole[index]


def test_discriminator_equals_a_direct_forward_pass(release: tuple[ModelDirectory, dict[str, Any]]) -> None:
    model, networks = release
    encodings = [model.tokenizer.encode(text) for text in TEXTS]
    found = [reading.logits for reading in load_runtime(model).read(encodings)]
    for encoding, logits in zip(encodings, found, strict=True):
        with torch.no_grad():
            direct = networks["discriminator"](torch.from_numpy(encoding.ids.astype(np.int64))[None]).logits[0]
        assert logits.shape == encoding.ids.shape and logits.dtype == np.float32
        assert logits == pytest.approx(direct.numpy(), abs=1e-4)
    assert np.ptp(np.concatenate(found)) > 0.01


def test_generator_equals_a_direct_forward_pass(release: tuple[ModelDirectory, dict[str, Any]]) -> None:
    model, networks = release
    encodings = [model.tokenizer.encode(text) for text in TEXTS]
    positions = [[1, 12], [3], [], [2, 1], [36, 5, 5]]
    found = load_runtime(model).log_probabilities(encodings, positions)
    for encoding, wanted, rows in zip(encodings, positions, found, strict=True):
        with torch.no_grad():
            logits = networks["generator"](torch.from_numpy(encoding.ids.astype(np.int64))[None]).logits[0]
        assert rows.shape == (len(wanted), len(VOCABULARY)) and rows.dtype == np.float32
        assert rows == pytest.approx(logits.log_softmax(-1).numpy()[wanted], abs=1e-4)


def test_plain_models_see_no_types(release: tuple[ModelDirectory, dict[str, Any]]) -> None:
    model, _ = release
    runtime = TorchRuntime(model)
    plain = model.tokenizer.encode("汉字")
    marked = model.tokenizer.encode("汉字", np.array([0, 1, 1, 0]))
    assert np.array_equal(*(reading.logits for reading in runtime.read([plain, marked])))


def test_own_pair_sees_types(tmp_path: Path) -> None:
    networks = save_release(tmp_path, "{}", type_vocab_size=64)
    keys = np.array([5 * len(VOCABULARY) + 6], dtype=np.uint64)  # 汉字 is a word
    MarkTables(len(VOCABULARY), (keys, keys[:0], keys[:0])).save(tmp_path / "marks.npz")
    model = find_model(tmp_path)
    encoding = model.tokenizer.encode("汉字")
    assert encoding.types.tolist() == [0, 2, 1, 0]
    with torch.no_grad():
        ids, types = torch.from_numpy(encoding.ids.astype(np.int64)), torch.tensor([0, 2, 1, 0])
        direct = networks["discriminator"](ids[None], token_type_ids=types[None]).logits[0]
        untyped = networks["discriminator"](ids[None]).logits[0]
    logits = TorchRuntime(model).read([encoding])[0].logits
    assert logits == pytest.approx(direct.numpy(), abs=1e-4)
    assert logits != pytest.approx(untyped.numpy(), abs=1e-3)


def test_nothing_reaches_standard_output(release: tuple[ModelDirectory, dict[str, Any]]) -> None:
    """Loading in a fresh process, progress bars and advice of transformers included."""
    code = (
        "import sys; from corrector.electra import load_runtime; from corrector.electra.model_dir import find_model;"
        "model = find_model(sys.argv[1]); assert not {'torch', 'transformers', 'onnxruntime'} & set(sys.modules);"
        "windows = [model.tokenizer.encode('汉字')]; runtime = load_runtime(model, threads=1);"
        "runtime.read(windows); runtime.log_probabilities(windows, [[1]])"
    )
    command = [sys.executable, "-c", code, str(release[0].path)]
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_checkpoint_without_its_head(tmp_path: Path) -> None:
    save_release(tmp_path)
    path = tmp_path / "chinese_electra_tiny_discriminator_pytorch" / "pytorch_model.bin"
    state = {name: tensor for name, tensor in torch.load(path).items() if "discriminator_predictions" not in name}
    torch.save(state, path)
    runtime = load_runtime(find_model(tmp_path))
    with pytest.raises(ModelError, match=r"pytorch_model\.bin: no weights for discriminator_predictions"):
        runtime.read([find_model(tmp_path).tokenizer.encode("汉字")])


def test_damaged_checkpoint(tmp_path: Path) -> None:
    save_release(tmp_path)
    (tmp_path / "chinese_electra_tiny_generator_pytorch" / "pytorch_model.bin").write_bytes(b"nonsense")
    model = find_model(tmp_path)
    with pytest.raises(ModelError, match=r"generator_pytorch.pytorch_model\.bin: cannot be loaded"):
        load_runtime(model).log_probabilities([model.tokenizer.encode("汉字")], [[1]])


def test_without_torch(release: tuple[ModelDirectory, dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = load_runtime(release[0])
    real = builtins.__import__

    def without_torch(name: str, *rest: Any, **more: Any) -> Any:
        if name == "torch":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_torch)
    with pytest.raises(ModelError, match=r"needs PyTorch and transformers; install electra-correct\[torch\]"):
        runtime.read([release[0].tokenizer.encode("汉字")])


def test_windows_longer_than_the_model(release: tuple[ModelDirectory, dict[str, Any]]) -> None:
    model, _ = release
    windows = [model.tokenizer.encode("字" * 47)]
    with pytest.raises(ModelError, match="a window of 49 tokens does not fit its 48 positions"):
        load_runtime(model).read(windows)


def test_the_whole_pipeline_runs_on_a_public_release(tmp_path: Path) -> None:
    """Latin words, numbers, spaces and unknown characters pass through; only Han characters of the vocabulary may change."""
    from corrector.apply import corrected_text
    from corrector.pipeline import Corrector

    save_release(tmp_path)
    corrector = Corrector(tmp_path / "chinese_electra_tiny_generator_pytorch", min_confidence=0.0)
    for text in [*TEXTS, "café 写错 3.14 别字𠀀，用 Python 写。\r\n汉 字\n"]:
        corrected = corrector.correct(text)
        result = corrected_text(corrected)
        assert len(result) == len(text)
        for correction in corrected.corrections:
            assert text[correction.span.start : correction.span.end] == correction.original
            assert set(correction.original + correction.replacement) <= set("汉字错别用写")
        for before, after in zip(text, result, strict=True):
            assert before == after or before in "汉字错别用写"
