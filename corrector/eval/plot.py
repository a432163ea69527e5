"""The scores as a picture: is the confidence to be believed, and what does a lower one buy. Needs the extra [bench]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from corrector.errors import CorrectorError, InputError
from corrector.eval.predict import check_folder
from corrector.eval.report import SetResult, reliability_of

_KINDS = (".png", ".pdf", ".svg")
_FONTS = ("Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Micro Hei", "PingFang SC", "Microsoft YaHei", "SimHei")
"""Usual fonts with Chinese, for sets that are named in it; matplotlib's own has none."""

_LEGEND: Mapping[str, Any] = {"fontsize": "small", "loc": "upper center", "bbox_to_anchor": (0.5, -0.1)}


def check_plot(path: str | Path) -> None:
    """Find out before a long run what would keep the picture from being made.

    Raises CorrectorError without matplotlib, InputError for another kind than PNG, PDF or SVG and for a folder that is not there.
    """
    _pyplot()
    if Path(path).suffix.lower() not in _KINDS:
        raise InputError(path, "not the name of a picture; let it end in .png, .pdf or .svg")
    check_folder(path)


def save_plot(results: Sequence[SetResult], path: str | Path) -> None:
    """Draw the reliability of all sets together, and the precision–recall curve of every set with errors, into one file.

    Raises CorrectorError without matplotlib, InputError when the file cannot be written.
    """
    pyplot = _pyplot()
    from matplotlib import font_manager

    fonts = ["DejaVu Sans", *(font for font in _FONTS if font in font_manager.get_font_names())]
    with pyplot.rc_context({"font.family": fonts, "text.parse_math": False}):  # a $ in the name of a set is a $
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5.2), layout="constrained")
        _draw_reliability(left, results)
        _draw_curves(right, results)
        try:
            figure.savefig(path, dpi=120)
        except OSError as error:
            raise InputError(path, f"cannot be written: {error.strerror}") from error
        finally:
            pyplot.close(figure)


def _pyplot() -> Any:
    try:
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise CorrectorError("--plot: matplotlib is not installed; pip install electra-correct[bench]") from error
    return pyplot


def _draw_reliability(axis: Any, results: Sequence[SetResult]) -> None:
    axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share of the edits that are right")
    axis.plot((0, 1), (0, 1), "--", color="0.6", label="perfect calibration")
    found = reliability_of(results)
    if found is None or found.ece is None:
        axis.set_title("Reliability: no edits")
        return
    middles = [(one.low + one.high) / 2 for one in found.bins]
    widths = [one.high - one.low for one in found.bins]
    shares = [one.edits / found.edits for one in found.bins]
    axis.bar(middles, shares, widths, color="0.88", edgecolor="white", label="share of all edits", zorder=0)
    confidences = [one.confidence for one in found.bins]
    right = [one.share_right for one in found.bins]
    below = [one.share_right - one.interval.low for one in found.bins]
    above = [one.interval.high - one.share_right for one in found.bins]
    label = "right, with 95 % interval"
    axis.errorbar(confidences, right, yerr=[below, above], fmt="o", color="C0", capsize=3, clip_on=False, label=label)
    axis.set_title(f"Reliability: {found.edits:,} edits, expected calibration error {found.ece:.3f}")
    axis.legend(**_LEGEND, ncols=3)


def _draw_curves(axis: Any, results: Sequence[SetResult]) -> None:
    curves, dots = [], []
    drawn = [(result, result.curve) for result in results if result.curve]
    for number, (result, curve) in enumerate(drawn):
        color, line = f"C{number % 10}", ("-", "--", ":")[number // 10 % 3]
        recalls, precisions = [point.recall for point in curve], [point.precision for point in curve]
        curves += axis.plot(recalls, precisions, line, color=color, label=result.labelled.name)
        score, threshold = result.scores.strict_correction, result.signature.threshold
        if threshold is not None and result.scores.counts.changed:
            label = f"applied from confidence {threshold:g} on"
            dots += axis.plot(score.recall, score.precision, "o", color=color, clip_on=False, label=label)
    axis.set(title="Strict correction of whole sentences", xlabel="recall", ylabel="precision", ylim=(0, 1.02))
    axis.set_xlim(left=0)
    if curves:
        axis.legend(handles=[*curves, *dots[:1]], **_LEGEND, ncols=4)
    else:
        axis.text(0.5, 0.5, "no edits in a set with errors", ha="center", transform=axis.transAxes)
