from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corrector.electra.manifest import read_manifest, short_checksum
from corrector.errors import CorrectorError, InputError, ModelError
from corrector.rank import default_ranker
from corrector.train import ledger
from corrector.train.__main__ import main
from corrector.train.config import TrainConfig
from corrector.train.release import read_notes, read_scores, refresh_manifest, write_manifest, write_new_manifest


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    (folder / "generator").mkdir(parents=True)
    (folder / "vocab.txt").write_text("[PAD]\n", "utf-8")
    (folder / "generator" / "config.json").write_text("{}", "utf-8")
    default_ranker().save(folder / "ranker.json")
    write_manifest(folder, "tiny", "0.2", {"training": {"hours": 3}, "scores": []})
    return folder


def checksum(model: Path) -> str:
    return short_checksum({name: entry["sha256"] for name, entry in read_manifest(model)["files"].items()})


def report(path: Path, own_checksum: str) -> Path:
    item = {
        "set": "dev", "rows": {"used": 10}, "counts": {"erroneous": 4}, "scores": {"strict_correction.f1": 0.123456, "accuracy": None},
        "intervals": {"strict_correction.f1": [0.1, 0.2]}, "signature": "set:dev", "signature_fields": {"checksum": own_checksum},
    }  # fmt: skip
    path.write_text(json.dumps({"sets": [item]}), "utf-8")
    return path


def test_manifest_lists_every_file_but_itself_and_the_card(model: Path) -> None:
    manifest = read_manifest(model, verify=True)
    assert sorted(manifest["files"]) == ["generator/config.json", "ranker.json", "vocab.txt"]
    assert (manifest["name"], manifest["version"], manifest["licence"]) == ("tiny", "0.2", "Apache-2.0")
    assert (model / "README.md").read_text("utf-8").startswith("# tiny 0.2\n")


def test_the_card_says_the_same_when_it_is_made_again(model: Path) -> None:
    training = {"runs": [{"tokens": 5, "stages": ((0, 32),), "betas": (0.9, 0.98), "note": ("a", "b")}], "told": ("c", 1)}
    write_new_manifest(model, "a", "0.1", training, [])
    card = (model / "README.md").read_text("utf-8")
    refresh_manifest(model, lambda _: None)
    assert (model / "README.md").read_text("utf-8") == card


def test_refresh_takes_a_new_ranker_and_keeps_the_rest(model: Path) -> None:
    replace(default_ranker(), min_confidence=0.67).save(model / "ranker.json")
    with pytest.raises(ModelError):
        read_manifest(model, verify=True)
    refresh_manifest(model, pytest.fail)
    manifest = read_manifest(model, verify=True)
    assert manifest["thresholds"] == {"look_threshold": 0.2, "suspicion_threshold": 0.2, "min_confidence": 0.67}
    assert manifest["training"] == {"hours": 3}
    assert "0.67" in (model / "README.md").read_text("utf-8")


def test_scores_are_kept_until_the_model_changes(model: Path, tmp_path: Path) -> None:
    refresh_manifest(model, pytest.fail, report(tmp_path / "scores.json", checksum(model)))
    (row,) = read_manifest(model)["scores"]
    assert (row["set"], row["rows"], row["erroneous"], row["signature"]) == ("dev", 10, 4, "set:dev")
    assert row["figures"] == {"strict_correction.f1": 0.123456, "accuracy": None}
    refresh_manifest(model, pytest.fail)
    assert read_manifest(model)["scores"] == [row]
    replace(default_ranker(), min_confidence=0.67).save(model / "ranker.json")
    said: list[str] = []
    refresh_manifest(model, said.append)
    assert read_manifest(model)["scores"] == []
    assert len(said) == 1 and said[0].startswith("1 scores dropped")


def test_scores_of_another_model_are_refused(model: Path, tmp_path: Path) -> None:
    before = (model / "manifest.json").read_bytes()
    with pytest.raises(InputError, match="are of model 0123"):
        refresh_manifest(model, pytest.fail, report(tmp_path / "scores.json", "0123"))
    assert (model / "manifest.json").read_bytes() == before


