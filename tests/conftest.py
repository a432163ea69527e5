"""What holds for every test."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Ctrl-C works in the processes that tests start, also where a shell runs the tests in the background and has it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
