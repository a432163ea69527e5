"""Guards on how much of a text is held at a time: counts of characters and of live values, never megabytes or seconds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corrector.config import Settings
from corrector.inputs import Input
from corrector.propose import likeness, similar_characters
from corrector.similarity.glyph import nearest_by_shape
from corrector.similarity.pinyin import nearest_by_sound
from corrector.text import files
from corrector.text.files import read_blocks
from corrector.text.protect import protected_spans
from corrector.text.segment import beginning_of, sentences
from corrector.text.write import AtomicWriter
from corrector.types import Document, Sentence, Span
from tests.fakes import FakeCorrector

LIMIT = 1 << 13  # for LONG_LINE, so that few characters show what many would
READ = 1 << 11
SENTENCE = "今天天汽很好，我们去公园。"
LINE = SENTENCE * (4 * LIMIT // len(SENTENCE))


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONG_LINE", LIMIT)
    monkeypatch.setattr(files, "_FILE_BYTES", READ)


class Source:
    """A stream that makes its bytes when they are asked for and counts them."""

    def __init__(self, unit: bytes, times: int) -> None:
        self._unit, self._left, self.given = unit, times, 0

    def read1(self, size: int, /) -> bytes:
        times = min(self._left, max(1, size // len(self._unit)))
        self._left -= times
        self.given += times * len(self._unit)
        return self._unit * times


def alive(kind: type) -> int:
    """How many values of a class there are."""
    return sum(type(value) is kind for value in gc.get_objects())


@pytest.mark.parametrize("function", [likeness, similar_characters, nearest_by_shape, nearest_by_sound])
def test_what_is_remembered_of_characters_is_bounded(function: Any) -> None:
    assert function.cache_parameters()["maxsize"] <= 50_000


@pytest.mark.parametrize("unit", [SENTENCE, "字", "a", "。", " ", "字，", "`", "😀"])
def test_no_more_of_a_line_is_held_than_its_limit(unit: str) -> None:
    source = Source(unit.encode(), 8 * LIMIT // len(unit))
    width = len(unit.encode()) / len(unit)
    handed_on = 0
    for block in read_blocks(source, size=READ):
        handed_on += len(block.text)
        assert 0 < len(block.text) <= LIMIT
        assert source.given / width - handed_on <= LIMIT + READ
    assert handed_on * width == source.given


def test_a_text_of_short_lines_goes_through_in_small_blocks() -> None:
    source, others = Source((SENTENCE + "\n").encode(), 1000), alive(Document)
    handed_on = 0
    for number, block in enumerate(read_blocks(source, size=READ)):
        handed_on += len(block.text.encode())
        assert len(block.text) <= READ
        assert source.given - handed_on < len(SENTENCE.encode()) + 1
        assert number % 8 or alive(Document) <= others + 2


def test_a_long_line_is_corrected_and_written_piece_by_piece(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(LINE, encoding="utf-8")
    source, most, others = Input(str(path), Settings()), 0, alive(Document)
    with AtomicWriter(path) as writer:
        for part in source.parts(FakeCorrector({"天汽": "天气"})):
            assert len(part.corrected.document.text) <= LIMIT
            most = max(most, alive(Document))
            writer.write(part.data())
    assert path.read_text(encoding="utf-8") == LINE.replace("天汽", "天气")
    assert most <= others + 6  # of a block: as read, with its markers, as passages, corrected; and the one before


def test_the_windows_of_a_piece_come_one_by_one() -> None:
    text, others = LINE, alive(Sentence)
    windows = sentences(text, protected_spans(text))
    for _, window in zip(range(100), windows, strict=False):
        assert len(window.text) <= 126
    assert next(windows).core.start < len(text) // 4 and alive(Sentence) <= others + 2


class Counted(str):
    """A text that counts how many characters are copied out of it."""

    copied = 0

    def __getitem__(self, key: object) -> str:
        piece = str.__getitem__(self, key)  # type: ignore[index]
        Counted.copied += len(piece)
        return piece


@pytest.mark.parametrize("unit", [SENTENCE, "字", "{字}", "。", " ", "字，"])
def test_windows_copy_little_more_than_the_text(unit: str) -> None:
    text = Counted(unit * (100_000 // len(unit)))
    protected = protected_spans(text)
    Counted.copied = 0
    for _ in sentences(text, protected):
        pass
    assert Counted.copied <= 6 * len(text)  # each window, twice its core at most, and what is stripped


def test_a_line_that_is_one_protected_span_is_cut_all_the_same() -> None:
    line = "`" + "字。" * LIMIT + "`"
    assert LIMIT // 2 <= beginning_of(line, LIMIT) < LIMIT
    whole = "`" + "字。" * (LIMIT // 4) + "`。" + "字。" * LIMIT
    assert protected_spans(whole[: beginning_of(whole, LIMIT)]) == (Span(0, LIMIT // 2 + 2),)


def test_the_empty_stream_is_no_block() -> None:
    blocks: Iterator[Document] = read_blocks(Source(b"a", 0))
    assert list(blocks) == []
