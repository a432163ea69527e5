"""Comments of Obsidian, ``%%…%%``, for markdown-it: as with those of HTML, nothing of them is read.

Percent signs are in prose, too, so what is never closed is no comment, nor does one begin after a digit (50%%).
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_MARK = "%%"
_OPENING = re.compile(r"(?<![0-9%])%%(?!%)")


def comments_plugin(md: MarkdownIt) -> None:
    """Has ``md`` leave out comments: within a paragraph, and blocks between two lines of nothing but ``%%``; code stays code."""
    md.block.ruler.before("table", "comment", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    md.inline.ruler.push("comment", _inline)


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A block from line ``start`` on, if it is closed before line ``end`` and before the list item ends that it is in."""
    if not _is_mark(state, start):
        return False
    for line in range(start + 1, end):
        if not state.isEmpty(line) and state.sCount[line] < state.blkIndent:
            return False
        if _is_mark(state, line):
            state.line = line + 1
            return True
    return False


def _is_mark(state: StateBlock, line: int) -> bool:
    content = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    return content.rstrip(" \t") == _MARK and not state.is_code_block(line)


def _inline(state: StateInline, silent: bool) -> bool:
    """A comment that is closed in the same paragraph. It has no token, so that what stands around it is read together."""
    if not _OPENING.match(state.src, state.pos):
        return False
    end = state.src.find(_MARK, state.pos + len(_MARK), state.posMax)
    if end >= 0:
        state.pos = end + len(_MARK)
    return end >= 0
