"""The command line: its options and what they mean together. Data goes to standard output, every message to standard error."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from corrector.exit import FAILED, FOUND, INTERRUPTED, USAGE, run_command
from corrector.formats import NAMES
from corrector.options import LAST_GROUP, AnyPath, GroupedCommand, ModelName, not_nan, options, show_version
from corrector.progress import Messages, Progress, is_terminal, wants_color

if TYPE_CHECKING:
    from corrector.command import Plan
    from corrector.config import Settings
    from corrector.text.changes import Changes

__all__ = ["FAILED", "FOUND", "INTERRUPTED", "USAGE", "electra_correct", "main"]

_EXIT_CODES = """\b
Exit codes:
  0    done (with --check: nothing to correct)
  1    --check found something to correct
  2    the options are wrong
  123  an input or the model cannot be used; all other inputs are done
  130  interrupted; what is done stays, the current file is as it was"""

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_PROGRAM = "electra-correct"
_FILE = AnyPath()
_writing, _reading = options("What comes out"), options("What goes in")
_correcting, _telling = options("What is corrected"), options("What is said")
_setting = options(LAST_GROUP)


@click.command(cls=GroupedCommand, context_settings=_CONTEXT, epilog=_EXIT_CODES)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=_FILE)
@_writing("-o", "--output", type=_FILE, metavar="FILE", help="Write to FILE, all or nothing; it may be the input itself.")
@_writing("-w", "--write", is_flag=True, help="Correct the files in place, each all or nothing.")
@_writing("--backup", metavar="SUFFIX", help="With -w: keep the old file under its name with SUFFIX, such as .bak.")
@_writing("--track-changes", is_flag=True, help="In Word documents: as revisions, which Word's reader accepts or rejects.")
@_writing("--comments", is_flag=True, help="In Word documents: suggestions, too, as comments. In PDFs: all that is found.")
@_writing("--diff", is_flag=True, help="Write a unified diff, which patch -p1 and git apply read.")
@_writing("--check", is_flag=True, help="Write no text; exit with 1 when something would be corrected.")
@_writing(
    "--format",
    "report",
    type=click.Choice(["text", "json", "human", "html", "sarif", "github", "gitlab"]),
    metavar="NAME",
    help="text, or a report of all corrections and suggestions: json (JSON Lines), human, html, sarif, github or gitlab. [default: text "
    "for one input, human for several]",
)
@_writing("-i", "--interactive", is_flag=True, help="Ask about every correction, then write it (to FILE with -o).")
@_reading(
    "--input-format",
    "format_in",
    type=click.Choice(list(NAMES)),
    metavar="NAME",
    help=f"What all inputs are: {', '.join(NAMES)}. [default: by extension, else text]",
)
@_reading("--column", metavar="NAME", multiple=True, help="The column of CSV, TSV, Excel, JSON (Lines), YAML. Repeatable. [default: text]")
@_reading("--encoding", metavar="NAME", help="Such as gb18030. [default: UTF-8, or what it is beyond doubt]")
@_reading("--include", metavar="GLOB", multiple=True, help="In directories: these files, not the known kinds. Repeatable.")
@_reading("--exclude", metavar="GLOB", multiple=True, help="In directories: not these. Repeatable.")
@_reading("--since", metavar="REVISION", help="Only lines that git finds changed since this branch left REVISION, and new files.")
@_reading("--no-gitignore", is_flag=True, help="In directories: also what git ignores.")
@_correcting(
    "--origin",
    type=click.Choice(["typed", "ocr"]),
    metavar="NAME",
    help="Where the text is from: typed, or ocr, recognised in images, where characters look alike. [default: typed]",
)
@_correcting(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    callback=not_nan,
    metavar="FLOAT",
    help="Correct what is right with at least this probability, 0 to 1. [default: the model's own]",
)
@_correcting(
    "--profile",
    type=click.Choice(["careful", "balanced", "eager"]),
    metavar="NAME",
    help="The same by name: careful, balanced (the model's own) or eager.",
)
@_correcting("--words", type=_FILE, metavar="FILE", multiple=True, help="Words and names to leave alone, one a line. Repeatable.")
@_correcting("--confusions", type=_FILE, metavar="FILE", multiple=True, help="'错 对' lines to correct always. Repeatable.")
@_correcting("--model", type=ModelName(), metavar="MODEL", help="A model's directory or name. [default: the embedded one]")
@_correcting("--threads", type=click.IntRange(0), metavar="N", help="Processor cores to use. [default: all]")
@_correcting("--jobs", type=click.IntRange(1), metavar="N", help="Processes for files of many megabytes. [default: 1]")
@_telling("--explain", metavar="TEXT", help="Show what the model thinks of every character of TEXT (- reads it).")
@_telling("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@_telling("-v", "--verbose", is_flag=True, help="Say a line for every file, and a summary.")
@_telling(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    metavar="WHEN",
    help="Colours: auto (for terminals; obeys NO_COLOR and FORCE_COLOR), always or never. [default: auto]",
)
@_setting("--config", type=_FILE, metavar="FILE", help="Settings. [default: the nearest .electra-correct.toml or section]")
@_setting("--no-config", is_flag=True, help="Read no settings from files.")
@_setting("--show-config", is_flag=True, help="Show the settings and where each is from.")
@_setting("--version", is_flag=True, is_eager=True, expose_value=False, callback=show_version, help="Show the version.")
def electra_correct(paths: tuple[str, ...], **given: Any) -> int:
    """Correct misspelt characters in Chinese text.

    PATH is a file, a directory to search for files of known kinds, or - for standard input, which is also read when there
    is no PATH. One input's corrected text goes to standard output, in the same encoding and with everything else as it
    was. Of several inputs a report is shown and nothing is changed, unless -w is given.
    """
    settings = _settings(given)
    if given["show_config"]:
        from corrector.config import render_settings

        click.echo(render_settings(settings), nl=False)
        return 0
    color = wants_color(settings.color, None if _to_file(given["output"]) else sys.stdout)
    if given["explain"] is not None:
        for name in ("output", "write", "backup", "track_changes", "comments", "diff", "check", "report", "interactive", "since"):
            option = "format" if name == "report" else name.replace("_", "-")
            _refuse(given[name] not in (None, False), f"--explain only shows and --{option} has no say in it; leave one of them out.")
        return _explain(paths, given["explain"], settings, color)
    if not paths:
        if is_terminal(sys.stdin):
            raise click.UsageError(f"Give a file or a directory, or - to type the text here. See {_PROGRAM} --help.")
        paths = ("-",)
    plan = _plan(paths, settings, given)
    shown = is_terminal(sys.stderr) and not given["quiet"] and not given["interactive"]
    shown = shown and not (is_terminal(sys.stdout) and plan.goes_to_stdout)
    return _run(plan, Messages(given["quiet"], given["verbose"], Progress(shown)), given["interactive"], color)


def _settings(given: dict[str, Any]) -> Settings:
    """The settings of the files with those of the command line over them."""
    from corrector.config import Settings, find_settings, read_settings
    from corrector.errors import ConfigError

    if given["config"] is not None and given["no_config"]:
        raise click.UsageError("--config and --no-config exclude each other.")
    if given["min_confidence"] is not None and given["profile"] is not None:
        raise click.UsageError("--min-confidence and --profile exclude each other: a profile is a confidence.")
    names = ("model", "origin", "min_confidence", "profile", "words", "confusions", "encoding", "include", "exclude", "format_in",
             "column", "color", "backup", "threads", "jobs")  # fmt: skip
    try:
        if given["config"] is not None:
            settings = read_settings(given["config"])
        else:
            settings = Settings() if given["no_config"] else find_settings(os.curdir)
        return settings.overridden(**{name: given[name] for name in names}, gitignore=False if given["no_gitignore"] else None)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error


def _plan(paths: tuple[str, ...], settings: Settings, given: dict[str, Any]) -> Plan:
    """What the options mean together. Raises UsageError for those that exclude each other."""
    from corrector.command import Plan, lost_to_backups

    output, write, check, report = given["output"], given["write"], given["check"], given["report"]
    several = len(paths) > 1 or any(os.path.isdir(path) for path in paths)
    if given["diff"] and report is not None:
        raise click.UsageError(f"--diff and --format {report} exclude each other.")
    report = "diff" if given["diff"] else report
    if given["interactive"]:
        _refuse(check, "-i and --check exclude each other.")
        write = write or (output is None and report is None and paths != ("-",))
    _refuse(write and check, "-w and --check exclude each other.")
    _refuse(write and given["diff"], "-w and --diff exclude each other.")
    _refuse(write and "-" in paths, "-w cannot write standard input back; leave out - or -w.")
    _refuse(given["backup"] is not None and not write, "--backup goes with -w.")
    _refuse(_to_file(output) and os.path.isdir(output or ""), f"-o: {output} is a directory; name a file in it.")
    if report is None:
        shown = several or (output is None and not given["comments"] and _are_read_only(paths, settings))
        report = "human" if shown and not (write or check) else "text"
    if report == "text" and output is not None:
        _refuse(check, "--check has nothing to write to a file without --diff or --format.")
        _refuse(write, "-w and -o exclude each other, but for a report with --format.")
    if report == "text" and several and not (write or check):
        raise click.UsageError("Several inputs make no one text; pass -w, --diff or another --format.")
    if write and settings.backup:
        for path in lost_to_backups(list(filter(os.path.isfile, paths)), settings.backup):
            raise click.UsageError(f"--backup: {path}{settings.backup} is an input, which the backup would replace; take another suffix.")
    if report != "text" and _to_file(output) and any(_is_same(path, str(output)) for path in paths):
        raise click.UsageError(f"-o: {output} is an input, which the report would replace; name another file.")
    if several and output is not None and given["report"] is None and not given["diff"]:
        raise click.UsageError("-o takes one input; pass -w to correct several files, or --format for a report in FILE.")
    changes = _changes(paths, given["since"])
    plan = Plan(paths, settings, report, output, write, check, several, given["track_changes"], given["comments"], changes)
    for name in ("track_changes", "comments"):
        _refuse(given[name] and not (write or plan.text_goes_out), f"--{name.replace('_', '-')} goes with -w and -o.")
    _refuse(plan.comments and given["interactive"], "-i and --comments exclude each other: what is refused is no suggestion any more.")
    return plan


def _changes(paths: tuple[str, ...], revision: str | None) -> Changes | None:
    """What differs from a revision. Raises UsageError where git does not know that."""
    if revision is None:
        return None
    from corrector.errors import InputError
    from corrector.text.changes import Changes

    _refuse("-" in paths, "--since goes with files and directories; standard input has no history.")
    changes = Changes(revision)
    for path in paths:
        try:
            changes.look_at(path)
        except InputError as error:
            raise click.UsageError(str(error)) from error
    return changes


def _are_read_only(paths: tuple[str, ...], settings: Settings) -> bool:
    """Whether there is no corrected text of any of these inputs."""
    from corrector.formats import READ_ONLY, format_name

    return all(format_name(path, settings.format_in) in READ_ONLY for path in paths)


def _is_same(path: str, output: str) -> bool:
    """Whether both are one file; a directory is none."""
    try:
        return os.path.isfile(path) and os.path.samefile(path, output)
    except (OSError, ValueError):  # one of them is not there
        return False


def _refuse(wrong: bool, message: str) -> None:
    if wrong:
        raise click.UsageError(message)


def _to_file(output: str | None) -> bool:
    return output not in (None, "-")


def _run(plan: Plan, messages: Messages, interactive: bool, color: bool) -> int:
    from corrector.command import Run
    from corrector.session import open_corrector, open_report, reviewing

    with contextlib.ExitStack() as stack:

        def make() -> Any:
            corrector: Any
            if interactive or plan.settings.jobs == 1:
                corrector = open_corrector(plan.settings, new_words=interactive)
            else:
                from corrector.parallel import ParallelCorrector

                corrector = stack.enter_context(ParallelCorrector(plan.settings, plan.settings.jobs))
            return corrector, open_report(plan.report, corrector, color)

        if not interactive:
            return Run(plan, make, messages).run()
        reviewer = stack.enter_context(reviewing(plan.settings))
        return Run(plan, make, messages, reviewer.review).run(lambda: reviewer.quit)


def _explain(paths: tuple[str, ...], text: str, settings: Settings, color: bool) -> int:
    """Explains ``text``, or with ``-`` what stands on standard input."""
    if paths:
        raise click.UsageError("--explain TEXT takes no PATH; --explain - reads the text from standard input.")
    from corrector.explain import explain
    from corrector.outputs import StandardOutput
    from corrector.session import open_corrector, read_text

    if text == "-":
        text = read_text(settings)
    StandardOutput().write(explain(open_corrector(settings), text, color).encode("utf-8", "backslashreplace"))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with ``arguments`` (default: the process's own) and returns its exit code."""
    return run_command(electra_correct, arguments, _PROGRAM)
