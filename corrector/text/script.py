"""Traditional text is read as Simplified by the models and corrected in its own script; it is never converted.

    source ─ simplified ─► models ─► replacement ─ restored ─► a correction in the script of its surroundings

Both functions judge a text passage by passage (a sentence, at most ``LONGEST`` characters), so one text may hold both scripts.
The tables and the phrases that tell 頭髮 from 發現 and 著作 from 看著 are OpenCC's, loaded when a text first needs them.
Full-width letters and digits are not touched here: the tokenizer reads those.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain, product
from typing import TYPE_CHECKING, Literal

from corrector.text.protect import HAN_RUN, is_han

if TYPE_CHECKING:
    from opencc import OpenCC

Script = Literal["simplified", "traditional", "either"]

LONGEST = 100  # characters of a passage
REACH = 100  # how far around a passage without a sign of its script others are asked

_ENDS = "。！？!?；;…\r\n\v\f\x85\u2028\u2029"
_PASSAGE = re.compile(f"[^{_ENDS}]{{1,{LONGEST}}}[{_ENDS}]*|[{_ENDS}]+")
_KANA_OR_HANGUL = re.compile("[\u1100-\u11ff\u3041-\u3096\u30a1-\u30fa\u3130-\u318f\uac00-\ud7a3]")

# Radicals, compatibility ideographs, vertical, small and half-width punctuation: read as what they are compatible with.
_FORM_RANGES = (
    (0x2E80, 0x2FE0), (0xF900, 0xFB00), (0xFE10, 0xFE20), (0xFE30, 0xFE70), (0xFF61, 0xFF66), (0x2F800, 0x2FA20)
)  # fmt: skip
_UNIT = re.compile("[^\\s“”‘’\"'《》〈〉「」『』【】（）()\\[\\]{}<>。！？!?；;…]+")
_ALSO_SIMPLIFIED = "昇濛扞谿"  # what OpenCC simplifies, though people, places and goods are named so in Simplified text
_VARIANTS = dict(zip(  # obsolete forms and look-alikes that OpenCC's tables lack
    "岀亊叧宻徃怱氷畧皃盌窓竝筯罸羙聨脇舎苐葢覊觧辝隂隣靣飬駄姫娯吿呉戸竒竸筭糓脃舗萠諌逹隷頬鬪兎兪冩凢刧刼剏剱咊噐囘囙囬圎坿埀塡壷夘夲姙媿宂寃尓屇嶋帋彜恠愼戓扵揔擕攅昻暎汚漑潅灋烱煕狥珎甁甞畂疎碁穽窰筺纎聡莾蔕囯倶禆値呑",
    "出事另密往匆冰略貌碗窗并箸罚美联胁舍第盖羁解辞阴邻面养驮姬娱告吴户奇竞算谷脆铺萌谏达隶颊斗兔俞写凡劫劫创剑和器回因回圆附垂填壶卯本妊愧冗冤尔届岛纸彝怪慎或于总携攒昂映污溉灌法炯熙徇珍瓶尝亩疏棋阱窑筐纤聪莽蒂国俱裨值吞",
    strict=True,
))  # fmt: skip
_ALSO_TRADITIONAL = "後於"  # in GB 2312 for names and old titles; elsewhere a sign of Traditional text
# Words that OpenCC's Taiwanese tables lack, where 著 is not 着.
_WRITTEN_WORK = re.compile("[專論卓譯原遺撰拙土]著|著(?=[文譯錄])|見微知著")
_HONG_KONG = frozenset("着麽卧叁悦户温税脱葱蜕兑囱吓响")  # what OpenCC's t2hk writes, or Cantonese, though Big5 lacks it
_QUOTES = {ord(old): new for old, new in zip("「」『』", "“”‘’", strict=True)}  # the models know the latter


def script_of(text: str) -> Script:
    """The script with more characters of its own in ``text``, Simplified where they are equal; 'either' without any.

    Japanese and Korean are 'either' too: text with at least one kana or hangul to four Han characters.

    >>> [script_of(text) for text in ("头发", "頭髮", "人山人海", "他叫陶喆，这是他的歌")]
    ['simplified', 'traditional', 'either', 'simplified']
    """
    return "either" if _is_foreign(text) else _script(text, _foreign_to_simplified(text))


def simplified(text: str) -> str:
    """``text`` as the models should read it, character by character and of the same length; ``text`` itself if that is no other.

    Traditional passages are read in Simplified, phrases first. In other passages only what no Simplified text has is read
    so, and 著 or 乾 stay what they are. Japanese and Korean passages stay altogether.

    >>> simplified("他看著這本著作，頭髮乾了。乾隆皇后")
    '他看着这本著作，头发干了。乾隆皇后'
    """
    if not _compatible().isdisjoint(text):
        text = text.translate(_forms())
    foreign = _foreign_to_simplified(text)
    if not foreign and not any(char in text for char in _ALSO_TRADITIONAL):
        return text
    read = "".join(_read(text, *passage.span(), foreign) for passage in _PASSAGE.finditer(text))
    return text if read == text else read


def restored(source: str, start: int, replacement: str) -> str:
    """``replacement``, which is Simplified, as it is written in ``source`` from ``start`` on.

    What is the simplified form of the source's own character becomes that character again, and what is no Han character in the
    source stays. The rest is written in the script of its passage: Traditional by the phrase it makes with its
    neighbours, in the regional forms (裡 or 裏, 群 or 羣) that the neighbourhood agrees with.

    Raises ValueError for a span that is not within the source.

    >>> restored("他把頭髮減短了", 4, "剪"), restored("我門的以候", 1, "们"), restored("我門的以候", 4, "后")
    ('剪', '們', '後')
    """
    if not 0 <= start <= len(source) - len(replacement):
        raise ValueError(f"{len(replacement)} characters from {start} on are not all within {len(source)}")
    first, near = _near(source, start, start + len(replacement))
    at = slice(start - first, start - first + len(replacement))
    read = simplified(near)
    written = replacement
    if is_traditional(source, start):
        written = _traditional(near, read[: at.start] + replacement + read[at.stop :])[at]
    return "".join(
        old if new == seen or not is_han(old) else form
        for old, seen, new, form in zip(near[at], read[at], replacement, written, strict=True)
    )


def is_traditional(text: str, place: int) -> bool:
    """Whether the passage around a character is Traditional.

    >>> is_traditional("這是我們的。这是我们的。", 1), is_traditional("這是我們的。这是我们的。", 7)
    (True, False)
    """
    first, near = _near(text, place, place)
    return _script_at(near, *_passage_at(near, place - first), _foreign_to_simplified(near)) == "traditional"


def is_written_otherwise(word: str) -> bool:
    """Whether the mainland has another word for this one of Taiwan's, and not only other characters for its own.

    >>> is_written_otherwise("程式"), is_written_otherwise("應該")
    (True, False)
    """
    return str(_opencc("tw2sp").convert(word)) != str(_opencc("tw2s").convert(word))


def is_variant(char: str) -> bool:
    """Whether a character is but another form of one, the standard form of neither script.

    >>> [is_variant(char) for char in "碁園园"]
    [True, False, False]
    """
    return _converted("s2t", simplified(char)) != char and char not in _gb2312()


def strays(text: str) -> Iterator[tuple[int, str]]:
    """The places of characters that no text in the script of their surroundings has, left to right, each with what such text has there.

    The surroundings are clearly of one script: a bit of text between quotation marks, brackets, white space and the ends of sentences has
    as much of it as of the other, and a neighbourhood of ``REACH`` on both sides has more. So what is quoted or named in the other script
    has no strays. Variants that Big5 lacks (査, 衞) may be such, but speak for no script.

    >>> list(strays("新开的天府艺术公園里，树都是从别处移来的。")), list(strays("他在读《說文解字》，这本书讲汉字的来历。"))
    ([(8, '园')], [])
    """
    foreign = _foreign_to_simplified(text)
    if foreign and not _simplified_only().isdisjoint(text):
        for unit in _UNIT.finditer(text):
            yield from _strays_of(text, *unit.span(), foreign)


def _near(text: str, start: int, end: int) -> tuple[int, str]:
    """What is around a span and may say in which script it is, and where that begins."""
    first = max(0, start - REACH - LONGEST)
    return first, text[first : end + REACH + LONGEST]


def _strays_of(text: str, start: int, end: int, foreign: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """Those between ``start`` and ``end``, which are a bit of text; ``foreign`` is of the whole."""
    first = max(0, start - REACH)
    unit, near = text[start:end], text[first : end + REACH]
    if _KANA_OR_HANGUL.search(unit) or _is_foreign(near):
        return
    (traditional, simple), (more_traditional, more_simple) = (_signs(_in_big5(part), part, foreign) for part in (unit, near))
    if traditional <= simple and more_traditional < more_simple:
        for place in range(start, end):
            new = foreign.get(ord(text[place]), "")
            if new in _gb2312() and text[place] not in _ALSO_SIMPLIFIED:
                yield place, new
    elif 0 < simple <= traditional and more_simple < more_traditional:
        written = _traditional(near, simplified(near))
        for place in range(start, end):
            if text[place] in _simplified_only() and written[place - first] != text[place]:
                yield place, written[place - first]


def _read(text: str, start: int, end: int, foreign: Mapping[int, str]) -> str:
    """One passage as the models should read it; ``foreign`` may be of the whole text."""
    passage = text[start:end]
    if _is_foreign(passage):
        return passage
    read = _as_simplified(passage).translate(foreign)  # the Taiwanese tables lack what only Hong Kong writes
    if read == passage or _script_at(text, start, end, foreign) == "traditional":
        return read
    return passage.translate(foreign)


def _as_simplified(passage: str) -> str:
    read = list(_converted("tw2s", passage))
    for word in _WRITTEN_WORK.finditer(passage):
        read[word.end() - 1 if word[0] != "著" else word.start()] = "著"
    return "".join(read)


def _traditional(near: str, corrected: str) -> str:
    """``corrected``, which is Simplified, in the regional standard that agrees most with ``near``, its source."""
    standard = _converted("s2t", corrected)
    regional = (_converted("t2tw", standard), _converted("t2hk", standard), standard)
    best = max(regional, key=lambda form: sum(map(str.__eq__, form, near)))
    return best if "臺" in near else best.replace("臺", "台")  # both are in use everywhere, 台 more


def _script_at(text: str, start: int, end: int, foreign: Mapping[int, str]) -> Script:
    """The script of the passage from ``start`` to ``end``, or of what is around it when it could be either."""
    script = _script(text[start:end], foreign)
    return script if script != "either" else _script(text[max(0, start - REACH) : end + REACH], foreign)


def _passage_at(text: str, index: int) -> tuple[int, int]:
    """Start and end of the passage around one character, but for one of more than ``LONGEST`` characters."""
    start = index
    while start > max(0, index - LONGEST) and text[start - 1] not in _ENDS:
        start -= 1
    match = _PASSAGE.match(text, start)
    return start, match.end() if match else start


def _script(text: str, foreign: Mapping[int, str]) -> Script:
    traditional, simple = _signs(text, text, foreign)
    if not traditional and not simple:
        return "either"
    return "traditional" if traditional > simple else "simplified"


def _signs(traditional: str, simple: str, foreign: Mapping[int, str]) -> tuple[int, int]:
    """How many characters only Traditional text has are in one text, and how many only Simplified text has in the other."""
    signs = sum(map(foreign.__contains__, map(ord, traditional))) + sum(map(traditional.count, _ALSO_TRADITIONAL))
    return signs, sum(map(_simplified_only().__contains__, simple))


def _in_big5(text: str) -> str:
    """The characters of ``text`` that Big5 has."""
    return text.encode("big5", "ignore").decode("big5")


def _is_foreign(text: str) -> bool:
    """Whether a text is Japanese or Korean rather than Chinese."""
    others = len(_KANA_OR_HANGUL.findall(text))
    return others > 0 and 4 * others >= sum(map(len, HAN_RUN.findall(text)))


def _foreign_to_simplified(text: str) -> dict[int, str]:
    """The characters of ``text`` that no Simplified text has, and what each becomes by itself, as a translation table."""
    unusual = filter(is_han, set(text) - _gb2312())
    table = {}
    for char in unusual:
        plain = _converted("t2s", char)
        plain = plain if plain in _gb2312() else _converted("hk2s", plain)
        plain = plain if plain in _gb2312() else _converted("t2s", _converted("jp2t", plain))
        table[ord(char)] = _VARIANTS.get(char, plain)
    return {code: plain for code, plain in table.items() if plain != chr(code)}


def _converted(name: str, text: str) -> str:
    """``text`` through one of OpenCC's converters, run of Han characters by run; always of the same length."""
    converter = _opencc(name)

    def convert(run: re.Match[str]) -> str:
        new = str(converter.convert(run[0]))
        return new if len(new) == len(run[0]) else run[0]

    return HAN_RUN.sub(convert, text)


