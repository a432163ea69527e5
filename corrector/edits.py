"""The edits considered for groups of neighbouring suspicions, with the features that the ranker weighs.

Everything is computed for all groups together: a sentence has a few dozen edits, and one array operation over thousands of them
costs little more than over one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise, product
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from corrector.electra.static_map import LARGEST_VALUE
from corrector.propose import around
from corrector.types import Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corrector.electra.runtime import Encoding, Floats
    from corrector.propose import Characters

FEATURES = (
    "changed", "detection", "visible_log_odds", "masked_log_odds", "visible_log_probability", "masked_log_probability",
    "pinyin_similarity", "glyph_similarity", "same_sound", "dissimilar", "in_name", "ngram_gain",
    "known_before", "known_after", "commoner", "word_gain", "long_word_gain", "completed", "together",
)  # fmt: skip

LONGEST = 3  # neighbours changed together
PAIR_CHOICES, TRIPLE_CHOICES, WORD_CHOICES, WORD_OPTIONS = 5, 3, 4, 30
SAME_SOUND, NEAR_SOUND, ALIKE = 0.9, 0.5, 0.45
_LOG_ODDS_LIMIT = 15.0
_SOUND, _SHAPE = FEATURES.index("pinyin_similarity"), FEATURES.index("glyph_similarity")
_SUMMED = FEATURES.index("ngram_gain")  # so many features are sums over the changed characters
_NO_FEATURES: Floats = np.zeros((0, len(FEATURES)), dtype=np.float32)
_CONTEXT = 3  # characters around a group whose pairs, triples and words an edit can change


@dataclass(frozen=True)
class Proposal:
    """What is known about one suspicious character: its place in the window and among the tokens, the discriminator's logit,
    how likely it is in a personal name (0..1), both views of the generator, and its candidates' ids, likeliest first."""

    index: int
    token: int
    logit: float
    in_name: float
    visible: Floats  # (vocabulary,)
    masked: Floats
    candidates: Sequence[int]


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
    pinyin_similarity: float
    glyph_similarity: float


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
        (first, ids), features = self.changes[number], self.features[number]
        size = len(ids)
        return Edit(
            self.start + first, self.original[first : first + size], "".join([self.vocabulary[i] for i in ids]), features,
            round(float(features[_SOUND]) / size, 4), round(float(features[_SHAPE]) / size, 4),
        )  # fmt: skip

    def same_place(self, number: int) -> list[int]:
        """The other edits that change exactly the characters that this one changes."""
        first, ids = self.changes[number]
        place = first, len(ids)
        return [n for n, other in enumerate(self.changes) if (other.first, len(other.ids)) == place and n != number]

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
    table = _table(changes)
    features = np.column_stack([_sums(groups, table, characters), _gains(groups, table, characters)]) if len(table.owner) else _NO_FEATURES
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
    """Single candidates; of neighbours the likeliest together, and words of similar characters; each once."""
    encoding, members = item
    choices = [member.candidates for member in members]
    found = dict.fromkeys(Change(first, (option,)) for first, options in enumerate(choices) for option in options)
    for first in range(len(members) - 1):
        pairs = product(choices[first][:PAIR_CHOICES], choices[first + 1][:PAIR_CHOICES])
        found.update((Change(first, pair), None) for pair in pairs)
        left, right = (int(encoding.ids[member.token]) for member in members[first : first + 2])
        found.update((Change(first, word), None) for word in similar_words(left, right, characters))
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


class _Table(NamedTuple):
    """The changes of all groups as arrays: the group of each, the number of the first member changed (edits,), which of the up to
    ``LONGEST`` members from there on are changed, and their new ids, 0 for the others (edits, LONGEST)."""

    owner: NDArray[np.int64]
    first: NDArray[np.int64]
    used: NDArray[np.bool_]
    ids: NDArray[np.int64]


def _table(changes: Sequence[Sequence[Change]]) -> _Table:
    flat = list(chain.from_iterable(changes))
    owner = np.repeat(np.arange(len(changes)), [len(own) for own in changes])
    first = np.array([first for first, _ in flat], dtype=np.int64)
    used = np.arange(LONGEST) < np.array([len(ids) for _, ids in flat], dtype=np.int64)[:, None]
    ids = np.zeros(used.shape, dtype=np.int64)
    ids[used] = list(chain.from_iterable([ids for _, ids in flat]))
    return _Table(owner, first, used, ids)


