"""Which format a file has, and what of it is prose. The modules behind the names are loaded when they are wanted.

A format module has ``format_named(name, column) -> Format``. Those in PACKAGES are known by name and extension too, but
they are no text: ``corrector.formats.packages`` takes bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, cast

from corrector.errors import ConfigError

if TYPE_CHECKING:
    from corrector.formats.passages import Passage
    from corrector.types import Document


class Format(Protocol):
    """Finds the prose of a document.

    With ``streams`` a document may come as blocks of complete lines, each with ``passages`` of its own; without, it must
    come whole. ``passages`` raises InputError for a document that is not of this format.
    """

    @property
    def name(self) -> str: ...

    @property
    def streams(self) -> bool: ...

    def passages(self, document: Document) -> Iterator[Passage]: ...


TEXT = "text"

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        TEXT: "corrector.formats.plain",
        "markdown": "corrector.formats.markdown",
        "ipynb": "corrector.formats.notebook",
        "rst": "corrector.formats.rst",
        "latex": "corrector.formats.latex",
        "html": "corrector.formats.markup",
        "xml": "corrector.formats.markup",
        "srt": "corrector.formats.subtitles",
        "vtt": "corrector.formats.subtitles",
        "ass": "corrector.formats.subtitles",
        "po": "corrector.formats.gettext",
        "json": "corrector.formats.tables",
        "yaml": "corrector.formats.yaml_scalars",
        "jsonl": "corrector.formats.tables",
        "csv": "corrector.formats.tables",
        "tsv": "corrector.formats.tables",
        "source": "corrector.formats.source",
    }
)
"""The module behind the name of each format of text."""

PACKAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "docx": ("corrector.formats.docx", "Docx"),
        "pptx": ("corrector.formats.pptx", "Pptx"),
        "xlsx": ("corrector.formats.xlsx", "Xlsx"),
        "odf": ("corrector.formats.odf", "OpenDocument"),
        "epub": ("corrector.formats.epub", "Epub"),
        "pdf": ("corrector.formats.pdf", "PdfFile"),
    }
)
"""The module and the class behind the name of each format that is no text, but has texts in it."""

READ_ONLY = frozenset({"pdf"})
"""Formats that are read, and at most commented on: their text stays."""

NAMES = (*FORMATS, *PACKAGES)

_SOURCE = (
    ".py", ".pyi", ".pyx", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".java", ".kt", ".kts", ".scala", ".groovy", ".gradle", ".go",
    ".rs", ".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".cu", ".cs", ".fs", ".vb", ".m", ".mm", ".swift", ".dart", ".php",
    ".rb", ".pl", ".pm", ".lua", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd", ".sql", ".r", ".jl", ".ex", ".exs", ".erl",
    ".hs", ".ml", ".clj", ".lisp", ".el", ".vim", ".pas", ".f90", ".vhd", ".sv", ".asm", ".css", ".scss", ".sass", ".less", ".proto",
    ".thrift", ".graphql", ".cmake", ".tf", ".sol", ".zig", ".nim",
)  # fmt: skip
"""The extensions of programs and style sheets in languages in which many write."""

EXTENSIONS: Mapping[str, str] = MappingProxyType(
    {
        ".txt": TEXT,
        ".text": TEXT,
        ".md": "markdown",
        ".markdown": "markdown",
        ".mkd": "markdown",
        ".ipynb": "ipynb",
        ".rst": "rst",
        ".rest": "rst",
        ".tex": "latex",
        ".ltx": "latex",
        ".html": "html",
        ".htm": "html",
        ".vue": "html",
        ".svelte": "html",
        ".wxml": "html",
        ".hocr": "html",
        ".xml": "xml",
        ".xhtml": "xml",
        ".svg": "xml",
        ".rss": "xml",
        ".atom": "xml",
        ".srt": "srt",
        ".vtt": "vtt",
        ".ass": "ass",
        ".ssa": "ass",
        ".xlf": "xml",
        ".xliff": "xml",
        ".po": "po",
        ".json": "json",
        ".arb": "json",
        ".yaml": "yaml",
        ".yml": "yaml",
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".csv": "csv",
        ".tsv": "tsv",
        ".tab": "tsv",
        ".docx": "docx",
        ".docm": "docx",
        ".pptx": "pptx",
        ".pptm": "pptx",
        ".xlsx": "xlsx",
        ".xlsm": "xlsx",
        ".odt": "odf",
        ".odp": "odf",
        ".epub": "epub",
        ".pdf": "pdf",
        **dict.fromkeys(_SOURCE, "source"),
    }
)
"""The format that a file's extension, in lower case, stands for."""

SEARCHED = frozenset(EXTENSIONS) - {*_SOURCE, ".json", ".yaml", ".yml", ".xlsx", ".xlsm", ".pdf"}
"""The extensions of files that are taken in directories; most of JSON and YAML is for programs only, of sheets the columns must be named,
and a PDF is mostly made from something else that can be corrected.
So must programs be: of what is found in comments, which are short, more is right than in prose."""


def format_name(path: str | None, name: str | None = None) -> str:
    """The name of a file's format: ``name`` if given, else what its extension stands for, else ``text``.

    Raises ConfigError for a ``name`` that is not in NAMES.
    """
    if name is None:
        return EXTENSIONS.get(os.path.splitext(path)[1].lower(), TEXT) if path is not None else TEXT
    if name not in NAMES:
        raise ConfigError("options", "input-format", f"{name!r} is not one of {', '.join(NAMES)}")
    return name


def format_of(path: str | None, name: str | None = None, column: str | Sequence[str] | None = None) -> Format:
    """The format of a file; ``column``, one or several, is for those that have columns and is ignored by the others.

    Raises ConfigError for an unknown ``name``, and ValueError for one of PACKAGES.
    """
    found = format_name(path, name)
    if found in PACKAGES:
        raise ValueError(f"{found} is no text: use corrector.formats.packages")
    return cast(Format, import_module(FORMATS[found]).format_named(found, column))
