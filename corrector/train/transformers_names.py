"""The network that is trained under the names that transformers gives its parts.

transformers knows nothing of alternatives: it leaves their matrix unread, and whoever runs the pair (``electra/torch_runtime.py``) adds
what they tell to the projected embeddings.
"""

from __future__ import annotations

from torch import Tensor

from corrector.electra.torch_runtime import ALTERNATIVE
from corrector.train.model import JointElectra, Layer

LAYER_NAMES = {
    "out": "attention.output.dense", "norm1": "attention.output.LayerNorm", "up": "intermediate.dense", "down": "output.dense",
    "norm2": "output.LayerNorm",
}  # fmt: skip
"""What transformers call the parts of a ``Layer``; query, key and value are three there."""


def transformers_state(model: JointElectra) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """State dictionaries for ``ElectraForPreTraining`` and ``ElectraForMaskedLM``: one encoder, two heads."""
    emb = model.embeddings
    shared: dict[str, Tensor] = {
        "electra.embeddings.word_embeddings.weight": emb.table(),
        "electra.embeddings.position_embeddings.weight": emb.position.weight,
        "electra.embeddings.token_type_embeddings.weight": emb.folded_types(),
        "electra.embeddings.LayerNorm.weight": emb.norm.weight,
        "electra.embeddings.LayerNorm.bias": emb.norm.bias,
        "electra.embeddings_project.weight": model.encoder.project.weight,
        "electra.embeddings_project.bias": model.encoder.project.bias,
        ALTERNATIVE: model.alternative.weight,
    }
    for number, layer in enumerate(model.encoder.layers):
        assert isinstance(layer, Layer)
        prefix = f"electra.encoder.layer.{number}."
        for kind in ("weight", "bias"):
            parts = getattr(layer.qkv, kind).chunk(3)
            for name, part in zip(("query", "key", "value"), parts, strict=True):
                shared[f"{prefix}attention.self.{name}.{kind}"] = part
            for ours, theirs in LAYER_NAMES.items():
                shared[f"{prefix}{theirs}.{kind}"] = getattr(getattr(layer, ours), kind)
    detection, correction = dict(shared), dict(shared)
    for kind in ("weight", "bias"):
        detection[f"discriminator_predictions.dense.{kind}"] = getattr(model.detection.dense, kind)
        detection[f"discriminator_predictions.dense_prediction.{kind}"] = getattr(model.detection.prediction, kind)
        correction[f"generator_predictions.dense.{kind}"] = getattr(model.correction.dense, kind)
        correction[f"generator_predictions.LayerNorm.{kind}"] = getattr(model.correction.norm, kind)
    correction["generator_lm_head.weight"] = emb.table()
    correction["generator_lm_head.bias"] = model.correction.bias
    copy = {True: detection, False: correction}
    for state in copy.values():
        for name, tensor in state.items():
            state[name] = tensor.detach().float().cpu().clone().contiguous()
    return detection, correction
