"""The labelled evaluation set in ``eval/``: well formed, balanced as promised, and counted right in its README."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

EVAL = Path(__file__).resolve().parents[1] / "eval"
HEADER = "# source\ttarget\tdomain\tkind"
DOMAINS = ("news", "essay", "chat", "technology", "law", "medicine", "fiction")
ERROR_KINDS = ("homophone", "near_homophone", "shape", "word", "de", "multi", "typing")
TRADITIONAL_KINDS = ("right", "slip")
VARIETY_KINDS = ("older", "cantonese", "older_slip", "cantonese_slip")
TRAP_KINDS = ("name", "rare", "idiom", "dialect", "number", "latin", "classical", "title", "de", "variant", "time")
HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af]")


class LabelledRow(NamedTuple):
    """One row of a labelled file, as it is written there."""

    source: str
    target: str
    domain: str
    kind: str

    def edits(self) -> list[tuple[int, str, str]]:
        """``(offset, wrong, right)`` for every character that differs."""
        pairs = enumerate(zip(self.source, self.target, strict=True))
        return [(offset, wrong, right) for offset, (wrong, right) in pairs if wrong != right]


def read_rows(name: str) -> list[LabelledRow]:
    """The rows of ``eval/name``; a row without four columns fails here."""
    lines = (EVAL / name).read_bytes().decode("utf-8").split("\n")
    assert lines[0] == HEADER
    assert lines[-1] == "", "the last row ends in a newline"
    return [LabelledRow(*line.split("\t")) for line in lines[1:-1]]


SENTENCES = read_rows("sentences.tsv")
TRAPS = read_rows("traps.tsv")
TRADITIONAL = read_rows("traditional.tsv")
VARIETIES = read_rows("varieties.tsv")
SCANS = read_rows("scans.tsv")


def readme_counts(name: str) -> dict[str, dict[str, int]]:
    """The count table that follows `` `name` `` in the README, as domain → column → count."""
    text = (EVAL / "README.md").read_text(encoding="utf-8").partition("## Counts")[2]
    table = text.partition(f"`{name}`\n\n")[2].partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    columns = cells[0][1:]
    return {row[0]: dict(zip(columns, map(int, row[1:]), strict=True)) for row in cells[2:]}


@pytest.mark.parametrize("name", ["sentences.tsv", "traps.tsv", "traditional.tsv", "varieties.tsv", "scans.tsv"])
def test_bytes_are_plain_utf8_with_unix_newlines(name: str) -> None:
    data = (EVAL / name).read_bytes()
    assert not data.startswith(b"\xef\xbb\xbf")
    assert b"\r" not in data
    assert "\ufffd" not in data.decode("utf-8")


@pytest.mark.parametrize("row", SENTENCES + TRAPS + TRADITIONAL + VARIETIES, ids=lambda row: row.source[:8])
def test_no_stray_white_space_or_markup(row: LabelledRow) -> None:
    for text in (row.source, row.target):
        assert text == text.strip()
        assert not re.search(r"[\x00-\x1f\u200b\u3000]|\{.\||\|.\}", text)


@pytest.mark.parametrize("row", SENTENCES, ids=lambda row: row.source[:8])
def test_an_error_replaces_han_characters_one_for_one(row: LabelledRow) -> None:
    assert len(row.source) == len(row.target)
    assert 10 <= len(row.target) <= 70
    assert row.edits()
    assert all(HAN.fullmatch(wrong) and HAN.fullmatch(right) for _, wrong, right in row.edits())


@pytest.mark.parametrize("row", TRAPS, ids=lambda row: row.source[:8])
def test_a_trap_is_unchanged(row: LabelledRow) -> None:
    assert row.source == row.target


def test_domains_and_kinds_are_known() -> None:
    assert {row.domain for row in SENTENCES} == set(DOMAINS)
    assert {row.domain for row in TRAPS} <= set(DOMAINS)
    assert {row.kind for row in SENTENCES} == set(ERROR_KINDS)
    assert {row.kind for row in TRAPS} == set(TRAP_KINDS)
    assert {row.domain for row in TRADITIONAL} == set(DOMAINS) and {row.kind for row in TRADITIONAL} == set(TRADITIONAL_KINDS)


def test_the_set_is_as_large_as_promised() -> None:
    assert len(SENTENCES) >= 420
    assert len(TRAPS) >= 170
    assert min(Counter(row.domain for row in SENTENCES).values()) >= 55
    assert min(Counter(row.kind for row in SENTENCES).values()) >= 55
    assert min(Counter(row.kind for row in TRAPS).values()) >= 15


def test_no_text_occurs_twice() -> None:
    texts = Counter(text for row in SENTENCES + TRAPS + TRADITIONAL + VARIETIES for text in {row.source, row.target})
    assert [text for text, count in texts.items() if count > 1] == []


@pytest.mark.parametrize("row", [row for row in SENTENCES if row.kind == "de"], ids=lambda row: row.source[:8])
def test_a_de_error_confuses_one_particle(row: LabelledRow) -> None:
    ((_, wrong, right),) = row.edits()
    assert {wrong, right} < set("的地得")


@pytest.mark.parametrize("row", [row for row in SENTENCES if row.kind == "multi"], ids=lambda row: row.source[:8])
def test_several_errors_are_two_to_four(row: LabelledRow) -> None:
    assert 2 <= len(row.edits()) <= 4


@pytest.mark.parametrize("kind", ["homophone", "near_homophone", "shape"])
def test_most_character_errors_are_one_character(kind: str) -> None:
    edits = [len(row.edits()) for row in SENTENCES if row.kind == kind]
    assert max(edits) <= 2, "two only for a doubled character such as 冉冉"
    assert edits.count(1) >= 0.95 * len(edits)


@pytest.mark.parametrize("kind", ["word", "typing"])
def test_a_word_error_lies_within_one_word(kind: str) -> None:
    for row in SENTENCES:
        if row.kind == kind:
            offsets = [offset for offset, _, _ in row.edits()]
            assert offsets[-1] - offsets[0] <= 1, row.source


@pytest.mark.parametrize(
    ("name", "rows", "kinds"),
    [
        ("sentences.tsv", SENTENCES, ERROR_KINDS),
        ("traps.tsv", TRAPS, TRAP_KINDS),
        ("traditional.tsv", TRADITIONAL, TRADITIONAL_KINDS),
        ("varieties.tsv", VARIETIES, VARIETY_KINDS),
    ],
)
def test_the_readme_counts_what_is_there(name: str, rows: list[LabelledRow], kinds: tuple[str, ...]) -> None:
    counted = Counter((row.domain, row.kind) for row in rows)
    expected = {domain: {kind: counted[domain, kind] for kind in kinds} for domain in DOMAINS}
    expected["all"] = {kind: sum(counted[domain, kind] for domain in DOMAINS) for kind in kinds}
    for row in expected.values():
        row["all"] = sum(row.values())
    assert readme_counts(name) == expected


@pytest.mark.parametrize("row", TRADITIONAL, ids=lambda row: row.source[:8])
def test_traditional_sentences_are_so_and_have_one_slip_or_none(row: LabelledRow) -> None:
    from corrector.text.script import script_of

    assert script_of(row.target) == "traditional" and len(row.source) == len(row.target)
    assert len(row.edits()) == (row.kind == "slip")
    assert all(HAN.fullmatch(wrong) and HAN.fullmatch(right) for _, wrong, right in row.edits())


@pytest.mark.parametrize("row", VARIETIES, ids=lambda row: row.source[:8])
def test_sentences_of_other_varieties_have_one_slip_or_none(row: LabelledRow) -> None:
    assert row.kind in VARIETY_KINDS and row.domain in DOMAINS and len(row.source) == len(row.target)
    assert len(row.edits()) == row.kind.endswith("_slip")
    assert all(HAN.fullmatch(wrong) and HAN.fullmatch(right) for _, wrong, right in row.edits())


@pytest.mark.parametrize("engine", ["rapidocr", "tesseract"])
def test_scans_are_the_right_sentences_as_recognisers_read_them(engine: str) -> None:
    rows = [row for row in SCANS if row.kind == engine]
    places = {(row.target, row.domain): number for number, row in enumerate(SENTENCES + TRAPS)}
    order = [places[row.target, row.domain] for row in rows]
    assert order == sorted(set(order)) and len(order) > 0.8 * len(places)  # the others were lost
    assert all(HAN.fullmatch(wrong) and HAN.fullmatch(right) for row in rows for _, wrong, right in row.edits())


def test_the_readme_counts_the_scans() -> None:
    text = " ".join((EVAL / "README.md").read_text(encoding="utf-8").split())
    for engine in ("rapidocr", "tesseract"):
        wrong = [len(row.edits()) for row in SCANS if row.kind == engine]
        assert f"{sum(wrong)} characters in {sum(map(bool, wrong))} of {len(wrong)} sentences by `{engine}`" in text


def test_the_evaluator_reads_every_row() -> None:
    from corrector.eval.dataset import load_set, shipped_paths

    sets = [load_set(path) for path in shipped_paths()]
    assert [len(one.rows) for one in sets] == [len(SENTENCES), len(TRAPS), len(TRADITIONAL), len(VARIETIES)]
    assert [(row.source, row.target, row.domain, row.kind) for row in sets[0].rows] == SENTENCES
