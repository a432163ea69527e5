"""``python -m corrector`` is ``electra-correct``."""

from __future__ import annotations

import sys

from corrector.cli import main

if __name__ == "__main__":
    sys.exit(main())
