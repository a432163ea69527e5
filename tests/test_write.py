from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from corrector.errors import InputError
from corrector.text.write import AtomicWriter, FileState, write_atomically
from tests.fakes import write

ROOT = Path(__file__).parents[1]


def state(path: Path) -> FileState:
    return FileState.of(path.stat())


def test_writing_keeps_the_mode_and_follows_links(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"old")
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "link"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_writing_keeps_the_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.txt", b"old")
    os.chown(path, 1234, 2345)
    path.chmod(0o4750)
    write_atomically(path, b"new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 2345, 0o4750)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refuse)
    write_atomically(path, b"newer")
    found = path.stat()
    assert (path.read_bytes(), found.st_uid, stat.S_IMODE(found.st_mode)) == (b"newer", 0, 0o750)  # it runs as nobody else's


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes here")
def test_writing_keeps_extended_attributes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"old")
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        pytest.skip("the file system has no extended attributes")
    write_atomically(path, b"new", backup="~")
    assert os.getxattr(path, "user.note") == os.getxattr(f"{path}~", "user.note") == b"mine"


def test_a_new_file_gets_the_usual_mode(tmp_path: Path) -> None:
    write_atomically(tmp_path / "new.txt", b"")
    plain = write(tmp_path / "plain.txt", b"")
    assert (tmp_path / "new.txt").stat().st_mode == plain.stat().st_mode


def test_a_private_file_is_private_at_every_moment(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"secret")
    path.chmod(0o640)
    with AtomicWriter(path) as writer:
        writer.write(b"new secret")
        (temporary,) = [file for file in tmp_path.iterdir() if file != path]
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600


def test_nothing_is_there_before_the_end_and_nothing_after_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"old")

    def interrupted() -> None:
        with AtomicWriter(path) as writer:
            writer.write(b"ne")
            assert path.read_bytes() == b"old"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.txt"]
    with AtomicWriter(path) as writer:
        writer.write(b"n")
        writer.write(b"ew")
    assert writer.changed and path.read_bytes() == b"new" and os.listdir(tmp_path) == ["a.txt"]
    with pytest.raises(ValueError, match="outside"):
        AtomicWriter(path).write(b"")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.txt", b"old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for call in ("replace", "fsync", "chmod"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, refuse)
            with pytest.raises(InputError, match=r"a\.txt: cannot be written: no space left on device"):
                write_atomically(path, b"new", backup=".bak")
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_disk_that_fills_up_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"old")
    program = (
        "import resource, sys; from corrector.text.write import *; from corrector.errors import InputError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    with AtomicWriter(sys.argv[1]) as writer:\n"
        "        for _ in range(100): writer.write(b'x' * 10_000)\n"
        "except InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, path], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"{path}: cannot be written: file too large\n"
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.txt"]


def test_writing_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: no such file"):
        write_atomically(tmp_path / "none" / "a.txt", b"")
    with pytest.raises(InputError, match="cannot be written: is a directory"):
        write_atomically(tmp_path, b"")
    with pytest.raises(InputError, match=r"cannot be written: .*embedded null"):
        write_atomically("a\0b", b"")
    write_atomically("/dev/null", b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_device_is_an_error() -> None:
    with pytest.raises(InputError, match="/dev/full: cannot be written: no space left"):
        write_atomically("/dev/full", b"a")


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"old")
    path.chmod(0o444)
    with pytest.raises(InputError, match=r"a\.txt: cannot be written: the file is read-only"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.txt"]


def test_a_hard_link_keeps_the_old_content(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"old")
    os.link(path, tmp_path / "b.txt")
    with AtomicWriter(path) as writer:
        writer.write(b"new")
    assert writer.other_names == 1
    assert (path.read_bytes(), (tmp_path / "b.txt").read_bytes()) == (b"new", b"old")


@pytest.mark.parametrize("moment", ["before", "during"])
@pytest.mark.parametrize("change", ["longer", "same size", "replaced", "removed"])
def test_a_file_that_has_changed_since_it_was_read_is_refused(tmp_path: Path, moment: str, change: str) -> None:
    path = write(tmp_path / "a.txt", b"old")
    read = state(path)

    def disturb() -> None:
        if change == "longer":
            path.write_bytes(b"longer")
        elif change == "same size":
            path.write_bytes(b"OLD")
            os.utime(path, ns=(0, read.modified_ns + 1))
        elif change == "replaced":
            write(tmp_path / "b.txt", b"OLD").replace(path)
            os.utime(path, ns=(0, read.modified_ns))
        else:
            path.unlink()

    if moment == "before":
        disturb()

    def written() -> None:
        with AtomicWriter(path, expected=read) as writer:
            writer.write(b"new")
            disturb()

    with pytest.raises(InputError, match=r"changed since it was read|no such file"):
        written()
    left = {} if change == "removed" else {"a.txt": b"longer" if change == "longer" else b"OLD"}
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == left


def test_a_file_that_would_not_change_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"old")
    os.utime(path, (1, 1))
    before = path.stat()
    with AtomicWriter(path, backup=".bak", expected=state(path)) as writer:
        writer.write(b"old")
    assert not writer.changed
    assert (path.stat().st_ino, path.stat().st_mtime) == (before.st_ino, 1)
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_backup_is_a_copy_that_replaces_the_older_one(tmp_path: Path) -> None:
    path, backup = write(tmp_path / "a.txt", b"one"), tmp_path / "a.txt.bak"
    path.chmod(0o640)
    os.utime(path, (1, 2))
    link = tmp_path / "link"
    link.symlink_to(path)
    write_atomically(link, b"two", backup=".bak")
    assert (path.read_bytes(), backup.read_bytes()) == (b"two", b"one")
    assert (stat.S_IMODE(backup.stat().st_mode), backup.stat().st_mtime) == (0o640, 2)
    path.write_bytes(b"TWO")
    assert backup.read_bytes() == b"one"  # a copy, not another name
    write_atomically(path, b"three", backup=".bak")
    assert (path.read_bytes(), backup.read_bytes()) == (b"three", b"TWO")
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "a.txt.bak", "link"]
    write_atomically(tmp_path / "new.txt", b"", backup=".bak")
    assert not (tmp_path / "new.txt.bak").exists()


