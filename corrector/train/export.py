"""From a checkpoint to what ships: int8 ONNX networks, or a half-precision pair for transformers."""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from corrector.electra.manifest import MANIFEST
from corrector.electra.model import (
    CONTRASTS,
    DISCRIMINATOR,
    GENERATOR,
    MARKS,
    RANKER,
    SLIPS,
    VOCABULARY,
    WEIGHTS,
    WORDS,
    of_origin,
)
from corrector.errors import InputError
from corrector.rank import default_ranker
from corrector.train import checkpoint, ledger
from corrector.train.config import TrainConfig
from corrector.train.counts import AGAIN, IN_NONE, contrasts_path, marks_path, words_path
from corrector.train.model import JointElectra, Layer, attend
from corrector.train.prepare import read_record
from corrector.train.release import thresholds, write_new_manifest
from corrector.train.transformers_names import transformers_state
from corrector.types import ORIGINS, TYPED

Format = Literal["onnx", "pytorch"]
CONTRIBUTED = "com.microsoft"
"""The domain of the operators that onnxruntime has beside ONNX's own."""


def load_model(path: Path, data: Path) -> tuple[JointElectra, TrainConfig, int]:
    """The network of a checkpoint, its config, and the tokens it has seen in that run. Raises ModelError for one that cannot be read,
    or was trained on another vocabulary than that of the folder ``data``."""
    state = checkpoint.load(path)
    checkpoint.check_vocabulary(state, path, data)
    config = checkpoint.config_in(state, path)
    model = JointElectra(config.model, state["model"]["embeddings.features"])
    model.load_state_dict(state["model"])
    return model.eval(), config, int(state["tokens"])


def keep_positions(model: JointElectra, count: int) -> JointElectra:
    """The same network with its first ``count`` positions only: those further on were never trained."""
    config = replace(model.config, max_positions=count)
    state = model.state_dict()
    name = "embeddings.position.weight"
    state[name] = state[name][:count]
    shorter = JointElectra(config, model.embeddings.features)
    shorter.load_state_dict(state)
    shorter.eval()
    return shorter


