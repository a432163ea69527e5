"""What holds for every test."""

from __future__ import annotations

import os
import signal

import pytest


def pytest_configure() -> None:
    """Ctrl-C works in the processes that tests start, also where a shell runs the tests in the background and has it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def without_the_users_git(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What whoever runs the tests has git ignore everywhere is not left out here."""
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
