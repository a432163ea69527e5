"""A guard on the work that a text costs, in counts that no machine changes: readings, tokens, padding, imports. Never seconds.

Every bound is tied to how the stages work, not to what one model finds: it holds for any model, and a change that makes more
work breaks it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from corrector import offers, stages
from corrector.electra import onnx_runtime
from corrector.electra.model_dir import DEFAULT_MODEL, model_places
from corrector.electra.runtime import Encoding, Floats, Reading, Runtime
from corrector.pipeline import BLOCK, PART, Corrector, windows_of
from corrector.stages import TOGETHER, Stages
from corrector.types import CorrectedDocument, Document
from tests.test_pipeline import make

ROOT = Path(__file__).parents[1]
CLEAN = "我今天很高兴。\n大家应该好，公司已经好。\nabc 1\n\n今天大家高兴。\n"
WRONG = "我今天很高形。\n大家因该好，公司以经好。\nabc 1\n\n今天大家高兴。\n"
SENTENCES = ROOT / "eval" / "sentences.tsv"
SHORT = 60  # characters that are one window of every model
needs_model = pytest.mark.skipif(not any((place / DEFAULT_MODEL).is_dir() for place in model_places()), reason="no embedded model")


class Counting:
    """A runtime that counts, by network, the calls, the windows and the tokens that the one inside is given."""

    def __init__(self, inner: Runtime) -> None:
        self._inner = inner
        self.calls = {"discriminator": 0, "generator": 0}
        self.windows = dict(self.calls)
        self.callers = 1
        self.tokens = dict(self.calls)
        self.positions = 0

    def read(self, encodings: Sequence[Encoding]) -> list[Reading]:
        self._count("discriminator", encodings)
        return self._inner.read(encodings)

    def glance(self, encodings: Sequence[Encoding]) -> list[Reading | None]:
        self._count("discriminator", encodings)
        return self._inner.glance(encodings)

    def log_probabilities(
        self, encodings: Sequence[Encoding], positions: Sequence[Sequence[int]], readings: Sequence[Reading] | None = None
    ) -> list[Floats]:
        self._count("generator", encodings)
        self.positions += sum(map(len, positions))
        return self._inner.log_probabilities(encodings, positions, readings)

    def _count(self, network: str, encodings: Sequence[Encoding]) -> None:
        self.calls[network] += 1
        self.windows[network] += len(encodings)
        self.tokens[network] += sum(len(encoding.ids) for encoding in encodings)


class Watched:
    """A corrector whose work is counted: its runtime, the windows its stages are given, the suspicions and their groups."""

    def __init__(self, corrector: Corrector, monkeypatch: pytest.MonkeyPatch) -> None:
        inner = corrector.stages
        self.corrector = corrector
        self.runtime = inner.runtime = Counting(inner.runtime)
        self.readings = self.rounds = self.suspicious = self.groups = self.suspicions = self.words = 0
        self.read: list[str] = []
        considered, looks, ranked = inner.considered, inner._looks, inner._ranked

        def counted_windows(windows: Sequence[Any]) -> Any:
            self.rounds += 1
            self.readings += len(windows)
            self.read += [window.text for window in windows]
            return considered(windows)

        def counted_looks(flagged: Any, encodings: Any, readings: Any) -> Any:
            found = looks(flagged, encodings, readings)
            self.suspicious += len(found)
            self.suspicions += sum(len(look.indexes) for look in found)
            return found

        def counted_ranked(encodings: Any, groups: Any) -> Any:
            self.groups += len(groups)
            return ranked(encodings, groups)

        read = offers.read

        def counted_words(stages: Stages, offers: Sequence[Any], *seen: Any) -> Any:
            self.words += len(offers)
            return read(stages, offers, *seen)

        monkeypatch.setattr(offers, "read", counted_words)
        monkeypatch.setattr(inner, "considered", counted_windows)
        monkeypatch.setattr(inner, "_looks", counted_looks)
        monkeypatch.setattr(inner, "_ranked", counted_ranked)

    def windows(self, texts: Sequence[str]) -> list[str]:
        length = self.corrector.stages.max_length
        return [window.text for text in texts for window in windows_of(Document(None, text), length)]

    def correct(self, *texts: str) -> list[CorrectedDocument]:
        return list(self.corrector.correct_many(texts))

    def check(self, texts: Sequence[str], found: Sequence[CorrectedDocument]) -> None:
        """Every bound that holds for any model and any text whose windows do not overlap."""
        windows, longest = self.windows(texts), self.corrector.stages.max_length + 2  # + 2: [CLS] and [SEP]
        corrections = sum(len(one.corrections) for one in found)
        runtime = self.runtime
        # A window is read again only after a correction in it, and each round that reads it again has made one more.
        assert len(windows) <= self.readings <= len(windows) + corrections
        # The discriminator reads a window once, and at most once for each group of suspicions and each word that may be meant.
        assert runtime.windows["discriminator"] <= self.readings + self.groups + self.words
        # The generator reads a suspicious window once as it is and once for each group; and each word as it is and masked.
        assert runtime.windows["generator"] <= self.suspicious + self.groups + 2 * self.words
        assert runtime.positions <= 2 * self.suspicions + 4 * self.words and self.groups <= self.suspicions
        # Windows go to the networks together: two calls each for a block of windows, and for every TOGETHER suspicions more; and two
        # for the words of a block.
        calls = 2 * (self.rounds + self.suspicions // TOGETHER) + 2 * min(self.rounds, self.words)
        assert runtime.calls["discriminator"] <= calls and runtime.calls["generator"] <= calls
        # BLOCK texts are corrected together and PART windows read together; a round more only for what has changed.
        blocks = -(-len(texts) // BLOCK) + len(windows) // PART
        assert self.rounds <= blocks * (1 + corrections)
        assert runtime.tokens["discriminator"] <= longest * runtime.windows["discriminator"]
        assert runtime.tokens["generator"] <= longest * runtime.windows["generator"]


def test_clean_text_is_read_once_by_one_network(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(make()[0], monkeypatch)
    found = watched.correct(CLEAN)
    windows = watched.windows([CLEAN])
    assert len(windows) == 3  # the line without Han is no window
    assert watched.read == windows
    assert watched.runtime.tokens == {"discriminator": sum(len(window) + 2 for window in windows), "generator": 0}
    assert watched.runtime.windows == {"discriminator": 3, "generator": 0}
    watched.check([CLEAN], found)


def test_an_error_costs_its_own_window_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(make()[0], monkeypatch)
    found = watched.correct(WRONG)
    assert sum(len(one.corrections) for one in found) == 3
    watched.check([WRONG], found)
    assert watched.readings == 3 + 2  # two windows have changed
    assert len(set(watched.read)) == 5  # and none was read twice in the same form
    # Three groups in two windows. The generator sees each window in place and then with all of its groups hidden; the discriminator
    # reads it with all of its edits tried, and this is also what the next round reads.
    assert (watched.suspicious, watched.groups) == (2, 3)
    assert watched.runtime.windows["generator"] == 2 + 2
    assert watched.runtime.windows["discriminator"] == 3 + 2
    assert watched.runtime.calls["generator"] <= 4


@pytest.mark.parametrize("count", [1, BLOCK, BLOCK + 1])
def test_calls_do_not_grow_with_the_texts_of_a_block(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    watched = Watched(make()[0], monkeypatch)
    watched.check([CLEAN] * count, watched.correct(*[CLEAN] * count))
    blocks = -(-count * 3 // PART) + count // BLOCK
    assert watched.runtime.calls["discriminator"] <= 2 * blocks
    assert watched.runtime.windows["generator"] == 0


def test_text_that_is_all_suspicious_is_looked_at_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each suspicion costs a view of the whole vocabulary: never more of them at once than are bounded."""
    corrector, runtime = make({"形": "兴"})
    asked: list[int] = []
    inner = runtime.log_probabilities

    def counted(encodings: Any, positions: Any, readings: Any = None) -> Any:
        asked.append(sum(map(len, positions)))
        return inner(encodings, positions, readings)

    monkeypatch.setattr(runtime, "log_probabilities", counted)
    monkeypatch.setattr(stages, "TOGETHER", 50)
    texts = ["形" * 30, "大家好"] * 12
    found = list(corrector.correct_many(texts))
    assert all(one.unprocessed == 0 for one in found)
    assert sum(asked) >= 12 * 30 and max(asked) < 50 + 30  # the last window to fit is taken whole


