"""The measurements of one run, each a plain value that goes into the JSON as it is."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import contenders, texts
from benchmarks.contenders import Contender, SkippedError
from benchmarks.shares import shares
from benchmarks.timing import Spread, exponent, interleaved, ratios, seconds
from corrector.electra.onnx_runtime import usable_cores
from corrector.pipeline import PART, Corrector

OWN, TORCH, TORCH_BF16 = "electra-correct", "electra-correct, PyTorch fp32", "electra-correct, PyTorch bf16"
BARE, BERT, KENLM = "bare onnxruntime", "BERT-size peer", "pycorrector KenLM"
NOTES = {
    OWN: "int8 ONNX through Corrector.correct_many",
    BARE: "one reading of every window by the discriminator alone, encoded beforehand: the limit of the arithmetic",
    TORCH: "the same pipeline over a PyTorch model",
    TORCH_BF16: "the same with bf16 autocast",
    BERT: "12×768, vocabulary 21,128, batches of 32, random weights: speed only, it corrects nothing",
    KENLM: "pycorrector.Corrector, a language model of n-grams",
}
FIT_FROM = {"bytes": 10_000, "characters of one line": 1_000, "items with errors": 1}
"""Smaller values are left out of the fit: what a call costs by itself weighs more there than the text."""

WARM_TEXTS = 8


def machine() -> dict[str, Any]:
    """What it was measured on."""
    names = ("numpy", "onnxruntime", "torch", "transformers", "pycorrector", "kenlm", "matplotlib")
    versions = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "cores used": usable_cores(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": versions,
    }


def load_average() -> list[float]:
    """Of the last 1, 5 and 15 minutes; empty where the system does not say."""
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else []


def side_by_side(
    corrector: Corrector, items: int, rounds: int, pytorch_model: str | None, kenlm_model: Path | None, peers: bool,
    say: Callable[[str], None],
) -> dict[str, Any]:  # fmt: skip
    """Every contender over both texts, in turns. Sentences are items, of about 40 characters."""
    running, skipped = _contenders(corrector, pytorch_model, kenlm_model, peers)
    found: dict[str, Any] = {"items": items, "notes": NOTES, "skipped": skipped, "texts": {}}
    for name, text in (("error-free-heavy", texts.clean_heavy(items)), ("error-heavy", texts.error_heavy(items))):
        say(f"side by side, {name} text: {', '.join(running)}")
        actions = {contender: _action(run, text) for contender, run in running.items()}
        found["texts"][name] = _compared(interleaved(actions, rounds), text)
    return found


def scaling(corrector: Corrector, rounds: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Seconds against length of text, length of a line, and number of items with errors, each with its exponent."""
    lengths = [10**3, 10**4, 10**5, 10**6]
    lines = [10, 100, 1_000, 10_000, 200_000]
    wrong = [0, 10, 20, 40, 80]
    found = {
        "bytes": _curve(lengths, lambda size: _text_action(corrector, texts.lines_of_bytes(size)), rounds, say, "bytes"),
        "characters of one line": _curve(
            lines, lambda size: _text_action(corrector, texts.one_line(size)), rounds, say, "characters of one line"
        ),
        "items with errors": _curve(
            wrong, lambda size: lambda: list(corrector.correct_many(texts.with_errors(wrong[-1], size))), rounds, say, "items with errors"
        ),
    }
    for name, curve in found.items():
        points = curve["points"]
        base = points[0]["seconds"] if name == "items with errors" else 0.0
        fitted = [(p["size"], p["seconds"] - base) for p in points if p["size"] >= FIT_FROM[name] and p["seconds"] > base]
        curve["fitted from"] = FIT_FROM[name]
        curve["exponent"] = round(exponent(*zip(*fitted, strict=True)), 3) if len(fitted) > 1 else None
    return found


def profile(corrector: Corrector, items: int, rounds: int) -> dict[str, Any]:
    """Seconds by stage for both texts, the sum of all rounds. On one core: of stages side by side nobody could say whose time it is."""
    found: dict[str, Any] = {"stages": {}, "passes": {}}
    for name, text in (("error-free-heavy", texts.clean_heavy(items)), ("error-heavy", texts.error_heavy(items))):
        list(corrector.correct_many(text))
        sums: dict[str, float] = {}
        for _ in range(rounds):
            for stage, taken in shares(corrector, text).items():
                sums[stage] = sums.get(stage, 0.0) + taken
        found["stages"][name] = {stage: round(taken, 5) for stage, taken in sums.items()}
        with contextlib.suppress(SkippedError):
            found["passes"][name] = _passes(corrector, text, rounds)
    return found


