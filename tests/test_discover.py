from __future__ import annotations

import builtins
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from corrector.errors import ConfigError, InputError
from corrector.text.discover import discover
from corrector.text.gitignore import repository_root


def tree(root: Path, files: Iterable[str], ignored: dict[str, str] | None = None) -> None:
    """Makes empty files and folders (``a/``) in ``root``, and ``.gitignore`` files with the patterns given by folder."""
    for file in files:
        path = root / file
        if file.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    for folder, patterns in (ignored or {}).items():
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / ".gitignore").write_text(patterns, encoding="utf-8")


def found(*paths: str, include: Sequence[str] = (), exclude: Sequence[str] = (), gitignore: bool = True) -> list[str]:
    return list(discover(paths, include, exclude, gitignore))


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_is_no_folder_comes_out_as_it_is(tmp_path: Path) -> None:
    tree(tmp_path, ["a.txt", "b.bin"], {"": "*\n"})
    assert found("b.bin", "-", "none.txt", "a\0b", exclude=["*"]) == ["b.bin", "-", "none.txt", "a\0b"]
    assert found() == []


def test_a_folder_gives_its_known_files_in_the_order_of_names(tmp_path: Path) -> None:
    tree(tmp_path, ["b.TXT", "a.md", "c/z.srt", "c/a/x.txt", "c.txt", "d.py", "d.json", "d.xlsx", "e", "é.txt", "empty/", "Z.docx"])
    names = ["Z.docx", "a.md", "b.TXT", "c/a/x.txt", "c/z.srt", "c.txt", "é.txt"]
    assert found(".") == found("./") == names
    assert found(str(tmp_path)) == [str(tmp_path / name) for name in names]
    assert found("c/", "c") == ["c/a/x.txt", "c/z.srt"]
    assert found("../" + tmp_path.name + "/c") == [f"../{tmp_path.name}/c/a/x.txt", f"../{tmp_path.name}/c/z.srt"]
    assert found("empty") == []


def test_each_file_comes_once(tmp_path: Path) -> None:
    tree(tmp_path, ["a.txt", "b/c.txt"])
    (tmp_path / "link.txt").symlink_to("a.txt")
    assert found("b/c.txt", "a.txt", ".", "./a.txt", "-", "link.txt", "-") == ["b/c.txt", "a.txt", "-"]


def test_include_and_exclude(tmp_path: Path) -> None:
    tree(tmp_path, ["a.txt", "b.py", "c/a.txt", "c/b.py", "c/d/x.adoc", "vendor/a.txt", "c/vendor/a.txt"])
    assert found(".", include=["*.py", "/c/d"]) == ["b.py", "c/b.py", "c/d/x.adoc"]
    assert found(".", exclude=["vendor/"]) == ["a.txt", "c/a.txt"]
    assert found(".", exclude=["/vendor", "a.txt", "!/c/a.txt"]) == ["c/a.txt"]
    assert found(".", include=["*"], exclude=["*.py", "vendor"]) == ["a.txt", "c/a.txt", "c/d/x.adoc"]
    assert found("c", include=["/b.py"]) == ["c/b.py"]  # from the folder that was named
    for option in ("include", "exclude"):
        with pytest.raises(ConfigError, match=rf"options: {option}: '!' is no pattern"):
            found(".", **{option: ["*.txt", "!"]})


def test_what_is_hidden_is_left_out(tmp_path: Path) -> None:
    tree(tmp_path, [".git/a.txt", ".venv/b.txt", ".c.txt", "d/.e/f.txt", "d/.electra-correct-0.tmp", "g.txt"])
    assert found(".", include=["*"]) == ["g.txt"]
    assert found(".venv") == [".venv/b.txt"]  # unless it is named


def test_links_and_special_files_are_left_out(tmp_path: Path) -> None:
    tree(tmp_path, ["a/b.txt", "c.txt"])
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to("self")
    (tmp_path / "a" / "link.txt").symlink_to(tmp_path / "c.txt")
    os.mkfifo(tmp_path / "a" / "pipe.txt")
    assert found(".", include=["*"]) == ["a/b.txt", "c.txt"]
    assert found("a/loop/a", "a/self") == ["a/loop/a/b.txt", "a/self"]  # unless they are named
    assert found("a/link.txt") == ["a/link.txt"]


def test_folders_nested_deeper_than_calls(tmp_path: Path) -> None:
    at = os.open(tmp_path, os.O_RDONLY)
    depth = 1200
    for _ in range(depth):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("a.txt", os.O_CREAT, dir_fd=at))
    os.close(at)
    try:
        assert found(".", gitignore=False) == ["d/" * depth + "a.txt"]
    finally:
        subprocess.run(["rm", "-r", tmp_path / "d"], check=True)  # Python's own way of removing it is a recursive one


