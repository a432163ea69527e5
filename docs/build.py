"""Rewrites what is generated: the manual page, and in the README the help text and the scores of the embedded model; builds the reference.

    python docs/build.py                   writes all of it
    python docs/build.py --check           writes nothing; exits with 1 when some is out of date
    python docs/build.py --api build/api   the reference of the library as HTML; needs the extra [docs]
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import corrector  # noqa: E402
from corrector.cli import electra_correct  # noqa: E402
from corrector.options import LAST_GROUP  # noqa: E402
from corrector.train.card import percent, table  # noqa: E402

README, MANUAL = ROOT / "README.md", ROOT / "docs" / "man" / "electra-correct.1"
MANIFEST = ROOT / "data" / "electra_models" / "electra-csc-zh" / "manifest.json"
WIDTH = 98  # columns of the help text in the README: as wide as a terminal shows it

MODULES = ("pipeline", "types", "errors", "apply", "words", "confusions", "config", "formats", "text.script")

SETS = {
    "sighan15.test": "SIGHAN 2015 test, learner essays", "cscd-ns.dev": "CSCD-NS dev, native typing", "lemon.car.test": "LEMON CAR",
    "lemon.new.test": "LEMON NEW", "ecspell.med.test": "ECSpell MED", "mcsc.dev": "MCSC dev, medical search queries",
    "macro.acc_xxqg.train": "error-free news (acc_xxqg)", "sentences": "`eval/sentences.tsv`, this project",
    "traps": "`eval/traps.tsv`, this project",
    "traditional": "`eval/traditional.tsv`, this project",
    "varieties": "`eval/varieties.tsv`, this project",
}  # fmt: skip
"""The sets in the table of results, in order."""
_FIGURES = (
    "strict_correction.precision", "strict_correction.recall", "strict_detection.f1", "official_correction.f1", "unchanged_share",
)  # fmt: skip
_HEAD = (
    "set", "sentences", "strict F1 (95 %)", "precision", "recall", "strict detection F1", "official F1", "left unchanged",
)  # fmt: skip

_EXAMPLES = (
    ("Correct standard input, line by line:", "echo '请住意查收。' | electra-correct"),
    ("See what would change in a directory:", "electra-correct docs --diff"),
    ("Correct files in place:", "electra-correct --write docs/*.md"),
    ("Fail where there is something to correct:", "electra-correct --check ."),
    ("The same for what this branch has changed:", "electra-correct --check --since origin/main ."),
)


def context() -> click.Context:
    return click.Context(electra_correct, info_name="electra-correct", terminal_width=WIDTH, help_option_names=["-h", "--help"])


def help_text() -> str:
    """What ``electra-correct --help`` shows in a wide terminal."""
    with context() as current:
        return current.get_help() + "\n"


def results() -> str:
    """The table of results, from the scores in the manifest of the embedded model."""
    rows = []
    for row in _scores():
        f1 = percent(row["figures"]["strict_correction.f1"])
        if "strict_correction.f1" in row["intervals"]:
            f1 += f" ({'–'.join(map(percent, row['intervals']['strict_correction.f1']))})"
        rows.append((SETS[row["set"]], f"{row['rows']:,}", f1, *(percent(row["figures"][name]) for name in _FIGURES)))
    return "\n".join((*table(_HEAD, rows), ""))


def signatures() -> str:
    """The signatures of these results."""
    return "".join(f"{row['signature']}\n" for row in _scores())


def _scores() -> list[dict[str, Any]]:
    """Raises ValueError when a set is missing."""
    scores = {row["set"]: row for row in json.loads(MANIFEST.read_text("utf-8"))["scores"]}
    missing = SETS.keys() - scores.keys()
    if missing:
        raise ValueError(f"{MANIFEST.relative_to(ROOT)} has no scores of {', '.join(sorted(missing))}")
    return [scores[name] for name in SETS]


BLOCKS: dict[str, tuple[str, str, Callable[[], str]]] = {
    "HELP": ("```text\n", "```\n", help_text), "RESULTS": ("", "", results), "SIGNATURES": ("```\n", "```\n", signatures),
}  # fmt: skip
"""The blocks of the README by the name in their markers: what stands around the text, and the text."""


def readme(text: str) -> str:
    """The README with today's blocks. Raises ValueError when its markers are not there."""
    for name, (before, after, made) in BLOCKS.items():
        block = re.compile(f"(?<=<!-- {name}: begin -->\n{before}).*?(?={after}<!-- {name}: end -->)", re.DOTALL)
        if len(block.findall(text)) != 1:
            raise ValueError(f"README.md has no single <!-- {name}: begin --> … <!-- {name}: end --> block of text")
        text = block.sub(lambda _, made=made: made(), text)
    return text


