from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.apply import CorrectionError, apply, corrected_text
from corrector.errors import CorrectorError
from corrector.text.protect import is_han
from corrector.types import CorrectedDocument, Correction, Document, Span
from tests.fakes import FakeCorrector


def edit(start: int, original: str, replacement: str) -> Correction:
    return Correction(Span(start, start + len(original)), original, replacement, 0.9)


def test_edits_are_made_in_any_order_and_nothing_else_changes() -> None:
    text = "\ufeff天汽😀很好\r\n平果e\u0301"
    edits = [edit(8, "平", "苹"), edit(1, "天汽", "天气")]
    assert apply(text, edits) == "\ufeff天气😀很好\r\n苹果e\u0301"
    assert apply(text, []) == text
    assert apply("", []) == ""


def test_suggestions_are_left_alone() -> None:
    corrected = CorrectedDocument(Document(None, "天汽平果"), (edit(1, "汽", "气"),), (edit(2, "平", "苹"),))
    assert corrected_text(corrected) == "天气平果"


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([edit(0, "地", "的")], "does not match"),
        ([edit(0, "天", "添加")], "changes the length"),
        ([edit(0, "天气", "天汽"), edit(1, "气", "汽")], "overlaps"),
        ([edit(1, "气", "汽"), edit(1, "气", "弃")], "overlaps"),
        ([edit(2, "好", "号")], "outside"),
        ([edit(-2, "天", "地")], "outside"),
        ([edit(1, "", "")], "empty"),
    ],
)
def test_unfit_corrections_are_refused(edits: list[Correction], message: str) -> None:
    with pytest.raises(CorrectionError, match=message) as caught:
        apply("天气", edits)
    assert isinstance(caught.value, CorrectorError)
    assert isinstance(caught.value, ValueError)


@settings(deadline=None)
@given(st.text("错对平果天，。 \n\r\na/`:@#😀\u0301\U00020000", max_size=200))
def test_only_han_characters_inside_reported_spans_change(text: str) -> None:
    corrector = FakeCorrector({"错": "对", "平果": "苹果", "\U00020000": "一"})
    corrected = corrector.correct(text)
    result = corrected_text(corrected)
    assert len(result) == len(text)
    reported = {offset for c in corrected.corrections for offset in range(c.span.start, c.span.end)}
    changed = {offset for offset, (old, new) in enumerate(zip(text, result, strict=True)) if old != new}
    assert changed <= reported
    assert all(is_han(text[offset]) and is_han(result[offset]) for offset in changed)
    assert corrected_text(corrector.correct(result)) == result
