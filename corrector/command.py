"""What one call of ``electra-correct`` does: every input through the corrector, into files, a report and messages."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from corrector.errors import CorrectorError, InputError
from corrector.exit import FAILED, FOUND, Terminated
from corrector.inputs import Input, Part, Review
from corrector.outputs import STDOUT, FileOutput, InPlace, Sink, StandardOutput
from corrector.progress import Messages, is_terminal
from corrector.render.summary import Summary, render_check, render_found, render_summary_line, render_unprocessed
from corrector.text.discover import discover
from corrector.types import CorrectedDocument, Document

if TYPE_CHECKING:
    from corrector.config import Settings
    from corrector.reports import Report
    from corrector.text.changes import Changes


class DocumentCorrector(Protocol):
    """What a run asks of a corrector."""

    @property
    def model_name(self) -> str: ...

    def correct_document(self, document: Document) -> CorrectedDocument: ...


@dataclass(frozen=True)
class Plan:
    """What is asked for. ``report`` is a name that ``reports`` knows, or ``text`` for none but the corrected text.

    The corrected text goes in place with ``write``; with the report ``text`` to ``output`` or else to standard output,
    where the other reports go; with ``check`` nowhere. ``several`` tells that there may be more than one input. With
    ``track_changes`` all are Word documents, which are corrected by revisions, with ``comments`` such as get comments. Of ``changes`` only
    what has changed is corrected, and files that have not are no inputs unless their text goes out.
    """

    paths: tuple[str, ...]
    settings: Settings
    report: str = "text"
    output: str | None = None
    write: bool = False
    check: bool = False
    several: bool = False
    track_changes: bool = False
    comments: bool = False
    changes: Changes | None = None

    @property
    def text_goes_out(self) -> bool:
        """Whether the corrected text goes to ``output`` or standard output."""
        return self.report == "text" and not self.write and not self.check

    @property
    def goes_to_stdout(self) -> bool:
        """Whether the text or a report goes to standard output."""
        return self.output in (None, "-") and (self.text_goes_out or self.report != "text")


def lost_to_backups(paths: Sequence[str], suffix: str) -> list[str]:
    """Those of these inputs whose backup would replace another of them."""
    there = {_file(path) for path in paths} - {None}
    return [path for path in paths if _file(os.path.realpath(path) + suffix) in there]


def _file(path: str) -> tuple[int, int] | None:
    """The same for all names of one file, also where capitals make no difference; None where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


