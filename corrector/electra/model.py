"""A model directory, opened: its two networks, its vocabulary, its marks and its manifest."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from corrector.electra.manifest import AGAIN, read_json, sha256, short_checksum
from corrector.errors import ModelError
from corrector.types import TYPED, Origin

if TYPE_CHECKING:
    from corrector.electra.contrasts import Contrasts
    from corrector.electra.marks import MarkTables
    from corrector.electra.slips import Slips
    from corrector.electra.tokenizer import Tokenizer
    from corrector.electra.word_model import WordModel

    Table = TypeVar("Table", Contrasts, MarkTables, Slips, WordModel)

Kind = Literal["onnx", "pytorch"]
"""What runs the networks: onnxruntime or PyTorch."""

WEIGHTS: Mapping[Kind, tuple[str, ...]] = {
    "onnx": ("model.int8.onnx",),
    "pytorch": ("model.safetensors", "pytorch_model.bin"),
}
"""The weight files of each kind; the first one there is used."""

CONFIG, VOCABULARY, MARKS, RANKER = "config.json", "vocab.txt", "marks.npz", "ranker.json"
SLIPS, WORDS, CONTRASTS = "slips.npz", "words.npz", "contrasts.npz"
DISCRIMINATOR, GENERATOR = "discriminator", "generator"

_BERT_SEGMENTS = 2  # a type table no larger than this holds BERT's two segments and knows nothing of marks


@dataclass(frozen=True)
class Network:
    """One of the two networks: the directory it lies in, its weight file and its ``config.json``."""

    path: Path
    weights: Path
    config: Mapping[str, Any]

    @classmethod
    def open(cls, path: Path, kind: Kind) -> Network:
        """The network in a directory. Raises ModelError if its weights or its configuration are missing."""
        weights = next((path / name for name in WEIGHTS[kind] if (path / name).is_file()), None)
        if weights is None:
            raise ModelError(path, f"no {' or '.join(WEIGHTS[kind])} in it; {AGAIN}")
        return cls(path, weights, read_json(path / CONFIG))

    def setting(self, key: str) -> int | None:
        """A whole-number setting of ``config.json``, None where it is absent. Raises ModelError for anything else."""
        value = self.config.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise ModelError(self.path / CONFIG, f"{key} is {value!r}, not a whole number; {AGAIN}")
        return value

    @property
    def reads_types(self) -> bool:
        """True when the network was trained with token marks."""
        return (self.setting("type_vocab_size") or 0) > _BERT_SEGMENTS

    @property
    def reads_alternatives(self) -> bool:
        """True when its marks also name the look-alike that would fit better, as from version 0.9 on."""
        return self.config.get("alternatives") is True

    @property
    def reads_words(self) -> bool:
        """True when its marks also say how likely the text is as a row of words, as from version 0.14 on."""
        return self.config.get("word_evidence") is True


@dataclass(frozen=True)
class ModelDirectory:
    """A complete model: both networks and their vocabulary. ``manifest`` is empty for models from elsewhere."""

    name: str
    path: Path
    kind: Kind
    discriminator: Network
    generator: Network
    vocabulary: Path
    manifest: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin = TYPED

    def of(self, origin: Origin) -> ModelDirectory:
        """The same model for text of this origin. Raises ModelError if it brings no ranker for that."""
        model = dataclasses.replace(self, origin=origin)
        if origin != TYPED and model.ranker is None:
            message = f"has no ranker for text from {origin}; leave the origin out, use another model, or fit one (`calibrate --origin`)"
            raise ModelError(self.path, message)
        return model

    @property
    def ranker(self) -> Path | None:
        """The ranker that was calibrated for this model and text of its origin, if it brings one."""
        path = self.path / of_origin(RANKER, self.origin)
        return path if path.is_file() else None

    @cached_property
    def slips(self) -> Slips | None:
        """The slips that were seen in text of its origin, if it brings any. Raises ModelError for a file that is damaged or of another
        vocabulary."""
        from corrector.electra.slips import Slips

        path = self.path / of_origin(SLIPS, self.origin)
        return _load(path, Slips.load, len(self._plain.vocabulary)) if path.is_file() else None

    @cached_property
    def word_model(self) -> WordModel | None:
        """The counts of words, if it brings any. Raises ModelError for a file that is damaged or of another vocabulary or lexicon."""
        tables = self.tokenizer.tables
        if tables is None or not (self.path / WORDS).is_file():
            return None
        return tables.word_model or self._words_in(tables)

    def _words_in(self, tables: MarkTables) -> WordModel:
        """The counts of words of these tables. Raises ModelError as ``word_model`` does, and for a file that is missing."""
        from corrector.electra.word_model import WordModel

        return _load(self.path / WORDS, partial(WordModel.load, words=tables.sets), tables.vocabulary_size)

    @property
    def version(self) -> str:
        """The version in the manifest, '' where there is none."""
        return str(self.manifest.get("version", ""))

    @cached_property
    def checksum(self) -> str:
        """A short checksum of everything that decides the results: from the manifest, else by reading the files."""
        if self.manifest:
            return short_checksum({name: entry["sha256"] for name, entry in self.manifest["files"].items()})
        networks = {DISCRIMINATOR: self.discriminator, GENERATOR: self.generator}
        files = {f"{name}/weights": network.weights for name, network in networks.items()}
        files |= {f"{name}/{CONFIG}": network.path / CONFIG for name, network in networks.items()}
        files[VOCABULARY] = self.vocabulary
        files |= {name: self.path / name for name in (MARKS, SLIPS, WORDS, CONTRASTS) if (self.path / name).is_file()}
        return short_checksum({name: sha256(path) for name, path in files.items()})

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of this model, with its marks if it was trained with any; alike is in them what is confused in text of its origin.

        Raises ModelError for marks or words that are missing, damaged or of another vocabulary, and for a vocabulary larger than
        a network's table.
        """
        from corrector.electra.tokenizer import Tokenizer

        plain = self._plain
        for network in (self.discriminator, self.generator):
            size = network.setting("vocab_size")
            if size is not None and len(plain.vocabulary) > size:
                message = f"{len(plain.vocabulary)} tokens where {network.path / CONFIG} has {size}"
                raise ModelError(self.vocabulary, f"{message}; use the vocab.txt that came with the model")
        if not self.discriminator.reads_types and not self.generator.reads_types:
            return plain
        from corrector.electra.contrasts import Contrasts
        from corrector.electra.marks import MarkTables

        load = partial(MarkTables.load, with_alternatives=self.discriminator.reads_alternatives)
        tables = _load(self.path / MARKS, load, len(plain.vocabulary))
        if self.discriminator.reads_words:
            tables = tables.with_words(self._words_in(tables))
            if (self.path / CONTRASTS).is_file():
                tables = tables.with_contrasts(_load(self.path / CONTRASTS, Contrasts.load, len(plain.vocabulary)))
        if self.origin != TYPED and self.slips is not None:
            tables = tables.with_slips(self.slips)
        return Tokenizer(plain.vocabulary, tables.types)

    @cached_property
    def _plain(self) -> Tokenizer:
        """The tokenizer without marks."""
        from corrector.electra.tokenizer import Tokenizer

        return Tokenizer.load(self.vocabulary)


def of_origin(name: str, origin: Origin) -> str:
    """Where in a model its file of this name for text of one origin is: that for typed text at the top, others each in a folder."""
    return name if origin == TYPED else f"{origin}/{name}"


def _load(path: Path, load: Callable[[Path], Table], vocabulary_size: int) -> Table:
    """Tables of a model that must be of its vocabulary. Raises ModelError for a file that is damaged or of another one."""
    try:
        table = load(path)
    except Exception as error:  # OSError, BadZipFile, zlib.error, KeyError and ValueError all mean a damaged file
        raise ModelError(path, f"cannot be read ({error}); {AGAIN}") from error
    if table.vocabulary_size != vocabulary_size:
        message = f"made for {table.vocabulary_size} tokens where the vocabulary has {vocabulary_size}"
        raise ModelError(path, f"{message}; {AGAIN}")
    return table
