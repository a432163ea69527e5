"""The manifest of a model directory and the card beside it: written at export, refreshed when ranker or scores change."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from corrector import __version__
from corrector.electra.manifest import MANIFEST, SCHEMA, file_entries, read_json, short_checksum
from corrector.electra.model import RANKER, of_origin
from corrector.errors import CorrectorError, InputError
from corrector.rank import Ranker
from corrector.text.write import write_atomically
from corrector.train.card import LEDGER_KEYS, render_card
from corrector.types import TYPED, Origin

LICENCE = "Apache-2.0"
CARD = "README.md"
_MANIFEST_KEYS = ("schema", "name", "version", "licence", "files")


def write_manifest(out: Path, name: str, version: str, details: Mapping[str, Any]) -> None:
    """Write ``manifest.json`` over every file now in ``out`` and the model card generated from it: both, or, where one cannot be made of
    such details, neither. Raises InputError for text that is none."""
    head = {"schema": SCHEMA, "name": name, "version": version, "licence": LICENCE}
    text = json.dumps({**head, **details, "files": _entries(out)}, indent=1, ensure_ascii=False) + "\n"
    try:
        written = text.encode(), render_card(json.loads(text)).encode()  # as read, so that the card says the same when made again
    except UnicodeEncodeError as error:  # half of a character, as of options that are not in UTF-8
        raise InputError(out / MANIFEST, f"cannot be written ({error}); give names, notes and sources in UTF-8") from error
    for file, data in zip((MANIFEST, CARD), written, strict=True):
        write_atomically(out / file, data)


def write_new_manifest(out: Path, name: str, version: str, training: Mapping[str, Any], sources: Sequence[Any]) -> None:
    """``write_manifest`` for a model just made, by this version and not yet scored."""
    details = {
        "code": {"made_with": __version__, "requires": f">={__version__}"},
        "training": training,
        "thresholds": thresholds(out / RANKER),
        "sources": list(sources),
        "scores": [],
    }
    write_manifest(out, name, version, details)


def refresh_manifest(
    model: Path,
    say: Callable[[str], None],
    scores: Path | None = None,
    sources: Path | None = None,
    calibration: Mapping[str, Any] | None = None,
    version: str | None = None,
    origin: Origin = TYPED,
) -> None:
    """Write manifest and card again after files of the model changed.

    Thresholds come from ``ranker.json``. ``scores`` (what ``python -m corrector.eval --json`` printed), ``sources``, ``calibration``
    (the labelled sets of the ranker for text of this ``origin``) and ``version`` replace what was there. Old scores of another state of
    the model are dropped; new ones of another state raise InputError.
    """
    old = read_json(model / MANIFEST)
    details = {key: value for key, value in old.items() if key not in _MANIFEST_KEYS}
    details["thresholds"] = thresholds(model / RANKER)
    if sources is not None:
        details["sources"] = read_sources(sources)
    if calibration is not None:
        if origin == TYPED:
            details["calibration"] = calibration
        else:
            own = {"calibration": calibration, "thresholds": thresholds(model / of_origin(RANKER, origin))}
            details["origins"] = {**details.get("origins", {}), origin: own}
    if calibration is not None or version is not None:
        details["code"] = {**details.get("code", {}), "requires": f">={__version__}"}  # earlier ones know fewer features
    checksum = short_checksum({name: entry["sha256"] for name, entry in _entries(model).items()})
    rows = details.get("scores", []) if scores is None else read_scores(scores)
    details["scores"] = [row for row in rows if row["checksum"] == checksum]
    stale = [row for row in rows if row["checksum"] != checksum]
    if stale and scores is not None:
        message = (
            f"scores of {stale[0]['set']} are of model {stale[0]['checksum']}, this one is {checksum}; measure again"
        )
        raise InputError(scores, message)
    if stale:
        say(f"{len(stale)} scores dropped: the model has changed since; measure again and pass --scores")
    write_manifest(model, str(old["name"]), version or str(old["version"]), details)


def thresholds(path: Path) -> dict[str, float]:
    """The thresholds in a ``ranker.json``. Raises ModelError for a damaged one."""
    ranker = Ranker.load(path)
    names = ("look_threshold", "suspicion_threshold", "min_confidence")
    return {name: getattr(ranker, name) for name in names} | dict(ranker.profiles)


def read_scores(path: Path) -> list[dict[str, Any]]:
    """The sets of a JSON report as compact rows: counts, figures, intervals, signature. Raises InputError."""
    try:
        report = json.loads(path.read_text("utf-8"))
        return [_score_row(item) for item in report["sets"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(path, f"not a report of `python -m corrector.eval --json` ({error!r})") from error


def read_sources(path: Path) -> list[dict[str, Any]]:
    """The sources of training text, objects of which the card shows some values. Raises InputError for anything else."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(path, f"cannot be read as JSON ({error})") from error
    if not isinstance(value, list):
        raise InputError(path, "not a JSON list; give one object for each source")
    for number, source in enumerate(value, 1):
        if not isinstance(source, dict):
            raise InputError(path, f"source {number} is not an object; give its name, register, licence and repositories as one")
        repositories = source.get("repositories", [])
        if not (isinstance(repositories, list) and all(isinstance(name, str) for name in repositories)):
            raise InputError(path, f"the repositories of source {number} are not a list of names")
    return value


def read_notes(settings: Sequence[str], option: str) -> dict[str, Any]:
    """``key=value`` notes for the training ledger as a mapping; values as JSON where they are JSON. Raises CorrectorError for one without
    a key, or with that of something the ledger has by itself."""
    found: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not (key and equals):
            raise CorrectorError(f"{option} {setting}: give key=value")
        if key in LEDGER_KEYS:
            raise CorrectorError(f"{option} {setting}: the ledger has its own {key}; give the note another name")
        try:
            found[key] = json.loads(value)
        except (ValueError, RecursionError):
            found[key] = value
    return found


def _score_row(item: Mapping[str, Any]) -> dict[str, Any]:
    figures = {name: None if value is None else round(value, 6) for name, value in item["scores"].items()}
    return {
        "set": str(item["set"]),
        "rows": _whole(item["rows"]["used"]),
        "erroneous": _whole(item["counts"]["erroneous"]),
        "figures": figures,
        "intervals": {name: [round(end, 6) for end in ends] for name, ends in item["intervals"].items()},
        "checksum": item["signature_fields"]["checksum"],
        "signature": item["signature"],
    }


def _whole(count: Any) -> int:
    if not isinstance(count, int):
        raise TypeError(f"{count!r} is no count")
    return count


def _entries(out: Path) -> dict[str, dict[str, Any]]:
    """The ``files`` section over everything in ``out`` but manifest and card."""
    files = (path for path in out.rglob("*") if path.is_file() and path not in (out / MANIFEST, out / CARD))
    return file_entries(out, (path.relative_to(out).as_posix() for path in files))
