"""Check: what the discriminator makes of the best edits of a window once they stand in it, and what the rest of the window says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corrector.edit_features import LONGEST
from corrector.electra.marks import PLAIN_MARKS, levels_of
from corrector.propose import around
from corrector.surroundings import surroundings

if TYPE_CHECKING:
    from corrector.edits import Edits
    from corrector.electra.runtime import Encoding, Floats, Ints
    from corrector.propose import Characters

WORDS_AROUND = 5  # characters on either side that the word model reads; with 10 it says the same
_MOST_REMOVED, _WIDEST_MARGIN = 15.0, 10.0
_NO_NEIGHBOUR = -8.0  # the logit of what is beyond the window: no suspicion


class Seen(NamedTuple):
    """A window as the discriminator saw it: token types and logits, (tokens,) each."""

    types: Ints
    logits: Floats


@dataclass(frozen=True)
class Ranked:
    """The edits of one group of a window, the best first, with the ranker's scores and its belief in each."""

    window: int
    edits: Edits
    scores: Floats
    shares: Floats

    @property
    def place(self) -> range:
        """The tokens that the best edit changes."""
        change = self.edits.changes[0]
        return range(self.edits.token + change.first, self.edits.token + change.end)

    @property
    def belief(self) -> float:
        """How surely something is wrong there: the belief in all of its edits together."""
        return float(self.shares.sum())

    @property
    def new_ids(self) -> dict[int, int]:
        """Token → id: the best edit."""
        return dict(zip(self.place, self.edits.changes[0].ids, strict=True))


def check_features(
    text: str, tried: Sequence[Ranked], gains: Sequence[float], company: Sequence[float], before: Seen, after: Seen
) -> Floats:
    """What the check knows of each group's best edit: (groups, CHECK_FEATURES).

    The groups are of one window with this text, in order, with their ``word_model_gains`` and ``companies``: ``before`` as it is and
    ``after`` with all these edits in it. An edit removes the suspicion of the tokens that are nearest to it.
    """
    places = [group.place for group in tried]
    removed = nearest_sums(suspicions(before.logits) - suspicions(after.logits), places)
    logits = before.logits.tolist(), after.logits.tolist()
    rows = []
    for group, place, less, gain, other in zip(tried, places, removed, gains, company, strict=True):
        removed_here = min(max(less, -_MOST_REMOVED), _MOST_REMOVED)
        best, second = (*group.scores[:2].tolist(), -_WIDEST_MARGIN)[:2]
        margin = min(max(best - second, -_WIDEST_MARGIN), _WIDEST_MARGIN)
        now = max(logits[1][place.start : place.stop])
        level = max(levels_of(after.types[place.start : place.stop]).tolist())
        beside = [logit for seen in logits for logit in logits_beside(seen, place)]
        named = [any(types[place.start : place.stop] >= PLAIN_MARKS) for types in (before.types, after.types)]  # rank.ALTERNATIVES
        edit = group.edits[0]
        nearby = surroundings(text, edit.index, edit.replacement)
        rows.append((1.0, best, now, removed_here, margin, gain, level, other, *beside, *named, *nearby, *edit.features.tolist()))
    return np.array(rows, dtype=np.float32)


def companies(tried: Sequence[Ranked]) -> list[float]:
    """How surely something else is wrong in each group's window: the ranker's belief that the surest of the other groups is: (groups,).

    Next to a sure slip a doubtful place often is nothing but its shadow. Once the slip is mended the next round sees that place alone.
    """
    by_window: dict[int, list[Ranked]] = {}
    for group in tried:
        by_window.setdefault(group.window, []).append(group)
    return [max((other.belief for other in by_window[group.window] if other is not group), default=0.0) for group in tried]


def word_model_gains(tried: Sequence[tuple[Encoding, Ranked]], characters: Characters) -> list[float]:
    """By how much each group's best edit makes its window, as far as ``WORDS_AROUND``, likelier as a row of words, in nats: (groups,)."""
    if not tried:
        return []
    before = around([(encoding, one.place.start) for encoding, one in tried], WORDS_AROUND, LONGEST - 1 + WORDS_AROUND)
    after = before.copy()
    for row, (_, one) in zip(after, tried, strict=True):
        ids = one.edits.changes[0].ids
        row[WORDS_AROUND : WORDS_AROUND + len(ids)] = ids
    scores = characters.word_score(np.concatenate([before, after]))
    gains: list[float] = (scores[len(before) :] - scores[: len(before)]).tolist()
    return gains


def logits_beside(logits: Sequence[float], place: range) -> list[float]:
    """The logits of the two tokens on either side of a place, of those of a window with its [CLS] and [SEP]."""
    tokens = (place.start - 2, place.start - 1, place.stop, place.stop + 1)
    return [logits[token] if 0 < token < len(logits) - 1 else _NO_NEIGHBOUR for token in tokens]


def nearest_sums(values: Floats, places: Sequence[range]) -> list[float]:
    """The sum of ``values`` (tokens,) over the tokens nearer to each of ``places``, in order, than to the others."""
    middles = [(left.stop - 1 + right.start) // 2 + 1 for left, right in pairwise(places)]
    return [float(values[start:end].sum()) for start, end in pairwise([0, *middles, len(values)])]


def suspicions(logits: Floats) -> Floats:
    """-ln of the discriminator's probability that a token was not replaced, for each: (tokens,)."""
    found: Floats = np.logaddexp(0, logits)
    return found
