"""The list of well-known misspellings, what it says of a text, and what becomes of that."""

from __future__ import annotations

import numpy as np
import pytest

from corrector import Corrector, corrected_text
from corrector.edit_features import ALIKE, FEATURES
from corrector.edits import Proposal, edits_of
from corrector.electra.marks import MarkTables
from corrector.electra.model_dir import find_model
from corrector.electra.tokenizer import Tokenizer
from corrector.explain import explain
from corrector.known_forms import CONFIDENCE
from corrector.propose import Characters
from corrector.similarity.glyph import glyph_similarity
from corrector.similarity.misspellings import _LIST, AS_A_WHOLE, BY_CHANCE, SURE, Meant, Misspellings, well_known
from corrector.similarity.pinyin import pinyin_similarity
from corrector.text.protect import is_han
from corrector.types import Span
from corrector.words import read_lines
from tests.test_complaints import needs_model

FORMS = [line.split() for _, line in read_lines(_LIST)]


def test_every_form_of_the_list_is_wrong_in_one_character_or_in_some_alike_or_as_a_whole() -> None:
    for wrong, right, *mark in FORMS:
        assert len(wrong) == len(right) and all(map(is_han, wrong + right)), wrong
        assert mark in ([], ["?"], ["!"]), wrong
        pairs = [pair for pair in zip(wrong, right, strict=True) if pair[0] != pair[1]]
        if mark == ["!"]:
            assert len(pairs) > 1 and len(wrong) > 2, wrong
        elif len(set(pairs)) > 1:  # more than one that is doubled
            assert all(max(pinyin_similarity(*pair), glyph_similarity(*pair)) >= ALIKE for pair in pairs), wrong


def test_no_form_is_wrong_and_right_or_there_twice() -> None:
    wrong = [form for form, *_ in FORMS]
    assert wrong == sorted(set(wrong))
    assert not set(wrong) & {right for _, right, *_ in FORMS}
    for _, right, *_ in FORMS:
        assert not well_known().are_in(right), right


@needs_model
def test_the_embedded_model_can_write_the_list() -> None:
    vocabulary = set(find_model(None).tokenizer.vocabulary)
    assert {char for forms in FORMS for char in "".join(forms[:2])} <= vocabulary


def test_what_is_meant_by_a_text() -> None:
    known = Misspellings({"膺品": ("赝品", SURE), "脉博": ("脉搏", BY_CHANCE), "廖廖无几": ("寥寥无几", SURE), "品山": ("品三", SURE)})
    assert known.meant("膺品、山脉博物馆，廖廖无几") == {
        0: Meant("赝", SURE), 5: Meant("搏", BY_CHANCE), 9: Meant("寥", SURE), 10: Meant("寥", SURE)
    }  # fmt: skip
    assert known.meant("膺品山") == {0: Meant("赝", SURE), 2: Meant("三", SURE)}
    assert known.meant("赝品") == known.meant("") == {}


def test_a_form_where_one_word_ends_and_another_begins_says_nothing() -> None:
    known = Misspellings({"必竟": ("毕竟", SURE), "必竟然": ("毕竟然", SURE)})
    assert known.meant("不必竟") == known.meant("不必竟", {1, 3}) == {1: Meant("毕", SURE)}
    assert known.meant("不必竟", {2}) == {}
    assert known.meant("不必竟然", {2}) == {1: Meant("毕", SURE)}, "of three characters"


def test_a_form_by_chance_says_nothing_where_mended_it_would_leave_half_a_word() -> None:
    known = Misspellings({"促消": ("促销", BY_CHANCE), "膺品": ("赝品", SURE)})
    assert known.meant("促消费膺品牌", (), {1, 4}) == {3: Meant("赝", SURE)}
    assert known.meant("促消费", (), {0, 2}) == {1: Meant("销", BY_CHANCE)}


def test_a_form_that_is_wrong_as_a_whole_says_nothing_of_its_characters() -> None:
    known = Misspellings({"鸡皮蒜毛": ("鸡毛蒜皮", AS_A_WHOLE), "机灵一动": ("灵机一动", AS_A_WHOLE), "膺品": ("赝品", SURE)})
    text = "机灵一动，鸡皮蒜毛的膺品"
    assert list(known.wrong_as_a_whole(text)) == [(Span(0, 2), "灵机"), (Span(6, 9), "毛蒜皮")]
    assert known.meant(text) == {10: Meant("赝", SURE)}
    assert list(known.wrong_as_a_whole("鸡毛蒜皮")) == list(known.wrong_as_a_whole("")) == []
    assert known.are_in("机灵一动") and known.are_in("那膺品") and not known.are_in("灵机一动的赝品")


@needs_model
@pytest.mark.parametrize(("text", "says"), [("用促消费措施", False), ("促消活动", True), ("报消费用", True), ("期末稍微好些", False)])
def test_where_a_form_stands_by_chance_the_words_beside_it_tell(text: str, says: bool) -> None:
    tokenizer = find_model(None).tokenizer
    tables = tokenizer.tables
    assert tables is not None
    characters = Characters(tokenizer.vocabulary, tokenizer.id_of, tables)
    assert bool(characters.meant(tokenizer.encode(text))) is says


