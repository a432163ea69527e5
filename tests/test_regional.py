"""Words that only Traditional text has: which they are, and where."""

from __future__ import annotations

import pytest

from corrector.similarity.regional import _LIST, _LONGEST, _is_term, in_regional_word
from corrector.text.script import is_traditional


def places(text: str) -> str:
    """The characters of a text that belong to such a word, a dot for each other."""
    return "".join(char if in_regional_word(text, place) else "·" for place, char in enumerate(text))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("請按這個連結，再選檔案類型。", "····連結···檔案···"),  # Taiwan's terms, as OpenCC has them
        ("請自訂帳號，連絡我們。", "·自訂帳··連絡···"),  # as listed; of one character in any word
        ("這是大部份的紀錄。", "···部份·紀錄·"),
        ("他們應該會來支援前線。", "······支援···"),
        ("他们应该会来支援前线。", "···········"),  # in Simplified text a word like others
        ("这是大部份的档案。", "·········"),
        ("這是大部份的檔案。这是大部份的档案。", "···部份·檔案··········"),  # passage by passage
        ("我們連續三天結帳。", "·······帳·"),  # no word over what is between
        ("影像檔的檔名，檔住去路。", "影像檔·檔名······"),
        ("", ""),
    ],
)
def test_words_of_traditional_text(text: str, expected: str) -> None:
    assert places(text) == expected


def test_a_passage_is_traditional_by_what_is_around() -> None:
    assert is_traditional("這裡。部份。", 4) and not is_traditional("这里。部份。", 4)
    assert not is_traditional("部份。", 0)  # as well either
    assert not is_traditional("", 0)


def test_the_list_has_what_no_converter_knows() -> None:
    words = [line for line in _LIST.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert len(words) == len(set(words)) > 60
    assert [word for word in words if _is_term(word) or not 0 < len(word) <= _LONGEST] == []
