"""Reading and checking the ``manifest.json`` of a model directory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from corrector.errors import ModelError

SCHEMA = 2
MANIFEST = "manifest.json"
AGAIN = "install or copy the model again"

_CHECKSUM_DIGITS = 12  # 48 bits: enough to tell releases apart, short enough for a report line


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises ModelError if the file is missing, unreadable or holds anything else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(path, f"cannot be read ({error.strerror}); {AGAIN}") from error
    except ValueError as error:  # bad JSON and bad UTF-8 alike
        raise ModelError(path, f"not valid JSON ({error}); {AGAIN}") from error
    if not isinstance(value, dict):
        raise ModelError(path, f"not a JSON object; {AGAIN}")
    return value


def read_manifest(directory: Path, verify: bool = False) -> dict[str, Any]:
    """The manifest of ``directory``, every listed file being there in its listed size.

    With ``verify`` the SHA-256 of every file is compared too, which reads all the weights. Raises ModelError.
    """
    path = directory / MANIFEST
    manifest = read_json(path)
    if manifest.get("schema") != SCHEMA:
        message = f"schema {manifest.get('schema')!r} where this version reads {SCHEMA}"
        raise ModelError(path, f"{message}; upgrade electra-correct or the model")
    files = manifest.get("files")
    if not isinstance(files, dict) or not files:
        raise ModelError(path, f"'files' lists no files; {AGAIN}")
    for name, entry in files.items():
        _check_file(path, directory, name, entry, verify)
    return manifest


def _check_file(manifest: Path, directory: Path, name: str, entry: Any, verify: bool) -> None:
    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        raise ModelError(manifest, f"'files' names {name!r}, which is outside the model directory; {AGAIN}")
    if not (isinstance(entry, dict) and isinstance(entry.get("bytes"), int) and isinstance(entry.get("sha256"), str)):
        raise ModelError(manifest, f"'files' needs 'sha256' and 'bytes' for {name!r}; {AGAIN}")
    file = directory / name
    try:
        size = file.stat().st_size
    except OSError as error:
        raise ModelError(file, f"listed in {MANIFEST} but missing; {AGAIN}") from error
    if size != entry["bytes"]:
        raise ModelError(file, f"{size} bytes where {MANIFEST} says {entry['bytes']}; {AGAIN}")
    if verify and sha256(file) != entry["sha256"].lower():
        raise ModelError(file, f"its SHA-256 is not the one in {MANIFEST}; {AGAIN}")


def sha256(path: Path) -> str:
    """The SHA-256 of a file in lower-case hexadecimal, read a piece at a time. Raises ModelError."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise ModelError(path, f"cannot be read ({error.strerror}); {AGAIN}") from error
    return digest.hexdigest()


def file_entries(directory: Path, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The ``files`` section for these files of ``directory``: what an export writes and ``read_manifest`` checks."""
    return {
        name: {"sha256": sha256(directory / name), "bytes": (directory / name).stat().st_size} for name in sorted(names)
    }


def short_checksum(digests: Mapping[str, str]) -> str:
    """One short checksum of several files from their SHA-256, whatever their order."""
    lines = "".join(f"{name} {digest.lower()}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()[:_CHECKSUM_DIGITS]
