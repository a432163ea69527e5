"""Where settings are written: the nearest file of three kinds, and the values it gives, not yet checked."""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from corrector.errors import ConfigError

SECTION = "electra-correct"
OWN_FILE, SETUP_FILE = f".{SECTION}.toml", "setup.cfg"


def nearest_values(start: Path) -> tuple[Path, Mapping[str, Any]] | None:
    """The file that decides for a file or folder, and its values: of the nearest folder that has one; None without any.

    In one folder ``.electra-correct.toml`` goes before ``pyproject.toml`` before ``setup.cfg``; the latter two count only
    with a section of ours. Raises ConfigError for a file that cannot be read or parsed, unless it never mentions us.
    """
    for folder in (start, *start.parents):
        for name, read in _READERS.items():
            text = _text_of(folder / name)
            values = None if text is None else read(folder / name, text)
            if values is not None:
                return folder / name, values
    return None


def values_of(path: Path) -> tuple[Path, Mapping[str, Any]]:
    """A file that was asked for and its values. TOML may have them in ``[tool.electra-correct]`` or by themselves.

    Raises ConfigError for a file that cannot be read or parsed, and for an INI file without a section of ours.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(path, "encoding", f"not valid UTF-8 (byte {error.start}); save it as UTF-8") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(path, "file", f"cannot be read: {reason[:1].lower()}{reason[1:]}") from error
    if not is_ini(path):
        section = _pyproject(path, text)
        return path, _toml(path, text) if section is None else section
    values = _setup_cfg(path, text)
    if values is None:
        raise ConfigError(path, SECTION, f"there is no section [{SECTION}] in it")
    return path, values


def is_ini(path: Path) -> bool:
    """Whether a file is read like ``setup.cfg`` and not as TOML."""
    return path.suffix.lower() in (".cfg", ".ini")


def _text_of(path: Path) -> str | None:
    """The content of a file; None where there is none, or none that could have settings of ours."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):  # ValueError: a NUL in the name
        return None
    except OSError as error:
        if not os.access(path.parent, os.X_OK):  # a closed folder further up
            return None
        raise ConfigError(path, "file", f"cannot be read: {(error.strerror or str(error)).lower()}") from error
    if path.name != OWN_FILE and SECTION.encode() not in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(path, "encoding", f"not valid UTF-8 (byte {error.start}); save it as UTF-8") from None


def _pyproject(path: Path, text: str) -> Mapping[str, Any] | None:
    tools = _toml(path, text).get("tool")
    section = tools.get(SECTION) if isinstance(tools, dict) else None
    if section is not None and not isinstance(section, dict):
        raise ConfigError(path, f"tool.{SECTION}", "must be a table of settings")
    return section


def _setup_cfg(path: Path, text: str) -> Mapping[str, Any] | None:
    parser = configparser.ConfigParser(interpolation=None, default_section="\0")
    try:
        parser.read_string(text, str(path))
    except configparser.Error as error:
        raise ConfigError(path, "syntax", " ".join(str(error).split())) from None
    return dict(parser[SECTION]) if parser.has_section(SECTION) else None


def _toml(path: Path, text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
        raise ConfigError(path, "syntax", f"not valid TOML: {error}") from None


_READERS: Mapping[str, Callable[[Path, str], Mapping[str, Any] | None]] = {
    OWN_FILE: _toml,
    "pyproject.toml": _pyproject,
    SETUP_FILE: _setup_cfg,
}
