"""Builds ``names.npz`` from jieba's dictionary: which characters make up personal names, and which words compete with them.

    python -m corrector.similarity.build_names

All values are ratios to the probability of the same characters one by one in ordinary text, as logarithms in steps of
1/`STEPS_PER_NAT`: ``surnames``, ``compounds`` and ``surname_steps`` of both; ``given_gaps`` (the characters of given names, each less the
one before), ``first_steps`` (as the first of two) and ``last_steps``; ``foreign`` (the characters of transliterations) and
``foreign_steps``; ``words2``, ``words3`` and ``word_steps`` of both. Texts are character codes, a column a text.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain
from math import exp
from pathlib import Path
from typing import Any

from corrector.similarity.name_mixture import (
    COMPOUND_SURNAMES,
    NAME_TAGS,
    SURNAMES,
    Entry,
    Mixture,
    Ordinary,
    Ratio,
)
from corrector.similarity.names import ONE_GIVEN, STEPS_PER_NAT, TABLE_PATH, TWO_GIVEN
from corrector.similarity.pinyin import common_characters
from corrector.similarity.words import jieba_words

# What is tagged as a name and ends so is a place, a thing or a title; and these words are no names.
_THING_ENDS = "岩周塔庄桥河山岛花赛证江楼市县湖石省区州镇村关港湾城路街寺庙殿宫阁厂站车船炮素物性者家权"
_NOT_NAMES = (
    "王爷", "王公", "王子", "王后", "王妃", "王宫", "王侯", "王族", "王权", "王道", "王法", "王冠", "王爵", "王储", "王座", "孙子", "孙儿",
    "李子", "杨树", "胡人", "胡言", "胡来", "陈旧", "陈年", "陈规", "陈词", "雷阵雨", "黎巴嫩", "夏威夷",
)  # fmt: skip

_NAME_SHARE = 0.3  # from this share on, an entry of the dictionary is a name and not a word that competes with names
_SURE_SURNAME, _KNOWN_NAME = exp(4.5), 0.1  # after such a surname, names of two characters are words this much rarer than counted
_COUNT, _LIKELIEST = 40, 3.0  # a word is held if its count times its rival, taken for no likelier than that, is this much
_GAIN, _GAIN_OF_THREE = exp(1.0), exp(2.0)  # and if it is so much likelier than its characters, or than the word of two in it
_ALONG = 0.1  # a name that only borders on the word is a rival of this weight
_USUAL_SURNAME, _USUAL_FIRST, _USUAL_LAST = 30.0, 3.0, 5.0  # ratios of what goes on outside of the word
_LETTER = 1e-4  # least probability of a character in transliterations


class Ratios:
    """The ratio to ordinary text of a character as a surname, as the first and last of a given name, as one of a transliteration."""

    def __init__(self, mixture: Mixture, ordinary: Ordinary) -> None:
        def ratio(probability: Ratio) -> Ratio:
            return lambda character: probability(character) / ordinary.single(character)

        self.surname, self.first, self.last = ratio(mixture.surname), ratio(mixture.first), ratio(mixture.last)
        self.letter = ratio(mixture.letter)

    def rival(self, word: str) -> float:
        """How likely the likeliest name is that the word competes with."""
        before = _ALONG * _USUAL_SURNAME * TWO_GIVEN
        names = [before * _USUAL_FIRST * self.last(word[0]), before * self.first(word[0]) * self.last(word[1])]
        for at, surname in enumerate(word):
            rest = word[at + 1 :]
            if surname not in SURNAMES:
                continue
            if rest:
                last = self.last(rest[1]) if len(rest) > 1 else _USUAL_LAST
                given = max(ONE_GIVEN * self.last(rest[0]), TWO_GIVEN * self.first(rest[0]) * last)
            else:
                given = _ALONG * TWO_GIVEN * _USUAL_FIRST * _USUAL_LAST
            names.append(self.surname(surname) * given)
        return max(names)


def competing_words(entries: Iterable[Entry], ordinary: Ordinary, mixture: Mixture, ratios: Ratios) -> dict[str, float]:
    """Words of two and three characters that are not names, and how much likelier than their characters; of four, their halves."""
    counts, common = defaultdict[str, float](float), set(common_characters())
    for word, count, tag in entries:
        share = 1.0
        if tag in NAME_TAGS and word not in _NOT_NAMES:
            if word[:2] in COMPOUND_SURNAMES or (word[-1] not in _THING_ENDS and mixture.names.get(word, 0) > _NAME_SHARE):
                continue
            if len(word) == 2 and word[0] in SURNAMES and ratios.surname(word[0]) > _SURE_SURNAME:
                share = _KNOWN_NAME
        for part in (word[:2], word[2:]) if len(word) == 4 else (word,) if len(word) in (2, 3) else ():
            if common.issuperset(part):
                counts[part] += share * count
    held = {word: ordinary.gain(word, n) for word, n in counts.items() if n * min(ratios.rival(word), _LIKELIEST) >= _COUNT}
    two = {word: gain for word, gain in held.items() if len(word) == 2 and gain > _GAIN}
    return two | {
        word: gain
        for word, gain in held.items()
        if len(word) == 3 and gain > _GAIN_OF_THREE * max(1.0, two.get(word[:2], 0.0), two.get(word[1:], 0.0))
    }


def build(path: Path = TABLE_PATH) -> int:
    """Write the table; returns the number of words that compete with names."""
    import numpy as np

    def steps(values: Iterable[float]) -> Any:
        return np.clip(np.rint(np.log(list(values)) * STEPS_PER_NAT), -128, 127).astype(np.int8)

    def codes(texts: Iterable[str]) -> Any:
        # By columns, and characters as differences, because that compresses better.
        return np.array([[ord(character) for character in text] for text in texts], dtype=np.uint16).T.copy()

    entries = list(jieba_words())
    ordinary = Ordinary(entries)
    mixture = Mixture(entries, ordinary)
    ratios = Ratios(mixture, ordinary)
    words = competing_words(entries, ordinary, mixture, ratios)
    two, three = (sorted(word for word in words if len(word) == length) for length in (2, 3))
    surnames = [c for c in SURNAMES if ratios.surname(c) > 1]
    families = Counter(word[:2] for word, _, tag in entries if tag in NAME_TAGS and 3 <= len(word) <= 4)
    compounds = [ordinary.gain(c, (families[c] + 0.5) / len(mixture.names) * ordinary.total) for c in COMPOUND_SURNAMES]
    given = sorted(common_characters())
    foreign = [c for c in given if ratios.letter(c) > 1 and mixture.letter(c) > _LETTER]
    np.savez_compressed(
        path,
        surnames=codes(surnames),
        compounds=codes(COMPOUND_SURNAMES),
        surname_steps=steps([*map(ratios.surname, surnames), *compounds]),
        given_gaps=np.diff(codes(given)[0], prepend=np.uint16(0)),
        first_steps=steps(map(ratios.first, given)),
        last_steps=steps(map(ratios.last, given)),
        foreign=codes(foreign),
        foreign_steps=steps(map(ratios.letter, foreign)),
        words2=codes(two),
        words3=codes(three),
        word_steps=steps(words[word] for word in chain(two, three)),
    )
    return len(words)


if __name__ == "__main__":
    sys.stdout.write(f"{build()} competing words, {TABLE_PATH.stat().st_size} bytes\n")
