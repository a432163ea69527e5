"""The stages over one model: detect, propose, rank, check. What they find is not yet judged by confidence."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from corrector.detect import detect
from corrector.electra import load_runtime
from corrector.electra.marks import MARK_REACH, MarkTables
from corrector.electra.runtime import Encoding, Floats, Ints, Reading, Runtime
from corrector.electra.tokenizer import Tokenizer
from corrector.propose import propose
from corrector.rank import Edit, Proposal, Ranker, edits_of, group
from corrector.similarity.names import name_scores
from corrector.similarity.words import tables_from_jieba
from corrector.text.protect import is_han
from corrector.types import Sentence

if TYPE_CHECKING:
    from corrector.electra.model import ModelDirectory

MAX_LENGTH = 126  # characters of a window, [CLS] and [SEP] not counted; less for a model of few positions
CHECKED = 2  # best edits of a group that the discriminator reads in place
HOPELESS = 0.1  # an edit is not checked when the ranker gives it less than this


_NOTHING: Floats = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True)
class Look:
    """The characters of one window that the discriminator flags: their places in it and among its tokens, its logits for them,
    the generator's log-probabilities (characters, vocabulary), and those of the likeliest other Han character (characters,)."""

    window: int
    indexes: list[int]
    tokens: list[int]
    logits: Floats
    visible: Floats
    best_others: Floats


@dataclass(frozen=True)
class GroupChoice:
    """The edits of one group, best first, with their scores and, for the first one or two, their check features."""

    edits: tuple[Edit, ...]
    scores: Floats
    checks: Floats


