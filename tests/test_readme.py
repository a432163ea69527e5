"""What the README promises: its commands run, its options exist, its help text is today's, its example is true."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from corrector import Corrector, corrected_text
from corrector.cli import electra_correct
from corrector.config import PROFILES
from corrector.formats import EXTENSIONS, NAMES
from corrector.options import GroupedOption
from corrector.train.__main__ import train

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
RAY = (ROOT / "corrector" / "ray" / "__main__.py").read_text("utf-8")
PAGES = {path.name: path.read_text("utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
OPTIONS = {"-h", "--help"}.union(*(option.opts for option in electra_correct.params if isinstance(option, click.Option)))


def readme_command(name: str) -> str:
    blocks = re.findall(rf"^<!-- command: {name} -->\n```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    return str(blocks[0])


@pytest.mark.parametrize("name", ["run", "test"])
def test_commands_are_one_line_of_shell(name: str) -> None:
    command = readme_command(name)
    assert command.count("\n") == 1
    first, second = (shlex.split(part) for part in command.split(" && "))
    assert first[:2] == ["pip", "install"]
    assert second[0] in ("electra-correct", "python")
    assert subprocess.run(["sh", "-n", "-c", command], check=False).returncode == 0


def test_first_command_corrects_a_sample_that_is_there() -> None:
    arguments = shlex.split(readme_command("run").split(" && ")[1])[1:]
    with electra_correct.make_context("electra-correct", arguments) as context:
        assert context.params["diff"]
        [path] = context.params["paths"]
    sample = (ROOT / path).read_bytes().decode("utf-8")
    assert len(sample.splitlines()) > 8
    assert sample.endswith("\n")


def test_test_command_installs_an_extra_without_torch() -> None:
    assert ".[test]" in shlex.split(readme_command("test"))
    setup = configparser.ConfigParser(delimiters=("=",))
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    needs = setup["options.extras_require"]["test"].split()
    assert not [need for need in needs if need.startswith(("torch", "transformers", "electra-correct"))]


def test_help_text_and_manual_page_are_up_to_date() -> None:
    done = subprocess.run([sys.executable, "docs/build.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("", "")
    assert done.returncode == 0


def test_help_text_is_what_a_wide_terminal_shows() -> None:
    environment = {**os.environ, "COLUMNS": "200"}
    done = subprocess.run([sys.executable, "-m", "corrector", "--help"], cwd=ROOT, env=environment, capture_output=True, check=True)
    assert done.stdout.decode() in README


def test_manual_page_names_every_option_and_exit_code() -> None:
    page = (ROOT / "docs" / "man" / "electra-correct.1").read_text("utf-8").replace(r"\-", "-")
    options = re.findall(r"^\.B (-.*)$", page, re.MULTILINE)
    named = {word.rstrip(",") for line in options for word in line.split() if word.startswith("-")}
    assert named == OPTIONS
    codes = re.findall(r"^ +(\d+)  ", str(electra_correct.epilog), re.MULTILINE)
    assert codes
    assert re.findall(r"^\.TP\n(\d+)$", page, re.MULTILINE) == codes
    groups = dict.fromkeys(option.group for option in electra_correct.params if isinstance(option, GroupedOption))
    assert re.findall(r"^\.SS (.+)$", page, re.MULTILINE) == list(groups)


@pytest.mark.parametrize("name", PAGES)
def test_options_in_commands_exist(name: str) -> None:
    commands = [part for line in PAGES[name].splitlines() for part in re.findall(r"(?<![\w./-])electra-correct +([^`|#;&]*)", line)]
    used = {word for command in commands for word in re.findall(r"(?<!\S)--?[a-z][a-z-]*", command.split(" && ")[0])}
    assert used or name in ("formats.md", "library.md", "clusters.md", "training.md")
    assert used <= OPTIONS


@pytest.mark.parametrize("name", PAGES)
def test_options_in_running_text_exist(name: str) -> None:
    text = re.sub(r"```.*?```", "", PAGES[name], flags=re.DOTALL)
    known = OPTIONS | {option for line in RAY.splitlines() for option in re.findall(r"\"(--[a-z-]+)\"", line)}
    training = {option for command in train.commands.values() for parameter in command.params for option in parameter.opts}
    allowed = {"clusters.md": known, "training.md": OPTIONS | training}
    assert set(re.findall(r"`(--[a-z-]+)", text)) <= allowed.get(name, OPTIONS)


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_files(name: str) -> None:
    folder = ROOT if name == "README.md" else ROOT / "docs"
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", PAGES[name])
    assert [link for link in links if not (folder / link).exists()] == []


@pytest.mark.parametrize("line", re.findall(r"^electra-correct ([^#\n]+)", README, re.MULTILINE))
def test_commands_parse(line: str) -> None:
    arguments = shlex.split(line.partition(" | ")[0])
    with electra_correct.make_context("electra-correct", arguments) as context:
        assert isinstance(context, click.Context)


TRAINING = (README + PAGES["training.md"]).replace("\\\n", " ")


@pytest.mark.parametrize("line", re.findall(r"^python -m corrector\.train ([^#\n]+)", TRAINING, re.MULTILINE))
def test_training_commands_parse(line: str) -> None:
    name, *arguments = shlex.split(line)
    command = train.commands[name]
    command.make_context(name, arguments).close()  # raises for a missing, unknown or ill-formed option


def test_examples_are_what_the_embedded_model_does() -> None:
    corrector = Corrector()
    pairs = [pair for page in PAGES.values() for pair in re.findall(r"^before  (.+)\nafter   (.+)$", page, re.MULTILINE)]
    assert len(pairs) >= 2
    assert [corrected_text(corrector.correct(before)) for before, _ in pairs] == [after for _, after in pairs]


def test_every_format_and_extension_is_documented() -> None:
    page = PAGES["formats.md"]
    assert re.findall(r"^\| `(\w+)` \| (?=`\.)", page, re.MULTILINE) == list(NAMES)
    for name in NAMES:
        row = re.search(rf"^\| `{name}` \| ([^|]+)\|", page, re.MULTILINE)
        assert row is not None
        assert re.findall(r"`(\.\w+)`", row[1]) == [extension for extension, of in EXTENSIONS.items() if of == name]


def test_every_report_is_documented() -> None:
    [report] = [option for option in electra_correct.params if option.name == "report"]
    assert isinstance(report.type, click.Choice)
    reports = PAGES["formats.md"].partition("\n## Reports\n")[2]
    assert sorted(re.findall(r"^\| `(\w+)` \|", reports, re.MULTILINE)) == sorted(report.type.choices)


def test_the_confidences_of_the_profiles_are_those_of_the_embedded_model() -> None:
    page = PAGES["configuration.md"].partition("\n## How sure is sure enough\n")[2].partition("\n## ")[0]
    asked = re.search(r"embedded one ([\d.]+);\s+`careful` asks for ([\d.]+).*?`eager` asks for ([\d.]+)", page, re.DOTALL)
    assert asked is not None
    assert tuple(map(float, asked.groups())) == tuple(Corrector(profile=name).min_confidence for name in ("balanced", "careful", "eager"))
    others = re.search(r"for the two has ([\d.]+) and ([\d.]+)\.", page)
    assert others is not None
    assert tuple(map(float, others.groups())) == (PROFILES["careful"], PROFILES["eager"])
