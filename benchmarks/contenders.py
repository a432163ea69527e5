"""Who is measured: this project, the limit that its network sets, and peers. Each is an action over the same texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from corrector.electra.onnx_runtime import discriminator_inputs
from corrector.pipeline import Corrector, windows_of
from corrector.types import Document

Contender = Callable[[Sequence[str]], object]

BATCH = 32  # sentences that the BERT-size peer reads at once
KENLM_MODEL = Path("~/.pycorrector/datasets/zh_giga.no_cna_cmn.prune01244.klm")  # where pycorrector puts its own


class SkippedError(Exception):
    """A contender that cannot run here, and why."""


def own(corrector: Corrector) -> Contender:
    """The pipeline, from texts to corrections."""
    return lambda texts: list(corrector.correct_many(texts))


def in_bf16(corrector: Corrector) -> Contender:
    """The pipeline over a PyTorch model with bf16 autocast. Raises SkippedError without PyTorch."""
    try:
        import torch
    except ImportError:
        raise SkippedError("torch is not installed") from None

    def run(texts: Sequence[str]) -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            list(corrector.correct_many(texts))

    return run


def bare_discriminator(corrector: Corrector) -> Contender:
    """onnxruntime alone over the windows of the first round, encoded beforehand: what the arithmetic of one reading takes.

    Windows run one by one on as many threads as in the pipeline. Raises SkippedError for a model that is not ONNX.
    """
    runtime: Any = corrector.stages.runtime
    session = getattr(runtime, "_discriminator", None)
    if session is None or not hasattr(session, "run"):
        raise SkippedError("the model is not an ONNX one")
    prepared: dict[tuple[str, ...], list[dict[str, Any]]] = {}

    def run(texts: Sequence[str]) -> None:
        key = tuple(texts)
        if key not in prepared:
            encode = corrector.stages.tokenizer.encode
            read = [encode(window.text) for text in texts for window in windows(corrector, text)]
            prepared[key] = [discriminator_inputs(encoding, runtime._takes_mask) for encoding in read]
        if runtime.callers == 1:
            for inputs in prepared[key]:
                session.run(["logits"], inputs)
            return
        with ThreadPoolExecutor(runtime.callers) as pool:
            list(pool.map(lambda inputs: session.run(["logits"], inputs), prepared[key]))

    return run


def bert_size(threads: int) -> Contender:
    """The arithmetic of MacBERT4CSC: a 12×768 BERT that gives every character of every sentence a distribution.

    Weights are random, so it corrects nothing: only its speed means anything. Raises SkippedError without PyTorch.
    """
    try:
        import torch
        from transformers import BertConfig, BertForMaskedLM
    except ImportError as error:
        raise SkippedError(f"{error.name} is not installed") from error
    torch.manual_seed(0)
    torch.set_num_threads(threads)
    model = BertForMaskedLM(BertConfig(vocab_size=21_128)).eval()

    def run(texts: Sequence[str]) -> None:
        with torch.inference_mode():
            for start in range(0, len(texts), BATCH):
                batch = [[101, *(ord(c) % 20_000 + 670 for c in text[:510]), 102] for text in texts[start : start + BATCH]]
                longest = max(map(len, batch))
                ids = torch.tensor([row + [0] * (longest - len(row)) for row in batch])
                logits = model(input_ids=ids, attention_mask=(ids != 0).long()).logits  # (batch, length, vocabulary)
                torch.softmax(logits, -1).max(-1)

    return run


def pycorrector_kenlm(model: Path | None = None) -> Contender:
    """pycorrector's default, with a language model of n-grams (default: its own). Raises SkippedError unless both are there already."""
    try:
        import kenlm  # noqa: F401 - pycorrector asks for it only when it corrects
        from pycorrector import Corrector as KenLM
    except Exception as error:  # whatever its own imports raise
        raise SkippedError(f"pycorrector cannot be imported: {error}") from error
    model = (model or KENLM_MODEL).expanduser()
    if not model.is_file():
        raise SkippedError(f"its model is not at {model}, and a measurement downloads nothing; see --kenlm-model")
    corrector = KenLM(language_model_path=str(model))
    return lambda texts: [corrector.correct(text) for text in texts]


def windows(corrector: Corrector, text: str) -> Any:
    return windows_of(Document(None, text), corrector.stages.max_length)
