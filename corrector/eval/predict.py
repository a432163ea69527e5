"""Where predictions come from: a model over the sources, or a file of one corrected sentence a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corrector.errors import EvalDataError, InputError
from corrector.eval.curve import ScoredEdit
from corrector.eval.dataset import LabelledSet

if TYPE_CHECKING:
    from corrector.pipeline import Corrector
    from corrector.types import CorrectedDocument


@dataclass(frozen=True, slots=True)
class Prediction:
    """A corrected sentence; ``edits`` are all proposed edits with their confidence, None when it is not known."""

    text: str
    edits: tuple[ScoredEdit, ...] | None = None
    unprocessed: int = 0


def check_folder(path: str | Path) -> None:
    """Raises InputError for a file to be written in a folder that is not there."""
    if not Path(path).absolute().parent.is_dir():
        raise InputError(path, "cannot be written: its folder does not exist; make it first")


def check_place(path: str | Path, inputs: Iterable[str | Path | None]) -> None:
    """Raises InputError for a file to be written that is a folder, is in none, or is one of what is read."""
    check_folder(path)
    if Path(path).is_dir():
        raise InputError(path, "cannot be written: it is a folder; name a file in it")
    for other in inputs:
        if other is not None and Path(path).exists() and Path(other).exists() and Path(path).samefile(other):
            raise InputError(path, "is an input, which would be replaced; name another file")


def run_model(corrector: Corrector, labelled: LabelledSet) -> Iterator[Prediction]:
    """Correct every source in order."""
    from corrector.apply import corrected_text

    sources = [row.source for row in labelled.rows]
    for corrected in corrector.correct_many(sources):
        yield Prediction(corrected_text(corrected), proposed_edits(corrected), corrected.unprocessed)


def proposed_edits(corrected: CorrectedDocument) -> tuple[ScoredEdit, ...]:
    """The applied corrections and those suggestions that overlap none of them, nor each other."""
    taken: set[int] = set()
    edits = []
    for correction in (*corrected.corrections, *corrected.suggestions):
        places = range(correction.span.start, correction.span.end)
        if len(correction.replacement) == len(places) and taken.isdisjoint(places):
            taken.update(places)
            edits.append(ScoredEdit(correction.span.start, correction.replacement, correction.confidence))
    return tuple(edits)


def read_predictions(path: str | Path, sets: Sequence[LabelledSet]) -> list[list[Prediction]]:
    """The lines of ``path`` dealt out to the rows of the sets, in order.

    The file has a line either for every scored row or for every row read, dropped and skipped ones included;
    anything else raises EvalDataError.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig", "surrogatepass").replace("\r\n", "\n")
    except OSError as error:
        raise EvalDataError(path, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise EvalDataError(path, "not valid UTF-8; convert the file to UTF-8 first") from error
    lines = text.removesuffix("\n").split("\n") if text else []
    scored, read = sum(len(s.rows) for s in sets), sum(s.read for s in sets)
    if len(lines) not in {scored, read}:
        raise EvalDataError(path, f"{len(lines)} lines for {scored} scored rows of {read}; expected one line a row")
    dealt = []
    start = 0
    for labelled in sets:
        places: Sequence[int] = range(len(labelled.rows)) if len(lines) == scored else labelled.ordinals
        dealt.append([Prediction(lines[start + place][: labelled.max_length]) for place in places])
        start += len(labelled.rows) if len(lines) == scored else labelled.read
    return dealt
