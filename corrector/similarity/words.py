"""Which characters form words: for models that bring no marks of their own, from jieba's dictionary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corrector.electra.marks import MarkTables


def tables_from_jieba(vocabulary: Sequence[str]) -> MarkTables:
    """Word tables over a vocabulary, from the dictionary. Takes about a second."""
    import jieba

    ids = {token: number for number, token in enumerate(vocabulary)}
    size = len(vocabulary)
    words: dict[int, list[int]] = {2: [], 3: [], 4: []}
    with jieba.get_dict_file() as file:
        for line in file:
            word = line.decode("utf-8").split(" ")[0]
            if len(word) in words and all(char in ids for char in word):
                key = 0
                for char in word:
                    key = key * size + ids[char]
                words[len(word)].append(key)
    keys = tuple(np.unique(np.array(words[length], dtype=np.uint64)) for length in (2, 3, 4))
    return MarkTables(size, keys)  # type: ignore[arg-type]
