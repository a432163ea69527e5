"""The lines in data/written: well-formed pairs, and none of them from a test set."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from corrector.eval.dataset import load_set

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "data" / "written").glob("*.tsv.xz"))
TESTS = sorted((ROOT / "eval").glob("*.tsv"))
LABELLED = ROOT.parent / "shared" / "csc"
RUN = 10  # Han characters in a row; what is said everywhere is shorter


def rows(path: Path) -> list[tuple[str, str]]:
    labelled = load_set(path)
    assert not labelled.dropped, "source and target differ in length"
    return [(row.source, row.target) for row in labelled.rows]


def texts(path: Path) -> Iterator[str]:
    """The first two columns of a test set, those of rows that ``load_set`` would drop as well."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield from line.split("\t")[:2]


def runs(text: str) -> Iterator[str]:
    han = re.sub(r"[^\u3400-\u9fff]", "", text)
    return (han[at : at + RUN] for at in range(len(han) - RUN + 1))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_pairs_differ_in_han_characters_alone(path: Path) -> None:
    pairs = rows(path)
    assert pairs
    for source, target in pairs:
        assert all(re.fullmatch(r"[\u3400-\u9fff]{2}", a + b) for a, b in zip(source, target, strict=True) if a != b), source
        assert not set(source) & set("{|}")


def test_no_line_is_there_twice() -> None:
    targets = [target for path in FILES for _, target in rows(path)]
    assert FILES
    assert len(targets) == len(set(targets))


def of_tests() -> list[Path]:
    sets = (path for path in sorted(LABELLED.glob("*.tsv")) if not path.stem.startswith("confusion"))
    measured = [path for path in sets if not path.stem.endswith(".train") or path.stem in ("macro.acc_xxqg.train", "cctc.train")]
    return [*TESTS, *measured]


@pytest.mark.skipif(not LABELLED.is_dir(), reason="the labelled sets are not here")
def test_no_line_has_a_run_of_a_test_or_development_set() -> None:
    seen = {run for path in of_tests() for text in texts(path) for run in runs(text)}
    assert len(seen) > 100_000
    found = [target for path in FILES for pair in rows(path) for target in pair if not seen.isdisjoint(runs(target))]
    assert found == []