def test_ignore_files_from_the_repository_root_down(tmp_path: Path) -> None:
    tree(
        tmp_path,
        [".git/", "a.txt", "build/b.txt", "sub/a.txt", "sub/keep.txt", "sub/deep/a.txt", "sub/build/x.txt"],
        {"": "build/\n*.txt\n# a comment\n", "sub": "!keep.txt\n!deep/\n", "sub/deep": "!a.txt\n"},
    )
    assert found(".") == ["sub/deep/a.txt", "sub/keep.txt"]
    assert found("sub") == ["sub/deep/a.txt", "sub/keep.txt"]  # what lies above counts too
    assert found("sub/deep/..") == ["sub/deep/../deep/a.txt", "sub/deep/../keep.txt"]
    assert found("build") == ["build/b.txt"]  # named, so wanted
    assert found("sub/build") == ["sub/build/x.txt"]
    assert found("sub", gitignore=False) == ["sub/a.txt", "sub/build/x.txt", "sub/deep/a.txt", "sub/keep.txt"]


def test_ignore_files_end_at_a_repository_of_its_own(tmp_path: Path) -> None:
    tree(tmp_path, [".git/", "inner/.git", "inner/a.txt"], {"": "*.txt\n"})  # .git is a file in a worktree
    assert found("inner") == ["inner/a.txt"]
    assert repository_root("inner") == os.path.realpath("inner")


def test_ignore_files_count_without_a_repository(tmp_path: Path) -> None:
    tree(tmp_path, ["a/b.txt", "a/c.txt"], {"a": "\ufeffb.txt\r\n[\n!\n\\\n"})  # lines that are no patterns mean nothing
    assert found("a") == ["a/c.txt"]
    assert found("a", gitignore=False) == found(".", gitignore=False) == ["a/b.txt", "a/c.txt"]


def test_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, ["a/x.txt", "b/x.txt", "c/x.txt"])
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("b"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    errors: list[InputError] = []
    assert list(discover(["."], on_error=errors.append)) == ["a/x.txt", "c/x.txt"]
    assert [str(error) for error in errors] == ["b: cannot be read: permission denied"]
    walk = discover(["."])
    assert [next(walk), next(walk)] == ["a/x.txt", "c/x.txt"]
    with pytest.raises(InputError, match="b: cannot be read"):
        next(walk)


def test_an_ignore_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    tree(tmp_path, ["a.txt", ".gitignore/"])
    errors: list[InputError] = []
    assert list(discover(["."], on_error=errors.append)) == ["a.txt"]
    assert [str(error) for error in errors] == [f"{os.path.realpath('.gitignore')}: cannot be read: is a directory"]


def test_a_folder_that_cannot_be_entered_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, ["a.txt", "b/x.txt"])

    def refusing(call: Callable[..., Any]) -> Callable[..., Any]:
        def refuse(path: Any, *arguments: Any, **settings: Any) -> Any:
            if "/b" in f"/{os.path.relpath(path)}":
                raise PermissionError(13, "Permission denied")
            return call(path, *arguments, **settings)

        return refuse

    monkeypatch.setattr(os, "scandir", refusing(os.scandir))
    monkeypatch.setattr(builtins, "open", refusing(open))
    monkeypatch.setattr(os, "access", lambda path, mode: not os.fspath(path).endswith("/b"))
    errors: list[InputError] = []
    assert list(discover(["."], on_error=errors.append)) == ["a.txt"]
    assert [str(error) for error in errors] == ["b: cannot be read: permission denied"]


def test_what_a_repository_leaves_out_by_itself_goes_for_its_other_working_trees_too(tmp_path: Path) -> None:
    tree(tmp_path, ["one/.git/worktrees/two/", "one/.git/info/", "two/a.txt", "two/b/a.txt", "two/b/c.txt", "three/.git/", "three/a.txt"])
    (tmp_path / "one/.git/info/exclude").write_text("/a.txt\n", encoding="utf-8")
    (tmp_path / "one/.git/worktrees/two/commondir").write_text("../..\n", encoding="utf-8")
    (tmp_path / "two/.git").write_text(f"gitdir: {tmp_path}/one/.git/worktrees/two\n", encoding="utf-8")
    assert found("two", "three") == ["two/b/a.txt", "two/b/c.txt", "three/a.txt"]
    assert found("two/b") == ["two/b/a.txt", "two/b/c.txt"]


