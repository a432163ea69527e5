"""``python -m corrector.ray``: corrects a folder of text, JSON Lines or Parquet over a Ray cluster."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from corrector.exit import run_command, say
from corrector.options import ModelName, not_nan
from corrector.types import ORIGINS

if TYPE_CHECKING:
    from corrector.ray.rows import Counts

_EXTRA = dict.fromkeys(("ray", "pyarrow", "pandas"), "pip install electra-correct[ray]")
_FILE = click.Path()


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("input", type=_FILE)
@click.argument("output", type=_FILE)
@click.option("--column", default="text", show_default=True, help="The column of Parquet, or key of JSON Lines, to correct.")
@click.option("--output-column", metavar="NAME", help="Where the corrected text goes.  [default: COLUMN_corrected]")
@click.option("--format", "format_name", type=click.Choice(["jsonl", "parquet", "text"]), help="Default: by extension.")
@click.option("--concurrency", type=click.IntRange(1), metavar="N", help="Workers, a core and a model each.  [default: all cores]")
@click.option("--address", metavar="ADDRESS", help="The cluster, such as auto.  [default: RAY_ADDRESS, or one made here]")
@click.option("--model", type=ModelName(), metavar="MODEL", help="A model's directory or name.  [default: the embedded one]")
@click.option("--origin", type=click.Choice(ORIGINS), help="As for electra-correct.")
@click.option("--min-confidence", type=click.FloatRange(0, 1), callback=not_nan, metavar="FLOAT", help="As for electra-correct.")
@click.option("--profile", type=click.Choice(["careful", "balanced", "eager"]), help="As for electra-correct.")
@click.option("--words", type=_FILE, multiple=True, metavar="FILE", help="As for electra-correct. Repeatable.")
@click.option("--confusions", type=_FILE, multiple=True, metavar="FILE", help="As for electra-correct. Repeatable.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
def main(quiet: bool, **given: Any) -> int:
    """Correct INPUT, a file or a folder of text, JSON Lines or Parquet, into the new folder OUTPUT.

    Rows of JSON Lines and Parquet come out as they were, with the corrected text and a list of corrections added. Text
    comes out corrected, with the corrections of each part in a JSON Lines file beside it. Parts are in the order of the
    input. OUTPUT appears when everything is done, or not at all.
    """
    from corrector.config import Settings
    from corrector.errors import ConfigError
    from corrector.ray.job import Job, run_job

    names = ("origin", "min_confidence", "profile")
    try:
        files: dict[str, Any] = {name: tuple(map(os.path.abspath, given.pop(name))) for name in ("words", "confusions")}
        settings = Settings().overridden(model=_whole(given.pop("model")), **{name: given.pop(name) for name in names}, **files)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    paths = {name: os.path.abspath(given.pop(name)) for name in ("input", "output")}
    shown = sys.stderr.isatty() and not quiet

    def watch(done: int, pieces: int, counts: Counts) -> None:
        if shown:
            click.echo(f"\r{done:,} of {pieces:,} parts, {counts.rows:,} rows", nl=False, err=True)

    os.environ.setdefault("RAY_DATA_LOG_LEVEL", "ERROR")
    with contextlib.redirect_stdout(sys.stderr):  # where Ray has something to say
        counts = run_job(Job(**paths, **given, settings=settings), watch)
    if shown:
        click.echo(err=True)
    if counts.passed:
        say(f"warning: {counts.passed:,} rows could not be processed and are as they were, the first: {counts.first}")
    if counts.unprocessed:
        say(f"warning: {counts.unprocessed:,} passages could not be processed and are as they were")
    if not quiet:
        say(f"{counts.rows:,} rows, {counts.characters:,} characters, {counts.corrections:,} corrections")
    return 0


def _whole(model: str | None) -> str | None:
    """The model, one in a directory under its whole path: workers may run in another folder."""
    from corrector.electra.model_dir import model_places

    if not model or ("/" not in model and any((place / model).is_dir() for place in model_places())):
        return model
    path = os.path.abspath(os.path.expanduser(model))
    return path if os.path.isdir(path) else model


if __name__ == "__main__":
    sys.exit(run_command(main, None, "python -m corrector.ray", _EXTRA))