class Run:
    """One call. ``totals`` counts what has come through; its ``files`` are the inputs that were finished.

    ``make`` opens the corrector and its report when there is something to correct; it may raise any CorrectorError.
    """

    def __init__(
        self, plan: Plan, make: Callable[[], tuple[DocumentCorrector, Report]], messages: Messages, review: Review | None = None
    ) -> None:
        self.totals = Summary()
        self.changed = self.failed = 0
        self._plan, self._make, self._messages, self._review = plan, make, messages, review
        self._started = time.monotonic()

    def run(self, is_over: Callable[[], bool] = lambda: False) -> int:
        """Corrects everything and returns the exit code; after each input ``is_over`` tells whether to leave the rest alone."""
        try:
            with contextlib.ExitStack() as stack:
                self._run(stack, is_over)
        except (KeyboardInterrupt, Terminated):
            self._messages.progress.finish()
            if self._plan.write:
                self._messages.tell(f"interrupted; files corrected before that: {self.changed:,}; all others are as they were")
            raise
        finally:
            self._messages.progress.finish()
        self._sum_up()
        if self.failed:
            return FAILED
        return FOUND if self._plan.check and self.totals.corrections else 0

    def _run(self, stack: contextlib.ExitStack, is_over: Callable[[], bool]) -> None:
        plan = self._plan
        output: Sink = StandardOutput()
        opened: tuple[DocumentCorrector, Report] | None = None
        for path in self._paths():
            if opened is None:
                opened, output = self._make(), self._opened(output, stack)
            self._one(Input(path, plan.settings, plan.track_changes, plan.comments, plan.changes), *opened, output)
            self._messages.progress.file_done()
            if is_over() or (output.gone and not plan.write):
                return
        if opened is None and plan.report != "text":  # of nothing, too
            opened, output = self._make(), self._opened(output, stack)
        if opened is not None:
            output.write(opened[1].end(dataclasses.replace(self.totals, failed=self.failed)))
        if not self.totals.files and not self.failed:
            since = "" if plan.changes is None else f" and has changed since {plan.changes.revision}"
            self._messages.tell(f"nothing to do: no file of a known kind is there{since}; --include GLOB takes others as well")

    def _opened(self, output: Sink, stack: contextlib.ExitStack) -> Sink:
        """Where a report goes: a file, all or nothing, or ``output``."""
        to_file = self._plan.output not in (None, "-") and not self._plan.text_goes_out
        return stack.enter_context(FileOutput(str(self._plan.output))) if to_file else output

    def _paths(self) -> Iterator[str]:
        """The inputs. What cannot be found is reported; all are found beforehand where that shows in a bar."""
        plan = self._plan
        settings, source = plan.settings, plan.settings.sources.get("exclude", "")
        project = os.path.dirname(source) if os.path.isabs(source) else None
        found = discover(plan.paths, settings.include, settings.exclude, settings.gitignore, self._fail, project)
        if plan.changes is not None and not plan.text_goes_out:
            found = self._changed(found, plan.changes)
        if plan.write and settings.backup:
            found = self._without_lost(list(found), settings.backup)
        if not self._messages.progress.shown:
            return found
        paths = list(found)
        self._messages.progress.expect(paths)
        return iter(paths)

    def _changed(self, paths: Iterator[str], changes: Changes) -> Iterator[str]:
        """The inputs that differ at all. Of what git knows nothing that is reported."""
        for path in paths:
            try:
                if changes.has(path):
                    yield path
            except InputError as error:
                self._fail(error)

    def _without_lost(self, paths: Sequence[str], suffix: str) -> Iterator[str]:
        """The inputs but those whose backup would replace another one; they are reported."""
        lost = set(lost_to_backups(paths, suffix))
        for path in paths:
            if path in lost:
                self._fail(f"{path}: {path}{suffix} is an input, which the backup would replace; take another suffix for --backup")
            else:
                yield path

    def _one(self, source: Input, corrector: DocumentCorrector, report: Report, output: Sink) -> None:
        """One input from beginning to end. Whatever is wrong with it is reported, and the next one has its turn."""
        try:
            found = self._through(source, corrector, report, output)
        except CorrectorError as error:
            if isinstance(error, InputError) and error.path in (STDOUT, self._plan.output):
                raise
            self._fail(error)
            return
        except OSError as error:
            self._fail(f"{source.name}: {error}")
            return
        except Exception as error:
            if sys.flags.dev_mode:
                raise
            self._fail(f"{source.name}: internal fault, please report it (python -X dev shows where): {type(error).__name__}: {error}")
            return
        self._told(source.name, found)

    def _through(self, source: Input, corrector: DocumentCorrector, report: Report, output: Sink) -> Summary:
        """The input's own summary, its parts corrected, reported and put where they belong."""
        found = Summary(files=1)
        with self._target(source, output) as take:
            for part in source.parts(corrector, self._review):
                if part.begins_text and found.characters:
                    output.write(report.end_of_text())
                output.write(report.block(part.corrected, part.before))
                take(part)
                found = found.plus(part.corrected)
                self._messages.progress.advance(part.corrected.document)
                if output.gone and not self._plan.write:
                    break
            output.write(report.end_of_text())
        return found

    @contextlib.contextmanager
    def _target(self, source: Input, output: Sink) -> Iterator[Callable[[Part], None]]:
        """Where the corrected text of an input goes, part by part."""
        plan = self._plan
        if source.is_read_only and (plan.write or plan.text_goes_out):
            what = "a PDF cannot be corrected; pass --format human, or --comments with -o FILE or -w"
            raise InputError(source.name, what)
        if plan.write:
            with InPlace(source, plan.settings.backup) as place:
                yield place.take
            self.changed += place.changed
            if place.changed and place.other_names:
                self._messages.warning(f"{source.name}: its other names (hard links) keep the old text")
        elif not plan.text_goes_out:
            yield lambda part: None
        elif plan.output not in (None, "-"):
            with FileOutput(str(plan.output)) as file:
                yield lambda part: file.write(part.data())
        else:
            if source.is_binary and is_terminal(sys.stdout):
                raise InputError(source.name, "is no text for a terminal; pass -w or -o FILE")
            yield lambda part: output.write(part.data())

    def _fail(self, error: CorrectorError | str) -> None:
        self.failed += 1
        self._messages.error(error)

    def _told(self, name: str, found: Summary) -> None:
        """Counts a finished input and says of it what is asked for."""
        totals = self.totals
        self.totals = dataclasses.replace(
            totals,
            files=totals.files + 1,
            characters=totals.characters + found.characters,
            corrections=totals.corrections + found.corrections,
            suggestions=totals.suggestions + found.suggestions,
            unprocessed=totals.unprocessed + found.unprocessed,
        )
        if found.unprocessed:
            self._messages.warning(render_unprocessed(name, found))
        if self._plan.check and (found.corrections or not self._plan.several):
            self._messages.tell(render_check(name, found))
        else:
            self._messages.note(render_found(name, found))

    def _sum_up(self) -> None:
        """The last line: of files written, shown or checked, on terminals but for one stream, and with --verbose."""
        plan, messages = self._plan, self._messages
        listed = plan.write or (plan.several and (plan.check or plan.report == "human"))
        watched = is_terminal(sys.stderr) and plan.paths != ("-",) and not (plan.check and not plan.several)
        if not (messages.verbose or listed or watched):
            return
        if not self.totals.files and not self.failed:
            return
        line = render_summary_line(self.totals, time.monotonic() - self._started)
        written = f"; {self.changed:,} written" if plan.write else ""
        failed = f"; {self.failed:,} failed" if self.failed else ""
        messages.tell(line + written + failed)
