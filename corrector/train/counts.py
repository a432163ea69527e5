"""Corpus counts and lexicon as mark tables: what a small network is told instead of having to learn it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count as count_from
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.electra.contrasts import Contrasts
from corrector.electra.marks import MarkTables
from corrector.electra.ngrams import PAIR_STEPS, TRIPLE_STEPS, Ngrams, steps_of
from corrector.electra.static_map import StaticMap, StaticSet
from corrector.electra.word_model import WordModel
from corrector.electra.word_set import WordSet
from corrector.errors import InputError
from corrector.propose import likeness, similar_characters
from corrector.similarity.words import word_keys
from corrector.train.associate import associations_of
from corrector.train.keys import count_keys
from corrector.train.word_counts import word_models_of

Tokens = NDArray[np.uint16]
LOOK_ALIKES = 40
_BY_SOUND, _BY_SHAPE = 250, 60  # neighbours that are considered: syllables such as yì have more than a hundred characters
_SHAPE_TOO, _COMMON = 0.2, 0.05  # of likeness in shape and of ln count beside similarity; compared on errors in labelled rows
AGAIN = "make the folder with `python -m corrector.train pack`"
IN_NONE = -1  # the part of the corpus of a text that is in none of them


def look_alikes(vocabulary: Sequence[str], counts: NDArray[Any]) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """The ids of the characters that each is likeliest a slip for, those that sound or look most alike and are common, by their
    ``counts`` (vocabulary,); and how similar they are in 255ths, the most similar first: (vocabulary, LOOK_ALIKES)."""
    ids = {token: number for number, token in enumerate(vocabulary)}
    common = _COMMON * np.log(counts + 1)
    alike = np.zeros((len(vocabulary), LOOK_ALIKES), dtype=np.uint16)
    similarity = np.zeros(alike.shape, dtype=np.uint8)
    for row, token in enumerate(vocabulary):
        if len(token) != 1:
            continue
        others = [other for other in similar_characters(token, _BY_SOUND, _BY_SHAPE) if other in ids and other != token]
        numbers = np.array([ids[other] for other in others], dtype=np.int64)
        alikeness = np.array([likeness(token, other) for other in others]).reshape(-1, 2)  # in sound and in shape
        most = alikeness.max(1)
        best = np.argsort(-(most + _SHAPE_TOO * alikeness[:, 1] + common[numbers]), kind="stable")[:LOOK_ALIKES]
        alike[row, : len(best)] = numbers[best]
        similarity[row, : len(best)] = np.round(255 * most[best])
    order = np.lexsort((alike, 255 - similarity))  # of each row: a third less room in a wheel than by likelihood
    return np.take_along_axis(alike, order, 1), np.take_along_axis(similarity, order, 1)


def ngrams_of(
    arrays: Sequence[Tokens],
    vocabulary_size: int,
    specials: int,
    alike: tuple[NDArray[Any], NDArray[Any]],
    scale: float = 1.0,
) -> Ngrams:
    """The counts of some token arrays, which are the share ``scale`` of the corpus."""
    found = []
    for size, steps in ((2, PAIR_STEPS), (3, TRIPLE_STEPS)):
        keys, counts = count_keys(arrays, size, vocabulary_size, max(1, round(steps[0] * scale)), specials)
        found.append((keys, steps_of(counts, steps, scale)))
    pairs, (triples, step) = found
    common = step > 1
    characters = character_counts(arrays, vocabulary_size, specials)
    return Ngrams(
        (characters / scale).astype(np.float32), StaticMap.build(*pairs), StaticMap.build(triples[common], step[common] - 1), *alike,
        StaticSet.build(triples[~common]),
    )  # fmt: skip


def character_counts(arrays: Sequence[Tokens], vocabulary_size: int, specials: int) -> NDArray[np.float64]:
    """How often each character occurs in token arrays: (vocabulary,)."""
    counts = np.zeros(vocabulary_size)
    for tokens in arrays:
        counts += np.bincount(tokens, minlength=vocabulary_size)
    counts[:specials] = 0
    return counts


def write_marks(
    out: Path,
    parts: Sequence[Sequence[Tokens]],
    vocabulary: Sequence[str],
    lexicon: Sequence[str],
    specials: int,
    say: Callable[[str], None],
) -> None:
    """Write ``marks.without-N.npz`` and ``words.without-N.npz``, the counts of the corpus without its part number N, for each; and
    ``marks.all.npz`` and ``words.all.npz``, of all of it."""
    words = word_keys(lexicon, vocabulary)
    alike = look_alikes(vocabulary, character_counts([tokens for part in parts for tokens in part], len(vocabulary), specials))
    sets = (WordSet(words[0]), WordSet(words[1]), WordSet(words[2]))
    total = sum(len(tokens) for part in parts for tokens in part)
    without = (*range(len(parts)), IN_NONE)
    for left_out, model in zip(without, word_models_of(parts, without, sets, len(vocabulary), say), strict=True):
        model.save(words_path(out, left_out))
    say("counting words near one another")
    associated = associations_of(parts, without, words[0], len(vocabulary))
    for left_out, associations in zip(without, associated, strict=True):
        arrays = [tokens for number, part in enumerate(parts) if number != left_out for tokens in part]
        path = marks_path(out, left_out)
        say(f"counting pairs and triples: {path.name}")
        scale = sum(map(len, arrays)) / total
        ngrams = ngrams_of(arrays, len(vocabulary), specials, alike, scale)
        MarkTables(len(vocabulary), words, ngrams, associations.table).save(path)


def load_marks(data: Path) -> tuple[MarkTables, ...]:
    """What ``write_marks`` wrote: number N is for text of the part number N, and the last, which is number ``IN_NONE``, for any other.
    The contrasts, where there are any, are the same for all: some thousand weights for a pair know little of single lines.

    Raises InputError where there is none for the first part.
    """
    if not (marks_path(data, 0).exists() and words_path(data, 0).exists()):
        raise InputError(data, f"has no counts of the corpus without each part; {AGAIN}")
    return tuple(load_part(data, number) for number in (*range(_count(data)), IN_NONE))


def load_part(data: Path, number: int) -> MarkTables:
    """What ``write_marks`` wrote for text of the part ``number``, or of none. Raises InputError where there is none for it."""
    check_part(data, number)
    tables = MarkTables.load(marks_path(data, number))
    tables = tables.with_words(WordModel.load(words_path(data, number), tables.sets))
    return tables.with_contrasts(Contrasts.load(contrasts_path(data))) if contrasts_path(data).is_file() else tables


def check_part(data: Path, number: int) -> None:
    """Raise InputError where ``write_marks`` wrote nothing for text of the part ``number``."""
    if not (marks_path(data, number).is_file() and words_path(data, number).is_file()):
        raise InputError(data, f"has no counts of the corpus without part {number}; {_parts(data) or AGAIN}")


def _parts(data: Path) -> str:
    """Which parts the corpus has, '' if none: what to give instead of a part that it has not."""
    count = _count(data)
    return f"its text is in the parts 0 to {count - 1}, the raw files dealt out to them in turn" if count else ""


def _count(data: Path) -> int:
    return next(number for number in count_from(0) if not marks_path(data, number).exists())


def marks_path(data: Path, left_out: int) -> Path:
    return data / f"marks.{_without(left_out)}.npz"


def words_path(data: Path, left_out: int) -> Path:
    return data / f"words.{_without(left_out)}.npz"


def contrasts_path(data: Path) -> Path:
    return data / "contrasts.npz"


def _without(left_out: int) -> str:
    return "all" if left_out == IN_NONE else f"without-{left_out}"
