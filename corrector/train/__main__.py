"""`python -m corrector.train`: from text to a model directory, one command a step. Every step can be given again to go on."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from corrector import __version__
from corrector.errors import ModelError
from corrector.exit import run_command
from corrector.exit import say as _say
from corrector.offer_options import KINDS, Kind
from corrector.types import ORIGINS, TYPED, Origin

if TYPE_CHECKING:
    from corrector.train.config import TrainConfig
    from corrector.train.export import Format
    from corrector.train.pairs import PairSet
    from corrector.train.recognise import Engine

_EXTRA = dict.fromkeys(
    ("PIL", "torch", "onnx", "safetensors", "scipy", "sklearn", "transformers", "zstandard"), "pip install electra-correct[torch]"
) | {"rapidocr_onnxruntime": "pip install rapidocr-onnxruntime"}
"""How to get what the extra [torch] brings, and the recogniser, by import name."""

_FILE = click.Path(path_type=Path)
_data = click.option("--data", type=_FILE, required=True, help="A folder made by `pack`.")
_FOLDER = click.Path(path_type=Path, file_okay=False)  # one that may be missing
_out = click.option("--out", type=_FOLDER, required=True, help="Folder to write to; made if missing.")
_set = click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="A setting, such as noise.word=0.3.")
_debug = click.option("--debug", is_flag=True, help="A few steps only.")


def _model_name(_: click.Context, __: click.Parameter, name: str) -> str:
    """A name that fits into a signature, ``…|model:NAME|…`` on one line."""
    if not name.strip() or not name.isprintable() or "|" in name:
        raise click.BadParameter(f"{name!r} cannot be the name of a model; give one line without '|'")
    return name


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def train() -> None:
    """Train, fine-tune, calibrate and export the models."""


@train.command()
@click.option("--raw", multiple=True, required=True, metavar="FILE", help="Text to pre-train on, or a 'pattern*'.")
@click.option("--clean", multiple=True, metavar="FILE", help="Edited text to put errors into, or a 'pattern*'.")
@click.option("--ids", type=_FILE, help="Ideographic description sequences, for the component features.")
@_out
def pack(raw: tuple[str, ...], clean: tuple[str, ...], ids: Path | None, out: Path) -> None:
    """Make tokens, marks, counts of words, noise tables and features from text.

    Files are .txt or .txt.zst in UTF-8, a paragraph a line; --raw and --clean can be given several times.
    """
    from corrector.train.prepare import expand, prepare

    prepare(expand(raw), expand(clean), out, ids, _say)


@train.command()
@click.argument("verdicts", type=_FILE)
@click.option("--raw", multiple=True, required=True, metavar="FILE", help="The text they are about, as it was packed.")
@_out
def reviewed(verdicts: Path, raw: tuple[str, ...], out: Path) -> None:
    """Make labelled pairs of VERDICTS on raw text.

    OUT gets fit.N.tsv and held.N.tsv for every part N that `pack` deals the raw files out to: one file a part, and from the seventh file
    on in turn again. `finetune` and `calibrate` take them as fit.N.tsv:WEIGHT@N.
    """
    from corrector.train.prepare import expand
    from corrector.train.reviewed import write_pairs

    write_pairs(verdicts, expand(raw), out, _say)


@train.command()
@_data
@click.option("--out", type=_FILE, required=True, help="The list to write, corrector/similarity/phrases.txt.")
def phrases(data: Path, out: Path) -> None:
    """List the phrases of four characters of the text packed in --data of which three give away the fourth."""
    from corrector.train.phrases import write_phrases

    write_phrases(data, out, _say)


@train.command()
@click.argument("pairs", nargs=-1, metavar="[PAIRS.tsv[:WEIGHT]]...")
@_data
@click.option("--count", type=click.IntRange(1), default=180, show_default=True, help="How many pairs of characters.")
@click.option("--weights", type=click.IntRange(1), default=2300, show_default=True, help="How many weights for each.")
def contrast(pairs: tuple[str, ...], data: Path, count: int, weights: int) -> None:
    """Learn from the text packed in --data what tells characters apart that are often confused.

    They are those that who types would confuse, and that people confused in labelled PAIRS.tsv (`source<TAB>target` lines). Training and
    `export` take what is learned along.
    """
    from corrector.train.contrast import contrast as run

    run(data, [_pair_set(item) for item in pairs], count, weights, _say)
    _say(f"wrote {data / 'contrasts.npz'}")


@train.command()
@_data
@_out
@click.option("--from", "start", type=_FILE, help="A checkpoint, or a model: `default`, its name or directory. Default: new networks.")
@click.option("--config", type=_FILE, help="Settings as JSON, such as the config.json of another run.")
@_set
@_debug
def pretrain(
    data: Path, out: Path, start: Path | None, config: Path | None, settings: tuple[str, ...], debug: bool
) -> None:
    """Pre-train the networks; goes on from OUT/checkpoint.pt. Ctrl-C, SIGTERM and a closed terminal save and stop."""
    from corrector.train.pretrain import pretrain as run

    base = _read_config(config)
    if start is not None and config is None:
        from corrector.train.released import config_of

        base = dataclasses.replace(base, model=config_of(start).model)
    chosen = dataclasses.replace(base.debug() if debug else base, data=str(data), out=str(out))
    if start is not None:
        chosen = dataclasses.replace(chosen, model=base.model)  # of a network that is there, in --debug too
    run(_override(chosen, settings), _say, start)


@train.command()
@click.argument("pairs", nargs=-1, metavar="[PAIRS.tsv[:WEIGHT[@PART]]]...")
@click.option(
    "--from", "start", type=_FILE, required=True, help="A checkpoint, or a model: `default`, its name or directory."
)
@click.option("--data", type=_FILE, help="A folder made by `pack`: its clean text is trained on, too. A checkpoint needs one.")
@_out
@click.option(
    "--pair-share", type=click.FloatRange(0, 1), help="Labelled share of a batch. Default: 0.15 with --data, 0.5 without."
)
@_set
@_debug
def finetune(
    pairs: tuple[str, ...],
    start: Path,
    data: Path | None,
    out: Path,
    pair_share: float | None,
    settings: tuple[str, ...],
    debug: bool,
) -> None:
    """Fine-tune on labelled pairs (`source<TAB>target` lines) and synthetic errors in clean text.

    From a model, nothing but a few hundred pairs is needed: OUT becomes a model adapted to them, for `electra-correct --model`, and
    its scores before and after are shown. With --data, its clean text is trained on at length, and OUT gets a checkpoint. Pairs from
    its raw text are marked by the counts without their PART: 0 to 5, in turn for the raw files in the order of their names, as in the
    fit.N.tsv of `reviewed`.
    """
    from corrector.train.start import is_checkpoint

    if data is None:
        if is_checkpoint(start):
            raise click.UsageError("Missing option '--data'. A checkpoint needs the folder it was trained on.")
        if not pairs:
            raise click.UsageError("a model is adapted to labelled pairs; give at least one PAIRS.tsv, or --data")
        _adapt(pairs, start, out, pair_share, settings, debug)
        return
    from corrector.train.debug import debug_finetune
    from corrector.train.finetune import PAIR_SHARE, finetune_config
    from corrector.train.finetune import finetune as run
    from corrector.train.released import config_of

    config = finetune_config(config_of(start), str(data), str(out))
    config = _override(debug_finetune(config) if debug else config, settings)
    run(config, start, [_pair_set(item) for item in pairs], PAIR_SHARE if pair_share is None else pair_share, _say)


@train.command()
@click.argument("checkpoints", nargs=-1, required=True, type=_FILE, metavar="CHECKPOINT...")
@_out
def average(checkpoints: tuple[Path, ...], out: Path) -> None:
    """Average the networks of checkpoints that began with one another, for --from or `export`."""
    from corrector.train.average import average as run

    run(checkpoints, out)
    _say(f"wrote {out / 'checkpoint.pt'}")


@train.command()
@click.argument("checkpoint", type=_FILE)
@click.option("--layers", type=int, required=True, help="How many the encoder is to have.")
@_out
def grow(checkpoint: Path, layers: int, out: Path) -> None:
    """Make the encoder of CHECKPOINT deeper; it computes the same until --from trains it on."""
    from corrector.train.grow import grow as run

    run(checkpoint, layers, out)
    _say(f"wrote {out / 'checkpoint.pt'}")


@train.command()
@click.argument("checkpoint", type=_FILE)
@click.option("--units", type=int, required=True, help="How many feed-forward units a layer is to keep.")
@_data
@_out
def prune(checkpoint: Path, units: int, data: Path, out: Path) -> None:
    """Leave out what brings least in the encoder of CHECKPOINT.

    Of the feed-forward units of each layer, those stay whose output varies most where the network reads text packed in --data with
    errors made in it. Units that never fire can go at no cost: `pretrain` and `finetune` log their share as dev_dormant.
    """
    from corrector.train.prune import prune as run

    run(checkpoint, units, data, out, _say)
    _say(f"wrote {out / 'checkpoint.pt'}")


@train.command()
@click.argument("checkpoint", type=_FILE)
@_data
@_out
def revive(checkpoint: Path, data: Path, out: Path) -> None:
    """Start anew what the encoder of CHECKPOINT no longer uses.

    Units that never fire while it reads text packed in --data, and attention heads that always say the same, begin again from chance; what
    the network computes hardly changes until --from trains it on. `pretrain` and `finetune` log the share of such units as dev_dormant.
    """
    from corrector.train.revive import revive as run

    run(checkpoint, data, out, _say)
    _say(f"wrote {out / 'checkpoint.pt'}")


@train.command()
@click.argument("text", type=_FILE)
@click.option("--font", "fonts", multiple=True, required=True, metavar="FILE[:NUMBER]", help="To render it in; each piece in one of these.")
@click.option("--engine", type=click.Choice(["rapidocr", "tesseract"]), default="rapidocr", show_default=True, help="What reads it.")
@click.option("--pixels", type=float, nargs=2, default=(9.5, 16.0), show_default=True, help="Heights of characters, least and most.")
@click.option("--draws", type=click.IntRange(0), default=0, show_default=True, help="Pairs a line, drawn from what rapidocr thinks likely.")
@click.option("--lost", type=click.FloatRange(0, 1), default=0.3, show_default=True, help="Leave out a line of which more is read wrongly.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--out", type=_FILE, required=True, help="The pairs to write.")
def recognise(
    text: Path, fonts: tuple[str, ...], engine: Engine, pixels: tuple[float, float], draws: int, lost: float, seed: int, out: Path
) -> None:
    """Make labelled pairs of what a recogniser (OCR) takes the lines of TEXT for.

    Every line is rendered, spoilt as bad scans are, and read; by default the likeliest reading makes one pair.
    """
    from corrector.train.corpus import read_text
    from corrector.train.recognise import recognise as run

    lines = filter(None, read_text(text).split("\n"))
    characters, wrong = run(lines, fonts, engine, pixels, draws, lost, seed, out)
    _say(f"{characters:,} Han characters, {wrong:,} read as another; wrote {out}")


@train.command()
@click.option("--model", type=_FILE, required=True, help="A model directory made by `export`.")
@click.option(
    "--pairs", multiple=True, required=True, metavar="PAIRS.tsv[:WEIGHT[@PART]]", help="Labelled file to fit the ranker on."
)
@click.option("--held-back", type=_FILE, multiple=True, required=True, help="Labelled file for check, calibration, thresholds.")
@click.option("--slips", multiple=True, metavar="PAIRS.tsv[:WEIGHT]", help="Labelled file to count slips in, of other rows.")
@click.option(
    "--masked/--no-masked", default=None, help="Whether the generator reads suspicious characters masked, too. [default: with --origin ocr]"
)
@click.option(
    "--origin", type=click.Choice(ORIGINS), default=TYPED, show_default=True, help="Where their text is from; each has a ranker."
)
@click.option("--data", type=_FILE, help="The folder made by `pack`, for --pairs from a PART of its text.")
@click.option("--dry-run", is_flag=True, help="Say what would be reached, to compare models; write nothing.")
def calibrate(
    model: Path,
    pairs: tuple[str, ...],
    held_back: tuple[Path, ...],
    slips: tuple[str, ...],
    masked: bool | None,
    origin: Origin,
    data: Path | None,
    dry_run: bool,
) -> None:
    """Fit MODEL/ranker.json and its thresholds (for another origin MODEL/ORIGIN/ranker.json), and bring the manifest up to date.

    --pairs with a weight below 1 only count, so much, where it is decided how sure an edit is. So do rows from the text that the model's
    counts were made of: they are read by the counts without the PART that is named, 0 to 5 as in the fit.N.tsv of `reviewed`.
    With masked readings a network of this project finds no more and corrects a fifth to three tenths fewer sentences a second.
    """
    from corrector.electra.model_dir import find_model
    from corrector.train.calibrate import fit_ranker

    chosen = find_model(model).path if dry_run else _model_to_change(model)
    fit, counted = ([_pair_set(item) for item in items] for items in (pairs, slips))
    fit_ranker(chosen, fit, held_back, _say, counted, origin != TYPED if masked is None else masked, data, dry_run, origin)


@train.command()
@click.option("--model", type=_FILE, required=True, help="A model directory with a ranker, made by `calibrate`.")
@click.option("--pairs", multiple=True, required=True, metavar="PAIRS.tsv", help="Labelled file whose sources to learn from.")
@click.option("--layers", type=click.IntRange(1), default=3, show_default=True, help="Layers that every window is read by.")
@click.option("--lost", type=click.FloatRange(0, 1), default=0.002, show_default=True, help="Share of windows with corrections to lose.")
def glance(model: Path, pairs: tuple[str, ...], layers: int, lost: float) -> None:
    """Let MODEL/discriminator spare windows in which its lower layers find nothing wrong the layers above."""
    from corrector.train.glance import fit_glance

    fit_glance(_model_to_change(model), [_pair_set(item) for item in pairs], _say, layers, lost)


@train.command()
@click.option("--model", type=_FILE, required=True, help="A model directory with a ranker, made by `calibrate`.")
@click.option("--pairs", multiple=True, required=True, metavar="PAIRS.tsv[:WEIGHT[@PART]]", help="Labelled file to learn from.")
@click.option("--data", type=_FILE, help="The folder made by `pack`, for --pairs from a PART of its text.")
@click.option("--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Only these. Repeatable. [default: all]")
def offers(model: Path, pairs: tuple[str, ...], data: Path | None, kinds: tuple[Kind, ...]) -> None:
    """Add to MODEL/ranker.json what says how surely is meant what is offered by itself: words that sound alike, characters in the other
    order, set phrases."""
    from corrector.train.offers import fit_offers

    fit_offers(_model_to_change(model), [_pair_set(item) for item in pairs], _say, data, kinds or KINDS)


@train.command()
@click.option("--checkpoint", type=_FILE, required=True, help="The checkpoint to export.")
@_data
@_out
@click.option("--name", required=True, callback=_model_name, help="Name of the model.")
@click.option("--version", default=__version__, show_default=True, help="Version of the model.")
@click.option("--format", "format_", type=click.Choice(["onnx", "pytorch"]), default="onnx", show_default=True)
@click.option("--ledger", metavar="KEY=VALUE", multiple=True, help="A note for the training ledger.")
@click.option("--sources", type=_FILE, help="Sources of the training text with licences, a JSON list.")
@click.option("--scores", type=_FILE, help="What `python -m corrector.eval --json` printed for this model.")
def export(
    checkpoint: Path,
    data: Path,
    out: Path,
    name: str,
    version: str,
    format_: str,
    ledger: tuple[str, ...],
    sources: Path | None,
    scores: Path | None,
) -> None:
    """Write a model directory: int8 ONNX to use, or half-precision PyTorch."""
    from corrector.train.release import read_notes, read_sources, refresh_manifest

    notes, listed = read_notes(ledger, "--ledger"), read_sources(sources) if sources else []
    from corrector.train.export import export_release

    export_release(checkpoint, data, out, name, version, cast("Format", format_), _say, notes, listed)
    if scores:
        refresh_manifest(out, _say, scores)


@train.command()
@click.option("--model", type=_FILE, required=True, help="A model directory made by `export`.")
@click.option("--scores", type=_FILE, help="What `python -m corrector.eval --json` printed for this model.")
@click.option("--sources", type=_FILE, help="Sources of the training text with licences, a JSON list.")
@click.option("--version", help="Version of the model. Default: as it was.")
def manifest(model: Path, scores: Path | None, sources: Path | None, version: str | None) -> None:
    """Write MODEL's manifest and card again after its tables, the ranker or the scores changed."""
    from corrector.train.release import refresh_manifest

    refresh_manifest(_model_to_change(model), _say, scores, sources, version=version)


