"""The examples in the docstrings run and say what happens."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from corrector.electra.model_dir import DEFAULT_MODEL, model_places

ROOT = Path(__file__).resolve().parents[1]
NEED_A_MODEL = {"corrector", "corrector.pipeline"}
EXAMPLES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "corrector").rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


def test_the_main_modules_have_examples() -> None:
    assert {"corrector", "corrector.pipeline", "corrector.words", "corrector.confusions"} <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    if name in NEED_A_MODEL and not any((place / DEFAULT_MODEL).is_dir() for place in model_places()):
        pytest.skip("no embedded model")
    results = doctest.testmod(import_module(name))
    assert results.attempted > 0
    assert results.failed == 0
