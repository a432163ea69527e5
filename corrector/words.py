"""Words and names that never change: one a line in a UTF-8 file, ``#`` begins a comment.

    >>> words = ProtectedWords.of(["张林", "张林林", "哪吒"])
    >>> [(span.start, span.end) for span in words.spans("他叫张林林，不叫哪吒。")]
    [(2, 5), (8, 10)]
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path

from corrector.errors import ConfigError, InputError
from corrector.text.files import decode, encode
from corrector.text.protect import merged
from corrector.text.write import write_atomically
from corrector.types import Span


class WordIndex:
    """Finds many words in a text at once, in a time that hardly depends on how many they are.

    Two characters lead to the lengths of the words that begin with them, and a set tells whether there is such a word.
    """

    __slots__ = ("_lengths", "_single", "_words")

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)
        self._single = frozenset(word for word in self._words if len(word) == 1)
        self._lengths: dict[str, tuple[int, ...]] = {}
        for word in self._words - self._single:
            head, length = word[:2], len(word)
            known = self._lengths.get(head, ())
            if length not in known:
                self._lengths[head] = tuple(sorted((*known, length), reverse=True)) if known else (length,)

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, word: object) -> bool:
        return word in self._words

    def occurrences(self, text: str) -> Iterator[Span]:
        """Every occurrence of every word, overlapping ones too, from left to right, at one place the longest first."""
        if not self._words:
            return
        words, lengths_of, single, size = self._words, self._lengths, self._single, len(text)
        for start in range(size):
            for length in lengths_of.get(text[start : start + 2], ()):
                if start + length <= size and text[start : start + length] in words:
                    yield Span(start, start + length)
            if single and text[start] in single:
                yield Span(start, start + 1)


class ProtectedWords:
    """Words that a correction never changes, not even in part, wherever they stand in a text. Immutable."""

    __slots__ = ("_index",)

    def __init__(self, index: WordIndex) -> None:
        self._index = index

    @classmethod
    def load(cls, *paths: str | Path) -> ProtectedWords:
        """The words of all these files together. Raises InputError for one that cannot be read or is not UTF-8."""
        return cls(WordIndex(line for path in paths for _, line in read_lines(path)))

    @classmethod
    def of(cls, words: Iterable[str]) -> ProtectedWords:
        """These words, white space at their ends taken off, empty ones left out. Raises ConfigError for what is no list of words."""
        is_list = isinstance(words, Iterable) and not isinstance(words, (str, bytes))
        listed = list(words) if is_list else []
        if not is_list or not all(isinstance(word, str) for word in listed):
            raise ConfigError("Corrector", "words", f"must be a list of words, not {words!r:.60}")
        return cls(WordIndex(word.strip() for word in listed if word.strip()))

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, word: object) -> bool:
        return word in self._index

    def spans(self, text: str) -> tuple[Span, ...]:
        """Where ``text`` has a protected word, also inside something longer: sorted, disjoint, not touching."""
        return merged(self._index.occurrences(text)) if len(self._index) else ()

    @staticmethod
    def add(path: str | Path, word: str) -> bool:
        """Put a word at the end of a words file, which is made if need be; False if it is there already.

        The file has either its old or its new content at every moment and keeps its order, comments, byte-order mark and
        line ends. Raises InputError for what cannot be one line of such a file, and when it cannot be read or written.
        """
        word = word.strip()
        if _without_comment(word) != word or len(word.splitlines()) != 1 or "\0" in word or word.startswith("\ufeff"):
            raise InputError(path, f"{word!r:.60} cannot be a line of a words file")
        target = Path(path)
        if not target.exists():
            write_atomically(path, encode(word + "\n", "utf-8", str(path)))
            return True
        if any(line == word for _, line in read_lines(path)):
            return False
        data = _bytes_of(path)
        newline = decode(data, str(path), "utf-8").newline
        between = "" if not data.strip(codecs.BOM_UTF8) or data.endswith((b"\n", b"\r")) else newline
        write_atomically(path, data + encode(between + word + newline, "utf-8", str(path)))
        return True


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Number, from 1, and content of each line of a UTF-8 file that has any, without comments and white space at the ends.

    A byte-order mark may begin the file. ``#`` begins a comment at the start of a line or after white space.
    Raises InputError when the file cannot be read or is not UTF-8 text.
    """
    data = _bytes_of(path)
    if b"\0" in data:
        raise InputError(path, f"NUL at byte {data.index(0)}: no text in UTF-8; save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise InputError(path, f"not valid UTF-8 (byte {error.start}); save it as UTF-8", number) from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        content = _without_comment(line) if "#" in line else line.strip()
        if content:
            yield number, content


def _without_comment(line: str) -> str:
    """The line up to its comment, stripped."""
    at = line.find("#")
    while at > 0 and not line[at - 1].isspace():  # C# and 话题#1 are words
        at = line.find("#", at + 1)
    return (line if at < 0 else line[:at]).strip()


def _bytes_of(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(path, f"cannot be read: {reason[:1].lower()}{reason[1:]}") from error
