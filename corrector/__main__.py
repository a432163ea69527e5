"""``python -m corrector`` is ``electra-correct``, and this is where both begin."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command and returns its exit code, also for a Ctrl-C while it is still being loaded."""
    try:
        from corrector.cli import main as command

        return command()
    except KeyboardInterrupt:
        return 130  # exit.INTERRUPTED, which may not be loaded yet


if __name__ == "__main__":
    sys.exit(main())
