"""The trainable network of a model directory: what an export folded and rounded, unfolded again.

The int8 layout keeps the names of biases and norms; its matrices have names of the exporter's own and are known by their order in the
graph. The half-precision layout is the inverse of ``model.transformers_state``.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from corrector.electra.marks import MARK_FACTORS
from corrector.electra.model import ModelDirectory, Network
from corrector.electra.model_dir import find_model
from corrector.electra.torch_runtime import ALTERNATIVE
from corrector.errors import ConfigError, ModelError
from corrector.train import checkpoint
from corrector.train.config import ModelConfig, TrainConfig
from corrector.train.gate import load_graph
from corrector.train.model import JointElectra
from corrector.train.start import is_checkpoint
from corrector.train.transformers_names import LAYER_NAMES

_AGAIN = "start from --from default, or export the model again with this version"
_NOT_RELEASED = ("generator.", "generator_head.", "embeddings.feature")
_LAYER_PARTS = ("qkv", "out", "up", "down")
_MARKS = tuple(f"embeddings.marks.{number}.weight" for number in range(len(MARK_FACTORS)))
_ROUNDING = {"onnx": 0.02, "pytorch": 2e-3}
"""Of the largest value of a mark table: what 8 bits over the whole table, or half precision, may do to an entry."""


def read_network(directory: ModelDirectory) -> JointElectra:
    """The network in evaluation mode, the same up to what rounding took.

    Character features come back inside the word table: the network has one feature, which no character has. The masked generator of
    pre-training, which no release holds, is initialised afresh. Raises ModelError for a public checkpoint, and for a model of
    another layout than this version exports.
    """
    config = _config(directory.discriminator)
    model = JointElectra(config, torch.zeros(config.vocabulary_size, 1))
    try:
        state = _from_onnx(directory, config) if directory.kind == "onnx" else _from_pytorch(directory, config)
        if not directory.discriminator.reads_alternatives:
            state["alternative.weight"] = torch.zeros_like(state["encoder.project.weight"])
    except (KeyError, ValueError) as error:
        raise ModelError(directory.path, f"its networks are not laid out as this version does ({error}); {_AGAIN}") from error
    types = state.pop("types", None)
    if types is not None:
        state |= dict(zip(_MARKS, _unfolded(types), strict=True))
    wanted = {name: tensor.shape for name, tensor in model.state_dict().items() if not name.startswith(_NOT_RELEASED)}
    wrong = [name for name in sorted(wanted.keys() | state.keys()) if name not in state or state[name].shape != wanted.get(name)]
    if wrong:
        raise ModelError(directory.path, f"its networks have no fitting {', '.join(wrong[:3])}; {_AGAIN}")
    model.load_state_dict(state, strict=False)
    if types is not None:
        off = float((model.embeddings.folded_types() - types).abs().max())
        if off > _ROUNDING[directory.kind] * float(types.abs().max()):
            raise ModelError(directory.path, f"its token types are not a sum of marks (off by {off:.2g}); {_AGAIN}")
    model.eval()
    return model


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def begin_with(model: JointElectra, directory: ModelDirectory) -> None:
    """Give a network that is to be trained on what a release has: everything but the masked generator.

    The word table T becomes features·R + rest, with R by ridge regression: what the features explain is theirs again. Raises
    ConfigError for a network of another shape, and as ``read_network`` does.
    """
    released = read_network(directory)
    theirs, ours = ({**asdict(config), "intermediate_size": config.units} for config in (released.config, model.config))
    for field in ("vocabulary_size", "embedding_size", "hidden_size", "layers", "heads", "intermediate_size"):
        if theirs[field] != ours[field]:
            message = f"is {theirs[field]} there, {ours[field]} here; use another --set or --data"
            raise ConfigError(directory.path, f"model.{field}", message)
    state, own = released.state_dict(), model.state_dict()
    table = state["embeddings.word.weight"]
    features = own["embeddings.features"]
    gram = features.T @ features + torch.eye(features.shape[1], device=features.device)
    own["embeddings.feature_rows"] = torch.linalg.solve(gram, features.T @ table.to(features.device))
    own["embeddings.word.weight"] = table.to(features.device) - features @ own["embeddings.feature_rows"]
    kept = min(released.config.max_positions, model.config.max_positions)
    own["embeddings.position.weight"][:kept] = state["embeddings.position.weight"][:kept]
    left = (*_NOT_RELEASED, "embeddings.word.", "embeddings.position.")
    own |= {name: tensor for name, tensor in state.items() if not name.startswith(left)}
    model.load_state_dict(own)


def config_of(start: Path) -> TrainConfig:
    """The settings of the run that wrote a checkpoint; of a model, the shape of its network alone.

    Raises ModelError as ``read_network`` does.
    """
    if not is_checkpoint(start):
        return TrainConfig(model=_config(find_model(start).discriminator))
    return checkpoint.config_in(checkpoint.load(start), start)


def _config(network: Network) -> ModelConfig:
    """The inverse of ``ModelConfig.transformers_config``."""
    if not network.reads_types:
        message = "a network without this project's token marks cannot be adapted"
        raise ModelError(network.path, f"{message}; start from --from default, or train one with `pretrain`")
    if network.setting("type_vocab_size") != math.prod(MARK_FACTORS):
        message = f"{network.setting('type_vocab_size')} token types where this version has {math.prod(MARK_FACTORS)}"
        raise ModelError(network.path, f"{message}; {_AGAIN}")
    eps = float(network.config.get("layer_norm_eps", ModelConfig.layer_norm_eps))
    names = {
        "vocabulary_size": "vocab_size", "embedding_size": "embedding_size", "hidden_size": "hidden_size",
        "layers": "num_hidden_layers", "heads": "num_attention_heads", "intermediate_size": "intermediate_size",
        "max_positions": "max_position_embeddings",
    }  # fmt: skip
    sizes = {ours: network.setting(theirs) for ours, theirs in names.items()}
    missing = [names[ours] for ours, size in sizes.items() if not size]
    if missing:
        raise ModelError(network.path, f"its config.json has no {', '.join(missing)}; {_AGAIN}")
    return ModelConfig(**{ours: size for ours, size in sizes.items() if size}, layer_norm_eps=eps, word_evidence=network.reads_words)


def _unfolded(types: Tensor) -> list[Tensor]:
    """The factor tables (size, embedding) whose sums are the rows of ``types`` (product of MARK_FACTORS, embedding).

    Factor k at digit d is the mean over all marks with that digit, less the share (K - 1)/K of the overall mean that the other factors
    bring; averaging over many entries also takes most of the rounding out.
    """
    count = len(MARK_FACTORS)
    grid = types.reshape(*reversed(MARK_FACTORS), types.shape[1])  # the first factor is the lowest digit
    rest = types.mean(0) * (count - 1) / count
    return [grid.mean([axis for axis in range(count) if axis != count - 1 - k]) - rest for k in range(count)]


def _from_onnx(directory: ModelDirectory, config: ModelConfig) -> dict[str, Tensor]:
    """Parameters by name; of an export by version 0.7 or earlier ``types``, the tables of the marks folded into one. The word table is
    that of the generator, rounded row by row."""
    reader, head = _Graph(directory.discriminator.weights), _Graph(directory.generator.weights)
    matrices = ["encoder.project"]
    matrices += [f"encoder.layers.{number}.{part}" for number in range(config.layers) for part in _LAYER_PARTS]
    matrices += ["detection.dense", "detection.prediction"]
    state = {name.removeprefix("model."): tensor for name, tensor in reader.plain("model.").items()}
    products = list(zip(matrices, reader.products, strict=True))
    if reader.alternative is not None:
        products.append(("alternative", reader.alternative))
    state |= {f"{name}.weight": reader.dequantized(product).T.contiguous() for name, product in products}
    dense, table = head.products
    state |= {f"correction.{name.removeprefix('head.')}": tensor for name, tensor in head.plain("head.").items()}
    state["correction.dense.weight"] = head.dequantized(dense).T.contiguous()
    state["embeddings.word.weight"] = head.dequantized(table).T.contiguous()
    state["embeddings.position.weight"] = reader.dequantized("model.embeddings.position.weight")
    if "types_quantized" in reader.constants:
        return state | {"types": reader.dequantized("types")}
    return state | {name: reader.dequantized(f"model.{name}") for name in _MARKS}


class _Graph:
    """The constants of one int8 graph by name, and the names of what it multiplies by, in order; that of alternatives by itself, as it
    may be multiplied by at any time before the layers."""

    def __init__(self, path: Path) -> None:
        from onnx import numpy_helper

        graph = load_graph(path).graph
        self.constants: dict[str, Any] = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
        multiplied = [(node.input[1], node.output[0]) for node in graph.node if node.op_type in ("MatMulInteger", "QAttention")]
        by_output = {output: name.removesuffix("_quantized") for name, output in multiplied if name in self.constants}
        self.alternative = next((by_output.pop(output) for output in list(by_output) if output.startswith("/alternative/")), None)
        self.products = list(by_output.values())

    def plain(self, prefix: str) -> dict[str, Tensor]:
        """The unquantised constants whose names begin so."""
        ends = ("_quantized", "_scale", "_zero_point")
        named = {name: array for name, array in self.constants.items() if name.startswith(prefix) and not name.endswith(ends)}
        return {name: torch.from_numpy(array.copy()) for name, array in named.items()}

    def dequantized(self, name: str) -> Tensor:
        """(q - zero point)·scale, both for all of it or for each of its last axis."""
        array, zero, scale = (self.constants[f"{name}_{part}"] for part in ("quantized", "zero_point", "scale"))
        return torch.from_numpy((array.astype("float32") - zero.astype("float32")) * scale)


def _from_pytorch(directory: ModelDirectory, config: ModelConfig) -> dict[str, Tensor]:
    """Parameters by name, and ``types``: the tables of the marks folded into one, as transformers has them."""
    theirs, head = _load(directory.discriminator), _load(directory.generator)
    embeddings = "electra.embeddings."
    state = {
        "embeddings.word.weight": theirs[f"{embeddings}word_embeddings.weight"],
        "embeddings.position.weight": theirs[f"{embeddings}position_embeddings.weight"],
        "types": theirs[f"{embeddings}token_type_embeddings.weight"],
        "correction.bias": head["generator_lm_head.bias"],
    }
    if ALTERNATIVE in theirs:
        state["alternative.weight"] = theirs[ALTERNATIVE]
    for kind in ("weight", "bias"):
        state[f"embeddings.norm.{kind}"] = theirs[f"{embeddings}LayerNorm.{kind}"]
        state[f"encoder.project.{kind}"] = theirs[f"electra.embeddings_project.{kind}"]
        state[f"detection.dense.{kind}"] = theirs[f"discriminator_predictions.dense.{kind}"]
        state[f"detection.prediction.{kind}"] = theirs[f"discriminator_predictions.dense_prediction.{kind}"]
        state[f"correction.dense.{kind}"] = head[f"generator_predictions.dense.{kind}"]
        state[f"correction.norm.{kind}"] = head[f"generator_predictions.LayerNorm.{kind}"]
        for number in range(config.layers):
            layer, ours = f"electra.encoder.layer.{number}.", f"encoder.layers.{number}."
            parts = [theirs[f"{layer}attention.self.{name}.{kind}"] for name in ("query", "key", "value")]
            state[f"{ours}qkv.{kind}"] = torch.cat(parts)
            state |= {f"{ours}{name}.{kind}": theirs[f"{layer}{other}.{kind}"] for name, other in LAYER_NAMES.items()}
    return state


def _load(network: Network) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    try:
        return {name: tensor.float() for name, tensor in load_file(str(network.weights)).items()}
    except Exception as error:  # OSError and safetensors' own: a damaged file, or a pickle
        raise ModelError(network.weights, f"cannot be read as safetensors ({error}); {_AGAIN}") from error