IGNORES = "*.md\n!c.md\n/a.txt\n"


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        (".config/git/ignore", {}),
        ("mine", {".gitconfig": "[core]\n\texcludesFile = ~/mine\n"}),
        ("mine", {".gitconfig": '[User]\nname = x\n[CORE] excludesfile="~/mi"ne  # mine\n[core "x"]\nexcludesFile = ~/x\n'}),
        ("mine", {".config/git/config": "[core]\nexcludesFile = ~/x\n", ".gitconfig": "[core]\nexcludesFile=~/mine ; mine"}),
        ("mine", {".gitconfig": "[core]\nexcludesFile = ~/x\n", "r/.git/config": "[core]\r\nexcludesFile = ../mine\r\n"}),
        ("else", {"XDG_CONFIG_HOME/git/config": "[core]\nexcludesFile = ~/else"}),
        ("XDG_CONFIG_HOME/git/ignore", {}),
        ("a\\b", {"GIT_CONFIG_GLOBAL": "[core]\nexcludesFile = ~/a\\\\b", ".gitconfig": "[core]\nexcludesFile = ~/x\n"}),
    ],
)
def test_what_git_ignores_for_a_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, settings: dict[str, str]) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"):
        if any(path.startswith(name) for path in (file, *settings)):
            monkeypatch.setenv(name, str(tmp_path / name))
        else:
            monkeypatch.delenv(name)
    tree(tmp_path, ["r/.git/info/", "r/a.txt", "r/b.md", "r/c.md", "r/d/a.txt", "r/d/b.md", "r/d/c.md", "no/b.md"], {"r/d": "!b.md\n"})
    (tmp_path / "r/.git/info/exclude").write_text("c.md\n", encoding="utf-8")
    for name, text in {file: IGNORES, **settings}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    assert found("r") == ["r/d/a.txt", "r/d/b.md"]
    assert found("no") == ["no/b.md"]
    assert len(found("r", gitignore=False)) == 6
    if shutil.which("git") is not None:
        subprocess.run(["git", "init", "--quiet", "r"], check=True)
        listed = subprocess.run(["git", "ls-files", "--others", "--exclude-standard"], cwd="r", capture_output=True, text=True, check=True)
        assert listed.stdout.split() == ["d/.gitignore", "d/a.txt", "d/b.md"]


def test_git_may_be_told_of_no_patterns_of_a_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    (tmp_path / "settings").write_text("[core]\nexcludesFile =\n", encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    tree(tmp_path, [".git/", "git/", "a.txt"])
    (tmp_path / "git/ignore").write_text("*.txt\n", encoding="utf-8")
    assert found(".") == ["a.txt"]


@pytest.mark.filterwarnings("error")
def test_brackets_in_patterns_of_options(tmp_path: Path) -> None:
    tree(tmp_path, ["a/1.txt", "a/b/2.txt", "[.txt", "b.txt"])
    assert found(".", exclude=["[[]*", "a/**/"]) == ["a/1.txt", "b.txt"]
    assert found(".", include=["[[:digit:]].txt"]) == ["a/1.txt", "a/b/2.txt"]


def test_names_that_are_no_utf_8(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.txt")
    try:
        tree(tmp_path, [name, "a.txt"], {"": "a.txt\n"})
    except OSError:
        pytest.skip("the file system takes UTF-8 alone")
    assert found(".") == [name]


_PATTERNS = (
    "*.txt !a.txt /a a/ build/ !build/ a/* !a/b/ **/b a/** * !*/ */ !*.md /* !/a b/c.txt #x \\!x a/**/c.txt [ab].txt "
    "?.md !c.txt a/b !a/b ** !**/a.txt !/a/b/ [!a].txt [ b\\ a/**/ !b/**/ /**/b/**/ [[:alpha:]].txt [[:alpha:]bc]/ *[![:punct:]].* "
    "[[]* [a[:digit:]].* \\[[:alpha:]] [[:none:]]*"
)
PATTERNS = st.sampled_from(_PATTERNS.split(" "))
FOLDERS = ["", "a", "a/a", "a/b", "b", "b/a", "b/build", "build", "build/a"]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(FOLDERS), st.lists(PATTERNS, min_size=1, max_size=4), min_size=1, max_size=3),
    st.lists(PATTERNS, max_size=2),
)
@example({"": ["a/**/"]}, [])
@example({"": ["[[:alpha:]].txt"]}, [])
@example({"": ["!a.txt"]}, ["*.txt", "/b"])
@example({"": ["*", "!*/", "!c.txt"]}, [])
def test_git_ignores_the_same(tmp_path: Path, ignored: dict[str, list[str]], excluded: list[str]) -> None:
    root = tmp_path / "repository"
    if not root.exists():
        subprocess.run(["git", "init", "--quiet", root], check=True)
        tree(root, [f"{folder}/{name}" for folder in FOLDERS for name in ("a.txt", "c.txt", "d.md", "other")])
    for folder in FOLDERS:
        (root / folder / ".gitignore").unlink(missing_ok=True)
    tree(root, [], {folder: "\n".join(lines) for folder, lines in ignored.items()})
    (root / ".git/info/exclude").write_text("\n".join(excluded), encoding="utf-8")
    command = ["git", "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    expected = sorted(f"{root}/{name}" for name in listed if name and not name.endswith(".gitignore"))
    assert sorted(found(str(root), include=["*"])) == expected


def test_exclude_counts_from_the_folder_of_the_settings_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, ["docs/a.md", "docs/old/b.md", "docs/old/c/d.md"])
    monkeypatch.chdir(tmp_path / "docs")

    def left(path: str) -> list[str]:
        return list(discover([path], exclude=["docs/old/"], exclude_from=str(tmp_path)))

    assert left(".") == ["a.md"]
    assert left(str(tmp_path)) == [str(tmp_path / "docs/a.md")]
    assert left("old") == ["old/b.md", "old/c/d.md"]  # named all the same
