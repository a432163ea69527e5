"""What is imported when: the help needs no numerical library, a correction only what runs the embedded model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from corrector.electra.model_dir import DEFAULT_MODEL, model_places

ROOT = Path(__file__).parents[1]
PROGRAM = (
    "import json, sys; from corrector.cli import main; status = main(sys.argv[1:]);"
    "sys.stderr.write(json.dumps([status, sorted(sys.modules)]))"
)
NUMERICAL = {"numpy", "onnxruntime"}
# Dictionaries that the tables already hold, and libraries for training and public checkpoints.
NEVER = {
    "jieba", "opencc", "pathspec", "charset_normalizer", "pypinyin", "torch", "transformers",
    "tokenizers", "safetensors", "huggingface_hub", "onnx", "scipy", "sklearn",
    "pandas", "PIL", "zstandard", "requests", "asyncio", "multiprocessing.pool", "sqlite3", "ssl", "http.client",
    "corrector.train", "corrector.eval", "corrector.similarity.build_pinyin", "corrector.similarity.build_glyph",
    "corrector.similarity.build_names", "corrector.similarity.build_variety", "corrector.similarity.name_mixture",
    "corrector.electra.torch_runtime", "corrector.electra.hub",
}  # fmt: skip


def imported(*arguments: str, text: str = "") -> tuple[str, set[str]]:
    """Standard output of the command in a process of its own, and the modules it has imported by its end."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], cwd=ROOT, input=text.encode(), capture_output=True, check=True
    )
    status, modules = json.loads(done.stderr)
    assert status == 0
    return done.stdout.decode(), set(modules)


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_no_numerical_library(option: str) -> None:
    printed, modules = imported(option)
    assert "electra-correct" in printed and "corrector.cli" in modules
    assert not modules & (NUMERICAL | NEVER)


@pytest.mark.skipif(not any((place / DEFAULT_MODEL).is_dir() for place in model_places()), reason="no embedded model")
def test_a_correction_imports_only_what_runs_the_embedded_model() -> None:
    printed, modules = imported(text="我今天很高形。\n")
    assert printed == "我今天很高兴。\n"
    assert modules >= NUMERICAL | {"corrector.propose", "corrector.similarity.pinyin"}
    assert not modules & NEVER


def test_ctrl_c_while_the_command_is_loaded_shows_no_traceback() -> None:
    program = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'click':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "import runpy; runpy.run_module('corrector', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"")


def test_an_interrupted_command_does_not_wait_for_threads_at_work() -> None:
    program = (
        "import sys, threading, time, corrector.__main__, corrector.cli\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "corrector.cli.main = lambda: 130\n"
        "sys.exit(corrector.__main__.main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (130, b"")
