"""What the ranker knows of an edit: its features.

Everything is computed for the edits of all groups together: a sentence has a few dozen, and one array operation over thousands of
them costs little more than over one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from corrector.electra.associations import WordsAround
from corrector.electra.look_alikes import joined
from corrector.electra.marks import PLAIN_MARKS
from corrector.electra.ngrams import TRIPLE_STEPS
from corrector.electra.static_map import LARGEST_VALUE
from corrector.propose import around

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corrector.edits import Change, Group, Proposal
    from corrector.electra.runtime import Encoding, Floats
    from corrector.propose import Characters

FEATURES = (
    "changed", "detection", "visible_log_odds", "masked_log_odds", "visible_log_probability", "masked_log_probability",
    "pinyin_similarity", "glyph_similarity", "same_sound", "dissimilar", "in_name", "slip", "level", "alternative_taken",
    "told_apart", "apart", "misspelling",
    "ngram_gain", "known_before", "known_after", "triples_before", "triples_after", "associated_before", "associated_after",
    "word_model_gain", "commoner", "common", "word_gain", "long_word_gain", "completed", "together",
)  # fmt: skip

LONGEST = 3  # neighbours changed together
SAME_SOUND, ALIKE = 0.9, 0.45
_LOG_ODDS_LIMIT = 8.0  # nats: the generator thinks little of rare characters, right ones too
_SUMMED = FEATURES.index("ngram_gain")  # so many features are sums over the changed characters
_MISSPELLING = FEATURES.index("misspelling")
_CONTEXT = 3  # characters around a group whose pairs, triples and words an edit can change


def features_of(groups: Sequence[Group], changes: Sequence[Sequence[Change]], characters: Characters) -> Floats:
    """The features of all changes considered for these groups, one group after another: (edits, FEATURES)."""
    table = _table(groups, changes)
    if not len(table.owner):
        return np.zeros((0, len(FEATURES)), dtype=np.float32)
    found: Floats = np.column_stack([_sums(groups, table, characters), _gains(groups, table, characters)])
    return found


class _Table(NamedTuple):
    """The changes of all groups as arrays: the group of each, the number of the first member changed (edits,), which of the up to
    ``LONGEST`` members from there on are changed, and their new ids, 0 for the others (edits, LONGEST); and whether the change puts one
    character twice in the place of another twice, which is one slip (edits,)."""

    owner: NDArray[np.int64]
    first: NDArray[np.int64]
    used: NDArray[np.bool_]
    ids: NDArray[np.int64]
    twice: NDArray[np.bool_]


def _table(groups: Sequence[Group], changes: Sequence[Sequence[Change]]) -> _Table:
    flat = list(chain.from_iterable(changes))
    owner = np.repeat(np.arange(len(changes)), [len(own) for own in changes])
    first = np.array([first for first, _ in flat], dtype=np.int64)
    used = np.arange(LONGEST) < np.array([len(ids) for _, ids in flat], dtype=np.int64)[:, None]
    ids = np.zeros(used.shape, dtype=np.int64)
    ids[used] = list(chain.from_iterable([ids for _, ids in flat]))
    twice = (used.sum(1) == 2) & (ids[:, 0] == ids[:, 1])
    for row in np.flatnonzero(twice).tolist():
        encoding, members = groups[owner[row]]
        one, other = (encoding.ids[member.token] for member in members[first[row] : first[row] + 2])
        twice[row] = one == other
    return _Table(owner, first, used, ids, twice)


def _sums(groups: Sequence[Group], table: _Table, characters: Characters) -> Floats:
    """The features up to and including ``misspelling``: the sums over the changed characters, but of that the least. (edits, 17)"""
    members = [(encoding, member) for encoding, own in groups for member in own]
    before = np.cumsum([0, *(len(own) for _, own in groups)])  # members of the groups before each
    places = (before[table.owner] + table.first)[:, None] + np.arange(LONGEST)
    keys, rows = np.unique((places * len(characters.vocabulary) + table.ids)[table.used], return_inverse=True)  # they recur in many edits
    single = np.zeros((len(keys) + 1, _SUMMED), dtype=np.float32)  # the last row stands for no character
    single[:-1] = _of_characters(members, *np.divmod(keys, len(characters.vocabulary)), characters)
    parts = np.full(table.used.shape, len(keys))
    parts[table.used] = rows
    each = single[parts]
    sums: Floats = each.sum(1)
    sums[table.twice] /= 2
    sums[:, _MISSPELLING] = np.where(table.used, each[:, :, _MISSPELLING], np.inf).min(1)  # no change beyond what is meant
    return sums


def _of_characters(
    members: Sequence[tuple[Encoding, Proposal]], which: NDArray[np.int64], new: NDArray[np.int64], characters: Characters
) -> Floats:
    """What each changed character adds to ``_sums``: of the members with these numbers, in order, for these new ids. (ids, 17)"""
    old = np.array([encoding.ids[member.token] for encoding, member in members], dtype=np.int64)
    ends = which.searchsorted(np.arange(len(members) + 1)).tolist()
    odds, chances = [], []
    for views in ([member.visible for _, member in members], [member.masked for _, member in members]):
        given = [view for view in views if view is not None]
        if len(given) < len(views):  # the ranker does not want it
            given = [np.zeros(len(characters.vocabulary), dtype=np.float32)] * len(views)
        chance = np.concatenate([view[new[start:end]] for view, (start, end) in zip(given, pairwise(ends), strict=True)])
        odds.append(chance - np.array([view[present] for view, present in zip(given, old.tolist(), strict=True)])[which])
        chances.append(chance)
    limited = [np.clip(values, -_LOG_ODDS_LIMIT, _LOG_ODDS_LIMIT) for values in (*odds, *chances)]
    alike = [characters.likeness(a, b) for a, b in zip(old[which].tolist(), new.tolist(), strict=True)]
    sound, shape = np.array(alike, dtype=np.float64).T
    logits, levels, in_name = np.array([(member.logit, member.level, member.in_name) for _, member in members])[which].T
    changed, same = np.ones(len(sound)), sound >= SAME_SOUND
    dissimilar = np.maximum(sound, shape) < ALIKE
    slip = np.zeros(len(sound)) if characters.slips is None else characters.slips.log_rates(old[which], new)
    alternatives = np.array([encoding.types[member.token] for encoding, member in members])[which] // PLAIN_MARKS
    meant, evidence = np.array([member.meant for _, member in members])[which].T
    apart = characters.told_apart([(encoding, member.token) for encoding, member in members], which, old[which], new)
    misspelling = evidence * (meant == new)
    columns = (
        changed, logits, *limited, sound, shape, same, dissimilar, in_name, slip, levels, alternatives == new, *apart, misspelling,
    )  # fmt: skip
    features: Floats = np.column_stack(columns).astype(np.float32)
    return features


def _gains(groups: Sequence[Group], table: _Table, characters: Characters) -> Floats:
    """What each edit does to the text around it, the features from ``ngram_gain`` on: (edits, 14).

    Those are: by how much the corpus likes the changed text better; before and after the change, the most frequent triple through it
    (0..1), how many of the triples the corpus knows, in thirds, and the strongest association of a word through it with one around
    (0..1); by how much likelier the changed text is as a row of words; ln of how much commoner the new characters are, and
    of how common those are that change, a slip seldom being a rare one; the gain in characters inside words of two, of more, and of four
    alone; and whether several characters change.
    """
    regions = _regions(groups)
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
    scores, triples = characters.text_fit(texts)
    begin = np.arange(triples.shape[1])  # of a triple
    through = (begin < (first + size)[:, None]) & (begin >= first[:, None] - 2)

    def both(values: NDArray[Any]) -> list[NDArray[Any]]:
        return [np.where(through, of, 0) for of in (values[before:][owner], values[:before])]  # before the change, and after it

    known = [
        *(of.max(1) for of in both(triples / np.float32(len(TRIPLE_STEPS)))),
        *(of.sum(1) / 3 for of in both(triples > 0)),
        *_associations(groups, table, texts[:before], characters),
    ]
    commoner = characters.log_counts[texts].sum(1)
    changed_places = texts[:before] != texts[before:][owner]
    common = (characters.log_counts[texts[before:]][owner] * changed_places).sum(1)
    together = (size > 1) & ~table.twice
    as_words = characters.word_score(texts)
    changed = (values[:before] - values[before:][owner] for values in (scores, as_words, commoner, words))
    gain, likelier, commoner, words = changed
    commoner[table.twice] /= 2
    common[table.twice] /= 2
    found: Floats = np.column_stack([gain, *known, likelier, commoner, common, words, together]).astype(np.float32)
    return found


def _associations(
    groups: Sequence[Group], table: _Table, texts: NDArray[np.int64], characters: Characters
) -> list[NDArray[np.float32]]:
    """How strongly, 0..1, the words through what each edit changes are associated with others around: before the change and after it,
    (edits,) each. ``texts`` are the changed regions."""
    associations = characters.tables.associations
    if associations is None:
        return [np.zeros(len(texts), dtype=np.float32)] * 2
    windows = {id(encoding): encoding.ids for encoding, _ in groups}
    flat, inside = joined(list(windows.values()))
    words = WordsAround(associations, flat, inside)
    starts = dict(zip(windows, np.flatnonzero(inside & ~np.roll(inside, 1)).tolist(), strict=True))
    begin = np.array([starts[id(encoding)] + members[0].token for encoding, members in groups])[table.owner] + table.first
    size = table.used.sum(1)
    shift = np.arange(-1, LONGEST)  # from the first changed character to the beginning of a word through it
    edit, column = (shift < size[:, None]).nonzero()
    at, span = begin[edit] + shift[column], (begin[edit], begin[edit] + size[edit])
    left = table.first[edit] + _CONTEXT + shift[column]
    new = (texts[edit, left] * associations.vocabulary_size + texts[edit, left + 1]).view(np.uint64)
    found = []
    for keys in (words.keys[at], new):
        support = np.zeros((len(texts), len(shift)), dtype=np.float32)
        support[edit, column] = words.support(keys, at, span)
        found.append(support.max(1) / np.float32(LARGEST_VALUE))
    return found


def _regions(groups: Sequence[Group]) -> NDArray[np.int64]:
    """The ids of each group and of ``_CONTEXT`` characters on either side, then zeros: (groups, LONGEST + 2·_CONTEXT)."""
    regions = around([(encoding, members[0].token) for encoding, members in groups], _CONTEXT, LONGEST - 1 + _CONTEXT)
    ends = np.array([len(members) for _, members in groups]) + 2 * _CONTEXT
    regions[np.arange(regions.shape[1]) >= ends[:, None]] = 0
    return regions
