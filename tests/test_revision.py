"""Rounds over one document: what is read again, what of it stays, and when it ends. The models are a dictionary."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrector.apply import corrected_text
from corrector.confusions import Confusions
from corrector.revision import ROUNDS, Revision, windows_in
from corrector.text.protect import protected_spans
from corrector.types import Candidate, CorrectedDocument, Correction, Document, RankedCandidate, Sentence, Span
from corrector.words import ProtectedWords

SIMILAR = tuple(RankedCandidate(Candidate(text, -1.0), 0.5, 0.5, 0.3) for text in "甲戊")


def found(window: Sentence, edits: Mapping[str, str], confidence: float, doubtful: str = "") -> list[Correction]:
    """Each key of ``edits`` in the core of the window and outside what is protected, the longer keys first; of a confidence of 0.4 those
    in ``doubtful``."""
    frozen = {place for span in window.protected for place in range(span.start, span.end)}
    corrections = []
    for wrong in sorted(edits, key=lambda wrong: (-len(wrong), wrong)):
        for start in range(window.core.start, window.core.end - len(wrong) + 1):
            places = set(range(start, start + len(wrong)))
            if window.text.startswith(wrong, start - window.span.start) and not places & frozen:
                frozen |= places
                alternatives = SIMILAR if len(wrong) == 1 else ()
                sure = 0.4 if wrong in doubtful else confidence
                corrections.append(Correction(Span(start, start + len(wrong)), wrong, edits[wrong], sure, alternatives))
    return corrections


def revise(
    text: str, edits: Mapping[str, str], confusions: Mapping[str, str] | None = None, confidence: float = 0.9, doubtful: str = ""
) -> tuple[CorrectedDocument, list[str]]:
    """The corrected document and the windows that were read."""
    revision = Revision(Document(None, text), ProtectedWords.of(()), Confusions.of(confusions or {}), 0.5)
    read = []
    while True:
        for window in revision.windows(126):
            read.append(window.text)
            revision.note(window, None if "坏" in window.text else found(window, edits, confidence, doubtful))
        if not revision.settle():
            return revision.result(), read


def made(text: str, edits: Mapping[str, str], confusions: Mapping[str, str] | None = None) -> list[tuple[int, str, str]]:
    return [(c.span.start, c.original, c.replacement) for c in revise(text, edits, confusions)[0].corrections]


def test_only_windows_that_changed_are_read_again() -> None:
    corrected, read = revise("一甲。\n一一。\n", {"甲": "乙"})
    assert corrected_text(corrected) == "一乙。\n一一。\n"
    assert read == ["一甲。", "一一。", "一乙。"]
    _, read = revise("甲" + "一" * 149, {"甲": "乙"})
    assert [window[0] for window in read] == ["甲", "一", "乙"]  # the second window only overlaps the first


def test_doubtful_ones_are_suggested_once_and_change_nothing() -> None:
    corrected, read = revise("一甲。", {"甲": "乙"}, confidence=0.4)
    assert corrected.corrections == ()
    assert [(c.original, c.replacement) for c in corrected.suggestions] == [("甲", "乙")]
    assert read == ["一甲。"]


def test_what_is_just_certain_enough_is_made() -> None:
    assert corrected_text(revise("一甲。", {"甲": "乙"}, confidence=0.5)[0]) == "一乙。"


def test_strays_are_written_as_the_rest_is() -> None:
    """The models see nothing there, as they read both scripts as one."""
    corrected, read = revise("新开的艺术公園里。", {"甲": "乙"})
    assert [(c.span.start, c.original, c.replacement, c.reason) for c in corrected.corrections] == [(6, "園", "园", "script")]
    assert corrected.suggestions == ()
    assert read == ["新开的艺术公园里。"] * 2
    doubtful, _ = revise("这是刘德華说的。", {})
    assert doubtful.corrections == () and [c.replacement for c in doubtful.suggestions] == ["华"]  # it may be a name


def test_a_stray_gives_way_to_what_is_surely_meant() -> None:
    assert made("他佔在门口。", {"占": "站"}) == [(1, "佔", "站")]
    corrected, _ = revise("他佔在门口说话。", {"占": "站"}, confidence=0.4)
    assert [(c.original, c.replacement) for c in corrected.corrections] == [("佔", "占")]
    assert corrected.suggestions == ()  # a place that was changed is not asked about again


def test_strays_stay_where_nothing_may_change() -> None:
    document = Document(None, "新开的艺术公園里。", protected=(Span(6, 7),))
    named = ProtectedWords.of(["公園"])
    for words, own in ((named, dataclasses.replace(document, protected=())), (ProtectedWords.of(()), document)):
        revision = Revision(own, words, Confusions.of({}), 0.5)
        for window in revision.windows(126):
            revision.note(window, [])
        assert not revision.settle() and revision.result().corrections == ()


def test_nothing_is_suggested_where_something_was_made() -> None:
    corrected, _ = revise("甲乙。", {"甲": "乙", "乙": "丙"}, doubtful="乙")
    assert corrected_text(corrected) == "乙乙。"
    assert [c.span.start for c in corrected.suggestions] == [1]


def test_corrections_come_in_the_order_of_the_text() -> None:
    assert made("甲一乙丙。", {"甲": "丁", "乙丙": "子丑"}) == [(0, "甲", "丁"), (2, "乙丙", "子丑")]


def test_corrections_of_corrections_are_one() -> None:
    assert made("一甲。", {"甲": "乙", "乙": "丙"}) == [(1, "甲", "丙")]
    assert made("甲乙。", {"甲乙": "丙丁", "丁": "戊"}) == [(0, "甲乙", "丙戊")]
    assert made("甲乙。", {"甲": "丙", "乙": "丁", "丙丁": "子丑"}) == [(0, "甲乙", "子丑")]
    assert made("甲乙。", {"甲乙": "丙丁", "丙": "子", "丁": "丑"}) == [(0, "甲乙", "子丑")]
    assert made("甲乙一。", {"甲乙": "丙丁", "丁一": "子丑"}) == [(0, "甲乙一", "丙子丑")]


def test_what_is_like_a_part_is_no_alternative_to_the_whole() -> None:
    (correction,) = revise("甲乙。", {"甲乙": "丙丁", "丁": "戊"})[0].corrections
    assert correction.alternatives == ()


def test_the_original_is_no_alternative() -> None:
    (correction,) = revise("一甲。", {"甲": "乙", "乙": "丙"})[0].corrections
    assert [ranked.candidate.text for ranked in correction.alternatives] == ["戊"]


@pytest.mark.parametrize("start, end", [("甲", "甲"), ("乙", "乙"), ("丙", "乙"), ("丁", "乙")])
def test_back_and_forth_ends_where_it_comes_back_to(start: str, end: str) -> None:
    corrected, read = revise(f"一{start}。", {"甲": "乙", "乙": "甲", "丙": "丁", "丁": "乙"})
    assert corrected_text(corrected) == f"一{end}。"
    assert len(read) <= 6


def test_a_circle_of_several_characters_ends_too() -> None:
    edits = {"甲乙": "丙丁", "丁": "乙", "丙乙": "甲乙"}
    corrected, _ = revise("甲乙。", edits)
    assert corrected.corrections == () and corrected.suggestions == ()


@pytest.mark.parametrize("between", ["。\n", "一" * 62 + "。"])
def test_back_and_forth_ends_whatever_changes_elsewhere(between: str) -> None:
    """Also where the next window follows without a gap."""
    assert corrected_text(revise(f"甲{between}丙。", {"甲": "乙", "乙": "甲", "丙": "丁"})[0]) == f"甲{between}丁。"


def test_a_chain_without_an_end_is_cut() -> None:
    first = 0x3400
    chain = {chr(first + n): chr(first + n + 1) for n in range(200)}
    corrected, read = revise(f"{chr(first)}。", chain)
    (correction,) = corrected.corrections
    assert (correction.original, correction.replacement) == (chr(first), chr(first + ROUNDS))
    assert len(read) == ROUNDS
    assert corrected.suggestions == ()


def test_failures_are_counted_as_they_are_at_the_end() -> None:
    corrected, _ = revise("坏甲。\n一甲。\n坏。\n", {"甲": "乙"})
    assert corrected_text(corrected) == "坏甲。\n一乙。\n坏。\n"
    assert corrected.unprocessed == 2


def test_confusions_go_first_and_are_not_touched_again() -> None:
    assert made("甲一。", {"乙": "丙", "一": "二"}, {"甲": "乙"}) == [(0, "甲", "乙"), (1, "一", "二")]
    assert made("甲一。", {"一": "二"}, {"甲二": "丙丁"}) == [(0, "甲一", "丙丁")]


def test_traditional_text_keeps_its_spelling() -> None:
    assert made("這個頭髮歷史。", {"史": "时"}) == [(5, "史", "時")]
    assert made("這個頭髮歷史。", {"发": "髮"}) == []
    assert revise("這個頭髮歷史。", {"发": "髮"}, confidence=0.4)[0].suggestions == ()
    (correction,) = revise("這個頭甲歷史。", {"甲": "发"})[0].corrections
    assert (correction.replacement, [ranked.candidate.text for ranked in correction.alternatives]) == ("髮", ["戊"])


def test_a_correction_far_away_may_make_a_stray_of_a_character() -> None:
    text = "我我我兴形應。\n兴應"  # as much of either script, until 形 is 兴; then one 應 is a stray, and then the other
    corrected, _ = revise(text, {"形": "兴"})
    assert [(c.span.start, c.replacement) for c in corrected.corrections] == [(4, "兴"), (5, "应"), (9, "应")]
    assert revise(corrected_text(corrected), {"形": "兴"})[0].corrections == ()


def test_words_of_traditional_text_stay() -> None:
    edits = {"结": "接", "份": "分", "乙": "甲"}
    assert made("這個連結大部份是乙。", edits) == [(8, "乙", "甲")]
    assert revise("這個連結大部份。", edits, confidence=0.4)[0].suggestions == ()
    assert made("这个连结大部份是乙。", edits) == [(3, "结", "接"), (6, "份", "分"), (8, "乙", "甲")]
    assert made("這個結果。", edits) == [(2, "結", "接")]  # in no such word
    assert made("這個連結。", {}, {"連結": "鏈接"}) == [(2, "連結", "鏈接")]  # who asks for it gets it


@pytest.mark.parametrize("text, expected", [("天地`代码`", 1), ("`代码`天地", 1), ("`代码`", 0), ("abc。", 0), ("", 0)])
def test_only_windows_in_which_something_may_change_are_read(text: str, expected: int) -> None:
    assert len(list(windows_in(text, protected_spans(text), 126))) == expected


def test_a_model_of_few_positions_reads_with_less_around() -> None:
    windows = list(windows_in("天" * 50, (), 20))
    assert max(len(window.text) for window in windows) == 20
    assert [place for window in windows for place in range(window.core.start, window.core.end)] == list(range(50))


EDITS = st.dictionaries(st.sampled_from("甲乙丙丁"), st.sampled_from("甲乙丙丁戊"), max_size=4)


@given(st.text("甲乙丙丁戊。\n", max_size=30), EDITS)
def test_twice_is_once_even_with_circles(text: str, edits: dict[str, str]) -> None:
    edits = {wrong: right for wrong, right in edits.items() if wrong != right}
    corrected, _ = revise(text, edits)
    again, _ = revise(corrected_text(corrected), edits)
    assert again.corrections == ()
    assert all(c.original != c.replacement for c in corrected.corrections)
