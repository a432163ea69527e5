"""Confusions: files, what is refused, what is corrected, and that twice is once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corrector.apply import apply
from corrector.confusions import Confusions
from corrector.errors import ConfigError, CorrectorError, InputError
from corrector.types import Correction, Span
from tests.fakes import write


def corrected(pairs: dict[str, str], text: str, protected: tuple[Span, ...] = ()) -> str:
    return apply(text, Confusions.of(pairs).corrections(text, protected))


def load(tmp_path: Path, text: str) -> Confusions:
    return Confusions.load(write(tmp_path / "pairs.txt", text.encode()))


def test_a_file_of_pairs(tmp_path: Path) -> None:
    confusions = load(tmp_path, "\ufeff# pairs\r\n帐户\t账户 # money\r\n  以经   已经\r\n\r\n令\u3000另\r\n张琳 张琳\r\n以经 已经\r\n")
    assert len(confusions) == 4
    (found,) = confusions.corrections("他以经来了。")
    assert found == Correction(Span(1, 3), "以经", "已经", 1.0, (), "confusion")
    assert confusions.whitelist_spans("张琳琳") == (Span(0, 2),)
    assert confusions.settled_spans("张琳的账户") == (Span(0, 2), Span(3, 5))


def test_every_occurrence_is_corrected() -> None:
    assert corrected({"以经": "已经"}, "以经以经，以经\n以经") == "已经已经，已经\n已经"


def test_without_pairs_nothing_is_found() -> None:
    assert Confusions().corrections("以经") == ()
    assert len(Confusions.load()) == 0


@pytest.mark.parametrize(
    "text, message",
    [
        ("甲 乙\n以经 已\n", "pairs.txt:2: 以经 已: 2 and 1 characters; only pairs of equal length"),
        ("甲\n", "pairs.txt:1: '甲' is not a wrong and a right form"),
        ("甲 乙 丙\n", "pairs.txt:1: '甲 乙 丙' is not"),
        ("甲 乙\n\n甲 丙\n", "pairs.txt:3: 甲 丙: 甲 is already given as 乙, see line 1; remove one of the two"),
        ("甲 甲\n甲 丙\n", "pairs.txt:2: 甲 丙: 甲 is already given as 甲, see line 1"),
        ("甲 乙\n乙 甲\n", "pairs.txt:2: 乙 甲: leads in a circle, so no form is right, see line 1"),
        ("丁 甲\n甲 乙\n乙 丙\n丙 甲\n", "pairs.txt:4: 丙 甲: leads in a circle, so no form is right, see line 2"),
    ],
)
def test_what_cannot_be_applied_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    assert message in str(caught.value)


def test_pairs_of_two_files_that_disagree(tmp_path: Path) -> None:
    first, second = write(tmp_path / "1", "甲 乙".encode()), write(tmp_path / "2", "# \n甲 丙".encode())
    with pytest.raises(InputError, match=rf"2:2: .* see {first}:1; remove one"):
        Confusions.load(first, second)
    assert len(Confusions.load(first, first)) == 1


@pytest.mark.parametrize(
    "pairs",
    [{"甲": "乙丙"}, {"": ""}, {"甲 ": "乙丙"}, {"甲": " "}, {"甲": "乙", "乙": "甲"}, {"甲": 1}, {"甲甲": "乙\a"}, ["甲乙"]],
)
def test_pairs_of_a_library_user_are_checked_too(pairs: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="confusions"):
        Confusions.of(pairs)


def test_a_chain_goes_to_its_end_at_once() -> None:
    pairs = {"甲": "乙", "乙": "丙", "丁": "甲"}
    assert corrected(pairs, "甲乙丙丁") == "丙丙丙丙"
    many = {chr(0x4E00 + n): chr(0x4E01 + n) for n in range(20_000)}
    assert corrected(many, "\u4e00\u4e10") == "\u9c20\u9c20"


def test_a_whitelisted_form_ends_a_chain_and_is_never_changed() -> None:
    pairs = {"甲": "乙", "乙": "乙", "乙丙": "丁戊", "子乙": "丑寅"}
    assert corrected(pairs, "甲乙丙子乙") == "乙乙丙子乙"


def test_the_longest_goes_first_then_the_leftmost() -> None:
    assert corrected({"甲乙": "ab", "乙丙丁": "cde"}, "甲乙丙丁") == "甲cde"
    assert corrected({"甲乙": "ab", "乙丙": "cd"}, "甲乙丙") == "ab丙"
    assert corrected({"甲": "a", "甲乙": "bc", "甲乙丙": "def"}, "甲乙丙甲乙甲") == "defbca"
    assert corrected({"甲乙": "ab", "丙丁戊": "cde", "戊": "f"}, "甲乙一丙丁戊") == "ab一cde"


def test_a_right_form_is_not_taken_apart() -> None:
    assert corrected({"作": "做", "工做": "工作"}, "工作，工做，作工") == "工作，工作，做工"
    assert corrected({"现再": "现在", "在说": "再说"}, "现在说，在说") == "现在说，再说"


def test_forms_made_of_the_same_characters() -> None:
    assert corrected({"大家": "家大"}, "大家大家，大家大") == "家大家大，家大大"
    assert corrected({"大家": "家大"}, "家大家大，家大大") == "家大家大，家大大"


def test_corrections_that_meet_are_one_and_those_that_touch_are_two() -> None:
    found = Confusions.of({"丙丁": "子丁", "乙子": "丑寅"}).corrections("乙丙丁丙丁")
    assert [(c.span, c.original, c.replacement) for c in found] == [
        (Span(0, 3), "乙丙丁", "丑寅丁"), (Span(3, 5), "丙丁", "子丁")
    ]  # fmt: skip


def test_a_longer_pair_around_a_right_form_counts_for_more() -> None:
    assert corrected({"象": "像", "好像法": "好想法"}, "好像法，好象法，好象") == "好想法，好想法，好像"
    (found,) = Confusions.of({"象": "像", "好像法": "好想法"}).corrections("好象法")
    assert (found.original, found.replacement) == ("好象法", "好想法")


def test_protected_spans_stay() -> None:
    assert corrected({"甲乙": "丙丁"}, "甲乙甲乙甲乙", (Span(1, 2), Span(4, 5))) == "甲乙丙丁甲乙"
    assert corrected({"甲乙": "丙丁"}, "甲乙甲乙", (Span(1, 2),)) == "甲乙丙丁"


def test_latin_and_digits_are_explicit() -> None:
    assert corrected({"iphonex": "iPhoneX", "O0": "00", "𠀀": "一"}, "iphonex O01 𠀀") == "iPhoneX 001 一"


FORMS = st.text("甲乙丙", min_size=1, max_size=4)
PAIRS = st.lists(st.tuples(FORMS, FORMS).filter(lambda pair: len(pair[0]) == len(pair[1])), max_size=6).map(dict)


@settings(max_examples=400, deadline=None)
@given(PAIRS, st.text("甲乙丙丁", max_size=25), st.lists(st.integers(0, 25), max_size=2))
@example({"象": "像", "好像法": "好象法"}, "好象法好像法", [])
def test_twice_is_once_and_only_what_is_reported_changes(pairs: dict[str, str], text: str, places: list[int]) -> None:
    try:
        confusions = Confusions.of(pairs)
    except CorrectorError:
        return
    protected = tuple(Span(place, place + 1) for place in sorted(set(places)) if place < len(text))
    found = confusions.corrections(text, protected)
    result = apply(text, found)
    assert confusions.corrections(result, protected) == ()
    frozen = {*protected, *confusions.whitelist_spans(text)}
    assert all(correction.original != correction.replacement for correction in found)
    assert all(result[span.start : span.end] == text[span.start : span.end] for span in frozen)
    assert found == confusions.corrections(text, protected)
    assert [c.span for c in found] == sorted(c.span for c in found)


@given(PAIRS, st.text("甲乙丙丁", max_size=25))
def test_what_stays_wrong_is_kept_by_a_right_or_whitelisted_form(pairs: dict[str, str], text: str) -> None:
    """No wrong form is left over without a reason."""
    try:
        confusions = Confusions.of(pairs)
    except CorrectorError:
        return
    result = apply(text, confusions.corrections(text))
    settled = {place for span in confusions.settled_spans(result) for place in range(span.start, span.end)}
    for wrong, right in pairs.items():
        at = result.find(wrong) if wrong != right else -1
        while at >= 0:
            assert settled & set(range(at, at + len(wrong)))
            at = result.find(wrong, at + 1)
