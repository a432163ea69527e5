"""What a newcomer meets: the README's commands and options, the version, the package's names, and what is packaged."""

from __future__ import annotations

import configparser
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import corrector
from corrector.cli import electra_correct
from corrector.electra.model_dir import DEFAULT_MODEL
from corrector.train.__main__ import train

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def setup() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def lines(value: str) -> list[str]:
    return [line for line in value.splitlines() if line and not line.startswith("#")]


def readme_command(name: str) -> str:
    blocks = re.findall(rf"^<!-- command: {name} -->\n```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    return str(blocks[0])


@pytest.mark.parametrize("name", ["run", "test"])
def test_readme_commands_are_one_line_of_shell(name: str) -> None:
    command = readme_command(name)
    assert command.count("\n") == 1
    first, second = (shlex.split(part) for part in command.split(" && "))
    assert first[:2] == ["pip", "install"]
    assert second[0] in ("electra-correct", "python")
    assert subprocess.run(["sh", "-n", "-c", command], check=False).returncode == 0


def test_readme_first_command_corrects_a_sample_that_is_there() -> None:
    arguments = shlex.split(readme_command("run").split(" && ")[1])[1:]
    with electra_correct.make_context("electra-correct", arguments) as context:
        assert context.params["diff"]
        sample = (ROOT / context.params["input_path"]).read_bytes().decode("utf-8")
    assert len(sample.splitlines()) > 8
    assert sample.endswith("\n")


def test_readme_test_command_installs_an_extra_without_torch(setup: configparser.ConfigParser) -> None:
    assert ".[test]" in shlex.split(readme_command("test"))
    extras = setup["options.extras_require"]
    assert not [need for need in lines(extras["test"]) if need.startswith(("torch", "transformers", "electra-correct"))]


def test_readme_names_every_option_and_exit_code() -> None:
    options = [option for option in electra_correct.params if isinstance(option, click.Option)]
    names = {name for option in options for name in option.opts} | {"-h", "--help"}
    assert len(names) > 8
    table = README.partition("\n## Options\n")[2].partition("\n## ")[0]
    assert [name for name in names if not re.search(rf"`{name}\b", table)] == []
    codes = re.findall(r"^ +(\d+)  ", str(electra_correct.epilog), re.MULTILINE)
    assert re.findall(r"^\| (\d+) \|", table, re.MULTILINE) == codes


def test_readme_options_exist() -> None:
    """No option is promised that the command does not have."""
    known = {name for option in electra_correct.params for name in option.opts} | {"-h", "--help"}
    commands = re.findall(r"electra-correct ([^\n`]+)", README)
    used = {word for command in commands for word in re.findall(r"(?<!\S)--?[a-z][a-z-]*", command.split(" | ")[0].split("#")[0])}
    assert used
    assert used <= known


@pytest.mark.parametrize("line", re.findall(r"^python -m corrector\.train ([^#\n]+)", README, re.MULTILINE))
def test_readme_training_commands_parse(line: str) -> None:
    name, *arguments = shlex.split(line)
    command = train.commands[name]
    command.make_context(name, arguments).close()  # raises for a missing, unknown or ill-formed option


def test_the_version_is_one(setup: configparser.ConfigParser) -> None:
    assert setup["metadata"]["version"] == corrector.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released = re.search(r"^## (\S+)", changelog, re.MULTILINE)
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