def _passes(corrector: Corrector, text: Sequence[str], rounds: int) -> dict[str, float]:
    """Windows a second of the discriminator's first readings: bare, and in the pipeline, encoded there and read in parts."""
    windows = [window.text for one in text for window in contenders.windows(corrector, one)]
    bare, stages = contenders.bare_discriminator(corrector), corrector.stages
    parts = [stages.tokenizer.encode_many(windows[start : start + PART]) for start in range(0, len(windows), PART)]
    taken = interleaved({"bare": lambda: bare(text), "ours": lambda: [stages.runtime.read(part) for part in parts]}, rounds)
    speeds = {name: len(windows) / Spread.of(values).median for name, values in taken.items()}
    return {name: round(speed, 1) for name, speed in speeds.items()}


def _contenders(
    corrector: Corrector, pytorch_model: str | None, kenlm_model: Path | None, peers: bool
) -> tuple[dict[str, Contender], dict[str, str]]:
    threads = usable_cores()
    makers: dict[str, Callable[[], Contender]] = {
        OWN: lambda: contenders.own(corrector),
        BARE: lambda: contenders.bare_discriminator(corrector),
    }
    if pytorch_model is not None:
        other = Corrector(pytorch_model, min_confidence=corrector.min_confidence, threads=threads)
        makers |= {TORCH: lambda: contenders.own(other), TORCH_BF16: lambda: contenders.in_bf16(other)}
    if peers:
        makers |= {BERT: lambda: contenders.bert_size(threads), KENLM: lambda: contenders.pycorrector_kenlm(kenlm_model)}
    running: dict[str, Contender] = {}
    skipped: dict[str, str] = {}
    list(corrector.correct_many(texts.error_heavy(WARM_TEXTS)))  # both networks and all tables are loaded before anyone asks for them
    for name, make in makers.items():
        try:
            running[name] = make()
        except SkippedError as reason:
            skipped[name] = str(reason)
    if pytorch_model is None:
        skipped |= dict.fromkeys((TORCH, TORCH_BF16), "no --pytorch-model")
    return running, skipped


def _action(run: Contender, text: Sequence[str]) -> Callable[[], object]:
    return lambda: run(text)


def _compared(taken: Mapping[str, list[float]], text: Sequence[str]) -> dict[str, Any]:
    characters = sum(map(len, text))
    found: dict[str, Any] = {"characters": characters, "contenders": {}}
    for name, values in taken.items():
        speed = Spread.of(values).each(lambda value: len(text) / value)
        found["contenders"][name] = {
            "seconds": Spread.of(values).as_json(),
            "sentences/s": speed.as_json(),
            "characters/s": Spread.of(values).each(lambda value: characters / value).as_json(),
            f"time against {OWN}": ratios(values, taken[OWN]).as_json(),
        }
    return found


def _curve(
    sizes: Sequence[int], action: Callable[[int], Callable[[], object]], rounds: int, say: Callable[[str], None], name: str
) -> dict[str, Any]:
    say(f"time against {name}: {', '.join(f'{size:,}' for size in sizes)}")
    points = []
    for size in sizes:
        run = action(size)
        values = [seconds(run)]
        while len(values) < rounds * 3 and sum(values) < rounds:  # short ones are repeated
            values.append(seconds(run))
        points.append({"size": size, "seconds": Spread.of(values).median, "rounds": len(values)})
    return {"points": points}


def _text_action(corrector: Corrector, text: str) -> Callable[[], object]:
    """As the command goes through a text: in blocks of complete lines, so that any length fits into memory."""
    import io

    from corrector.text.files import read_blocks

    data = text.encode()
    return lambda: [len(corrector.correct_document(block).corrections) for block in read_blocks(_Bytes(io.BytesIO(data)))]


class _Bytes:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read1(self, size: int, /) -> bytes:
        data: bytes = self._stream.read(size)
        return data


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or "unknown")
