"""Which characters form words: for models that bring no marks of their own, from jieba's dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from corrector.electra.marks import Keys, MarkTables


def jieba_words() -> Iterator[tuple[str, int, str]]:
    """The words of jieba's dictionary with their frequencies and tags. Takes about a second."""
    import jieba

    with jieba.get_dict_file() as file:
        for line in file:
            word, count, tag = line.decode("utf-8").split()
            yield word, int(count), tag


def tables_from_jieba(vocabulary: Sequence[str]) -> MarkTables:
    """Word tables over a vocabulary, from the dictionary."""
    return MarkTables(len(vocabulary), word_keys((word for word, _, _ in jieba_words()), vocabulary))


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
