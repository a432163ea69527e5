"""The model card: everything a manifest knows, as a page to read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

NONE = "–"
LEDGER_KEYS = ("corpus", "network", "runs")  # of the training ledger, besides the notes in it
_FIGURES = (
    ("P", "strict_correction.precision"),
    ("R", "strict_correction.recall"),
    ("F1", "strict_correction.f1"),
    ("detection F1", "strict_detection.f1"),
    ("character F1", "character_correction.f1"),
    ("FPR", "false_positive_rate"),
)


def render_card(manifest: Mapping[str, Any]) -> str:
    """The model card in Markdown; a section without facts in the manifest says so instead of being left out."""
    sections = (
        _head(manifest),
        _use(manifest),
        _scores(manifest.get("scores") or ()),
        _sources(manifest.get("sources") or ()),
        _training(manifest.get("training") or {}),
        _calibration("Ranker", manifest.get("calibration") or {}),
        *(
            _calibration(f"Ranker for text from {origin}", own.get("calibration") or {}, own.get("thresholds") or {})
            for origin, own in (manifest.get("origins") or {}).items()
        ),
        _continue(str(manifest["name"])),
        _files(manifest["files"]),
    )
    return "\n\n".join(sections) + "\n"


def _head(manifest: Mapping[str, Any]) -> str:
    network = (manifest.get("training") or {}).get("network") or {}
    parameters = network.get("parameters")
    size = f" They share an encoder; the discriminator has {parameters / 1e6:.1f} million parameters." if parameters else ""
    made_with = (manifest.get("code") or {}).get("made_with", NONE)
    return "\n\n".join(
        (
            f"# {manifest['name']} {manifest['version']}",
            "A pair of Chinese ELECTRA networks that correct misspelt characters: a discriminator that tells for every character"
            " whether it was replaced, and a generator that says what stood there. One token is one character; token types carry"
            f" marks of known words and pairs and of how well each character fits its neighbours and the words around.{size} A"
            " log-linear ranker (`ranker.json`) weighs the generator against sound, shape and word formation and gives a calibrated"
            " probability.",
            f"Licence {manifest['licence']}. Made with electra-correct {made_with}. This page is generated from `manifest.json`.",
        )
    )


def _use(manifest: Mapping[str, Any]) -> str:
    limits = manifest.get("thresholds") or {}
    chosen = limits.get("min_confidence", NONE)
    look = limits.get("look_threshold", NONE)
    return "\n".join(
        (
            "## Use and limits",
            "",
            "For proofreading simplified Chinese prose: wrong characters of equal number (同音, 近音, 形近, mistyped words).",
            "",
            "- It changes nothing but Han characters, and never the length: missing, extra and misordered characters, grammar and"
            " facts are out of reach.",
            "- Rare names, classical and dialect text, verse and jargon draw false alarms; a correction is a proposal to check.",
            "- Traditional text, and characters outside `vocab.txt`, were not trained on.",
            "- Not for judging people by their writing, nor for changing legal or medical text unseen.",
            "",
            f"Characters with a probability of at least {look} of being replaced, or that their marks make suspicious beside it, are looked"
            f" into; corrections that are right with a probability of at least {chosen} are made, others only suggested.",
        )
    )


def _scores(scores: Sequence[Mapping[str, Any]]) -> str:
    if not scores:
        return "## Scores\n\nNone were recorded for this state of the model."
    rows = []
    for score in scores:
        figures = [percent(score["figures"].get(key)) for _, key in _FIGURES]
        rows.append([score["set"], f"{score['rows']:,}", f"{score['erroneous']:,}", *figures])
    names = [name for name, _ in _FIGURES]
    signatures = [f"- `{score['signature']}`" for score in scores]
    return "\n".join(
        (
            "## Scores",
            "",
            "Percent; P, R and F1 are strict sentence-level correction, FPR the error-free sentences that were changed.",
            "",
            *table(["set", "rows", "erroneous", *names], rows),
            "",
            "Signatures:",
            "",
            *signatures,
        )
    )


def _sources(sources: Sequence[Mapping[str, Any]]) -> str:
    title = "## Training text\n\n"
    if not sources:
        return title + "The sources were not recorded."
    rows = [
        [
            str(source.get("register", NONE)),
            str(source.get("name", NONE)),
            str(source.get("million_characters", NONE)),
            ", ".join(source.get("repositories", ())) or NONE,
            str(source.get("licence", NONE)),
        ]
        for source in sources
    ]
    return (
        f"{title}A repository's licence does not always cover the text in it: treat the text as research data; none is shipped.\n\n"
        + "\n".join(table(["register", "source", "M characters", "repositories", "licence"], rows))
    )


def _training(training: Mapping[str, Any]) -> str:
    lines = ["## Training ledger", ""]
    if not training:
        return "\n".join((*lines, "Not recorded."))
    corpus, network = training.get("corpus") or {}, training.get("network") or {}
    if corpus:
        lines.append(
            f"- Corpus: {corpus['tokens']:,} tokens, {corpus['characters']:,} Han characters, SHA-256 `{corpus['sha256']}`"
        )
    if network:
        shape = ", ".join(f"{key} {value}" for key, value in network.items())
        lines.append(f"- Network: {shape}")
    before: Mapping[str, Any] = {}
    for number, run in enumerate(training.get("runs", ()), 1):
        lines += _run(number, run, before)
        before = run
    lines += [f"- {key}: {value}" for key, value in training.items() if key not in LEDGER_KEYS]
    return "\n".join(lines)


def _run(number: int, run: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """A run's lines: the first one's settings in full, of the others what differs from the run before."""
    told = ", but ".join(filter(None, ("as before" if before else "", _differing(_settings(run), _settings(before)))))
    lines = [f"- Run {number}: {run['tokens']:,} tokens seen{'; ' if told else ''}{told}"]
    noise = _differing(run.get("noise") or {}, before.get("noise") or {})
    lines += [f"  - Errors made: {noise}"] if noise else []
    sets, earlier = _labelled(run.get("pairs") or ()), _labelled(before.get("pairs") or ())
    return [*lines, f"  - Labelled sets: {sets or 'none'}"] if sets != earlier else lines


def _settings(run: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in run.items() if key not in ("tokens", "noise", "pairs")}


def _differing(settings: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    new = [f"{key} {value}" for key, value in settings.items() if key not in before or before[key] != value]
    return ", ".join((*new, *(f"no {key}" for key in before if key not in settings)))


def _labelled(pairs: Sequence[Mapping[str, Any]]) -> str:
    """The sets with their rows and weights; files of one set, told apart by a number (``slips.0.tsv``), as one."""
    rows: Counter[tuple[str, float]] = Counter()
    for pair in pairs:
        rows[re.sub(r"\.\d+(?=\.\w+$)", ".*", pair["name"]), pair["weight"]] += pair["rows"]
    return "; ".join(f"{name}: {count:,} rows, weight {weight:g}" for (name, weight), count in rows.items())


def _calibration(
    title: str, calibration: Mapping[str, Sequence[Mapping[str, Any]]], limits: Mapping[str, float] | None = None
) -> str:
    lines = [f"## {title}", ""]
    if not calibration:
        return "\n".join((*lines, "What it was fitted on was not recorded."))
    held_back = "Check fitted too, calibrated and thresholds chosen (fifth by fifth, with a check fitted on the others), on"
    for key, said in (("fit", "Fitted on"), ("held_back", held_back), ("slips", "Slips counted in")):
        sets = [f"{item['name']} ({item['rows']:,} rows{_weight(item)})" for item in calibration.get(key, ())]
        lines += [f"- {said}: {', '.join(sets)}"] if sets else []
    lines += [f"- Corrections that are right with a probability of at least {limits['min_confidence']} are made"] if limits else []
    return "\n".join(lines)


def _weight(item: Mapping[str, Any]) -> str:
    return f", weight {item['weight']:g}" if item.get("weight", 1) != 1 else ""


def _continue(name: str) -> str:
    return f"""## Going on with training

A few hundred labelled pairs adapt this model to a field (the networks, in 8 bits or halved, are read back for it):

    python -m corrector.train finetune pairs.tsv --from {name} --out {name}-adapted

A long run goes on from a checkpoint of the training commands:

    python -m corrector.train pack --raw 'raw-*.txt' --clean 'clean-*.txt' --out corpus
    python -m corrector.train pretrain --data corpus --out runs/pretrain
    python -m corrector.train finetune pairs.tsv --from runs/pretrain/checkpoint.pt --data corpus --out runs/finetune
    python -m corrector.train export --checkpoint runs/finetune/checkpoint.pt --data corpus --out {name} --name {name}
    python -m corrector.train calibrate --model {name} --pairs fit.tsv --held-back dev.tsv --slips pairs.tsv

`pretrain` and `finetune` with `--data` go on where they were stopped when they are given again."""


def _files(files: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [[f"`{name}`", f"{entry['bytes']:,}", f"`{entry['sha256']}`"] for name, entry in files.items()]
    return "\n".join(("## Files", "", *table(["file", "bytes", "SHA-256"], rows)))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines]


def percent(value: float | None) -> str:
    """A share in percent, ``NONE`` where it is not known."""
    return NONE if value is None else f"{100 * value:.1f}"
