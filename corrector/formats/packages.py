"""Documents that are zip archives of XML: the text of their parts changes, and every other byte of every other part stays.

What each kind of them consists of, and how its parts are read, the classes named in ``corrector.formats.PACKAGES`` know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from corrector.errors import InputError
from corrector.formats import PACKAGES, READ_ONLY
from corrector.formats.archive import Archive
from corrector.text.decode import STDIN
from corrector.types import CorrectedDocument, Document

if TYPE_CHECKING:
    from corrector.command import DocumentCorrector

AUTHOR = "electra-correct"
"""Whose the revisions and comments are that are put into documents."""

LEAST_CONFIDENCE = 0.25
"""What a suggestion has to have to be worth a comment: one in two or three of these is right."""

SIGNATURES_OF_OFFICE = "_xmlsignatures/"


@dataclass(frozen=True)
class PackageOptions:
    """The names of the ``columns`` that are corrected, where there are columns; in Word documents ``track_changes`` says that corrections
    are revisions, ``comments`` that suggestions are comments."""

    columns: tuple[str, ...] = ()
    track_changes: bool = False
    comments: bool = False


class PackagePart(Protocol):
    """A text in a package. The path of its ``document`` is like ``a.docx/word/document.xml``."""

    @property
    def document(self) -> Document: ...

    def correct(self, corrector: DocumentCorrector, marked: Document) -> CorrectedDocument:
        """The corrections in ``document``, of which ``marked`` may protect more."""

    def written(self, found: CorrectedDocument) -> bytes | None:
        """The member with what was found in ``document``; None if it stays as it is."""


class PartedFile(Protocol):
    """A file with texts in it; of the ``members``, which are at least one, the main one is first."""

    @property
    def members(self) -> tuple[str, ...]: ...

    def part(self, member: str) -> PackagePart: ...

    def refuse_signed(self) -> None:
        """Raises InputError when a change would break a signature."""

    def replaced(self, changed: Mapping[str, bytes]) -> bytes:
        """The file with what was written of its parts; the very data it was made from where nothing was."""


def open_parted(data: bytes, path: str | None, name: str, options: PackageOptions) -> PartedFile:
    """The file of the format ``name``. Raises InputError for what is not of it, and for a format that needs what is not installed."""
    if name not in READ_ONLY:
        return PackageFile(data, path, name, options)
    module, kind = PACKAGES[name]
    try:
        return cast(PartedFile, getattr(import_module(module), kind)(data, path, options))
    except ModuleNotFoundError as error:
        raise InputError(path or STDIN, f"{error.name} is not installed; pip install electra-correct[{name}]") from None


class Package(Protocol):
    """What is read of an archive: the ``members`` with text, the main one first. A member named like ``signatures`` signs them.

    A package is made from its Archive and from PackageOptions.
    """

    signatures: str

    @property
    def members(self) -> tuple[str, ...]: ...

    def part(self, member: str) -> PackagePart: ...

    def common(self, changed: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """Members that change with parts but are none, or not only; ``changed`` are the parts."""


class PackageFile:
    """A file that is a package, of the kind ``name``.

    Everything about it raises InputError for what is no such document, damaged, encrypted or too large, and ConfigError for a
    column that is not there.
    """

    def __init__(self, data: bytes, path: str | None, name: str, options: PackageOptions) -> None:
        module, kind = PACKAGES[name]
        self._data = data
        self._archive = Archive(data, path or STDIN)
        self._package = cast(Package, getattr(import_module(module), kind)(self._archive, options))

    @property
    def members(self) -> tuple[str, ...]:
        """The names of the members with text, at least one; the main one first."""
        return self._package.members

    def part(self, member: str) -> PackagePart:
        """The text of a member."""
        return self._package.part(member)

    def refuse_signed(self) -> None:
        """Raises InputError when a change would break a signature."""
        if any(member.startswith(self._package.signatures) for member in self._archive.names):
            raise InputError(self._archive.path, "is signed, and a correction would break the signature; correct an unsigned copy")

    def replaced(self, changed: Mapping[str, bytes]) -> bytes:
        """The file with some members replaced, and what they have in common; the very data it was made from where none is."""
        return self._archive.replaced({**changed, **self._package.common(changed)}) if changed else self._data


class Separate:
    """What packages are whose parts have nothing in common."""

    def common(self, _: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """Nothing."""
        return {}


def not_a(kind: str, archive: Archive, missing: str) -> InputError:
    """The error for an archive that is something else than it should be."""
    what = "an Office document" if "[Content_Types].xml" in archive.names else "a zip archive"
    return InputError(archive.path, f"{what}, but not {kind}: it has no {missing}")
