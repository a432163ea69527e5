"""PDFs, as small as they can be: text at places, in a font of their own, whose characters are all squares.

What PDFium makes of text in a font that a file only names depends on the fonts of the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Placed = tuple[float, float, str]  # from the left, from the bottom, in points
SIZE = 10
_SQUARE = b"1000 0 0 -200 1000 800 d1 0 -200 1000 1000 re f"


def pdf(*pages: Sequence[Placed], size: float = SIZE, extra: Iterable[bytes] = ()) -> bytes:
    """A PDF of these pages, of no more than 255 different characters; ``extra`` entries are put into its catalogue."""
    code_of = {char: code for code, char in enumerate(sorted({char for page in pages for _, _, text in page for char in text}), 1)}
    objects = [
        b"<</Type/Catalog/Pages 2 0 R" + b"".join(extra) + b">>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(pages), b" ".join(b"%d 0 R" % (6 + 2 * n) for n in range(len(pages)))),
        b"<</Type/Font/Subtype/Type3/FontBBox[0 -200 1000 800]/FontMatrix[.001 0 0 .001 0 0]/CharProcs<</square 4 0 R>>"
        b"/Encoding<</Type/Encoding/Differences[0%s]>>/FirstChar 0/LastChar 255/Widths[%s]/ToUnicode 5 0 R>>"
        % (b"/square" * 256, b" ".join([b"1000"] * 256)),
        _stream(_SQUARE),
        _stream(_to_unicode(code_of)),
    ]
    for page in pages:
        number = len(objects) + 1
        content = b"".join(
            b"BT /F1 %g Tf %g %g Td <%s> Tj ET\n" % (size, left, bottom, bytes(map(code_of.__getitem__, text)).hex().encode())
            for left, bottom, text in page
        )
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>" % (number + 1)
        )
        objects.append(_stream(content))
    data, places = b"%PDF-1.4\n", []
    for number, written in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, written)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + end


def _stream(content: bytes) -> bytes:
    return b"<</Length %d>>stream\n%s\nendstream" % (len(content), content)


def _to_unicode(code_of: Mapping[str, int]) -> bytes:
    rows = b"".join(b"<%02x> <%s>\n" % (code, char.encode("utf-16-be").hex().encode()) for char, code in code_of.items())
    return (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        b"1 begincodespacerange <00> <ff> endcodespacerange\n%d beginbfchar\n%sendbfchar\nendcmap end end" % (len(code_of), rows)
    )


def lines(*texts: str, left: float = 50, top: float = 700, distance: float = 16) -> list[Placed]:
    """Lines below each other."""
    return [(left, top - distance * number, text) for number, text in enumerate(texts)]
