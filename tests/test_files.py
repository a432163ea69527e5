from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.errors import InputError
from corrector.text import files
from corrector.text.files import decode, encode, read_blocks, read_document, split_blocks, write_atomically
from corrector.types import Document
from tests.fakes import write

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
        (b"\x89PNG\0\0", None, "a.txt: NUL at byte 4: a binary file"),
        ("错".encode() + b"\0", None, "a.txt: NUL at byte 3"),
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
@given(st.text("a错\r\n", max_size=60), st.integers(1, 20))
def test_splitting_a_document_keeps_lines_whole(text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK_CHARACTERS", size)
        parts = [block.text for block in split_blocks(Document("a", text))]
    assert "".join(parts) == text
    assert parts
    for before, after in zip(parts, parts[1:], strict=False):
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


def test_reading_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "错\r\n".encode())
    assert read_document(path) == Document(str(path), "错\r\n", "utf-8", "\r\n")
    with pytest.raises(InputError, match=r"none\.txt: cannot be read: no such file"):
        read_document(tmp_path / "none.txt")
    with pytest.raises(InputError, match="cannot be read: is a directory"):
        read_document(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_document("a\0b")


def test_writing_keeps_the_mode_and_follows_links(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"old")
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "link"]


def test_a_new_file_gets_the_usual_mode(tmp_path: Path) -> None:
    write_atomically(tmp_path / "new.txt", b"")
    plain = write(tmp_path / "plain.txt", b"")
    assert (tmp_path / "new.txt").stat().st_mode == plain.stat().st_mode


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.txt", b"old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InputError, match=r"a\.txt: cannot be written: no space left on device"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_writing_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: no such file"):
        write_atomically(tmp_path / "none" / "a.txt", b"")
    with pytest.raises(InputError, match="cannot be written: is a directory"):
        write_atomically(tmp_path, b"")
    write_atomically("/dev/null", b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
