from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.apply import corrected_text
from corrector.errors import InputError
from corrector.render.jsonl import render_corrections
from corrector.render.summary import Summary
from corrector.text import files
from corrector.text.files import decode, encodable, encode, open_blocks, read_blocks
from corrector.text.write import FileState
from corrector.types import Correction, Document, Span
from tests.fakes import FakeCorrector, write

WITH_MARK = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-16-le": "utf-16-le", "utf-16-be": "utf-16-be"}


class Pieces:
    """A stream that gives its bytes in the pieces they came in, as a slow pipe does."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces: Iterator[bytes] = iter(pieces)

    def read1(self, size: int, /) -> bytes:
        return next(self._pieces, b"")


def blocks(*pieces: bytes, encoding: str | None = None) -> list[str]:
    return [block.text for block in read_blocks(Pieces(*pieces), None, encoding)]


@pytest.mark.parametrize(
    ("data", "encoding", "text", "settled", "newline"),
    [
        (b"", None, "", "utf-8", "\n"),
        ("错\r\n对\r\n\n".encode(), None, "错\r\n对\r\n\n", "utf-8", "\r\n"),
        ("错\r对".encode(), None, "错\r对", "utf-8", "\r"),
        ("\ufeff错".encode(), None, "\ufeff错", "utf-8", "\n"),
        ("\ufeff错".encode(), "utf-8-sig", "\ufeff错", "utf-8", "\n"),
        ("\ufeff错\n".encode("utf-16-le"), None, "\ufeff错\n", "utf-16-le", "\n"),
        ("\ufeff错\n".encode("utf-16-be"), "UTF-16", "\ufeff错\n", "utf-16-be", "\n"),
        ("错\n".encode("utf-16-le"), "utf-16", "错\n", "utf-16-le", "\n"),
        ("\ufeff错".encode("utf-32-le"), None, "\ufeff错", "utf-32-le", "\n"),
        ("错\U00020000€".encode("gb18030"), "GB18030", "错\U00020000€", "gb18030", "\n"),
        ("錯".encode("big5"), "big5", "錯", "big5", "\n"),
    ],
)
def test_decoding_round_trips(data: bytes, encoding: str | None, text: str, settled: str, newline: str) -> None:
    document = decode(data, "a.txt", encoding)
    assert document == Document("a.txt", text, settled, newline)
    assert encode(document.text, document.encoding) == data


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (
            "一二\r\n三\r".encode() + "错".encode("gb18030"),
            None,
            "a.txt:3: not valid UTF-8 (byte 12); pass --encoding gb18030",
        ),
        (b"a\xff\xff", None, "a.txt:1: not valid UTF-8 (byte 1); pass the encoding it is in with --encoding"),
        ("对错".encode()[:5], None, "a.txt:1: not valid UTF-8 (byte 3)"),  # the last character is cut off
        (b"\xed\xa0\x80", None, "a.txt:1: not valid UTF-8 (byte 0)"),  # an encoded surrogate
        (b"ab\xff\n", "gb18030", "a.txt:1: not valid GB18030 (byte 2); pass the encoding"),
        (b"\xff\xfea", None, "a.txt:1: not valid UTF-16-LE (byte 2)"),
        (b"PK\3\4\x14\0", None, "a.txt: is no text: a zip archive; if it is a document, pass --input-format docx"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", None, "a.txt: is no text: an old Office file"),
        (b"%PDF-1.7\n\xe2\xe3", None, "a.txt: is no text: a PDF"),
        (b"{\\rtf1\\ansi \\u25955?}", None, "a.txt: is no text: rich text (RTF); save it as .docx"),
        (b"\x89PNG\0\0", None, "a.txt: NUL at byte 4: a binary file"),
        ("错".encode() + b"\0", None, "a.txt: NUL at byte 3"),
        (b"\0a", None, "a.txt: NUL at byte 0"),
        (b"a", "utf-9", "a.txt: 'utf-9' is not a known text encoding"),
        (b"a", "hex", "a.txt: 'hex' is not a known text encoding"),
        (b"a", "rot13", "a.txt: 'rot13' is not a known text encoding"),
        (b"+AGE-", "utf-7", "a.txt: does not survive utf-7 unchanged"),  # a needlessly encoded 'a'
    ],
)
def test_bytes_that_are_no_text(data: bytes, encoding: str | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        decode(data, "a.txt", encoding)
    assert str(caught.value).startswith(message)


def test_a_character_outside_the_encoding_is_an_error() -> None:
    with pytest.raises(InputError, match=r"a\.txt: '们' cannot be written in big5"):
        encode("人们", "big5", "a.txt")


def test_blocks_are_complete_lines_as_soon_as_they_are_there() -> None:
    assert blocks("一\n二".encode(), "三\n四\n".encode(), "五".encode()) == ["一\n", "二三\n四\n", "五"]
    assert blocks(b"a\r", b"\nb\r", b"c") == ["a\r\n", "b\r", "c"]  # half a line end waits for the other half
    assert blocks() == []


def test_characters_and_marks_may_be_cut_between_pieces() -> None:
    data = "\ufeff错\n对\n".encode()
    single = [bytes([byte]) for byte in data]
    assert blocks(*single) == ["\ufeff错\n", "对\n"]
    wide = "\ufeff错\n对\n".encode("utf-16-le")
    assert blocks(*[bytes([byte]) for byte in wide]) == ["\ufeff错\n", "对\n"]
    assert blocks(*[bytes([byte]) for byte in "错\U00020000\n".encode("gb18030")], encoding="gb18030") == [
        "错\U00020000\n"
    ]


def test_errors_in_a_stream_count_from_its_beginning() -> None:
    for encoding, bad, name in ((None, b"\xff", "UTF-8"), ("gb18030", b"\xff", "GB18030")):
        good = "错\r\n".encode(encoding or "utf-8")
        stream = read_blocks(Pieces(good[:1], good[1:-1], good[-1:], b"a\r", b"b" + bad), None, encoding)
        assert [next(stream).text] == ["错\r\n"]
        with pytest.raises(InputError) as caught:
            list(stream)
        assert str(caught.value).startswith(f"<stdin>:3: not valid {name} (byte {len(good) + 3})")


def test_a_stream_of_one_long_line() -> None:
    line = "错" * 200_000
    data = line.encode()
    assert blocks(*[data[at : at + 1000] for at in range(0, len(data), 1000)]) == [line]


@settings(deadline=None)
@given(st.text("a错\r\n\U00020000", max_size=60), st.lists(st.integers(0, 200)), st.sampled_from(["utf-8", "gb18030"]))
def test_any_cutting_of_a_stream_gives_the_same_lines(text: str, cuts: list[int], encoding: str) -> None:
    data = text.encode(encoding)
    offsets = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in zip(offsets, offsets[1:], strict=False) if start < end]
    found = blocks(*pieces, encoding=encoding)
    assert "".join(found) == text
    for before, after in zip(found, found[1:], strict=False):
        assert before[-1] in "\r\n"
        assert not (before[-1] == "\r" and after[0] == "\n")


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    st.sampled_from(["utf-8", "utf-16-le", "gb18030"]),
)
def test_every_text_round_trips(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    document = decode(data, None, encoding)
    assert encode(document.text, document.encoding) == data


@settings(deadline=None)
@given(st.binary(max_size=30))
def test_bytes_round_trip_or_are_refused(data: bytes) -> None:
    for encoding in (None, "gb18030", "big5", "shift_jis", "latin-1", "utf-7"):
        try:
            document = decode(data, None, encoding)
        except InputError:
            continue
        assert encode(document.text, document.encoding) == data


def test_a_checked_file_comes_in_blocks(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "\ufeff错\r\n对".encode("utf-16-le"))
    file = open_blocks(path)
    assert (file.path, file.encoding, file.state) == (str(path), "utf-16-le", FileState.of(path.stat()))
    assert list(file) == list(file)  # as often as wanted
    assert "".join(block.text for block in file) == "\ufeff错\r\n对"
    assert list(open_blocks(write(tmp_path / "empty.txt", b""))) == []


def test_nothing_is_handed_on_of_a_file_that_is_no_text_at_its_end(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "错\n".encode() * 200_000 + b"\xff")
    with pytest.raises(InputError, match=rf"a\.txt:200001: not valid UTF-8 \(byte {4 * 200_000}\); pass"):
        open_blocks(path)
    with pytest.raises(InputError, match=r"none\.txt: cannot be read: no such file"):
        open_blocks(tmp_path / "none.txt")
    with pytest.raises(InputError, match="cannot be read: is a directory"):
        open_blocks(tmp_path)
    with pytest.raises(InputError, match="cannot be read: embedded null"):
        open_blocks("a\0b")


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"old\n")
    file = open_blocks(path)
    path.write_bytes(b"a new one\n")
    with pytest.raises(InputError, match=r"a\.txt: has changed while it was read"):
        list(file)
    path.write_bytes(b"x\n" * 500_000)
    blocks = iter(open_blocks(path))
    next(blocks)
    with path.open("ab") as stream:
        stream.write(b"more")
    with pytest.raises(InputError, match=r"a\.txt: has changed while it was read"):
        list(blocks)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_read_once_as_it_comes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def feed() -> None:
        with pipe.open("wb") as stream:
            stream.write("错\n".encode())
            stream.flush()
            stream.write("对".encode())

    writer = threading.Thread(target=feed)
    writer.start()
    file = open_blocks(pipe)
    assert file.state is None
    assert "".join(block.text for block in file) == "错\n对"
    writer.join()


def correction(replacement: str) -> Correction:
    return Correction(Span(0, len(replacement)), "错" * len(replacement), replacement, 1.0)


@pytest.mark.parametrize(
    ("replacement", "encoding", "expected"),
    [("們", "big5", True), ("们", "big5", False), ("人们", "big5", False), ("们", "gb18030", True), ("\U00020000", "gbk", False)],
)
def test_which_corrections_an_encoding_can_hold(replacement: str, encoding: str, expected: bool) -> None:
    assert encodable(correction(replacement), encoding) is expected


def test_a_long_line_comes_in_pieces_cut_at_sentence_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONG_LINE", 16)  # cut from 8 on, before 12
    assert blocks("一二三四五六七。九十。二三四五六七八。\n好".encode()) == [
        "一二三四五六七。九十。",
        "二三四五六七八。\n",
        "好",
    ]
    assert blocks("一二三四五六七八九 一二三四五六七八九".encode())[0] == "一二三四五六七八九 "
    assert blocks("一二三四五六七八九，一二三四五六七八九".encode())[0] == "一二三四五六七八九，"
    assert blocks("一二三四五六七八九十一二三四五六七八九".encode())[0] == "一二三四五六七八九十一二"
    assert blocks("一二三四五六`八。九`，二三四五六七八九".encode())[0] == "一二三四五六`八。九`，"
    assert blocks("一二三四五六七。九十。二三四五\r".encode(), b"\n") == ["一二三四五六七。九十。", "二三四五\r\n"]
    assert blocks("一二三四五六七。九十。二三四五".encode()) == ["一二三四五六七。九十。二三四五"]


def test_a_line_is_not_cut_in_an_encoding_with_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONG_LINE", 16)
    line = "一二三。" * 10
    data = line.encode("hz")
    assert blocks(data[:7], data[7:], encoding="hz") == [line]


LONG_LINES = st.lists(st.text("a错误，。 \t!😀\u0301\ufeff", max_size=90), min_size=1, max_size=4)


def recorded(parts: list[Document]) -> tuple[str, list[dict[str, object]]]:
    """The corrected text and what the JSON records say, of the parts of one text."""
    corrector, before, out, records = FakeCorrector({"错": "对"}, {"误": "悟"}), Summary(), "", ""
    for part in parts:
        corrected = corrector.correct_document(part)
        out += corrected_text(corrected)
        records += render_corrections(corrected, before)
        before = before.plus(corrected)
    return out, [json.loads(line) for line in records.splitlines()]


@settings(deadline=None, max_examples=60)
@given(LONG_LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.integers(2, 40), st.lists(st.integers(1, 7), min_size=1))
def test_offsets_lines_and_columns_go_on_over_the_pieces(lines: list[str], newline: str, limit: int, sizes: list[int]) -> None:
    text = newline.join(lines)
    data = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "LONG_LINE", limit)
        pieces = []
        at = 0
        while at < len(data):
            size = min(sizes[len(pieces) % len(sizes)], limit)
            pieces.append(data[at : at + size])
            at += size
        parts = list(read_blocks(Pieces(*pieces)))
        single = list(read_blocks(Pieces(*[data[at : at + 1] for at in range(len(data))])))
    assert "".join(part.text for part in parts) == text
    assert all(len(line) <= limit for part in parts for line in part.text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    whole = recorded([Document(None, text)])
    assert recorded(parts) == whole
    assert recorded(single) == whole
    ends = {sum(len(part.text) for part in parts[:number]) for number in range(len(parts) + 1)}
    every = {sum(len(part.text) for part in single[:number]) for number in range(len(single) + 1)}
    within_lines = {end for end in ends if end and text[end - 1] not in "\r\n"}
    assert within_lines == {end for end in every if end and text[end - 1] not in "\r\n"}  # whatever the pipe did
