"""What other tools run: hooks, the action, the image, completion; and the pages of documentation that are programs."""

from __future__ import annotations

import configparser
import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

import corrector
from corrector.cli import electra_correct
from corrector.config import Settings, find_settings, render_settings
from corrector.confusions import Confusions
from corrector.words import ProtectedWords

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def parsed(arguments: list[str]) -> dict[str, Any]:
    """The parameters of a command line; raises UsageError for an option that is not there."""
    with electra_correct.make_context("electra-correct", list(arguments)) as context:
        return dict(context.params)


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_hooks_run_what_there_is(hook: dict[str, Any]) -> None:
    program, *arguments = shlex.split(hook["entry"])
    assert program == "electra-correct"
    values = parsed([*arguments, "a.md", "b.txt"])
    assert values["paths"] == ("a.md", "b.txt")
    assert values["write"] is not values["check"]
    assert hook["types_or"] == ["plain-text", "markdown"]
    assert hook["language"] == "python"
    assert hook["require_serial"] is True


def test_there_is_a_hook_that_checks_and_one_that_corrects() -> None:
    assert {hook["id"]: parsed(shlex.split(hook["entry"])[1:])["write"] for hook in HOOKS} == {
        "electra-correct-check": False,
        "electra-correct": True,
    }


def test_the_documented_hooks_exist_and_take_their_arguments() -> None:
    [configuration] = [yaml.safe_load(block) for block in blocks("integration.md", "yaml") if block.startswith("repos:")]
    entries = {hook["id"]: shlex.split(hook["entry"])[1:] for hook in HOOKS}
    for repository in configuration["repos"]:
        for hook in repository["hooks"]:
            assert parsed([*entries[hook["id"]], *hook.get("args", ())])


def test_the_action_checks_with_annotations() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    command = action["runs"]["steps"][-1]["run"].splitlines()[-1]
    arguments = command.partition("/bin/electra-correct\" ")[2].replace("$ARGUMENTS", action["inputs"]["arguments"]["default"])
    values = parsed(shlex.split(arguments.replace("$PATHS", action["inputs"]["paths"]["default"])))
    assert (values["check"], values["report"], values["paths"]) == (True, "github", (".",))
    assert not any("${{" in step["run"] for step in action["runs"]["steps"])  # nothing of a pull request reaches the shell


def test_the_documented_workflow_gives_the_action_what_it_knows() -> None:
    [workflow] = [yaml.safe_load(block) for block in blocks("integration.md", "yaml") if "jobs:" in block]
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    used = [step["with"] for step in workflow["jobs"]["spelling"]["steps"] if "with" in step]
    assert [set(given) <= set(action["inputs"]) for given in used] == [True]
    assert parsed([*shlex.split(used[0]["arguments"]), *shlex.split(used[0]["paths"])])


def test_the_image_runs_the_console_script_as_an_ordinary_user() -> None:
    last = (ROOT / "Dockerfile").read_text("utf-8").rpartition("\nFROM ")[2]
    setup = configparser.ConfigParser(delimiters=("=",))
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    script = setup["options.entry_points"]["console_scripts"].split(" = ")[0].strip()
    assert re.findall(r"^ENTRYPOINT (.+)$", last, re.MULTILINE) == [f'["{script}"]']
    [user] = re.findall(r"^USER (.+)$", last, re.MULTILINE)
    assert user != "root"
    assert f"useradd --create-home {user}\n" in last


def test_the_image_gets_every_file_that_the_package_is_built_from() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    kept = [line[1:] for line in lines if line.startswith("!")]
    assert "*" in lines
    assert [path for path in kept if not (ROOT / path).exists()] == []
    setup = configparser.ConfigParser(delimiters=("=",))
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    [manual] = setup["options.data_files"].values()
    needed = ["pyproject.toml", "setup.cfg", "README.md", "LICENSE", "constraints.txt", "corrector/cli.py", manual]
    needed.append("data/electra_models/electra-csc-zh/manifest.json")
    assert [path for path in needed if not any(path == one or path.startswith(f"{one}/") for one in kept)] == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_as_documented(shell: str) -> None:
    [line] = [line for block in blocks("integration.md", "sh") for line in block.splitlines() if f"={shell}_source" in line]
    [variable] = re.findall(rf"(\w+)={shell}_source electra-correct", line)
    program = "import sys; from corrector.cli import main; sys.exit(main())"
    words = {"COMP_WORDS": "electra-correct --prof", "COMP_CWORD": "--prof" if shell == "fish" else "1"}
    environment = {**os.environ, variable: f"{shell}_complete", **words}
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert "--profile" in done.stdout


@pytest.mark.parametrize(("language", "name"), [("toml", ".electra-correct.toml"), ("ini", "setup.cfg")])
def test_documented_settings_are_settings(tmp_path: Path, language: str, name: str) -> None:
    found = blocks("configuration.md", language)
    assert found
    for block in found:
        file = tmp_path / ("pyproject.toml" if "[tool." in block else name)
        file.write_text(block, "utf-8")
        assert find_settings(tmp_path) != Settings()
        file.unlink()


def test_every_setting_is_documented() -> None:
    table = re.findall(r"^\| `([a-z-]+)` \|", (DOCS / "configuration.md").read_text("utf-8"), re.MULTILINE)
    shown = re.findall(r"^#? ?([a-z-]+)(?: =|:)", render_settings(Settings()), re.MULTILINE)
    assert table == shown


def test_documented_words_and_confusions_can_be_read(tmp_path: Path) -> None:
    words, confusions = blocks("configuration.md", "text")
    (tmp_path / "words.txt").write_text(words, "utf-8")
    (tmp_path / "confusions.txt").write_text(confusions, "utf-8")
    protected = ProtectedWords.load(tmp_path / "words.txt")
    assert len(protected) == 2
    assert "张林" in protected and "哪吒" in protected
    pairs = Confusions.load(tmp_path / "confusions.txt")
    assert [(c.original, c.replacement) for c in pairs.corrections("请登陆帐户")] == [("登陆", "登录"), ("帐户", "账户")]
    assert len(pairs.whitelist_spans("官盐")) == 1


def test_library_page_runs() -> None:
    failed, attempted = doctest.testfile(str(DOCS / "library.md"), module_relative=False, encoding="utf-8")
    assert attempted > 10
    assert failed == 0


def test_public_names_have_something_to_say() -> None:
    undocumented = [name for name in corrector.__all__ if name[0] != "_" and not getattr(corrector, name).__doc__]
    assert undocumented in ([], ["Reason"])


def test_usage_errors_are_seen_by_these_tests() -> None:
    with pytest.raises(click.UsageError):
        parsed(["--no-such-option"])