class _Attention(torch.autograd.Function):
    """``model.attend`` of a layer's input as one node of the graph, onnxruntime's: a tenth of the time less than its nine parts."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, heads: int) -> Tensor:
        return attend(x @ weight + bias, heads)

    @staticmethod
    def symbolic(graph: Any, x: Any, weight: Any, bias: Any, heads: int) -> Any:
        return graph.op(f"{CONTRIBUTED}::Attention", x, weight, bias, num_heads_i=heads).setType(x.type())


class _Discriminator(nn.Module):
    """The network with the table of its characters folded; for rows without padding."""

    def __init__(self, model: JointElectra) -> None:
        super().__init__()
        self.model = model
        self.words = nn.Parameter(model.embeddings.table().detach())

    def forward(self, ids: Tensor, types: Tensor) -> tuple[Tensor, Tensor]:
        embeddings, encoder = self.model.embeddings, self.model.encoder
        states: Tensor = encoder.project(embeddings(ids, types, self.words)) + self.model.alternatives(types, self.words)
        for layer in encoder.layers:
            assert isinstance(layer, Layer)
            states = layer.after(states, _Attention.apply(states, layer.qkv.weight.t(), layer.qkv.bias, layer.heads))
        return self.model.detection(states), states


class _Generator(nn.Module):
    """The corrective head alone. It has its own copy of the table: the quantiser cannot handle one that is also looked up."""

    def __init__(self, model: JointElectra) -> None:
        super().__init__()
        self.head = model.correction
        self.outputs = nn.Parameter(model.embeddings.table().detach().t().clone())  # (embedding, vocabulary)

    def forward(self, states: Tensor) -> Tensor:
        logits: Tensor = self.head.norm(nn.functional.gelu(self.head.dense(states))) @ self.outputs + self.head.bias
        return logits


def export_onnx(model: JointElectra, out: Path) -> None:
    """Write ``discriminator/`` and ``generator/`` with ``config.json`` and ``model.int8.onnx`` (weights per channel, 8 bits).

    One encoder serves both: the discriminator also gives its states, from which the generator's head starts.
    """
    ids = torch.ones(2, 8, dtype=torch.long)
    axes = {0: "batch", 1: "length"}
    tokens = {"input_ids": axes, "token_type_ids": axes}
    states = torch.zeros(3, model.config.hidden_size)
    for name, network, arguments, inputs, outputs in (
        (DISCRIMINATOR, _Discriminator(model), (ids, torch.zeros_like(ids)), tokens, {"logits": axes, "states": axes}),
        (GENERATOR, _Generator(model), (states,), {"states": {0: "n"}}, {"logits": {0: "n"}}),
    ):
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(model.config.transformers_config(), indent=1) + "\n", "utf-8")
        with tempfile.TemporaryDirectory() as scratch:
            plain = Path(scratch) / "model.onnx"
            with (
                warnings.catch_warnings()
            ):  # the tracing exporter is deprecated, and warns of shapes that are constants here
                warnings.simplefilter("ignore")
                torch.onnx.export(
                    network, arguments, str(plain), input_names=list(inputs), output_names=list(outputs),
                    dynamic_axes=inputs | outputs, opset_version=17, dynamo=False,
                    custom_opsets={CONTRIBUTED: 1} if name == DISCRIMINATOR else None,
                )  # fmt: skip
            _quantize(plain, folder / "model.int8.onnx")


def _quantize(source: Path, target: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    prepared = source.with_name("prepared.onnx")
    quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
    quantize_dynamic(
        str(prepared), str(target), op_types_to_quantize=["MatMul", "Gemm", "Gather", "Attention"], per_channel=True,
        reduce_range=True, weight_type=QuantType.QInt8,
    )  # fmt: skip


def export_pytorch(model: JointElectra, out: Path) -> None:
    """Write the pair in half precision as transformers loads it (``ElectraForPreTraining``, ``ElectraForMaskedLM``).

    Both have the encoder and both heads, of which transformers reads its own: equal files, of which git keeps one.
    """
    from safetensors.torch import save_file

    config = model.config.transformers_config()
    detection, correction = transformers_state(model)
    state = {name: tensor.half() for name, tensor in (detection | correction).items()}
    del state["generator_lm_head.weight"]  # tied to the word embeddings
    for name, kind in ((DISCRIMINATOR, "ElectraForPreTraining"), (GENERATOR, "ElectraForMaskedLM")):
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config | {"architectures": [kind]}, indent=1) + "\n", "utf-8")
        save_file(state, folder / "model.safetensors", {"format": "pt"})


def export_release(
    start: Path,
    data: Path,
    out: Path,
    name: str,
    version: str,
    format_: Format,
    say: Callable[[str], None],
    notes: Mapping[str, Any] | None = None,
    sources: Sequence[Any] = (),
) -> None:
    """Write a whole model directory: networks, vocabulary, marks, counts of words, contrasts if there are any, a ranker unless one is
    there, manifest and card. What ``out`` has of an earlier model goes, its slips as well; what is said.

    ``notes`` go into the training ledger as they are. Raises ModelError when the checkpoint was trained on another vocabulary or the
    ranker that is there cannot be read, InputError for a folder without counts, before anything is written.
    """
    for path in (words_path(data, IN_NONE), marks_path(data, IN_NONE)):
        if not path.is_file():
            raise InputError(data, f"has no {path.name}, as packed by an earlier version; {AGAIN}")
    if out.resolve() == data.resolve():
        raise InputError(out, "is the --data that the text was packed in; give the model a folder of its own")
    model, config, tokens = load_model(start, data)
    model = keep_positions(model, max(length for _, length in config.stages))
    corpus = read_record(data)
    training = {
        "corpus": asdict(corpus),
        "network": {"parameters": parameters(model), **asdict(model.config)},
        "runs": ledger.runs(start, config, tokens),
        **(notes or {}),
    }
    if not (out / RANKER).is_file():
        out.mkdir(parents=True, exist_ok=True)
        default_ranker().save(out / RANKER)
    thresholds(out / RANKER)
    _forget(out, say)
    say(f"exporting {start} ({tokens:,} tokens) to {out} as {format_}")
    (export_onnx if format_ == "onnx" else export_pytorch)(model, out)
    shutil.copyfile(marks_path(data, IN_NONE), out / MARKS)
    shutil.copyfile(words_path(data, IN_NONE), out / WORDS)
    if contrasts_path(data).is_file():
        shutil.copyfile(contrasts_path(data), out / CONTRASTS)
    shutil.copyfile(data / VOCABULARY, out / VOCABULARY)
    write_new_manifest(out, name, version, training, sources)


def _forget(out: Path, say: Callable[[str], None]) -> None:
    """Take away what an earlier model has in ``out``, all but its ranker; the manifest first, so that nobody reads half of a model."""
    if (out / MANIFEST).is_file():
        say(f"{out}: the model in it is replaced, all but {RANKER}; fit that again with `calibrate`")
    if (out / SLIPS).is_file():
        say(f"{out}: {SLIPS} is of the model before and goes; `calibrate --slips` counts them again")
    weights = [f"{network}/{name}" for network in (DISCRIMINATOR, GENERATOR) for names in WEIGHTS.values() for name in names]
    for name in (MANIFEST, VOCABULARY, MARKS, WORDS, CONTRASTS, SLIPS, *weights):
        (out / name).unlink(missing_ok=True)
    for origin in ORIGINS:
        if origin != TYPED and (out / of_origin(RANKER, origin)).is_file():
            say(f"{out}: what is in {origin}/ is of the model before and goes; make it anew with `calibrate --origin {origin}`")
            for name in (RANKER, SLIPS):
                (out / of_origin(name, origin)).unlink(missing_ok=True)


def parameters(model: JointElectra) -> int:
    """How many numbers the shipped discriminator has."""
    return sum(tensor.numel() for tensor in transformers_state(model)[0].values())
