"""How every command of the package ends: one set of exit codes, one line for what went wrong, no traceback."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType, MappingProxyType
from typing import Any

import click

from corrector.errors import CorrectorError

FOUND, USAGE, FAILED, INTERRUPTED = 1, 2, 123, 130
"""Exit codes besides 0: --check found something, wrong options, an input or the model cannot be used, Ctrl-C."""


class Terminated(BaseException):
    """A signal to end, raised where the command is, so that it unwinds and removes its temporary files."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def run_command(
    command: click.Command, arguments: Sequence[str] | None, program: str, missing: Mapping[str, str] = MappingProxyType({})
) -> int:
    """Runs ``command`` with ``arguments`` (default: the process's own) and returns its exit code, errors reported.

    ``missing`` says, for packages that may not be installed, how to get them. Python's -X dev shows faults of the program
    with their traceback.
    """
    for stream in (sys.stdout, sys.stderr):  # what it cannot write comes out as an escape; texts and reports are written as bytes
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    with _unwinding_at_signals():
        return _status_of(command, arguments, program, missing)


def _status_of(
    command: click.Command, arguments: Sequence[str] | None, program: str, missing: Mapping[str, str]
) -> int:
    try:
        status: Any = command.main(arguments, prog_name=program, standalone_mode=False)
        return int(status or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        say(error.format_message())
        return USAGE
    except click.UsageError as error:
        usage = f"{error.ctx.get_usage()}\n" if error.ctx else ""
        say(f"{usage}error: {error.format_message()}")
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (CorrectorError, OSError) as error:
        say(f"error: {error}")
        if isinstance(error, OSError):
            silence(sys.stdout)  # what it still holds cannot be written either
        return FAILED
    except SystemExit as stop:  # click's: the end of a shell completion, or a reader of the help that went away
        if isinstance(stop.__context__, BrokenPipeError):
            silence(sys.stdout)
            return 0
        return stop.code if isinstance(stop.code, int) else 0
    except Exception as error:
        package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
        if package in missing:
            say(f"error: {package} is not installed; {missing[package]}")
            return FAILED
        if sys.flags.dev_mode:
            raise
        say(f"error: internal fault, please report it (python -X dev shows where): {type(error).__name__}: {error}")
        return FAILED


def say(message: str) -> None:
    """Puts a line on standard error; where that cannot be written, nothing more can be said and it is let go."""
    try:
        click.echo(message, err=True)
    except (OSError, ValueError):
        silence(sys.stderr)


def silence(stream: Any) -> None:
    """Leads a stream that cannot be written into nothing, so that the interpreter's last flush does not fail on it."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        target = stream.fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, target)
        os.close(null)


@contextlib.contextmanager
def _unwinding_at_signals() -> Iterator[None]:
    """Lets a signal to end unwind the command, then ends the process by that signal after all, as its sender expects.

    SIGTERM is one, and SIGHUP, of a terminal that is closed, unless ``nohup`` has it ignored.
    """
    before: dict[int, Any] = {}

    def stop(number: int, frame: FrameType | None) -> None:
        for other in before:
            signal.signal(other, signal.SIG_IGN)  # a second one must not disturb the cleaning up
        raise Terminated(number)

    try:
        for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            if signal.getsignal(number) != signal.SIG_IGN and number not in before:
                before[number] = signal.signal(number, stop)
    except ValueError:  # not the main thread: whoever runs it there minds the signals
        yield
        return
    try:
        yield
    except Terminated as end:
        signal.signal(end.number, signal.SIG_DFL)
        os.kill(os.getpid(), end.number)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
