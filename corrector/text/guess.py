"""Which encoding Chinese bytes are in that are no UTF-8: charset-normalizer and our own reading must agree, or it stays unknown.

GB18030 decodes nearly any bytes and Korean text becomes common Chinese characters in it, so decoding is no proof. A
guess counts when the text is made of common characters, some of them among the most frequent, and no other encoding
reads about as well.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from corrector.text.protect import HAN_CLASS

SAMPLE_BYTES = 1 << 18
MIN_HAN = 8  # of four characters, every fifth text reads as well in a wrong encoding
MIN_COMMON = 0.9  # of what is not ASCII; 0.98 to 1 in Chinese prose, 0.5 to 0.6 in GB18030 read as Big5
MIN_FREQUENT = 0.06  # of the Han characters; 0.3 to 0.5 in Chinese prose, none in Korean prose read as GB18030
MIN_LEAD = 0.2  # over the next encoding

# The narrowest encoding that fits comes first, so that nothing is written in it that its readers lack.
_FAMILIES = (("gb18030",), ("big5", "cp950", "big5hkscs"), ("utf-16-le",), ("utf-16-be",))
_OTHERS = ("cp949", "cp932", "euc_jp", "cp1251", "cp1252")  # what else such bytes may be; its victory says: not Chinese

_NOT_PLAIN = re.compile(rb"[\0\x80-\xff]")  # what does not read the same in all of them
_HAN = re.compile(f"[{HAN_CLASS}]")
_NOT_TEXT = re.compile("[\0-\x08\x0e-\x19\x1c-\x1f\x7f-\x9f\ud800-\uf8ff\ufffe\uffff]")  # controls, private use, no characters
_MARKS = re.compile("[\u3000-\u303f\uff01-\uffe5‘’“”…—·×]")
# The most frequent characters of Chinese prose, the Simplified and the Traditional forms of each, then those of Cantonese.
_FREQUENT = frozenset(
    "的一是不了在人有我他这個个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家"
    "事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想日月"
    "這們來為國說時會對於著過發後裡裏經麼學現當沒動還進樣開從佢哋嘅喺咗冇唔嚟啲咁啦"
)


def guess_encoding(data: bytes) -> str | None:
    """The encoding of Chinese text in ``data``, or None when it is not sure. The end may be cut off within a character."""
    first = _NOT_PLAIN.search(data)
    if first is None:
        return None
    start = first.start() & ~1  # an even offset, for UTF-16
    sample = data[start : start + SAMPLE_BYTES]
    readings = [reading for family in _FAMILIES if (reading := _reading(sample, family))]
    readings.sort(reverse=True)
    scores = [score for score, _, _ in readings] + [0.0, 0.0]
    if scores[0] < MIN_COMMON or scores[0] - scores[1] < MIN_LEAD:
        return None
    _, encoding, text = readings[0]
    return encoding if _library_agrees(text.encode(encoding), text) else None


def _reading(sample: bytes, family: tuple[str, ...]) -> tuple[float, str, str] | None:
    """How common the text in the first fitting encoding of a family is (0..1), that encoding, and the text."""
    for encoding in family:
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(sample)
        except UnicodeDecodeError:
            continue
        if sample.startswith(text.encode(encoding, "replace")):
            return _commonness(text), encoding, text
    return None


def _commonness(text: str) -> float:
    """The share of common Han characters and Chinese marks in what is not ASCII; 0 for what is no Chinese prose at all."""
    foreign = sum(not char.isascii() for char in text)
    han = _HAN.findall(text)
    if len(han) < MIN_HAN or _NOT_TEXT.search(text):
        return 0.0
    if sum(char in _FREQUENT for char in han) < MIN_FREQUENT * len(han):
        return 0.0
    common = _common()
    return (sum(char in common for char in han) + len(_MARKS.findall(text))) / foreign


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    """The first levels of GB 2312 and of Big5, which were chosen by frequency, and the most frequent: 6,732 characters."""
    gb = bytes(byte for row in range(0xB0, 0xD8) for cell in range(0xA1, 0xFF) for byte in (row, cell))
    big5 = bytes(
        byte for row in range(0xA4, 0xC7) for cell in (*range(0x40, 0x7F), *range(0xA1, 0xFF)) for byte in (row, cell)
    )
    return _FREQUENT.union(_HAN.findall(gb.decode("gb2312", "ignore") + big5.decode("big5", "ignore")))


def _library_agrees(data: bytes, text: str) -> bool:
    """Whether charset-normalizer, given these encodings and those of the neighbours to choose from, reads the same text."""
    from charset_normalizer import from_bytes

    names = [name.replace("-", "_") for family in _FAMILIES for name in family]
    best = from_bytes(data, cp_isolation=[*names, *_OTHERS]).best()
    return best is not None and str(best) == text
