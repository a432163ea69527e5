"""The stages over one model: detect, propose, rank, check. What they find is not yet judged by confidence."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING

import numpy as np

from corrector.check import Ranked, Seen, check_features, companies, word_model_gains
from corrector.detect import detect
from corrector.edit_features import FEATURES
from corrector.edits import Edits, Proposal, edits_of
from corrector.electra import load_runtime
from corrector.electra.marks import levels_of
from corrector.electra.runtime import Encoding, Floats, Reading, Runtime
from corrector.electra.tokenizer import Tokenizer
from corrector.in_order import portions
from corrector.offers import OfferChoice, offers_in
from corrector.propose import Characters, propose
from corrector.rank import CHECK_FEATURES, Ranker, belief
from corrector.recall import Recall
from corrector.rewrites import rewritten, together
from corrector.similarity.words import tables_from_jieba
from corrector.suspect import Look, best_others, suspected
from corrector.text.script import simplified
from corrector.types import Sentence, Suspicion

if TYPE_CHECKING:
    from corrector.electra.model import ModelDirectory
    from corrector.electra.slips import Slips
    from corrector.electra.word_model import WordModel

MAX_LENGTH = 126  # characters of a window, [CLS] and [SEP] not counted; less for a model of few positions
TOGETHER = 200  # flagged characters whose views of the vocabulary, 33 kB each, are in memory at a time, or a window's; more hardly pays
HOPELESS = 0.15  # a group goes no further when the ranker gives its best edit less than this,
SURE = 0.0  # unless the discriminator's logit for one of its characters is at least this, or the edit makes a word of four characters
_COMPLETED = FEATURES.index("completed")

Flagged = tuple[int, list[int]]
"""A window and the indexes of its characters that the discriminator flags."""


@dataclass(frozen=True)
class GroupChoice:
    """The edits of one group, best first, with their scores and shares of belief; and the check features of the first, with its
    confidence."""

    edits: Edits
    scores: Floats
    shares: Floats
    check: Floats
    confidence: float


Considered = tuple[list[GroupChoice], list[OfferChoice]]
"""What was found in one window."""


class Stages:
    """The stages over one model, from sentences to scored edits; without thresholds on confidence, so calibration uses it too."""

    def __init__(
        self, tokenizer: Tokenizer, runtime: Runtime, ranker: Ranker, max_length: int = MAX_LENGTH,
        slips: Slips | None = None, word_model: WordModel | None = None,
    ) -> None:  # fmt: skip
        self.tokenizer, self.runtime, self.ranker, self.max_length = tokenizer, runtime, ranker, max_length
        self.slips, self.word_model = slips, word_model
        self.hopeless = HOPELESS
        self.recall = Recall()
        self.vocabulary = tokenizer.vocabulary

    @classmethod
    def of(cls, model: ModelDirectory, ranker: Ranker, threads: int = 0) -> Stages:
        """The stages over an opened model directory, in the longest windows that it has positions for."""
        positions = model.discriminator.setting("max_position_embeddings")
        length = MAX_LENGTH if positions is None else min(MAX_LENGTH, positions - 2)
        return cls(model.tokenizer, load_runtime(model, threads), ranker, length, model.slips, model.word_model)

    @cached_property
    def characters(self) -> Characters:
        """The vocabulary with its known pairs and words: the model's own marks, else those of jieba's dictionary."""
        tables = self.tokenizer.tables or tables_from_jieba(self.vocabulary)
        return Characters(self.vocabulary, self.tokenizer.id_of, tables, self.slips, self.word_model, self.ranker.by_slips)

    def in_words(self, text: str) -> list[bool]:
        """Which characters of a text, of either script, are in a word of two to four."""
        marks = self.characters.tables.word_bits(self.tokenizer.character_ids(simplified(text)))
        return [mark > 0 for mark in marks.tolist()]

    def considered(self, windows: Sequence[Sentence]) -> list[Considered]:
        """For each window its groups of suspicions with their edits ranked, and what else may be meant."""
        encodings, glances = self._glanced(windows)
        places = [place for place, reading in enumerate(glances) if reading is not None]
        seen, own = [windows[place] for place in places], [encodings[place] for place in places]
        readings = [reading for reading in glances if reading is not None]
        found = zip(self._groups(seen, own, readings), offers_in(self, seen, own, readings), strict=True)
        by_place = dict(zip(places, found, strict=True))
        return [by_place.get(place, ([], [])) for place in range(len(windows))]

    def choices(self, windows: Sequence[Sentence]) -> list[list[GroupChoice]]:
        """For each window its groups of suspicions with their edits ranked; no group where nothing can be proposed."""
        return self._groups(windows, *self._seen(windows))

    def _seen(self, windows: Sequence[Sentence]) -> tuple[list[Encoding], list[Reading]]:
        encodings = self.tokenizer.encode_many([window.text for window in windows])
        return encodings, self.recall.read(encodings, self.runtime)

    def _glanced(self, windows: Sequence[Sentence]) -> tuple[list[Encoding], list[Reading | None]]:
        """The same, but None for a window with nothing wrong in it at a glance, nor by what is known of words."""
        encodings = self.tokenizer.encode_many([window.text for window in windows])
        found = self.recall.glance(encodings, self.runtime)
        known = [n for n, reading in enumerate(found) if reading is None and self.characters.is_misspelt(encodings[n])]
        if known:
            for n, reading in zip(known, self.runtime.read([encodings[n] for n in known]), strict=True):
                found[n] = reading
        return encodings, found

    def _groups(
        self, windows: Sequence[Sentence], encodings: Sequence[Encoding], readings: Sequence[Reading]
    ) -> list[list[GroupChoice]]:
        result: list[list[GroupChoice]] = [[] for _ in windows]
        flagged = self._worth_a_look(self._flagged(windows, encodings, readings), encodings, readings)
        for part in portions(flagged, _size, TOGETHER):
            groups = suspected(windows, encodings, self._looks(part, encodings, readings), self.characters, self.ranker)
            ranked = self._ranked(encodings, self._proposed(encodings, groups))
            for number, choice in self._checked(windows, encodings, readings, ranked):
                result[number].append(choice)
        return result

    def looks(self, windows: Sequence[Sentence]) -> Iterator[Look]:
        """For each window with characters that the discriminator flags at all: what the generator makes of these, in place."""
        encodings = self.tokenizer.encode_many([window.text for window in windows])
        readings = self.runtime.read(encodings)
        for part in portions(self._flagged(windows, encodings, readings), _size, TOGETHER):
            yield from self._looks(part, encodings, readings)

    def _flagged(self, windows: Sequence[Sentence], encodings: Sequence[Encoding], readings: Sequence[Reading]) -> list[Flagged]:
        """The characters that the discriminator flags, or their marks."""
        flagged = []
        for number, (window, encoding, reading) in enumerate(zip(windows, encodings, readings, strict=True)):
            found = self.suspicions(window, encoding, reading.logits)
            if found:
                flagged.append((number, [suspicion.span.start - window.span.start for suspicion in found]))
        return flagged

    def suspicions(self, window: Sentence, encoding: Encoding, logits: Floats) -> tuple[Suspicion, ...]:
        """The characters of a window that the discriminator flags with these logits (tokens,), by itself or together with their marks;
        the doubled ones that others, doubled, would make a word of, and those in well-known misspellings."""
        others = self.ranker.may_be_suspicious(logits, levels_of(encoding.types)) | self.characters.misspelt_doubles(encoding)
        others[list(self.characters.meant(encoding))] = True
        return detect(window, encoding, logits, self.ranker.look_threshold, others)

    def _worth_a_look(
        self, flagged: Sequence[Flagged], encodings: Sequence[Encoding], readings: Sequence[Reading]
    ) -> list[Flagged]:
        """Those of them that ``suspected`` may keep; half are so little flagged that it would not, whatever the generator says."""
        if not flagged:
            return []
        places = [encodings[number].token_of[indexes] for number, indexes in flagged]
        logits = np.concatenate([readings[number].logits[own] for (number, _), own in zip(flagged, places, strict=True)])
        sites = [(encodings[number], token) for (number, _), own in zip(flagged, places, strict=True) for token in own.tolist()]
        levels = np.concatenate([levels_of(encodings[number].types[own]) for (number, _), own in zip(flagged, places, strict=True)])
        hopeful = self.ranker.may_be_suspicious(logits, levels)
        others = np.flatnonzero(~hopeful).tolist()
        hopeful[others] = [len(ids) > 0 for ids in self.characters.completions([sites[i] for i in others])]
        kept = iter(hopeful.tolist())
        worthy = ((number, [index for index in indexes if next(kept)]) for number, indexes in flagged)
        return [(number, indexes) for number, indexes in worthy if indexes]

    def _looks(
        self, flagged: Sequence[Flagged], encodings: Sequence[Encoding], readings: Sequence[Reading]
    ) -> list[Look]:
        places = [encodings[number].token_of[indexes].tolist() for number, indexes in flagged]
        views = self.runtime.log_probabilities(
            [encodings[number] for number, _ in flagged], places, [readings[number] for number, _ in flagged]
        )
        looks = []
        for (number, indexes), own, view in zip(flagged, places, views, strict=True):
            encoding = encodings[number]
            others = best_others(view, encoding.ids[own], self.characters)
            looks.append(Look(number, indexes, own, readings[number].logits[own], levels_of(encoding.types[own]), view, others))
        return looks

    def _proposed(
        self, encodings: Sequence[Encoding], groups: Sequence[tuple[int, tuple[Proposal, ...]]]
    ) -> list[tuple[int, tuple[Proposal, ...]]]:
        """The same groups with candidates, and with what the ranker wants to know of the characters when they are masked."""
        if not groups:
            return []
        sites = [(encodings[number], member.token) for number, members in groups for member in members]
        members = [member for _, own in groups for member in own]
        views = [[member.visible for member in members]]
        if self.ranker.reads_masked:
            views.append(self._masked(encodings, groups))
        masked: Sequence[Floats | None] = views[1] if self.ranker.reads_masked else [None] * len(members)
        candidates = propose(sites, views, [member.candidates for member in members], self.characters)
        known = zip(members, masked, candidates, strict=True)
        found = (dataclasses.replace(member, masked=view, candidates=ids) for member, view, ids in known)
        return [(number, tuple(islice(found, len(own)))) for number, own in groups]

    def _masked(self, encodings: Sequence[Encoding], groups: Sequence[tuple[int, tuple[Proposal, ...]]]) -> list[Floats]:
        """The generator's log-probabilities for each suspicious character, hidden from it with all others of its group, and with other
        groups of its window that are far enough away."""
        readings = together([(number, members[0].token, members[-1].token) for number, members in groups])
        mask, hidden, places = self.tokenizer.mask_id, [], []
        for own in readings:
            tokens = [member.token for i in own for member in groups[i][1]]
            hidden.append((encodings[groups[own[0]][0]], dict.fromkeys(tokens, mask)))
            places.append(tokens)
        views_of: dict[int, Iterator[Floats]] = {}
        for own, view in zip(readings, self.runtime.log_probabilities(self.rewritten(hidden), places), strict=True):
            views_of |= dict.fromkeys(own, iter(view))  # in this order they take their rows
        return [next(views_of[i]) for i, (_, members) in enumerate(groups) for _ in members]

    def _ranked(
        self, encodings: Sequence[Encoding], groups: Sequence[tuple[int, tuple[Proposal, ...]]]
    ) -> list[Ranked]:
        """The edits of each group in order; without the groups whose best is ``hopeless``, unless something there is surely wrong or it
        completes a word."""
        edits = edits_of([(encodings[number], members) for number, members in groups], self.characters)
        some = [(number, members, own) for (number, members), own in zip(groups, edits, strict=True) if len(own)]
        if not some:
            return []
        sizes = [len(own) for _, _, own in some]
        scores = self.ranker.scores(np.concatenate([own.features for _, _, own in some]))
        shares, ranked = belief(scores, sizes), []
        for (number, members, own), end in zip(some, accumulate(sizes), strict=True):
            part = slice(end - len(own), end)
            best = scores[part].argmax()
            completes = own.features[best, _COMPLETED] > 0
            if completes or shares[part][best] >= self.hopeless or max(member.logit for member in members) >= SURE:
                order = np.argsort(-scores[part], kind="stable")
                ranked.append(Ranked(number, own.ordered(order), scores[part][order], shares[part][order]))
        return ranked

    def _checked(
        self, windows: Sequence[Sentence], encodings: Sequence[Encoding], readings: Sequence[Reading], ranked: Sequence[Ranked]
    ) -> Iterator[tuple[int, GroupChoice]]:
        """Let the discriminator read the best edit of every group in place, distant ones of a window together; yields the groups
        with their confidences."""
        if not ranked:
            return
        trials = together([(one.window, one.place.start, one.place.stop - 1) for one in ranked])
        changes = [(encodings[ranked[own[0]].window], dict(chain(*(ranked[n].new_ids.items() for n in own)))) for own in trials]
        changed = self.rewritten(changes)
        afters = self.runtime.read(changed)
        gains, company = word_model_gains([(encodings[one.window], one) for one in ranked], self.characters), companies(ranked)
        checks = np.zeros((len(ranked), len(CHECK_FEATURES)), dtype=np.float32)
        for own, encoding, after in zip(trials, changed, afters, strict=True):
            number = ranked[own[0]].window
            without, with_edits = Seen(encodings[number].types, readings[number].logits), Seen(encoding.types, after.logits)
            known = [ranked[n] for n in own], [gains[n] for n in own], [company[n] for n in own]
            checks[own] = check_features(windows[number].text, *known, without, with_edits)
        confidences = self.ranker.confidences(checks)
        for own, encoding, after in zip(trials, changed, afters, strict=True):
            if confidences[own].min() >= self.ranker.min_confidence:  # then this is what the next round begins with
                self.recall.keep(encoding, after)
        for one, check, confidence in zip(ranked, checks, confidences.tolist(), strict=True):
            yield one.window, GroupChoice(one.edits, one.scores, one.shares, check, confidence)

    def rewritten(self, changes: Sequence[tuple[Encoding, Mapping[int, int]]]) -> list[Encoding]:
        """Windows with other ids at some of their tokens, to be read again."""
        return rewritten(changes, self.tokenizer, self.max_length + 2)  # + 2: [CLS] and [SEP]


def _size(flagged: Flagged) -> int:
    return len(flagged[1])
