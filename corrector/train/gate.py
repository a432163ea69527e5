"""A gate in an exported discriminator: what an int8 ONNX file has after some layers of its encoder becomes a branch of an ``If``.

The branch is taken where the lower layers find a window doubtful, or where ``GLANCE`` is false. Otherwise the network gives what the lower
layers make of it, which means nothing, and that ``READ`` is false. What reads the file to change it or to train on it sees no gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corrector.electra.onnx_runtime import GLANCE, READ
from corrector.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OWN, _READ, _SPARED = "glance.", "glance.read.", "glance.spared."  # how names of a gate begin, and those of what its branches give
_TOKENS, _HIDDEN = 1, 2  # axes of states (batch, tokens, hidden)


def load_graph(path: Path) -> Any:
    """An ONNX file, without a gate. Raises ModelError for one that cannot be read."""
    import onnx

    try:
        return _without_gate(onnx.load(str(path)))
    except Exception as error:  # OSError and protobuf's own: a damaged file
        raise ModelError(path, f"cannot be read as ONNX ({error}); install or copy the model again") from error


def save_graph(model: Any, path: Path) -> None:
    """Write it."""
    import onnx

    onnx.save(model, str(path))


def states_after(model: Any, layers: int, path: Path) -> str:
    """The name of the states that so many layers give. Raises ModelError for a network, read from ``path``, without more layers."""
    norms = [node.output[0] for node in model.graph.node if node.op_type == "LayerNormalization"]  # one of the embeddings, two of a layer
    if not 0 < 2 * layers < len(norms) - 1:
        raise ModelError(path, f"has no {layers} layers with others above them; give fewer")
    return str(norms[2 * layers])


def with_output(model: Any, name: str) -> Any:
    """A copy that also gives the states of this name."""
    from onnx import TensorProto, helper

    model = _copy(model)
    model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "length", None]))
    return model


def with_gate(model: Any, states: str, weights: NDArray[np.float64]) -> Any:
    """A copy with a gate at these states: what follows runs where a token but [CLS] and [SEP] has Σ w·state + b ≥ 0; b is the last of the
    weights (hidden + 1,)."""
    from onnx import TensorProto, helper, numpy_helper

    model = _copy(model)
    graph = model.graph
    below = _below(graph, states)
    lower = [node for node in graph.node if node.output[0] in below]
    upper = [_renamed(node, {item.name: _READ + item.name for item in graph.output}) for node in graph.node if node.output[0] not in below]
    constants = {
        "weights": weights[:-1, None].astype(np.float32), "bias": weights[-1:].astype(np.float32), "zero": np.float32(0),
        "hidden": np.array([_HIDDEN]), "tokens": np.array([_TOKENS]), "first": np.array([1]), "last": np.array([-1]),
    }  # fmt: skip
    steps = [
        ("MatMul", [states, "weights"], "products"), ("Squeeze", ["products", "hidden"], "sums"), ("Add", ["sums", "bias"], "estimates"),
        ("Slice", ["estimates", "first", "last", "tokens"], "inner"), ("ReduceMax", ["inner"], "highest"),
        ("GreaterOrEqual", ["highest", "zero"], "is_doubtful"), ("Not", [GLANCE], "is_thorough"),
        ("Or", ["is_doubtful", "is_thorough"], READ),
    ]  # fmt: skip
    ours = {name: _OWN + name for name in (*constants, *(output for _, _, output in steps[:-1]))}
    spared = [
        helper.make_node("Identity", [given], [_SPARED + name]) for name, given in (("logits", ours["estimates"]), ("states", states))
    ]
    branches = {
        name: helper.make_graph(nodes, name, [], [_with_name(item, prefix + item.name) for item in graph.output])
        for name, nodes, prefix in (("then_branch", upper, _READ), ("else_branch", spared, _SPARED))
    }
    gate = [_renamed(helper.make_node(kind, inputs, [output]), ours) for kind, inputs, output in steps]
    _replace(graph.node, [*lower, *gate, helper.make_node("If", [READ], [item.name for item in graph.output], **branches)])
    graph.initializer.extend(numpy_helper.from_array(np.asarray(value), ours[name]) for name, value in constants.items())
    graph.input.append(helper.make_tensor_value_info(GLANCE, TensorProto.BOOL, []))
    graph.output.append(helper.make_tensor_value_info(READ, TensorProto.BOOL, [1, 1]))
    return model


def _without_gate(model: Any) -> Any:
    graph = model.graph
    gate = next((node for node in graph.node if node.op_type == "If"), None)
    if gate is not None:
        upper = next(item.g for item in gate.attribute if item.name == "then_branch").node
        names = {_READ + item.name: item.name for item in graph.output}
        lower = [node for node in graph.node if node != gate and not node.output[0].startswith((_OWN, READ))]
        _replace(graph.node, [*lower, *(_renamed(node, names) for node in upper)])
        _replace(graph.initializer, [item for item in graph.initializer if not item.name.startswith(_OWN)])
        _replace(graph.input, [item for item in graph.input if item.name != GLANCE])
        _replace(graph.output, [item for item in graph.output if item.name != READ])
    return model


def _below(graph: Any, tensor: str) -> set[str]:
    """The first outputs of the nodes that a tensor comes from."""
    made = {output: node for node in graph.node for output in node.output}
    wanted, found = [tensor], set()
    while wanted:
        node = made.get(wanted.pop())
        if node is not None and node.output[0] not in found:
            found.add(node.output[0])
            wanted += node.input
    return found


def _renamed(node: Any, names: dict[str, str]) -> Any:
    """A copy of a node with other names of what it takes and gives."""
    node = _copy(node)
    for given in (node.input, node.output):
        _replace(given, [names.get(name, name) for name in given])
    return node


def _with_name(item: Any, name: str) -> Any:
    item = _copy(item)
    item.name = name
    return item


def _replace(items: Any, new: Sequence[Any]) -> None:
    """Of a repeated field; what is new may be from it."""
    new = [item if isinstance(item, str) else _copy(item) for item in new]
    del items[:]
    items.extend(new)


def _copy(message: Any) -> Any:
    """Of a protocol buffer message."""
    new = type(message)()
    new.CopyFrom(message)
    return new
