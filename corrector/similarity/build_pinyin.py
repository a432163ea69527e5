"""Builds ``pinyin_table.npz`` from pypinyin's dictionary and jieba's word frequencies.

    python -m corrector.similarity.build_pinyin

A character's readings are ordered by how often jieba's words, read by pypinyin in context, use them. The table holds:
``characters`` (all, most frequent first), ``common`` (how many of them, the first ones, are proposed as neighbours: GB 2312 and a few
modern ones; frequencies count for these alone, because jieba's list holds mis-decoded text among the others),
``syllables`` (joined by spaces), ``starts`` (row i owns readings starts[i]:starts[i+1]), ``readings`` (syllable numbers),
``weights`` (percent: 100 for a usual reading, less for a rare one), ``likeness`` (of every two syllables less their tones, in the order
of `toneless_syllables`, as numbers into ``likeness_values``).
"""

from __future__ import annotations

import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

from corrector.similarity.pinyin import TABLE_PATH, toneless_syllables
from corrector.similarity.syllables import split_tone, toneless_likeness

# A reading with at least this share of a character's occurrences is usual, unusual, rare; below, only dictionaries know it.
_USUAL_SHARE, _RARE_SHARE, _BOOKISH_SHARE = 0.15, 0.01, 0.0005
_USUAL, _UNUSUAL, _RARE, _BOOKISH = 100, 95, 85, 70

# Spoken with another tone before certain tones, a change the dictionary's phrases note but no reading of its own.
_TONE_SANDHI = "一不"

# In everyday modern use (particles, names, the Web) though GB 2312 of 1980 lacks them.
_MODERN = "啰囧嘚咗嗐啫熵焗瘆撸怼镕喆堃祎玥珺昇淼垚犇翀旸晞瑄翾垭珣璟赟钰玮頔禕滢璠甯曌炅韡濛霂劼昉琤玹婳嬛薏邨祺"


def is_han(character: str) -> bool:
    """Whether the character is a Han ideograph of the basic block, an extension, or 〇."""
    return "\u3400" <= character <= "\u9fff" or character == "〇" or "\U00020000" <= character <= "\U000323af"


def gb2312_characters() -> set[str]:
    """The 6,763 ideographs of GB 2312."""
    cells = (bytes((row, cell)) for row in range(0xB0, 0xF8) for cell in range(0xA1, 0xFF))
    return {text for text in (cell.decode("gb2312", "ignore") for cell in cells) if text}


def dictionary_readings() -> dict[str, list[str]]:
    """Each character's readings in pypinyin's own order, as syllables with tone digits."""
    from pypinyin.contrib.tone_convert import to_tone3
    from pypinyin.pinyin_dict import pinyin_dict

    found: dict[str, list[str]] = {}
    for code, text in pinyin_dict.items():
        if is_han(chr(code)):
            spelled = [to_tone3(r, v_to_u=False, neutral_tone_with_five=True) for r in text.split(",")]
            plain = [s for s in spelled if (s.isascii() and len(split_tone(s)[0]) > 1) or s[:-1] in ("a", "e", "o")]
            found[chr(code)] = list(dict.fromkeys(plain))
    return {character: spelled for character, spelled in found.items() if spelled}


def count_words() -> tuple[Counter[str], dict[str, Counter[str]]]:
    """Character frequencies in jieba's dictionary, and how often each reading of a character occurs in its words."""
    import pypinyin

    frequency: Counter[str] = Counter()
    used: dict[str, Counter[str]] = {}
    for line in (files("jieba") / "dict.txt").read_text(encoding="utf-8").splitlines():
        word, count, _ = line.rsplit(" ", 2)
        frequency.update({c: int(count) * word.count(c) for c in set(word) if is_han(c)})
        if len(word) < 2 or not all(map(is_han, word)) or any(c in word for c in _TONE_SANDHI):
            continue
        spoken = pypinyin.lazy_pinyin(word, style=pypinyin.Style.TONE3, v_to_u=False, neutral_tone_with_five=True)
        if len(spoken) == len(word):
            for character, syllable in zip(word, spoken, strict=True):
                used.setdefault(character, Counter())[syllable.replace("ü", "v")] += int(count)
    return frequency, used


def weigh_readings(listed: list[str], used: Counter[str]) -> list[tuple[str, int]]:
    """Readings, the most used first, with their weights in percent. The dictionary's first counts as used once."""
    counts = {syllable: used[syllable] for syllable in listed}
    counts[listed[0]] += 1
    total = sum(counts.values())
    ordered = sorted(listed, key=lambda syllable: -counts[syllable])
    return [(syllable, _weight(counts[syllable] / total)) for syllable in ordered]


def _weight(share: float) -> int:
    if share >= _USUAL_SHARE:
        return _USUAL
    return _UNUSUAL if share >= _RARE_SHARE else _RARE if share >= _BOOKISH_SHARE else _BOOKISH


def likeness_table(syllables: list[str]) -> dict[str, Any]:
    """``likeness_values`` float32 (V,), ascending, and ``likeness`` uint8 (T, T), symmetric, of the T syllables less their tones.

    Kept in the table because the formula takes a quarter of a second for all pairs. Raises ValueError beyond 256 values.
    """
    import numpy as np

    plain = toneless_syllables(syllables)
    exact = np.array([[toneless_likeness(a, b) for b in plain] for a in plain], dtype=np.float32)
    values, codes = np.unique(exact, return_inverse=True)
    if len(values) > 256:
        raise ValueError(f"{len(values)} different likenesses do not fit one byte")
    return {"likeness_values": values, "likeness": codes.reshape(exact.shape).astype(np.uint8)}


def build(path: Path = TABLE_PATH) -> int:
    """Write the table; returns the number of characters."""
    import numpy as np

    listed, standard = dictionary_readings(), gb2312_characters() | set(_MODERN)
    frequency, used = count_words()
    common = [c for c in listed if c in standard]
    rare = [c for c in listed if c not in standard]
    characters = sorted(common, key=lambda c: (-frequency[c], c)) + sorted(rare)
    weighed = [weigh_readings(listed[c], used.get(c, Counter())) for c in characters]
    syllables = sorted({syllable for row in weighed for syllable, _ in row})
    number = {syllable: i for i, syllable in enumerate(syllables)}
    np.savez_compressed(
        path,
        characters=np.array([ord(c) for c in characters], dtype=np.uint32),
        common=np.array(len(common)),
        syllables=np.frombuffer(" ".join(syllables).encode("ascii"), dtype=np.uint8),
        starts=np.cumsum([0, *map(len, weighed)], dtype=np.uint32),
        readings=np.array([number[syllable] for row in weighed for syllable, _ in row], dtype=np.uint16),
        weights=np.array([weight for row in weighed for _, weight in row], dtype=np.uint8),
        **likeness_table(syllables),
    )
    return len(characters)


if __name__ == "__main__":
    sys.stdout.write(f"{build()} characters, {TABLE_PATH.stat().st_size} bytes\n")
