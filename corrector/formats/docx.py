"""Word documents (``.docx``): the text changes inside its runs, and every other byte of every other part stays.

Corrected are the body, headers, footers, footnotes, endnotes and comments. A paragraph is read over its runs, whatever
their styles; deleted text, fields but links and what was typed into forms, code and what is marked as not to be proofed are left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corrector.errors import InputError
from corrector.formats.archive import Archive
from corrector.formats.wordml import Part, code_styles
from corrector.text.decode import STDIN
from corrector.types import CorrectedDocument, Document

if TYPE_CHECKING:
    from corrector.command import DocumentCorrector

_CONTENT_TYPES = "[Content_Types].xml"
_STYLES = re.compile(r"word/styles\d*\.xml", re.ASCII)
# Word names its parts so, with a number where there are several; some programs number the body as well.
_BODY = re.compile(r"word/document\d*\.xml", re.ASCII)
_TEXT = re.compile(r"word/(?:document|header|footer|footnotes|endnotes|comments)\d*\.xml", re.ASCII)


@dataclass(frozen=True)
class DocxResult:
    """``data`` is the corrected file, the very input where nothing changed; ``documents`` are its parts, for reports.

    The text of a part is its paragraphs, a line each, and its path is like ``a.docx/word/document.xml``. The body comes
    first.
    """

    data: bytes
    documents: tuple[CorrectedDocument, ...]


def correct_docx(corrector: DocumentCorrector, data: bytes, path: str | None) -> DocxResult:
    """The Word document in ``data`` with its text corrected.

    Raises InputError, and changes nothing, for what is no Word document, is damaged, encrypted or too large, and for a
    signed one that would lose its signature.
    """
    name = path or STDIN
    archive = Archive(data, name)
    if not any(map(_BODY.fullmatch, archive.names)):
        what = "a zip archive" if _CONTENT_TYPES not in archive.names else "an Office document"
        raise InputError(name, f"{what}, but not a Word document: it has no word/document.xml")
    styles: frozenset[str] = frozenset()
    for member in filter(_STYLES.fullmatch, archive.names):
        styles |= code_styles(archive.read(member), f"{name}/{member}")
    documents: list[CorrectedDocument] = []
    changed: dict[str, bytes] = {}
    # The body comes first, wherever it lies: a marker in it may be for all parts.
    for member in sorted(filter(_TEXT.fullmatch, archive.names), key=lambda name: not _BODY.fullmatch(name)):
        part = Part(archive.read(member), f"{name}/{member}", styles)
        document = Document(f"{name}/{member}", part.text, protected=part.protected, part=member)
        corrected = corrector.correct_document(document)
        documents.append(corrected)
        if corrected.corrections:
            changed[member] = part.corrected(corrected.corrections)
    if changed and any(member.startswith("_xmlsignatures/") for member in archive.names):
        raise InputError(name, "is signed, and a correction would break the signature; correct an unsigned copy")
    return DocxResult(archive.replaced(changed) if changed else data, tuple(documents))
