from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from corrector.electra import load_runtime
from corrector.electra.marks import PLAIN_MARKS
from corrector.electra.model_dir import find_model
from corrector.electra.runtime import Encoding
from corrector.errors import InputError, ModelError
from corrector.rank import default_ranker
from tests import training
from tests.training import FIRST_HAN, SIZE, VOCABULARY

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

from corrector.electra.torch_runtime import ALTERNATIVE  # noqa: E402
from corrector.train import checkpoint, export  # noqa: E402
from corrector.train.config import ModelConfig, to_json  # noqa: E402
from corrector.train.counts import IN_NONE  # noqa: E402
from corrector.train.model import JointElectra  # noqa: E402
from corrector.train.word_counts import word_models_of  # noqa: E402

SHAPE = ModelConfig(SIZE, 16, 32, 2, 4, 64, 16, 1, 2)
NOISE = 0.25  # of the spread, that eight bits may add: 0.02 to 0.19 with random weights; without token types it is above 0.4
PLACES = torch.tensor([1, 3, 9])  # in a batch of 2 × 8


@pytest.fixture(scope="module")
def model() -> JointElectra:
    """Random weights far larger than at the start of training, so that every one of them shows in the result."""
    torch.manual_seed(3)
    model = JointElectra(SHAPE, torch.rand(SIZE, 5))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name:
                parameter.normal_(0, 0.25)
    return model.eval()


@pytest.fixture(scope="module")
def batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ids, mask and types, half of them with an alternative; the second row is padded."""
    ids = torch.from_numpy(training.windows(2, 8, seed=1))
    mask = torch.ones_like(ids)
    ids[1, 5:], mask[1, 5:] = 0, 0
    rng = np.random.default_rng(2)
    types = rng.integers(0, 4096, (2, 8)) + PLAIN_MARKS * rng.integers(FIRST_HAN, SIZE, (2, 8)) * rng.integers(0, 2, (2, 8))
    return ids, mask, torch.from_numpy(types)


@pytest.fixture(scope="module")
def expected(
    model: JointElectra, batch: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Detection logits (2, 8) and corrective logits (3, vocabulary) of the network that is trained."""
    ids, mask, types = batch
    with torch.no_grad():
        detection, correction = model(ids, types, mask, PLACES)
    return detection, correction


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A packed folder with what an export reads."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", "utf-8")
    tables = training.mark_tables()
    tables.save(folder / "marks.all.npz")
    [words] = word_models_of([[np.full(9, FIRST_HAN, dtype=np.uint16)]], [IN_NONE], tables.sets, SIZE, lambda _: None)
    words.save(folder / "words.all.npz")
    record = {"raw": ["raw-0"], "clean": [], "tokens": 100, "characters": 90, "sha256": "ab" * 32}
    (folder / "corpus.json").write_text(json.dumps(record), "utf-8")
    return folder


