"""Markers in the text, whole or block by block."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.text.ignore import FIRST_LINES, IgnoreState, ignored_spans
from corrector.types import Document, Span

MARK = "electra-correct:"


def ignored(text: str) -> list[str]:
    return [text[span.start : span.end] for span in ignored_spans(text)]


@pytest.mark.parametrize("comment", ["<!-- {} -->", "<!--{}-->", "# {}", "// {}", "//{}", "% {}", "/* {} */", "--{}", ";{}", "{}"])
def test_any_comment_syntax_or_none(comment: str) -> None:
    line = "写错" + comment.format(f"{MARK} ignore")
    assert ignored(f"一\n{line}\n二\n") == [line + "\n"]


def test_spaces_are_free_and_a_wide_colon_will_do() -> None:
    for marker in ("electra-correct:ignore", "electra-correct :\tignore", "electra-correct： ignore"):
        assert ignored(f"一\n# {marker}\n二") == [f"# {marker}\n"]


@pytest.mark.parametrize(
    "text",
    [
        f"`{MARK} ignore`", f'"{MARK} off"', f"“{MARK} off”", f"「{MARK} off」", f"{MARK} offline", f"{MARK} ignore-me", f"{MARK} on",
        f"my{MARK} off", f"my-{MARK} off", f"{MARK}\nignore", "electra-correct off", f"{MARK} ignore_file", "electra-correct", "",
    ],
)  # fmt: skip
def test_what_is_no_marker(text: str) -> None:
    assert ignored(f"写错 {text} 写错\n写错") == []


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_the_next_line(newline: str) -> None:
    lines = ["一", f"# {MARK} ignore-next-line", "二", "三"]
    assert ignored(newline.join(lines)) == ["二" + newline]
    assert ignored(newline.join(lines[:2])) == []
    assert ignored_spans(newline.join([*lines[:2], ""])) == ()
    assert ignored(newline.join(lines[:3])) == ["二"]


def test_off_and_on() -> None:
    text = f"一 <!-- {MARK} off -->二\n三\n<!-- {MARK} on --> 四"
    assert ignored(text) == [text[7:-6]]
    assert ignored(f"一\n{MARK} off\n二\n三") == [f"{MARK} off\n二\n三"]
    assert ignored(f"{MARK} off {MARK} off 一 {MARK} on 二 {MARK} on") == [f"{MARK} off {MARK} off 一 {MARK} on"]


def test_a_file_in_its_first_lines_only() -> None:
    assert ignored(f"一\n<!-- {MARK} ignore-file -->\n二\n") == [f"一\n<!-- {MARK} ignore-file -->\n二\n"]
    assert ignored("一\n" * (FIRST_LINES - 1) + f"{MARK} ignore-file") != []
    assert ignored("一\n" * FIRST_LINES + f"{MARK} ignore-file") == []


def test_by_blocks_as_in_one_piece_at_every_cut() -> None:
    text = f"一\n# {MARK} ignore-next-line\n二\n三 # {MARK} off\n四\n# {MARK} on\n五\n六 # {MARK} ignore\n七\n"
    lines = text.splitlines(keepends=True)
    whole = ignored_spans(text)
    for cut in range(len(lines) + 1):
        first = "".join(lines[:cut])
        found, state = IgnoreState().read(first)
        more, _ = state.read(text[len(first) :])
        places = {p for s in found for p in range(s.start, s.end)} | {len(first) + p for s in more for p in range(s.start, s.end)}
        assert places == {p for s in whole for p in range(s.start, s.end)}


PIECES = ["一", "\n", "\r\n", "\r", " # ", *(f"{MARK} {kind}" for kind in ("ignore", "ignore-next-line", "ignore-file", "off", "on"))]


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), max_size=20))
def test_blocks_of_lines_are_as_the_whole(blocks: list[str]) -> None:
    """But for ``ignore-file``, which a block of lines before it cannot know of."""
    lines = [block.replace("\r", "").replace("\n", "") + "\n" for block in blocks]
    text = "".join(lines).replace("ignore-file", "ignore")
    covered, state, at = set(), IgnoreState(), 0
    for line in text.splitlines(keepends=True):
        spans, state = state.read(line)
        covered |= {at + place for span in spans for place in range(span.start, span.end)}
        at += len(line)
    assert covered == {place for span in ignored_spans(text) for place in range(span.start, span.end)}


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_spans_are_sorted_disjoint_and_inside(text: str) -> None:
    found = ignored_spans(text)
    assert all(0 <= span.start < span.end <= len(text) for span in found)
    assert all(a.end < b.start for a, b in zip(found, found[1:], strict=False))


def test_the_file_marker_holds_for_all_blocks_after_it() -> None:
    first, state = IgnoreState().read(f"一\n{MARK} ignore-file\n")
    second, state = state.read("二\n" * 30)
    assert (len(first), second) == (1, (Span(0, 60),))
    assert state.read("") == ((), state)


def test_the_line_that_a_block_ends_in_goes_on() -> None:
    _, state = IgnoreState().read(f"一 # {MARK} ignore 二")
    spans, state = state.read("三\n四\n")
    assert spans == (Span(0, 2),)
    assert state.read("五\n")[0] == ()


def test_markers_count_in_blocks_far_below() -> None:
    far = "一\n" * FIRST_LINES
    _, state = IgnoreState().read(f"{far}{MARK} off\n")
    spans, state = state.read("二\n")
    assert spans == (Span(0, 2),)
    assert state.read(f"{MARK} on 三\n")[0] == (Span(0, len(f"{MARK} on")),)
    _, state = IgnoreState().read(f"{far}{MARK} ignore-next-line\n")
    assert state.read("二\n三\n")[0] == (Span(0, 2),)


def test_a_late_file_marker_means_nothing_in_a_later_block() -> None:
    _, state = IgnoreState().read("一\n" * 50)
    assert state.read(f"{MARK} ignore-file\n写错\n")[0] == ()


def test_marking_a_document_adds_to_what_is_protected() -> None:
    document = Document("a.md", f"甲乙\n写错 {MARK} ignore\n", protected=(Span(0, 1),))
    marked, state = IgnoreState().mark(document)
    assert marked == Document("a.md", document.text, protected=(Span(0, 1), Span(3, len(document.text))))
    assert state.lines == 2
    assert IgnoreState().mark(Document(None, "写错\n"))[0] == Document(None, "写错\n")
