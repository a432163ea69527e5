"""Settings from files: which file decides, what is refused, what is shown."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrector.config import PROFILES, Settings, find_settings, profile_confidence, render_settings
from corrector.errors import ConfigError, ModelError
from corrector.formats import NAMES
from tests.fakes import write

OWN, PYPROJECT, SETUP = ".electra-correct.toml", "pyproject.toml", "setup.cfg"


def find(folder: Path, name: str, text: str) -> Settings:
    write(folder / name, text.encode())
    return find_settings(folder)


def refused(folder: Path, name: str, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        find(folder, name, text)
    assert caught.value.file == str(folder / name)
    return str(caught.value).removeprefix(f"{folder / name}: ")


def test_without_a_file_all_is_default(tmp_path: Path) -> None:
    assert find_settings(tmp_path) == Settings()
    assert find_settings(tmp_path / "none" / "a.txt") == Settings()
    assert find_settings(tmp_path).sources == {}


def test_every_setting_of_each_kind_of_file(tmp_path: Path) -> None:
    toml = """
        model = "models/mine"
        origin = "ocr"
        min-confidence = 1
        words = ["names.txt", "/etc/words"]
        confusions = "pairs.txt"
        encoding = "gb18030"
        include = ["*.md", "文 档/*.txt"]
        exclude = ["old, *"]
        gitignore = false
        input-format = "markdown"
        column = ["text"]
        color = "never"
        backup = ".bak"
        threads = 2
        jobs = 3
    """
    ini = """
model = models/mine
origin = ocr
min_confidence = 1
words =
    names.txt
    /etc/words
