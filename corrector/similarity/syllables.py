"""How alike two Mandarin syllables are: to the ear, and to fingers on a pinyin keyboard.

Pure arithmetic over spellings such as ``zhong1`` (tone 5 is the neutral tone, ü is written ``v``). With `I` and `F` the
likeness of the two initials and finals (1 equal, `FUZZY` for a pair that southern speakers merge and input methods offer
as "fuzzy pinyin", less for a shared place of articulation), different syllables score

    sound = 0.40 F + 0.25 I + 0.25 I F         (equal syllables: 0.90; a fuzzy initial: 0.78; a fuzzy final: 0.74)
    score = max(sound, slip)                   (slip: the spellings are one keystroke apart)

and equal syllables score `SAME_TONE` or `OTHER_TONE`. An equal tone adds `TONE_BONUS` to a sound above 0.5, so that among
near sounds the equal tone comes first. Only equal characters score 1; equal syllables stop at `SAME_TONE`.
"""

from __future__ import annotations

from functools import cache, lru_cache

SAME_TONE = 0.98
OTHER_TONE = 0.90
TONE_BONUS = 0.02
FUZZY = 0.76

# Fuzzy-pinyin pairs every Chinese input method offers as a setting.
_FUZZY_INITIALS = ("z zh", "c ch", "s sh", "n l", "f h", "r l")
_FUZZY_FINALS = ("an ang", "en eng", "in ing", "ian iang", "uan uang", "uen ueng", "uen ong", "ong eng")
# Aspirated partners and fricatives of one place of articulation; then only the place.
_PARTNER_INITIALS = ("b p", "d t", "g k", "j q", "z c", "zh ch", "q x", "c s", "ch sh", "k h")
_PLACES = ("b p m f", "d t n l", "g k h", "j q x", "zh ch sh r", "z c s", "j zh z", "q ch c", "x sh s")
_PARTNER, _PLACE = 0.20, 0.10

_KEY_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SLIP_SWAPPED, _SLIP_DOUBLED, _SLIP_ADJACENT, _SLIP_MISSING = 0.58, 0.58, 0.55, 0.50

# Spellings that hide the final: y and w carry no sound of their own, ü loses its dots after j q x y.
_ZERO_INITIAL = {
    "yi": "i", "ya": "ia", "yo": "io", "ye": "ie", "yao": "iao", "you": "iou", "yan": "ian", "yin": "in",
    "yang": "iang", "ying": "ing", "yong": "iong", "yai": "iai", "wu": "u", "wa": "ua", "wo": "uo", "wai": "uai",
    "wei": "uei", "wan": "uan", "wen": "uen", "wang": "uang", "weng": "ueng", "yu": "v", "yue": "ve", "yuan": "van",
    "yun": "vn", "wong": "ong",
}  # fmt: skip
_CONTRACTED = {"iu": "iou", "ui": "uei", "un": "uen"}


def split_tone(syllable: str) -> tuple[str, int]:
    """``zhong1`` → (``zhong``, 1). Without a digit the tone is 0: unknown, equal to no tone but itself."""
    return (syllable[:-1], int(syllable[-1])) if syllable[-1:].isdigit() else (syllable, 0)


@cache
def split_syllable(toneless: str) -> tuple[str, str]:
    """The initial ('' when there is none) and the full final: ``jun`` → (``j``, ``vn``), ``you`` → ('', ``iou``)."""
    if toneless in _ZERO_INITIAL:
        return "", _ZERO_INITIAL[toneless]
    vowel = next((i for i, letter in enumerate(toneless) if letter in "aeiouv"), 0)  # ng, hm: no vowel, no initial
    initial = toneless[:vowel]
    final = toneless[len(initial) :]
    if initial in ("j", "q", "x") and final.startswith("u"):
        return initial, "v" + final[1:]
    if initial:
        final = _CONTRACTED.get(final, final)
    return initial, final


