"""Finds the phrases of ``corrector.similarity.phrases`` in packed text: words of four characters of which three give away the fourth, and
idioms even where the text has none of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corrector.electra.model import VOCABULARY
from corrector.electra.tokenizer import Tokenizer
from corrector.electra.word_set import WordSet
from corrector.propose import COMPLETION, likeness
from corrector.similarity.misspellings import well_known
from corrector.similarity.phrases import DIGITS, HEADING, LENGTH, RARE
from corrector.similarity.words import jieba_words, misspelt
from corrector.text.protect import is_han
from corrector.text.write import write_atomically
from corrector.train.prepare import shard_names

Tokens = NDArray[np.uint16]

FEWEST = 5  # occurrences of a phrase
SHARE, SHARE_OF_IDIOM = 0.95, 0.7  # of what stands where the rest of it does that it must be; less where a dictionary of idioms has it
_IDIOM = "i"  # jieba's tag
_NAMES_AND_NUMBERS = frozenset(("nr", "nrfg", "nrt", "ns", "nt", "nz", "m", "q", "t"))  # 佛罗里达 or 弗罗里达, 大年三十 or 二十
_AT_A_TIME = 1 << 22  # tokens

# Right as well, though they differ in one character from a phrase, read in the list of what the corpus has in its place; or in two.
RIGHT_TOO = """
一天所获 一次排开 上岗上线 不忍卒睹 不忍猝读 不治之证 不法份子 不知可否 不紧不忙 专属经纪 事实在在 互连互通 亲自鉴定 人机交付
人材辈出 以理相待 任务艰钜 伽玛射线 体外授精 依山伴水 依次类推 做嫁衣裳 光采照人 共行天罚 共通语言 其它同学 冠绝一世 决意死战
动力电磁 动态显式 动画短篇 北京大雪 千车万马 卸除武装 历时悠久 原滋原味 反覆推敲 发表异见 另据报导 只能手机 可趁之机 史实证明
叽哩呱啦 各执一辞 各族群中 合力布局 同一战线 品性不端 四出寻找 四季长青 回复健康 回复原状 回复正常 地面沉陷 坚如盘石 坚持不去
堆集如山 复制黏贴 复合条件 外界影像 大兴安林 大展鸿图 大开大阖 大音稀声 天气环境 天真浪漫 太平圣世 媒体报导 安分守纪 实地考查
宽弘大量 小心敬慎 工商保险 广而告知 引用程序 弗罗伦萨 彊弩之末 心律异常 忌贤妒能 忿恨不平 恸哭流涕 愤忿不平 所做所为 打开眼界
执业生涯 执法检察 扩大开行 承当责任 控制重心 支系亲属 文华公园 断发纹身 无迹可循 日尔曼人 日行十里 时值今日 是实在在 显式文件
智能部门 有线公司 服务重心 格兰高地 步步为赢 气势磅礡 沉痛打击 深入人性 混同财产 爱滋病毒 特别实在 犯罪份子 独断专横 环境影像
由简入深 病毒监测 白驹过郤 监察官法 看风驶舵 真是情况 着作权法 瞭若指掌 知人论事 知识份子 磨擦系数 示范学校 稳中微升 立身处事
管你工作 纡回曲折 线形插值 组成部份 结果显式 给予厚望 聪敏才智 股份为限 自我意志 自由执业 舍身忘死 虚拟幻境 蛮横无礼 行动计画
行医问药 行迹可疑 负嵎顽抗 财物会计 跌荡起伏 身分验证 违犯规定 追根究柢 逝水流年 链锁反应 阿剌伯人 难以自信 雅片战争 雇用劳动
青云之上 鲜有人知 龚行天罚 得意扬扬 扬扬得意 一鞭先着 规重矩叠
"""


def write_phrases(data: Path, out: Path, say: Callable[[str], None]) -> None:
    """Write the list of a folder made by ``pack``. Raises InputError for a folder that is none."""
    from pypinyin.phrases_dict import phrases_dict

    vocabulary = Tokenizer.load(data / VOCABULARY).vocabulary
    raw, clean = shard_names(data)
    entries = {word: (count, tag) for word, count, tag in jieba_words() if len(word) == LENGTH and not well_known().are_in(word)}
    doubtful = misspelt({word: count for word, (count, _) in entries.items()})
    words = {word: tag for word, (_, tag) in entries.items() if word not in doubtful}
    texts = (np.load(data / f"{name}.npy") for name in (*clean, *raw))
    places = places_given_away(texts, vocabulary, words, phrases_dict)
    known = {word for word in phrases_dict if len(word) == LENGTH and not well_known().are_in(word)}
    also = sorted({*right_too(places, {*entries, *known}), *RIGHT_TOO.split()} - places.keys())
    lines = (f"{word}{DIGITS[bits]}\n" for word, bits in sorted({**places, **dict.fromkeys(also, 0)}.items()))
    write_atomically(out, (HEADING + "".join(lines)).encode())
    say(f"{len(places):,} phrases and {len(also):,} others that are like one")


def places_given_away(
    texts: Iterable[Tokens], vocabulary: Sequence[str], words: Mapping[str, str], idioms: Collection[str]
) -> dict[str, int]:
    """The words of four characters, with their tags, that occur ``FEWEST`` times and of which three characters give away the other, with
    the bits of the places of these; and those tagged as idioms, and known as such, that occur less often or never, if no more than so much
    else does, with ``RARE``."""
    ids = {token: number for number, token in enumerate(vocabulary)}
    four = sorted(word for word in words if all(char in ids and is_han(char) and char <= "\uffff" for char in word))
    own = np.array([[ids[char] for char in word] for word in four], dtype=np.int64).reshape(-1, LENGTH)
    counts = _counts(texts, own, np.array([len(token) == 1 and is_han(token) for token in vocabulary]))
    times = counts[:, :1]
    share = times / np.maximum(counts[:, 1:], 1)
    idiom = np.array([word in idioms for word in four], dtype=np.bool_)[:, None]
    usual = np.array([words[word] not in _NAMES_AND_NUMBERS for word in four], dtype=np.bool_)[:, None] | idiom
    given = (times >= FEWEST) & ((share >= SHARE) & usual | (share >= SHARE_OF_IDIOM) & idiom)
    rare = (times < FEWEST) & idiom & np.array([words[word] == _IDIOM for word in four], dtype=np.bool_)[:, None]
    given |= rare & (times >= SHARE_OF_IDIOM * counts[:, 1:])
    bits = (given << np.arange(LENGTH)).sum(1) | np.where(rare[:, 0], RARE, 0)
    return {word: own_bits for word, own_bits in zip(four, bits.tolist(), strict=True) if own_bits & ~RARE}


def right_too(places: Mapping[str, int], words: Collection[str]) -> list[str]:
    """Those of the words that are none of the phrases, but like one in its place that the others give away."""
    meant = {(place, _without(word, place)): word[place] for word, bits in places.items() for place in _places(bits)}
    found = []
    for word in words:
        rest = ((word[place], meant.get((place, _without(word, place)))) for place in range(LENGTH))
        if word not in places and any(other and max(likeness(char, other)) >= COMPLETION for char, other in rest):
            found.append(word)
    return sorted(found)


def _places(bits: int) -> Iterator[int]:
    return (place for place in range(LENGTH) if bits >> place & 1)


def _without(word: str, place: int) -> str:
    return word[:place] + word[place + 1 :]


def _counts(texts: Iterable[Tokens], words: NDArray[Any], han: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How often each of the words (n, 4) stands in the texts, and how often what is left of it without each of its characters does, with
    any Han character there: (n, 5)."""
    known = [np.unique(_keys(part, len(han)), return_inverse=True) for part in _parts(words)]
    sets, counts = [WordSet(keys) for keys, _ in known], [np.zeros(len(keys), dtype=np.int64) for keys, _ in known]
    for tokens in texts:
        for start in range(0, len(tokens) - LENGTH + 1, _AT_A_TIME):
            windows = np.lib.stride_tricks.sliding_window_view(tokens[start : start + _AT_A_TIME + LENGTH - 1], LENGTH)
            for own, count, part in zip(sets, counts, _parts(windows[han[windows].all(1)]), strict=True):
                count += np.bincount(own.find(_keys(part, len(han)))[1], minlength=len(count))
    return np.stack([count[number] for count, (_, number) in zip(counts, known, strict=True)], 1)


def _parts(ids: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Rows of ids (n, 4), then what is left of them without each of the four (n, 3)."""
    yield ids
    for place in range(LENGTH):
        yield np.delete(ids, place, 1)


def _keys(ids: NDArray[Any], size: int) -> NDArray[np.uint64]:
    """The rows of ids (n, length) as numbers in base ``size``: (n,)."""
    keys = np.zeros(len(ids), dtype=np.uint64)
    for column in ids.T:
        keys = keys * np.uint64(size) + column.astype(np.uint64)
    return keys
