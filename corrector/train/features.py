"""What is known of every character before training: its sounds and its components.

A character's vector is its own row plus the sum of the rows of its features (syllable, initial, final, components). Same-sounding and
look-alike characters thus start out alike, on the input side and, the table being tied, on the output side: the corrective
head finds "another character of this sound" at once. The sum is folded into one plain table when a model is saved.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corrector.similarity.ids import Decomposition, Tree
from corrector.similarity.pinyin import readings
from corrector.similarity.syllables import split_syllable, split_tone

MIN_CHARACTERS = 10  # a component of fewer characters says little and costs a row
READING_WEIGHTS = (1.0, 0.5)  # of the first and the second reading


def character_features(vocabulary: tuple[str, ...], decompositions: Path | None) -> NDArray[np.float32]:
    """Weights of shape (vocabulary, features); rows of tokens without a reading and without components are zero."""
    described: list[dict[str, float]] = [{} for _ in vocabulary]
    parts = {} if decompositions is None else _components(vocabulary, decompositions)
    for features, token in zip(described, vocabulary, strict=True):
        if len(token) != 1:
            continue
        syllables = list(dict.fromkeys(split_tone(reading)[0] for reading in readings(token)))
        for syllable, weight in zip(syllables, READING_WEIGHTS, strict=False):
            initial, final = split_syllable(syllable)
            for name in (f"syllable {syllable}", f"initial {initial}", f"final {final}"):
                features[name] = max(weight, features.get(name, 0.0))
        features.update((f"component {part}", 1.0) for part in parts.get(token, ()))
    counts = Counter(name for features in described for name in features)
    columns = {name: number for number, name in enumerate(sorted(n for n, c in counts.items() if c >= MIN_CHARACTERS))}
    matrix = np.zeros((len(vocabulary), len(columns)), dtype=np.float32)
    for row, features in enumerate(described):
        for name, weight in features.items():
            if name in columns:
                matrix[row, columns[name]] = weight
    return matrix


def _components(vocabulary: tuple[str, ...], path: Path) -> dict[str, set[str]]:
    """The components of each character two levels deep, and the character itself (晴 → 晴, 日, 青)."""
    decomposition = Decomposition.read(path)
    found: dict[str, set[str]] = {}
    for token in vocabulary:
        if len(token) == 1 and readings(token):
            tree = decomposition.tree(token)
            nodes = [tree] if isinstance(tree, str) else list(tree[1:])
            names = {_name(node) for node in nodes}
            names |= {_name(part) for node in nodes if not isinstance(node, str) for part in node[1:]}
            found[token] = names | {token}
    return found


def _name(node: Tree) -> str:
    return node if isinstance(node, str) else "".join(map(_name, node))
