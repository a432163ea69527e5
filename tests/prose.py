"""What a format takes for prose, in a form that a test can write down."""

from __future__ import annotations

from collections.abc import Iterator

from fakes import FakeCorrector

from corrector.apply import corrected_text
from corrector.formats import format_of
from corrector.formats.passages import Passage, correct_passages
from corrector.text.protect import is_han, merged
from corrector.types import Document, Span


def passages(name: str, text: str) -> list[Passage]:
    return list(format_of(None, name).passages(Document(None, text)))


def places(passage: Passage) -> list[Span]:
    if isinstance(passage.places, int):
        return [Span(at, at + 1) for at in range(passage.places, passage.places + len(passage.text))]
    found = list(passage.places)
    assert len(found) == len(passage.text)
    assert found == [passage.places[at] for at in range(len(found))]
    return found


def changeable(passage: Passage, text: str) -> Iterator[tuple[int, int]]:
    """(index in the passage, offset in ``text``) of the Han characters that may change."""
    frozen = {at for span in merged(passage.protected) for at in range(span.start, span.end)}
    for index, (char, place) in enumerate(zip(passage.text, places(passage), strict=True)):
        if is_han(char) and len(place) == 1 and index not in frozen:
            assert text[place.start] == char
            yield index, place.start


def read(name: str, text: str) -> list[str]:
    """The texts of the passages; Han characters that cannot change stand between ‹ and ›."""
    shown = []
    for passage in passages(name, text):
        free = {index for index, _ in changeable(passage, text)}
        marked = "".join(c if index in free or not is_han(c) else f"‹{c}›" for index, c in enumerate(passage.text))
        shown.append(marked.replace("›‹", ""))
    return shown


def free_offsets(name: str, text: str) -> list[int]:
    """The offsets of all Han characters that may change, passage by passage."""
    return [offset for passage in passages(name, text) for _, offset in changeable(passage, text)]


def corrected(name: str, text: str, replacements: dict[str, str]) -> str:
    document = Document(None, text)
    found = correct_passages(FakeCorrector(replacements), document, format_of(None, name).passages(document))
    return corrected_text(found)