def manual_page() -> str:
    """The manual page, section 1, as roff."""
    with context() as current:
        return "\n".join(_manual_lines(current)) + "\n"


def _manual_lines(current: click.Context) -> Iterator[str]:
    command = current.command
    summary, *paragraphs = [" ".join(text.split()) for text in (command.help or "").split("\n\n")]
    yield r'.\" Generated by docs/build.py from the options in corrector/cli.py; do not edit.'
    yield f'.TH ELECTRA\\-CORRECT 1 "" "electra-correct {corrector.__version__}" "User Commands"'
    yield from (".SH NAME", rf"electra\-correct \- {_roff(summary[:1].lower() + summary[1:].rstrip('.'))}")
    yield from (".SH SYNOPSIS", r".B electra\-correct", _roff(" ".join(command.collect_usage_pieces(current))))
    yield from (".SH DESCRIPTION", _roff(summary))
    for paragraph in paragraphs:
        yield from (".PP", _roff(paragraph))
    yield ".SH OPTIONS"
    yield from _option_lines(current)
    yield ".SH EXIT STATUS"
    for code, meaning in re.findall(r"^ +(\d+) +(.+)$", command.epilog or "", re.MULTILINE):
        yield from (".TP", code, _roff(meaning))
    yield ".SH EXAMPLES"
    for purpose, example in _EXAMPLES:
        yield from (".PP", _roff(purpose), ".PP", ".RS", ".nf", _roff(example), ".fi", ".RE")


def _option_lines(current: click.Context) -> Iterator[str]:
    groups: dict[str, list[tuple[str, str]]] = {}
    for parameter in current.command.get_params(current):
        row = parameter.get_help_record(current)
        if row is not None and row[1]:
            groups.setdefault(getattr(parameter, "group", LAST_GROUP), []).append(row)
    for title, rows in groups.items():
        if len(groups) > 1:
            yield f".SS {_roff(title)}"
        for names, text in rows:
            yield from (".TP", f".B {_roff(names)}", _roff(" ".join(text.split())))


def _roff(text: str) -> str:
    """A line of text as roff prints it, in ASCII: no escapes, no requests, plain hyphens and quotes."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("`", r"\(ga")
    escaped = re.sub(r"[^\x00-\x7f]", lambda char: rf"\[u{ord(char[0]):04X}]", escaped)
    return rf"\&{escaped}" if escaped.startswith(".") else escaped


def build_api(folder: Path) -> None:
    """The reference of the public names and of the modules behind them. Raises UserWarning for what does not resolve."""
    from pdoc import pdoc

    warnings.simplefilter("error", UserWarning)
    for name in corrector.__all__:  # pdoc looks only at what is loaded
        setattr(corrector, name, getattr(corrector, name))
    pdoc("corrector", *(f"corrector.{module}" for module in MODULES), output_directory=folder)


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--api"]:
        build_api(Path(arguments[1]))
        return 0
    current = {README: readme(README.read_text("utf-8")), MANUAL: manual_page()}
    stale = [path for path, text in current.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        if "--check" in arguments:
            sys.stdout.write(f"{path.relative_to(ROOT)} is out of date; run: python docs/build.py\n")
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(current[path], "utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
