"""Every setting of a training run, in one frozen object. Unknown keys and impossible values raise."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from corrector.electra.marks import PLAIN_MARKS
from corrector.errors import ConfigError
from corrector.train.setting_values import in_range, typed

SHORTEST = 4  # tokens of a window: [CLS], two characters, [SEP]


@dataclass(frozen=True)
class ModelConfig:
    """Shape of the network. The default is what ships."""

    vocabulary_size: int = 0  # set from the vocabulary file
    embedding_size: int = 128
    hidden_size: int = 512
    layers: int = 6
    heads: int = 8
    max_positions: int = 256
    generator_hidden: int = 128
    generator_layers: int = 2
    generator_heads: int = 2
    layer_norm_eps: float = 1e-12
    word_evidence: bool = True  # its marks weigh words; those of an adapted network do so if its model's do
    intermediate_size: int = 0  # units of a feed-forward part; 0: four times hidden_size

    @property
    def units(self) -> int:
        """How many units the feed-forward part of an encoder layer has."""
        return self.intermediate_size or 4 * self.hidden_size

    def transformers_config(self) -> dict[str, Any]:
        """The ``config.json`` of the exported pair (the generator is the encoder with the corrective head)."""
        return {
            "model_type": "electra",
            "vocab_size": self.vocabulary_size,
            "embedding_size": self.embedding_size,
            "hidden_size": self.hidden_size,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "intermediate_size": self.units,
            "hidden_act": "gelu",
            "hidden_dropout_prob": 0.0,
            "attention_probs_dropout_prob": 0.0,
            "max_position_embeddings": self.max_positions,
            "type_vocab_size": PLAIN_MARKS,
            "alternatives": True,
            "word_evidence": self.word_evidence,
            "layer_norm_eps": self.layer_norm_eps,
            "pad_token_id": 0,
            "tie_word_embeddings": True,
        }


@dataclass(frozen=True)
class NoiseConfig:
    """How errors are made. Shares are relative weights; rates are per Han character."""

    clean_windows: float = 0.2  # share of windows without any error
    single_windows: float = 0.25  # share with exactly one error
    rates: tuple[float, ...] = (0.05, 0.10, 0.15)  # the others draw one of these
    same_sound: float = 0.42
    near_sound: float = 0.15
    shape: float = 0.15
    random: float = 0.08
    word: float = 0.20  # a lexicon word becomes another with the same or nearly the same pinyin
    particles: float = 0.03  # of 的地得 他她它 在再 做作 swapped
    doubled: float = 0.5  # of errors at one of two like characters, the share made at both (忡忡 → 冲冲), as one who types a word does
    observed: float = 0.0  # of all errors, the share seen in labelled rows, at the characters where they were seen (fine-tuning)
    labelled: float = 0.0  # share of labelled rows that get made errors too and lose some of their own
    masked: float = 0.03  # of characters are [MASK] for the corrective head
    generator_windows: float = 0.25  # share of windows whose errors the generator makes
    head_windows: float = 0.0  # share of windows whose errors the corrective head makes, which knows the context better
    generator_masked: float = 0.15  # masked share in both (paper, section 3.1)
    generator_similarity: float = 0.67  # of these places re-weight p_G by sound and shape similarity
    similarity_power: float = 1.0


@dataclass(frozen=True)
class TrainConfig:
    """One run: data, schedule, optimiser, logging."""

    data: str = ""  # folder made by `pack`
    out: str = ""
    seed: int = 1
    batch_tokens: int = 2048
    stages: tuple[tuple[int, int], ...] = ((0, 32), (6_000_000, 64))  # (from tokens seen, window length)
    total_tokens: int = 30_000_000
    total_seconds: float = 0.0  # if more than 0 the run ends by then, and its schedule with it
    warmup_tokens: int = 400_000
    decay_share: float = 0.2  # of the run, linear to decay_floor
    decay_floor: float = 0.02
    learning_rate: float = 3e-4  # with 1e-3 most units of the encoder stop firing, or it learns nothing from text without marks
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.01
    clip: float = 1.0
    generator_weight: float = 1.0
    detection_weight: float = 5.0  # paper: 50 with the generator's loss over 15 %; here all losses are means
    correction_weight: float = 1.0
    kept_share: float = 0.02  # of right characters also given to the corrective head
    raw_share: float = 0.0  # of the windows with made errors, the share from raw text (fine-tuning)
    doubt: float = 1.0  # characters of raw text that the detection head gives more than this count neither as right nor as wrong
    threads: int = 2
    workers: int = 0  # processes that make batches, for a device that learns faster than one can; their order is not repeated exactly
    repeats: int = 0  # times that a batch may be learned from again while no new one is ready (``workers``)
    bf16: bool = False  # products in half the bits; fp16 where the machine is faster at it, with its losses scaled
    fp16: bool = False
    compile: bool = True
    device: str = "cpu"
    checkpoint_seconds: float = 300.0
    log_steps: int = 50
    dev: tuple[str, ...] = ()  # labelled files looked at every dev_tokens
    dev_tokens: int = 2_000_000
    dev_rows: int = 400  # of each file, evenly spaced
    model: ModelConfig = field(default_factory=ModelConfig)
    noise: NoiseConfig = field(default_factory=NoiseConfig)

    def debug(self) -> TrainConfig:
        """The whole chain in a minute: a tiny network and a few steps."""
        small = dataclasses.replace(
            self.model, embedding_size=48, hidden_size=64, layers=2, heads=2, generator_hidden=64, generator_layers=1
        )
        return dataclasses.replace(
            self, model=small, total_tokens=20_480, total_seconds=0.0, warmup_tokens=2_048, batch_tokens=1024,
            learning_rate=1e-3, stages=((0, 32), (10_240, 64)), compile=False, log_steps=5,
        )  # fmt: skip


def to_json(config: TrainConfig) -> str:
    return json.dumps(dataclasses.asdict(config), indent=1, ensure_ascii=False)


def from_mapping(values: dict[str, Any], source: str = "config") -> TrainConfig:
    """A config from (nested) keys. Raises ConfigError for a key that does not exist, a value of another type or out of range, and
    settings that exclude each other."""
    config: TrainConfig = _build(TrainConfig, values, source)
    if config.bf16 and config.fp16:
        raise ConfigError(source, "fp16", "cannot be set together with bf16; give one of them as false")
    if config.noise.generator_windows + config.noise.head_windows > 1:
        raise ConfigError(source, "noise.head_windows", "and generator_windows are shares of the same windows: together at most 1")
    starts = [start for start, _ in config.stages]
    if not starts or starts[0] != 0 or starts != sorted(set(starts)) or min(length for _, length in config.stages) < SHORTEST:
        message = f"must be [[0, LENGTH], [TOKENS, LENGTH], …] with rising tokens and lengths of {SHORTEST} or more"
        raise ConfigError(source, "stages", message)
    for heads, size in (("heads", "hidden_size"), ("generator_heads", "generator_hidden")):
        if getattr(config.model, size) % getattr(config.model, heads):
            raise ConfigError(source, f"model.{size}", f"must be a multiple of {heads}")
    return config


def load(path: Path) -> TrainConfig:
    """The config in a JSON file. Raises ConfigError as ``from_mapping`` does, and for what is no such file."""
    try:
        values = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(path, "config", f"cannot be read ({error}); give a JSON object of settings") from error
    return from_mapping(values, str(path))


def override(config: TrainConfig, settings: tuple[str, ...]) -> TrainConfig:
    """``key=value`` and ``model.key=value`` settings (values as JSON) on top of a config."""
    tree: dict[str, Any] = dataclasses.asdict(config)
    for setting in settings:
        key, _, value = setting.partition("=")
        try:
            parsed = json.loads(value)
        except json.JSONDecodeError:
            parsed = value
        *parents, leaf = key.split(".")
        node: Any = tree
        for parent in parents:
            if not isinstance(node.get(parent), dict):
                raise ConfigError("--set", key, "unknown setting")
            node = node[parent]
        if leaf not in node:
            raise ConfigError("--set", key, "unknown setting")
        node[leaf] = parsed
    return from_mapping(tree, "--set")


def _build(cls: Any, values: Any, source: str, parent: str = "") -> Any:
    if not isinstance(values, dict):
        raise ConfigError(source, parent.rstrip(".") or "config", "must be an object of settings")
    kinds = get_type_hints(cls)
    made: dict[str, Any] = {}
    for key, value in values.items():
        if key not in kinds:
            raise ConfigError(source, f"{parent}{key}", f"unknown setting; known are {', '.join(sorted(kinds))}")
        if dataclasses.is_dataclass(kinds[key]):
            made[key] = _build(kinds[key], value, source, f"{parent}{key}.")
            continue
        try:
            made[key] = typed(kinds[key], value)
            in_range(key, made[key])
        except ValueError as error:
            raise ConfigError(source, f"{parent}{key}", f"{error}, not {json.dumps(value, ensure_ascii=False):.60}") from error
    return cls(**made)
