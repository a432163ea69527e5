"""The edits considered for groups of neighbouring suspicions, with the features that the ranker weighs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from corrector.edit_features import ALIKE, FEATURES, LONGEST, SAME_SOUND, features_of
from corrector.types import Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corrector.electra.runtime import Encoding, Floats
    from corrector.propose import Characters

PAIR_CHOICES, TRIPLE_CHOICES, WORD_CHOICES, WORD_OPTIONS = 5, 3, 4, 30
NEAR_SOUND = 0.5
_SOUND, _SHAPE, _CHANGED = (FEATURES.index(name) for name in ("pinyin_similarity", "glyph_similarity", "changed"))


@dataclass(frozen=True)
class Proposal:
    """What is known about one suspicious character: its place in the window and among the tokens, the discriminator's logit, the level of
    its mark, how likely it is in a personal name (0..1), the generator's view of it in its place and, if the ranker wants it, masked, its
    candidates' ids, likeliest first, and, if it is part of a well-known misspelling, the id that is meant and the evidence for it
    (``similarity.misspellings``)."""

    index: int
    token: int
    logit: float
    level: int
    in_name: float
    visible: Floats  # (vocabulary,)
    candidates: Sequence[int]
    masked: Floats | None = None
    meant: tuple[int, int] = (0, 0)


Group = tuple["Encoding", Sequence[Proposal]]
"""Neighbouring suspicions and the window they are in."""


class Change(NamedTuple):
    """New ids for neighbouring members of a group, from the one with this number on."""

    first: int
    ids: tuple[int, ...]

    @property
    def end(self) -> int:
        """The number of the member after the last one changed."""
        return self.first + len(self.ids)


@dataclass(frozen=True)
class Edit:
    """A possible change of neighbouring characters, the first at ``index`` of the window; ``features`` follow ``FEATURES``."""

    index: int
    original: str
    replacement: str
    features: Floats

    @property
    def pinyin_similarity(self) -> float:
        """The mean over the changed characters, as is ``glyph_similarity``; the features count a doubled one once."""
        return round(float(self.features[_SOUND]) / float(self.features[_CHANGED]), 4)

    @property
    def glyph_similarity(self) -> float:
        return round(float(self.features[_SHAPE]) / float(self.features[_CHANGED]), 4)


@dataclass(frozen=True, eq=False)
class Edits(Sequence[Edit]):
    """The edits of one group; an ``Edit`` is only made of one that is asked for. ``features`` has shape (edits, FEATURES)."""

    start: int  # of the group in the window
    token: int
    original: str
    changes: tuple[Change, ...]
    features: Floats
    vocabulary: Sequence[str]

    def __len__(self) -> int:
        return len(self.changes)

    @overload
    def __getitem__(self, number: int) -> Edit: ...

    @overload
    def __getitem__(self, number: slice) -> list[Edit]: ...

    def __getitem__(self, number: int | slice) -> Edit | list[Edit]:
        if isinstance(number, slice):
            return [self[i] for i in range(len(self))[number]]
        first, ids = change = self.changes[number]
        new = "".join([self.vocabulary[i] for i in ids])
        return Edit(self.start + first, self.original[first : change.end], new, self.features[number])

    def same_place(self, number: int) -> Iterator[int]:
        """The other edits that change exactly the characters that this one changes, in order."""
        first, ids = self.changes[number]
        size = len(ids)
        return (n for n, (begin, other) in enumerate(self.changes) if begin == first and len(other) == size and n != number)

    def ordered(self, order: NDArray[np.int64]) -> Edits:
        """The same edits in another order."""
        changes = tuple([self.changes[number] for number in order.tolist()])
        return Edits(self.start, self.token, self.original, changes, self.features[order], self.vocabulary)


def group(proposals: Sequence[Proposal], longest: int = LONGEST) -> list[tuple[Proposal, ...]]:
    """Neighbouring proposals put together, at most ``longest`` in a group."""
    groups: list[list[Proposal]] = []
    for proposal in proposals:
        last = groups[-1][-1] if groups else None
        follows = last is not None and (last.index + 1, last.token + 1) == (proposal.index, proposal.token)
        if follows and len(groups[-1]) < longest:
            groups[-1].append(proposal)
        else:
            groups.append([proposal])
    return [tuple(members) for members in groups]


def edits_of(groups: Sequence[Group], characters: Characters) -> list[Edits]:
    """All edits considered for each group, with their features; none where there are no candidates."""
    changes = [_changes(item, characters) for item in groups]
    features = features_of(groups, changes, characters)
    ends = accumulate(map(len, changes))
    return [
        _edits(item, own, features[end - len(own) : end], characters)
        for item, own, end in zip(groups, changes, ends, strict=True)
    ]


def _edits(item: Group, changes: Sequence[Change], features: Floats, characters: Characters) -> Edits:
    encoding, members = item
    original = "".join([characters.vocabulary[int(encoding.ids[member.token])] for member in members])
    return Edits(members[0].index, members[0].token, original, tuple(changes), features, characters.vocabulary)


def _changes(item: Group, characters: Characters) -> list[Change]:
    """Single candidates; of neighbours the likeliest together, words of similar characters, and where they are alike each candidate twice;
    each once."""
    encoding, members = item
    choices = [member.candidates for member in members]
    found = dict.fromkeys(Change(first, (option,)) for first, options in enumerate(choices) for option in options)
    for first in range(len(members) - 1):
        pairs = product(choices[first][:PAIR_CHOICES], choices[first + 1][:PAIR_CHOICES])
        found.update((Change(first, pair), None) for pair in pairs)
        left, right = (int(encoding.ids[member.token]) for member in members[first : first + 2])
        found.update((Change(first, word), None) for word in similar_words(left, right, characters))
        if left == right:
            found.update((Change(first, (option, option)), None) for option in choices[first] if option in choices[first + 1])
    if len(members) == LONGEST:
        found.update((Change(0, triple), None) for triple in product(*(options[:TRIPLE_CHOICES] for options in choices)))
    return list(found)


def similar_words(left: int, right: int, characters: Characters) -> list[tuple[int, int]]:
    """Dictionary words of two characters, both different from these but similar to them, the most frequent first."""
    options = [characters.similar(character)[:WORD_OPTIONS] for character in (left, right)]
    if not all(map(len, options)):
        return []
    tables = characters.tables
    first, second = (grid.ravel() for grid in np.meshgrid(*options, indexing="ij"))
    is_word = tables.is_word(first, second)
    first, second = first[is_word], second[is_word]
    steps = np.zeros(len(first)) if tables.ngrams is None else tables.ngrams.pair_step(first, second).astype(np.int64)
    best = np.argsort(-steps, kind="stable")[:WORD_CHOICES]
    return [(int(first[i]), int(second[i])) for i in best]


def reason_of(edit: Edit) -> Reason:
    """同音, 近音, 形近, 词 or context: the strongest evidence for an edit."""
    if edit.pinyin_similarity >= SAME_SOUND:
        return "same_sound"
    if edit.glyph_similarity >= ALIKE and edit.glyph_similarity > edit.pinyin_similarity:
        return "shape"
    if edit.pinyin_similarity >= NEAR_SOUND:
        return "near_sound"
    if edit.glyph_similarity >= ALIKE:
        return "shape"
    if edit.features[FEATURES.index("word_gain")] > 0 or edit.features[FEATURES.index("long_word_gain")] > 0:
        return "word"
    return "context"
