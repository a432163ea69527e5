"""``python -m corrector`` is ``electra-correct``, and this is where both begin and end."""

from __future__ import annotations

import os
import sys

_INTERRUPTED = 130  # exit.INTERRUPTED, which may not be loaded yet


def main() -> int:
    """Runs the command and returns its exit code. A Ctrl-C, also while it is still being loaded, ends the process at once."""
    try:
        from corrector.cli import main as command

        status = command()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    if status == _INTERRUPTED:
        os._exit(status)  # everything is cleaned up, but Python would wait, for many seconds, for threads that are at work
    return status


if __name__ == "__main__":
    sys.exit(main())
