"""Where the time goes: the stages of a run timed from outside, each without what it calls of the others."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

from corrector import edit_features, offers, stages
from corrector.electra.marks import MarkTables
from corrector.electra.tokenizer import Tokenizer
from corrector.pipeline import Corrector
from corrector.propose import Characters
from corrector.rank import Ranker
from corrector.render.jsonl import render_corrections
from corrector.render.text import render_text
from corrector.revision import Revision
from corrector.stages import Stages

STAGES = (
    "segmentation", "tokenising", "marks", "discriminator", "second look", "generator", "fit of edits", "proposals + ranking", "rendering",
    "other",
)  # fmt: skip

NETWORKS = ("discriminator", "second look", "generator")
"""The stages in which the networks run."""
MODEL = (*NETWORKS, "marks", "fit of edits")
"""The stages in which the model is computed, its networks or its corpus counts, which are a back-off language model: the marks are what
that says of each character, the fit of edits what it says of each text that is considered."""

_TOKENISING = [name for name in vars(Tokenizer) if name.startswith(("encode", "token_types"))]


class Stopwatch:
    """Wall time by stage. Stages nest: time counts for the innermost one. One thread only."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self._open = ["other"]
        self._since = time.perf_counter()

    def enter(self, stage: str) -> None:
        self._turn()
        self._open.append(stage)

    def leave(self) -> None:
        self._turn()
        self._open.pop()

    def _turn(self) -> None:
        now = time.perf_counter()
        self.seconds[self._open[-1]] += now - self._since
        self._since = now

    def around(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            self.enter(stage)
            try:
                return function(*arguments, **named)
            finally:
                self.leave()

        return timed

    def around_each(self, stage: str, function: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """For a generator: what happens between its values is not its own."""

        def timed(*arguments: Any, **named: Any) -> Iterator[Any]:
            values = function(*arguments, **named)
            while True:
                self.enter(stage)
                try:
                    value = next(values, None)
                finally:
                    self.leave()
                if value is None:
                    return
                yield value

        return timed


def shares(corrector: Corrector, texts: Sequence[str]) -> dict[str, float]:
    """Seconds by stage of correcting and rendering the texts, by a corrector of one thread."""
    gc.collect()
    gc.freeze()  # or the collector looks through what PyTorch and the peers left, in whatever stage its turn comes
    watch = Stopwatch()
    with _timed(watch, corrector):
        watch.enter("other")
        for corrected in corrector.correct_many(texts):
            watch.enter("rendering")
            render_text(corrected)
            render_corrections(corrected)
            watch.leave()
        watch.leave()
    return watch.seconds


@contextlib.contextmanager
def _timed(watch: Stopwatch, corrector: Corrector) -> Iterator[None]:
    runtime = corrector.stages.runtime
    read, looked = runtime.read, watch.around("second look", runtime.read)
    in_check = False

    def checking(function: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*arguments: Any) -> Any:
            nonlocal in_check
            in_check = True
            try:
                found = function(*arguments)
                return list(found) if isinstance(found, Iterator) else found
            finally:
                in_check = False

        return checked

    def reading(encodings: Sequence[Any]) -> Any:
        return looked(encodings) if in_check else first(encodings)

    first = watch.around("discriminator", read)
    patches = [
        (Revision, "windows", watch.around_each("segmentation", Revision.windows)),
        *((Tokenizer, name, watch.around("tokenising", getattr(Tokenizer, name))) for name in _TOKENISING),
        *((MarkTables, name, watch.around("marks", getattr(MarkTables, name))) for name in ("types", "types_many")),
        *((Characters, name, watch.around("fit of edits", getattr(Characters, name))) for name in ("text_score", "text_fit", "word_score")),
        (edit_features, "_associations", watch.around("fit of edits", edit_features._associations)),
        (stages, "propose", watch.around("proposals + ranking", stages.propose)),
        (stages, "best_others", watch.around("proposals + ranking", stages.best_others)),
        (stages, "suspected", watch.around("proposals + ranking", stages.suspected)),
        (Stages, "_ranked", watch.around("proposals + ranking", Stages._ranked)),
        (Stages, "_checked", checking(Stages._checked)),
        (offers, "offered", watch.around("proposals + ranking", offers.offered)),
        (offers, "read", checking(offers.read)),
        (Ranker, "confidences", watch.around("proposals + ranking", Ranker.confidences)),
        (runtime, "read", reading),
        (runtime, "glance", watch.around("discriminator", runtime.glance)),
        (runtime, "log_probabilities", watch.around("generator", runtime.log_probabilities)),
    ]
    with contextlib.ExitStack() as stack:
        for owner, name, replacement in patches:
            stack.enter_context(mock.patch.object(owner, name, replacement))
        yield
