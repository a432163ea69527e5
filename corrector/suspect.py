"""Suspicion: which of the characters that the discriminator flags are worth proposals, now that the generator has seen them too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from corrector.edits import Proposal, group
from corrector.similarity.names import name_scores

if TYPE_CHECKING:
    from corrector.electra.runtime import Encoding, Floats, Ints
    from corrector.propose import Characters
    from corrector.rank import Ranker
    from corrector.types import Sentence

_NOTHING: Floats = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True)
class Look:
    """The characters of one window that the discriminator flags: their places in it and among its tokens, its logits for them, the levels
    of their marks, the generator's log-probabilities (characters, vocabulary), and those of the likeliest other Han character
    (characters,)."""

    window: int
    indexes: list[int]
    tokens: list[int]
    logits: Floats
    levels: Ints
    visible: Floats
    best_others: Floats


def suspected(
    windows: Sequence[Sentence], encodings: Sequence[Encoding], looks: Sequence[Look], characters: Characters, ranker: Ranker
) -> list[tuple[int, tuple[Proposal, ...]]]:
    """Groups of suspicions, (window, members): what both networks find likely enough to be wrong, or what alone keeps three others from
    being a word with it, or is well known to be misspelt. Their only candidates yet are ``Characters.completions``."""
    groups: list[tuple[int, tuple[Proposal, ...]]] = []
    completions = iter(characters.completions([(encodings[look.window], token) for look in looks for token in look.tokens]))
    for look in looks:
        completing = list(islice(completions, len(look.tokens)))
        meant = characters.meant(encodings[look.window])
        suspicious = ranker.is_suspicious(look.logits, look.best_others, look.levels)
        kept = np.flatnonzero(np.array([len(ids) > 0 for ids in completing]) | suspicious).tolist()
        names = name_scores(windows[look.window].text, [look.indexes[i] for i in kept]) if kept else _NOTHING
        members = []
        for i in kept:
            index, token, logit, level = look.indexes[i], look.tokens[i], float(look.logits[i]), int(look.levels[i])
            known = meant.get(token, (0, 0))
            members.append(Proposal(index, token, logit, level, float(names[index]), look.visible[i], completing[i], meant=known))
        groups += [(look.window, grouped) for grouped in group(members)]
    return groups


def best_others(views: Floats, present: Ints, characters: Characters) -> Floats:
    """The log-probability of the likeliest Han character that is not ``present`` (rows,), of views (rows, vocabulary)."""
    others = characters.of_replaceable(views)
    others[np.arange(len(others)), present] = -np.inf
    best: Floats = others.max(1)
    return best
