from __future__ import annotations

from typing import Any

from corrector.train.card import render_card

FILES = {"vocab.txt": {"sha256": "ab" * 32, "bytes": 12345}}
BARE = {"schema": 2, "name": "tiny", "version": "0.2", "licence": "Apache-2.0", "files": FILES}
FIGURES = {
    "strict_correction.precision": 0.5,
    "strict_correction.recall": 0.25,
    "strict_correction.f1": 1 / 3,
    "strict_detection.f1": 0.4,
    "character_correction.f1": 0.45,
    "false_positive_rate": None,
}


def full() -> dict[str, Any]:
    return BARE | {
        "code": {"made_with": "0.1.0"},
        "thresholds": {"look_threshold": 0.04, "min_confidence": 0.62},
        "sources": [
            {
                "register": "news", "name": "paper", "million_characters": 1.5, "repositories": ["a/b", "c/d"], "licence": "MIT",
            }
        ],
        "training": {
            "corpus": {"tokens": 1234567, "characters": 1000000, "sha256": "cd" * 32},
            "network": {"parameters": 12_340_000, "layers": 6},
            "runs": [
                {"tokens": 30_000_000, "seed": 1, "noise": {"word": 0.2}},
                {"tokens": 5_000_000, "pair_share": 0.5, "pairs": [{"name": "fit.tsv", "rows": 6464, "weight": 2.0}]},
            ],
            "hours": 3,
        },
        "calibration": {
            "fit": [{"name": "a.tsv", "rows": 1200}, {"name": "b.tsv", "rows": 7}], "held_back": [{"name": "c.tsv", "rows": 90}],
            "slips": [{"name": "d.tsv", "rows": 30, "weight": 4.0}, {"name": "e.tsv", "rows": 5, "weight": 1.0}],
        },
        "origins": {"ocr": {"calibration": {"fit": [{"name": "scans.tsv", "rows": 12}]}, "thresholds": {"min_confidence": 0.44}}},
        "scores": [{"set": "dev", "rows": 1100, "erroneous": 541, "figures": FIGURES, "signature": "set:dev|rows:1100"}],
    }  # fmt: skip


def test_card_tells_everything_the_manifest_knows() -> None:
    card = render_card(full())
    assert card.startswith("# tiny 0.2\n")
    for fact in (
        "Licence Apache-2.0. Made with electra-correct 0.1.0.",
        "12.3 million parameters",
        "at least 0.04 of being replaced",
        "at least 0.62 are made",
        "| dev | 1,100 | 541 | 50.0 | 25.0 | 33.3 | 40.0 | 45.0 | – |",
        "- `set:dev|rows:1100`",
        "| news | paper | 1.5 | a/b, c/d | MIT |",
        "treat the text as research data; none is shipped",
        "1,234,567 tokens, 1,000,000 Han characters",
        "- Run 1: 30,000,000 tokens seen; seed 1",
        "  - Errors made: word 0.2",
        "- Run 2: 5,000,000 tokens seen; as before, but pair_share 0.5, no seed",
        "  - Labelled sets: fit.tsv: 6,464 rows, weight 2",
        "- hours: 3",
        "- Fitted on: a.tsv (1,200 rows), b.tsv (7 rows)",
        "- Check fitted too, calibrated and thresholds chosen (fifth by fifth, with a check fitted on the others), on: c.tsv (90 rows)",
        "- Slips counted in: d.tsv (30 rows, weight 4), e.tsv (5 rows)",
        "## Ranker for text from ocr\n\n- Fitted on: scans.tsv (12 rows)\n- Corrections that are right with a probability of at least 0.44",
        f"| `vocab.txt` | 12,345 | `{'ab' * 32}` |",
        "python -m corrector.train finetune",
    ):
        assert fact in card, fact


def test_a_run_tells_what_differs_from_the_run_before() -> None:
    pairs = [
        {"name": "essays.tsv", "rows": 6000, "weight": 10.0},
        *({"name": f"slips.{part}.tsv", "rows": 700 + part, "weight": 4.0} for part in range(2)),
        {"name": "slips.2.tsv", "rows": 5, "weight": 0.5},
    ]
    first = {"tokens": 3_000_000, "seed": 1, "clip": 1.0, "noise": {"word": 0.2, "shape": 0.1}, "pairs": pairs}
    second = first | {"tokens": 1_000_000, "seed": 2, "noise": {"word": 0.3, "shape": 0.1}}
    third = second | {"tokens": 2_000_000, "pairs": pairs[:1]}
    fourth = {key: value for key, value in third.items() if key not in ("pairs", "clip")} | {"device": "cpu"}
    card = render_card(BARE | {"training": {"runs": [first, second, third, fourth]}})
    sets = "essays.tsv: 6,000 rows, weight 10; slips.*.tsv: 1,401 rows, weight 4; slips.*.tsv: 5 rows, weight 0.5"
    wanted = f"""\
- Run 1: 3,000,000 tokens seen; seed 1, clip 1.0
  - Errors made: word 0.2, shape 0.1
  - Labelled sets: {sets}
- Run 2: 1,000,000 tokens seen; as before, but seed 2
  - Errors made: word 0.3
- Run 3: 2,000,000 tokens seen; as before
  - Labelled sets: essays.tsv: 6,000 rows, weight 10
- Run 4: 2,000,000 tokens seen; as before, but device cpu, no clip
  - Labelled sets: none
"""
    assert wanted in card


def test_card_says_what_is_not_known() -> None:
    card = render_card(BARE)
    assert "None were recorded" in card
    assert "The sources were not recorded." in card
    assert "Not recorded." in card
    assert "None" not in card.replace("None were recorded", "")


def test_a_bar_in_a_cell_does_not_break_the_table() -> None:
    manifest = full()
    manifest["sources"][0]["licence"] = "MIT | CC0"
    (row,) = [line for line in render_card(manifest).splitlines() if line.startswith("| news")]
    assert row.count("|") == 6 and "MIT / CC0" in row


def test_card_ends_with_one_newline() -> None:
    card = render_card(full())
    assert card.endswith("\n") and not card.endswith("\n\n")
    assert "\n\n\n" not in card
