"""``--since``: what is corrected where only part of a repository has changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from corrector.errors import InputError
from corrector.text.changes import Changes, Lines
from corrector.types import Document, Span
from tests.fakes import write
from tests.packages import docx, text_of
from tests.shell import Shell

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

Git = Callable[..., None]
OLD = "天汽一\n天汽二\n天汽三\n".encode()
IDENTITY = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def git(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Runs git in a repository with ``a.txt`` and ``d/b.txt`` in its first commit, on the branch ``main``."""
    for name in IDENTITY:
        monkeypatch.setenv(name, "someone")
    for name in [name for name in os.environ if name.startswith("GIT_") and name not in (*IDENTITY, "GIT_CONFIG_GLOBAL")]:
        monkeypatch.delenv(name)

    def run(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=shell.directory, check=True, capture_output=True)

    run("init", "--quiet")
    run("checkout", "--quiet", "-b", "main")
    (shell.directory / "d").mkdir()
    for name in ("a.txt", "d/b.txt"):
        write(shell.directory / name, OLD)
    run("add", ".")
    run("commit", "--quiet", "--message=1")
    return run


def found(shell: Shell, *arguments: str) -> list[tuple[str, int]]:
    """The path and line of each correction."""
    outcome = shell.run(*arguments, "--format", "json")
    assert outcome.status == 0, outcome.stderr
    records = map(json.loads, outcome.stdout.decode().splitlines())
    return [(record["path"], record["line"]) for record in records if record["type"] == "correction"]


def test_only_lines_that_changed_and_new_files_are_corrected(shell: Shell, git: Git) -> None:
    assert len(found(shell, ".")) == 6
    assert found(shell, "--since", "HEAD", ".") == []
    write(shell.directory / "a.txt", "天汽一\n天汽们\n天汽三\n天汽\n天汽".encode())
    write(shell.directory / "c.txt", "天汽\n".encode())
    assert found(shell, "--since", "main", ".") == [("a.txt", 2), ("a.txt", 4), ("a.txt", 5), ("c.txt", 1)]
    git("add", ".")
    git("commit", "--quiet", "--message=2")
    assert found(shell, "--since", "HEAD", ".") == []
    assert found(shell, "--since", "HEAD^", "a.txt", "d") == [("a.txt", 2), ("a.txt", 4), ("a.txt", 5)]


def test_what_the_other_branch_did_since_is_nothing_of_ours(shell: Shell, git: Git) -> None:
    git("checkout", "--quiet", "-b", "ours")
    write(shell.directory / "d/b.txt", OLD + "天汽\n".encode())
    git("commit", "--quiet", "--all", "--message=ours")
    git("checkout", "--quiet", "main")
    write(shell.directory / "a.txt", b"")
    git("commit", "--quiet", "--all", "--message=theirs")
    git("checkout", "--quiet", "ours")
    assert found(shell, "--since", "main", ".") == [("d/b.txt", 4)]


def test_renamed_files_keep_their_lines(shell: Shell, git: Git) -> None:
    git("mv", "a.txt", "“字” a\\b.txt")
    git("mv", "d/b.txt", "d/[b].txt")
    write(shell.directory / "d/[b].txt", OLD + "天汽\n".encode())
    assert found(shell, "--since", "HEAD", ".") == [("d/[b].txt", 4)]


def test_lines_that_only_went_change_nothing(shell: Shell, git: Git) -> None:
    write(shell.directory / "a.txt", "天汽一\n天汽三\n".encode())
    assert found(shell, "--since", "HEAD", ".") == []


def test_of_what_git_does_not_compare_by_lines_all_counts(shell: Shell, git: Git) -> None:
    write(shell.directory / "u.txt", "天汽上\n天汽\n".encode("utf-16"))
    write(shell.directory / "w.docx", docx("天汽"))
    git("add", ".")
    git("commit", "--quiet", "--message=2")
    assert found(shell, "--since", "HEAD", ".") == []
    write(shell.directory / "u.txt", "天汽上\n天汽好\n".encode("utf-16"))
    write(shell.directory / "w.docx", docx("天汽", "好"))
    assert found(shell, "--since", "HEAD", ".") == [("u.txt", 1), ("u.txt", 2), ("w.docx/word/document.xml", 1)]