class Stages:
    """The stages over one model, from sentences to scored edits; without thresholds on confidence, so calibration uses it too."""

    def __init__(self, tokenizer: Tokenizer, runtime: Runtime, ranker: Ranker, max_length: int = MAX_LENGTH) -> None:
        self.tokenizer, self.runtime, self.ranker, self.max_length = tokenizer, runtime, ranker, max_length
        self.hopeless = HOPELESS
        self.vocabulary = tokenizer.vocabulary
        self.id_of = dict(tokenizer.id_of)
        self.replaceable = np.array([len(token) == 1 and is_han(token) for token in self.vocabulary])

    @classmethod
    def of(cls, model: ModelDirectory, ranker: Ranker, threads: int = 0) -> Stages:
        """The stages over an opened model directory, in the longest windows that it has positions for."""
        positions = model.discriminator.setting("max_position_embeddings")
        length = MAX_LENGTH if positions is None else min(MAX_LENGTH, positions - 2)
        return cls(model.tokenizer, load_runtime(model, threads), ranker, length)

    @cached_property
    def tables(self) -> MarkTables:
        """Known pairs and words: the model's own marks, else those of jieba's dictionary."""
        return self.tokenizer.tables or tables_from_jieba(self.vocabulary)

    def choices(self, windows: Sequence[Sentence]) -> list[list[GroupChoice]]:
        """For each window its groups of suspicions with their edits ranked; no group where nothing can be proposed."""
        encodings = self.tokenizer.encode_many([window.text for window in windows])
        readings = self.runtime.read(encodings)
        groups = self._masked(encodings, self._suspected(windows, self.looks(windows, encodings, readings)))
        choices = ((number, self._rank(encodings[number], members)) for number, members in groups)
        hopeful = ((number, choice, self._hopeful(choice)) for number, choice in choices if choice is not None)
        ranked = [(number, choice, count) for number, choice, count in hopeful if count]
        result: list[list[GroupChoice]] = [[] for _ in windows]
        for number, choice in self._check(encodings, readings, ranked):
            result[number].append(choice)
        return result

    def looks(self, windows: Sequence[Sentence], encodings: Sequence[Encoding], readings: Sequence[Reading]) -> list[Look]:
        """For each window with characters that the discriminator flags at all: what the generator makes of these, in place."""
        flagged: list[tuple[int, list[int]]] = []
        for number, window in enumerate(windows):
            found = detect(window, encodings[number], readings[number].logits, self.ranker.look_threshold)
            if found:
                flagged.append((number, [suspicion.span.start - window.span.start for suspicion in found]))
        places = [encodings[number].token_of[indexes].tolist() for number, indexes in flagged]
        views = self.runtime.log_probabilities(
            [encodings[number] for number, _ in flagged], places, [readings[number] for number, _ in flagged]
        )
        return [
            Look(number, indexes, tokens, readings[number].logits[tokens], view, self._best_others(view, encodings[number].ids[tokens]))
            for (number, indexes), tokens, view in zip(flagged, places, views, strict=True)
        ]

    def _suspected(self, windows: Sequence[Sentence], looks: Sequence[Look]) -> list[tuple[int, tuple[Proposal, ...]]]:
        """Groups of suspicions, (window, members): what is likely enough to be wrong now that both networks have seen it."""
        groups: list[tuple[int, tuple[Proposal, ...]]] = []
        for look in looks:
            kept = np.flatnonzero(self.ranker.is_suspicious(look.logits, look.best_others)).tolist()
            names = name_scores(windows[look.window].text) if kept else _NOTHING
            members = [
                Proposal(index, look.tokens[i], float(look.logits[i]), float(names[index]), look.visible[i], _NOTHING, ())
                for i, index in ((i, look.indexes[i]) for i in kept)
            ]
            groups += [(look.window, grouped) for grouped in group(members)]
        return groups

    def _best_others(self, views: Floats, present: Ints) -> Floats:
        """The log-probability of the likeliest Han character that is not ``present`` (rows,), of views (rows, vocabulary)."""
        others = np.where(self.replaceable[: views.shape[1]], views, -np.inf)
        others[np.arange(len(others)), present] = -np.inf
        best: Floats = others.max(1)
        return best

    def _masked(
        self, encodings: Sequence[Encoding], groups: Sequence[tuple[int, tuple[Proposal, ...]]]
    ) -> list[tuple[int, tuple[Proposal, ...]]]:
        """The same groups with candidates, once the generator has read each with all its characters masked."""
        mask = self.tokenizer.mask_id
        hidden = self._with_ids([(encodings[number], members[0].token, [mask] * len(members)) for number, members in groups])
        masked = self.runtime.log_probabilities(hidden, [[member.token for member in members] for _, members in groups])
        return [
            (number, tuple(self._proposal(encodings[number], m, view) for m, view in zip(members, views, strict=True)))
            for (number, members), views in zip(groups, masked, strict=True)
        ]

    def _proposal(self, encoding: Encoding, member: Proposal, masked: Floats) -> Proposal:
        candidates = propose(
            encoding, member.token, member.visible, masked, self.vocabulary, self.replaceable, self.tables, self.id_of
        )
        return dataclasses.replace(member, masked=masked, candidates=candidates)

    def _with_ids(self, changes: Sequence[tuple[Encoding, int, Sequence[int]]]) -> list[Encoding]:
        """Each encoding with other ids from a token on. Types are found again only as far as a change reaches."""
        reach = self.max_length + 2 if self.tokenizer.tables is None else MARK_REACH  # + 2: every token of a window
        changed, nearby = [], []
        for encoding, first, new in changes:
            ids = encoding.ids.copy()
            ids[first : first + len(new)] = new
            changed.append(ids)
            nearby.append(ids[max(0, first - 2 * reach) : first + len(new) + 2 * reach])
        result = []
        for (encoding, first, new), ids, near in zip(changes, changed, self.tokenizer.token_types_many(nearby), strict=True):
            start = max(0, first - reach)
            offset = start - max(0, first - 2 * reach)
            types = encoding.types.copy()
            affected = types[start : first + len(new) + reach]
            affected[:] = near[offset : offset + len(affected)]
            result.append(dataclasses.replace(encoding, ids=ids, types=types))
        return result

    def _rank(self, encoding: Encoding, members: Sequence[Proposal]) -> GroupChoice | None:
        edits = edits_of(members, encoding, self.vocabulary, self.id_of, self.tables)
        if not edits:
            return None
        scores = self.ranker.scores(edits)
        order = np.argsort(-scores, kind="stable")
        return GroupChoice(tuple(edits[i] for i in order), scores[order], np.zeros((0, 0), dtype=np.float32))

    def _hopeful(self, choice: GroupChoice) -> int:
        """How many of the best edits to check: those, ``CHECKED`` at most, that the ranker gives ``hopeless`` or more."""
        shares = np.exp(choice.scores[:CHECKED] - np.logaddexp(0.0, np.logaddexp.reduce(choice.scores)))
        return int((shares >= self.hopeless).sum())

    def _check(
        self, encodings: Sequence[Encoding], readings: Sequence[Reading], ranked: Sequence[tuple[int, GroupChoice, int]]
    ) -> Iterator[tuple[int, GroupChoice]]:
        """Let the discriminator read so many of the best edits of every group in place; yields the groups with their check features."""
        tried = [
            (encodings[number], edit.token, [self.id_of[c] for c in edit.replacement])
            for number, choice, count in ranked
            for edit in choice.edits[:count]
        ]
        after = iter(self.runtime.read(self._with_ids(tried)))
        for number, choice, count in ranked:
            rows = []
            suspicion = np.logaddexp(0, readings[number].logits).sum()
            for rank in range(count):
                edit, score, now = choice.edits[rank], choice.scores[rank], next(after).logits
                changed = slice(edit.token, edit.token + len(edit.replacement))
                removed = suspicion - np.logaddexp(0, now).sum()
                other = choice.scores[1 - rank] if len(choice.scores) > 1 else -10.0
                margin = float(np.clip(score - other, -10, 10))
                rows.append([1.0, score, float(now[changed].max()), float(np.clip(removed, -15, 15)), margin, *edit.features])
            yield number, dataclasses.replace(choice, checks=np.array(rows, dtype=np.float32))
