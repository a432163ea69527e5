"""Windows read a second time with other characters in them: which changes share a reading, and the marks that they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from corrector.electra.runtime import Encoding
from corrector.electra.tokenizer import Tokenizer

APART = 2  # changes so many tokens from one another share a reading


def together(places: Sequence[tuple[int, int, int]]) -> list[list[int]]:
    """Places (window, first token, last token) as readings of one window each, in which there are ``APART`` tokens between any two.

    Gives their numbers. Windows are in order, and the places in each.
    """
    readings: list[list[int]] = []
    open_ones: list[list[int]] = []  # of the window at hand
    for number, (window, first, _) in enumerate(places):
        if open_ones and places[open_ones[0][0]][0] != window:
            open_ones = []
        for reading in open_ones:
            if first - places[reading[-1]][2] > APART:
                reading.append(number)
                break
        else:
            open_ones.append([number])
            readings.append(open_ones[-1])
    return readings


def rewritten(changes: Sequence[tuple[Encoding, Mapping[int, int]]], tokenizer: Tokenizer, longest: int) -> list[Encoding]:
    """Each encoding, of at most ``longest`` tokens, with other ids at some of them, and with the types that belong to these.

    Types of the project's own marks are found again only as far as the change reaches, but for what it does to associations of words
    farther away.
    """
    tables = tokenizer.tables
    reach, context = (longest, longest) if tables is None else (tables.reach, tables.context)
    result, nearby, affected = [], [], []
    for encoding, new in changes:
        ids = encoding.ids.copy()
        ids[list(new)] = list(new.values())
        near = slice(max(0, min(new) - reach - context), max(new) + 1 + reach + context)
        types = encoding.types.copy()
        result.append((Encoding(ids, types, encoding.token_of, encoding.is_whole), types[near]))
        nearby.append(ids[near])
        affected.append(np.zeros(len(nearby[-1]), dtype=np.bool_))
        for token in new:
            affected[-1][max(0, token - near.start - reach) : token - near.start + reach + 1] = True
    for (_, types), found, where in zip(result, tokenizer.token_types_many(nearby, affected), affected, strict=True):
        types[where] = found[where]
    return [encoding for encoding, _ in result]

