"""A zip archive of which some members are replaced and every other byte stays: order, times, flags, comments, packed data.

The standard library reads the archive. It cannot keep packed data as it is when it writes one, so that part is done here.
Layout and field names: APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping

from corrector.errors import InputError

MAX_UNPACKED = 1 << 28
"""How many bytes may be unpacked from one archive, all reads together: a small file may claim to hold anything."""

MAX_MEMBERS = 65_534  # more need zip64, as more than 4 GiB do
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the container of .doc and .ppt, and of encrypted .docx
_ENCRYPTED, _SIZES_FOLLOW = 1 << 0, 1 << 3  # general purpose bits
_LOCAL, _CENTRAL, _ZIP64 = 30, 46, 0x0001  # lengths of the fixed headers; the extra field of 64-bit sizes
_AFTER_DIRECTORY = (b"PK\5\6", b"PK\6\6", b"PK\5\5")  # the end record, that of zip64, a signature of the directory
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, OverflowError, IndexError,
    NotImplementedError, RuntimeError,
)  # fmt: skip
"""What zipfile raises for archives that are broken in one way or another."""


class Archive:
    """The zip archive in ``data``. Raises InputError when it is none, or a damaged, encrypted or enormous one."""

    def __init__(self, data: bytes, path: str) -> None:
        self.path = path
        self._data = data
        if data.startswith(_OLE):
            what = "an old Office file (.doc, .ppt, .xls) or one with a password"
            raise InputError(path, f"{what}; save it as .docx, .pptx or .xlsx without a password first")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGED as error:
            raise self._damaged(error) from None
        self._members = self._zip.infolist()
        names = [member.filename for member in self._members]
        offsets = {member.header_offset for member in self._members}
        if len(set(names)) < len(names) or len(offsets) < len(names):
            raise self._damaged("two members share a name or a place")
        if len(names) > MAX_MEMBERS:
            raise InputError(path, f"has {len(names):,} members, more than {MAX_MEMBERS:,}")
        self.names = tuple(names)
        self._unpacked = 0

    def read(self, name: str) -> bytes:
        """The unpacked content of a member, checked against its checksum. Raises InputError, also beyond MAX_UNPACKED."""
        member = self._zip.getinfo(name)
        if member.flag_bits & _ENCRYPTED:
            raise InputError(self.path, f"{name} is encrypted; save the file without a password first")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InputError(self.path, f"{name} is packed by method {member.compress_type}; save the file again first")
        self._unpacked += member.file_size
        if self._unpacked > MAX_UNPACKED:
            raise InputError(
                self.path, f"its text claims to be more than {MAX_UNPACKED >> 20} MiB; split the file first"
            )
        try:
            with self._zip.open(member) as stream:
                content = stream.read(member.file_size + 1)  # read() would unpack all before it looks at the claim
        except _DAMAGED as error:
            raise self._damaged(error) from None
        if len(content) != member.file_size:
            raise self._damaged(f"{name} is incomplete")
        return content

    def replaced(self, contents: Mapping[str, bytes]) -> bytes:
        """The archive with the content of some members replaced; those that are new come last.

        Raises InputError for an archive that is too damaged for it.
        """
        try:
            data = self._replaced(contents)
            new = {name: content for name, content in contents.items() if name not in self.names}
            return _with_members(data, new) if new else data
        except _DAMAGED as error:
            raise self._damaged(error) from None

    def _replaced(self, contents: Mapping[str, bytes]) -> bytes:
        in_place = sorted(self._members, key=lambda member: member.header_offset)
        ends = [member.header_offset for member in in_place[1:]] + [self._zip.start_dir]
        parts = [self._data[: in_place[0].header_offset]] if in_place else []
        at = sum(map(len, parts))
        facts: dict[str, tuple[int, int, int, int]] = {}  # checksum, packed and unpacked size, offset
        for member, end in zip(in_place, ends, strict=True):
            if self._data[member.header_offset : member.header_offset + 4] != b"PK\3\4":
                raise self._damaged(f"{member.filename} is not where it should be")
            local = self._data[member.header_offset : end]
            sizes = (member.CRC, member.compress_size, member.file_size)
            content = contents.get(member.filename)
            if content is not None:
                packed = _packed(content, member.compress_type)
                sizes = (zlib.crc32(content), len(packed), len(content))
                local = _local_entry(local, sizes, packed)
            facts[member.filename] = (*sizes, at)
            parts.append(local)
            at += len(local)
        parts.append(self._directory(facts, at))
        return b"".join(parts)

    def _directory(self, facts: Mapping[str, tuple[int, int, int, int]], start: int) -> bytes:
        """The central directory, in its old order, and its end record."""
        records: list[bytes] = []
        at = self._zip.start_dir
        for member in self._members:
            name, extra, comment = struct.unpack_from("<3H", self._data, at + 28)
            fixed = bytearray(self._data[at : at + _CENTRAL])
            variable = self._data[at + _CENTRAL : at + _CENTRAL + name + extra + comment]
            kept = _without_zip64(variable[name : name + extra])
            *sizes, offset = facts[member.filename]
            struct.pack_into("<3L", fixed, 16, *sizes)
            struct.pack_into("<H", fixed, 30, len(kept))
            struct.pack_into("<H", fixed, 34, 0)  # the first disk
            struct.pack_into("<L", fixed, 42, offset)
            records += (bytes(fixed), variable[:name], kept, variable[name + extra :])
            at += _CENTRAL + name + extra + comment
        if self._data[at : at + 4] not in _AFTER_DIRECTORY:
            raise self._damaged("its directory does not end where it should")
        directory = b"".join(records)
        count, comment_of_all = len(self._members), self._zip.comment
        end = struct.pack(
            "<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(directory), start, len(comment_of_all)
        )  # fmt: skip
        return directory + end + comment_of_all

    def _damaged(self, what: object) -> InputError:
        return InputError(self.path, f"not a zip archive, as files of this kind are, or a damaged one ({what})")


def _with_members(data: bytes, contents: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO(data)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def _local_entry(old: bytes, sizes: tuple[int, int, int], packed: bytes) -> bytes:
    """A member with new packed data under its old header; the sizes stand where they stood, before or after the data."""
    fixed = bytearray(old[:_LOCAL])
    flags = struct.unpack_from("<H", fixed, 6)[0]
    name, extra = struct.unpack_from("<2H", fixed, 26)
    kept = _without_zip64(old[_LOCAL + name : _LOCAL + name + extra])
    follow = flags & _SIZES_FOLLOW
    struct.pack_into("<3L", fixed, 14, *((0, 0, 0) if follow else sizes))
    struct.pack_into("<H", fixed, 28, len(kept))
    descriptor = struct.pack("<4s3L", b"PK\7\x08", *sizes) if follow else b""
    return b"".join((fixed, old[_LOCAL : _LOCAL + name], kept, packed, descriptor))


def _packed(content: bytes, method: int) -> bytes:
    if method == zipfile.ZIP_STORED:
        return content
    deflate = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION, zlib.DEFLATED, -zlib.MAX_WBITS)  # no zlib header
    return deflate.compress(content) + deflate.flush()


def _without_zip64(extra: bytes) -> bytes:
    """The extra fields but that of 64-bit sizes: what is written here has 32 bits."""
    kept: list[bytes] = []
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind != _ZIP64:
            kept.append(extra[at : at + 4 + length])
        at += 4 + length
    return b"".join((*kept, extra[at:]))