@pytest.mark.parametrize("suffix", ["", "/b", "../x", "a/b", "\0"])
def test_what_is_no_suffix(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / "a.txt", b"old")
    with pytest.raises(InputError, match="cannot be written"):
        write_atomically(path, b"new", backup=suffix)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.txt"]


def test_a_backup_that_cannot_be_made_stops_the_writing(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"old")
    (tmp_path / "a.txt.bak").mkdir()
    with pytest.raises(InputError, match="cannot be written: is a directory"):
        write_atomically(path, b"new", backup=".bak")
    assert path.read_bytes() == b"old" and sorted(os.listdir(tmp_path)) == ["a.txt", "a.txt.bak"]


KILLED = """
import itertools, sys
from corrector.text.write import AtomicWriter
print("ready", flush=True)
for number in itertools.count():
    with AtomicWriter(sys.argv[1], backup=".bak") as writer:
        for _ in range(20):
            writer.write(b"%d\\n" % (number % 10) * 5_000)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_killing_never_leaves_a_half_written_file(tmp_path: Path) -> None:
    path, backup = tmp_path / "a.txt", tmp_path / "a.txt.bak"
    whole = {b"%d\n" % number * 100_000 for number in range(10)}
    path.write_bytes(b"0\n" * 100_000)
    randomness = random.Random(1)
    until = time.monotonic() + 5
    tries = 0
    while tries < 40 and (time.monotonic() < until or tries < 5):
        with subprocess.Popen([sys.executable, "-c", KILLED, path], cwd=ROOT, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            time.sleep(randomness.random() * 0.02)
            process.kill()
        assert path.read_bytes() in whole
        assert not backup.exists() or backup.read_bytes() in whole
        tries += 1
    left = [name for name in os.listdir(tmp_path) if name not in ("a.txt", "a.txt.bak")]
    assert all(name.startswith(".electra-correct-") and name.endswith(".tmp") for name in left)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="has no /dev/fd")
def test_an_open_descriptor_that_has_a_name_is_written_to_where_it_is(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with open(log, "wb", buffering=0) as stream:
        stream.write(b"head ")
        write_atomically(f"/dev/fd/{stream.fileno()}", b"text ")
        stream.write(b"tail")
    assert log.read_bytes() == b"head text tail"
    with pytest.raises(InputError, match="cannot be written"):
        write_atomically("/dev/fd/999999", b"text")


def test_a_folder_that_takes_no_new_file_is_told_apart_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.txt", b"old")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InputError, match=r"a.txt: cannot be written: no new file can be made in its folder \(permission denied\)"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
