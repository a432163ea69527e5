"""The stages over one model: detect, propose, rank, check. What they find is not yet judged by confidence."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corrector.detect import detect
from corrector.electra.marks import MARK_REACH, MarkTables
from corrector.electra.runtime import Encoding, Floats, Runtime
from corrector.electra.tokenizer import Tokenizer
from corrector.propose import propose
from corrector.rank import Edit, Proposal, Ranker, edits_of, group
from corrector.similarity.words import tables_from_jieba
from corrector.text.protect import is_han
from corrector.types import Sentence

MAX_LENGTH = 126  # characters of a window, [CLS] and [SEP] not counted; less for a model of few positions
CHECKED = 2  # best edits of a group that the discriminator reads in place
HOPELESS = 0.02  # a group is not checked when the ranker gives all its edits together less than this


@dataclass(frozen=True)
class GroupChoice:
    """The edits of one group, best first, with their scores and, for the first ``CHECKED``, their check features."""

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

    @cached_property
    def tables(self) -> MarkTables:
        """Known pairs and words: the model's own marks, else those of jieba's dictionary."""
        return self.tokenizer.tables or tables_from_jieba(self.vocabulary)

    def choices(self, windows: Sequence[Sentence]) -> list[list[GroupChoice]]:
        """For each window its groups of suspicions with their edits ranked; no group where nothing can be proposed."""
        encodings = self.tokenizer.encode_many([window.text for window in windows])
        logits = self.runtime.replaced_logits(encodings)
        threshold = self.ranker.suspicion_threshold
        suspicious: list[tuple[int, list[int]]] = []  # (window, characters of it)
        for number, window in enumerate(windows):
            found = detect(window, encodings[number], logits[number], threshold)
            if found:
                suspicious.append((number, [suspicion.span.start - window.span.start for suspicion in found]))
        groups = self._propose(encodings, logits, suspicious)
        choices = ((number, self._rank(encodings[number], members)) for number, members in groups)
        ranked = [(number, choice) for number, choice in choices if choice is not None and self._is_hopeful(choice)]
        result: list[list[GroupChoice]] = [[] for _ in windows]
        for number, choice in self._check(encodings, logits, ranked):
            result[number].append(choice)
        return result

    def _propose(
        self, encodings: Sequence[Encoding], logits: Sequence[Floats], suspicious: Sequence[tuple[int, list[int]]]
    ) -> list[tuple[int, tuple[Proposal, ...]]]:
        """Groups of proposals. The generator reads each sentence once as it is, and once per group with the group masked."""
        places = [[int(encodings[number].token_of[index]) for index in indexes] for number, indexes in suspicious]
        visible = self.runtime.log_probabilities([encodings[number] for number, _ in suspicious], places)
        bare: list[tuple[int, tuple[Proposal, ...]]] = []
        nothing = np.zeros(0, dtype=np.float32)
        for (number, indexes), tokens, views in zip(suspicious, places, visible, strict=True):
            members = [
                Proposal(index, token, float(logits[number][token]), view, nothing, ())
                for index, token, view in zip(indexes, tokens, views, strict=True)
            ]
            bare += [(number, grouped) for grouped in group(members)]
        mask = self.tokenizer.mask_id
        hidden = self._with_ids([(encodings[number], ms[0].token, [mask] * len(ms)) for number, ms in bare])
        masked = self.runtime.log_probabilities(hidden, [[m.token for m in members] for _, members in bare])
        return [
            (number, tuple(self._proposal(encodings[number], m, view) for m, view in zip(members, views, strict=True)))
            for (number, members), views in zip(bare, masked, strict=True)
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

    def _is_hopeful(self, choice: GroupChoice) -> bool:
        """Whether any edit of the group may be right: Σ exp(score) / (1 + Σ exp(score)) is not below ``hopeless``."""
        odds = float(np.logaddexp.reduce(choice.scores))
        return self.hopeless <= 0 or odds >= math.log(self.hopeless / (1 - self.hopeless))

    def _check(
        self, encodings: Sequence[Encoding], logits: Sequence[Floats], ranked: Sequence[tuple[int, GroupChoice]]
    ) -> Iterator[tuple[int, GroupChoice]]:
        """Let the discriminator read the best edits of every group in place; yields the groups with their check features."""
        tried = [
            (encodings[number], edit.token, [self.id_of[c] for c in edit.replacement])
            for number, choice in ranked
            for edit in choice.edits[:CHECKED]
        ]
        after = iter(self.runtime.replaced_logits(self._with_ids(tried)))
        for number, choice in ranked:
            rows = []
            for rank, (edit, score) in enumerate(zip(choice.edits[:CHECKED], choice.scores, strict=False)):
                now = next(after)
                changed = slice(edit.token, edit.token + len(edit.replacement))
                removed = np.logaddexp(0, logits[number]).sum() - np.logaddexp(0, now).sum()
                other = choice.scores[1 - rank] if len(choice.scores) > 1 else -10.0
                margin = float(np.clip(score - other, -10, 10))
                rows.append([1.0, score, float(now[changed].max()), float(np.clip(removed, -15, 15)), margin, *edit.features])
            yield number, dataclasses.replace(choice, checks=np.array(rows, dtype=np.float32))
