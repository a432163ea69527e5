"""Where a model directory is made or changed, out of sight until it is whole, and how it gets to where it is wanted."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from corrector.electra.manifest import MANIFEST, read_json
from corrector.electra.model_dir import find_model
from corrector.errors import InputError, ModelError
from corrector.text.write import AtomicWriter, reason

MADE = "model"  # in the folder where it is made


@contextlib.contextmanager
def workplace(out: Path) -> Iterator[Path]:
    """A new folder on the file system of ``out``, of which ``MADE`` becomes ``out`` at the end; on errors it goes with all in it.

    An ``out`` that is there and empty, perhaps as a mount or by a link, is not replaced: the folder is in it, and what is made moves up.
    Raises InputError where nothing can be written, at once; should that be so only at the end, the folder stays, and it says which.
    """
    target = Path(os.path.realpath(out))
    there = next(place for place in (target, *target.parents) if os.path.lexists(place))
    try:
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=there))
    except OSError as error:
        raise InputError(out, f"cannot be written: {reason(error)}; give --out a folder that can") from error
    try:
        yield scratch
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    try:
        _move(scratch / MADE, target)
    except OSError as error:
        raise InputError(out, f"cannot be written: {reason(error)}; the adapted model is in {scratch / MADE}: move it") from error
    shutil.rmtree(scratch, ignore_errors=True)


def _move(made: Path, target: Path) -> None:
    """Make a folder ``target``, or fill the one that ``made`` was made in. Raises OSError, with ``made`` as it was, where there is
    something in it."""
    if made.parent.parent != target:
        target.parent.mkdir(parents=True, exist_ok=True)
        made.rename(target)
        return
    if list(target.iterdir()) != [made.parent]:
        raise FileExistsError("there is something in it by now")
    for path in sorted(made.iterdir(), key=lambda path: path.name == MANIFEST):  # the manifest last: until then it is no model
        path.rename(target / path.name)


@contextlib.contextmanager
def changed_together(model: Path, names: Sequence[str]) -> Iterator[Path]:
    """A copy of a model directory to change: its files of these names replace those of the model at the end, in this order; on errors none.
    Without names the model may be one that cannot be written.

    Raises ModelError for a model that cannot be opened or has no manifest, InputError where nothing can be written, at once.
    """
    find_model(model)
    read_json(model / MANIFEST)
    if names and not os.access(model, os.W_OK):
        raise InputError(model, "cannot be written: permission denied; give a --model that can")
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as writers:
        copy = Path(shutil.copytree(model, Path(scratch) / MADE))
        try:
            yield copy
        except ModelError as error:  # the copy is soon gone: it is the model that is damaged
            message = str(error).removeprefix(f"{error.path}: ").replace(str(copy), str(model))
            raise ModelError(error.path.replace(str(copy), str(model)), message) from error
        for name in reversed(names):  # all are written before the first is renamed, which is the last that was begun
            if (copy / name).is_file():
                (model / name).parent.mkdir(exist_ok=True)
                writers.enter_context(AtomicWriter(model / name)).write((copy / name).read_bytes())
