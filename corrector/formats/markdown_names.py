"""What machines read in the text of Markdown, though CommonMark takes it for text: attribute lists, citations, some addresses."""

from __future__ import annotations

import dataclasses
import re

from corrector.formats.passages import Passage
from corrector.types import Span

# Every repeat is bounded, so that it is linear. All in the braces has to be an attribute: there are braces in prose, too.
_VALUE = r"\"[^\"\n]{0,1000}\"|'[^'\n]{0,1000}'|[^\s\"'{}]{1,1000}"
_ATTRIBUTE = rf"(?:[#.][^\s{{}}\"'=]{{1,200}}|[A-Za-z][A-Za-z0-9_:.-]{{0,100}}(?:=(?:{_VALUE}))?|-)"
ATTRIBUTES = re.compile(rf"\{{:?[ \t]{{0,9}}{_ATTRIBUTE}(?:[ \t]{{1,9}}{_ATTRIBUTE}){{0,40}}[ \t]{{0,9}}\}}")
"""An attribute list of kramdown, Pandoc and others: ``{: .note title="…"}``, ``{#id key=value}``."""

_OTHERS = re.compile(
    r"(?<![A-Za-z0-9_.])@\w[\w:.-]{0,100}(?=[\];,])"  # [@key; @key, p. 3]
    r"|(?<![A-Za-z0-9_.])@(?:fig|tbl|eq|sec|lst)[:-][\w:.-]{1,100}"  # references within the text, of pandoc-crossref and Quarto
    r"|\]\([^()\n./]{0,500}[./][^()\n]{0,500}\)"  # [text](folder/an address with spaces.png), a link to some programs
)


def with_names_protected(passage: Passage) -> Passage:
    """The passage with these protected."""
    names = [Span(*match.span()) for pattern in (ATTRIBUTES, _OTHERS) for match in pattern.finditer(passage.text)]
    return dataclasses.replace(passage, protected=(*passage.protected, *names)) if names else passage
