"""``electra-correct-lsp``: the language server over standard input and output."""

from __future__ import annotations

import sys

import click

from corrector import __version__
from corrector.exit import run_command

_EXTRA = dict.fromkeys(("pygls", "lsprotocol"), "pip install electra-correct[lsp]")


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--stdio", is_flag=True, help="Speak over standard input and output, as is always done.")
@click.version_option(__version__, message="%(prog)s %(version)s")
def command(**_: bool) -> int:
    """Serve editors: show misspelt characters in Chinese text as it is typed, and correct them.

    Editors start it by themselves; docs/integration.md says how some are told. Settings are those of the project that a file is in
    (.electra-correct.toml or a section), and over them the initialization options of the same names.
    """
    from corrector.lsp.server import serve

    serve()
    return 0


def main() -> None:
    """Runs the command and exits with its code."""
    sys.exit(run_command(command, None, "electra-correct-lsp", _EXTRA))


if __name__ == "__main__":
    main()
