"""How alike characters sound: worked values, heteronyms, fuzzy pairs, slips, neighbours, and the published pairs."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.similarity import recall
from corrector.similarity.build_pinyin import is_han, likeness_table, weigh_readings
from corrector.similarity.pinyin import (
    TABLE_PATH,
    common_characters,
    nearest_by_sound,
    pinyin_similarity,
    readings,
    same_syllable,
    syllable_similarity_matrix,
)
from corrector.similarity.syllables import (
    slip_likeness,
    split_syllable,
    split_tone,
    syllable_likeness,
    toneless_likeness,
)

CONFUSIONS = Path(__file__).parents[2] / "shared" / "csc"
common = st.sampled_from(common_characters())


def test_readings_come_most_used_first() -> None:
    assert readings("中")[:2] == ("zhong1", "zhong4")
    assert readings("重")[:2] == ("zhong4", "chong2")
    assert readings("的")[0] == "de5"
    assert readings("女")[0] == "nv3"
    assert readings("一")[0] == "yi1"
    assert readings("x") == readings("，") == readings("") == ()


def test_a_rare_character_of_an_extension_block_has_readings() -> None:
    assert readings("𫖯") == ("fu3",)


@pytest.mark.parametrize(
    ("syllable", "parts"),
    [
        ("zhong", ("zh", "ong")),
        ("you", ("", "iou")),
        ("liu", ("l", "iou")),
        ("jun", ("j", "vn")),
        ("lun", ("l", "uen")),
        ("lv", ("l", "v")),
        ("er", ("", "er")),
        ("ng", ("", "ng")),
        ("wu", ("", "u")),
    ],
)
def test_syllables_split_into_initial_and_full_final(syllable: str, parts: tuple[str, str]) -> None:
    assert split_syllable(syllable) == parts


def test_worked_values_of_the_formula() -> None:
    assert toneless_likeness("zhi", "zi") == pytest.approx(0.40 + 0.25 * 0.76 + 0.25 * 0.76)  # fuzzy initial: 0.78
    assert toneless_likeness("lin", "ling") == pytest.approx(0.40 * 0.76 + 0.25 + 0.25 * 0.76)  # fuzzy final: 0.744
    assert toneless_likeness("ba", "pa") == pytest.approx(0.40 + 0.25 * 0.20 + 0.25 * 0.20)  # aspirated partner
    assert toneless_likeness("ga", "ma") == pytest.approx(0.40)  # the same final and nothing else
    assert toneless_likeness("mi", "ba") == pytest.approx(0.25 * 0.10)  # the same place of articulation only
    assert syllable_likeness("ma1", "ma1") == 0.98
    assert syllable_likeness("ma1", "ma5") == 0.90
    assert syllable_likeness("zhi1", "zi1") == pytest.approx(0.78 + 0.02)
    assert syllable_likeness("zhi1", "zi4") == pytest.approx(0.78)


@pytest.mark.parametrize(
    ("a", "b", "likeness"),
    [
        ("gong", "hong", 0.55),  # g and h are neighbours on the keyboard
        ("gong", "pong", 0.0),  # g and p are not
        ("gai", "gia", 0.58),  # two letters swapped
        ("le", "lee", 0.58),  # one letter doubled
        ("shuan", "shuang", 0.50),  # one letter missing
        ("ni", "ning", 0.0),  # two letters missing
        ("ma", "ma", 0.0),  # no slip at all
    ],
)
def test_keyboard_slips(a: str, b: str, likeness: float) -> None:
    assert slip_likeness(a, b) == slip_likeness(b, a) == likeness


def test_heteronyms_are_as_near_as_their_nearest_readings() -> None:
    assert pinyin_similarity("行", "形") >= 0.93
    assert pinyin_similarity("行", "航") >= 0.9
    assert pinyin_similarity("重", "虫") >= 0.93
    assert pinyin_similarity("重", "众") >= 0.93


def test_a_reading_only_dictionaries_know_counts_less_than_a_usual_one() -> None:
    assert pinyin_similarity("研", "行") < pinyin_similarity("研", "严")
    assert pinyin_similarity("研", "形") < 0.75


def test_the_order_of_nearness() -> None:
    scores = [pinyin_similarity("知", other) for other in ("知", "之", "至", "资", "自", "迟", "妈")]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) == len(scores)
    assert scores[0] == 1.0 and scores[1] == 0.98
    assert 0.7 < pinyin_similarity("林", "凌") < 0.8
    assert 0.7 < pinyin_similarity("知", "资") <= 0.8


def test_texts_average_and_readings_in_context_decide() -> None:
    assert pinyin_similarity("银行", "银航") == pytest.approx((1 + pinyin_similarity("行", "航")) / 2)
    in_context = pinyin_similarity("行", "航", ("hang2",), ("hang2",))
    assert in_context == 0.98 and pinyin_similarity("行", "航", ("xing2",), ("hang2",)) < 0.5
    assert pinyin_similarity("行", "航", ("hang2",)) == 0.98  # one side's dictionary readings
    assert pinyin_similarity("航", "行", None, ("hang2",)) == 0.98 and pinyin_similarity("航", "行", None, ("xing2",)) < 0.5
    assert pinyin_similarity("", "") == 1.0


def test_unknown_characters_are_like_themselves_only() -> None:
    assert pinyin_similarity("x", "x") == 1.0
    assert pinyin_similarity("x", "行") == pinyin_similarity("，", "。") == 0.0


@pytest.mark.parametrize("given_readings", [None, ("hang2", "hang2")])
def test_unequal_lengths_are_refused(given_readings: tuple[str, ...] | None) -> None:
    with pytest.raises(ValueError, match="unequal length"):
        pinyin_similarity("行", "航" if given_readings else "银行", given_readings)


@settings(deadline=None)
@given(common, common)
def test_similarity_is_symmetric_and_one_only_for_equals(a: str, b: str) -> None:
    similarity = pinyin_similarity(a, b)
    assert similarity == pinyin_similarity(b, a)
    assert 0 <= similarity <= 1 and (similarity == 1) == (a == b)


@settings(deadline=None)
@given(st.text(max_size=3), st.data())
def test_any_text_is_safe_and_symmetric(a: str, data: st.DataObject) -> None:
    b = data.draw(st.text(min_size=len(a), max_size=len(a)))
    assert pinyin_similarity(a, b) == pytest.approx(pinyin_similarity(b, a))


def test_the_matrix_says_what_the_function_says() -> None:
    syllables, matrix = syllable_similarity_matrix()
    assert matrix.shape == (len(syllables), len(syllables)) and matrix.dtype == np.float32
    assert (matrix == matrix.T).all() and not matrix.flags.writeable
    chosen = range(0, len(syllables), 97)
    for i in chosen:
        for j in chosen:
            assert matrix[i, j] == pytest.approx(syllable_likeness(syllables[i], syllables[j]), abs=1e-6)


def test_the_stored_likenesses_are_those_of_the_formula() -> None:
    computed = likeness_table(list(syllable_similarity_matrix()[0]))
    with np.load(TABLE_PATH, allow_pickle=False) as stored:
        for name, values in computed.items():
            np.testing.assert_array_equal(stored[name], values)


def test_the_likeness_table_holds_worked_values() -> None:
    table = likeness_table(["zhi1", "zhi4", "zi1", "ba1"])  # less their tones: ba, zhi, zi
    likeness = table["likeness_values"][table["likeness"]]
    assert likeness.shape == (3, 3) and (likeness == likeness.T).all()
    assert likeness[1, 1] == np.float32(0.90) and likeness[1, 2] == np.float32(0.78)


def test_every_syllable_is_spelled_with_letters_and_a_tone() -> None:
    for syllable in syllable_similarity_matrix()[0]:
        plain, tone = split_tone(syllable)
        assert plain.isascii() and plain.isalpha() and 1 <= tone <= 5


@settings(deadline=None)
@given(common)
def test_neighbours_carry_the_similarity_of_the_pair(character: str) -> None:
    neighbours = nearest_by_sound(character)
    assert len(neighbours) == 30 and character not in dict(neighbours)
    assert neighbours == nearest_by_sound(character, 60)[:30]
    for other, similarity in neighbours:
        assert similarity == pytest.approx(pinyin_similarity(character, other), abs=1e-4)


def test_neighbours_are_common_homophones_first() -> None:
    order = [c for c, _ in nearest_by_sound("再")]
    assert order[0] == "在"
    order = [c for c, _ in nearest_by_sound("他")]
    assert order.index("她") < 4 and order.index("它") < 4 and order.index("她") < order.index("铊")
    assert nearest_by_sound("x") == ()


def test_a_rare_character_has_common_neighbours_too() -> None:
    assert "殑" not in common_characters()
    assert len(nearest_by_sound("殑", 5)) == 5 and {c for c, _ in nearest_by_sound("殑")} <= set(common_characters())


def test_same_syllable_ignores_the_tone_and_covers_every_reading() -> None:
    shared = same_syllable("行")
    assert {"形", "星", "航"} <= set(shared) and "行" not in shared and len(set(shared)) == len(shared)
    assert set(shared) <= set(common_characters())
    assert all({split_tone(s)[0] for s in readings(c)} & {split_tone(s)[0] for s in readings("行")} for c in shared)
    assert same_syllable("x") == ""


def test_common_characters_are_the_national_set_by_frequency() -> None:
    known = common_characters()
    assert len(known) == len(set(known)) and 6763 <= len(known) < 7000 and all(map(is_han, known))
    assert known.index("的") < 50 < known.index("铊") and "囧" in known and "殑" not in known


def test_readings_are_weighed_by_use() -> None:
    weighed = weigh_readings(["a1", "b1", "c1", "d1"], Counter({"b1": 9000, "c1": 500}))
    assert weighed == [("b1", 100), ("c1", 95), ("a1", 70), ("d1", 70)]


def test_look_ups_need_neither_pypinyin_nor_jieba() -> None:
    code = (
        "import sys; from corrector.similarity import glyph, pinyin; early = 'numpy' in sys.modules;"
        "pinyin.nearest_by_sound('行'); glyph.nearest_by_shape('行');"
        "print(early, [m for m in ('pypinyin', 'jieba', 'PIL', 'torch') if m in sys.modules])"
    )
    root = Path(__file__).parents[1]
    printed = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True).stdout
    assert printed == "False []\n"


def test_recall_counts_known_pairs_and_their_ceiling() -> None:
    ranked = {"甲": ("乙", "丙"), "丁": ()}
    measured = recall.measure(
        [("甲", "乙戊"), ("丁", "丙")],
        lambda c, count: tuple((other, 0.5) for other in ranked[c][:count]),
        lambda c: c != "戊",
    )
    assert measured == recall.Recall(pairs=3, known=2, found=(1, 1, 1), ceiling=1.0)
    assert measured.shares() == (0.5, 0.5, 0.5)


@pytest.mark.skipif(not CONFUSIONS.is_dir(), reason="published confusion sets not here")
def test_published_homophones_are_among_the_neighbours() -> None:
    confusions = list(recall.read_confusions(CONFUSIONS / "confusion.sound.pycorrector.tsv"))[::7]
    measured = recall.measure(confusions, nearest_by_sound, lambda c: bool(readings(c)))
    at_30, at_60, at_100 = measured.shares()
    assert measured.known == measured.pairs
    assert at_30 >= 0.72 and at_60 >= 0.86 and at_100 >= 0.91
