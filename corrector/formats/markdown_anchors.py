"""Headings of Markdown that links lead to: their addresses are made of their texts, so a correction would break the links.

Every program makes these addresses in another way (GitHub, Pandoc, Hugo, MkDocs, Obsidian): in lower case or not, punctuation left
out or not, hyphens or underscores for spaces. What all of them keep are the letters and digits in their order.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from urllib.parse import unquote

from corrector.formats.markdown_names import ATTRIBUTES
from corrector.formats.passages import Passage

# Of any document, as a link to this one may name it. The first repeats are bounded, so that it is linear.
_FRAGMENT = re.compile(
    r"\](?:\(|:)\s{0,9}[^\s()<>#]{0,500}#((?:[^\s()<>]|\([^\s()<>]{0,100}\))+)"  # [text](#fragment), [label]: #fragment
    r"|\[\[[^\[\]\n|#]{0,500}#([^\[\]\n|]+)"  # [[page#fragment|text]]
    r"|<[^<>\"'\n#]{0,500}#([^<>\n]+)>"  # <#fragment>
    r"|href\s{0,9}=\s{0,9}(?:\"[^\"#]{0,500}#([^\"\n]+)|'[^'#]{0,500}#([^'\n]+))",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"[-_]\d{1,4}\Z")  # the second heading of the same text


class Anchors:
    """The headings that the links of ``source`` may lead to."""

    def __init__(self, source: str) -> None:
        self._known = {key for fragment in _fragments(source) for key in (_key(fragment), _key(_COUNTED.sub("", fragment)))}

    def marked(self, heading: Passage) -> Passage:
        """A heading, or a part of one, as an anchor if links lead to it."""
        key = _key(ATTRIBUTES.sub("", heading.text))
        is_anchor = not self._known.isdisjoint((key, key.lstrip("0123456789")))  # Pandoc leaves out a number at the start
        return dataclasses.replace(heading, anchor=True) if is_anchor else heading


def _fragments(source: str) -> Iterator[str]:
    """What follows the ``#`` in each address, as it was meant; several for ``[[#heading#heading below it]]``."""
    for match in _FRAGMENT.finditer(source):
        yield from unquote(match[match.lastindex or 0]).split("#")


def _key(text: str) -> str:
    """What all addresses of a heading have in common."""
    return "".join(filter(str.isalnum, text.lower()))
