"""From a checkpoint to what ships: int8 ONNX networks, or a half-precision pair for transformers, each with its manifest."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from corrector.electra.manifest import SCHEMA, file_entries
from corrector.train import checkpoint
from corrector.train.config import TrainConfig, from_mapping
from corrector.train.model import JointElectra, transformers_state

LICENCE = "Apache-2.0"


def load_model(path: Path) -> tuple[JointElectra, TrainConfig, int]:
    """The network of a checkpoint, its config, and the tokens it has seen in that run."""
    state = checkpoint.load(path)
    config = from_mapping(json.loads(state["config"]), str(path))
    model = JointElectra(config.model, state["model"]["embeddings.features"])
    model.load_state_dict(state["model"])
    return model.eval(), config, int(state["tokens"])


class _Plain(nn.Module):
    """The network with its tables folded, as ELECTRA has them."""

    def __init__(self, model: JointElectra) -> None:
        super().__init__()
        self.model = model
        self.words = nn.Parameter(model.embeddings.table().detach())
        self.types = nn.Parameter(model.embeddings.folded_types())

    def encode(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        embeddings = self.model.embeddings
        positions = torch.arange(ids.shape[1])
        total = nn.functional.embedding(ids, self.words) + embeddings.position(positions)
        total = total + nn.functional.embedding(types, self.types)
        bias = (1.0 - mask[:, None, None, :].float()) * -1e4
        hidden: Tensor = self.model.encoder(embeddings.norm(total), bias)
        return hidden


class _Discriminator(_Plain):
    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        logits: Tensor = self.model.detection(self.encode(ids, mask, types))
        return logits


class _Generator(_Plain):
    def forward(self, ids: Tensor, mask: Tensor, types: Tensor, positions: Tensor) -> Tensor:
        hidden = self.encode(ids, mask, types)
        chosen = hidden.reshape(-1, hidden.shape[-1])[positions]
        logits: Tensor = self.model.correction(chosen, self.words)
        return logits


def export_onnx(model: JointElectra, out: Path) -> None:
    """Write ``discriminator/`` and ``generator/`` with ``config.json`` and ``model.int8.onnx`` (weights per channel, 8 bits)."""
    sample = (torch.ones(2, 8, dtype=torch.long), torch.ones(2, 8, dtype=torch.long), torch.zeros(2, 8, dtype=torch.long))
    axes = {0: "batch", 1: "length"}
    inputs = {"input_ids": axes, "attention_mask": axes, "token_type_ids": axes}
    for name, network, arguments, dynamic in (
        ("discriminator", _Discriminator(model), sample, inputs | {"logits": axes}),
        ("generator", _Generator(model), (*sample, torch.arange(3)), inputs | {"positions": {0: "n"}, "logits": {0: "n"}}),
    ):
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(model.config.transformers_config(), indent=1) + "\n", "utf-8")
        with tempfile.TemporaryDirectory() as scratch:
            plain = Path(scratch) / "model.onnx"
            names = [key for key in dynamic if key != "logits"]
            torch.onnx.export(
                network, arguments, str(plain), input_names=names, output_names=["logits"], dynamic_axes=dynamic,
                opset_version=17, dynamo=False,
            )  # fmt: skip
            _quantize(plain, folder / "model.int8.onnx")


def _quantize(source: Path, target: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    prepared = source.with_name("prepared.onnx")
    quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
    quantize_dynamic(
        str(prepared), str(target), op_types_to_quantize=["MatMul", "Gemm", "Gather"], per_channel=True, reduce_range=True,
        weight_type=QuantType.QInt8,
    )  # fmt: skip


def export_pytorch(model: JointElectra, out: Path) -> None:
    """Write the pair in half precision as transformers loads it (``ElectraForPreTraining``, ``ElectraForMaskedLM``)."""
    from safetensors.torch import save_file

    config = model.config.transformers_config()
    names = ("discriminator", "generator")
    classes = ("ElectraForPreTraining", "ElectraForMaskedLM")
    for name, kind, state in zip(names, classes, transformers_state(model), strict=True):
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config | {"architectures": [kind]}, indent=1) + "\n", "utf-8")
        state.pop("generator_lm_head.weight", None)  # tied to the word embeddings
        save_file({key: tensor.half() for key, tensor in state.items()}, folder / "model.safetensors", {"format": "pt"})


def write_manifest(out: Path, name: str, version: str, details: Mapping[str, Any]) -> None:
    """Write ``manifest.json`` over every file now in ``out`` and the model card generated from it."""
    from corrector.train.card import render_card

    files = sorted(
        path.relative_to(out).as_posix()
        for path in out.rglob("*")
        if path.is_file() and path.name not in ("manifest.json", "README.md")
    )
    manifest = {"schema": SCHEMA, "name": name, "version": version, "licence": LICENCE, **details, "files": file_entries(out, files)}
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (out / "README.md").write_text(render_card(manifest), "utf-8")
