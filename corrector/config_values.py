"""What the value of a setting may be, from a file or the command line, and how it is written as TOML."""

from __future__ import annotations

import configparser
import json
import re
from collections.abc import Callable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

from corrector.errors import ConfigError
from corrector.formats import NAMES
from corrector.types import ORIGINS

PROFILES: Mapping[str, float | None] = {"careful": 0.8, "balanced": None, "eager": 0.3}
"""The confidence each profile asks for; None is the model's own. A model may say better in its ranker's ``profiles``."""

COLORS = ("auto", "always", "never")

MOST = 1024
"""No more threads, and no more processes, than these: a greater number is a slip, and starting so many would fail late."""


def checked(file: str | Path, name: str, key: str, value: Any) -> Any:
    """The value of setting ``name``, lists as tuples. Raises ConfigError, with ``file`` and ``key``, for any other type or range."""
    return _CHECKS[name](file, key, value)


def from_text(name: str, value: str) -> Any:
    """What the text in an INI file stands for: a number, a switch, the items of a list; the text itself if it is neither."""
    check = _CHECKS[name]
    if check is _switch:
        return configparser.ConfigParser.BOOLEAN_STATES.get(value.lower(), value)
    try:
        return float(value) if check is _confidence else int(value) if check in (_threads, _jobs) else value
    except ValueError:
        return value


def to_toml(value: str | float | bool | tuple[str, ...]) -> str:
    """A value as TOML writes it, on one line."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(to_toml, value))}]"
    return re.sub("[\x7f\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def _text(file: str | Path, key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ConfigError(file, key, f"must be a text that is not empty, not {_shown(value)}")
    return value


def _suffix(file: str | Path, key: str, value: Any) -> str:
    if "/" in _text(file, key, value) or "\\" in value:
        raise ConfigError(file, key, f"must be a suffix such as .bak, not the path {value!r:.60}")
    return str(value)


def _texts(file: str | Path, key: str, value: Any) -> tuple[str, ...]:
    """A list of texts; one text alone is split into its lines or, when it is but one, at its commas."""
    if isinstance(value, str):
        lines = value.strip().splitlines()
        items = [item.strip() for item in (lines if len(lines) > 1 else value.split(","))]
        value = [item for item in items if item] if value.strip() else [value]
    if not isinstance(value, (list, tuple)):
        raise ConfigError(file, key, f"must be a list of texts, not {_shown(value)}")
    return tuple(_text(file, key, item) for item in value)


def _encoding(file: str | Path, key: str, value: Any) -> str:
    from corrector.text.decode import AUTO, canonical

    if _text(file, key, value) != AUTO:
        try:
            canonical(value)
        except LookupError as error:
            raise ConfigError(file, key, str(error)) from None
    return str(value)


def _format(file: str | Path, key: str, value: Any) -> str:
    return _one_of(NAMES, file, key, value)


def _patterns(file: str | Path, key: str, value: Any) -> tuple[str, ...]:
    items = _texts(file, key, value)
    if items:
        from corrector.text.gitignore import check_pattern  # and pathspec with it

        for item in items:
            check_pattern(item, file, key)
    return items


def _switch(file: str | Path, key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(file, key, f"must be true or false, not {_shown(value)}")
    return value


def _confidence(file: str | Path, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0:  # NaN is not either
        raise ConfigError(file, key, f"must be a number from 0 to 1, not {_shown(value)}")
    return float(value)


def _threads(file: str | Path, key: str, value: Any) -> int:
    return _whole(file, key, value, 0, "0 (every core)")


def _jobs(file: str | Path, key: str, value: Any) -> int:
    return _whole(file, key, value, 1, "1")


def _whole(file: str | Path, key: str, value: Any, least: int, named: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value not in range(least, MOST + 1):
        raise ConfigError(file, key, f"must be a whole number from {named} to {MOST:,}, not {_shown(value)}")
    return int(value)


def _profile(file: str | Path, key: str, value: Any) -> str:
    return _one_of(tuple(PROFILES), file, key, value)


def _origin(file: str | Path, key: str, value: Any) -> str:
    return _one_of(ORIGINS, file, key, value)


def _color(file: str | Path, key: str, value: Any) -> str:
    return _one_of(COLORS, file, key, value)


def _one_of(known: tuple[str, ...], file: str | Path, key: str, value: Any) -> str:
    if not isinstance(value, str) or value not in known:
        raise ConfigError(file, key, f"must be one of {', '.join(known)}, not {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    """A value for a message, cut short."""
    try:
        return f"{value!r:.60}"
    except ValueError:  # a number of more digits than Python writes
        return "one of thousands of digits"


_CHECKS: Mapping[str, Callable[[str | Path, str, Any], Any]] = {
    "model": _text,
    "encoding": _encoding,
    "format_in": _format,
    **dict.fromkeys(("words", "confusions", "column"), _texts),
    **dict.fromkeys(("include", "exclude"), _patterns),
    "backup": _suffix,
    "gitignore": _switch,
    "min_confidence": _confidence,
    "origin": _origin,
    "profile": _profile,
    "color": _color,
    "threads": _threads,
    "jobs": _jobs,
}
