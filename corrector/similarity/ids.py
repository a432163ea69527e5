"""Ideographic description sequences: what a character is made of, as weighted features. Used to build the glyph table only.

The source is an ``ids.txt`` of lines ``character<TAB>IDS(sources);IDS(sources)…<TAB>alternatives``; the first sequence of
the second column counts. ``⿰日青`` says: 日 to the left of 青.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Union

Tree = Union[str, tuple["Tree", ...]]  # noqa: UP007  (a | needs Python 3.12 to refer to itself)
"""A component, or an operator followed by its parts."""

_ARITY = dict.fromkeys("⿰⿱⿴⿵⿶⿷⿸⿹⿺⿻⿼⿽", 2) | {"⿲": 3, "⿳": 3, "〾": 1, "⿾": 1, "⿿": 1}
_MAX_DEPTH = 8
# A component in its place (left, bottom, …) counts this much on top of its being there at all.
_PLACE_WEIGHT = 0.7


def parse_sequence(text: str) -> Tree:
    """``⿰日青(.,T)`` → (``⿰``, ``日``, ``青``). Remarks in (), {} and [] go; ``#(…)``, a list of strokes, is one leaf.

    Raises ValueError when the sequence ends early.
    """
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|(?<!#)\([^()]*\)$", "", text)
    symbols = re.findall(r"#\([^)]*\)|.", bare)
    tree, used = _parse(symbols, 0)
    return tree if used else text


def _parse(symbols: list[str], at: int) -> tuple[Tree, int]:
    if at >= len(symbols):
        raise ValueError(f"sequence ends early: {''.join(symbols)!r}")
    symbol, at = symbols[at], at + 1
    if symbol not in _ARITY:
        return symbol, at
    parts: list[Tree] = [symbol]
    for _ in range(_ARITY[symbol]):
        part, at = _parse(symbols, at)
        parts.append(part)
    return tuple(parts), at


class Decomposition:
    """The sequences of one file, and the features of characters by them."""

    def __init__(self, sequences: dict[str, str]) -> None:
        self._sequences = sequences
        self.tree = lru_cache(maxsize=None)(self._tree)
        self.strokes = lru_cache(maxsize=None)(self._strokes)

    @classmethod
    def read(cls, path: Path) -> Decomposition:
        """Read an ``ids.txt``."""
        rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
        return cls({row[0]: row[1].split(";")[0] for row in rows if len(row) > 1})

    def _tree(self, character: str) -> Tree:
        sequence = self._sequences.get(character, "#")
        if sequence.startswith("#"):
            return character
        try:
            return parse_sequence(sequence)
        except ValueError:
            return character

    def _strokes(self, part: Tree, depth: int = 0) -> int:
        """About how many strokes: the leaves of the fully opened tree."""
        if isinstance(part, tuple):
            return sum(self.strokes(child, depth + 1) for child in part[1:])
        listed = part if part.startswith("#") else self._sequences.get(part, "")
        if listed.startswith("#"):
            return listed.count("-") + 1
        tree = self.tree(part)
        return 1 if tree == part or depth > _MAX_DEPTH else self.strokes(tree, depth + 1)

    def features(self, character: str) -> dict[str, float]:
        """Every component at every depth, itself included, weighted by √strokes; those of the first level also by place."""
        found: defaultdict[str, float] = defaultdict(float)

        def walk(part: Tree, place: str, depth: int) -> None:
            if isinstance(part, str):
                weight = math.sqrt(self.strokes(part))
                found[part] += weight
                if depth <= 1:
                    found[f"{part} {place}"] += _PLACE_WEIGHT * weight
            opened = self.tree(part) if isinstance(part, str) else part
            if isinstance(opened, tuple) and depth < _MAX_DEPTH:
                for i, child in enumerate(opened[1:]):
                    walk(child, f"{opened[0]}{i}", depth + 1)

        walk(character, "", 0)
        return dict(found)
