"""The command line: options, messages and exit codes. Data goes to standard output, every message to standard error."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import click

from corrector.command import Run
from corrector.errors import CorrectorError, InputError
from corrector.render.summary import render_check, render_unprocessed
from corrector.text.decode import STDIN
from corrector.text.files import ByteStream, read_blocks, read_document, split_blocks, write_atomically
from corrector.types import Document

FOUND, USAGE, FAILED, INTERRUPTED = 1, 2, 123, 130
"""Exit codes besides 0: --check found something, wrong options, input or model cannot be used, Ctrl-C."""

_EXIT_CODES = """\b
Exit codes:
  0    done (with --check: nothing to correct)
  1    --check found something to correct
  2    the options are wrong
  123  the input or the model cannot be used
  130  interrupted"""


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from corrector import __version__

        click.echo(f"electra-correct {__version__}")
        context.exit()


def _not_nan(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is not in the range 0<=x<=1.")
    return value


@click.command(context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EXIT_CODES)
@click.argument("input_path", metavar="[INPUT]", default="-")
@click.option("-o", "--output", metavar="FILE", help="Write to FILE, all or nothing; it may be INPUT itself.")
@click.option("--diff", is_flag=True, help="Write a unified diff instead of the corrected text.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: one line for every correction and suggestion, then a summary.",
)
@click.option("--check", is_flag=True, help="Write no text; exit with 1 when something would be corrected.")
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    callback=_not_nan,
    metavar="FLOAT",
    help="Correct only what is right with at least this probability. [default: the model's own]",
)
@click.option("--model", metavar="PATH", help="A model directory, or the name of a model. [default: the embedded one]")
@click.option("--encoding", metavar="NAME", help="The encoding of INPUT, such as gb18030. [default: UTF-8]")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def electra_correct(
    input_path: str,
    output: str | None,
    diff: bool,
    output_format: str,
    check: bool,
    min_confidence: float | None,
    model: str | None,
    encoding: str | None,
) -> int:
    """Correct misspelt characters in Chinese text.

    Reads INPUT, or standard input when it is missing or `-`, and writes the corrected text to standard output, in the
    same encoding and with everything else as it was.
    """
    json = output_format == "json"
    if diff and json:
        raise click.UsageError("--diff and --format json exclude each other.")
    if check and output is not None and not (diff or json):
        raise click.UsageError("--check has nothing to write to a file without --diff or --format json.")
    blocks = _read(input_path, encoding)
    from corrector import __version__
    from corrector.pipeline import Corrector  # only now: it loads numpy and the model runtime

    run = Run(Corrector(model, min_confidence=min_confidence), blocks)
    if diff:
        chunks = run.diff()
    elif json:
        chunks = run.json(__version__)
    else:
        chunks = run.check() if check else run.text()
    _write(chunks, output)
    name = STDIN if input_path == "-" else input_path
    if run.summary.unprocessed:
        click.echo(f"warning: {render_unprocessed(name, run.summary)}", err=True)
    if check:
        click.echo(render_check(name, run.summary), err=True)
    return FOUND if check and run.summary.corrections else 0


def _read(input_path: str, encoding: str | None) -> Iterator[Document]:
    """The input's blocks. A file is read and decoded at once, so that nothing is written when it is not text."""
    if input_path != "-":
        return split_blocks(read_document(input_path, encoding))
    if sys.stdin is None:
        raise InputError(STDIN, "cannot be read: standard input is closed")
    return read_blocks(cast(ByteStream, sys.stdin.buffer), None, encoding)


def _write(chunks: Iterable[bytes], output: str | None) -> None:
    """Writes to standard output chunk by chunk, or to a file when all is known."""
    if output is not None and output != "-":
        write_atomically(output, b"".join(chunks))
        return
    for chunk in chunks:
        if not chunk:  # --check only counts
            continue
        if sys.stdout is None:
            raise InputError("<stdout>", "cannot be written: standard output is closed")
        try:
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
        except BrokenPipeError:  # the reader has seen enough; keep the interpreter from flushing into the pipe again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return
        except OSError as error:
            raise InputError("<stdout>", f"cannot be written: {error.strerror or error}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with ``arguments`` (default: the process's own) and returns its exit code."""
    try:
        status = electra_correct.main(arguments, prog_name="electra-correct", standalone_mode=False)
        return int(status or 0)
    except click.UsageError as error:
        usage = f"{error.ctx.get_usage()}\n" if error.ctx else ""
        click.echo(f"{usage}error: {error.format_message()}", err=True)
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (CorrectorError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        return FAILED
    except Exception as error:
        if sys.flags.dev_mode:  # python -X dev shows where a fault of the program itself lies
            raise
        click.echo(f"error: internal fault, please report it: {type(error).__name__}: {error}", err=True)
        return FAILED
