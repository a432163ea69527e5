"""How likely each character is part of a personal name: a surname with given-name characters, or a transliteration.

A spelling corrector has to be careful with names: 张玥铭 is right though no dictionary has it. The text around a possible name is read
in all ways at once, as words, names, transliterations and single characters, each with its probability relative to that of the
same characters one by one (a unigram lattice with forward and backward sums; Rabiner 1989, section III). A character's score is
the share of the readings in which it is in a name. The probabilities are a table built by `corrector.similarity.build_names`; what
stands around a name (titles, verbs of speech, 、) multiplies its share by weights that were set by hand on news text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

TABLE_PATH = Path(__file__).with_name("names.npz")
STEPS_PER_NAT = 4
"""The table holds natural logarithms in steps of a quarter, from -32 to 31.75."""

_RUN = re.compile("[\u3400-\u9fff\U00020000-\U000323af]{1,48}")  # sums over longer runs could overflow
_DOTS = "·•・‧∙"
_REACH = 4  # characters on each side of a possible name whose words compete with it

_BEFORE = re.compile(
    "(?:记者|教授|院长|主席|经理|导演|演员|总统|总理|首相|书记|部长|省长|市长|县长|区长|镇长|局长|厅长|处长|科长|主任|校长|队长|团长|会长|"
    "董事长|总裁|老师|医生|博士|院士|同学|同志|律师|法官|警官|民警|主持人|歌手|作家|作者|诗人|画家|选手|队员|队友|教练|将军|司令|发言人|"
    "负责人|嫌疑人|被告人|村民|市民|先生|女士|男子|女子|名叫|编辑|通讯员|丈夫|妻子|儿子|女儿|父亲|母亲|委员|专家|研究员|创始人|车主|店主|"
    r"艺人|影星|大使|外长|秘书长)\Z"
)
_AFTER = re.compile(
    "先生|女士|小姐|教授|医生|大夫|老师|记者|主任|总统|总理|首相|主席|同学|同志|院士|博士|总书记|书记|部长|市长|省长|县长|局长|校长|院长|"
    "律师|队长|教练|经理|导演|将军|夫妇|夫人|大使|外长"
)
_SPEAKS = re.compile("说|称|表示|指出|告诉|认为|介绍|强调|透露|坦言|回忆|主持|出席|会见|发言|等人")
_TITLE, _SPEECH, _LIST, _EDGE = 40.0, 12.0, 3.0, 2.0
_NO_GIVEN, ONE_GIVEN, TWO_GIVEN = 0.001, 0.002, 0.008  # names per word of news, by the length of the given name
_UNSEEN = 4.0  # how much likelier a character that the table lacks is in a given name than elsewhere
_HOPELESS = 0.01  # a name which is this unlikely beside its single characters is so in every context
_ENTER, _STAY, _LEAVE = 0.0003, 0.7, 0.3  # how often transliterations begin, go on and end
_DOTTED = 100.0  # the same beside ·
_DOTTED_WORD = 10.0  # how much likelier a word of such characters is a name than a word there

Name = tuple[int, int, float]


class _Table(NamedTuple):
    """All values are ratios to the probability of the same characters one by one in ordinary text."""

    surnames: dict[str, float]
    given: dict[str, tuple[float, float]]  # as the first of two, as the last
    foreign: dict[str, float]
    words: dict[str, float]
    surname_start: re.Pattern[str]
    foreign_run: re.Pattern[str]


@lru_cache(maxsize=1)
def _table() -> _Table:
    import numpy as np

    with np.load(TABLE_PATH, allow_pickle=False) as stored:
        ratios = np.exp(np.arange(-128, 128) / STEPS_PER_NAT)

        def texts(name: str) -> list[str]:
            codes = np.ascontiguousarray(stored[name].T, dtype="<u4")
            found: list[str] = codes.view(f"<U{codes.shape[1]}")[:, 0].tolist()
            return found

        def values(name: str) -> Any:
            return ratios[stored[name].astype(np.intp) + 128].tolist()

        surnames = dict(zip(texts("surnames") + texts("compounds"), values("surname_steps"), strict=True))
        foreign = dict(zip(texts("foreign"), values("foreign_steps"), strict=True))
        given = "".join(map(chr, np.cumsum(stored["given_gaps"], dtype=np.int64).tolist()))
        return _Table(
            surnames=surnames,
            given=dict(zip(given, zip(values("first_steps"), values("last_steps"), strict=True), strict=True)),
            foreign=foreign,
            words=dict(zip(texts("words2") + texts("words3"), values("word_steps"), strict=True)),
            surname_start=re.compile(f"[{''.join(sorted({name[0] for name in surnames}))}]"),
            foreign_run=re.compile(f"[{''.join(c for c, ratio in foreign.items() if ratio > 5)}]{{3}}"),
        )


def name_scores(text: str, places: Sequence[int] | None = None) -> NDArray[np.float32]:
    """How likely each character is part of a personal name, 0..1: float32 (len(text),); found only where it may matter to the
    characters at ``places``, if these are given.

    Names are surnames with one or two given-name characters (or a title: the 王 of 王先生), and transliterations, also of places, those
    beside · with more certainty. Any text is good; characters other than Han ones get 0.
    """
    import numpy as np

    scores = np.zeros(len(text), dtype=np.float32)
    foreign_run = _table().foreign_run
    for run in _RUN.finditer(text):
        start, end = run.span()
        if places is not None and not any(start <= place < end for place in places):
            continue
        names = _possible_names(text, start, end)
        opened, closed = start > 0 and text[start - 1] in _DOTS, end < len(text) and text[end] in _DOTS
        if opened or closed or foreign_run.search(text, start, end):
            names += _dotted_words(text, start, end, opened, closed)
            enter, leave = _DOTTED if opened else _ENTER, _DOTTED if closed else _LEAVE
            scores[start:end] = _shares(text[start:end], [(i - start, j - start, ratio) for i, j, ratio in names], enter, leave)
        elif names:
            first, last = max(start, names[0][0] - _REACH), min(end, max(name[1] for name in names) + _REACH)
            scores[first:last] = _shares(text[first:last], [(i - first, j - first, ratio) for i, j, ratio in names])
    return np.minimum(scores, np.float32(1))


def _possible_names(text: str, start: int, end: int) -> list[Name]:
    """The (start, end, ratio) of each possible name in a run of Han characters, in order of their starts."""
    table, found = _table(), list[Name]()
    surnames, given, unseen = table.surnames, table.given, (_UNSEEN, _UNSEEN)
    for place in table.surname_start.finditer(text, start, end):
        i = place.start()
        for after, one, two in ((i + 1, ONE_GIVEN, TWO_GIVEN), (i + 2, TWO_GIVEN, ONE_GIVEN)):  # a compound surname
            surname = surnames.get(text[i:after])
            if surname is None or after > end:
                continue
            lengths = [_NO_GIVEN if _AFTER.match(text, after) else 0.0]
            if after < end:
                first, last = given.get(text[after], unseen)
                lengths.append(one * last)
                if after + 1 < end:
                    lengths.append(two * first * given.get(text[after + 1], unseen)[1])
            for count, ratio in enumerate(lengths):
                if ratio * surname > _HOPELESS:
                    found.append((i, after + count, ratio * surname * _context(text, i, after + count)))
    return found


def _dotted_words(text: str, start: int, end: int, opened: bool, closed: bool) -> list[Name]:
    """The words beside the · around a run that are at least half characters of transliterations (华盛顿): likelier names there."""
    table = _table()
    places = [(start, start + n) for n in (2, 3) if opened] + [(end - n, end) for n in (2, 3) if closed]
    words = [(i, j, table.words.get(text[i:j], 0.0)) for i, j in dict.fromkeys(places) if start <= i and j <= end]
    return [(i, j, _DOTTED_WORD * gain) for i, j, gain in words if gain and 2 * sum(c in table.foreign for c in text[i:j]) >= j - i]


def _context(text: str, start: int, end: int) -> float:
    """How much likelier what stands around text[start:end] is around a name than elsewhere."""
    ahead = _TITLE if _BEFORE.search(text, max(0, start - 3), start) else _LIST if text.endswith("、", 0, start) else _edge(text, start - 1)
    if _AFTER.match(text, end):
        return ahead * _TITLE
    if _SPEAKS.match(text, end):
        return ahead * _SPEECH
    return ahead * (_LIST if text.startswith("、", end) else _edge(text, end))


def _edge(text: str, place: int) -> float:
    return 1.0 if place >= 0 and _RUN.match(text, place) else _EDGE


def _shares(run: str, names: list[Name], enter: float = 0.0, leave: float = 0.0) -> list[float]:
    """The share of the readings of a run in which each character is in a name: (len(run),), but for rounding no more than 1.

    ``enter`` and ``leave`` weigh transliterations that begin at the run's start and end at its end; without, none are looked for.
    """
    table, length = _table(), len(run)
    words, foreign = table.words, table.foreign if enter else {}
    arcs: list[list[tuple[int, float]]] = [[] for _ in run]  # by start: (end, ratio)
    for start, end, ratio in names:
        arcs[start].append((end, ratio))
    for start in range(length - 1):
        for end in (start + 2, start + 3):
            gain = words.get(run[start:end])
            if gain and end <= length:
                arcs[start].append((end, gain))
    letters = [foreign.get(character, 0.0) for character in run]
    enters, leaves = [enter] + [_ENTER] * (length - 1), [_LEAVE] * (length - 1) + [leave]

    # Sums over the readings up to each place, and over those of them that end inside a transliteration.
    until, inside = [1.0] + [0.0] * length, [0.0] * (length + 1)
    for i in range(length):
        until[i + 1] += until[i]
        for end, ratio in arcs[i]:
            until[end] += until[i] * ratio
        if letters[i]:
            inside[i + 1] = (until[i] * enters[i] + inside[i] * _STAY) * letters[i]
            until[i + 1] += inside[i + 1] * leaves[i]

    # The same over the readings from each place on.
    beyond, within, shares = [0.0] * length + [1.0], 0.0, [0.0] * length
    for i in reversed(range(length)):
        after = leaves[i] * beyond[i + 1] + _STAY * within
        within = letters[i] * after
        shares[i] = inside[i + 1] * after / until[length]
        beyond[i] = beyond[i + 1] + enters[i] * within
        for end, ratio in arcs[i]:
            beyond[i] += ratio * beyond[end]
    for start, end, ratio in names:
        share = until[start] * ratio * beyond[end] / until[length]
        for i in range(start, end):
            shares[i] += share
    return shares
