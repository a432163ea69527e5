"""A signature names everything a number depends on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import corrector
from corrector.eval.dataset import LabelledSet, Row
from corrector.eval.signature import METRICS, escape, file_checksum, package_version, sign
from corrector.types import OCR, TYPED

LABELLED = LabelledSet(
    name="small",
    path="small.tsv",
    format="tsv",
    sha256="0123456789abcdef" * 4,
    rows=(Row("甲", "乙", 1), Row("丙", "丙", 2)),
    ordinals=(0, 1),
    read=2,
    dropped=0,
)


def test_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corrector, "__version__", "1.2.3", raising=False)
    line = str(sign(LABELLED, "electra-csc-zh", "fedcba9876543210", 0.75))
    assert line == (
        f"set:small|rows:2|sha256:0123456789ab|metrics:{METRICS}|model:electra-csc-zh|checksum:fedcba987654|"
        "threshold:0.75|version:1.2.3"
    )


def test_options_are_named_only_when_they_change_the_number() -> None:
    cut = replace(LABELLED, dropped=3, limit=2, max_length=128)
    signature = sign(cut, "m", "sha256:abc", None, removed_de=True)
    assert signature.options == (("dropped", "3"), ("limit", "2"), ("max_length", "128"), ("remove_de", "yes"))
    assert str(signature).endswith("|dropped:3|limit:2|max_length:128|remove_de:yes")
    assert "|checksum:abc|threshold:none|" in str(signature)
    assert sign(LABELLED, "m", "abc", None).options == sign(LABELLED, "m", "abc", None, origin=TYPED).options == ()
    assert sign(LABELLED, "m", "abc", None, origin=OCR).options == (("origin", "ocr"),)


def test_fields_can_be_told_apart() -> None:
    line = str(sign(LABELLED, "C:\\model|x", "abc", 0.5))
    assert [part.split(":")[0] for part in line.split("|")] == [
        "set", "rows", "sha256", "metrics", "model", "checksum", "threshold", "version",
    ]  # fmt: skip
    assert escape("a|b:c") == "a/b=c"


def test_file_checksum(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"")
    assert file_checksum(path) == "e3b0c44298fc"  # the sha256 of nothing, known everywhere


def test_version_is_unknown_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(corrector, "__version__", raising=False)
    assert package_version() == "unknown"
