"""What personal names are made of, learnt from jieba's dictionary.

A tagger made the dictionary, so many of its names are none (维生素, 都还不 and 黄石路 are tagged nr). Its three-character ones that begin
with a surname are therefore taken for a mixture of names, transliterations and ordinary text, fitted by expectation maximisation
(Dempster, Laird & Rubin 1977); what is counted is its names.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from corrector.similarity.pinyin import common_characters

# In use today, the most frequent first; those that the dictionary does not bear out, `build_names` leaves out.
SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖萧田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖"
    "贾夏韦付傅方白邹孟熊秦邱江尹薛闫阎段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷"
    "詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛曲翁冉骆蓝路游辛靳管柴蒙鲍华喻祁蒲房滕屈饶解牟艾尤阳时穆"
    "农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂佟应臧闵苟邬边卞姬仇栾隋刁沙荣巫寇桑郎甄丛仲虞敖巩佘池查麻苑"
    "迟邝封谈匡鞠惠荆乐冀郁胥班储栗燕楚鄢劳谌奚皮粟冼蔺楼盘闻厉伊仝郜阚花权强帅屠朴盖练廉禹井祖漆巴丰支狄计索晋容敬扈晁芮薄雍辜"
    "裘亓习赫杭况鲜逯茹慕危嵇束檀智幸衡富谯糜鹿麴怀"
)  # fmt: skip
COMPOUND_SURNAMES = (
    "欧阳", "司马", "上官", "诸葛", "司徒", "夏侯", "皇甫", "尉迟", "公孙", "慕容", "令狐", "端木", "南宫", "长孙", "宇文", "东方", "独孤",
    "轩辕", "呼延", "西门", "闻人", "申屠", "淳于", "钟离", "东郭", "澹台", "公冶", "濮阳", "鲜于", "闾丘", "赫连", "拓跋", "完颜",
)  # fmt: skip

NAME_TAGS, FOREIGN_TAG = ("nr", "nrfg"), "nrt"

# These are no given names, though the tagger took many a person's title, place and deed for one.
_NOT_GIVEN = "县镇庄村州省区郡寨城路街哥爷叔姐兄弟妹妈爸娘师氏帝后王侯公笑怒叹说道曰见听引领之的"
_RARE = 60  # occurrences that every character is taken to have besides those counted: one in a million
_UNWRITTEN = 0.1  # share of a character's occurrences that are in words which no dictionary has
_TAGGED = 0.3  # share of the occurrences of a surname by itself, tagged as a name, that are something else
_SPREAD, _SPREAD_FOREIGN = 0.03, 0.01  # shares of given names and transliterations that are spread over all characters
_CUT = 0.3  # names of two characters with the character after them, for each name of three
_ROUNDS = 5

Entry = tuple[str, int, str]
Ratio = Callable[[str], float]


class Ordinary:
    """Ordinary text: words tagged as something else than names, and single characters, each drawn independently."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.total, self.words = 0, dict[str, int]()
        self._alone, self._anywhere = defaultdict[str, float](float), defaultdict[str, float](float)
        for word, count, tag in entries:
            self.total += count
            for character in word:
                self._anywhere[character] += count
            if len(word) == 1:
                self._alone[word] += count * (_TAGGED if tag in NAME_TAGS and word in SURNAMES else 1)
            elif len(word) <= 4 and tag not in (*NAME_TAGS, FOREIGN_TAG):
                self.words[word] = count

    def single(self, character: str) -> float:
        """The probability of a character by itself."""
        return (self._alone.get(character, 0) + _UNWRITTEN * self._anywhere.get(character, 0) + _RARE) / self.total

    def probability(self, text: str) -> float:
        """The probability of a text, summed over its readings."""
        sums = [1.0] + [0.0] * len(text)
        for end in range(1, len(text) + 1):
            sums[end] = sums[end - 1] * self.single(text[end - 1])
            for start in range(max(0, end - 4), end - 1):
                sums[end] += sums[start] * self.words.get(text[start:end], 0) / self.total
        return sums[len(text)]

    def gain(self, word: str, count: float) -> float:
        """How much likelier a word of this count is than its characters one by one."""
        return count / self.total / math.prod(map(self.single, word))


class Mixture:
    """What the dictionary's three-character names are, and how names are made up.

    ``names`` and ``foreign`` hold the share of each that is a name or a transliteration; ``surname``, ``first``, ``last`` (of the given
    name) and ``letter`` (of a transliteration) give the probability of a character.
    """

    surname: Ratio
    first: Ratio
    last: Ratio
    letter: Ratio

    def __init__(self, entries: list[Entry], ordinary: Ordinary) -> None:
        self._common = set(common_characters())
        self._singles = [word for word, _, tag in entries if tag in (*NAME_TAGS, FOREIGN_TAG) and word in self._common]
        self._foreign_words = [word for word, _, tag in entries if tag == FOREIGN_TAG and 2 <= len(word) <= 6]
        three = [word for word, _, tag in entries if tag in NAME_TAGS and len(word) == 3 and word[0] in SURNAMES]
        surnamed = sum(map(ordinary.single, SURNAMES))
        plain = {word: ordinary.probability(word) / surnamed for word in three}
        self.names, self.foreign = dict.fromkeys(three, 0.7), dict.fromkeys(three, 0.1)
        for _ in range(_ROUNDS):
            self._count()
            name, foreign = (sum(shares.values()) / len(three) for shares in (self.names, self.foreign))
            surnamed = sum(map(self.letter, SURNAMES))
            for word in three:
                a, b, c = tuple(word)
                as_name = name * self.surname(a) * self.first(b) * self.last(c)
                as_cut_name = name * _CUT * self.surname(a) * self.last(b) * ordinary.single(c)
                as_foreign = foreign * self.letter(a) * self.letter(b) * self.letter(c) / surnamed
                total = as_name + as_cut_name + as_foreign + max(1 - name - foreign, 0.02) * plain[word]
                self.names[word], self.foreign[word] = as_name / total, as_foreign / total

    def _count(self) -> None:
        surnames, letters = dict.fromkeys(SURNAMES, 0.5), defaultdict[str, float](float)
        first, last = (defaultdict[str, dict[str, float]](dict) for _ in range(2))
        for word, share in self.names.items():
            surnames[word[0]] += share
            for position, character in ((first, word[1]), (last, word[2])):
                position[character][word[0]] = position[character].get(word[0], 0) + share
            for character in word:
                letters[character] += self.foreign[word]
        for character in "".join(self._foreign_words):
            letters[character] += 1
        self.surname = _smoothed(surnames)
        self.letter = _smoothed(letters, _SPREAD_FOREIGN, len(self._common))
        self.first, self.last = self._given(first), self._given(last)

    def _given(self, counts: Mapping[str, Mapping[str, float]]) -> Ratio:
        """A character after many surnames counts for more than one often after the same: that is one person (郭靖说)."""
        spread = {c: sum(min(n, math.sqrt(n)) for n in by.values()) for c, by in counts.items() if c not in _NOT_GIVEN}
        for character in self._singles:
            spread[character] = spread.get(character, 0) + 1
        return _smoothed(spread, _SPREAD, len(self._common))


def _smoothed(counts: Mapping[str, float], share: float = 0, characters: int = 1) -> Ratio:
    """Probabilities by counts, a share of them the same for each of so many characters."""
    total, uniform = sum(counts.values()), share / characters
    return lambda character: (1 - share) * counts.get(character, 0) / total + uniform
