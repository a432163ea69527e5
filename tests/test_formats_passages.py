from __future__ import annotations

import subprocess
import sys

import pytest
from fakes import DOUBTFUL, FakeCorrector
from hypothesis import given
from hypothesis import strategies as st

from corrector.apply import corrected_text
from corrector.errors import ConfigError
from corrector.formats import EXTENSIONS, FORMATS, NAMES, PACKAGES, format_name, format_of
from corrector.formats.builder import PassageBuilder, Places, Run
from corrector.formats.passages import BLOCK_CHARACTERS, Passage, correct_passages
from corrector.types import CorrectedDocument, Correction, Document, Span


def spans(*starts: int) -> tuple[Span, ...]:
    return tuple(Span(start, start + 1) for start in starts)


def correct(
    text: str, *given_passages: Passage, protected: tuple[Span, ...] = (), **corrector: dict[str, str]
) -> CorrectedDocument:
    return correct_passages(FakeCorrector(**corrector), Document("a.x", text, protected=protected), given_passages)


def edits(corrections: tuple[Correction, ...]) -> list[tuple[int, str, str]]:
    return [(c.span.start, c.original, c.replacement) for c in corrections]


def test_a_verbatim_passage_is_shifted_to_its_place() -> None:
    found = correct("# 我门班", Passage("我门班", 2), sure={"我门": "我们"})
    assert edits(found.corrections) == [(2, "我门", "我们")]
    assert corrected_text(found) == "# 我们班"
    assert found.document.text == "# 我门班" and found.document.path == "a.x"


def test_what_is_outside_the_passages_is_not_even_read() -> None:
    found = correct("我门，我门", Passage("我门", 3), sure={"我门": "我们"}, doubtful={"，": "。"})
    assert corrected_text(found) == "我门，我们"
    assert found.suggestions == ()


def test_an_edit_over_places_apart_becomes_one_for_each_changed_character() -> None:
    text = "**权**丽与**义**物"
    passage = Passage("权丽与义物", spans(2, 5, 6, 9, 12))
    found = correct(text, passage, sure={"权丽": "权利", "义物": "议务"})
    assert edits(found.corrections) == [(5, "丽", "利"), (9, "义", "议"), (12, "物", "务")]
    assert [a.candidate.text for a in found.corrections[1].alternatives] == ["议"]
    assert corrected_text(found) == "**权**利与**议**务"


def test_a_character_with_no_place_of_its_own_never_changes() -> None:
    text = "我&#38376;班"
    passage = Passage("我门班", (Span(0, 1), Span(1, 9), Span(9, 10)))
    assert corrected_text(correct(text, passage, sure={"门": "们", "班": "搬"})) == "我&#38376;搬"
    nowhere = Passage("我门班", (Span(0, 1), Span(0, 0), Span(9, 10)))
    assert corrected_text(correct(text, nowhere, sure={"门": "们"})) == text


def escape(char: str) -> str:
    return "".join(f"\\u{unit:04x}" for unit in memoryview(char.encode("utf-16-le")).cast("H"))


def test_escapes_are_written_as_escapes_and_plain_characters_beside_them_plainly() -> None:
    text = "\\u6211\\u95e8班门"
    passage = Passage("我门班门", (Span(0, 6), Span(6, 12), Span(12, 13), Span(13, 14)), spell=escape)
    found = correct(text, passage, sure={"我门": "我们", "班门": "班们"})
    assert corrected_text(found) == "\\u6211\\u4eec班们"
    assert edits(found.corrections) == [(6, "\\u95e8", "\\u4eec"), (12, "班门", "班们")]
    assert found.corrections[0].alternatives[0].candidate.text == "\\u4eec"


def test_an_edit_that_cannot_be_written_in_as_many_characters_is_not_made() -> None:
    text = "\\u6211\\u95e8"
    passage = Passage("我门", (Span(0, 6), Span(6, 12)), spell=escape)
    found = correct(text, passage, sure={"我门": "你\U00020000"})
    assert found.corrections == () and found.suggestions == ()


@pytest.mark.parametrize("places", [2, spans(2, 3, 4)])
def test_the_document_s_protected_spans_hold_in_its_passages(places: int | tuple[Span, ...]) -> None:
    passage = Passage("门口门", places)
    assert corrected_text(correct("- 门口门", passage, protected=(Span(1, 3),), sure={"门": "们"})) == "- 门口们"
    assert corrected_text(correct("- 门口门", passage, protected=(Span(4, 9),), sure={"门": "们"})) == "- 们口门"


def test_a_passage_s_protected_spans_hold() -> None:
    found = correct("- 门口门", Passage("门口门", 2, protected=(Span(0, 1),)), sure={"门": "们"})
    assert corrected_text(found) == "- 门口们"


def test_what_could_be_syntax_is_put_into_plain_text_only() -> None:
    sure = {"甲": '"', "丙丁": "丙<", "我门": "我们"}
    found = correct("甲乙，丙丁，我门", Passage("甲乙，丙丁，我门", 0), sure=sure)
    assert corrected_text(found) == "甲乙，丙丁，我们"
    assert edits(found.suggestions) == [(0, "甲", '"'), (3, "丙丁", "丙<")]
    plain = correct("甲乙，丙丁，我门", Passage("甲乙，丙丁，我门", 0, plain=True), sure=sure)
    assert corrected_text(plain) == '"乙，丙<，我们' and plain.suggestions == ()


def test_suggestions_are_mapped_and_failures_counted() -> None:
    text = "甲门|坏"
    found = correct_passages(
        FakeCorrector(doubtful={"门": "们"}, fails_on="坏"), Document(None, text), [Passage("甲门", 0), Passage("坏", 3)]
    )
    assert edits(found.suggestions) == [(1, "门", "们")] and found.suggestions[0].confidence == DOUBTFUL
    assert found.unprocessed == 1


