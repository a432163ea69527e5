"""Which characters form words, from jieba's dictionary, and which of its words are misspelt ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from corrector.electra.marks import MarkTables
from corrector.electra.word_set import Keys
from corrector.errors import ModelError
from corrector.similarity.glyph import glyph_similarity
from corrector.similarity.pinyin import pinyin_similarity

RARE, TIMES_RARER = 10, 8  # how often a misspelt word occurs at most, and how much rarer than the right one
SOUNDS_ALIKE, LOOKS_ALIKE = 0.9, 0.7
_NUMERALS = frozenset("〇零一二两三四五六七八九十百千万亿几数")  # 三十年 is no misspelt 二十年


def jieba_words() -> Iterator[tuple[str, int, str]]:
    """The words of jieba's dictionary with their frequencies and tags. Takes about a second. Raises ModelError without jieba."""
    try:
        import jieba
    except ImportError as error:
        message = "not installed; a model without words of its own takes those of its dictionary; install electra-correct[torch] or jieba"
        raise ModelError("jieba", message) from error

    with jieba.get_dict_file() as file:
        for line in file:
            word, count, tag = line.decode("utf-8").split()
            yield word, int(count), tag


def misspelt(words: Mapping[str, int]) -> set[str]:
    """The words of three and four characters, of these with their frequencies, that are likely misspellings of a far commoner one:
    of as many characters, all but one of them the same, that one alike in sound or shape (名列前矛, 再接再励).

    A dictionary compiled from text has hundreds of them; to count them as words would be to say that they are right.
    """
    alike = defaultdict(list)
    for word in words:
        if len(word) in (3, 4):
            for place in range(len(word)):
                alike[place, word[:place], word[place + 1 :]].append(word)
    found = set()
    for (place, _, _), family in alike.items():
        for word in family:
            commoner = (other[place] for other in family if words[word] * TIMES_RARER <= words[other])
            if words[word] <= RARE and any(_alike(word[place], other) for other in commoner):
                found.add(word)
    return found


def _alike(a: str, b: str) -> bool:
    if a in _NUMERALS or b in _NUMERALS:
        return False
    return pinyin_similarity(a, b) >= SOUNDS_ALIKE or glyph_similarity(a, b) >= LOOKS_ALIKE


def is_count(word: str) -> bool:
    """Whether a word of four characters is a number with what it counts, 四十分钟 or 一九六六, of which the dictionary has two thousand.

    Any number may stand there, so that one of them is a word says nothing; 三三两两 and the like are not missed much.
    """
    return len(word) == 4 and word[0] in _NUMERALS and word[1] in _NUMERALS


def tables_from_jieba(vocabulary: Sequence[str]) -> MarkTables:
    """Word tables over a vocabulary, from the dictionary."""
    return MarkTables(len(vocabulary), word_keys((word for word, _, _ in jieba_words() if not is_count(word)), vocabulary))


def word_keys(words: Iterable[str], vocabulary: Sequence[str]) -> tuple[Keys, Keys, Keys]:
    """Sorted keys of the words of two, three and four characters that the vocabulary can write."""
    size, ids = len(vocabulary), {token: number for number, token in enumerate(vocabulary)}
    keys: dict[int, list[int]] = {2: [], 3: [], 4: []}
    for word in words:
        if len(word) in keys and all(char in ids for char in word):
            key = 0
            for char in word:
                key = key * size + ids[char]
            keys[len(word)].append(key)
    two, three, four = (np.unique(np.array(keys[length], dtype=np.uint64)) for length in (2, 3, 4))
    return two, three, four
