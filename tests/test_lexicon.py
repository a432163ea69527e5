"""Words of the dictionary, and those of them that are misspelt."""

from __future__ import annotations

import sys

import pytest

from corrector.errors import ModelError
from corrector.similarity.words import is_count, jieba_words, misspelt, misspelt_in


def test_a_rare_word_that_sounds_or_looks_like_a_common_one_is_misspelt() -> None:
    words = {"名列前茅": 398, "名列前矛": 3, "固执己见": 26, "固执已见": 3, "左右铭": 3, "座右铭": 54}
    assert misspelt(words) == {"名列前矛", "固执已见", "左右铭"}


def test_a_character_that_stands_twice_is_wrong_twice() -> None:
    assert misspelt({"轰轰烈烈": 90, "哄哄烈烈": 3, "哄轰烈烈": 30}) == {"哄哄烈烈"}
    assert misspelt_in({"鬼鬼祟祟": 90, "鬼鬼崇崇": 2}) == {"鬼鬼崇崇"}


def test_words_that_text_has_not_are_misspelt_ones_of_words_it_has() -> None:
    occurrences = {"墨守成规": 40, "墨守陈规": 1, "严于律己": 30, "严于律已": 0, "一发不可收": 9}
    assert misspelt_in(occurrences) == {"墨守陈规", "严于律已"}
    assert misspelt_in({"小题大做": 60, "小题大作": 2, "上山打虎": 0, "下山打虎": 70}) == set()  # a phrase of a dictionary, or not alike


@pytest.mark.parametrize(
    ("rare", "common"),
    [
        (("小题大作", 16), ("小题大做", 280)),  # not so rare
        (("遇难成祥", 3), ("遇难呈祥", 6)),  # as rare as the other
        (("三十余年", 3), ("二十余年", 144)),  # numbers
        (("春天来了", 3), ("冬天来了", 900)),  # of another sound and shape
        (("担误", 3), ("耽误", 697)),  # pairs of characters are too often both words
        (("一心一意", 3), ("一心一异地", 900)),
    ],
)
def test_what_is_not_taken_for_misspelt(rare: tuple[str, int], common: tuple[str, int]) -> None:
    assert misspelt(dict([rare, common])) == set()


def test_jieba_s_dictionary_has_misspelt_idioms() -> None:
    words = {word: count for word, count, _ in jieba_words() if len(word) == 4}
    found = misspelt(words)
    assert {"再接再励", "迫不急待", "兴高彩烈", "本未倒置"} <= found
    assert not found & {"再接再厉", "迫不及待", "兴高采烈", "本末倒置", "小题大作"}
    assert len(found) < len(words) / 100


NUMBERS = [("四十分钟", True), ("一九六六", True), ("一心一意", False), ("十分", False), ("十分钟", False)]


@pytest.mark.parametrize(("word", "expected"), NUMBERS)
def test_numbers_with_what_they_count_are_told_from_words(word: str, expected: bool) -> None:
    assert is_count(word) == expected


def test_the_dictionary_without_numbers_loses_few_of_its_long_words() -> None:
    long = [word for word, _, _ in jieba_words() if len(word) == 4]
    assert 0.01 < sum(map(is_count, long)) / len(long) < 0.06


def test_what_is_missing_without_jieba_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(ModelError, match=r"^jieba: not installed; .* install electra-correct\[torch\] or jieba$"):
        next(jieba_words())