def test_sentences_do_not_go_on_in_the_next_passage() -> None:
    found = correct("我|门", Passage("我", 0), Passage("门", 2), sure={"我门": "我们", "我\n门": "我\n们"})
    assert found.corrections == ()


def test_corrections_come_in_the_order_of_the_document() -> None:
    found = correct("甲门|乙门", Passage("乙门", 3), Passage("甲门", 0), sure={"门": "们"})
    assert edits(found.corrections) == [(1, "门", "们"), (4, "门", "们")]


def test_many_passages_take_few_calls_and_bounded_memory() -> None:
    lengths = []

    class Counting(FakeCorrector):
        def correct_document(self, document: Document) -> CorrectedDocument:
            lengths.append(len(document.text))
            return super().correct_document(document)

    text = "门。" * 50_000
    found = correct_passages(Counting({"门": "们"}), Document(None, text), (Passage("门。", 2 * n) for n in range(50_000)))
    assert corrected_text(found) == "们。" * 50_000
    assert sum(lengths) >= len(text) and max(lengths) <= 2 * BLOCK_CHARACTERS and len(lengths) <= 4


def test_a_passage_that_is_not_verbatim_is_an_error_of_its_format() -> None:
    with pytest.raises(ValueError, match="not verbatim at 1"):
        correct("我门", Passage("我门", 1))


@given(st.lists(st.tuples(st.sampled_from(["verbatim", "frozen", "context", "gap"]), st.text("中门a \n", max_size=4))))
def test_a_built_passage_leads_back_to_the_source(pieces: list[tuple[str, str]]) -> None:
    source = "".join(piece for _, piece in pieces)
    builder, at, wanted = PassageBuilder(source), 0, ""
    for kind, piece in pieces:
        if kind in ("verbatim", "frozen"):
            builder.verbatim(at, at + len(piece), kind == "frozen")
            wanted += piece
        elif kind == "context":
            builder.context(piece)
            wanted += piece
        else:
            builder.gap()
        at += len(piece)
    passage = builder.build()
    if any("门" in piece or "中" in piece for kind, piece in pieces if kind == "verbatim"):
        assert passage is not None
        assert passage.text.replace(" ", "") == wanted.replace(" ", "")
        if not isinstance(passage.places, int):
            for char, place in zip(passage.text, passage.places, strict=True):
                assert source[place.start : place.end] in ("", char)
    else:
        assert passage is None
    assert builder.build() is None


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [("中", "文", "中文"), ("，", "文", "，文"), ("“", "文", "“文"), ("a", "b", "a b"), ("a", "文", "a 文"), ("a ", "文", "a 文")],
)
def test_a_gap_is_a_space_but_not_between_han_characters(before: str, after: str, joined: str) -> None:
    source = f"中{before}\n  {after}"
    builder = PassageBuilder(source)
    builder.verbatim(0, 1 + len(before))
    builder.gap()
    builder.verbatim(len(before) + 2, len(source))
    passage = builder.build()
    assert passage is not None and passage.text == "中" + joined


def test_names_to_be_filled_in_or_linked_by_are_protected() -> None:
    figure = f"{{{{< figure src='{'a' * 500}' title='某 图' >}}}}"
    source = f"见[[某 页]]和{{{{ 变量 名 }}}}和{figure}和{{% 某 页"
    builder = PassageBuilder(source)
    builder.verbatim(0, len(source))
    passage = builder.build()
    assert passage is not None
    assert [source[span.start : span.end] for span in passage.protected] == ["[[某 页]]", "{{ 变量 名 }}", figure]


@pytest.mark.parametrize("piece", ["[[", "{{", "{%", "<%", "[[某", "{%}", "{{ a %}"])
def test_names_that_are_never_closed_take_no_quadratic_time(piece: str) -> None:
    source = "中" + piece * (200_000 // len(piece))
    builder = PassageBuilder(source)
    builder.verbatim(0, len(source))
    passage = builder.build()
    assert passage is not None and passage.protected == ()


def test_places_are_a_sequence() -> None:
    places = Places((Run(0, Span(5, 7), True), Run(2, Span(9, 14), False)), 3)
    assert list(places) == [Span(5, 6), Span(6, 7), Span(9, 14)]
    assert places[-1] == Span(9, 14) and places[1:] == [Span(6, 7), Span(9, 14)]
    with pytest.raises(IndexError):
        places[3]


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        (None, None, "text"),
        ("README", None, "text"),
        ("a/b.MD", None, "markdown"),
        ("a.md", "html", "html"),
        ("a.htm", None, "html"),
        ("a.svg", None, "xml"),
        ("a.ndjson", None, "jsonl"),
        ("a.docx", None, "docx"),
        ("a.ODT", None, "odf"),
        (".md", None, "text"),  # a hidden file without an extension
    ],
)
def test_format_name(path: str | None, name: str | None, expected: str) -> None:
    assert format_name(path, name) == expected


def test_an_unknown_format_is_an_error_that_names_the_others() -> None:
    with pytest.raises(ConfigError, match="'pages' is not one of text, markdown, ipynb, rst, latex, html"):
        format_of("a.txt", "pages")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_is_no_text(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is no text"):
        format_of(None, name)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_be_had_by_its_name(name: str) -> None:
    assert format_of(None, name, "text").name == name


def test_every_extension_has_a_format() -> None:
    assert set(EXTENSIONS.values()) == set(NAMES)


def test_the_names_of_formats_load_no_parser() -> None:
    code = (
        "import sys, corrector.formats as f; f.format_name('a.md'); "
        "sys.exit(any(m in sys.modules for m in ('markdown_it', 'numpy', 'xml.parsers.expat', 'corrector.formats.markup')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