def test_the_windows_of_a_long_line_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "大家应该好，" * 200
    watched = Watched(make()[0], monkeypatch)
    watched.correct(line)
    # Half of a window at most is context, so that every character is read twice at most, and the ends with [CLS] and [SEP].
    assert watched.runtime.windows["discriminator"] == len(watched.windows([line]))
    assert watched.runtime.tokens["discriminator"] <= 2 * len(line) + 2 * watched.readings
    assert watched.runtime.windows["generator"] == 0


@pytest.fixture
def texts() -> list[str]:
    """Labelled sentences of one window each, about sixty, with and without their errors."""
    rows = [line.split("\t") for line in SENTENCES.read_text("utf-8").splitlines()[1::8]]
    return [text for row in rows for text in row[:2] if len(text) <= SHORT]


@needs_model
def test_the_embedded_model_does_no_more_than_it_must(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    corrector = Corrector(threads=1)
    given = {"tokens": 0, "padding": 0}
    run = onnx_runtime._run

    def counted(session: Any, network: Any, outputs: Any, inputs: Any) -> list[Floats]:
        if "input_ids" in inputs:
            given["tokens"] += inputs["input_ids"].size
            given["padding"] += int((inputs["input_ids"] == 0).sum())
        return run(session, network, outputs, inputs)

    monkeypatch.setattr(onnx_runtime, "_run", counted)
    watched = Watched(corrector, monkeypatch)
    watched.check(texts, watched.correct(*texts))
    assert given["padding"] == 0
    assert given["tokens"] <= sum(watched.runtime.tokens.values())  # nothing is read that was not asked for
    # A model that suspects one character in four would cost more for each text than reading it three times over.
    assert watched.suspicions <= sum(map(len, texts)) / 4


PROGRAM = (
    "import json, sys; before = set(sys.modules); from corrector.cli import main; status = main(sys.argv[1:]);"
    "sys.stderr.write(json.dumps([status, sorted(set(sys.modules) - before)]))"
)


@pytest.mark.parametrize(
    "arguments, text, own, others",
    [
        # The options, the exit codes, the formats' names and the progress; click alone from outside.
        (("--help",), "", 25, {"click"}),
        # One text as plain text: the pipeline, its tables, one runtime and one report; no format but plain text.
        pytest.param(("--no-config",), "我今天很高形。\n", 84, {"click", "numpy", "onnxruntime"}, marks=needs_model),
    ],
)
def test_how_much_is_imported(arguments: tuple[str, ...], text: str, own: int, others: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], cwd=ROOT, input=text.encode(), capture_output=True, check=True
    )
    status, modules = json.loads(done.stderr)
    assert status == 0
    assert len([name for name in modules if name.partition(".")[0] == "corrector"]) <= own
    outside = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names - {"corrector"}
    assert {name for name in outside if not name.startswith("_")} <= others
