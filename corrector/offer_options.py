"""What may be meant in a text by what is known of words, whatever the networks think of it: of each kind of ``offers`` the places and the
ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from corrector.detect import is_correctable
from corrector.propose import MISQUOTED, around
from corrector.similarity.misspellings import SURE
from corrector.similarity.phrases import PARTICLE, set_phrases

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corrector.electra.runtime import Encoding, Reading
    from corrector.propose import Characters
    from corrector.types import Sentence

Kind = Literal["words", "swaps", "phrases"]
"""Words that sound alike, two characters in the other order, and characters of set phrases."""
KINDS: tuple[Kind, ...] = get_args(Kind)

LEAST_DOUBT = -5.5  # the larger of the discriminator's logits of the two: no less at nine slips in ten, and at one place in twelve


@dataclass(frozen=True)
class Possible:
    """The number of a window, an index of it, and what may be meant from there on: the ids (options, length), how alike they sound, and
    whether the rest of a set phrase gives them away, (options,) each."""

    window: int
    index: int
    ids: NDArray[np.int64]
    likeness: NDArray[Any]
    given: NDArray[Any]


def _words(
    windows: Sequence[Sentence], encodings: Sequence[Encoding], readings: Sequence[Reading], characters: Characters
) -> Iterator[Possible]:
    """The words of two characters that sound like what stands there and have neither of its characters."""
    for number, index in _doubtful(windows, encodings, readings):
        first, second, alike = characters.homophones(*_two(encodings[number], index))
        yield Possible(number, index, np.stack([first, second], 1), alike, np.zeros(len(alike)))


def _swaps(
    windows: Sequence[Sentence], encodings: Sequence[Encoding], readings: Sequence[Reading], characters: Characters
) -> Iterator[Possible]:
    """Two characters in the other order."""
    for number, index in _doubtful(windows, encodings, readings):
        first, second = _two(encodings[number], index)
        if first != second:
            alike = 2 * characters.likeness(first, second)[0]
            yield Possible(number, index, np.array([[second, first]]), np.array([alike]), np.zeros(1))


def _phrases(
    windows: Sequence[Sentence], encodings: Sequence[Encoding], readings: Sequence[Reading], characters: Characters
) -> Iterator[Possible]:
    """The words of four characters that there would be with another one, in none of which another stands."""
    places = [(number, index) for number, encoding in enumerate(encodings) for index in np.flatnonzero(encoding.is_whole).tolist()]
    if not places or characters.word_model is None:
        return
    texts = around([(encodings[number], int(encodings[number].token_of[index])) for number, index in places], 3, 3)
    options = [
        (row, new, characters.likeness(int(texts[row, 3]), new))
        for row, completing in enumerate(characters.tables.completions(texts))
        if completing and _may_change(windows[places[row][0]], places[row][1])
        for new in completing
    ]
    options = [option for option in options if max(option[2]) < MISQUOTED]
    if not options:
        return
    changed = texts[[row for row, _, _ in options]]
    changed[:, 3] = [new for _, new, _ in options]
    begun = zip(*characters.word_model.words_of_four(changed), strict=True)
    for (number, index), own in groupby(zip(options, begun, strict=True), lambda one: places[one[0][0]]):
        text, found = windows[number].text, []
        given = {one.meant.char: one.meant.evidence / SURE for one in set_phrases().almost(text) if one.place == index}
        standing = set_phrases().standing(text)
        for (_, new, alike), (are_words, are_seen) in own:
            evidence = given.get(characters.vocabulary[new], 0.0)
            starts = np.flatnonzero(are_words if evidence else are_seen).tolist()
            if any(not standing[max(0, index - 3 + start) : index + 1 + start].any() for start in starts):
                found.append((new, alike[0], evidence))
        if found:
            ids, likeness, evidences = (np.array(column) for column in zip(*found, strict=True))
            yield Possible(number, index, ids[:, None], likeness, evidences)


def _may_change(window: Sentence, index: int) -> bool:
    """Whether another character may be meant: 的 stands between two words much more often than in one for another."""
    return window.text[index] != PARTICLE and is_correctable(window, index)


def _two(encoding: Encoding, index: int) -> tuple[int, int]:
    """The ids of two neighbours."""
    first, second = encoding.ids[encoding.token_of[index : index + 2]].tolist()
    return first, second


def _doubtful(
    windows: Sequence[Sentence], encodings: Sequence[Encoding], readings: Sequence[Reading]
) -> Iterator[tuple[int, int]]:
    """Where two neighbours may both change, neither is in a set phrase, and the discriminator doubts one: the number of the window and the
    index of the first."""
    for number, (window, encoding, reading) in enumerate(zip(windows, encodings, readings, strict=True)):
        token_of, logits = encoding.token_of, reading.logits
        side_by_side = (np.diff(token_of) == 1) & encoding.is_whole[:-1] & encoding.is_whole[1:]
        doubted = np.maximum(logits[token_of[:-1]], logits[token_of[1:]]) >= LEAST_DOUBT
        indexes = np.flatnonzero(side_by_side & doubted).tolist()
        standing = set_phrases().standing(window.text) if indexes else np.zeros(0, dtype=np.bool_)
        for index in indexes:
            if not standing[index : index + 2].any() and is_correctable(window, index) and is_correctable(window, index + 1):
                yield number, index


OPTIONS = {"words": _words, "swaps": _swaps, "phrases": _phrases}
