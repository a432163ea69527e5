"""Documents that are zip archives, for tests: made, corrected and looked into."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

from corrector.command import DocumentCorrector
from corrector.config import Settings
from corrector.inputs import Input
from corrector.types import CorrectedDocument


@dataclass(frozen=True)
class Result:
    """The corrected file and its parts, as they are reported."""

    data: bytes
    documents: tuple[CorrectedDocument, ...]


class _Given(Input):
    """An input whose bytes are given."""

    def __init__(self, data: bytes, path: str | None, settings: Settings, *in_word: bool) -> None:
        super().__init__(path or "-", settings, *in_word)
        self._data = data

    def _bytes(self) -> bytes:
        return self._data


def correct_package(
    corrector: DocumentCorrector,
    data: bytes,
    path: str | None,
    kind: str,
    *columns: str,
    track_changes: bool = False,
    comments: bool = False,
) -> Result:
    parts = list(_Given(data, path, Settings(format_in=kind, column=columns), track_changes, comments).parts(corrector))
    return Result(parts[-1].data(), tuple(part.corrected for part in parts))


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as found:
        assert found.testzip() is None
        return {name: found.read(name) for name in found.namelist()}


def zipped(contents: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as made:
        for name, content in contents.items():
            made.writestr(zipfile.ZipInfo(name, (2020, 2, 2, 2, 2, 2)), content, method)
    return stream.getvalue()


def docx(*paragraphs: str) -> bytes:
    """A small Word document."""
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    return zipped(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
            "word/document.xml": f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>',
        }
    )


def text_of(data: bytes) -> list[str]:
    """The paragraphs of a small Word document."""
    return re.findall("<w:t>(.*?)</w:t>", members(data)["word/document.xml"].decode())
