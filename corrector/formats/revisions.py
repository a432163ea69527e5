"""Corrections of a Word document as revisions, which its reader accepts or rejects: the old characters deleted, the new ones inserted.

ECMA-376 part 1, section 17.13.5 has the elements. What stands in an insertion already is changed there, as is what no run holds.
"""

from __future__ import annotations

import os
import re
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import count

from corrector.formats.wordml import Run, WordPart
from corrector.formats.xml_parts import edited, spelt_like
from corrector.types import Correction, Span

AUTHOR = "electra-correct"

_TAG = re.compile(r"<((?:[^\s<>/:]+:)?)t\b[^>]*>")
_NUMBER = re.compile(r"""\bid\s*=\s*["'](\d{1,9})["']""")
_OLD_PROPERTIES = re.compile(r"<((?:[^\s<>/:]+:)?rPrChange)\b.*?</\1\s*>", re.DOTALL)
_KEEPS_SPACE = ' xml:space="preserve"'


def with_revisions(part: WordPart, corrections: Iterable[Correction]) -> bytes:
    """The XML of a part with corrections of its text as revisions."""
    xml = part.xml.text
    numbers = count(1 + max((int(number) for number in _NUMBER.findall(xml)), default=0))
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    edits: dict[Span, str] = {}
    for run, place, new in _stretches(part, corrections):
        tag = _TAG.match(xml, run.tag) if run else None
        if run is None or tag is None or run.is_inserted or _is_in_cdata(xml, run, place.start):
            edits[place] = new
            continue
        prefix, old = tag[1], xml[place.start : place.end]
        properties = _OLD_PROPERTIES.sub("", xml[run.properties.start : run.properties.end]) if run.properties else ""
        deleted, inserted = (f'{prefix}id="{next(numbers)}" {prefix}author="{AUTHOR}" {prefix}date="{date}"' for _ in range(2))
        edits[place] = (
            f"</{prefix}t></{prefix}r>"
            f"<{prefix}del {deleted}><{prefix}r>{properties}<{prefix}delText>{old}</{prefix}delText></{prefix}r></{prefix}del>"
            f"<{prefix}ins {inserted}><{prefix}r>{properties}<{prefix}t>{new}</{prefix}t></{prefix}r></{prefix}ins>"
            f"<{prefix}r>{properties}<{prefix}t{_KEEPS_SPACE}>"
        )
        if "xml:space" not in tag[0] and xml[place.start - 1].isspace():  # it would be at the end of its element now, and lost
            name_end = run.tag + len(f"<{prefix}t")
            edits[Span(name_end, name_end)] = _KEEPS_SPACE
    return edited(part.xml, edits.items())


def _stretches(part: WordPart, corrections: Iterable[Correction]) -> Iterator[tuple[Run | None, Span, str]]:
    """Where characters change side by side in one piece of text: its run, the place in the XML, and what it becomes there."""
    starts = [run.start for run in part.runs]
    found: list[tuple[int, Span, str]] = []
    for place, char in sorted(part.changed(corrections)):
        number = bisect_right(starts, place.start) - 1
        new = spelt_like(part.xml.text[place.start : place.end], char)
        if found and found[-1][0] == number and found[-1][1].end == place.start:
            _, before, start_of_new = found.pop()
            place, new = Span(before.start, place.end), start_of_new + new
        found.append((number, place, new))
    for number, place, new in found:
        yield part.runs[number] if number >= 0 else None, place, new


def _is_in_cdata(xml: str, run: Run, at: int) -> bool:
    return xml.rfind("<![CDATA[", run.tag, at) > xml.rfind("]]>", run.tag, at)
