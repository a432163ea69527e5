"""What a Word document says of itself: corrections as revisions, which its reader accepts or rejects, and suggestions as comments.

A revision deletes the old characters and inserts the new ones. What stands in an insertion already is changed there, as is what no run
holds. ECMA-376 part 1, section 17.13 has the elements.
"""

from __future__ import annotations

import os
import re
import time
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator
from itertools import count

from corrector.formats.packages import AUTHOR
from corrector.formats.wordml import Run, WordPart
from corrector.formats.xml_parts import edited, spelt_like
from corrector.types import Correction, Span

_TAG = re.compile(r"<((?:[^\s<>/:]+:)?)t\b[^>]*>")
_NUMBER = re.compile(r"""\bid\s*=\s*["'](\d{1,9})["']""")
_OLD_PROPERTIES = re.compile(r"<((?:[^\s<>/:]+:)?rPrChange)\b.*?</\1\s*>", re.DOTALL)
_COMMENTED = re.compile(r"""<(?:[^\s<>/:]+:)?commentRangeStart\s[^<>]*\bid\s*=\s*["'](\d{1,9})["'][^<>]*>\s*\Z""")
_KEEPS_SPACE = ' xml:space="preserve"'


class Revisions:
    """Changes of the XML of a part, which are made all at once by ``written``."""

    def __init__(self, part: WordPart) -> None:
        self._part, self._xml = part, part.xml.text
        self._starts = [run.start for run in part.runs]
        self._numbers = count(1 + max(numbers_in(self._xml), default=0))
        self._edits: dict[Span, str] = {}

    def written(self) -> bytes | None:
        """The XML with all changes; None without any."""
        return edited(self._part.xml, self._edits.items()) if self._edits else None

    def change(self, corrections: Iterable[Correction]) -> None:
        """Makes corrections of the text."""
        for place, char in self._part.changed(corrections):
            self._edits[place] = spelt_like(self._xml[place.start : place.end], char)

    def track(self, corrections: Iterable[Correction]) -> None:
        """Makes corrections of the text as revisions."""
        for run, place, new in self._stretches(corrections):
            if run is None or run.is_inserted or not self._can_be_cut(run, place):
                self._edits[place] = new
                continue
            deleted, inserted = (f'{{0}}id="{next(self._numbers)}" {{0}}author="{AUTHOR}" {{0}}date="{now()}"' for _ in range(2))
            old = _literal(self._xml[place.start : place.end])
            self._cut(
                run,
                place,
                f"<{{0}}del {deleted}><{{0}}r>{{1}}<{{0}}delText>{old}</{{0}}delText></{{0}}r></{{0}}del>"
                f"<{{0}}ins {inserted}><{{0}}r>{{1}}<{{0}}t>{_literal(new)}</{{0}}t></{{0}}r></{{0}}ins>",
            )

    def has_comment(self, suggestion: Correction, numbers: Container[int]) -> bool:
        """Whether one of these comments begins with the run in which a suggestion does."""
        run = self._run_at(self._part.place(suggestion.span.start).start)
        before = _COMMENTED.search(self._xml, max(0, run.run_tag - 200), run.run_tag) if run else None
        return before is not None and int(before[1]) in numbers

    def comment(self, suggestion: Correction, number: int) -> bool:
        """Anchors the comment of that number at what a suggestion would change; whether that can be done."""
        places = [self._part.place(at) for at in range(suggestion.span.start, suggestion.span.end)]
        place = Span(places[0].start, places[-1].end)
        run = self._run_at(place.start)
        if len(place) != sum(map(len, places)) or self._run_at(places[-1].start) is not run:
            place = places[0]  # over several runs: of its first character
        if not place or run is None or run.is_boxed or not self._can_be_cut(run, place):
            return False
        text = _literal(self._xml[place.start : place.end])
        self._cut(
            run,
            place,
            f'<{{0}}commentRangeStart {{0}}id="{number}"/><{{0}}r>{{1}}<{{0}}t>{text}</{{0}}t></{{0}}r>'
            f'<{{0}}commentRangeEnd {{0}}id="{number}"/><{{0}}r><{{0}}commentReference {{0}}id="{number}"/></{{0}}r>',
        )
        return True

    def _cut(self, run: Run, place: Span, between: str) -> None:
        """Cuts a run in two around a place, which ``between`` replaces: {0} is the prefix of Word's names, {1} the run's properties."""
        tag = _TAG.match(self._xml, run.tag)
        prefix = tag[1] if tag else ""
        properties = _OLD_PROPERTIES.sub("", self._xml[run.properties.start : run.properties.end]) if run.properties else ""
        self._edits[place] = (
            f"</{prefix}t></{prefix}r>{between.format(prefix, properties)}<{prefix}r>{properties}<{prefix}t{_KEEPS_SPACE}>"
        )
        if tag and "xml:space" not in tag[0] and self._xml[place.start - 1].isspace():  # at the end of its element it would be lost
            name_end = run.tag + len(f"<{prefix}t")
            self._edits[Span(name_end, name_end)] = _KEEPS_SPACE

    def _can_be_cut(self, run: Run, place: Span) -> bool:
        in_cdata = self._xml.rfind("<![CDATA[", run.tag, place.start) > self._xml.rfind("]]>", run.tag, place.start)
        return _TAG.match(self._xml, run.tag) is not None and not in_cdata

    def _run_at(self, offset: int) -> Run | None:
        number = bisect_right(self._starts, offset) - 1
        return self._part.runs[number] if number >= 0 else None

    def _stretches(self, corrections: Iterable[Correction]) -> Iterator[tuple[Run | None, Span, str]]:
        """Where characters change side by side in one piece of text: its run, the place in the XML, and what it becomes there."""
        found: list[tuple[Run | None, Span, str]] = []
        for place, char in sorted(self._part.changed(corrections)):
            run, new = self._run_at(place.start), spelt_like(self._xml[place.start : place.end], char)
            if found and found[-1][0] is run and found[-1][1].end == place.start:
                _, before, start_of_new = found.pop()
                place, new = Span(before.start, place.end), start_of_new + new
            found.append((run, place, new))
        return iter(found)


def _literal(text: str) -> str:
    """Text that ``str.format`` leaves as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def numbers_in(xml: str) -> Iterator[int]:
    """The numbers that elements of Word's have as ``id``."""
    return map(int, _NUMBER.findall(xml))


def now() -> str:
    """The time of a revision or comment: now, or SOURCE_DATE_EPOCH, for files that come out the same again."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
