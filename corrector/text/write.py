"""Writing files so that at every moment, even when the process is killed, a file has its old or its new content.

The new content goes to a temporary file in the same folder, which is renamed over the old one when all is there.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from corrector.errors import InputError

PRIVATE = 0o600
_COPY_BYTES = 1 << 20
_OPENED = re.compile(r"/(?:dev|proc/self)/fd/([0-9]{1,6})|/dev/(stdout|stderr)")


@dataclass(frozen=True, slots=True)
class FileState:
    """What tells whether a file is still the one that was read: the file itself, its size and when it was last written."""

    device: int
    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileState:
        """The state in what ``os.stat`` or ``os.fstat`` says of a file."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


class AtomicWriter:
    """Writes a file chunk by chunk; the file appears, whole, when the ``with`` block ends, and not when it raises.

    - Symbolic links are followed. A device or a pipe is simply written to, and so is what ``/dev/stdout`` or ``/dev/fd/3`` stands for.
    - Mode, extended attributes and, where allowed, the owner of an existing file are kept. A hard link is not: the new
      file has this name alone, any other name keeps the old content (``other_names`` counts those).
    - A file without write permission is refused, although its folder would allow to replace it.
    - ``expected`` says in which state the file was read, for changing it in place: it is refused if it has changed since,
      and left entirely alone (``changed`` is false) if it would get the content it has.
    - ``backup`` is a suffix: the old file is copied, mode and times included, to its name with the suffix. Like
      ``sed -i`` and ``perl -i``, this replaces an older backup; unlike with those, an unchanged file makes none.

    Raises InputError, with nothing left behind, when it cannot be done: a full disk, no permission, a bad suffix.
    """

    def __init__(self, path: str | Path, *, backup: str | None = None, expected: FileState | None = None) -> None:
        self.path, self.changed, self.other_names = path, False, 0
        self._backup, self._expected = backup, expected
        self._target = self._temporary = ""
        self._stream: BinaryIO | None = None
        self._before: os.stat_result | None = None

    def __enter__(self) -> AtomicWriter:
        self._guarded(self._start)
        return self

    def write(self, data: bytes) -> None:
        """Adds ``data`` to the new content."""
        stream = self._stream
        if stream is None:
            raise ValueError("write() outside the with block")
        self._guarded(lambda: stream.write(data))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self._guarded(self._finish)
        else:
            self._discard()

    def _guarded(self, step: Callable[[], object]) -> None:
        """Takes a step; when it fails, whatever with, the temporary file goes and an OSError becomes an InputError."""
        try:
            step()
        except BaseException as error:
            self._discard()
            if isinstance(error, (OSError, ValueError)):  # ValueError: a NUL in the name
                raise InputError(self.path, f"cannot be written: {reason(error)}") from error
            raise

    def _start(self) -> None:
        if self._backup is not None and (not self._backup or os.path.basename(self._backup) != self._backup):
            raise ValueError(f"{self._backup!r} is no suffix for a backup")
        opened = _OPENED.fullmatch(os.fspath(self.path))
        if opened:  # where it leads may be a file; but others write there, too
            self._stream = os.fdopen(os.dup(int(opened[1] or {"stdout": 1, "stderr": 2}[opened[2]])), "wb")
            return
        self._target = os.path.realpath(self.path)
        self._before = before = os.stat(self._target) if os.path.lexists(self._target) else None
        self._refuse_changed()
        if before is None:
            self._open_temporary(0o666)
        elif not stat.S_ISREG(before.st_mode):
            self._stream = open(self._target, "wb")  # noqa: SIM115 - closed in _finish and _discard
        elif not before.st_mode & 0o222 or not os.access(self._target, os.W_OK):
            raise PermissionError("the file is read-only")
        else:
            self.other_names = before.st_nlink - 1
            self._open_temporary(PRIVATE)  # what may be secret is never readable to others, not even for a moment

    def _open_temporary(self, mode: int) -> None:
        try:
            self._temporary, self._stream = _temporary_file(os.path.dirname(self._target), mode)
        except PermissionError as error:  # whatever the file itself allows
            raise PermissionError(f"no new file can be made in its folder ({reason(error)})") from error

    def _finish(self) -> None:
        stream = self._stream
        if stream is None:
            raise ValueError("the file is not open")
        stream.flush()
        if not self._temporary:
            stream.close()
            self.changed = True
            return
        os.fsync(stream.fileno())
        stream.close()
        self._refuse_changed()
        if self._expected is not None and filecmp.cmp(self._temporary, self._target, shallow=False):
            self._discard()
            return
        if self._before is not None:
            _keep_properties(self._target, self._temporary, self._before)
            if self._backup is not None:
                _copy_atomically(self._target, self._target + self._backup)
        os.replace(self._temporary, self._target)
        self._temporary, self.changed = "", True

    def _refuse_changed(self) -> None:
        if self._expected is not None and FileState.of(os.stat(self._target)) != self._expected:
            raise OSError("it has changed since it was read; try again")

    def _discard(self) -> None:
        """Closes what is open and removes the temporary file."""
        with contextlib.suppress(OSError):
            if self._stream is not None:
                self._stream.close()
        self._stream = None
        with contextlib.suppress(OSError):
            if self._temporary:
                os.unlink(self._temporary)
        self._temporary = ""


def write_atomically(
    path: str | Path, data: bytes, *, backup: str | None = None, expected: FileState | None = None
) -> None:
    """Puts ``data`` into a file that at every moment has either its old or its new content; see AtomicWriter."""
    with AtomicWriter(path, backup=backup, expected=expected) as writer:
        writer.write(data)


def reason(error: OSError | ValueError) -> str:
    """The system's words for an error, in the middle of a sentence."""
    words = getattr(error, "strerror", None) or str(error)
    return words[:1].lower() + words[1:]


def _temporary_file(folder: str, mode: int) -> tuple[str, BinaryIO]:
    """A new file in ``folder``, hidden and with a name that no other has."""
    path = os.path.join(folder, f".electra-correct-{secrets.token_hex(8)}.tmp")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    return path, open(descriptor, "wb")


def _keep_properties(source: str, target: str, status: os.stat_result) -> None:
    """Gives ``target`` the owner, the mode and the extended attributes of ``source``, as far as that is allowed."""
    mode = stat.S_IMODE(status.st_mode)
    if hasattr(os, "chown"):
        try:
            os.chown(target, status.st_uid, status.st_gid)
        except PermissionError:
            mode &= 0o777  # the set-user-ID of another owner would mean something else
    os.chmod(target, mode)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(source):
                with contextlib.suppress(OSError):
                    os.setxattr(target, name, os.getxattr(source, name))


def _copy_atomically(source: str, target: str) -> None:
    """Makes ``target`` a copy of ``source`` with the same properties and times; on errors it stays as it was."""
    temporary, stream = _temporary_file(os.path.dirname(target), PRIVATE)
    try:
        with stream, open(source, "rb") as original:
            shutil.copyfileobj(original, stream, _COPY_BYTES)
            stream.flush()
            os.fsync(stream.fileno())
            status = os.fstat(original.fileno())
        _keep_properties(source, temporary, status)
        os.utime(temporary, ns=(status.st_atime_ns, status.st_mtime_ns))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
