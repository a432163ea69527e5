"""The arithmetic and the texts of the benchmarks; nothing is measured here."""

from __future__ import annotations

from statistics import mean

import pytest

from benchmarks import texts
from benchmarks.arpa import arpa
from benchmarks.report import markdown
from benchmarks.shares import STAGES, shares
from benchmarks.timing import Spread, exponent, interleaved, ratios
from corrector.pipeline import Corrector
from tests.test_pipeline import make


def test_the_exponent_of_a_power_law() -> None:
    sizes = [1_000, 10_000, 100_000]
    assert exponent(sizes, [3e-6 * size**1.5 for size in sizes]) == pytest.approx(1.5)
    assert exponent(sizes, [7e-5 * size for size in sizes]) == pytest.approx(1.0)


def test_ratios_are_taken_round_by_round() -> None:
    assert ratios([2.0, 20.0, 4.0], [1.0, 10.0, 1.0]) == Spread(2.0, 2.0, 4.0, 3)


def test_a_spread_turned_round_keeps_its_order() -> None:
    assert Spread(2.0, 1.0, 4.0, 3).each(lambda seconds: 8 / seconds) == Spread(4.0, 2.0, 8.0, 3)
    assert Spread(1234.5, 0.0123, 4.0, 3).told() == "1,234 (0.0123–4.00)"


def test_contenders_take_turns() -> None:
    order: list[str] = []
    taken = interleaved({name: lambda name=name: order.append(name) for name in "abc"}, 2)  # type: ignore[misc]
    assert "".join(order) == "abc" + "abc" + "bca"
    assert [len(values) for values in taken.values()] == [2, 2, 2]


def test_the_texts_are_what_they_are_called() -> None:
    pairs = dict.fromkeys(texts.pairs())
    clean, wrong = texts.clean_heavy(200), texts.error_heavy(200)
    assert sum(text in {source for source, _ in pairs} for text in clean) == 10
    assert all(text in {source for source, _ in pairs} for text in wrong)
    assert 35 <= mean(map(len, clean)) <= 45
    assert clean == texts.clean_heavy(200)
    right = texts.with_errors(80, 0)
    for number in (1, 20, 80):
        assert sum(a != b for a, b in zip(texts.with_errors(80, number), right, strict=True)) == number
    assert 10_000 <= len(texts.lines_of_bytes(10_000).encode()) < 10_400
    assert len(texts.one_line(200_000)) == 200_000 and "\n" not in texts.one_line(200_000)


def test_the_stages_are_found_and_left_as_they_were() -> None:
    corrector: Corrector = make()[0]
    runtime = corrector.stages.runtime
    before = [found.corrections for found in corrector.correct_many(["我很高形。", "abc"])]
    seconds = shares(corrector, ["我很高形。", "abc"])
    assert set(seconds) == set(STAGES) and all(taken > 0 for stage, taken in seconds.items() if stage != "marks")  # it has none
    assert "read" not in vars(runtime)
    assert [found.corrections for found in corrector.correct_many(["我很高形。", "abc"])] == before


def test_the_report_names_the_share_that_is_not_the_networks() -> None:
    stages = dict.fromkeys(STAGES, 1.0) | {"discriminator": 5.0, "generator": 3.0, "other": 0.0}  # 15 seconds, 9 of them in networks
    speed = {"median": 2.0, "min": 1.5, "max": 2.5, "rounds": 3}
    result = {
        "version": "1", "model": "m", "date": "today", "load before": [0.1], "load after": [],
        "machine": {"cpu": "c", "cores": 2, "cores used": 2, "system": "s", "python": "3", "versions": {"numpy": "2", "torch": None}},
        "profile": {"stages": {"error-heavy": stages}, "passes": {"error-heavy": {"bare": 200.0, "ours": 180.0}}},
        "jobs": {"megabytes": 1.0, "ways": {"2 processes": {"seconds": speed, "speed-up": speed}}},
        "memory": {"a file of 1 MB": {"megabytes": 180.4, "seconds": 20.04, "processor seconds": 39.9}},
    }  # fmt: skip
    text = markdown(result)
    assert "| a file of 1 MB | 180 | 20.0 | 39.9 |" in text
    assert f"| **all but the networks** | **{100 * 6 / 15:.1f} %** |" in text
    assert f"| **all but the networks and the corpus counts** | **{100 * 4 / 15:.1f} %** |" in text
    assert "error-heavy text: the pipeline's first readings run at 90 % of the speed of bare onnxruntime (180 of 200 windows/s)." in text
    assert "| 2 processes | 2.00 (1.50–2.50) | 2.00 (1.50–2.50) |" in text


def test_the_language_model_gives_probabilities() -> None:
    """Σ p(w|h) = 1 over all words, whatever was seen of the history."""
    lines = ["我们去公园", "他们去公园", "我们去学校", "你们在公园里"] * 5 + ["园里有我", "他在学校"]
    grams: dict[tuple[str, ...], tuple[float, float]] = {}
    for line in "".join(arpa(lines)).splitlines():
        if "\t" in line:
            p, words, backoff = [*line.split("\t"), "0"][:3]
            grams[tuple(words.split())] = 10 ** float(p), 10 ** float(backoff)

    def probability(*words: str) -> float:
        if words in grams:
            return grams[words][0]
        return grams.get(words[:-1], (0, 1.0))[1] * probability(*words[1:])

    vocabulary = [words[0] for words in grams if len(words) == 1 and words != ("<s>",)]
    assert {"<unk>", "</s>", "我", "园"} <= set(vocabulary) and "有" not in vocabulary
    for history in ([], ["我"], ["<s>"], ["<s>", "我"], ["我", "们"], ["公", "园"], ["园", "我"], ["<unk>", "我"]):
        assert sum(probability(*history, word) for word in vocabulary) == pytest.approx(1.0, abs=1e-3), history
    assert probability("公", "园") > 10 * probability("公", "校")
