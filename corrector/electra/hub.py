"""Fetching a network by its hub name, through transformers and its cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from corrector.errors import ModelError


def download(repository: str, files: Sequence[str], weights: Sequence[str]) -> Path:
    """The local directory with all of ``files`` and the first of ``weights`` that the repository has.

    Files in the cache are not fetched again. Raises ModelError without transformers, without a network, or for a
    repository that does not exist or lacks one of ``files``.
    """
    try:
        from transformers.utils.hub import cached_file
    except ImportError as error:
        message = "no such directory; to load it from a hub, install electra-correct[torch]"
        raise ModelError(repository, message) from error
    try:
        found = [cached_file(repository, name) for name in files]
        for name in weights:
            if cached_file(repository, name, _raise_exceptions_for_missing_entries=False) is not None:
                break
    except Exception as error:  # OSError, the HTTP library's and the client's own errors all mean the same here
        reason = str(error).strip().partition("\n")[0]
        message = f"cannot be fetched from the hub ({reason}); download both networks and give their directory"
        raise ModelError(repository, message) from error
    return Path(str(found[0])).parent
