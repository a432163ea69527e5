"""PDFs, as small as they can be: text at places, in a font that every reader knows by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Placed = tuple[float, float, str]  # from the left, from the bottom, in points
SIZE = 10


def pdf(*pages: Sequence[Placed], size: float = SIZE, extra: Iterable[bytes] = ()) -> bytes:
    """A PDF of these pages; ``extra`` entries are put into its catalogue."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R" + b"".join(extra) + b">>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(pages), b" ".join(b"%d 0 R" % (6 + 2 * n) for n in range(len(pages)))),
        b"<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H/DescendantFonts[4 0 R]>>",
        b"<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 4>>"
        b"/FontDescriptor 5 0 R>>",
        b"<</Type/FontDescriptor/FontName/STSong-Light/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 800/Descent -200"
        b"/CapHeight 700/StemV 80>>",
    ]
    for page in pages:
        number = len(objects) + 1
        content = b"".join(
            b"BT /F1 %g Tf %g %g Td <%s> Tj ET\n" % (size, left, bottom, text.encode("utf-16-be").hex().encode())
            for left, bottom, text in page
        )
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>" % (number + 1)
        )
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(content), content))
    data, places = b"%PDF-1.4\n", []
    for number, written in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, written)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + end


def lines(*texts: str, left: float = 50, top: float = 700, distance: float = 16) -> list[Placed]:
    """Lines below each other."""
    return [(left, top - distance * number, text) for number, text in enumerate(texts)]