@train.command()
@click.option("--labelled", type=_FILE, help="Labelled file to make the text from. Default: the project's own.")
@_out
def debug(labelled: Path | None, out: Path) -> None:
    """Run the whole chain on a few sentences, in about a minute."""
    from corrector.train.debug import labelled_rows, run_chain

    _say(f"done: {run_chain(out, labelled_rows(labelled), _say)}")


def _read_config(path: Path | None) -> TrainConfig:
    from corrector.train.config import TrainConfig, load

    return TrainConfig() if path is None else load(path)


def _override(config: TrainConfig, settings: Sequence[str]) -> TrainConfig:
    from corrector.train.config import override

    return override(config, tuple(settings))


def _adapt(
    pairs: Sequence[str], start: Path, out: Path, pair_share: float | None, settings: tuple[str, ...], debug: bool
) -> None:
    from corrector.electra.model_dir import find_model
    from corrector.train.adapt import PAIR_SHARE, adapt
    from corrector.train.counts import IN_NONE

    share = PAIR_SHARE if pair_share is None else pair_share
    sets = [_pair_set(item) for item in pairs]
    if any(item.part != IN_NONE for item in sets):
        raise click.UsageError("pairs of a PART of the packed text need --data, the folder it was packed in")
    adapt(find_model(start), sets, out, share, settings, debug, _say)


def _model_to_change(model: Path) -> Path:
    """The directory of a model that a command changes. No name will do: an installed model is not to change unawares."""
    if not model.is_dir():
        from corrector.electra.model_dir import model_places

        places = " or ".join(map(str, model_places()))
        raise ModelError(model, f"no such directory; name the one of the model to change (models with a name lie in {places})")
    return model.absolute()


def _pair_set(item: str) -> PairSet:
    from corrector.train.pairs import read_named

    return read_named(item, _say)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with ``arguments`` (default: the process's own) and return its exit code."""
    return run_command(train, arguments, "python -m corrector.train", _EXTRA)


if __name__ == "__main__":
    sys.exit(main())