@cache
def initial_likeness(a: str, b: str) -> float:
    """0..1: equal, fuzzy, aspirated partners, same place of articulation, unlike."""
    if a == b:
        return 1.0
    return _listed(a, b, ((_FUZZY_INITIALS, FUZZY), (_PARTNER_INITIALS, _PARTNER), (_PLACES, _PLACE)))


@cache
def final_likeness(a: str, b: str) -> float:
    """0..1: equal, fuzzy, else 0.4 × the share of letters in the longest common subsequence (``an``, ``uan``: 0.32)."""
    if a == b:
        return 1.0
    listed = _listed(a, b, ((_FUZZY_FINALS, FUZZY),))
    return listed or 0.4 * 2 * _common_subsequence(a, b) / (len(a) + len(b))


def toneless_likeness(a: str, b: str) -> float:
    """The likeness of two syllables without tones, 0..`OTHER_TONE`; see the formula above."""
    if a == b:
        return OTHER_TONE
    if b < a:
        return toneless_likeness(b, a)
    (initial_a, final_a), (initial_b, final_b) = split_syllable(a), split_syllable(b)
    initials, finals = initial_likeness(initial_a, initial_b), final_likeness(final_a, final_b)
    sound = 0.40 * finals + 0.25 * initials + 0.25 * initials * finals
    return max(sound, slip_likeness(a, b))


def syllable_likeness(a: str, b: str) -> float:
    """The likeness of two syllables with tone digits, 0..`SAME_TONE`."""
    (plain_a, tone_a), (plain_b, tone_b) = split_tone(a), split_tone(b)
    if plain_a == plain_b:
        return SAME_TONE if tone_a == tone_b else OTHER_TONE
    likeness = toneless_likeness(plain_a, plain_b)
    return likeness + TONE_BONUS if tone_a == tone_b and likeness > 0.5 else likeness


def slip_likeness(a: str, b: str) -> float:
    """How likely one keystroke turns one spelling into the other: 0 unless they are one slip apart."""
    if len(a) == len(b):
        unequal = [i for i in range(len(a)) if a[i] != b[i]]
        if len(unequal) == 1:
            return _SLIP_ADJACENT if b[unequal[0]] in _neighbour_keys()[a[unequal[0]]] else 0.0
        swapped = len(unequal) == 2 and unequal[1] == unequal[0] + 1
        swapped = swapped and a[unequal[0]] == b[unequal[1]] and a[unequal[1]] == b[unequal[0]]
        return _SLIP_SWAPPED if swapped else 0.0
    short, long = sorted((a, b), key=len)
    if len(long) != len(short) + 1:
        return 0.0
    dropped = [i for i in range(len(long)) if long[:i] + long[i + 1 :] == short]
    if not dropped:
        return 0.0
    return _SLIP_DOUBLED if len(dropped) > 1 else _SLIP_MISSING


def _listed(a: str, b: str, tables: tuple[tuple[tuple[str, ...], float], ...]) -> float:
    for groups, likeness in tables:
        if any(a in group.split() and b in group.split() for group in groups):
            return likeness
    return 0.0


def _common_subsequence(a: str, b: str) -> int:
    previous = [0] * (len(b) + 1)
    for letter in a:
        current = [0]
        for j, other in enumerate(b):
            current.append(previous[j] + 1 if letter == other else max(current[-1], previous[j + 1]))
        previous = current
    return previous[-1]


@lru_cache(maxsize=1)
def _neighbour_keys() -> dict[str, frozenset[str]]:
    """Keys that touch each other on a QWERTY keyboard; each row is shifted half a key to the right of the one above."""
    place = {key: (column + row * 0.5, row) for row, keys in enumerate(_KEY_ROWS) for column, key in enumerate(keys)}
    return {
        key: frozenset(o for o, (ox, oy) in place.items() if o != key and abs(ox - x) <= 1 and abs(oy - y) <= 1)
        for key, (x, y) in place.items()
    }
