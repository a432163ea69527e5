"""Protected words: files, finding, adding."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrector.errors import ConfigError, InputError
from corrector.types import Span
from corrector.words import ProtectedWords, WordIndex, read_lines
from tests.fakes import write

SHORT = st.text("甲乙丙a", min_size=1, max_size=4)


def spans(words: list[str], text: str) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in ProtectedWords.of(words).spans(text)]


def test_a_file_of_words(tmp_path: Path) -> None:
    data = "\ufeff# names\r\n张林\r\n\r\n 阿卜杜拉·买买提 \t# with a dot\r\nC#\r\n话题#1\r\n\tNew York \r\n张林"
    path = write(tmp_path / "words.txt", data.encode())
    assert list(read_lines(path)) == [(2, "张林"), (4, "阿卜杜拉·买买提"), (5, "C#"), (6, "话题#1"), (7, "New York"), (8, "张林")]
    words = ProtectedWords.load(path)
    assert len(words) == 5
    assert "C#" in words and "# names" not in words
    assert [(s.start, s.end) for s in words.spans("阿卜杜拉·买买提去New York找张林")] == [(0, 8), (9, 17), (18, 20)]


def test_several_files_and_none(tmp_path: Path) -> None:
    first, second = write(tmp_path / "1", "甲".encode()), write(tmp_path / "2", "乙乙".encode())
    assert len(ProtectedWords.load(first, str(second))) == 2
    assert ProtectedWords.load().spans("甲乙") == ()
    given = ProtectedWords.of(["甲 ", "", " "])
    assert len(given) == 1 and "甲" in given


def test_the_longest_and_every_overlapping_occurrence_counts() -> None:
    assert spans(["张林", "张林林"], "叫张林林。") == [(1, 4)]
    assert spans(["甲乙丙", "乙丙丁戊"], "甲乙丙丁戊") == [(0, 5)]
    assert spans(["甲甲"], "甲甲甲乙甲") == [(0, 3)]


def test_inside_of_longer_text_and_at_both_ends() -> None:
    assert spans(["林肯"], "林肯乌林肯区林肯") == [(0, 2), (3, 5), (6, 8)]
    assert spans(["林肯公园"], "林肯公") == []


def test_words_of_one_character() -> None:
    assert spans(["邨", "邨上"], "邨村邨上上邨") == [(0, 1), (2, 4), (5, 6)]
    assert spans(["\U00020000"], "a\U00020000b") == [(1, 2)]


@given(st.lists(SHORT, max_size=8), st.text("甲乙丙a", max_size=30))
def test_exactly_the_occurrences_are_covered(words: list[str], text: str) -> None:
    covered = {
        place for word in words for at in range(len(text)) if text.startswith(word, at) for place in range(at, at + len(word))
    }
    found = ProtectedWords.of(words).spans(text)
    assert {place for span in found for place in range(span.start, span.end)} == covered
    assert all(a.end < b.start for a, b in zip(found, found[1:], strict=False))


def test_many_words_are_found_by_looking_at_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many words are compared with a text depends on what the text begins them with, not on how many there are."""
    words = [chr(0x4E00 + n % 300) + chr(0x4E00 + n // 300) + "们" * (n % 3) for n in range(60_000)]
    index = WordIndex(words)
    lookups = 0

    class Counting(frozenset[str]):
        def __contains__(self, word: object) -> bool:
            nonlocal lookups
            lookups += 1
            return super().__contains__(word)

    index._words = Counting(words)
    text = "".join(words[12_345:12_365])
    assert len(list(index.occurrences(text))) >= 20
    assert lookups <= 3 * len(text)


def test_what_is_not_utf8_or_not_there_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "old.txt", "甲\n乙\n".encode() + "丙".encode("gb18030"))
    with pytest.raises(InputError, match=r"old\.txt:3: not valid UTF-8 \(byte 8\); save it as UTF-8"):
        ProtectedWords.load(path)
    with pytest.raises(InputError, match="none: cannot be read: no such file"):
        ProtectedWords.load(tmp_path / "none")
    with pytest.raises(InputError, match="cannot be read"):
        ProtectedWords.load(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        ProtectedWords.load("a\0b")
    with pytest.raises(InputError, match="binary: NUL at byte 4"):
        ProtectedWords.load(write(tmp_path / "binary", b"\x7fELF\0"))


@pytest.mark.parametrize("bad", ["张林", b"ab", ["张林", 3], None, 1])
def test_words_must_be_a_list_of_words(bad: object) -> None:
    with pytest.raises(ConfigError, match="words: must be a list of words"):
        ProtectedWords.of(bad)  # type: ignore[arg-type]


def test_adding_keeps_order_comments_and_line_ends(tmp_path: Path) -> None:
    before = "\ufeff# names\r\n张林\r\n\r\n乙 # why".encode()
    path = write(tmp_path / "words.txt", before)
    assert ProtectedWords.add(path, " 哪吒 ")
    assert path.read_bytes() == before + "\r\n哪吒\r\n".encode()
    assert ProtectedWords.add(path, "阿卜杜拉·买买提")
    assert path.read_bytes() == before + "\r\n哪吒\r\n阿卜杜拉·买买提\r\n".encode()
    assert not ProtectedWords.add(path, "张林")
    assert not ProtectedWords.add(path, "乙")
    assert path.read_bytes().count("张林".encode()) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["words.txt"]


@pytest.mark.parametrize("empty", [b"", b"\xef\xbb\xbf", None])
def test_adding_to_an_empty_or_missing_file(tmp_path: Path, empty: bytes | None) -> None:
    path = tmp_path / "words.txt"
    if empty is not None:
        path.write_bytes(empty)
    assert ProtectedWords.add(path, "张林")
    assert path.read_bytes() == (empty or b"") + "张林\n".encode()


@pytest.mark.parametrize("bad", ["", " ", "#甲", "甲 # 乙", "甲\n乙", "甲\u2028乙", "\ufeff甲", "甲\0"])
def test_what_is_no_line_of_a_words_file_is_refused(tmp_path: Path, bad: str) -> None:
    with pytest.raises(InputError, match="cannot be a line of a words file"):
        ProtectedWords.add(tmp_path / "words.txt", bad)
    assert not (tmp_path / "words.txt").exists()


def test_adding_to_a_file_that_is_not_utf8_leaves_it_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "old.txt", "丙".encode("gb18030"))
    with pytest.raises(InputError, match="not valid UTF-8"):
        ProtectedWords.add(path, "甲")
    assert path.read_bytes() == "丙".encode("gb18030")


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=5), max_size=5))
def test_what_was_added_is_loaded(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    path = tmp_path_factory.mktemp("words") / "words.txt"
    added = []
    for word in words:
        try:
            ProtectedWords.add(path, word)
            added.append(word.strip())
        except InputError:
            pass
    loaded = ProtectedWords.load(path) if path.exists() else ProtectedWords.of(())
    assert set(added) == {word for word in added if word in loaded}
    assert len(loaded) == len(set(added))


def test_occurrences_in_order_the_longest_first() -> None:
    found = list(WordIndex(["甲", "甲乙", "甲乙丙", "丙"]).occurrences("甲乙丙"))
    assert found == [Span(0, 3), Span(0, 2), Span(0, 1), Span(2, 3)]


def test_each_occurrence_comes_once_and_none_is_cut_off_by_the_end() -> None:
    found = list(WordIndex(["甲乙丙", "甲乙丁", "甲乙", "甲乙甲乙丙"]).occurrences("甲乙丁甲乙"))
    assert found == [Span(0, 3), Span(0, 2), Span(3, 5)]
