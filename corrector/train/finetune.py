"""Fine-tuning: labelled pairs mixed with synthetic errors in clean text, at the rate real text has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from corrector.electra.tokenizer import Tokenizer
from corrector.errors import ConfigError, ModelError
from corrector.train.batches import Rows
from corrector.train.config import NoiseConfig, TrainConfig, to_json
from corrector.train.counts import IN_NONE, check_part
from corrector.train.observed import Observed, observe
from corrector.train.pairs import PairSet
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


class PairStream:
    """Rows of labelled pairs as padded windows, sets drawn by weight × size, in a seeded order."""

    def __init__(self, sets: Sequence[PairSet], tokenizer: Tokenizer, seed: int) -> None:
        self.rows = [
            (tokenizer.character_ids(source), tokenizer.character_ids(target))
            for item in sets
            for source, target in item.pairs
        ]
        self.weights = np.concatenate([np.zeros(0), *(np.full(len(item.pairs), item.weight) for item in sets)])
        self.parts = np.repeat([item.part for item in sets], [len(item.pairs) for item in sets]).astype(np.int64)
        self.cumulative = np.cumsum(self.weights / self.weights.sum())
        self.tokenizer = tokenizer
        self.rng = np.random.default_rng(seed)

    def share(self, number: int, seed: int) -> None:
        """From here on draw as worker ``number``."""
        self.rng = np.random.default_rng((seed, number))

    def observed(self) -> Observed:
        """The errors in the rows, each weighed as the row is."""
        rows = ((given, right, weight) for (given, right), weight in zip(self.rows, self.weights, strict=True))
        return observe(rows, len(self.tokenizer.vocabulary))

    def batch(self, count: int, length: int) -> Rows:
        """``count`` windows of this length; a row longer than the window is cut at a random place."""
        original = np.zeros((count, length), dtype=np.int64)
        given = np.zeros((count, length), dtype=np.int64)
        drawn = np.minimum(np.searchsorted(self.cumulative, self.rng.random(count)), len(self.rows) - 1)
        for line, row in enumerate(drawn):
            source, target = self.rows[row]
            room = length - 2
            start = int(self.rng.integers(0, len(source) - room + 1)) if len(source) > room else 0
            size = min(room, len(source) - start)
            for array, ids in ((given, source), (original, target)):
                array[line, 0] = self.tokenizer.cls_id
                array[line, 1 : size + 1] = ids[start : start + size]
                array[line, size + 1] = self.tokenizer.sep_id
        return Rows(original, given, self.parts[drawn], np.full(count, True))


def finetune(
    config: TrainConfig, start: Path, sets: Sequence[PairSet], pair_share: float, say: Callable[[str], None]
) -> None:
    """Go on from the pre-training checkpoint ``start`` on labelled rows (``pair_share`` of each batch) and synthetic ones.

    Without ``sets`` every row is synthetic. Goes on from ``out/checkpoint.pt`` instead if there is one.
    """
    data, out = Path(config.data), Path(config.out)
    raw, clean = shard_names(data)
    for part in {item.part for item in sets} - {IN_NONE}:
        check_part(data, part)
    tokenizer = Tokenizer.load(data / "vocab.txt")
    config = with_vocabulary(config, tokenizer)
    kinds = [(clean, "clean"), (raw, "raw")] if config.raw_share else [(clean, "clean")]
    streams = [window_stream(config, tokenizer, names, kind) for names, kind in kinds]
    pairs = PairStream(sets, tokenizer, config.seed)
    pair_share = pair_share if sets else 0.0
    in_context = config.noise.generator_windows + config.noise.head_windows
    if in_context + pair_share > 1:
        raise ConfigError("config", "noise", f"generator_windows and head_windows leave no room for a labelled share of {pair_share:g}")

    def source(count: int, length: int) -> Rows:
        labelled = round(count * pair_share)
        raw_windows = round((count - labelled) * config.raw_share)
        windows = zip(streams, (count - labelled - raw_windows, raw_windows), (True, False), strict=False)  # raw text may have no stream
        parts = [made_rows(stream, number, length, trusted=trusted) for stream, number, trusted in windows]
        parts.append(pairs.batch(labelled, length))
        return Rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def share(number: int, count: int, seed: int) -> None:
        for stream in streams:
            stream.share(number, count, seed)
        pairs.share(number, seed)

    observed = pairs.observed() if sets and config.noise.observed else None
    trainer = make_trainer(config, tokenizer, source, share, observed)
    path = out / "checkpoint.pt"
    if path.exists():
        state = load_fitting(path, config)
        if isinstance(state["position"][0], int):
            raise ModelError(path, "is of a pre-training run; give another --out, and this one as --from")
        places, pairs.rng.bit_generator.state = trainer.restore(state)
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
    """The default settings of a fine-tuning run: of the run before, only its network's shape is taken over."""
    noise = dataclasses.replace(FINETUNE_NOISE, observed=0.3, labelled=0.6)  # rows seen many times are learned by heart as they are
    model = dataclasses.replace(base.model, word_evidence=True)  # as all text packed in ``data`` is marked
    return TrainConfig(
        data=data, out=out, model=model, noise=noise, stages=((0, 64),), total_tokens=5_000_000, warmup_tokens=100_000,
        decay_share=0.8, kept_share=0.03,
    )  # fmt: skip
