"""Fine-tuning: labelled pairs mixed with synthetic errors in clean text, at the rate real text has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corrector.electra.tokenizer import Tokenizer
from corrector.errors import EvalDataError
from corrector.eval.dataset import load_set
from corrector.train.batches import Arrays, Rows
from corrector.train.config import NoiseConfig, TrainConfig, to_json
from corrector.train.counts import IN_NONE
from corrector.train.observed import Observed, observe
from corrector.train.prepare import shard_names
from corrector.train.pretrain import (
    begin_from,
    dev_measure,
    load_fitting,
    made_rows,
    make_trainer,
    window_stream,
    with_vocabulary,
)

FINETUNE_NOISE = NoiseConfig(
    clean_windows=0.55, single_windows=0.3, rates=(0.03, 0.06), same_sound=0.40, near_sound=0.14, shape=0.14, random=0.02,
    word=0.25, particles=0.05, generator_windows=0.0,
)  # fmt: skip
PAIR_SHARE = 0.15  # of a batch; with a quarter the labelled rows were learned by heart, and text of other writers corrected less well
FEWEST = 20  # right sentences to adapt to; of fewer nothing is held back worth the name

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PairSet:
    """Labelled sentences (source, target) of equal length, drawn with a weight relative to the other sets."""

    pairs: Pairs
    weight: float
    name: str = ""


def read_set(path: Path, weight: float, say: Callable[[str], None]) -> PairSet:
    """The usable rows of a labelled file; how many are not is said. Raises EvalDataError if there are none, and as
    ``eval.dataset.load_set`` does."""
    labelled = load_set(path)
    if not labelled.rows:
        raise EvalDataError(path, "no usable pair of equal length")
    if labelled.dropped:
        say(f"{path}: {labelled.dropped:,} of {labelled.read:,} rows left out: source and target differ in length")
    return PairSet(tuple((row.source, row.target) for row in labelled.rows), weight, path.name)


def read_pairs(path: Path) -> Pairs:
    """The rows of ``read_set``."""
    return read_set(path, 1.0, lambda _: None).pairs


@dataclass(frozen=True)
class Parts:
    """Labelled rows by what they are for; no right sentence is in two parts."""

    train: tuple[PairSet, ...]
    ranker: Pairs
    held_back: Pairs


def split(sets: Sequence[PairSet]) -> Parts:
    """Every tenth right sentence for the scores, the one five after it for the ranker, the others for the networks.

    Raises EvalDataError for fewer than ``FEWEST`` of them.
    """
    targets = dict.fromkeys(target for item in sets for _, target in item.pairs)
    if len(targets) < FEWEST:
        message = f"{len(targets)} different sentences are too few to adapt to; give at least {FEWEST}, better some hundred"
        raise EvalDataError(" ".join(item.name for item in sets), message)
    number = {target: place for place, target in enumerate(targets)}

    def share(pairs: Pairs, wanted: Container[int]) -> Pairs:
        return tuple(pair for pair in pairs if number[pair[1]] % 10 in wanted)

    everything = tuple(pair for item in sets for pair in item.pairs)
    train = tuple(dataclasses.replace(item, pairs=share(item.pairs, {1, 2, 3, 4, 6, 7, 8, 9})) for item in sets)
    return Parts(tuple(item for item in train if item.pairs), share(everything, {5}), share(everything, {0}))


def with_right_sentences(rows: Pairs) -> Pairs:
    """The rows and, as rows without an error, the right sentences of those that have one; each once."""
    return tuple(dict.fromkeys((*rows, *((target, target) for _, target in rows))))


class PairStream:
    """Rows of labelled pairs as padded windows, sets drawn by weight × size, in a seeded order."""

    def __init__(self, sets: Sequence[PairSet], tokenizer: Tokenizer, seed: int) -> None:
        self.rows = [
            (tokenizer.character_ids(source), tokenizer.character_ids(target))
            for item in sets
            for source, target in item.pairs
        ]
        self.weights = np.concatenate([np.zeros(0), *(np.full(len(item.pairs), item.weight) for item in sets)])
        self.cumulative = np.cumsum(self.weights / self.weights.sum())
        self.tokenizer = tokenizer
        self.rng = np.random.default_rng(seed)

    def observed(self) -> Observed:
        """The errors in the rows, each weighed as the row is."""
        rows = ((given, right, weight) for (given, right), weight in zip(self.rows, self.weights, strict=True))
        return observe(rows, len(self.tokenizer.vocabulary))

    def batch(self, count: int, length: int) -> tuple[Arrays, Arrays]:
        """Originals and sources, (count, length) each; a row longer than the window is cut at a random place."""
        original = np.zeros((count, length), dtype=np.int64)
        given = np.zeros((count, length), dtype=np.int64)
        for line, row in enumerate(np.searchsorted(self.cumulative, self.rng.random(count))):
            source, target = self.rows[min(row, len(self.rows) - 1)]
            room = length - 2
            start = int(self.rng.integers(0, len(source) - room + 1)) if len(source) > room else 0
            size = min(room, len(source) - start)
            for array, ids in ((given, source), (original, target)):
                array[line, 0] = self.tokenizer.cls_id
                array[line, 1 : size + 1] = ids[start : start + size]
                array[line, size + 1] = self.tokenizer.sep_id
        return original, given


def finetune(
    config: TrainConfig, start: Path, sets: Sequence[PairSet], pair_share: float, say: Callable[[str], None]
) -> None:
    """Go on from the pre-training checkpoint ``start`` on labelled rows (``pair_share`` of each batch) and synthetic ones.

    Without ``sets`` every row is synthetic. Goes on from ``out/checkpoint.pt`` instead if there is one.
    """
    data, out = Path(config.data), Path(config.out)
    raw, clean = shard_names(data)
    tokenizer = Tokenizer.load(data / "vocab.txt")
    config = with_vocabulary(config, tokenizer)
    kinds = [(clean, "clean"), (raw, "raw")] if config.raw_share else [(clean, "clean")]
    streams = [window_stream(config, tokenizer, names, kind) for names, kind in kinds]
    pairs = PairStream(sets, tokenizer, config.seed)
    pair_share = pair_share if sets else 0.0

    def source(count: int, length: int) -> Rows:
        labelled = round(count * pair_share)
        raw_windows = round((count - labelled) * config.raw_share)
        windows = zip(streams, (count - labelled - raw_windows, raw_windows), (True, False), strict=False)  # raw text may have no stream
        parts = [made_rows(stream, number, length, trusted=trusted) for stream, number, trusted in windows]
        original, given = pairs.batch(labelled, length)
        parts.append(Rows(original, given, np.full(labelled, IN_NONE, dtype=np.int64), np.full(labelled, True)))
        return Rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    observed = pairs.observed() if sets and config.noise.observed else None
    trainer = make_trainer(config, tokenizer, source, observed)
    path = out / "checkpoint.pt"
    if path.exists():
        state = trainer.restore(load_fitting(path, config))
        places, pairs.rng.bit_generator.state = state
        for stream, place in zip(streams, places, strict=False):  # raw text may have been added since, or left out
            stream.epoch, stream.index = place
        say(f"going on from {trainer.tokens:,} tokens")
    else:
        out.mkdir(parents=True, exist_ok=True)
        named = [{"name": item.name, "rows": len(item.pairs), "weight": item.weight} for item in sets]
        begin_from(trainer, start, config, out, named, pair_share)
    (out / "config.json").write_text(to_json(config), "utf-8")
    position = lambda: ([(stream.epoch, stream.index) for stream in streams], pairs.rng.bit_generator.state)  # noqa: E731
    trainer.run(out, position, say, dev_measure(config, tokenizer, trainer))


def finetune_config(base: TrainConfig, data: str, out: str) -> TrainConfig:
    """The default schedule of a fine-tuning run on top of a pre-training config's model."""
    noise = dataclasses.replace(FINETUNE_NOISE, observed=0.3, labelled=0.6)  # rows seen many times are learned by heart as they are
    return dataclasses.replace(
        base, data=data, out=out, noise=noise, stages=((0, 64),), total_tokens=5_000_000, warmup_tokens=100_000,
        learning_rate=3e-4, decay_share=0.8, kept_share=0.03,
    )  # fmt: skip