def _sums(groups: Sequence[Group], table: _Table, characters: Characters) -> Floats:
    """The features up to and including ``in_name``: the sums over the changed characters. (edits, 11)"""
    members = [(encoding, member) for encoding, own in groups for member in own]
    before = np.cumsum([0, *(len(own) for _, own in groups)])  # members of the groups before each
    places = (before[table.owner] + table.first)[:, None] + np.arange(LONGEST)
    keys, rows = np.unique((places * len(characters.vocabulary) + table.ids)[table.used], return_inverse=True)  # they recur in many edits
    single = np.zeros((len(keys) + 1, _SUMMED), dtype=np.float32)  # the last row stands for no character
    single[:-1] = _of_characters(members, *np.divmod(keys, len(characters.vocabulary)), characters)
    parts = np.full(table.used.shape, len(keys))
    parts[table.used] = rows
    sums: Floats = single[parts].sum(1)
    return sums


def _of_characters(
    members: Sequence[tuple[Encoding, Proposal]], which: NDArray[np.int64], new: NDArray[np.int64], characters: Characters
) -> Floats:
    """What each changed character adds to ``_sums``: of the members with these numbers, in order, for these new ids. (ids, 11)"""
    old = np.array([encoding.ids[member.token] for encoding, member in members], dtype=np.int64)
    ends = which.searchsorted(np.arange(len(members) + 1)).tolist()
    odds, chances = [], []
    for views in ([member.visible for _, member in members], [member.masked for _, member in members]):
        chance = np.concatenate([view[new[start:end]] for view, (start, end) in zip(views, pairwise(ends), strict=True)])
        odds.append(chance - np.array([view[present] for view, present in zip(views, old.tolist(), strict=True)])[which])
        chances.append(chance)
    limited = [np.clip(values, -_LOG_ODDS_LIMIT, _LOG_ODDS_LIMIT) for values in (*odds, *chances)]
    alike = [characters.likeness(a, b) for a, b in zip(old[which].tolist(), new.tolist(), strict=True)]
    sound, shape = np.array(alike, dtype=np.float64).T
    logits, in_name = np.array([(member.logit, member.in_name) for _, member in members])[which].T
    changed, same = np.ones(len(sound)), sound >= SAME_SOUND
    dissimilar = np.maximum(sound, shape) < ALIKE
    features: Floats = np.column_stack([changed, logits, *limited, sound, shape, same, dissimilar, in_name]).astype(np.float32)
    return features


def _gains(groups: Sequence[Group], table: _Table, characters: Characters) -> Floats:
    """What each edit does to the text around it, the features from ``ngram_gain`` on: (edits, 8).

    Those are: by how much the corpus likes the changed text better, the most frequent triple through the change before and after it
    (0..1), ln of how much commoner the new characters are, the gain in characters inside words of two, of more, and of four alone,
    and whether several characters change.
    """
    regions = np.stack([_region(*item) for item in groups])
    owner, size = table.owner, table.used.sum(1)
    first = table.first + _CONTEXT  # the first changed column
    texts = regions[owner]
    row, offset = table.used.nonzero()
    texts[row, first[row] + offset] = table.ids[table.used]
    before = len(texts)  # the originals come after the changed texts
    owners = np.concatenate([owner, np.arange(len(regions))])
    texts = np.concatenate([texts, regions])
    bits = characters.tables.changed_word_bits(texts, regions, owners)
    three, four = ((bits & bit > 0).astype(np.int64) for bit in (4, 8))
    words = np.stack([bits & 1, three + four, four], -1).sum(1)
    scores, steps = characters.text_fit(np.pad(texts, ((0, 0), (2, 2))))
    triples = steps / np.float32(LARGEST_VALUE)  # by their first column, which the padding moves by two
    column = np.arange(triples.shape[1])
    through = (column >= first[:, None]) & (column < (first + size)[:, None] + 2)
    known = [np.where(through, of, 0).max(1) for of in (triples[before:][owner], triples[:before])]
    commoner = characters.log_counts[texts].sum(1)
    together = size > 1
    changed = (values[:before] - values[before:][owner] for values in (scores, commoner, words))
    gain, commoner, words = changed
    found: Floats = np.column_stack([gain, *known, commoner, words, together]).astype(np.float32)
    return found


def _region(encoding: Encoding, members: Sequence[Proposal]) -> NDArray[np.int64]:
    """The ids of a group and of ``_CONTEXT`` characters on either side, then zeros: of one length for all groups."""
    start, end = members[0].token - _CONTEXT, members[-1].token + _CONTEXT + 1
    return around(encoding.ids[:end], start, start + LONGEST + 2 * _CONTEXT)


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
