"""EPUB books: the chapters in reading order, then the other pages and the tables of contents.

EPUB 3.3, sections 4.2 (container) and 5 (package document), says which those are. What should be XHTML and is not
well-formed is read as HTML.
"""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from corrector.apply import corrected_text
from corrector.errors import InputError
from corrector.formats.archive import Archive
from corrector.formats.markup import Html, Xml
from corrector.formats.packages import PackageOptions, Separate, not_a
from corrector.formats.passages import Passage, correct_passages
from corrector.formats.xml_tokens import Element, XmlTag, xml_tokens
from corrector.text.files import decode, encode
from corrector.types import CorrectedDocument, Document

if TYPE_CHECKING:
    from corrector.command import DocumentCorrector

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html"})
_CONTENTS = frozenset({"application/x-dtbncx+xml"})  # the table of contents of EPUB 2


class Epub(Separate):
    """The book in ``archive``. Raises InputError when it is none, is damaged, or may not be read."""

    signatures = "META-INF/signatures.xml"

    def __init__(self, archive: Archive, _: PackageOptions) -> None:
        self._archive = archive
        if _CONTAINER not in archive.names:
            raise not_a("an EPUB book", archive, _CONTAINER)
        found = tuple(dict.fromkeys(name for name in self._listed() if name in archive.names))
        if not found:
            raise InputError(archive.path, "an EPUB book without a page")
        encrypted = self._encrypted()
        self.members = tuple(name for name in found if name not in encrypted)
        if not self.members:
            raise InputError(archive.path, "its pages are encrypted, as of books that may not be copied; take one that is not")

    def part(self, member: str) -> EpubPart:
        """The text of a member."""
        return EpubPart(self._archive.read(member), self._archive.path, member)

    def _listed(self) -> Iterator[str]:
        """The members with text that the package documents list: those in reading order, then the others."""
        for rootfile in self._elements(_CONTAINER, "rootfile"):
            package = rootfile.attributes.get("full-path", "")
            if package not in self._archive.names:
                continue
            items = {item.attributes.get("id", ""): item for item in self._elements(package, "item")}
            spine = [items.get(place.attributes.get("idref", "")) for place in self._elements(package, "itemref")]
            for kinds in (_PAGES, _CONTENTS):
                for item in (*spine, *items.values()):
                    if item is not None and item.attributes.get("media-type") in kinds:
                        address = posixpath.join(posixpath.dirname(package), unquote(item.attributes.get("href", "")))
                        yield posixpath.normpath(address)

    def _encrypted(self) -> frozenset[str]:
        if _ENCRYPTION not in self._archive.names:
            return frozenset()
        addresses = (one.attributes.get("URI", "") for one in self._elements(_ENCRYPTION, "CipherReference"))
        return frozenset(posixpath.normpath(unquote(address)) for address in addresses)

    def _elements(self, member: str, name: str) -> Iterator[Element]:
        """The elements of that local name in a member."""
        try:
            for token in xml_tokens(decode(self._archive.read(member), member)):
                if isinstance(token, XmlTag) and token.kind == "start" and token.element.name == name:
                    yield token.element
        except InputError as error:
            raise InputError(self._archive.path, f"a damaged EPUB book ({error})") from None


class EpubPart:
    """A page or a table of contents, ``document``: its source, as an editor of books shows it."""

    def __init__(self, data: bytes, book: str, member: str) -> None:
        name = f"{book}/{member}"
        try:
            self.document = dataclasses.replace(decode(data, name), part=member)
        except InputError:
            raise InputError(name, "is neither UTF-8 nor UTF-16; the book is damaged") from None

    def correct(self, corrector: DocumentCorrector, marked: Document) -> CorrectedDocument:
        """The corrections in ``document``, of which ``marked`` may protect more."""
        return correct_passages(corrector, marked, _passages(marked))

    def written(self, found: CorrectedDocument) -> bytes | None:
        """The page with the corrections made; None without any."""
        document = self.document
        return encode(corrected_text(found), document.encoding, document.path) if found.corrections else None


def _passages(document: Document) -> tuple[Passage, ...]:
    try:
        return tuple(Xml().passages(document))
    except InputError:  # not well-formed
        return tuple(Html().passages(document))
