"""`python -m corrector.eval`: score the model, or a file of predictions, on labelled sentences."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corrector.config_values import MOST
from corrector.exit import run_command
from corrector.types import ORIGINS, TYPED

if TYPE_CHECKING:
    from corrector.eval.dataset import InputFormat
    from corrector.eval.predict import Prediction
    from corrector.eval.report import SetResult
    from corrector.types import Origin


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", nargs=-1, type=click.Path())
@click.option("--input-format", type=click.Choice(["tsv", "cscd", "sighan", "pycorrector"]), help="Default: find out.")
@click.option("--truth", type=click.Path(), help="The truth file of a SIGHAN test input (with one FILE).")
@click.option("--model", type=click.Path(), help="Model directory or name. Default: the embedded model.")
@click.option("--origin", type=click.Choice(ORIGINS), default=TYPED, show_default=True, help="Where the text is from.")
@click.option("--min-confidence", type=click.FloatRange(0, 1), help="Apply corrections from this confidence on. Default: the model's own.")
@click.option("--threads", type=click.IntRange(0, MOST), default=0, show_default=True, help="0: as many as there are cores.")
@click.option("--limit", type=click.IntRange(1), help="At most this many rows of each file, evenly spaced.")
@click.option("--max-length", type=click.IntRange(1), help="Cut sentences to this many characters. Default: never.")
@click.option("--remove-de", is_flag=True, help="Ignore predicted edits into 地 and 得, as SIGHAN13 results do.")
@click.option("--predictions", type=click.Path(), help="Score this file, one corrected sentence a line, not a model.")
@click.option("--save-predictions", type=click.Path(), help="Write the corrected sentences here, one a line.")
@click.option("--bootstrap", type=click.IntRange(0), default=1000, show_default=True, help="Resamples for the intervals; 0: no intervals.")
@click.option("--by", type=click.Choice(["domain", "kind"]), help="Also break down by this column.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--plot", type=click.Path(), help="Draw reliability and precision against recall here, such as OUT.png.")
def evaluate(files: tuple[str, ...], as_json: bool, plot: str | None, **options: Any) -> None:
    """Score corrections of labelled FILES: `source<TAB>target` lines, CSCD, SIGHAN or pycorrector JSON, plain or
    compressed (.xz).

    Without FILES the project's own labelled sentences of this origin (eval/) are used. Prints strict and official precision, recall
    and F1, sentence and character level, false positives on error-free sentences, and a signature to reproduce them.
    """
    from corrector.eval.plot import check_plot, save_plot
    from corrector.eval.report import json_report, text_report

    if options["truth"] and len(files) != 1:
        raise click.UsageError("--truth goes with exactly one FILE")
    if options["predictions"] and (options["model"] or options["origin"] != TYPED or options["min_confidence"] is not None):
        raise click.UsageError("--predictions is scored as it is; leave out --model, --origin and --min-confidence")
    if options["predictions"] and plot:
        raise click.UsageError("--plot needs confidences, which --predictions has none of; leave out one of them")
    if plot:
        check_plot(plot)
    results = run(files, **options)
    if as_json:
        import json

        click.echo(json.dumps(json_report(results), ensure_ascii=False, indent=2))
    else:
        click.echo(text_report(results), nl=False)
    if plot:
        save_plot(results, plot)


def run(
    files: Sequence[str],
    input_format: InputFormat | None,
    truth: str | None,
    model: str | None,
    origin: Origin,
    min_confidence: float | None,
    threads: int,
    limit: int | None,
    max_length: int | None,
    remove_de: bool,
    predictions: str | None,
    save_predictions: str | None,
    bootstrap: int,
    by: str | None,
) -> list[SetResult]:
    """Load, predict, score. Raises CorrectorError for anything a user can mend."""
    from corrector.eval import dataset, predict, signature
    from corrector.eval.scoring import check_groups, score_set

    paths = files or [str(path) for path in dataset.shipped_paths(origin=origin)]
    sets = [dataset.load_set(path, input_format, truth) for path in paths]
    sets = [dataset.truncate(dataset.every_nth(labelled, limit), max_length) for labelled in sets]
    for labelled in sets:  # before a long run, as the next
        check_groups(labelled, by)
    if save_predictions is not None:
        predict.check_place(save_predictions, (*paths, truth, predictions))
    threshold: float | None = None
    seconds: list[float | None] = [None] * len(sets)
    if predictions is not None:
        predicted = predict.read_predictions(predictions, sets)
        model_name, checksum = f"file {Path(predictions).name}", signature.file_checksum(predictions)
    else:
        from corrector.pipeline import Corrector

        corrector = Corrector(model, origin=origin, min_confidence=min_confidence, threads=threads)
        model_name, checksum = corrector.model_name, corrector.model_checksum
        threshold = corrector.min_confidence
        predicted = []
        for i, labelled in enumerate(sets):
            started = time.perf_counter()
            predicted.append(list(predict.run_model(corrector, labelled)))
            seconds[i] = time.perf_counter() - started
    if save_predictions is not None:
        _save(save_predictions, predicted)
    signed = [signature.sign(labelled, model_name, checksum, threshold, remove_de, origin) for labelled in sets]
    prepared = zip(sets, predicted, signed, seconds, strict=True)
    return [score_set(*one, removed_de=remove_de, resamples=bootstrap, by=by) for one in prepared]


def _save(path: str, predicted: Sequence[Sequence[Prediction]]) -> None:
    """One a line; lone surrogates, which UTF-8 has no place for, as ``read_predictions`` reads them back."""
    from corrector.errors import InputError

    try:
        with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="\n") as output:
            output.writelines(prediction.text + "\n" for several in predicted for prediction in several)
    except OSError as error:
        raise InputError(path, f"cannot be written: {error.strerror}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with ``arguments`` (default: the process's own) and returns its exit code."""
    return run_command(evaluate, arguments, "python -m corrector.eval")


if __name__ == "__main__":
    sys.exit(main())
