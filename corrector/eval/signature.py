"""What has to be known to reproduce a number, as one line beside it."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path

from corrector.eval.dataset import LabelledSet
from corrector.types import TYPED, Origin

METRICS = "strict+official+character.1"
"""The metric set; the number rises when a definition changes."""

HASH_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Signature:
    """The set, metrics, model and version behind a number; ``checksum`` and ``sha256`` are 12 hex digits."""

    set: str
    rows: int
    sha256: str
    metrics: str
    model: str
    checksum: str
    threshold: float | None
    version: str
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        parts = asdict(self)
        parts.pop("options")
        parts["threshold"] = "none" if self.threshold is None else f"{self.threshold:g}"
        return "|".join(f"{key}:{escape(str(value))}" for key, value in (*parts.items(), *self.options))


def escape(value: str) -> str:
    """The value without the two characters that separate fields from each other and from their names."""
    return value.replace("|", "/").replace(":", "=")


def sign(
    labelled: LabelledSet,
    model: str,
    checksum: str,
    threshold: float | None,
    removed_de: bool = False,
    origin: Origin = TYPED,
) -> Signature:
    """The signature of scores on ``labelled``; only options that differ from the defaults are named."""
    options = [("dropped", labelled.dropped), ("limit", labelled.limit), ("max_length", labelled.max_length)]
    chosen = [(name, str(value)) for name, value in options if value]
    if origin != TYPED:
        chosen.append(("origin", origin))
    if removed_de:
        chosen.append(("remove_de", "yes"))
    return Signature(
        set=labelled.name,
        rows=len(labelled.rows),
        sha256=labelled.sha256[:HASH_DIGITS],
        metrics=METRICS,
        model=model,
        checksum=checksum.removeprefix("sha256:")[:HASH_DIGITS],
        threshold=threshold,
        version=package_version(),
        options=tuple(chosen),
    )


def file_checksum(path: str | Path) -> str:
    """The first 12 hex digits of a file's sha256."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:HASH_DIGITS]


def package_version() -> str:
    """The version of this package, ``unknown`` when run from files that have none."""
    import corrector

    return str(getattr(corrector, "__version__", "unknown"))
