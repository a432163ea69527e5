"""Stretches of Markdown that stay, whatever its parser takes them for.

These are code between the tags of Jekyll, Hexo and Hugo, ``{% highlight c %} … {% endhighlight %}``, tags of notes, ``#book/read``, and
front matter of slides.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from corrector.formats.markdown_front_matter import slides_front_matter
from corrector.formats.passages import Passage
from corrector.text.protect import SpanIndex, merged
from corrector.types import Span

_TAG = re.compile(
    r"\{%-?\s{0,9}(?P<end>end)?(?P<name>highlight|codeblock|code|comment)\b[^{}\n]*%\}"
    r"|\{\{[<%]\s{0,9}(?P<slash>/)?\s{0,9}highlight\b[^{}\n]*[%>]\}\}"
)
_NOTE_TAG = re.compile(r"(?<!\S)#[\w/-]{1,100}(?!\S)")


class KeptStretches:
    """All such stretches of ``source``."""

    def __init__(self, source: str) -> None:
        note_tags = (Span(*tag.span()) for tag in _NOTE_TAG.finditer(source))
        self._spans = merged((*_code(source), *note_tags, *slides_front_matter(source)))
        self._index = SpanIndex(self._spans)

    def protected_in(self, passage: Passage) -> Passage:
        """The passage with what is kept of it protected."""
        if not self._spans:
            return passage
        places = passage.places
        if isinstance(places, int):
            within = self._index.within(Span(places, places + len(passage.text)))
            kept = [Span(span.start - places, span.end - places) for span in within]
        else:
            kept = [Span(at, at + 1) for at, place in enumerate(places) if self._index.touches(place)]
        return dataclasses.replace(passage, protected=(*passage.protected, *kept))


def _code(source: str) -> Iterator[Span]:
    """What stands between a tag that begins code, or a comment, and the next that ends it."""
    start, opened = -1, None
    for tag in _TAG.finditer(source):
        if opened is None and not (tag["end"] or tag["slash"]):
            start, opened = tag.end(), tag["name"] or "{{"
        elif (tag["end"] or tag["slash"]) and opened == (tag["name"] or "{{"):
            yield Span(start, tag.start())
            opened = None
