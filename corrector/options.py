"""How the options are shown in groups, checked and completed. The options themselves are in cli.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

LAST_GROUP = "Settings and help"
"""Where the option for the help itself is listed."""

_WIDEST = 26  # columns for the names of an option


class GroupedOption(click.Option):
    """An option that the help lists under a title; ranges are told in words, if at all."""

    def __init__(self, *arguments: Any, group: str, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.group = group

    def get_help_extra(self, ctx: click.Context) -> Any:
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class GroupedCommand(click.Command):
    """A command whose help lists the options by group, all in the same two columns."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None and isinstance(parameter, click.Option):
                groups.setdefault(getattr(parameter, "group", LAST_GROUP), []).append(row)
        width = min(_WIDEST, max(len(names) for rows in groups.values() for names, _ in rows))
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl([(names.ljust(width), text) for names, text in rows], col_max=width)


def options(group: str) -> Callable[..., Callable[[Any], Any]]:
    """A maker of options of one group."""

    def option(*arguments: Any, **settings: Any) -> Callable[[Any], Any]:
        return click.option(*arguments, cls=GroupedOption, group=group, **settings)

    return option


def not_nan(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    """Refuses the one float that every range lets through."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is not in the range 0<=x<=1.")
    return value


def show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Prints the version and ends."""
    if wanted and not context.resilient_parsing:
        from corrector import __version__

        click.echo(f"electra-correct {__version__}")
        context.exit()


class AnyPath(click.Path):
    """A path, whether it is there or not, or ``-``; as it was typed, even if it is no text."""

    def __init__(self) -> None:
        super().__init__(allow_dash=True, path_type=str)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value:
            self.fail("a path cannot be empty.", param, ctx)
        if "\0" in value:
            self.fail("a path cannot have a NUL in it.", param, ctx)
        return value


class ModelName(click.ParamType):  # type: ignore[type-arg]  # generic only in later versions of click than the oldest supported
    """A model's name or directory; completed from the models that are there, then from the directories."""

    name = "model"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from corrector.electra.model_dir import model_places

        found = {path.name for place in model_places() if place.is_dir() for path in place.iterdir() if path.is_dir()}
        named = [CompletionItem(name) for name in sorted(found) if name.startswith(incomplete) and name[0] not in "._"]
        return [*named, CompletionItem(incomplete, type="dir")]