@cache
def _opencc(name: str) -> OpenCC:
    """A converter without the characters that few fonts and no vocabulary have."""
    from opencc import OpenCC

    return OpenCC(name, include_tofu_risk_dictionaries=False)


@cache
def _forms() -> dict[int, str]:
    """Compatibility forms, as a translation table, to what they are forms of."""
    codes = (code for start, end in _FORM_RANGES for code in range(start, end))
    forms = {code: unicodedata.normalize("NFKC", chr(code)).translate(_QUOTES) for code in codes}
    return _QUOTES | {code: form for code, form in forms.items() if len(form) == 1 and form != chr(code)}


@cache
def _compatible() -> frozenset[str]:
    """The characters that ``_forms`` are of."""
    return frozenset(map(chr, _forms()))


@cache
def _gb2312() -> frozenset[str]:
    """The Han characters that Simplified text is written with, by and large."""
    cells = bytes(chain.from_iterable(product(range(0xB0, 0xF8), range(0xA1, 0xFF))))
    return frozenset(cells.decode("gb2312", "ignore"))


@cache
def _simplified_only() -> frozenset[str]:
    """The characters of GB 2312 that Big5 lacks and Hong Kong does not write."""
    return _gb2312() - set(_in_big5("".join(_gb2312()))) - _HONG_KONG
