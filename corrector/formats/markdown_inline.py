"""The inline part of Markdown with its offsets, which markdown-it itself does not keep.

The parser is markdown-it's own; what is added is a note, at each step of it, of which range of the source was consumed
and what came of it. A range is noted as text only if exactly its characters were taken over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType


@dataclass(frozen=True, slots=True)
class Piece:
    """What a reader sees of ``start`` to ``end`` of an inline source.

    ``text``: the characters as they stand, not to be changed if ``frozen``; ``context``: ``shown`` instead; ``gap``: a line
    break that is none to a reader; ``break``: one that is; ``html``: the tag ``shown``; ``image``: an alternative text,
    which is Markdown itself and no part of the sentence.
    """

    kind: Literal["text", "context", "gap", "break", "html", "image"]
    start: int
    end: int
    shown: str = ""
    frozen: bool = False
    delimiter: Token | None = None  # of emphasis: whether it is a mark or text is known at the end only


class TracingInline(ParserInline):
    """An inline parser that tells the pieces of a source. One source at a time: not to be shared by threads."""

    def __init__(self) -> None:
        super().__init__()
        self.ruler2.disable("fragments_join")  # it would merge the delimiters that are looked at afterwards
        self._state: StateInline | None = None
        self._pieces: list[Piece] = []

    def pieces(self, source: str, md: MarkdownIt, env: EnvType) -> Iterator[Piece]:
        """The pieces in order; what lies in none of them, such as a link's address, is not seen by a reader."""
        self._pieces = []
        self._state = StateInline(source, md, env, [])
        self.tokenize(self._state)
        for rule in self.ruler2.getRules(""):
            rule(self._state)
        self._state = None
        return filter(_is_seen, self._pieces)

    def tokenize(self, state: StateInline) -> None:
        """The loop of markdown-it, with notes. The text of an image is parsed in a state of its own, without notes."""
        if state is not self._state:
            super().tokenize(state)
            return
        rules, end = self.ruler.getRules(""), state.posMax
        while state.pos < end:
            start, tokens, pending, known = state.pos, len(state.tokens), len(state.pending), len(self._pieces)
            nested_too_deep = state.level >= state.md.options["maxNesting"]
            if nested_too_deep or not any(rule(state, False) for rule in rules):
                state.append_pending(state.src[start])
                state.pos = start + 1
            if len(state.tokens) == tokens:
                added = state.pending[pending:]
                self._pieces += _verbatim(state, start, added)
            else:
                if pending and state.tokens[tokens].type == "text":  # the text that was pending has become a token first
                    tokens += 1
                self._note(state, start, state.tokens[tokens:], known)
        if state.pending:
            state.pushPending()

    def _note(self, state: StateInline, start: int, new: list[Token], known: int) -> None:
        """Notes what came of ``start`` up to the state's position: the ``new`` tokens, and inner pieces after ``known``."""
        end, first = state.pos, new[0]
        if first.type == "text":
            self._pieces += _delimiters(state, start, new)
        elif first.type == "text_special" and first.content == state.src[start:end]:
            self._pieces += _verbatim(state, start, first.content)
        elif first.type in ("text_special", "code_inline", "math_inline"):
            self._pieces.append(Piece("context", start, end, first.content))
        elif first.type == "html_inline":
            self._pieces.append(Piece("html", start, end, first.content))
        elif first.type in ("softbreak", "hardbreak"):
            self._pieces.append(Piece("gap" if first.type == "softbreak" else "break", start, end))
        elif first.type == "image":
            label = Piece("image", start + 2, start + 2 + len(first.content))
            if state.src[label.start : label.end] == first.content and not _is_name(state.src[label.end : end]):
                self._pieces.append(label)
        elif first.type == "link_open" and state.src[start] == "<":
            self._pieces.append(Piece("context", start, end, state.src[start + 1 : end - 1]))
        elif first.type == "link_open":
            inner = self._pieces[known:]
            if inner and _is_name(state.src[inner[-1].end : end]):
                self._pieces[known:] = [replace(piece, frozen=True) for piece in inner if piece.kind != "image"]


def _verbatim(state: StateInline, start: int, added: str) -> Iterator[Piece]:
    """The source from ``start`` on as text, if just that was added."""
    if added == state.src[start : state.pos]:
        yield Piece("text", start, state.pos)


def _delimiters(state: StateInline, start: int, tokens: list[Token]) -> Iterator[Piece]:
    """Marks of emphasis, each with its token, from which it is known in the end whether it is a mark."""
    if "".join(token.content for token in tokens) == state.src[start : state.pos]:
        for token in tokens:
            yield Piece("text", start, start + len(token.content), delimiter=token)
            start += len(token.content)


def _is_seen(piece: Piece) -> bool:
    """Whether a piece is text. Lone ``*`` and ``~`` are left out: most are marks that other programs understand."""
    token = piece.delimiter
    return token is None or (token.type == "text" and token.content.strip("*~") != "")


def _is_name(rest: str) -> bool:
    """Whether a link or image that goes on with ``rest`` after its text is looked up by this text: ``[text]``, ``[text][]``."""
    return rest in ("]", "][]")
