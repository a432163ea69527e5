"""Whether the value of a setting is of the type its field is declared with, and in range."""

from __future__ import annotations

import math
from typing import Any, get_args, get_origin

_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
SHARES = frozenset((
    "decay_share", "decay_floor", "kept_share", "raw_share", "doubt", "clean_windows", "single_windows", "rates", "doubled", "observed",
    "labelled", "masked", "generator_windows", "head_windows", "generator_masked", "generator_similarity", "betas",
))  # fmt: skip
COUNTS = frozenset((
    "batch_tokens", "threads", "log_steps", "dev_tokens", "dev_rows", "embedding_size", "hidden_size", "layers", "heads", "max_positions",
    "generator_hidden", "generator_layers", "generator_heads",
))  # fmt: skip
"""Numbers from 0 to 1, and from 1 on; all others are from 0 on."""


def typed(kind: Any, value: Any) -> Any:
    """``value`` as ``kind`` (bool, int, float, str or a tuple of these), lists as tuples, a text for many as one of them.

    Raises ValueError, which says what it must be.
    """
    if get_origin(kind) is tuple:
        return _tuple(kind, value)
    if kind is float and type(value) is int:
        value = float(value)
    if kind is int and type(value) is float and value.is_integer():  # 2e6
        value = int(value)
    if type(value) is not kind or (kind is float and not math.isfinite(value)):
        raise ValueError(f"must be {_NAMES[kind]}")
    return value


def _tuple(kind: Any, value: Any) -> tuple[Any, ...]:
    kinds = get_args(kind)
    if Ellipsis in kinds:
        items = [value] if kinds[0] is str and isinstance(value, str) else value
        if not isinstance(items, (list, tuple)):
            raise ValueError("must be a list")
        return tuple(typed(kinds[0], item) for item in items)
    if not isinstance(value, (list, tuple)) or len(value) != len(kinds):
        raise ValueError(f"must be a list of {len(kinds)}")
    return tuple(typed(of, item) for of, item in zip(kinds, value, strict=True))


def in_range(name: str, value: Any) -> None:
    """Raises ValueError, which says what the setting must be, for a number out of range."""
    if isinstance(value, tuple):
        for item in value:
            in_range(name, item)
    elif isinstance(value, (int, float)):  # switches are 0 and 1
        least, most = (0, 1) if name in SHARES else (int(name in COUNTS), math.inf)
        if not least <= value <= most:
            raise ValueError(f"must be {least} to {most}" if most == 1 else f"must be {least} or more")
