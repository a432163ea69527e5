"""The version, the package's names, and what is packaged."""

from __future__ import annotations

import configparser
import re
import subprocess
import sys
from pathlib import Path

import pytest

import corrector
from corrector.electra.model_dir import DEFAULT_MODEL

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def setup() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def lines(value: str) -> list[str]:
    return [line for line in value.splitlines() if line and not line.startswith("#")]


def test_the_version_is_one(setup: configparser.ConfigParser) -> None:
    assert setup["metadata"]["version"] == corrector.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released = re.search(r"^## (\d\S*)", changelog, re.MULTILINE)
    assert released is not None
    assert released[1] == corrector.__version__


def test_every_package_is_installed(setup: configparser.ConfigParser) -> None:
    found = {path.parent.relative_to(ROOT).as_posix().replace("/", ".") for path in ROOT.glob("corrector/**/__init__.py")}
    assert set(lines(setup["options"]["packages"])) == found | {"corrector._models"}


def test_the_embedded_model_alone_is_packaged(setup: configparser.ConfigParser) -> None:
    """Where an installed package looks for its model is where the build puts it; models beside it stay out."""
    assert lines(setup["options"]["package_dir"]) == ["corrector._models = data/electra_models"]
    patterns = lines(setup["options.package_data"]["corrector._models"])
    assert patterns == [f"{DEFAULT_MODEL}/**/*"]


def test_the_commands_need_no_newer_click_than_is_asked_for() -> None:
    """Before 8.4 its ParamType took no parameter."""
    program = "import click; click.ParamType.__class_getitem__ = None; import corrector.cli, corrector.ray.__main__"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_importing_the_package_loads_no_library() -> None:
    program = "import sys, corrector; print(sorted({'numpy', 'click', 'jieba', 'onnxruntime'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", corrector.__all__)
def test_public_names_are_there(name: str) -> None:
    value = getattr(corrector, name)
    assert name in dir(corrector)
    if isinstance(value, type):
        assert value.__name__ == name


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Correcter'"):
        _ = corrector.Correcter  # type: ignore[attr-defined]


def test_package_is_typed() -> None:
    assert (ROOT / "corrector" / "py.typed").is_file()
