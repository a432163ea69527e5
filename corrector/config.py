"""Settings from a file: found from a folder upward, checked, and shown with where each came from.

The nearest folder with settings decides alone; in one folder ``.electra-correct.toml`` goes before ``[tool.electra-correct]`` in
``pyproject.toml`` before ``[electra-correct]`` in ``setup.cfg``. Options of the command line go before any file.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corrector.config_files import is_ini, nearest_values, values_of
from corrector.config_values import COLORS, PROFILES, checked, from_text, to_toml
from corrector.errors import ConfigError, ModelError
from corrector.types import TYPED, Origin

__all__ = ["COLORS", "PROFILES", "Settings", "find_settings", "profile_confidence", "render_settings"]

DEFAULT, COMMAND_LINE = "default", "command line"


@dataclass(frozen=True)
class Settings:
    """Every setting of a run. In a file a name may have hyphens for underscores, and ``format_in`` is ``input-format``.

    Paths are as the command line gives them, or absolute when they come from a file. ``sources`` says where each setting
    that is not a default came from.
    """

    model: str | None = None
    origin: Origin = TYPED
    min_confidence: float | None = None
    profile: str | None = None
    words: tuple[str, ...] = ()
    confusions: tuple[str, ...] = ()
    encoding: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    gitignore: bool = True
    format_in: str | None = None
    column: tuple[str, ...] = ()
    color: str = "auto"
    backup: str | None = None
    threads: int = 0
    jobs: int = 1
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)

    def overridden(self, source: str = COMMAND_LINE, **values: Any) -> Settings:
        """These settings with others over them, checked; None and an empty list mean not given.

        A profile and a confidence exclude each other: the one given here puts the other out of force.
        Raises ConfigError for an unknown name, a bad value, and for both given here.
        """
        given: dict[str, Any] = {}
        for name, value in values.items():
            if name not in _KEYS:
                raise ConfigError(source, name, f"unknown setting; {_nearest(name)}")
            if value is not None and value not in ((), []):
                given[name] = checked(source, name, _KEYS[name], value)
        _refuse_both(source, given)
        sources = dict(self.sources) | dict.fromkeys(given, source)
        for name, rival in (("profile", "min_confidence"), ("min_confidence", "profile")):
            if name in given and getattr(self, rival) is not None:
                given[rival] = None
                del sources[rival]
        return dataclasses.replace(self, **given, sources=sources)


_KEYS: Mapping[str, str] = {
    setting.name: "input-format" if setting.name == "format_in" else setting.name.replace("_", "-")
    for setting in dataclasses.fields(Settings)
    if setting.name != "sources"
}
"""The names of the settings and how files write them."""

_NAMES = {key: name for name, key in _KEYS.items()} | {"format-in": "format_in"}


def find_settings(start: str | Path) -> Settings:
    """The settings for a file or folder: those of the nearest folder that has any, else the defaults.

    Raises ConfigError, naming file and key, for a setting that is unknown or has a bad value, and for a broken file.
    """
    found = nearest_values(Path(os.path.abspath(start)))
    return _settings(*found) if found is not None else Settings()


def read_settings(path: str | Path) -> Settings:
    """The settings in one file of any name: ``.cfg`` and ``.ini`` have a section, other files are TOML.

    Raises ConfigError as ``find_settings`` does, and for a file that is not there or has no settings of ours.
    """
    return _settings(*values_of(Path(os.path.abspath(path))))


def render_settings(settings: Settings) -> str:
    """The settings as the content of an ``.electra-correct.toml``, one a line, each with where it came from."""
    lines = []
    for name, key in _KEYS.items():
        value = getattr(settings, name)
        source = re.sub("[\x00-\x1f\x7f\ud800-\udfff]", "?", settings.sources.get(name, DEFAULT))
        lines.append(f"# {key}: not set" if value is None else f"{key} = {to_toml(value)}  # {source}")
    return "\n".join(lines) + "\n"


def profile_confidence(profile: str, ranker: Path | None = None) -> float | None:
    """The confidence a profile asks for, by ``profiles`` in the model's ranker file where it has them; None is the model's own.

    Raises ConfigError for an unknown profile, and ModelError for profiles that are no confidences.
    """
    checked("Corrector", "profile", "profile", profile)
    if ranker is None:
        return PROFILES[profile]
    try:
        profiles = json.loads(ranker.read_text("utf-8")).get("profiles", {})
        confidence = profiles.get(profile, PROFILES[profile])
        return None if confidence is None else float(checked(ranker, "min_confidence", f"profile {profile}", confidence))
    except (OSError, ValueError, AttributeError, ConfigError) as error:
        raise ModelError(ranker, f"its profiles cannot be used ({error}); install or copy the model again") from error


def _settings(path: Path, values: Mapping[str, Any]) -> Settings:
    """Checked settings of one file, relative paths resolved."""
    given: dict[str, Any] = {}
    for key, value in values.items():
        name = _NAMES.get(key.replace("_", "-"))
        if name is None:
            raise ConfigError(path, key, f"unknown setting; {_nearest(key)}")
        if name in given:
            raise ConfigError(path, key, "given twice; remove one")
        given[name] = checked(path, name, key, from_text(name, value) if is_ini(path) else value)
    _refuse_both(path, given)
    for name in {"words", "confusions"} & given.keys():
        given[name] = tuple(str(path.parent / os.path.expanduser(one)) for one in given[name])
    if "model" in given:
        given["model"] = _model(path.parent, given["model"])
    return Settings(**given, sources=dict.fromkeys(given, str(path)))


def _model(folder: Path, model: str) -> str:
    """A path relative to ``folder``; or the name of a model, or of a hub's, where no such directory is there."""
    beside = folder / os.path.expanduser(model)
    is_name = "/" not in model or "discriminator" in model
    return model if is_name and not model.startswith((".", "~")) and not beside.is_dir() else str(beside)


def _nearest(key: str) -> str:
    near = difflib.get_close_matches(key.replace("_", "-").lower(), _NAMES, 1, 0.5)
    return f"did you mean {_KEYS[_NAMES[near[0]]]}?" if near else f"known are {', '.join(_KEYS.values())}"


def _refuse_both(file: str | Path, given: Mapping[str, Any]) -> None:
    if "profile" in given and "min_confidence" in given:
        raise ConfigError(file, "profile", "cannot be given together with min-confidence: a profile is a confidence")
