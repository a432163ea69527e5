"""The models: text to tokens, finding a model directory, and running its two networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corrector.electra.model import ModelDirectory
    from corrector.electra.runtime import Runtime


def load_runtime(model: ModelDirectory, threads: int = 0) -> Runtime:
    """What runs this model: onnxruntime for the own layout, PyTorch for checkpoints. ``threads`` 0 uses every core.

    Raises ModelError if the weights cannot be loaded or PyTorch is needed and not installed.
    """
    if model.kind == "onnx":
        from corrector.electra.onnx_runtime import OnnxRuntime

        return OnnxRuntime(model, threads)
    from corrector.electra.torch_runtime import TorchRuntime

    return TorchRuntime(model, threads)