def test_what_is_meant_is_proposed_with_its_evidence_and_nothing_else_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """走头无路 and 廖廖无几: an edit that changes what is meant and a neighbour too has no evidence."""
    vocabulary = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"走头投无路廖寥几我")
    none = np.zeros(0, dtype=np.uint64)
    tables = MarkTables(len(vocabulary), (none, none, none))
    tokenizer = Tokenizer(vocabulary, tables.types)
    characters = Characters(vocabulary, tokenizer.id_of, tables)
    known = Misspellings({"走头无路": ("走投无路", SURE), "廖廖无几": ("寥寥无几", BY_CHANCE), "路几": ("骆几", SURE)})
    monkeypatch.setattr("corrector.propose.well_known", lambda: known)
    found = {}
    for text, places in {"走头无路": (1, 2), "我廖廖无几": (1, 2), "路几": (0,)}.items():
        encoding = tokenizer.encode(text)
        meant = [characters.meant(encoding).get(place + 1, (0, 0)) for place in places]
        view = np.full(len(vocabulary), -8.0, dtype=np.float32)
        members = [
            Proposal(place, place + 1, 1.0, 2, 0.0, view, [vocabulary.index("我"), *([new] if evidence else [])], meant=(new, evidence))
            for place, (new, evidence) in zip(places, meant, strict=True)
        ]
        (edits,) = edits_of([(encoding, members)], characters)
        found[text] = {edit.replacement: edit.features[FEATURES.index("misspelling")] for edit in edits if edit.index == places[0]}
    assert found["走头无路"] == {"我": 0, "投": SURE, "我我": 0, "投我": 0}
    assert found["我廖廖无几"] == {"我": 0, "寥": BY_CHANCE, "我我": 0, "我寥": 0, "寥我": 0, "寥寥": BY_CHANCE}
    assert found["路几"] == {"我": 0}, "骆 is not in the vocabulary"


@pytest.fixture(scope="module")
def corrector() -> Corrector:
    return Corrector(threads=1)


@needs_model
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("专家说这幅画是膺品。", "专家说这幅画是赝品。"),
        ("公司被逼得走头无路。", "公司被逼得走投无路。"),
        ("老屋去年刚刚修茸过。", "老屋去年刚刚修葺过。"),
        ("候鸟每年秋天都要迁徒。", "候鸟每年秋天都要迁徙。"),
        ("他莫名奇妙地笑了。", "他莫名其妙地笑了。"),
        ("来参加的人廖廖无几。", "来参加的人寥寥无几。"),
        ("她忧心冲冲地望着窗外。", "她忧心忡忡地望着窗外。"),
        ("他去年应骋了经理职位。", "他去年应聘了经理职位。"),
        ("谢谢你的邀请，我会准时付约。", "谢谢你的邀请，我会准时赴约。"),
        ("他一托再托，不肯还钱。", "他一拖再拖，不肯还钱。"),
        ("这种骄柔造作的表演没人爱看。", "这种矫揉造作的表演没人爱看。"),
        ("两个人为鸡皮蒜毛的小事吵架。", "两个人为鸡毛蒜皮的小事吵架。"),
        ("他機靈一動，對此不餘遺力。", "他靈機一動，對此不遺餘力。"),
        ("兩個人為雞皮蒜毛的小事吵架。", "兩個人為雞毛蒜皮的小事吵架。"),
        ("龑博士为鸡皮蒜毛的小事吵架。", "龑博士为鸡毛蒜皮的小事吵架。"),
    ],
)
def test_well_known_misspellings_are_mended(corrector: Corrector, wrong: str, right: str) -> None:
    assert corrected_text(corrector.correct(wrong)) == right
    assert corrected_text(corrector.correct(right)) == right


@needs_model
@pytest.mark.parametrize(
    "text",
    [
        "山脉博物馆下周开放。",  # 脉博
        "这座大桥是最险峻工程之一。",  # 峻工
        "南方人习惯通过网络订票。",  # 惯通
        "欧洲四家俱乐部退出了比赛。",  # 家俱
        "商场用促消费措施拉动了销售。",  # 促消
        "究竟选择哪一种方案，大家意见不一。",  # 竟选
        "打破这一惯性思维十分重要。",  # 一惯
        "这样做既便宜又方便。",  # 既便
        "要解决对方提出的问题。",  # 决对
        "从寂寞视角看世界。",  # 寞视
        "保险公司按合同支付责任范围内的费用。",  # 付责
        "他好像征求过大家的意见。",  # 像征
        "这件事未必竟然如此。",  # 必竟
        "大会在党委缩小会议之后召开。",  # 委缩
        "据《南方都市报》消息，会议明天召开。",
        "侯友宜参加了今天的活动。",
    ],
)
def test_the_same_characters_side_by_side_by_chance_stay(corrector: Corrector, text: str) -> None:
    assert corrected_text(corrector.correct(text)) == text


@needs_model
def test_protected_words_stay() -> None:
    text = "《膺品》这部小说写得很好，《鸡皮蒜毛》也是。"
    assert corrected_text(Corrector(words=["膺品", "鸡皮"], threads=1).correct(text)) == text


@needs_model
def test_a_form_that_is_wrong_as_a_whole_is_one_correction(corrector: Corrector) -> None:
    text = "两个人为鸡皮蒜毛的小事吵架。"
    (found,) = corrector.correct(text).corrections
    assert (found.span, found.original, found.replacement, found.confidence) == (Span(5, 8), "皮蒜毛", "毛蒜皮", CONFIDENCE)
    assert (found.reason, found.alternatives) == ("word", ())
    assert corrected_text(Corrector(words=["蒜"], threads=1).correct(text)).count("毛蒜皮") == 1, "the one in the middle does not change"
    told = explain(corrector, text)
    assert "Known form 皮蒜毛, characters 6 to 8\n" in told
    assert "Decision: 皮蒜毛 → 毛蒜皮, 95.0 %, is corrected: at least " in told
