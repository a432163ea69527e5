"""Find and verify a model directory: the own layout, a PyTorch pair, or a hub name.

Start-up checks that every file is there in the listed size; ``verify=True`` also compares SHA-256, which reads all the
weights. Nothing here imports a model library except for hub names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corrector.electra.manifest import AGAIN, MANIFEST, read_manifest
from corrector.electra.model import (
    CONFIG,
    DISCRIMINATOR,
    GENERATOR,
    RANKER,
    VOCABULARY,
    WEIGHTS,
    Kind,
    ModelDirectory,
    Network,
)
from corrector.errors import ModelError

__all__ = ["DEFAULT_MODEL", "ModelDirectory", "Network", "find_model", "model_places"]

DEFAULT_MODEL = "electra-csc-zh"
EMBEDDED = "default"
"""Another name for it, whatever it is called."""

_PACKAGE = Path(__file__).resolve().parent.parent
_NEITHER = "hold discriminator/ and generator/, or be one of two sibling directories …_discriminator… and …_generator…"


def model_places() -> tuple[Path, ...]:
    """Where models are looked up by name: inside an installed package, and in ``data/`` of a source checkout."""
    return _PACKAGE / "_models", _PACKAGE.parent / "data" / "electra_models"


def find_model(name_or_path: str | Path | None = None, verify: bool = False) -> ModelDirectory:
    """Open a model by name, path or hub name; ``None`` and ``EMBEDDED`` are the embedded one. Raises ModelError saying what to do next.

    A path may be an own model directory, a directory with ``discriminator/`` and ``generator/``, either of two sibling
    directories of a public ELECTRA release, the directory that holds both, or what their names have in common.
    """
    embedded = name_or_path is None or str(name_or_path) == EMBEDDED
    wanted = DEFAULT_MODEL if embedded else str(name_or_path)
    try:
        for candidate in _candidates(wanted):
            model = _open(candidate, verify)
            if model is not None:
                return model
    except OSError as error:
        raise ModelError(wanted, f"cannot be read ({error.strerror}); give a readable directory") from error
    except RuntimeError as error:  # ~name of an unknown user
        raise ModelError(wanted, f"{error}; give a readable directory") from error
    if re.fullmatch(r"\w[\w.-]*/[\w.-]+", wanted) and not Path(wanted.partition("/")[0]).is_dir():
        return _open_hub(wanted)
    places = " or ".join(str(place) for place in model_places())
    if embedded:
        raise ModelError(DEFAULT_MODEL, f"the embedded model is not in {places}; reinstall, or name one with --model")
    raise ModelError(wanted, f"no such model; give a directory, or a name that lies in {places}")


def _candidates(wanted: str) -> Iterator[Path]:
    if re.fullmatch(r"\w[^/\\]*", wanted):
        yield from (place / wanted for place in model_places())
    yield Path(wanted).expanduser()


def _open(path: Path, verify: bool) -> ModelDirectory | None:
    """The model at ``path`` in whichever layout it has; None if nothing is there."""
    path = Path(os.path.abspath(path))  # not resolve(): a link keeps its own name and neighbours
    if not path.is_dir():
        pair = _pair_with_prefix(path.parent, path.name) if path.name else None
        return None if pair is None else _open_pair(*pair, name=path.name.rstrip("_-"), path=path.parent)
    if (path / MANIFEST).is_file() or (path / DISCRIMINATOR).is_dir():
        return _open_own(path, verify)
    if path.name in (DISCRIMINATOR, GENERATOR) and (path / CONFIG).is_file():
        return _open_own(path.parent, verify)
    if (path / CONFIG).is_file():
        return _open_pair(*_siblings(path), name=path.name, path=path)
    pair = _pair_with_prefix(path, "")
    if pair is None:
        raise ModelError(path, f"not a model directory; it must {_NEITHER}")
    return _open_pair(*pair, name=path.name, path=path)


def _open_own(path: Path, verify: bool) -> ModelDirectory:
    """A directory with ``discriminator/`` and ``generator/`` inside: ONNX with a manifest, or a PyTorch pair."""
    has_manifest = (path / MANIFEST).is_file()
    manifest = read_manifest(path, verify) if has_manifest else {}
    kind: Kind = "onnx" if any((path / DISCRIMINATOR / name).is_file() for name in WEIGHTS["onnx"]) else "pytorch"
    if kind == "onnx" and not has_manifest:
        raise ModelError(path / MANIFEST, f"missing; {AGAIN}")
    name = str(manifest.get("name", path.name))
    model = _open_pair(path / DISCRIMINATOR, path / GENERATOR, name, path, kind, manifest)
    if has_manifest:
        _check_listed(model)
    return model


def _check_listed(model: ModelDirectory) -> None:
    """Raise ModelError unless the manifest vouches for every file that decides the results."""
    wanted = [network.path / CONFIG for network in (model.discriminator, model.generator)]
    wanted += [model.discriminator.weights, model.generator.weights, model.vocabulary]
    names = [path.relative_to(model.path).as_posix() for path in wanted] + ([RANKER] if model.kind == "onnx" else [])
    missing = [name for name in names if name not in model.manifest["files"]]
    if missing:
        raise ModelError(model.path / MANIFEST, f"'files' does not list {', '.join(missing)}; {AGAIN}")


def _open_pair(
    discriminator: Path,
    generator: Path,
    name: str,
    path: Path,
    kind: Kind = "pytorch",
    manifest: Mapping[str, Any] | None = None,
) -> ModelDirectory:
    vocabulary = _shared_vocabulary([path, discriminator, generator])
    networks = (Network.open(discriminator, kind), Network.open(generator, kind))
    return ModelDirectory(name, path, kind, *networks, vocabulary, manifest or {})


def _shared_vocabulary(directories: list[Path]) -> Path:
    """The one ``vocab.txt`` of these directories; copies must be equal, or the two networks do not belong together."""
    found = [directory / VOCABULARY for directory in directories if (directory / VOCABULARY).is_file()]
    if not found:
        raise ModelError(directories[0] / VOCABULARY, f"missing; {AGAIN}")
    for other in found[1:]:
        if other.read_bytes() != found[0].read_bytes():
            raise ModelError(other, f"differs from {found[0]}; use a discriminator and a generator of one release")
    return found[0]


def _siblings(path: Path) -> tuple[Path, Path]:
    """The discriminator and generator directories of a release, given either one."""
    for own, other in ((DISCRIMINATOR, GENERATOR), (GENERATOR, DISCRIMINATOR)):
        if own in path.name:
            sibling = path.with_name(path.name.replace(own, other))
            if not sibling.is_dir():
                raise ModelError(sibling, f"missing; the {other} must lie next to {path.name}")
            return (path, sibling) if own == DISCRIMINATOR else (sibling, path)
    raise ModelError(path, f"one network where two are needed; it must {_NEITHER}")


def _pair_with_prefix(parent: Path, prefix: str) -> tuple[Path, Path] | None:
    """The only release in ``parent`` whose directory names start with ``prefix``; None if there is none."""
    if not parent.is_dir():
        return None
    names = (entry.name for entry in parent.iterdir() if entry.name.startswith(prefix) and DISCRIMINATOR in entry.name)
    found = sorted(name for name in names if (parent / name / CONFIG).is_file())
    if len(found) > 1:
        raise ModelError(parent / prefix, f"stands for {' and '.join(found)}; name one of them")
    return _siblings(parent / found[0]) if found else None


def _open_hub(name: str) -> ModelDirectory:
    """A pair of hub repositories, from the local cache or the network."""
    if DISCRIMINATOR not in name:
        raise ModelError(name, "no such directory, and not a hub name with 'discriminator' in it; give one of the two")
    from corrector.electra.hub import download

    files = (CONFIG, VOCABULARY)
    discriminator = download(name, files, WEIGHTS["pytorch"])
    generator = download(name.replace(DISCRIMINATOR, GENERATOR), files, WEIGHTS["pytorch"])
    return _open_pair(discriminator, generator, name, discriminator)
