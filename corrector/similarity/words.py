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
ALIKE = (0.9, 0.7)  # similarity in sound or in shape of what is mistaken for the other
UNHEARD, ALIKE_TOO = 2, (0.75, 0.6)  # instead of RARE and ALIKE, where words are counted in a corpus of 160 M characters
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


def misspelt(words: Mapping[str, int], rare: int = RARE, alike: tuple[float, float] = ALIKE) -> set[str]:
    """The words of three and four characters, of these with their frequencies, that are likely misspellings of a far commoner one: they
    occur at most ``rare`` times, and differ from it in a character ``alike`` in sound or in shape, wherever it stands in them
    (名列前矛, 再接再励).

    A dictionary compiled from text has hundreds of them; to count them as words would be to say that they are right.
    """
    families = defaultdict(list)  # by a word without one of its characters: who else has another there
    for word in words:
        if len(word) in (3, 4):
            for char in set(word):
                families[word.replace(char, " ")].append((char, word))
    found = set()
    for family in families.values():
        for char, word in family:
            commoner = (other for other, name in family if max(1, words[word]) * TIMES_RARER <= words[name])
            if words[word] <= rare and any(_alike(char, other, alike) for other in commoner):
                found.add(word)
    return found


def misspelt_in(occurrences: Mapping[str, int]) -> set[str]:
    """The words of four characters that are likely misspellings by how often they occur in a corpus, and in no dictionary of phrases: what
    the dictionary itself takes for as common as the right one, or what looks less like it (墨守陈规, 严于律已, 鬼鬼崇崇)."""
    from pypinyin.phrases_dict import phrases_dict

    long = {word: count for word, count in occurrences.items() if len(word) == 4}
    return {word for word in misspelt(long, UNHEARD, ALIKE_TOO) if word not in phrases_dict}


def _alike(a: str, b: str, least: tuple[float, float]) -> bool:
    sound, shape = least
    return not {a, b} & _NUMERALS and (pinyin_similarity(a, b) >= sound or glyph_similarity(a, b) >= shape)


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
