"""Attribute lists in Markdown, as kramdown, Pandoc and others have them: ``{: .note title="…"}``, ``{#id key=value}``."""

from __future__ import annotations

import dataclasses
import re

from corrector.formats.passages import Passage
from corrector.types import Span

# Every repeat is bounded, so that it is linear. All in the braces has to be an attribute: there are braces in prose, too.
_VALUE = r"\"[^\"\n]{0,1000}\"|'[^'\n]{0,1000}'|[^\s\"'{}]{1,1000}"
_ATTRIBUTE = rf"(?:[#.][^\s{{}}\"'=]{{1,200}}|[A-Za-z][A-Za-z0-9_:.-]{{0,100}}(?:=(?:{_VALUE}))?|-)"
ATTRIBUTES = re.compile(rf"\{{:?[ \t]{{0,9}}{_ATTRIBUTE}(?:[ \t]{{1,9}}{_ATTRIBUTE}){{0,40}}[ \t]{{0,9}}\}}")
"""An attribute list: identifiers, classes, pairs of a key and a value, and keys alone, with spaces between them."""


def with_attributes_protected(passage: Passage) -> Passage:
    """The passage with its attribute lists protected."""
    if "{" not in passage.text:
        return passage
    lists = (Span(*match.span()) for match in ATTRIBUTES.finditer(passage.text))
    return dataclasses.replace(passage, protected=(*passage.protected, *lists))
