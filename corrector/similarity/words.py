"""Which characters form words: for models that bring no marks of their own, from jieba's dictionary."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from corrector.electra.marks import MarkTables


def tables_from_jieba(vocabulary: Sequence[str]) -> MarkTables:
    """Word and pair tables over a vocabulary, from the dictionary's words and frequencies. Takes about a second."""
    import jieba

    ids = {token: number for number, token in enumerate(vocabulary)}
    size = len(vocabulary)
    words: dict[int, dict[int, int]] = {2: {}, 3: {}, 4: {}}
    with jieba.get_dict_file() as file:
        for line in file:
            word, count, *_ = line.decode("utf-8").split(" ")
            if len(word) in words and all(char in ids for char in word):
                key = 0
                for char in word:
                    key = key * size + ids[char]
                words[len(word)][key] = int(count)
    keys = tuple(np.array(sorted(words[length]), dtype=np.uint64) for length in (2, 3, 4))
    levels = [min(7, 1 + int(2 * math.log10(words[2][int(key)] + 1))) for key in keys[0]]
    nothing = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint8)
    return MarkTables(size, keys[0], np.array(levels, dtype=np.uint8), *nothing, keys)  # type: ignore[arg-type]