@pytest.fixture(scope="module")
def saved(model: JointElectra, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "checkpoint.pt"
    checkpoint.save(path, {"config": to_json(training.config(model=SHAPE)), "model": model.state_dict(), "tokens": 640})
    return path


def rows_of(batch: tuple[torch.Tensor, ...]) -> list[Encoding]:
    """The windows of a batch without their padding."""
    nothing = np.zeros(0, dtype=np.int32)
    return [
        Encoding(i[m > 0].astype(np.int32), t[m > 0].astype(np.int32), nothing, nothing.astype(np.bool_))
        for i, m, t in zip(*(part.numpy() for part in batch), strict=True)
    ]


def test_pytorch_pair_loads_in_transformers(model, batch, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Which does not know alternatives."""
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("safetensors")
    export.export_pytorch(model, tmp_path)
    ids, mask, types = batch
    types = types % PLAIN_MARKS
    with torch.no_grad():
        expected = model(ids, types, mask, PLACES)
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    results = []
    for kind, name, other in (
        ("ElectraForPreTraining", "discriminator", "generator_"), ("ElectraForMaskedLM", "generator", "discriminator_")
    ):  # fmt: skip
        network, info = getattr(transformers, kind).from_pretrained(
            tmp_path / name, output_loading_info=True, dtype=torch.float32
        )
        assert not info["missing_keys"], name
        assert {key for key in info["unexpected_keys"] if not key.startswith(other)} == {ALTERNATIVE}, name
        with torch.no_grad():
            results.append(network.eval()(**inputs).logits)
    files = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("discriminator", "generator")]
    assert files[0] == files[1]  # git and other stores keep it once
    detection, correction = results
    real = mask.bool()
    assert torch.allclose(detection[real], expected[0][real], atol=0.05)
    assert torch.allclose(correction.reshape(16, -1)[PLACES], expected[1], atol=0.05)
    assert expected[0][real].std() > 0.3 and expected[1].std() > 0.3  # or the tolerance would say nothing


def test_pytorch_pair_is_told_alternatives(model, batch, expected, data: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("transformers")
    export.export_pytorch(model, tmp_path)
    for source, target in (("vocab.txt", "vocab.txt"), ("marks.all.npz", "marks.npz"), ("words.all.npz", "words.npz")):
        (tmp_path / target).write_bytes((data / source).read_bytes())
    directory = find_model(tmp_path)
    runtime, rows = load_runtime(directory), rows_of(batch)
    for found, wanted in zip(runtime.read(rows), expected[0].numpy(), strict=True):
        assert found.logits == pytest.approx(wanted[: len(found.logits)], abs=0.05)
    plain = [dataclasses.replace(row, types=row.types % PLAIN_MARKS) for row in rows]
    assert np.abs(runtime.read(plain)[0].logits - runtime.read(rows)[0].logits).max() > 0.3
    found = np.concatenate(runtime.log_probabilities(rows, [[1, 3], [1]]))
    assert found == pytest.approx(expected[1].log_softmax(-1).numpy(), abs=0.05)

def test_a_pair_whose_matrix_of_alternatives_is_missing(model, batch, data: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("transformers")
    from safetensors.torch import load_file, save_file

    export.export_pytorch(model, tmp_path)
    for source, target in (("vocab.txt", "vocab.txt"), ("marks.all.npz", "marks.npz"), ("words.all.npz", "words.npz")):
        (tmp_path / target).write_bytes((data / source).read_bytes())
    weights = tmp_path / "discriminator" / "model.safetensors"
    state = load_file(str(weights))
    del state[ALTERNATIVE]
    save_file(state, str(weights), {"format": "pt"})
    with pytest.raises(ModelError, match=r"has no electra\.alternative\.weight .*export the model again"):
        load_runtime(find_model(tmp_path)).read(rows_of(batch))


def test_onnx_release(model, batch, expected, data: Path, saved: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    out = tmp_path / "tiny"
    sources = [{"register": "news", "name": "paper"}]
    export.export_release(saved, data, out, "tiny", "0.2", "onnx", lambda _: None, {"hours": 3}, sources)
    directory = find_model(out, verify=True)
    assert (directory.kind, directory.name, directory.version) == ("onnx", "tiny", "0.2")
    assert directory.manifest["training"]["runs"][0]["tokens"] == 640
    assert directory.manifest["training"]["hours"] == 3
    assert directory.manifest["training"]["corpus"]["sha256"] == "ab" * 32
    assert directory.manifest["sources"] == sources and directory.manifest["scores"] == []
    assert set(directory.manifest["thresholds"]) == {"look_threshold", "suspicion_threshold", "min_confidence"}
    assert sorted(directory.manifest["files"]) == [
        "discriminator/config.json", "discriminator/model.int8.onnx", "generator/config.json", "generator/model.int8.onnx",
        "marks.npz", "ranker.json", "vocab.txt", "words.npz",
    ]  # fmt: skip
    assert directory.word_model is not None and directory.word_model.vocabulary_size == SIZE
    marker = directory.tokenizer.marker
    assert marker is not None
    assert marker(np.array([FIRST_HAN, FIRST_HAN + 1], dtype=np.int32)).tolist() == [2 + 128, 1 + 16]
    rows = rows_of(batch)
    runtime = load_runtime(directory, 1)
    readings = runtime.read(rows)
    for found, wanted in zip((reading.logits for reading in readings), expected[0], strict=True):
        assert np.abs(found - wanted.numpy()[: len(found)]).mean() < NOISE * float(expected[0].std())
    found = np.concatenate(runtime.log_probabilities(rows, [[1, 3], [1]], readings))
    assert np.array_equal(found, np.concatenate(runtime.log_probabilities(rows, [[1, 3], [1]])))
    wanted = expected[1].log_softmax(-1).numpy()
    assert np.abs(found - wanted).mean() < NOISE * wanted.std()


def test_another_vocabulary_is_refused(data: Path, saved: Path, tmp_path: Path) -> None:
    for name in ("marks.all.npz", "words.all.npz", "corpus.json"):
        (tmp_path / name).write_bytes((data / name).read_bytes())
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY[:-1]) + "\n", "utf-8")
    with pytest.raises(ModelError, match=rf"trained with another vocabulary than that of .* \({SIZE} tokens, {SIZE - 1} here\)"):
        export.export_release(saved, tmp_path, tmp_path / "out", "tiny", "0.2", "onnx", lambda _: None)
    assert not (tmp_path / "out").exists()


def test_a_folder_packed_before_words_were_counted_is_refused(data: Path, saved: Path, tmp_path: Path) -> None:
    for path in data.glob("*.*"):
        if path.is_file() and path.name != "words.all.npz":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(InputError, match=r"has no words\.all\.npz, .*corrector\.train pack"):
        export.export_release(saved, tmp_path, tmp_path / "out", "tiny", "0.2", "onnx", lambda _: None)
    assert not (tmp_path / "out").exists()


def test_a_model_that_was_there_leaves_nothing_but_its_ranker(
    data: Path, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("safetensors")
    out, said = tmp_path / "out", list[str]()

    def release(format_: export.Format) -> None:
        export.export_release(saved, data, out, "tiny", "0.2", format_, said.append)

    release("onnx")
    assert len(said) == 1
    dataclasses.replace(default_ranker(), min_confidence=0.61).save(out / "ranker.json")
    (out / "ocr").mkdir()
    for name in ("slips.npz", "ocr/slips.npz", "ocr/ranker.json", "contrasts.npz", "notes.txt", "generator/pytorch_model.bin"):
        (out / name).write_bytes(b"of the model before")
    expected = ["discriminator/config.json", "generator/config.json", "marks.npz", "notes.txt", "ranker.json", "vocab.txt", "words.npz"]
    for format_, weights in (("pytorch", "model.safetensors"), ("onnx", "model.int8.onnx")):
        release(format_)
        model = find_model(out, verify=True)
        assert (model.kind, model.discriminator.weights.name, model.generator.weights.name) == (format_, weights, weights)
        assert sorted(model.manifest["files"]) == sorted([*expected, f"discriminator/{weights}", f"generator/{weights}"])
        assert model.manifest["thresholds"]["min_confidence"] == 0.61
    assert f"{out}: slips.npz is of the model before and goes; `calibrate --slips` counts them again" in said
    assert f"{out}: what is in ocr/ is of the model before and goes; make it anew with `calibrate --origin ocr`" in said
    monkeypatch.setattr(export, "export_onnx", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        release("onnx")
    with pytest.raises(ModelError):
        find_model(out)


def test_what_an_export_cannot_be_made_with_harms_nothing(data: Path, saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export.export_release(saved, data, out, "tiny", "0.2", "onnx", lambda _: None)
    (out / "ranker.json").write_text("{}", "utf-8")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(ModelError, match=r"ranker\.json"):
        export.export_release(saved, data, out, "tiny", "0.2", "pytorch", lambda _: None)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    packed = shutil.copytree(data, tmp_path / "data")
    with pytest.raises(InputError, match="is the --data that the text was packed in"):
        export.export_release(saved, packed, packed, "tiny", "0.2", "onnx", lambda _: None)
    (packed / "marks.all.npz").unlink()
    with pytest.raises(InputError, match=r"has no marks\.all\.npz"):
        export.export_release(saved, packed, out, "tiny", "0.2", "onnx", lambda _: None)
