r"""LaTeX: paragraphs, headings, captions, footnotes and cells are prose; sentences go on over ``\textbf{…}`` and line ends.

Mathematics, code, comments, addresses, keys (``\label``, ``\cite`` …) and what stands before ``\begin{document}``, but for the title, stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from corrector.formats.builder import PassageBuilder
from corrector.formats.passages import Passage
from corrector.text.protect import is_han
from corrector.types import Document

_T = TypeVar("_T")

_HIDDEN = frozenset(
    {
        "verbatim", "Verbatim", "lstlisting", "minted", "comment", "filecontents", "alltt", "algorithm", "algorithmic", "tikzpicture",
        "pgfpicture", "picture", "equation", "align", "alignat", "flalign", "gather", "multline", "eqnarray", "math", "displaymath",
        "dmath", "forest", "circuitikz", "chemfig", "luacode", "pycode",
    }
)  # fmt: skip
"""Environments, also with a star, that hold code or mathematics."""

_ENVIRONMENT_ARGUMENTS: Mapping[str, int] = MappingProxyType(
    {
        "tabular": 1, "tabular*": 2, "tabularx": 2, "tabulary": 2, "longtable": 1, "xltabular": 2, "tblr": 1, "longtblr": 1, "array": 1,
        "minipage": 1, "multicols": 1, "thebibliography": 1, "wrapfigure": 2, "wraptable": 2, "subfigure": 1, "subtable": 1,
        "column": 1, "spacing": 1, "adjustbox": 1, "CJK": 2, "CJK*": 2,
    }
)  # fmt: skip
"""How many arguments of an environment are no prose."""


def _each(names: Mapping[str, _T]) -> Mapping[str, _T]:
    """The names by themselves, which stand together in the keys."""
    return MappingProxyType({name: value for together, value in names.items() for name in together.split()})


_ARGUMENTS = _each(
    {
        "label input include includeonly includegraphics includepdf bibliography bibliographystyle addbibresource usepackage "
        "RequirePackage documentclass pagestyle thispagestyle pagenumbering hypersetup geometry vspace hspace color textcolor "
        "colorbox href hyperlink hypertarget lstinputlisting verbatiminput lstset tikzset pgfplotsset ctexset graphicspath "
        "captionsetup index nocite setmainfont setsansfont setmonofont setCJKmainfont setCJKsansfont setCJKmonofont fontspec "
        "bibitem cline cmidrule scalebox rotatebox raisebox parbox tikz usetikzlibrary usetheme usecolortheme si num ce rowcolor "
        "cellcolor columncolor hyphenation linespread includestandalone subfile stepcounter refstepcounter arabic roman Roman value "
        "ifthenelse url nolinkurl author date institute": 1,
        "setlength addtolength setcounter addtocounter newcommand renewcommand providecommand DeclareRobustCommand newtheorem "
        "DeclareMathOperator fontsize rule multicolumn multirow resizebox fcolorbox inputminted SI qty addcontentsline "
        "addtocontents": 2,
        "definecolor newenvironment renewenvironment": 3,
    }
)
"""How many arguments of a command are no prose; those of any other command are."""

_REFERENCES = _each(
    {
        "ref eqref pageref autoref cref Cref nameref vref subref": "1",
        "cite citep citet citealp parencite textcite autocite footcite supercite upcite citeauthor citeyear": "[1]",
    }
)
"""What a sentence is read with in place of a reference."""

_SHOWN: Mapping[str, str] = MappingProxyType(
    {" ": " ", "\n": " ", "\r": " ", "quad": " ", "qquad": " ", "LaTeX": "LaTeX", "TeX": "TeX", "ldots": "…", "dots": "…"}
)
"""Commands that show text of their own."""

_BLOCKS = frozenset(
    {
        "part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph", "title", "subtitle", "caption", "item",
        "frametitle", "framesubtitle", "par", "newline", "linebreak", "newpage", "clearpage", "hline", "toprule", "midrule", "bottomrule",
        "keywords", "tabularnewline", "begin", "end", "\\", "[", "maketitle",
    }
)  # fmt: skip
"""Commands that no sentence goes on over, nor over the end of their argument."""

_ASIDE = frozenset({"footnote", "footnotetext", "thanks", "marginpar", "todo", "endnote", "sidenote"})
"""Commands whose argument is read by itself, while the sentence around goes on."""

_VERBATIM = frozenset({"verb", "Verb", "lstinline", "mintinline"})
_LITERAL = frozenset("%&#$_{}")

_TOKEN = re.compile(
    r"(?P<comment>%[^\r\n]*(?:\r\n|\r|\n)?[ \t]*)"
    r"|\\(?P<command>[A-Za-z@]+\*?|[㐀-鿿]+|(?s:.))"
    r"|(?P<math>\$\$?)"
    r"|(?P<edge>(?:\r\n|\r(?!\n)|\n)(?=[ \t]*[\r\n])|&)"
    r"|(?P<gap>\r\n|\r|\n)"
    r"|(?P<brace>[{}])"
    r"|(?P<tie>~)"
)
_INLINE = re.compile(r"\$(?:[^$\\\r\n]|\\.|\r?\n(?![ \t]*\r?\n))+\$")
_OPTION = re.compile(r"[ \t]*\[(?:[^\[\]\r\n]|\r?\n(?![ \t]*\r?\n)){0,1000}\]")
_DEFINED = re.compile(r"\\[A-Za-z@]+[^{}\r\n]{0,100}(?=\{)")
_SPACE = re.compile(r"[ \t]*(?:\r\n|\r|\n)?[ \t]*")
_NAME = re.compile(r"\{([^{}\r\n]*)\}")
_DELIMITED = re.compile(r"([^\sA-Za-z*{])[^\r\n]*?\1")


@dataclass(frozen=True, slots=True)
class Latex:
    """LaTeX in whatever state: no input is an error."""

    name: str = "latex"
    streams: bool = False

    def passages(self, document: Document) -> Iterator[Passage]:
        """The passages; footnotes come after the text around them."""
        return _Reader(document.text).passages()


def format_named(name: str, column: str | Sequence[str] | None) -> Latex:
    """``latex``, which has no columns."""
    return Latex()


class _Reader:
    """Reads regions of ``source`` one after another; ``_at`` is what comes next."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._builder = PassageBuilder(source)
        self._closing = _closing_braces(source)
        self._regions: list[tuple[int, int]] = []
        self._at = self._end = 0
        self._missing: set[str] = set()  # ends that were sought in the region and do not come any more

    def passages(self) -> Iterator[Passage]:
        start = self._source.find("\\begin{document}") if _has_preamble(self._source) else -1
        if start >= 0:
            for title in re.finditer(r"\\(?:sub)?title(?:\[[^\]]{0,1000}\])?(?=\{)", self._source[:start]):
                self._aside(title.end())
            end = self._source.find("\\end{document}", start)
        self._regions.insert(0, (max(start, 0), len(self._source) if start < 0 or end < 0 else end))
        for region in self._regions:  # which grow as footnotes are found
            yield from self._region(*region)

    def _region(self, start: int, end: int) -> Iterator[Passage]:
        self._at, self._end = start, end
        self._missing = set()
        edges: set[int] = set()  # closing braces that end a passage
        while token := _TOKEN.search(self._source, self._at, end):
            self._builder.verbatim(self._at, token.start())
            self._at = token.end()
            kind, name = token.lastgroup, (token["command"] or "").removesuffix("*")
            if kind == "edge" or name in _BLOCKS or token[0] == "$$" or token.start() in edges:
                yield from self._builder.passages()
            if kind == "command":
                self._command(name, token.start(), edges)
            elif kind == "math":
                self._math(token[0], token.start())
            elif kind == "gap":
                self._builder.gap()
            elif kind == "tie":
                self._builder.context(" ")
        self._builder.verbatim(self._at, end)
        yield from self._builder.passages()

    def _command(self, name: str, start: int, edges: set[int]) -> None:
        """What follows the name of a command that begins at ``start``."""
        if name in ("begin", "end"):
            self._environment(name)
        elif name == "[":
            self._at = self._find("\\]")
        elif name == "(":
            self._keep(start, self._find("\\)"))
        elif name in _LITERAL:
            self._builder.context(name)
        elif name in _VERBATIM:
            self._code(start)
        elif name == "def":
            self._skip_definition()
        elif name in _ASIDE:
            self._skip(0)
            self._aside(self._at)
        elif name in ("url", "nolinkurl"):
            self._skip(1)
            self._keep(start, self._at)
        elif name in _REFERENCES:
            self._skip(2)
            self._builder.context(_REFERENCES[name])
        elif name in _SHOWN:
            self._builder.context(_SHOWN[name])
        else:
            self._skip(_ARGUMENTS.get(name, 0))
        if name in _BLOCKS and self._at in self._closing:  # the argument of a heading, the title of a slide
            edges.add(self._closing[self._at])

    def _environment(self, command: str) -> None:
        named = _NAME.match(self._source, self._at)
        if not named:
            return
        self._at = named.end()
        name = named[1]
        if command == "end":
            return
        if name.removesuffix("*") in _HIDDEN:
            self._at = self._find(f"\\end{{{name}}}")
        else:
            self._skip(_ENVIRONMENT_ARGUMENTS.get(name, 0))

    def _math(self, sign: str, start: int) -> None:
        """Mathematics between dollar signs; a sign by itself is one."""
        if sign == "$$":
            self._at = self._find("$$")
        elif formula := _INLINE.match(self._source, start, self._end):
            self._keep(start, formula.end())
        else:
            self._builder.verbatim(start, self._at)

    def _code(self, start: int) -> None:
        """``\\verb|…|`` and its like, between braces or any other sign twice."""
        self._options()
        if self._source.startswith("mintinline", start + 1):
            self._skip(1)
        if self._at in self._closing:
            self._skip(1)
        elif code := _DELIMITED.match(self._source, self._at):
            self._at = code.end()
        self._keep(start, self._at)

    def _skip(self, count: int) -> None:
        """Goes on behind options and up to ``count`` arguments."""
        self._options()
        for _ in range(count):
            space = _SPACE.match(self._source, self._at)
            brace = space.end() if space else self._at
            if brace not in self._closing:
                return
            self._at = self._closing[brace] + 1
            self._options()

    def _options(self) -> None:
        while option := _OPTION.match(self._source, self._at):
            self._at = option.end()

    def _skip_definition(self) -> None:
        r"""Goes on behind ``\def\name#1{…}``."""
        if named := _DEFINED.match(self._source, self._at):
            self._at = named.end()
            self._skip(1)

    def _aside(self, brace: int) -> None:
        """The argument that begins at ``brace`` is read later."""
        if brace in self._closing:
            self._regions.append((brace + 1, self._closing[brace]))
            self._at = self._closing[brace] + 1

    def _keep(self, start: int, end: int) -> None:
        """What stands there is read in its sentence and never changes."""
        self._builder.verbatim(start, end, frozen=True)
        self._at = end

    def _find(self, ending: str) -> int:
        """Where the next ``ending`` ends; the end of the region where none does."""
        if ending not in self._missing:
            found = self._source.find(ending, self._at, self._end)
            if found >= 0:
                return found + len(ending)
            self._missing.add(ending)
        return self._end


def _has_preamble(source: str) -> bool:
    """Whether it begins as a document does, and not as a chapter, which may have a whole document in a listing."""
    before, found, _ = source.partition("\\documentclass")
    return bool(found) and not any(map(is_han, re.sub(r"(?<!\\)%[^\r\n]*", "", before)))


def _closing_braces(source: str) -> dict[int, int]:
    """The closing brace of every opening one that has one; neither counts in a comment or after a backslash."""
    closing: dict[int, int] = {}
    open_: list[int] = []
    for match in re.finditer(r"\\(?s:.)|%[^\r\n]*|[{}]", source):
        if match[0] == "{":
            open_.append(match.start())
        elif match[0] == "}" and open_:
            closing[open_.pop()] = match.start()
    return closing
