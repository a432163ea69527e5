"""Objects that are added to a PDF, and others that they are put in the place of: appended to it, so that none of its bytes changes.

ISO 32000-1, 7.5.6 (Incremental Updates). The cross-reference section is of the kind that the file has, a table (7.5.4) or a stream (7.5.8):
pypdf 7 always writes a stream, and loses the document's information by it.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator, Mapping
from itertools import groupby

from pypdf import PdfReader
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject, NameObject, NumberObject, PdfObject

_LAST = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*\Z")
_TABLE, _STREAM = re.compile(rb"\s*xref\s"), re.compile(rb"\s*\d+\s+\d+\s+obj\b")
_KEPT = ("/Root", "/Info", "/ID")

_Entry = tuple[int, int, int]  # the number of an object, its generation, and where it begins


class PdfUpdate:
    """An update of the file in ``data``, which ``reader`` has read. Raises ValueError where its end is not as it should be."""

    def __init__(self, data: bytes, reader: PdfReader) -> None:
        self._data, self._reader = data, reader
        last = _LAST.search(data)
        self._previous = int(last[1]) if last else 0
        self._has_table = _TABLE.match(data, self._previous) is not None
        if last is None or not (self._has_table or _STREAM.match(data, self._previous)):
            raise ValueError("no cross-reference section where one should be")
        self._next = int(reader.trailer["/Size"])
        self._objects: dict[tuple[int, int], PdfObject] = {}

    def add(self, new: PdfObject) -> IndirectObject:
        """Adds an object; returns the reference to it."""
        number, self._next = self._next, self._next + 1
        self._objects[number, 0] = new
        return IndirectObject(number, 0, self._reader)

    def replace(self, old: IndirectObject, new: PdfObject) -> None:
        """Puts an object into the place of another."""
        self._objects[old.idnum, old.generation] = new

    def written(self) -> bytes:
        """The file with all of it."""
        file = io.BytesIO()
        file.write(self._data)
        if not self._data.endswith((b"\n", b"\r")):
            file.write(b"\n")
        entries = []
        for (number, generation), written in sorted(self._objects.items()):
            entries.append((number, generation, file.tell()))
            file.write(b"%d %d obj\n" % (number, generation))
            written.write_to_stream(file)
            file.write(b"\nendobj\n")
        start = file.tell()
        file.write(self._table(entries) if self._has_table else self._stream([*entries, (self._next, 0, start)]))
        file.write(b"startxref\n%d\n%%%%EOF\n" % start)
        return file.getvalue()

    def _table(self, entries: list[_Entry]) -> bytes:
        file = io.BytesIO()
        file.write(b"xref\n0 1\n0000000000 65535 f \n")  # the free object, which some readers want to see first
        for first, section in _sections(entries):
            file.write(b"%d %d\n" % (first, len(section)))
            file.writelines(b"%010d %05d n \n" % (place, generation) for _, generation, place in section)
        file.write(b"trailer\n")
        DictionaryObject(self._trailer(self._next)).write_to_stream(file)
        file.write(b"\n")
        return file.getvalue()

    def _stream(self, entries: list[_Entry]) -> bytes:
        rows = b"".join(struct.pack(">BIH", 1, place, generation) for _, generation, place in entries)
        index = (number for first, section in _sections(entries) for number in (first, len(section)))
        described = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/XRef"),
                NameObject("/Index"): ArrayObject(map(NumberObject, index)),
                NameObject("/W"): ArrayObject(map(NumberObject, (1, 4, 2))),
                NameObject("/Length"): NumberObject(len(rows)),
                **self._trailer(self._next + 1),
            }
        )
        file = io.BytesIO()
        file.write(b"%d 0 obj\n" % self._next)
        described.write_to_stream(file)
        file.write(b"\nstream\n" + rows + b"\nendstream\nendobj\n")
        return file.getvalue()

    def _trailer(self, size: int) -> Mapping[NameObject, PdfObject]:
        trailer = self._reader.trailer
        kept = {NameObject(key): trailer.raw_get(key) for key in _KEPT if key in trailer}
        return {NameObject("/Size"): NumberObject(size), NameObject("/Prev"): NumberObject(self._previous), **kept}


def _sections(entries: list[_Entry]) -> Iterator[tuple[int, list[_Entry]]]:
    """The entries whose numbers follow one another, with the first number."""
    for _, section in groupby(enumerate(entries), lambda place: place[1][0] - place[0]):
        own = [entry for _, entry in section]
        yield own[0][0], own
