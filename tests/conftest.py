"""What holds for every test."""

from __future__ import annotations

import os
import signal

import pytest


def pytest_configure() -> None:
    """Ctrl-C and a closed terminal end the processes that tests start, also where a shell or ``nohup`` has these ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    hangup = getattr(signal, "SIGHUP", None)  # POSIX
    if hangup is not None and signal.getsignal(hangup) is signal.SIG_IGN:
        signal.signal(hangup, lambda *_: None)  # ours goes on, and theirs have none of our handlers


@pytest.fixture(scope="session", autouse=True)
def without_the_users_git(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What whoever runs the tests has git ignore everywhere is not left out here."""
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
