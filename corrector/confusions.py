"""Confusions: pairs of a wrong and a right form, corrected wherever the wrong one stands, whatever the models think.

A file has one pair a line, ``错 对`` with white space between, ``#`` comments; ``X X`` whitelists X. Wrong and right forms compete
for the text, the longer before the shorter, then the left before the right; where a right form wins, nothing changes. So a
right form is not taken apart by a shorter pair, and a second run changes nothing.

    >>> confusions = Confusions.of({"作": "做", "工做": "工作"})
    >>> [(c.span.start, c.original, c.replacement) for c in confusions.corrections("工做、工作和作饭")]
    [(0, '工做', '工作'), (6, '作', '做')]
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from corrector.errors import ConfigError, CorrectorError, InputError
from corrector.text.protect import merged
from corrector.types import Correction, Span
from corrector.words import WordIndex, read_lines


class _Entry(NamedTuple):
    """One pair and where it was given: a file and its line, or neither."""

    wrong: str
    right: str
    path: str | None = None
    line: int | None = None

    def refused(self, message: str, other: _Entry | None = None) -> CorrectorError:
        """The error to raise for this entry, because of ``other`` if given."""
        what = f"{self.wrong} {self.right}: {message}"
        if self.path is None:
            return ConfigError("Corrector", "confusions", what)
        if other is not None:
            where = f"line {other.line}" if other.path == self.path else f"{other.path}:{other.line}"
            what += f", see {where}; remove one of the two"
        return InputError(self.path, what, self.line)


class Confusions:
    """Pairs of equal length, looked up together: 100,000 cost a text hardly more than a few. Immutable."""

    __slots__ = ("_right_of", "_rights", "_whitelist", "_wrongs")

    def __init__(self, entries: Iterable[_Entry] = ()) -> None:
        found = _checked(entries)
        self._right_of = _final({wrong: entry for wrong, entry in found.items() if wrong != entry.right})
        self._wrongs = WordIndex(self._right_of)
        self._rights = WordIndex(self._right_of.values())
        self._whitelist = WordIndex(wrong for wrong, entry in found.items() if wrong == entry.right)

    @classmethod
    def load(cls, *paths: str | Path) -> Confusions:
        """The pairs of all these files together. ``A B`` and ``B C`` make C of both A and B.

        Raises InputError, with file and line, for a line that is not two words of equal length, for a wrong form with two
        right ones, for pairs that lead in a circle, and for a file that cannot be read or is not UTF-8.
        """
        return cls(_entry(str(path), line, content) for path in paths for line, content in read_lines(path))

    @classmethod
    def of(cls, pairs: Mapping[str, str]) -> Confusions:
        """These pairs, ``{wrong: right}``. Raises ConfigError where ``load`` raises InputError."""
        if not isinstance(pairs, Mapping) or not all(isinstance(form, str) for pair in pairs.items() for form in pair):
            raise ConfigError("Corrector", "confusions", f"must map wrong to right forms, not be {pairs!r:.60}")
        for wrong, right in pairs.items():
            if wrong.split() != [wrong] or right.split() != [right]:
                raise ConfigError("Corrector", "confusions", f"{wrong!r} and {right!r} must be words without white space")
        return cls(_Entry(wrong, right) for wrong, right in pairs.items())

    def __len__(self) -> int:
        """How many pairs there are, whitelisted forms included."""
        return len(self._right_of) + len(self._whitelist)

    def corrections(self, text: str, protected: Sequence[Span] = ()) -> tuple[Correction, ...]:
        """All that the pairs change in ``text``, left to right, with confidence 1; a second time finds nothing.

        No wrong form is corrected that touches a ``protected`` or whitelisted span, or one that a right form wins.
        """
        if next(self._wrongs.occurrences(text), None) is None:
            return ()
        frozen = bytearray(len(text))  # 1 where nothing may change
        for span in (*protected, *self._whitelist.occurrences(text)):
            frozen[span.start : span.end] = b"\1" * len(span)
        current, changed = text, set[Span]()
        # Where a round corrects a form, a right form has won; the next can only give its place to one that comes before
        # it, longer or further left. There are only so many, so the rounds come to an end, usually the second.
        while wrong := self._winning(current, frozen):
            current = _written(current, {span.start: self._right_of[current[span.start : span.end]] for span in wrong})
            changed.update(wrong)
        return tuple(
            Correction(span, old, new, 1.0, (), "confusion")
            for span in _united(changed)
            if (old := text[span.start : span.end]) != (new := current[span.start : span.end])
        )

    def whitelist_spans(self, text: str) -> tuple[Span, ...]:
        """Where ``text`` has a whitelisted form: sorted, disjoint."""
        return merged(self._whitelist.occurrences(text))

    def settled_spans(self, text: str) -> tuple[Span, ...]:
        """Where ``text`` has a form that the pairs call right, whitelisted or not: not for the models to change."""
        return merged((*self._whitelist.occurrences(text), *self._rights.occurrences(text)))

    def _winning(self, text: str, frozen: bytearray) -> list[Span]:
        """The wrong forms that no form before them in the order overlaps."""
        forms = [(-len(span), span.start, True, span) for span in self._rights.occurrences(text)]
        for span in self._wrongs.occurrences(text):
            if not any(frozen[span.start : span.end]):
                forms.append((-len(span), span.start, False, span))
        taken = bytearray(len(text))
        winning = []
        for _, _, is_right, span in sorted(forms):
            if not any(taken[span.start : span.end]):
                taken[span.start : span.end] = b"\1" * len(span)
                if not is_right:
                    winning.append(span)
        return winning


def _united(spans: Iterable[Span]) -> list[Span]:
    """Sorted spans, those that overlap as one; those that only touch stay apart."""
    united: list[Span] = []
    for span in sorted(spans):
        if united and span.start < united[-1].end:
            united[-1] = Span(united[-1].start, max(span.end, united[-1].end))
        else:
            united.append(span)
    return united


def _written(text: str, right_at: Mapping[int, str]) -> str:
    """``text`` with right forms put in at their starts; they do not overlap."""
    parts: list[str] = []
    done = 0
    for start, right in sorted(right_at.items()):
        parts += (text[done:start], right)
        done = start + len(right)
    return "".join((*parts, text[done:]))


def _entry(path: str, line: int, content: str) -> _Entry:
    forms = content.split()
    if len(forms) != 2:
        raise InputError(path, f"{content!r:.60} is not a wrong and a right form with white space between", line)
    return _Entry(forms[0], forms[1], path, line)


def _checked(entries: Iterable[_Entry]) -> dict[str, _Entry]:
    """The entries by wrong form. Raises for one that could not be applied or says something else than another."""
    found: dict[str, _Entry] = {}
    for entry in entries:
        if len(entry.wrong) != len(entry.right):
            lengths = f"{len(entry.wrong)} and {len(entry.right)} characters"
            raise entry.refused(f"{lengths}; only pairs of equal length can be corrected")
        if any(unicodedata.category(char) == "Cc" for char in entry.right):
            raise entry.refused("the right form has a control character")
        other = found.setdefault(entry.wrong, entry)
        if other.right != entry.right:
            raise entry.refused(f"{entry.wrong} is already given as {other.right}", other)
    return found


def _final(entries: Mapping[str, _Entry]) -> dict[str, str]:
    """Wrong form → the right form at the end of its chain. Raises for a chain without end."""
    final: dict[str, str] = {}
    for wrong in entries:
        chain: dict[str, None] = {}
        right = wrong
        while right in entries and right not in final:
            if right in chain:
                last = entries[next(reversed(chain))]
                raise last.refused("leads in a circle, so no form is right", entries[right])
            chain[right] = None
            right = entries[right].right
        final.update(dict.fromkeys(chain, final.get(right, right)))
    return final
