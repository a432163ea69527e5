"""Which characters are part of a personal name: examples both ways, the context, transliterations, any text, and the table itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.similarity.build_names import build
from corrector.similarity.name_mixture import NAME_TAGS, SURNAMES, Mixture, Ordinary
from corrector.similarity.names import _RUN, TABLE_PATH, _shares, _table, name_scores
from corrector.similarity.words import jieba_words

PIECES = st.sampled_from(
    ["张玥铭", "欧阳", "王", "说", "记者", "、", "·", "特朗普", "乔治", "高兴", "黄河", "先生", "，", "a", "😀", "\ud800", "𠀀"]
)
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=30).map("".join), st.text("王李明·特朗普伟、说", max_size=120))


def found(text: str, least: float = 0.5) -> list[str]:
    """The stretches of characters that score more than ``least``."""
    marked = "".join(c if score > least else "\n" for c, score in zip(text, name_scores(text), strict=True))
    return marked.split()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("昨天下午，张玥铭在比赛中获得第一名。", ["张玥铭"]),
        ("记者李梓涵报道了这次会议。", ["李梓涵"]),
        ("他和陈思远一起去了北京。", ["陈思远"]),
        ("欧阳修是北宋文学家。", ["欧阳修"]),
        ("司马懿按兵不动，诸葛亮六出祁山。", ["司马懿", "诸葛亮"]),
        ("医生许睿给他做了手术。", ["许睿"]),
        ("公司总经理周建国表示，今年利润增长两成。", ["周建国"]),
        ("黄晓明、杨颖出席了活动。", ["黄晓明", "杨颖"]),
        ("1月31日，刘德华与宁浩作客直播间和董宇辉对谈。", ["刘德华", "宁浩", "董宇辉"]),
        ("当事人王先生告诉记者。", ["王"]),
        ("美国总统乔治·华盛顿发表讲话。", ["乔治", "华盛顿"]),
        ("史蒂夫·乔布斯创立了公司，埃隆·马斯克没有。", ["史蒂夫", "乔布斯", "埃隆", "马斯克"]),
    ],
)
def test_names_are_found_whole(text: str, names: list[str]) -> None:
    assert found(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "我今天非常高兴。", "这是一个古老的王国。", "他张开双臂欢迎我们。", "这个方法很有效。", "黄河是中华民族的母亲河。", "他马上就到。",
        "于是大家都走了。", "你何必这样呢？", "任何人都不能例外。", "白天他在家睡觉。", "周末我们去爬山。", "金融市场波动很大。",
        "高速公路已经开通。", "胡萝卜含有丰富的维生素。", "雷阵雨将持续到晚上。", "康复中心建成了。", "石油价格上涨，牛奶也一样。",
        "陈旧的设备需要更换。", "王子和公主住在宫里。", "乐观的人总能看到希望。", "国家发展改革委印发通知。", "中国·北京",
    ],
)  # fmt: skip
def test_ordinary_words_that_begin_with_surnames_are_none(text: str) -> None:
    assert found(text, 0.3) == []


@pytest.mark.parametrize(
    ("plain", "telling"),
    [
        ("又去找马龙聊天", "又去找教练马龙聊天"),
        ("又去找马龙聊天", "又去找马龙教授聊天"),
        ("后来曲春雨进入决赛", "后来曲春雨认为决赛"),
        ("冠军是肖战和他", "冠军是王一博、肖战和他"),
    ],
)
def test_what_stands_around_a_name_raises_it(plain: str, telling: str) -> None:
    name = next(n for n in ("马龙", "曲春雨", "肖战") if n in plain)
    before, after = (float(name_scores(text)[text.index(name)]) for text in (plain, telling))
    assert 0.01 < before < 0.6 and after > before + 0.1


def test_a_title_after_a_surname_makes_it_a_name() -> None:
    assert found("这件事王知道") == []
    assert found("这件事王教授知道") == ["王"]


def test_the_dot_makes_a_transliteration_surer() -> None:
    alone, dotted = (float(name_scores(text)[1:4].min()) for text in ("在列姆布住", "在列姆布·住"))
    assert 0 < alone < 0.9 * dotted


def test_a_name_outweighs_words_only_as_far_as_both_are_likely() -> None:
    """The forward and backward sums, against all readings of 张明天 written out: 张明 | 天, 张 | 明天, 张明天, 张 | 明 | 天."""
    names, word = [(0, 2, 5.0), (0, 3, 2.0)], _table().words["明天"]
    total = 5 + word + 2 + 1
    assert _shares("张明天", names) == pytest.approx([7 / total, 7 / total, 2 / total])


def test_transliterations_are_summed_over_all_their_places() -> None:
    """Of two characters: none, the first, the second, both as one, both as two; beginning at the start of the run and ending anywhere."""
    a, b = (_table().foreign[c] for c in "朗普")
    assert "朗普" not in _table().words
    enter, leave = 0.5, 0.25  # of the run; inside it 0.0003, 0.3, and 0.7 to go on
    first, second, one, two = enter * a * 0.3, 0.0003 * b * leave, enter * a * 0.7 * b * leave, enter * a * 0.3 * 0.0003 * b * leave
    total = 1 + first + second + one + two
    expected = [(first + one + two) / total, (second + one + two) / total]
    assert _shares("朗普", [], enter, leave) == pytest.approx(expected)


@settings(deadline=None)
@given(TEXTS)
def test_any_text_has_a_score_for_each_character(text: str) -> None:
    scores = name_scores(text)
    assert scores.shape == (len(text),) and scores.dtype == np.float32
    assert np.isfinite(scores).all() and (scores >= 0).all() and (scores <= 1).all()
    assert all(score == 0 for c, score in zip(text, scores, strict=True) if not _RUN.match(c))
    assert np.array_equal(scores, name_scores(text))


@settings(deadline=None)
@given(TEXTS, st.lists(st.integers(0, 60), max_size=3))
def test_scores_at_places_are_those_of_the_whole_text(text: str, places: list[int]) -> None:
    places = [place for place in places if place < len(text)]
    assert np.array_equal(name_scores(text, places)[places], name_scores(text)[places])


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_sentences_do_not_see_each_other(a: str, b: str) -> None:
    before, after = name_scores(f"{a}，\n。"), name_scores(f"，\n。{b}")
    assert np.array_equal(name_scores(f"{a}，\n。{b}"), np.concatenate([before, after[3:]]))


def test_the_longest_sums_stay_finite() -> None:
    words = _table().words
    likeliest = [max((w for w in words if len(w) == length), key=words.__getitem__) for length in (2, 3)]
    for text in ("王" * 200, "张玥铭" * 70_000, *(f"记者王{word * 40}王明说" for word in likeliest), "·".join(["特朗普" * 30] * 3)):
        assert np.isfinite(name_scores(text)).all()


def test_runs_longer_than_the_window_are_scored_everywhere() -> None:
    scores = name_scores("李梓涵" * 40)
    assert (scores > 0.5).mean() > 0.9


def test_jieba_is_not_imported() -> None:
    program = "import sys; from corrector.similarity.names import name_scores as f; f('张玥铭说'); print('jieba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


ENTRIES = [
    *((f"{s}{a}{b}", 3, "nr") for s in "王李张刘陈" for a in "建国志" for b in "华明军"),
    ("王说道", 3, "nr"), ("天气", 900, "n"), ("王", 500, "nr"), ("的", 5000, "uj"), ("走", 900, "v"), ("卡斯特", 3, "nrt"),
]  # fmt: skip


def test_ordinary_text_is_the_sum_over_its_readings() -> None:
    ordinary = Ordinary(ENTRIES)
    sky, air = (ordinary.single(c) for c in "天气")
    assert ordinary.total == 135 + 3 + 900 + 500 + 5000 + 900 + 3
    assert ordinary.single("的") == pytest.approx((5000 + 500 + 60) / ordinary.total)
    assert ordinary.single("王") == pytest.approx((0.3 * 500 + 0.1 * (500 + 27 + 3) + 60) / ordinary.total)
    assert ordinary.probability("天气") == pytest.approx(sky * air + 900 / ordinary.total)
    assert ordinary.gain("天气", 900) == pytest.approx(900 / ordinary.total / (sky * air))


def test_the_mixture_tells_names_from_what_is_only_tagged_so() -> None:
    mixture = Mixture(ENTRIES, Ordinary(ENTRIES))
    assert mixture.names["李建华"] > 0.9 > 0.1 > mixture.names["王说道"]
    assert mixture.first("建") > 20 * mixture.first("华") and mixture.last("华") > 20 * mixture.last("建")
    assert mixture.letter("斯") > mixture.letter("华")
    assert sum(map(mixture.surname, SURNAMES)) == pytest.approx(1)


def test_the_shipped_table_is_what_the_dictionary_gives(tmp_path: Path) -> None:
    """Takes some seconds. Logarithms may round otherwise on another machine."""
    assert {"李四光", "张之洞"} <= {word for word, _, tag in jieba_words() if tag in NAME_TAGS}
    path = tmp_path / "names.npz"
    with np.load(TABLE_PATH) as shipped:
        assert build(path) == len(shipped["word_steps"])
        with np.load(path) as built:
            assert set(built) == set(shipped)
            for name in built:
                near = 1 if name.endswith("_steps") else 0
                assert np.abs(built[name].astype(int) - shipped[name].astype(int)).max() <= near, name
    assert TABLE_PATH.stat().st_size < 100_000
