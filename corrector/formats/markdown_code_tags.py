"""Code in Markdown between the tags of templates, as Jekyll, Hexo and Hugo have it: ``{% highlight c %} … {% endhighlight %}``."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from corrector.formats.passages import Passage
from corrector.text.protect import SpanIndex
from corrector.types import Span

_TAG = re.compile(
    r"\{%-?\s{0,9}(?P<end>end)?(?P<name>highlight|codeblock|code|comment)\b[^{}\n]*%\}"
    r"|\{\{[<%]\s{0,9}(?P<slash>/)?\s{0,9}highlight\b[^{}\n]*[%>]\}\}"
)


class CodeBetweenTags:
    """What stands in ``source`` between a tag that begins code, or a comment, and the next that ends it."""

    def __init__(self, source: str) -> None:
        self._spans = tuple(_spans(source))
        self._index = SpanIndex(self._spans)

    def protected_in(self, passage: Passage) -> Passage:
        """The passage with such code protected."""
        if not self._spans:
            return passage
        places = passage.places
        if isinstance(places, int):
            within = self._index.within(Span(places, places + len(passage.text)))
            code = [Span(span.start - places, span.end - places) for span in within]
        else:
            code = [Span(at, at + 1) for at, place in enumerate(places) if self._index.touches(place)]
        return dataclasses.replace(passage, protected=(*passage.protected, *code))


def _spans(source: str) -> Iterator[Span]:
    start, opened = -1, None
    for tag in _TAG.finditer(source):
        if opened is None and not (tag["end"] or tag["slash"]):
            start, opened = tag.end(), tag["name"] or "{{"
        elif (tag["end"] or tag["slash"]) and opened == (tag["name"] or "{{"):
            yield Span(start, tag.start())
            opened = None
