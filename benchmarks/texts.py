"""The texts that are measured: made from eval/sentences.tsv, always the same."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SENTENCES = ROOT / "eval" / "sentences.tsv"
LEAST = 28  # characters of an item, one or two sentences of the file: 40 on average
CLEAN_SHARE = 20  # every 20th item of the clean text has errors: 95 % have none


def pairs() -> list[tuple[str, str]]:
    """Items with errors and without, each of neighbouring sentences put together to at least LEAST characters."""
    found: list[tuple[str, str]] = []
    wrong = right = ""
    for line in SENTENCES.read_text("utf-8").splitlines():
        if line.startswith("#") or not line:
            continue
        source, target, *_ = line.split("\t")
        wrong, right = wrong + source, right + target
        if len(right) >= LEAST:
            found.append((wrong, right))
            wrong = right = ""
    return found


def clean_heavy(count: int) -> list[str]:
    """``count`` items, 95 % of them without errors."""
    chosen = islice(cycle(pairs()), count)
    return [wrong if number % CLEAN_SHARE == CLEAN_SHARE // 2 else right for number, (wrong, right) in enumerate(chosen)]


def error_heavy(count: int) -> list[str]:
    """The same items, all of them with the errors that the file has."""
    return [wrong for wrong, _ in islice(cycle(pairs()), count)]


def with_errors(count: int, wrong: int) -> list[str]:
    """``count`` items of which ``wrong``, evenly spread, have errors."""
    chosen = list(islice(cycle(pairs()), count))
    marked = {number * count // wrong for number in range(wrong)} if wrong else set()
    return [pair[0] if number in marked else pair[1] for number, pair in enumerate(chosen)]


def lines_of_bytes(size: int) -> str:
    """Items of the clean text, one a line, of ``size`` bytes in UTF-8 or one item more."""
    lines: list[str] = []
    length = 0
    for number in range(size):
        if length >= size:
            break
        wrong, right = _PAIRS[number % len(_PAIRS)]
        lines.append(wrong if number % CLEAN_SHARE == CLEAN_SHARE // 2 else right)
        length += len(lines[-1].encode()) + 1
    return "\n".join(lines) + "\n"


def one_line(length: int) -> str:
    """``length`` characters of the clean text in one line."""
    text = "".join(right for _, right in _PAIRS)
    return (text * (length // len(text) + 1))[:length]


_PAIRS = pairs()
