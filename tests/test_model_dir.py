"""Finding and verifying model directories; no weights are loaded here."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corrector.electra import model_dir
from corrector.electra.contrasts import Contrasts
from corrector.electra.manifest import file_entries, short_checksum
from corrector.electra.marks import MarkTables
from corrector.electra.model_dir import find_model
from corrector.electra.ngrams import Ngrams
from corrector.electra.static_map import StaticMap
from corrector.electra.word_model import WordModel
from corrector.electra.word_set import WordSet
from corrector.errors import ModelError
from corrector.train.pairs import PairSet
from corrector.train.slips import count_slips
from corrector.types import OCR, TYPED

NOTHING = np.zeros(0, dtype=np.uint64)
VOCABULARY = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n汉\n"
OWN_FILES = {
    "vocab.txt": VOCABULARY,
    "ranker.json": "{}",
    "discriminator/config.json": '{"vocab_size": 6}',
    "discriminator/model.int8.onnx": "weights",
    "generator/config.json": '{"vocab_size": 6}',
    "generator/model.int8.onnx": "other weights",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def write_manifest(folder: Path, **changes: Any) -> None:
    manifest = {"schema": 2, "name": "tiny", "version": "1.2", "files": file_entries(folder, OWN_FILES)} | changes
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = write(tmp_path / "own", OWN_FILES)
    write_manifest(folder)
    return folder


def release(parent: Path, size: str, weights: str = "pytorch_model.bin") -> Path:
    for network in ("discriminator", "generator"):
        files = {"config.json": "{}", "vocab.txt": VOCABULARY, weights: network}
        write(parent / f"chinese_electra_{size}_{network}_pytorch", files)
    return parent / f"chinese_electra_{size}_discriminator_pytorch"


def test_own_layout(own: Path) -> None:
    model = find_model(own)
    assert (model.name, model.version, model.kind, model.path) == ("tiny", "1.2", "onnx", own)
    assert model.generator.weights == own / "generator" / "model.int8.onnx"
    assert model.ranker == own / "ranker.json"
    assert model.tokenizer.vocabulary[-1] == "汉"
    assert find_model(own / "generator") == model


def test_text_of_another_origin_has_a_ranker_and_slips_of_its_own(own: Path) -> None:
    model = find_model(own)
    assert model.of(TYPED) == model
    with pytest.raises(ModelError, match="own: has no ranker for text from ocr; leave the origin out"):
        model.of(OCR)
    assert model.of(TYPED).slips is None
    write(own, {"ocr/ranker.json": "{}"})
    recognised = find_model(own).of(OCR)
    assert recognised.ranker == own / "ocr" / "ranker.json" and model.of(TYPED).ranker == own / "ranker.json"
    count_slips([PairSet((("汉", "汉"),), 1.0)], model.tokenizer).save(own / "ocr" / "slips.npz")
    assert find_model(own).of(OCR).slips is not None and find_model(own).slips is None
    assert recognised.of(TYPED) == model and recognised.checksum == model.checksum


def test_checksum_comes_from_the_manifest(own: Path) -> None:
    before = find_model(own).checksum
    entries = file_entries(own, OWN_FILES)
    assert before == short_checksum({name: entry["sha256"] for name, entry in reversed(entries.items())})
    entries["ranker.json"]["sha256"] = "0" * 64
    write_manifest(own, files=entries)
    assert find_model(own).checksum != before
    assert len(before) == 12


def test_verify_reads_the_files(own: Path) -> None:
    assert find_model(own, verify=True).name == "tiny"
    (own / "discriminator" / "model.int8.onnx").write_text("WEIGHTS")  # the same size
    assert find_model(own).name == "tiny"
    with pytest.raises(ModelError, match=r"discriminator.model\.int8\.onnx: its SHA-256 is not the one"):
        find_model(own, verify=True)


def test_default_model_in_a_wheel_and_in_a_checkout(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_dir, "_PACKAGE", tmp_path / "site" / "corrector")
    for name in (None, "default"):
        with pytest.raises(ModelError, match=r"electra-csc-zh: the embedded model is not in .*reinstall"):
            find_model(name)
    checkout = tmp_path / "site" / "data" / "electra_models" / "electra-csc-zh"
    checkout.parent.mkdir(parents=True)
    own.rename(checkout)
    assert find_model().path == find_model("electra-csc-zh").path == find_model("default").path == checkout
    installed = tmp_path / "site" / "corrector" / "_models" / "electra-csc-zh"
    installed.parent.mkdir(parents=True)
    checkout.rename(installed)
    assert find_model().path == installed


@pytest.mark.parametrize("weights", ["pytorch_model.bin", "model.safetensors"])
def test_public_layout_however_it_is_named(tmp_path: Path, weights: str, monkeypatch: pytest.MonkeyPatch) -> None:
    discriminator = release(tmp_path, "small", weights)
    generator = tmp_path / "chinese_electra_small_generator_pytorch"
    monkeypatch.chdir(tmp_path)
    for wanted in (
        discriminator,
        f"{generator}{os.sep}",
        tmp_path,
        tmp_path / "chinese_electra_small",
        "chinese_electra_small_",
        ".",
        discriminator.name,
    ):
        model = find_model(wanted)
        assert (model.kind, model.manifest) == ("pytorch", {})
        assert model.discriminator.weights == discriminator / weights
        assert model.generator.weights == generator / weights
        assert model.ranker is None and model.version == ""


def test_public_layout_by_name_in_the_known_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_dir, "_PACKAGE", tmp_path / "corrector")
    release(tmp_path / "data" / "electra_models", "small")
    release(tmp_path / "data" / "electra_models", "base")
    assert find_model("chinese_electra_base").generator.path.name == "chinese_electra_base_generator_pytorch"
    with pytest.raises(ModelError, match=r"stands for .*base.* and .*small.*; name one of them"):
        find_model("chinese_electra")


def test_a_link_to_one_network_keeps_its_neighbours(tmp_path: Path) -> None:
    source = release(tmp_path / "store", "small")
    for network in ("discriminator", "generator"):
        name = f"chinese_electra_small_{network}_pytorch"
        try:
            (tmp_path / f"link_{network}").symlink_to(source.with_name(name))
        except OSError:
            pytest.skip("no symbolic links here")
    assert find_model(tmp_path / "link_discriminator").generator.path == tmp_path / "link_generator"


def test_checksum_of_a_release_reads_its_files(tmp_path: Path) -> None:
    discriminator = release(tmp_path, "small")
    before = find_model(discriminator).checksum
    assert find_model(tmp_path).checksum == before
    (tmp_path / "chinese_electra_small_generator_pytorch" / "pytorch_model.bin").write_text("GENERATOR")
    assert find_model(discriminator).checksum != before


def test_own_pair_in_pytorch_form(tmp_path: Path) -> None:
    networks = ("discriminator", "generator")
    write(tmp_path, {f"{name}/config.json": '{"type_vocab_size": 2}' for name in networks})
    write(tmp_path, {f"{name}/model.safetensors": "" for name in networks} | {"vocab.txt": VOCABULARY})
    model = find_model(tmp_path)
    assert (model.kind, model.name) == ("pytorch", tmp_path.name)
    assert model.tokenizer.marker is None


def edit(name: str, text: str | None) -> Callable[[Path], object]:
    """What damages a model: a file overwritten, or removed."""
    return lambda own: (own / name).unlink() if text is None else (own / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (edit("manifest.json", None), r"manifest\.json: missing; install or copy the model again"),
        (edit("manifest.json", "{"), r"manifest\.json: not valid JSON"),
        (edit("manifest.json", "[]"), r"manifest\.json: not a JSON object"),
        (edit("manifest.json", '{"schema": 1}'), "schema 1 where this version reads 2; upgrade"),
        (edit("manifest.json", '{"schema": 2}'), "'files' lists no files"),
        (lambda own: write_manifest(own, files={"../x": {}}), "outside the model directory"),
        (
            lambda own: write_manifest(own, files={"vocab.txt": {"bytes": 1}}),
            "needs 'sha256' and 'bytes' for 'vocab.txt'",
        ),
        (
            lambda own: write_manifest(own, files=file_entries(own, set(OWN_FILES) - {"ranker.json"})),
            r"'files' does not list ranker\.json",
        ),
        (edit("vocab.txt", None), r"vocab\.txt: listed in manifest\.json but missing"),
        (edit("generator/model.int8.onnx", "short"), r"model\.int8\.onnx: 5 bytes where manifest\.json says 13"),
    ],
)
def test_damaged_own_model(own: Path, damage: Callable[[Path], object], message: str) -> None:
    damage(own)
    with pytest.raises(ModelError, match=message):
        find_model(own)


@pytest.mark.parametrize(
    ("network", "name", "text", "message"),
    [
        ("generator", "pytorch_model.bin", None, r"_generator_pytorch: no model\.safetensors or pytorch_model\.bin"),
        ("generator", "config.json", "nonsense", r"config\.json: not valid JSON"),
        ("generator", "vocab.txt", "[PAD]\n", r"vocab\.txt: differs from .*of one release"),
    ],
)
def test_damaged_release(tmp_path: Path, network: str, name: str, text: str | None, message: str) -> None:
    discriminator = release(tmp_path, "small")
    edit(f"chinese_electra_small_{network}_pytorch/{name}", text)(tmp_path)
    with pytest.raises(ModelError, match=message):
        find_model(discriminator)


def test_half_a_release(tmp_path: Path) -> None:
    discriminator = release(tmp_path, "small")
    (tmp_path / "chinese_electra_small_generator_pytorch").rename(tmp_path / "elsewhere")
    with pytest.raises(ModelError, match="missing; the generator must lie next to chinese_electra_small_disc"):
        find_model(discriminator)
    with pytest.raises(ModelError, match="elsewhere: one network where two are needed"):
        find_model(tmp_path / "elsewhere")


def test_neither_name_nor_path(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nothing-here: no such model; give a directory"):
        find_model("nothing-here")
    with pytest.raises(ModelError, match="not a model directory; it must hold discriminator/"):
        find_model(tmp_path)
    with pytest.raises(ModelError, match="org/model: no such directory, and not a hub name"):
        find_model("org/model")


def test_vocabulary_larger_than_a_network(own: Path) -> None:
    (own / "generator" / "config.json").write_text('{"vocab_size": 5}')
    write_manifest(own)
    with pytest.raises(ModelError, match=r"6 tokens where .*config\.json has 5"):
        _ = find_model(own).tokenizer


def test_alternatives_reach_only_networks_that_know_them(own: Path) -> None:
    """Those of version 0.8 or earlier do not say that they do."""
    empty, none = StaticMap.build(NOTHING, NOTHING), np.array([[0], [0], [0], [0], [0], [0]], dtype=np.uint16)
    tables = MarkTables(6, (NOTHING, NOTHING, NOTHING), Ngrams(np.ones(6, dtype=np.float32), empty, empty, none, none.astype(np.uint8)))
    tables.save(own / "marks.npz")
    for settings, expected in (({"type_vocab_size": 16384}, False), ({"type_vocab_size": 16384, "alternatives": True}, True)):
        (own / "discriminator" / "config.json").write_text(json.dumps(settings))
        write_manifest(own)
        found = find_model(own).tokenizer.tables
        assert found is not None and found.with_alternatives is expected


def test_words_reach_only_the_marks_of_networks_that_know_them(own: Path) -> None:
    """Those of version 0.13 or earlier do not say that they do; one that does must come with words."""
    nothing, levels, few = StaticMap.build(NOTHING, NOTHING), np.zeros(16, dtype=np.float32), np.zeros(6, dtype=np.uint8)
    MarkTables(6, (NOTHING, NOTHING, NOTHING)).save(own / "marks.npz")
    none = WordSet(NOTHING)
    WordModel(6, (none, none, none), few, few, nothing, nothing, levels, levels).save(own / "words.npz")
    for settings, expected in (({"type_vocab_size": 16384}, False), ({"type_vocab_size": 16384, "word_evidence": True}, True)):
        (own / "discriminator" / "config.json").write_text(json.dumps(settings))
        write_manifest(own)
        model = find_model(own)
        assert model.tokenizer.tables is not None and model.word_model is not None
        assert (model.tokenizer.tables.word_model is model.word_model) is expected
        assert (model.tokenizer.tables.word_model is not None) is expected
    (own / "words.npz").unlink()
    write_manifest(own)
    with pytest.raises(ModelError, match=r"words\.npz: cannot be read"):
        _ = find_model(own).tokenizer


def test_contrasts_reach_the_marks_of_networks_that_know_words(own: Path) -> None:
    """Where the model brings any; those of another vocabulary and damaged ones are refused."""
    nothing, levels, few = StaticMap.build(NOTHING, NOTHING), np.zeros(16, dtype=np.float32), np.zeros(6, dtype=np.uint8)
    MarkTables(6, (NOTHING, NOTHING, NOTHING)).save(own / "marks.npz")
    none = WordSet(NOTHING)
    WordModel(6, (none, none, none), few, few, nothing, nothing, levels, levels).save(own / "words.npz")
    (own / "discriminator" / "config.json").write_text(json.dumps({"type_vocab_size": 16384, "word_evidence": True}))
    write_manifest(own)
    tables = find_model(own).tokenizer.tables
    assert tables is not None and tables.contrasts is None
    for size, message in ((6, ""), (7, "made for 7 tokens where the vocabulary has 6")):
        pairs, one = np.array([[4, 5]], dtype=np.uint16), np.ones(1, dtype=np.float32)
        Contrasts(size, pairs, one, one, nothing).save(own / "contrasts.npz")
        write_manifest(own)
        if message:
            with pytest.raises(ModelError, match=message):
                _ = find_model(own).tokenizer
        else:
            tables = find_model(own).tokenizer.tables
            assert tables is not None and tables.contrasts is not None and tables.contrasts.pairs.tolist() == [[4, 5]]
    (own / "contrasts.npz").write_bytes(b"PK nonsense")
    write_manifest(own)
    with pytest.raises(ModelError, match=r"contrasts\.npz: cannot be read"):
        _ = find_model(own).tokenizer


@pytest.mark.parametrize("damage", ["", "PK nonsense"])
def test_marks_that_a_network_needs(own: Path, damage: str) -> None:
    (own / "discriminator" / "config.json").write_text('{"type_vocab_size": 4096}')
    write_manifest(own)
    if damage:
        (own / "marks.npz").write_text(damage)
    with pytest.raises(ModelError, match=r"marks\.npz: cannot be read"):
        _ = find_model(own).tokenizer


def test_counts_of_words(own: Path) -> None:
    """None for networks without marks, whose words are not known; those of another lexicon are refused."""
    nothing, none = StaticMap.build(NOTHING, NOTHING), WordSet(NOTHING)
    levels = np.zeros(16, dtype=np.float32)
    for count in (6, 7):
        few = np.zeros(count, dtype=np.uint8)
        WordModel(6, (none, none, none), few, few, nothing, nothing, levels, levels).save(own / "words.npz")
        write_manifest(own)
        assert find_model(own).word_model is None
        checksum = find_model(own).checksum
        MarkTables(6, (NOTHING, NOTHING, NOTHING)).save(own / "marks.npz")
        (own / "discriminator" / "config.json").write_text('{"type_vocab_size": 16384}')
        write_manifest(own)
        assert find_model(own).checksum != checksum
        if count == 6:
            found = find_model(own).word_model
            assert found is not None and found.count == 6
            (own / "discriminator" / "config.json").write_text("{}")
        else:
            with pytest.raises(ModelError, match=r"words\.npz: cannot be read \(made for 7 words where the lexicon has 6\)"):
                _ = find_model(own).word_model


def test_hub_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("transformers.utils.hub")
    release(tmp_path, "small")

    def cached(repository: str, name: str, **_: Any) -> str | None:
        path = tmp_path / (repository.removeprefix("org/").replace("-", "_") + "_pytorch") / name
        return str(path) if path.is_file() else None

    monkeypatch.setattr(hub, "cached_file", cached)
    model = find_model("org/chinese-electra-small-discriminator")
    assert model.name == "org/chinese-electra-small-discriminator"
    assert model.generator.path == tmp_path / "chinese_electra_small_generator_pytorch"


def test_hub_name_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("transformers.utils.hub")

    def cached(repository: str, name: str, **_: Any) -> str | None:
        raise OSError("We couldn't connect to the hub\nand more lines")

    monkeypatch.setattr(hub, "cached_file", cached)
    with pytest.raises(ModelError) as raised:
        find_model("org/chinese-electra-small-discriminator")
    assert str(raised.value) == (
        "org/chinese-electra-small-discriminator: cannot be fetched from the hub (We couldn't connect to the hub); "
        "download both networks and give their directory"
    )
