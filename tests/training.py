"""A vocabulary of forty tokens with hand-made tables, so that training is tested in milliseconds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.electra.marks import MarkTables
from corrector.electra.ngrams import Ngrams
from corrector.electra.static_map import StaticMap
from corrector.electra.tokenizer import CLS, MASK, PAD, SEP, SPACE, UNKNOWN
from corrector.train.config import ModelConfig, NoiseConfig, TrainConfig
from corrector.train.counts import ngrams_of
from corrector.train.noise_tables import WIDTH, WORD_WIDTH, NoiseTables

HAN = "天地人你我他它好坏山水火土木金石田日月星东西南北上下左右大小多少"
VOCABULARY = (PAD, UNKNOWN, CLS, SEP, MASK, SPACE, "，", "。", *HAN)
CLS_ID, SEP_ID, MASK_ID, FIRST_HAN = 2, 3, 4, 8
SIZE = len(VOCABULARY)
GROUP = 4  # characters of one made-up sound: ids 8..11, 12..15, …
PARTICLES = (FIRST_HAN, FIRST_HAN + 1)  # swapped for each other
WORD = (FIRST_HAN, FIRST_HAN + 5)
HOMOPHONES = ((FIRST_HAN + 1, FIRST_HAN + 6), (FIRST_HAN + 2, FIRST_HAN + 7))

Ids = NDArray[np.int64]


def group_of(token: Any) -> Any:
    """The number of a character's sound."""
    return (token - FIRST_HAN) // GROUP


def noise_tables() -> NoiseTables:
    """Same sound: the others of a group. Near sound: the next group. Shape: the one after. One word with two homophones."""
    same, near, shape = ({}, {}, {})
    groups = len(HAN) // GROUP
    for token in range(FIRST_HAN, SIZE):
        for table, step in ((same, 0), (near, 1), (shape, 2)):
            first = FIRST_HAN + (group_of(token) + step) % groups * GROUP
            table[token] = [other for other in range(first, first + GROUP) if other != token]
    swaps = dict(zip(PARTICLES, ([PARTICLES[1]], [PARTICLES[0]]), strict=True))
    is_han = np.arange(SIZE) >= FIRST_HAN
    alternatives = np.zeros((1, WORD_WIDTH, 2), dtype=np.int32)
    alternatives[0, :2] = HOMOPHONES
    word_p = np.ones((1, WORD_WIDTH), dtype=np.float32)
    word_p[0, 0] = 0.75
    similarity = np.where(group_of(np.arange(SIZE))[:, None] == group_of(np.arange(SIZE)), 255, 0).astype(np.uint8)
    return NoiseTables(
        *_table(same), *_table(near), *_table(shape), *_table(swaps), np.cumsum(is_han / is_han.sum()).astype(np.float32),
        np.array([WORD[0] * SIZE + WORD[1]], dtype=np.uint64), alternatives, word_p, similarity, is_han,
    )  # fmt: skip


def _table(neighbours: dict[int, list[int]]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    found = np.zeros((SIZE, WIDTH), dtype=np.int32)
    cumulative = np.zeros((SIZE, WIDTH), dtype=np.float32)
    for token, others in neighbours.items():
        found[token, : len(others)] = others
        cumulative[token] = np.minimum(1.0, np.arange(1, WIDTH + 1) / len(others))
    return found, cumulative


def mark_tables(level: int = 1) -> MarkTables:
    """天地 is a pair of this level (1..3) and a word; nothing else is known, and no character has look-alikes."""
    pair = np.array([FIRST_HAN * SIZE + FIRST_HAN + 1], dtype=np.uint64)
    nothing = np.zeros(0, dtype=np.uint64)
    pairs, triples = StaticMap.build(pair, np.array([2 * level])), StaticMap.build(nothing, nothing)
    alike = np.zeros((SIZE, 1), dtype=np.uint16)
    ngrams = Ngrams(np.zeros(SIZE, dtype=np.float32), pairs, triples, alike, alike.astype(np.uint8))
    return MarkTables(SIZE, (pair, nothing, nothing), ngrams)


def random_phrases(seed: int = 0) -> Ids:
    """Forty phrases of six characters: what the text behind ``random_tables`` is full of."""
    return np.random.default_rng(seed).integers(FIRST_HAN, SIZE, (40, 6))


def random_tables(seed: int = 0) -> MarkTables:
    """Words, counts and look-alikes by chance, dense enough that random text gets every kind of mark."""
    rng = np.random.default_rng(seed + 1)
    often = [np.tile([*phrase, SEP_ID], rng.integers(1, 3000)) for phrase in random_phrases(seed)]
    corpus = [np.concatenate([*often, rng.integers(FIRST_HAN, SIZE, 20_000)]).astype(np.uint16)]
    alike = np.zeros((SIZE, 10), dtype=np.uint16)
    for token in range(FIRST_HAN, SIZE - 3):  # three characters have no look-alikes, others fewer than there is room for
        others = rng.permutation([other for other in range(FIRST_HAN, SIZE) if other != token])[: rng.integers(1, 11)]
        alike[token, : len(others)] = others
    similarity = np.where(alike > 0, rng.integers(0, 256, alike.shape), 0).astype(np.uint8)
    words = [rng.integers(FIRST_HAN, SIZE, (count, size)) for size, count in ((2, 300), (3, 3000), (4, 60_000))]
    keys = [np.unique(word @ SIZE ** np.arange(word.shape[1])[::-1]).astype(np.uint64) for word in words]
    ngrams = ngrams_of(corpus, SIZE, FIRST_HAN - 2, (alike, similarity), 1.0)
    return MarkTables(SIZE, (keys[0], keys[1], keys[2]), ngrams)


def texts(count: int, seed: int = 0) -> list[Ids]:
    """Texts of any lengths: phrases of ``random_phrases(seed)``, every fifth token another, specials among them."""
    rng = np.random.default_rng(seed + 2)
    found = []
    for _ in range(count):
        text = rng.permutation(random_phrases(seed))[:8].ravel()[: rng.integers(0, 45)]
        other = rng.random(len(text)) < 0.2
        text[other] = rng.integers(0, SIZE, other.sum())
        found.append(text)
    return found


def windows(count: int, length: int, seed: int = 0) -> Ids:
    """Random text in windows: [CLS] … [SEP], now and then a comma or a space: (count, length)."""
    rng = np.random.default_rng(seed)
    text = rng.integers(FIRST_HAN, SIZE, (count, length))
    other = rng.random(text.shape) < 0.1
    text[other] = rng.choice([1, 5, 6, 7], other.sum())
    text[:, 0], text[:, -1] = CLS_ID, SEP_ID
    return text


LOUD = NoiseConfig(generator_windows=0.5)
QUIET = NoiseConfig(clean_windows=0.0, single_windows=0.0, rates=(0.0,), masked=0.0, generator_windows=0.0)


def config(**settings: Any) -> TrainConfig:
    """A network of one layer and sixteen dimensions, without warm-up and decay."""
    model = ModelConfig(SIZE, 16, 16, 1, 2, 64, 16, 1, 2)
    chosen = TrainConfig(
        batch_tokens=128, stages=((0, 16),), total_tokens=10_000, warmup_tokens=0, decay_share=0.0, threads=1, compile=False,
        learning_rate=5e-3, model=model, noise=QUIET,
    )  # fmt: skip
    return replace(chosen, **settings)
