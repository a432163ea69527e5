"""One large input over several processes: each has a model of its own, and the results come in order.

    with ParallelCorrector(settings, jobs=4) as corrector:
        for corrected in corrector.correct_blocks(blocks):
            ...

As always with ``multiprocessing``, a script that uses it keeps what it does under ``if __name__ == "__main__":``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from corrector.errors import CorrectorError
from corrector.in_order import Item, Result, in_order
from corrector.session import open_corrector
from corrector.types import CorrectedDocument, Correction, Document

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from types import TracebackType

    from corrector.command import DocumentCorrector
    from corrector.config import Settings

_PATIENCE_S = 5.0  # for a process that was asked to end, before it is made to


@dataclasses.dataclass(frozen=True, slots=True)
class _Ready:
    model_name: str


@dataclasses.dataclass(frozen=True, slots=True)
class _Found:
    """A CorrectedDocument without the document, which the other side has."""

    corrections: tuple[Correction, ...]
    suggestions: tuple[Correction, ...]
    unprocessed: int


@dataclasses.dataclass(frozen=True, slots=True)
class _Failure:
    """An error as text, since not every one can be pickled; ``expected`` ones are the package's own."""

    message: str
    expected: bool


class ParallelCorrector:
    """A corrector over at most ``jobs`` processes, for documents that are independent of each other; threads may share it.

    Each process opens the corrector of ``settings`` with one thread. The first starts at once, so that a model that
    cannot be used is reported here, every other when there is work for it. Memory: ``jobs`` models, and no more than
    ``in_order.AHEAD`` documents each. Close it, best by ``with``: until then the processes wait for more.

    Raises CorrectorError as ``open_corrector`` does, and for a process that dies: what it worked on is not corrected,
    and the next document finds a new process.
    """

    def __init__(
        self, settings: Settings, jobs: int, make: Callable[[Settings], DocumentCorrector] = open_corrector
    ) -> None:
        """``make`` is importable by name: it is called in the processes."""
        if jobs < 1:
            raise ValueError(f"jobs must be at least 1, not {jobs}")
        self.jobs = jobs
        self._settings, self._make = dataclasses.replace(settings, threads=1), make
        self._permits = threading.Semaphore(jobs)
        self._lock = threading.Lock()
        self._workers: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._closed = False
        with self._worker() as first:
            self.model_name = first.model_name

    def correct_document(self, document: Document) -> CorrectedDocument:
        """The corrections of one document, made by whichever process is free."""
        with self._worker() as worker:
            found = worker.ask(document)
        return CorrectedDocument(document, found.corrections, found.suggestions, found.unprocessed)

    def correct_blocks(self, blocks: Iterable[Document]) -> Iterator[CorrectedDocument]:
        """The corrections of each document, in order, reading ahead ``AHEAD`` documents a process."""
        return self.in_order(self.correct_document, blocks)

    def in_order(self, call: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """``in_order.in_order``, for a ``call`` that leaves the work to this corrector."""
        return in_order(call, items, self.jobs)

    def close(self) -> None:
        """Ends the processes, whatever they are at."""
        with self._lock:
            self._closed = True
            workers, self._workers, self._idle = self._workers, set(), []
        for worker in workers:
            worker.stop()

    def __enter__(self) -> ParallelCorrector:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def _worker(self) -> Iterator[_Worker]:
        """A process for one question; one that was not answered, for whatever reason, is ended."""
        with self._permits:
            worker = self._take()
            try:
                worker.wait_until_ready()
                yield worker
            except _AnsweredError as error:
                self._give_back(worker)
                raise error.error from None
            except BaseException:
                with self._lock:
                    self._workers.discard(worker)
                worker.stop()
                raise
            self._give_back(worker)

    def _take(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise RuntimeError("this corrector is closed")
            if self._idle:
                return self._idle.pop()
            worker = _Worker(self._settings, self._make)
            self._workers.add(worker)
            return worker

    def _give_back(self, worker: _Worker) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(worker)


class _AnsweredError(Exception):
    """An error that a process reported; it is fit for the next question."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class _Worker:
    """One process and the connection to it. One question at a time."""

    def __init__(self, settings: Settings, make: Callable[[Settings], DocumentCorrector]) -> None:
        context = get_context("spawn")  # fork would copy the threads' locks in whatever state they are
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, settings, make), daemon=True)
        self._ending = threading.Lock()  # a process is waited for once: the second thread to do so would learn nothing
        self._is_ready = False
        self.model_name = ""
        with _without_interrupts():
            self._process.start()
        theirs.close()  # or its end would never be noticed here

    def wait_until_ready(self) -> None:
        """Returns when its corrector is open. Raises CorrectorError when that fails."""
        if self._is_ready:
            return
        answer = self._received()
        if isinstance(answer, _Failure):
            raise _error(answer)
        self.model_name, self._is_ready = answer.model_name, True

    def ask(self, document: Document) -> _Found:
        """What it finds in the document."""
        try:
            self._connection.send(document)
        except OSError as error:
            raise self._died() from error
        answer = self._received()
        if isinstance(answer, _Failure):
            raise _AnsweredError(_error(answer))
        found: _Found = answer
        return found

    def stop(self) -> None:
        """Ends the process; whoever waits for its answer learns that it has died."""
        with self._ending:
            self._process.terminate()
            self._process.join(_PATIENCE_S)
            if self._process.is_alive():
                self._process.kill()
                self._process.join()

    def _received(self) -> Any:
        try:
            return self._connection.recv()
        except (EOFError, OSError) as error:
            raise self._died() from error

    def _died(self) -> CorrectorError:
        with self._ending:
            self._process.join(_PATIENCE_S)
            code = self._process.exitcode or 0
        how = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
        hint = "fewer --jobs need less memory" if -code == getattr(signal, "SIGKILL", 9) else "try again with --jobs 1"
        return CorrectorError(f"one of the correcting processes {how}; {hint}")


def _error(failure: _Failure) -> Exception:
    return CorrectorError(failure.message) if failure.expected else RuntimeError(failure.message)


def _serve(connection: Connection, settings: Settings, make: Callable[[Settings], DocumentCorrector]) -> None:
    """What a process does: it opens its corrector and answers until nobody is at the other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C reaches every process of the terminal; the first one decides
    with contextlib.suppress(EOFError, OSError):
        try:
            corrector = make(settings)
            connection.send(_Ready(corrector.model_name))
        except Exception as error:
            connection.send(_failure(error))
            return
        while True:
            document = connection.recv()
            try:
                corrected = corrector.correct_document(document)
                answer: _Found | _Failure = _Found(corrected.corrections, corrected.suggestions, corrected.unprocessed)
            except Exception as error:
                answer = _failure(error)
            connection.send(answer)


def _failure(error: Exception) -> _Failure:
    if isinstance(error, CorrectorError):
        return _Failure(str(error), True)
    return _Failure(f"{type(error).__name__}: {error}", False)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Holds back Ctrl-C: a process started here never sees one, and one that comes meanwhile is delivered afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # first, since it lets signals through again when it starts its own process
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