def test_sources_replace_what_was_there(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "sources.json"
    path.write_text('[{"register": "news", "name": "paper"}]', "utf-8")
    refresh_manifest(model, pytest.fail, sources=path)
    assert read_manifest(model)["sources"] == [{"register": "news", "name": "paper"}]


@pytest.mark.parametrize("text", ["", "{}", '{"sets": [{}]}'])
def test_unusable_scores(model: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "scores.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"scores\.json"):
        refresh_manifest(model, pytest.fail, tmp_path / "scores.json")


def test_a_version_replaces_what_was_there(model: Path) -> None:
    refresh_manifest(model, pytest.fail)
    before = read_manifest(model)["version"]
    refresh_manifest(model, pytest.fail, version=f"{before}1")
    assert read_manifest(model)["version"] == f"{before}1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "not a JSON list"),
        ('[{"name": "paper"}, "a book"]', "source 2 is not an object"),
        ('[{"repositories": "owner/name"}]', "the repositories of source 1 are not a list of names"),
        ('[{"repositories": [1]}]', "the repositories of source 1 are not a list of names"),
        ('[{"name": "\\ud800"}]', r"manifest\.json: cannot be written .* in UTF-8"),
    ],
)
def test_sources_that_cannot_be(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    before = {path: path.read_bytes() for path in model.rglob("*") if path.is_file()}
    (tmp_path / "sources.json").write_text(text, "utf-8")
    assert main(["manifest", "--model", str(model), "--sources", str(tmp_path / "sources.json")]) == 123
    assert re.search(message, capsys.readouterr().err)
    assert {path: path.read_bytes() for path in model.rglob("*") if path.is_file()} == before


def test_manifest_and_card_are_both_written_or_neither(model: Path) -> None:
    """Whatever it is that the card cannot be made of."""
    before = (model / "manifest.json").read_bytes()
    with pytest.raises(TypeError):
        write_manifest(model, "tiny", "0.3", {"training": {"runs": 5}})
    assert (model / "manifest.json").read_bytes() == before


def test_scores_that_are_none(tmp_path: Path) -> None:
    item = json.loads(report(tmp_path / "scores.json", "0123").read_text("utf-8"))["sets"][0]
    for wrong in ({"scores": []}, {"intervals": []}, {"rows": {"used": "ten"}}, {"counts": {"erroneous": None}}):
        (tmp_path / "scores.json").write_text(json.dumps({"sets": [item | wrong]}), "utf-8")
        with pytest.raises(InputError, match=r"scores\.json: not a report"):
            read_scores(tmp_path / "scores.json")


def test_notes_for_the_ledger() -> None:
    assert read_notes(("hours=3", "machine=two cores", "a=b=c"), "--ledger") == {
        "hours": 3,
        "machine": "two cores",
        "a": "b=c",
    }
    with pytest.raises(CorrectorError, match="--ledger hours: give key=value"):
        read_notes(("hours",), "--ledger")
    for key in ("corpus", "network", "runs"):
        with pytest.raises(CorrectorError, match=f"--ledger {key}=5: the ledger has its own {key}; give the note another name"):
            read_notes((f"{key}=5",), "--ledger")


def test_ledger_collects_the_runs(tmp_path: Path) -> None:
    config = TrainConfig(data="somewhere", out="here", seed=7)
    first = ledger.runs(tmp_path / "checkpoint.pt", config, 30)
    assert [(run["tokens"], run["seed"]) for run in first] == [(30, 7)]
    assert not {"data", "out", "model", "threads"} & set(first[0])
    pairs: list[dict[str, Any]] = [{"name": "fit.tsv", "rows": 5, "weight": 1.0}]
    ledger.write_ledger(tmp_path, first, pairs, 0.5)
    both = ledger.runs(tmp_path / "checkpoint.pt", config, 5)
    assert [run["tokens"] for run in both] == [30, 5]
    assert both[1]["pairs"] == pairs and both[1]["pair_share"] == 0.5 and "pairs" not in both[0]


def test_damaged_ledger(tmp_path: Path) -> None:
    (tmp_path / "ledger.json").write_text("{}", "utf-8")
    with pytest.raises(ModelError, match=r"ledger\.json"):
        ledger.runs(tmp_path / "checkpoint.pt", TrainConfig(), 5)
