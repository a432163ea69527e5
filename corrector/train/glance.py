"""Fits the gate of a discriminator: windows in which its lower layers find nothing that may be wrong are spared the layers above.

Most text is right, and a few layers see that of much of it. From what they make of a token a linear regression estimates the logit that all
layers give it; where the highest of a window is too low, the window is left at that (early exit: Schwartz et al. 2020, *The right tool
for the job*). How low is too low is set so that of the windows with corrections hardly any is lost.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from corrector.electra.manifest import MANIFEST
from corrector.electra.model import DISCRIMINATOR, WEIGHTS
from corrector.electra.onnx_runtime import discriminator_inputs
from corrector.errors import CorrectorError, ModelError
from corrector.pipeline import Corrector
from corrector.train.calibrate import read_windows
from corrector.train.gate import load_graph, save_graph, states_after, with_gate, with_output
from corrector.train.pairs import PairSet
from corrector.train.release import CARD, refresh_manifest
from corrector.train.workplace import changed_together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corrector.electra.runtime import Encoding
    from corrector.types import Sentence

FEWEST = 200  # windows with corrections, without which a small share of them cannot be told
_COUNTS = ((-4.0, 5.0), (-1.0, 60.0))  # tokens whose logit is higher count so often: of what is missed these matter
_LIMITS = -9.0, 3.0  # logits beyond say no more
_PENALTY = 1e-4  # of the regression, relative to the sum of squares of each state
_ROUNDING = 0.01  # what half precision of the states may make of an estimate
_WEIGHTS = f"{DISCRIMINATOR}/{WEIGHTS['onnx'][0]}"


def fit_glance(model: Path, sets: Sequence[PairSet], say: Callable[[str], None], layers: int, lost: float) -> None:
    """Give the discriminator of a model directory a gate after so many layers, in place of one that it may have, fitted on the sources of
    ``sets``: the share ``lost`` of their windows with corrections is spared the rest. Bring the manifest up to date. The model is as it
    was until all is done, and stays so on errors.

    Raises CorrectorError when hardly any window has a correction, ModelError for a network that is no int8 ONNX or has too few layers.
    """
    with changed_together(model, (_WEIGHTS, MANIFEST, CARD)) as copy:
        path = copy / _WEIGHTS
        if not path.is_file():
            raise ModelError(model, f"has no {_WEIGHTS}; only networks exported as onnx can have a gate")
        graph = load_graph(path)
        states = states_after(graph, layers, path)
        save_graph(graph, path)
        refresh_manifest(copy, lambda _: None)  # a model without a gate for the moment, to be opened as such
        windows = _seen(copy, with_output(graph, states), states, [row for item in sets for row in item.pairs])
        corrected = np.array([window.is_corrected for window in windows])
        if corrected.sum() < FEWEST:
            raise CorrectorError(f"glance: {corrected.sum():,} windows have corrections, {FEWEST} are needed; give more labelled rows")
        weights = _regression(windows)
        highest = np.array([(window.states @ weights[:-1]).max() + weights[-1] for window in windows])
        least = float(np.quantile(highest[corrected], lost))
        spared = highest < least
        say(
            f"after {layers} layers {spared.mean():.1%} of {len(spared):,} windows are spared the rest: {spared[~corrected].mean():.1%} "
            f"of those without corrections, {spared[corrected].mean():.2%} of those with some"
        )
        weights[-1] += _ROUNDING - least
        save_graph(with_gate(graph, states, weights), path)
        refresh_manifest(copy, say)


class _Window(NamedTuple):
    """What the lower layers make of each token but [CLS] and [SEP], (tokens, hidden), the logits that all layers give them, (tokens,), and
    whether something is corrected."""

    states: NDArray[np.float16]
    logits: NDArray[np.float32]
    is_corrected: bool


def _seen(model: Path, graph: Any, states: str, rows: Sequence[tuple[str, str]]) -> list[_Window]:
    """Every window of the sources as a model corrects it, whose discriminator ``graph`` also gives ``states``."""
    import onnxruntime  # type: ignore[import-untyped]

    corrector, options = Corrector(model), onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "discriminator.onnx"
        save_graph(graph, path)
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    with_mask = any(item.name == "attention_mask" for item in session.get_inputs())

    def run(encoding: Encoding) -> tuple[NDArray[np.float16], NDArray[np.float32]]:
        lower, logits = session.run([states, "logits"], discriminator_inputs(encoding, with_mask))
        return lower[0, 1:-1].astype(np.float16), logits[0, 1:-1]

    def ask(windows: list[Sentence]) -> list[_Window]:
        found = [
            corrector.found(window, *choices) for window, choices in zip(windows, corrector.stages.considered(windows), strict=True)
        ]
        sure = [any(correction.confidence >= corrector.min_confidence for correction in own) for own in found]
        encodings = corrector.stages.tokenizer.encode_many([window.text for window in windows])
        return [_Window(*run(encoding), is_corrected) for encoding, is_corrected in zip(encodings, sure, strict=True)]

    return [window for _, windows in read_windows(corrector.stages, rows, ask) for window in windows]


def _regression(windows: Sequence[_Window]) -> NDArray[np.float64]:
    """Weights of the states and, last, the constant: a ridge regression, summed up window by window."""
    size = windows[0].states.shape[1] + 1
    gram, moment = np.zeros((size, size)), np.zeros(size)
    for states, logits, _ in windows:
        features = np.column_stack([states.astype(np.float64), np.ones(len(states))])
        counts = np.ones(len(logits))
        for least, count in _COUNTS:
            counts[logits > least] = count
        gram += (features.T * counts) @ features
        moment += features.T @ (counts * np.clip(logits, *_LIMITS))
    gram[np.diag_indices(size - 1)] *= 1 + _PENALTY
    found: NDArray[np.float64] = np.linalg.solve(gram, moment)
    return found