confusions = pairs.txt
encoding = gb18030
include = *.md, 文 档/*.txt
exclude =
    old, *
gitignore = no
input-format = markdown
column = text
color = never
backup = .bak
threads = 2
jobs = 3
    """
    expected = Settings(
        str(tmp_path / "models" / "mine"), "ocr", 1.0, None, (str(tmp_path / "names.txt"), "/etc/words"), (str(tmp_path / "pairs.txt"),),
        "gb18030", ("*.md", "文 档/*.txt"), ("old, *",), False, "markdown", ("text",), "never", ".bak", 2, 3,
    )  # fmt: skip
    ini = ini.replace("exclude =\n    old, *\n", "exclude =\n    old, *\n    x\n")
    assert find(tmp_path, SETUP, f"[metadata]\nname = x\n[electra-correct]{ini}") == dataclasses.replace(
        expected, exclude=("old, *", "x")
    )
    found = find(tmp_path, PYPROJECT, f"[tool.electra-correct]{toml}")
    assert found == expected
    assert set(found.sources) == {field.name for field in dataclasses.fields(Settings)} - {"sources", "profile"}
    assert set(found.sources.values()) == {str(tmp_path / PYPROJECT)}
    assert find(tmp_path, OWN, "\ufeff" + toml) == expected


def test_one_folder_decides_the_nearest_with_a_section(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    assert find(tmp_path, OWN, "threads = 1\nbackup = '~'") == Settings(threads=1, backup="~")
    assert find_settings(folder) == Settings(threads=1, backup="~")
    assert find_settings(folder / "text.txt") == Settings(threads=1, backup="~")
    assert find(tmp_path / "a", SETUP, "[electra-correct]\nthreads = 2") == Settings(threads=2)
    assert find_settings(folder) == Settings(threads=2)
    write(tmp_path / "a" / PYPROJECT, b"[tool.other]\nthreads = 9 # electra-correct is not configured here")
    assert find_settings(folder) == Settings(threads=2)
    assert find(tmp_path / "a", PYPROJECT, "[tool.electra-correct]\nthreads = 3") == Settings(threads=3)
    assert find(tmp_path / "a", OWN, "") == Settings()


def test_a_start_that_is_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / OWN, b'words = ["names.txt"]')
    monkeypatch.chdir(tmp_path)
    assert find_settings(".").words == (str(tmp_path / "names.txt"),)
    assert find_settings("text.txt").words == (str(tmp_path / "names.txt"),)


def test_broken_files_of_others_are_not_ours(tmp_path: Path) -> None:
    write(tmp_path / PYPROJECT, b"[tool.other\n\xff")
    write(tmp_path / SETUP, b"no section")
    assert find_settings(tmp_path) == Settings()


@pytest.mark.parametrize(
    "text, message",
    [
        ("min-confidense = 0.5", "min-confidense: unknown setting; did you mean min-confidence?"),
        ("word = []", "word: unknown setting; did you mean words?"),
        ("Threads = 1", "Threads: unknown setting; did you mean threads?"),
        ("zzzz = 1", "zzzz: unknown setting; known are model, origin, min-confidence,"),
        ("sources = {}", "sources: unknown setting"),
        ("[tool.electra-correct]\nthreads = 1", "tool: unknown setting"),
        ("threads = 1\n[extra]\na = 1", "extra: unknown setting"),
        ("min-confidence = 1.5", "min-confidence: must be a number from 0 to 1, not 1.5"),
        ("min-confidence = nan", "min-confidence: must be a number from 0 to 1, not nan"),
        ("min-confidence = '0.5'", "min-confidence: must be a number from 0 to 1, not '0.5'"),
        ("min-confidence = true", "min-confidence: must be a number"),
        ("threads = -1", "threads: must be a whole number from 0 (every core) to 1,024, not -1"),
        ("threads = 1025", "threads: must be a whole number from 0 (every core) to 1,024, not 1025"),
        (f"threads = 0x{'f' * 5000}", "threads: must be a whole number from 0 (every core) to 1,024, not one of thousands of digits"),
        ("threads = 1.0", "threads: must be a whole number"),
        ("jobs = 0", "jobs: must be a whole number from 1 to 1,024, not 0"),
        ("jobs = 100000000000000000000", "jobs: must be a whole number from 1 to 1,024, not 100000000000000000000"),
        ("gitignore = 'yes'", "gitignore: must be true or false, not 'yes'"),
        ("gitignore = 1", "gitignore: must be true or false, not 1"),
        ("backup = true", "backup: must be a text that is not empty, not True"),
        ("backup = 'old/'", "backup: must be a suffix such as .bak, not the path 'old/'"),
        ("origin = 'scan'", "origin: must be one of typed, ocr, not 'scan'"),
        ("profile = 'bold'", "profile: must be one of careful, balanced, eager, not 'bold'"),
        ("color = true", "color: must be one of auto, always, never, not True"),
        ("words = [1]", "words: must be a text that is not empty, not 1"),
        ("words = {a = 1}", "words: must be a list of texts"),
        ("words = ['a', '']", "words: must be a text that is not empty"),
        ("encoding = ''", "encoding: must be a text that is not empty"),
        ("encoding = 'klingon'", "encoding: 'klingon' is not a known text encoding; try utf-8 or gb18030"),
        ("encoding = 'hex'", "encoding: 'hex' is not a known text encoding"),
        ("encoding = 8", "encoding: must be a text that is not empty, not 8"),
        ("input-format = 'foo'", f"input-format: must be one of {', '.join(NAMES)}, not 'foo'"),
        ("include = ['*.md', '!']", "include: '!' is no pattern"),
        ("exclude = '[z-a]'", "exclude: '[z-a]' is no pattern"),
        ("exclude = [1]", "exclude: must be a text that is not empty, not 1"),
        ("model = 3", "model: must be a text"),
        ("profile = 'eager'\nmin-confidence = 0.5", "profile: cannot be given together with min-confidence"),
        ("min-confidence = 0.5\nmin_confidence = 0.6", "min_confidence: given twice"),
        ("threads = 1\nthreads = 2", "syntax: not valid TOML"),
        ("threads = ", "syntax: not valid TOML"),
        ("threads = " + "9" * 5000, "syntax: not valid TOML"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert refused(tmp_path, OWN, text).startswith(message)


@pytest.mark.parametrize(
    "text, message",
    [
        ("[electra-correct]\nmin-confidence = high", "min-confidence: must be a number from 0 to 1, not 'high'"),
        ("[electra-correct]\nthreads = 2.5", "threads: must be a whole number"),
        ("[electra-correct]\ngitignore = maybe", "gitignore: must be true or false"),
        ("[electra-correct]\nwords =", "words: must be a text that is not empty"),
        ("[electra-correct]\nthreads = 99999", "threads: must be a whole number from 0 (every core) to 1,024, not 99999"),
        ("[electra-correct]\nencoding = klingon", "encoding: 'klingon' is not a known text encoding"),
        ("[electra-correct]\ninclude =\n  *.md\n  !", "include: '!' is no pattern"),
        ("[electra-correct]\nnames = a", "names: unknown setting"),
        ("[electra-correct]\nthreads = 1\nthreads = 2", "syntax: "),
        ("electra-correct", "syntax: "),
    ],
)
def test_what_is_refused_in_setup_cfg(tmp_path: Path, text: str, message: str) -> None:
    assert refused(tmp_path, SETUP, text).startswith(message)


@pytest.mark.parametrize("encoding", ["auto", "utf-8-sig", "UTF-16", "utf_32", "big5", "latin-1"])
def test_encodings_that_texts_may_be_in(tmp_path: Path, encoding: str) -> None:
    assert find(tmp_path, OWN, f"encoding = '{encoding}'").encoding == encoding


def test_what_is_refused_in_pyproject(tmp_path: Path) -> None:
    assert refused(tmp_path, PYPROJECT, "[tool]\nelectra-correct = 1").startswith("tool.electra-correct: must be a table")
    assert refused(tmp_path, PYPROJECT, "[tool.electra-correct]\nwodrs = 1").startswith("wodrs: unknown setting; did you mean words")
    assert refused(tmp_path, PYPROJECT, "[tool.electra-correct").startswith("syntax: not valid TOML")


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    write(tmp_path / OWN, b"# \xff")
    with pytest.raises(ConfigError, match=r"encoding: not valid UTF-8 \(byte 2\)"):
        find_settings(tmp_path)


def test_defaults_of_setup_cfg_sections_do_not_leak_in(tmp_path: Path) -> None:
    assert find(tmp_path, SETUP, "[DEFAULT]\nname = x\n[electra-correct]\nexclude = %%.txt") == Settings(exclude=("%%.txt",))


@pytest.mark.parametrize("model", ["electra-csc-zh", "hfl/chinese-electra-180g-small-discriminator"])
def test_names_of_models_stay_names_unless_such_a_folder_is_there(tmp_path: Path, model: str) -> None:
    assert find(tmp_path, OWN, f"model = '{model}'").model == model
    (tmp_path / model).mkdir(parents=True)
    assert find_settings(tmp_path).model == str(tmp_path / model)


@pytest.mark.parametrize("model", ["./mine", "../mine", "models/mine"])
def test_paths_of_models_are_relative_to_the_file(tmp_path: Path, model: str) -> None:
    found = find(tmp_path, OWN, f"model = '{model}'").model
    assert found is not None and os.path.normpath(found) == os.path.normpath(tmp_path / model)


def test_the_home_folder_is_meant_by_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = find(tmp_path, OWN, "model = '~/mine'\nwords = ['~/names', '~nobody-of-that-name/x']")
    assert found.model == str(tmp_path / "home/mine")
    assert found.words == (str(tmp_path / "home/names"), str(tmp_path / "~nobody-of-that-name/x"))


def test_options_go_before_the_file(tmp_path: Path) -> None:
    settings = find(tmp_path, OWN, "threads = 3\nwords = ['a']\nprofile = 'careful'\ngitignore = false")
    changed = settings.overridden(threads=0, words=("b",), confusions=(), encoding=None, gitignore=True)
    assert changed == Settings(threads=0, words=("b",), profile="careful")
    assert changed.sources == {
        "threads": "command line", "words": "command line", "gitignore": "command line", "profile": str(tmp_path / OWN)
    }  # fmt: skip
    assert settings.overridden() == settings
    assert settings.threads == 3


def test_a_confidence_given_later_puts_the_profile_out_of_force_and_the_other_way_round() -> None:
    careful = Settings().overridden("file", profile="careful")
    confident = careful.overridden(min_confidence=0.0)
    assert (confident.profile, confident.min_confidence) == (None, 0.0)
    assert confident.sources == {"min_confidence": "command line"}
    assert confident.overridden(profile="eager") == Settings(profile="eager")
    with pytest.raises(ConfigError, match="command line: profile: cannot be given together"):
        Settings().overridden(profile="eager", min_confidence=0.5)
    with pytest.raises(ConfigError, match="command line: threads: must be a whole number"):
        Settings().overridden(threads=-1)
    with pytest.raises(ConfigError, match="command line: thread: unknown setting; did you mean threads"):
        Settings().overridden(thread=1)


def test_what_is_shown(tmp_path: Path) -> None:
    settings = find(tmp_path, OWN, "min-confidence = 0.9\ninput-format = 'html'").overridden(words=('a "b".txt', "名\\字"))
    assert render_settings(settings).splitlines() == [
        "# model: not set",
        'origin = "typed"  # default',
        f"min-confidence = 0.9  # {tmp_path / OWN}",
        "# profile: not set",
        r'words = ["a \"b\".txt", "名\\字"]  # command line',
        "confusions = []  # default",
        "# encoding: not set",
        "include = []  # default",
        "exclude = []  # default",
        "gitignore = true  # default",
        f'input-format = "html"  # {tmp_path / OWN}',
        "column = []  # default",
        'color = "auto"  # default',
        "# backup: not set",
        "threads = 0  # default",
        "jobs = 1  # default",
    ]


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(str.strip)
ANY_SETTINGS: dict[str, st.SearchStrategy[Any]] = {
    "encoding": st.sampled_from(["auto", "GB18030", "utf-8-sig"]), "format_in": st.sampled_from(list(NAMES)),
    "include": st.lists(st.sampled_from(["*.md", "文 档/", '"[a]"', "a\\\\ "]), max_size=3).map(tuple), "column": st.lists(TEXT).map(tuple),
    "min_confidence": st.floats(0, 1), "threads": st.integers(0, 99), "gitignore": st.booleans(),
    "origin": st.sampled_from(["typed", "ocr"]),
}  # fmt: skip


@given(st.fixed_dictionaries({}, optional=ANY_SETTINGS))
def test_what_is_shown_can_be_read_again(tmp_path_factory: pytest.TempPathFactory, given_values: dict[str, Any]) -> None:
    settings = Settings().overridden("a\nb\udcff", **given_values)
    assert find(tmp_path_factory.mktemp("config"), OWN, render_settings(settings)) == settings


def test_a_path_that_is_no_text_is_shown_all_the_same() -> None:
    shown = render_settings(Settings().overridden(words=("\udcff\x7f.txt",)))
    assert r'"\udcff\u007f.txt"' in shown.encode().decode()


def test_profiles_are_confidences(tmp_path: Path) -> None:
    assert {name: profile_confidence(name) for name in PROFILES} == {"careful": 0.8, "balanced": None, "eager": 0.3}
    ranker = write(tmp_path / "ranker.json", b'{"min_confidence": 0.5, "profiles": {"careful": 0.77, "balanced": 0.5}}')
    assert [profile_confidence(name, ranker) for name in PROFILES] == [0.77, 0.5, 0.3]
    assert profile_confidence("careful", write(tmp_path / "ranker.json", b"{}")) == 0.8
    with pytest.raises(ConfigError, match="profile: must be one of"):
        profile_confidence("bold")


@pytest.mark.parametrize(
    "data", [b'{"profiles": {"eager": 2}}', b'{"profiles": 3}', b'{"profiles": {"eager": "0.3"}}', b"[]", b"{", b"\xff"]
)
def test_profiles_of_a_model_that_are_no_confidences(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ModelError, match="its profiles cannot be used"):
        profile_confidence("eager", write(tmp_path / "ranker.json", data))


def test_finding_settings_needs_no_heavy_library(tmp_path: Path) -> None:
    write(tmp_path / OWN, b"threads = 1")
    program = "import sys, corrector.config as c; c.find_settings('.'); print(sorted({'numpy', 'click', 'jieba'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
    )  # fmt: skip
    assert done.stdout == "[]\n"
