"""``pack`` from start to end: tokens, marks, counts of words, noise tables, character features, and ``corpus.json``, the record of it all.

*Raw* text is what pre-training reads, natural typos and all; *clean* text is edited prose, the right side of synthetic errors.
"""

from __future__ import annotations

import glob
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corrector.electra.tokenizer import Tokenizer
from corrector.errors import ConfigError, InputError
from corrector.train import corpus, features, noise_tables
from corrector.train.counts import AGAIN

RECORD = corpus.RECORD
PARTS = 6  # of the corpus; each takes one count of all the others
RESERVED = ("contrasts", "corpus", "features", "lexicon", "marks", "noise", "vocab", "words")
"""Names that a packed folder has files of besides those of the text."""


@dataclass(frozen=True)
class CorpusRecord:
    """The shards of a packed folder by name, and what is in them; ``sha256`` covers the vocabulary and all tokens."""

    raw: tuple[str, ...]
    clean: tuple[str, ...]
    tokens: int
    characters: int  # Han, clean text included
    sha256: str


def expand(patterns: Sequence[str]) -> list[Path]:
    """The files meant by paths and glob patterns, sorted by name. Raises InputError for one that stands for no file."""
    found: set[Path] = set()
    for pattern in patterns:
        paths = [Path(pattern)] if Path(pattern).is_file() else [Path(name) for name in glob.glob(pattern)]
        if not paths:
            raise InputError(pattern, "no such file; give text files or patterns such as 'text/*.txt.zst'")
        found.update(paths)
    return sorted(found, key=lambda path: (path.name, path))


def part_of(number: int) -> int:
    """The part of the corpus that a raw file is in, by its number from 0 on."""
    return number % PARTS


def prepare(
    raw: Sequence[Path],
    clean: Sequence[Path],
    out: Path,
    ids: Path | None,
    say: Callable[[str], None],
    extra: str | None = None,
) -> CorpusRecord:
    """Write everything training reads into ``out``. The raw files are dealt out to up to ``PARTS`` parts of the corpus: text is marked
    with counts of the parts that it is not in.

    ``ids`` is a file of ideographic description sequences for the features; ``extra`` as in ``corpus.pack``. Raises ConfigError for
    fewer than two raw files, and for files that would get the same name as another, one of ``RESERVED``, or none; InputError as
    ``corpus.pack`` does, and where there is no file ``ids``.
    """
    if len(raw) < 2:
        raise ConfigError(
            "pack", "--raw", "two files at least: the text of each is marked with counts of the others"
        )
    names = [_shard_name(path) for path in (*raw, *clean)]
    for path, name in zip((*raw, *clean), names, strict=True):
        if name in ("", *RESERVED):
            raise ConfigError("pack", str(path), "shards are named after their files, and this name is taken: rename it, say to text-1.txt")
        if names.count(name) > 1:
            raise ConfigError("pack", name, "two files of this name; shards are named after their files: rename one")
    if ids is not None and not ids.exists():
        raise InputError(ids, "no such file; give ideographic description sequences, or leave --ids out")
    say(f"packing {len(raw)} raw and {len(clean)} clean files")
    fold_of = {path.name: part_of(number) for number, path in enumerate(raw)}
    corpus.pack([*raw, *clean], out, fold_of, say, extra)
    vocabulary = Tokenizer.load(out / "vocab.txt").vocabulary
    counts = np.zeros(len(vocabulary), dtype=np.int64)
    for path in raw:
        counts += np.bincount(np.load(out / f"{_shard_name(path)}.npy"), minlength=len(vocabulary))
    say(f"noise tables and features of {len(vocabulary):,} characters")
    lexicon = json.loads((out / "lexicon.json").read_text("utf-8"))
    noise_tables.build(vocabulary, counts, lexicon).save(out / "noise.npz")
    np.save(out / "features.npy", features.character_features(vocabulary, ids))
    record = describe(out, [_shard_name(path) for path in raw], [_shard_name(path) for path in clean])
    (out / RECORD).write_text(json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n", "utf-8")
    say(f"{record.tokens:,} tokens, {record.characters:,} Han characters")
    return record


def describe(data: Path, raw: Sequence[str], clean: Sequence[str]) -> CorpusRecord:
    """Count and hash the named shards of a folder; reads all of them."""
    digest = hashlib.sha256((data / "vocab.txt").read_bytes())
    vocabulary = Tokenizer.load(data / "vocab.txt").vocabulary
    is_han = np.array([len(token) == 1 and corpus.is_han(token) for token in vocabulary])
    tokens = characters = 0
    for name in (*raw, *clean):
        shard = np.load(data / f"{name}.npy")
        digest.update(shard.tobytes())
        tokens += len(shard)
        characters += int(np.bincount(shard, minlength=len(vocabulary))[is_han].sum())
    return CorpusRecord(tuple(raw), tuple(clean), tokens, characters, digest.hexdigest())


def shard_names(data: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the raw and of the clean shards. Raises InputError for a folder without a usable ``corpus.json``."""
    record = _read(data / RECORD)
    return tuple(record["raw"]), tuple(record["clean"])


def read_record(data: Path) -> CorpusRecord:
    """The whole record; counts and hash are worked out where ``corpus.json`` has only names. Raises InputError."""
    record = _read(data / RECORD)
    if set(CorpusRecord.__dataclass_fields__) <= set(record):
        known = {name: record[name] for name in CorpusRecord.__dataclass_fields__}
        return CorpusRecord(**known | {"raw": tuple(record["raw"]), "clean": tuple(record["clean"])})
    return describe(data, record["raw"], record["clean"])


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read ({error}); {AGAIN}") from error
    if not (isinstance(record, dict) and all(isinstance(record.get(key), list) for key in ("raw", "clean"))):
        raise InputError(path, f"does not name the raw and the clean shards; {AGAIN}")
    return record


def _shard_name(path: Path) -> str:
    return path.name.split(".")[0]