def test_what_has_not_changed_goes_through_as_it_is(shell: Shell, git: Git) -> None:
    write(shell.directory / "w.docx", docx("天汽"))
    git("add", ".")
    git("commit", "--quiet", "--message=2")
    assert shell.run("--since", "HEAD", "a.txt").stdout == OLD
    assert shell.run("--since", "HEAD", "w.docx", "-o", "x.docx").status == 0
    assert text_of(shell.files()["x.docx"]) == ["天汽"]
    write(shell.directory / "a.txt", OLD + "天汽\n".encode())
    assert shell.run("--since", "HEAD", "a.txt").stdout == OLD + "天气\n".encode()
    assert shell.run("--since", "HEAD", "--write", ".").stderr.startswith(b"2 files")  # a.txt, and the new x.docx
    assert shell.files()["a.txt"] == OLD + "天气\n".encode() and shell.files()["d/b.txt"] == OLD


def test_checks_fail_for_changes_only(shell: Shell, git: Git) -> None:
    unchanged = shell.run("--since", "HEAD", "--check", ".")
    assert (unchanged.status, unchanged.stdout) == (0, b"")
    assert unchanged.stderr.decode() == (
        "nothing to do: no file of a known kind is there and has changed since HEAD; --include GLOB takes others as well\n"
    )
    write(shell.directory / "d/b.txt", OLD + "天汽\n".encode())
    checked = shell.run("--since", "HEAD", "--check", ".")
    assert checked.status == 1 and checked.stderr.startswith(b"d/b.txt: 1 correction to make\n1 file, ")


@pytest.mark.parametrize("revision", ["nowhere", "-p", "HEAD^9", "main:a.txt"])
def test_a_revision_that_is_none_is_a_usage_error(shell: Shell, git: Git, revision: str) -> None:
    outcome = shell.run(f"--since={revision}", ".")
    assert outcome.status == 2 and outcome.stdout == b""
    where, told = os.path.realpath(shell.directory), "is no revision here; fetch more of the history, or give another"
    assert outcome.stderr.decode().endswith(f"error: {where}: --since {revision}: {told}\n")


def test_histories_without_an_ancestor_in_common_are_a_usage_error(shell: Shell, git: Git) -> None:
    git("checkout", "--quiet", "--orphan", "other")
    git("commit", "--quiet", "--message=2")
    outcome = shell.run("--since", "main", ".")
    assert outcome.status == 2 and b"main: has no ancestor in common with HEAD here; fetch more of the history" in outcome.stderr


def test_what_has_no_history_is_a_usage_error(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    write(shell.directory / "a.txt", OLD)
    monkeypatch.setattr("corrector.text.changes.repository_root", lambda folder: None)
    for arguments, told in (
        (["a.txt"], "a.txt: is in no git repository; leave --since out for it"),
        (["a.txt", "-"], "--since goes with files and directories; standard input has no history."),
        ([], "--since goes with files and directories; standard input has no history."),
        (["--explain", "好"], "--explain only shows and --since has no say in it; leave one of them out."),
    ):
        outcome = shell.run("--since", "HEAD", *arguments)
        assert outcome.status == 2 and told in outcome.stderr.decode()


def test_without_git_it_says_so(shell: Shell, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    outcome = shell.run("--since", "HEAD", ".")
    assert outcome.status == 2
    assert "git cannot be run (No such file or directory); install it, or leave --since out" in outcome.stderr.decode()


def test_files_of_another_repository_below_are_reported(shell: Shell, git: Git) -> None:
    write(shell.directory / "a.txt", OLD + "天汽\n".encode())
    git("init", "--quiet", "d")
    outcome = shell.run("--since", "HEAD", "--check", ".", environ={"GIT_DIR": ".git"})
    assert outcome.status == 123 and b"a.txt: 1 correction to make" in outcome.stderr
    assert b"/d: --since HEAD: is no revision here; " in outcome.stderr


def test_lines_are_counted_over_blocks() -> None:
    lines = Lines(frozenset({1, 3}))
    protected = []
    for text in ("零\r\n一", "一\n二\n", "三\r三\n四"):
        marked, lines = lines.mark(Document("a.txt", text, protected=(Span(0, 1),)))
        protected.append(marked.protected)
    assert protected == [(Span(0, 3),), (Span(0, 1), Span(2, 4)), (Span(0, 1), Span(4, 5))]
    assert lines.before == 4


def test_the_library_raises_what_the_command_tells(tmp_path: Path, git: Git) -> None:
    with pytest.raises(InputError, match="is no revision here"):
        Changes("nowhere").has(str(tmp_path / "a.txt"))
