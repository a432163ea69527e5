"""PowerPoint presentations (``.pptx``, ``.pptm``): slides, notes, comments, diagrams and charts; what layouts say to authors stays."""

from __future__ import annotations

import re

from corrector.formats.archive import Archive
from corrector.formats.drawingml import drawing_part
from corrector.formats.packages import SIGNATURES_OF_OFFICE, PackageOptions, Separate, not_a
from corrector.formats.xml_parts import XmlPart

# PowerPoint names its parts so; slides come first, then what else has text.
_TEXT = re.compile(
    r"ppt/(?:(?P<slide>slides/slide)|notesSlides/notesSlide|comments/(?:comment|modernComment_)|diagrams/(?:data|drawing)|charts/chart)"
    r"(?P<number>\d*)\w*\.xml",
    re.ASCII,
)


class Pptx(Separate):
    """The presentation in ``archive``. Raises InputError when it is none."""

    signatures = SIGNATURES_OF_OFFICE

    def __init__(self, archive: Archive, _: PackageOptions) -> None:
        self._archive = archive
        found = [match for match in map(_TEXT.fullmatch, archive.names) if match]
        if not any(match["slide"] for match in found):
            raise not_a("a PowerPoint presentation", archive, "ppt/slides/slide1.xml")
        found.sort(key=lambda match: (not match["slide"], match[0][: match.start("number")], int(match["number"] or 0)))
        self.members = tuple(match[0] for match in found)

    def part(self, member: str) -> XmlPart:
        """The text of a member."""
        return drawing_part(self._archive.read(member), f"{self._archive.path}/{member}", member)
