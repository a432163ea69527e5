"""The result as Markdown tables and as a plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import OWN
from benchmarks.shares import MODEL, NETWORKS, STAGES
from benchmarks.timing import Spread


def markdown(result: Mapping[str, Any]) -> str:
    """All of the result that people read."""
    return "\n".join(_lines(result)) + "\n"


def plot(result: Mapping[str, Any], path: Path) -> None:
    """Speeds, curves and shares in one picture. Raises ImportError without matplotlib."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(15, 4.5), layout="constrained")
    _plot_speeds(axes[0], result.get("side by side", {}).get("texts", {}))
    for name, curve in result.get("scaling", {}).items():
        points = [(point["size"], point["seconds"]) for point in curve["points"] if point["size"]]
        axes[1].loglog(*zip(*points, strict=True), "o-", label=f"{name} (exponent {curve['exponent']})")
    axes[1].set(title="Time against size", xlabel="size", ylabel="seconds")
    if result.get("scaling"):
        axes[1].legend(fontsize="small")
    _plot_shares(axes[2], result.get("profile", {}).get("stages", {}))
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _plot_speeds(axis: Any, compared: Mapping[str, Any]) -> None:
    for offset, (name, text) in zip((-0.2, 0.2), compared.items(), strict=False):
        names = list(text["contenders"])
        speeds = [text["contenders"][one]["sentences/s"] for one in names]
        middles = [speed["median"] for speed in speeds]
        ends = [[s["median"] - s["min"] for s in speeds], [s["max"] - s["median"] for s in speeds]]
        axis.barh([number + offset for number in range(len(names))], middles, 0.38, xerr=ends, label=f"{name} text")
        axis.set_yticks(range(len(names)), names, fontsize="small")
    axis.set(title="Sentences of about 40 characters a second", xscale="log")
    if compared:
        axis.legend(fontsize="small")


def _plot_shares(axis: Any, profile: Mapping[str, Mapping[str, float]]) -> None:
    for number, stages in enumerate(profile.values()):
        left, total = 0.0, sum(stages.values())
        for color, taken in enumerate(stages.values()):
            axis.barh(number, 100 * taken / total, left=left, color=f"C{color}")
            left += 100 * taken / total
    axis.set_yticks(range(len(profile)), list(profile))
    axis.set(title="Share of the time by stage", xlabel="%")
    stages = list(next(iter(profile.values()), ()))
    axis.legend(stages, fontsize="x-small", ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.15))


def _lines(result: Mapping[str, Any]) -> Iterator[str]:
    machine = result["machine"]
    yield f"# electra-correct {result['version']}, model {result['model']}, {result['date']}"
    yield ""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version)
    yield f"{machine['cpu']}, {machine['cores used']} of {machine['cores']} cores used; {machine['system']};"
    yield f"Python {machine['python']}, {versions}."
    yield f"Load average before: {_list(result['load before'])}; after: {_list(result['load after'])}."
    yield "Medians, with least and greatest."
    if compared := result.get("side by side"):
        yield from _compared(compared)
    if scaling := result.get("scaling"):
        yield from ("", "## Time against size", "")
        yield from _table(
            ("size", "exponent", "fitted from", "points: size → seconds"),
            [(name, curve["exponent"], f"{curve['fitted from']:,}", _points(curve["points"])) for name, curve in scaling.items()],
        )
    if profile := result.get("profile"):
        yield from _profiled(profile)
    yield from _outside(result)


def _compared(compared: Mapping[str, Any]) -> Iterator[str]:
    for name, text in compared["texts"].items():
        yield from ("", f"## Side by side, {name} text: {compared['items']} sentences, {text['characters']:,} characters", "")
        columns = ("sentences/s", "characters/s", f"time against {OWN}")
        rows = [
            (f"{one}: {compared['notes'][one]}", *(_told(found[column]) for column in columns))
            for one, found in text["contenders"].items()
        ]
        yield from _table(("", *columns), rows)
    for name, reason in compared["skipped"].items():
        yield from ("", f"Skipped: {name}, because {reason}.")


def _profiled(profile: Mapping[str, Any]) -> Iterator[str]:
    stages, passes = profile["stages"], profile["passes"]
    totals = {name: sum(taken.values()) for name, taken in stages.items()}
    rows = [(stage, *(f"{100 * taken[stage] / totals[name]:.1f} %" for name, taken in stages.items())) for stage in STAGES]
    for what, inside in (("networks", NETWORKS), ("networks and the corpus counts", MODEL)):
        outside = (sum(taken[stage] for stage in STAGES if stage not in inside) / totals[name] for name, taken in stages.items())
        rows.append((f"**all but the {what}**", *(f"**{100 * share:.1f} %**" for share in outside)))
    yield from ("", "## Share of the time by stage, on one core", "")
    yield from _table(("stage", *(f"{name} text" for name in stages)), rows)
    for name, speeds in passes.items():
        share = 100 * speeds["ours"] / speeds["bare"]
        yield from ("", f"{name} text: the pipeline's first readings run at {share:.0f} % of the speed of bare onnxruntime "
                    f"({speeds['ours']:.0f} of {speeds['bare']:.0f} windows/s).")  # fmt: skip


_KINDS = {"megabytes": 0, "seconds": 1, "processor seconds": 1}


def _outside(result: Mapping[str, Any]) -> Iterator[str]:
    if start_up := result.get("start-up"):
        yield from ("", "## Start-up, whole processes", "")
        yield from _table(("", "seconds"), [(name, _told(spread)) for name, spread in start_up.items()])
    if jobs := result.get("jobs"):
        yield from ("", f"## Processes and threads: a file of {jobs['megabytes']:g} MB through the command, start included", "")
        rows = [(name, _told(found["seconds"]), _told(found["speed-up"])) for name, found in jobs["ways"].items()]
        yield from _table(("", "seconds", "speed-up over one thread"), rows)
    if memory := result.get("memory"):
        yield from ("", "## Peak resident memory, and the time of the command", "")
        rows = [(name, *(f"{found[kind]:.{digits}f}" for kind, digits in _KINDS.items())) for name, found in memory.items()]
        yield from _table(("", "MB", "seconds", "processor seconds"), rows)
    if sizes := result.get("size"):
        yield from ("", "## Size", "")
        yield from _table(("", "MB"), [(name, f"{size:.1f}") for name, size in sizes.items() if isinstance(size, float)])
        if "skipped" in sizes:
            yield from ("", f"Skipped: {sizes['skipped']}")
        needed = ", ".join(f"{name} {size:.1f}" for name, size in sizes["requirements"].items() if size >= 0.05)
        yield from ("", f"Of which requirements: {needed}.")


def _table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    yield "| " + " | ".join(map(str, head)) + " |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield "| " + " | ".join(map(str, row)) + " |"


def _told(values: Mapping[str, Any]) -> str:
    return Spread(values["median"], values["min"], values["max"], values["rounds"]).told()


def _points(points: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{point['size']:,} → {point['seconds']:.3g}" for point in points)


def _list(values: Sequence[float]) -> str:
    return " ".join(map(str, values)) or "not known"
