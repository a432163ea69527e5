"""The explanation of a sentence tells what the stages do: the same numbers, the same decisions, in straight columns."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import click
import numpy as np
import pytest
from wcwidth import wcswidth

from corrector import explain as explain_module
from corrector.confusions import Confusions
from corrector.edit_features import FEATURES
from corrector.electra.tokenizer import Tokenizer
from corrector.explain import LISTED, explain
from corrector.pipeline import Corrector
from corrector.propose import Characters
from corrector.rank import CHECK_FEATURES
from corrector.stages import Considered, Stages
from corrector.types import Sentence, Span
from corrector.words import ProtectedWords
from tests.test_pipeline import VOCABULARY, make


def shares(text: str, label: str) -> list[float]:
    """The first number of every cell in the row of a table that begins with ``label``, the weight left out."""
    (row,) = [line for line in text.splitlines() if line.strip().startswith(f"{label} ")]
    return [float(number) for number in re.findall(r"([+-]\d+\.\d\d)(?= |$)", row)]


def row_of(text: str, place: int) -> str:
    """The row of the character at a place, from 1."""
    return next(line for line in text.splitlines() if re.match(rf" +{place}  ", line))


def test_every_character_with_its_probability_and_marks() -> None:
    corrector, _ = make()
    text = explain(corrector, "我今天很高形a。")
    assert "Characters 1 to 8\n" in text
    assert re.fullmatch(r" +6  形 +99\.8 %  █{16} +0/7 +0/7 +well", row_of(text, 6))
    assert re.fullmatch(r" +2  今 +0\.2 %  +0/7 +5/7 +well +begins a word of 2", row_of(text, 2))
    assert re.fullmatch(r" +3  天 +0\.2 %  +5/7 +0/7 +well +ends a word of 2", row_of(text, 3))
    assert row_of(text, 7).endswith("not Han")


def test_first_line_says_whether_marks_are_weighed_too() -> None:
    corrector, _ = make()
    first = lambda: explain(corrector, "我今天很高形").splitlines()[0]  # noqa: E731
    assert "a character is suspicious from 20.0 %; a correction" in first()
    corrector.stages.ranker = dataclasses.replace(corrector.stages.ranker, suspicion=(1.0, 0.0, 0.0, 0.2))
    assert "from 20.0 %, or sooner if its mark speaks against it; a correction" in first()


def test_marks_name_every_level_and_word() -> None:
    words, left, right, fit, alike = explain_module._marks(0b1111 + 16 * (7 + 8 * (3 + 8 * (2 + 16 * 3))), "甲乙丙丁")
    assert alike == "丁" and explain_module._marks(16383, "甲乙丙丁")[4] == ""
    assert [explain_module._marks(16 * 64 * level, "甲")[3] for level in (0, 3, 4, 15)] == ["well", "hardly", "alike +1", "alike +12"]
    assert words == "ends a word of 2, begins a word of 2, in a word of 3, in a word of 4"
    assert (left, right, fit) == ("7/7", "3/7", "weakly")
    assert [explain_module._marks(16 * 64 * level, "甲", slips=True)[3] for level in (0, 15)] == ["slip 0/15", "slip 15/15"]


def test_what_may_not_change_says_why() -> None:
    corrector, _ = make()
    corrector.words = ProtectedWords.of(["高形"])
    text = explain(corrector, "我今天很高形，𠀀。")
    assert row_of(text, 6).endswith("protected")
    assert "[UNK]" in row_of(text, 8) and row_of(text, 8).endswith("unknown to the model")
    assert "nothing is proposed" in text and "The text stays as it is." in text


def test_features_add_up_to_the_score_and_are_all_there() -> None:
    corrector, _ = make()
    text = explain(corrector, "我今天很高形。")
    scores = shares(text, "= score")
    assert len(scores) == explain_module.DETAILED
    columns = [shares(text, name) for name in FEATURES]
    assert all(len(column) == len(scores) for column in columns)
    for number, score in enumerate(scores):
        assert sum(column[number] for column in columns) == pytest.approx(score, abs=0.01 * len(FEATURES))
    for name in CHECK_FEATURES:
        assert shares(text, f"check {name}")


def test_the_numbers_are_those_of_the_stages() -> None:
    corrector, _ = make()
    sentence = "我今天很高形。"
    text = explain(corrector, sentence)
    window = Sentence(sentence, Span(0, 7), Span(0, 7))
    ((choice,),) = corrector.stages.choices([window])
    best = choice.confidence
    assert f"  1  形  →  {choice.edits[0].replacement}" in text
    assert f"Decision: 形 → 兴, {100 * best:.1f} %, is corrected: at least 50.0 %.\n" in text
    assert shares(text, "= score") == [pytest.approx(float(score), abs=0.006) for score in choice.scores[:4]]
    assert len(re.findall(r"^ +\d+  形  →", text, re.MULTILINE)) == min(LISTED, len(choice.edits))


def test_the_decision_follows_the_threshold() -> None:
    text = explain(make(min_confidence=1.0)[0], "我今天很高形。")
    assert "is only suggested: below 100 %.\n" in text
    assert "suggested, character 6" in text


AGAIN = "  (found when the corrected sentence was read again)"


def test_a_place_decided_otherwise_on_reading_again_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """形 is doubtful for as long as 因 stands in its sentence."""
    corrector, _ = make()
    considered = corrector.stages.considered

    def doubtful(windows: Sequence[Sentence]) -> list[Considered]:
        return [
            ([dataclasses.replace(c, confidence=0.3) if "形" in c.edits[0].original and "因" in window.text else c for c in own], [])
            for window, (own, _) in zip(windows, considered(windows), strict=True)
        ]

    monkeypatch.setattr(corrector.stages, "considered", doubtful)
    text = explain(corrector, "我因该今天很高形。")
    assert "Decision: 形 → 兴, 30.0 %, is only suggested: below 50.0 %.\n" in text
    first, second = text.partition("\nResult\n")[2].splitlines()
    assert first.endswith("corrected, character 2") and second.endswith(f"corrected, character 8{AGAIN}")


def test_another_replacement_on_reading_again_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    corrector, _ = make({"形": "型"})
    monkeypatch.setattr(corrector, "correct_document", make({"形": "兴"})[0].correct_document)
    text = explain(corrector, "我今天很高形。")
    assert "Decision: 形 → 型" in text and text.endswith(f"corrected, character 6{AGAIN}\n")


def test_what_the_text_writes_alike_is_not_made() -> None:
    text = explain(make({"高": "好"})[0], "我今天很\u2fbc。")
    why = "is not made: the text writes both alike, or this is usual in Traditional text, older literature or Cantonese"
    assert re.search(rf"^Decision: 高 → 好, [\d.]+ %, {why}\.$", text, re.MULTILINE)
    assert text.endswith("The text stays as it is.\n")


def test_a_correction_of_traditional_text_is_not_taken_for_a_later_one() -> None:
    text = explain(Corrector(threads=1), "他把頭髮減短了。")
    assert "Decision: 减 → 剪" in text and "減 → 剪" in text and AGAIN not in text


def test_spaced_text_is_explained_as_it_is_read() -> None:
    corrector = Corrector(threads=1)
    spaced, closed = (explain(corrector, text) for text in ("图 书 馆 今 天 必 馆", "图书馆今天必馆"))
    note = "\nIt is read, and its characters are counted, without what only keeps them apart.\n"
    assert spaced.replace(note, "") == closed != spaced


def test_a_suspicion_without_proposals_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    corrector, _ = make()
    monkeypatch.setattr(corrector.stages, "considered", lambda windows: [([], []) for _ in windows])
    assert "Suspicion 形, character 6: nothing likely enough can be proposed.\n" in explain(corrector, "我今天很高形。")


def test_groups_are_explained_together_and_places_count_from_the_start() -> None:
    corrector, _ = make({"因": "应", "以": "已", "形": "兴"})
    text = explain(corrector, "abc，我因以好。\n高形。")
    assert "Window 1 of 2, characters 1 to 9" in text and "Window 2 of 2, characters 11 to 13" in text
    assert "Suspicion 因以, characters 6 to 7" in text
    assert "Suspicion 形, character 12" in text


def test_a_confusion_is_told_even_where_no_model_is_asked() -> None:
    corrector, runtime = make()
    corrector.confusions = Confusions.of({"高形": "高兴"})
    text = explain(corrector, "高形")
    assert "The models are not asked" in text and "高形 → 高兴  混淆表  100 %  corrected, character 1" in text
    assert runtime.calls == {"discriminator": 0, "generator": 0}


@pytest.mark.parametrize("text", ["", "abc 123", "\ufeff\r\n"])
def test_text_without_han(text: str) -> None:
    assert "The models are not asked" in explain(make()[0], text)


def test_columns_are_straight_whatever_the_characters_are() -> None:
    text = explain(make()[0], "我e\u0301ａ👨\u200d👩\t\x1b[31m\u202e很高形。")
    assert "\x1b" not in text and "\u202e" not in text and "<U+202E>" in text and "<U+0301>" in text
    table = text.partition("Characters")[2].partition("\n\n")[0].splitlines()[1:]
    head, rows = table[0], table[1:]
    end = wcswidth(head.partition("replaced")[0]) + len("replaced")
    assert len(rows) == 18
    assert {wcswidth(row.partition(" %")[0]) + 2 for row in rows} == {end}


def test_color_changes_no_letter() -> None:
    corrector, _ = make()
    plain, colored = explain(corrector, "我今天很高形。"), explain(corrector, "我今天很高形。", color=True)
    assert "\x1b[31m" in colored
    assert [line.rstrip() for line in click.unstyle(colored).splitlines()] == [
        line.rstrip() for line in plain.splitlines()
    ]


def test_a_model_without_marks_has_no_columns_for_them() -> None:
    corrector, runtime = make()
    stages = corrector.stages
    bare = Stages(Tokenizer(VOCABULARY), runtime, stages.ranker)
    known = Characters(bare.vocabulary, bare.tokenizer.id_of, stages.characters.tables)
    bare.__dict__["characters"] = known  # instead of those of jieba's dictionary
    corrector.stages = bare
    text = explain(corrector, "我今天很高形。")
    assert "fit  alike  marks" not in text and "99.8 %" in row_of(text, 6)


@pytest.mark.parametrize(("value", "bar"), [(0.0, ""), (1.0, "█" * 16), (0.5, "█" * 8), (1 / 128, "▏"), (0.003, "")])
def test_bars(value: float, bar: str) -> None:
    assert explain_module._bar(value) == bar


def test_the_embedded_model_explains_itself() -> None:
    corrector = Corrector(threads=1)
    text = explain(corrector, "周末我们打算去公园散部。")
    assert np.isfinite(shares(text, "= score")).all()
    result = text.partition("\nResult\n")[2].splitlines()
    corrected = corrector.correct("周末我们打算去公园散部。")
    assert len(result) == max(1, len(corrected.corrections) + len(corrected.suggestions))
