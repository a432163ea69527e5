from __future__ import annotations

import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrector.text.script import LONGEST, REACH, restored, script_of, simplified, strays

MIXED = "头頭发髮後后於于著着乾干裡裏里这這是的我門们喆甯吒峯金⼈﹐「」。！？；\n\rかカ한aＡ7 \t\0\ud800\U00020000\ufeff"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("看著他走著路，這是著作，著名作家", "看着他走着路，这是著作，著名作家"),
        ("成效卓著的專著，土著見微知著，著譯豐富", "成效卓著的专著，土著见微知著，著译丰富"),
        ("乾隆年間，乾坤，乾淨，餅乾", "乾隆年间，乾坤，干净，饼干"),
        ("瞭望臺，一目瞭然，明瞭，瞭解", "瞭望台，一目了然，明了，了解"),
        ("藉口，慰藉，憑藉，聲名狼藉", "借口，慰藉，凭借，声名狼藉"),
        ("皇后以後，後來，太后說", "皇后以后，后来，太后说"),
        ("徵求徵收，特徵，宮商角徵羽", "征求征收，特征，宫商角徵羽"),
        ("頭髮發現理髮", "头发发现理发"),
        ("裡面裏面，一里路，麵條面條", "里面里面，一里路，面条面条"),
        ("峯羣綫衞啓説", "峰群线卫启说"),  # Hong Kong and older forms
        ("於是，姓於，於菟，說", "于是，姓于，於菟，说"),
        ("覆蓋反覆答覆", "覆盖反复答复"),
        ("陶喆、王堃與甯采臣", "陶喆、王堃与甯采臣"),
        ("臺灣台灣", "台湾台湾"),
        ("吃完之後再走", "吃完之后再走"),  # 後 is the only sign
        ("他說：「好。」", "他说：“好。”"),
    ],
)
def test_traditional_text_is_read_in_simplified(text: str, read: str) -> None:
    assert simplified(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello, Ａ７",  # the tokenizer reads full-width letters
        "皇后在后面，乾隆和哪吒。",
        "他叫陶喆，王堃、镕基和甯采臣都来了。",  # names are no sign of Traditional
        "看著这本书，三天後他来了，姓於的人藉此说话。",  # in Simplified text 著 or 藉 is for the model to judge
        "図書館で日本語を勉強しています。",
        "대한민국(大韓民國)은 東아시아의 國家이다.",
        "这个㑮字，没有几种字体有它的简化字。",
    ],
)
def test_what_the_model_knows_or_cannot_know_is_the_text_itself(text: str) -> None:
    assert simplified(text) is text


def test_traditional_characters_in_simplified_text_are_read_one_by_one() -> None:
    assert simplified("这位張先生看著我们的書。") == "这位张先生看著我们的书。"


def test_compatibility_forms_are_read_as_what_they_stand_for() -> None:
    text = "\uf90a\u2f08\u2fa6\U0002f804\ufe50\uff61\uff62\ufe19"
    assert simplified(text) == "金人金你,。“\ufe19"  # the comma's width is the tokenizer's affair; the last stands for three dots
    assert script_of("\u2f08") == "either"


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", "either"),
        ("abc", "either"),
        ("人山人海", "either"),
        ("他喜歡讀書", "traditional"),
        ("他喜欢读书", "simplified"),
        ("三天後", "traditional"),
        ("“後”是“后”的繁体字，也写作后面的后", "simplified"),
        ("張学", "simplified"),  # equal
        ("張國榮来", "traditional"),
        ("里長說只要台幣，云云", "traditional"),  # 里 只 台 云 are written in both
        ("他看着我説", "traditional"),  # 着 is written in Hong Kong
        ("每日の優惠，還有好吃的便當。", "traditional"),  # one kana makes no Japanese
        ("彼女は毎朝新聞を読んで、学校へ行く。", "either"),
        ("漢字語는 漢字로 된 單語이다.", "either"),
    ],
)
def test_script_of(text: str, script: str) -> None:
    assert script_of(text) == script


@pytest.mark.parametrize(
    ("source", "wrong", "replacement", "written"),
    [
        ("他把頭髮減短了", "減", "剪", "剪"),
        ("我門的學校", "門", "们", "們"),
        ("從此以候，他沒來過", "候", "后", "後"),
        ("皇候在宮裡說話", "候", "后", "后"),
        ("我花現了一個問題", "花", "发", "發"),
        ("她的頭花很長，很漂亮", "花", "发", "髮"),
        ("反復討論這個問題", "復", "复", "復"),  # unchanged for the model: not converted
        ("他在屋理說話", "理", "里", "裡"),
        ("羣衆在屋理說話", "理", "里", "裏"),  # the forms of its neighbours
        ("老師説，衞生很重要，他唱著歌走進屋理", "理", "里", "裏"),
        ("他去了抬灣的學校", "抬", "台", "台"),
        ("他去了抬灣的學校，在臺北", "抬", "台", "臺"),
        ("这位張先生是我门的老师", "门", "们", "们"),  # a Traditional name in a Simplified sentence
        ("他叫陶喆，是我门的老师", "门", "们", "们"),
        ("以候", "候", "后", "后"),  # no sign of either script
        ("天空以經暗了。他說", "以", "已", "已"),
        ("這是他民的。这样说来应该发给谁", "民", "们", "們"),  # the sign of its passage is before it
    ],
)
def test_a_replacement_is_written_as_its_surroundings_are(source: str, wrong: str, replacement: str, written: str) -> None:
    assert restored(source, source.index(wrong), replacement) == written


def test_a_longer_replacement_keeps_what_it_does_not_change() -> None:
    assert restored("我們後來去了圖書管。", 7, "书馆") == "書館"
    assert restored("峯會在囬廊", 0, "峰会") == "峯會"


def test_each_passage_has_its_own_script() -> None:
    text = "他喜歡讀書，我門也喜歡。\n他喜欢读书，我门也喜欢。"
    first, second = text.index("門"), text.index("门")
    assert restored(text, first, "们") == "們"
    assert restored(text, second, "们") == "们"
    assert simplified(text) == "他喜欢读书，我门也喜欢。\n他喜欢读书，我门也喜欢。"


def test_a_passage_without_a_sign_follows_its_neighbourhood() -> None:
    assert simplified("他看著你。那麼走吧。") == "他看着你。那么走吧。"
    assert restored("他說。以候再去。", 4, "后") == "後"
    assert restored("他說" + "。" * (REACH + 1) + "以候再去。", REACH + 4, "后") == "后"  # too far away


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("新开的天府艺术公園", {8: "园"}),
        ("潜在投标人需及时査看邮件", {8: "查"}),  # a variant
        ("注重个人衞生", {4: "卫"}),  # as Hong Kong writes it, which Big5 lacks: no sign of Traditional text
        ("世界各囯都来了", {3: "国"}),  # OpenCC lacks it
        ("过去毎年都来", {2: "每"}),  # a Japanese form
        ("这里只进不岀", {5: "出"}),  # no form at all
        ("這個問題很严重，我們應該討論", {5: "嚴"}),
        ("他的頭发乾了，後來又去了臺灣", {3: "髮"}),  # by the phrase
        ("大災难", {}),  # as much of one as of the other
        ("他是大學生，今年二十歲", {}),
        ("他说繁体的“國”字，笔画很多", {}),
        ("他在读《說文解字》，这本书讲汉字的来历", {}),
        ("毕昇发明活字印刷术，王濛夺得冠军", {}),  # so they are written
        ("马頔在音乐节上演出", {}),  # its simplified form is in no font
        ("他们在吃たい焼き，是一种点心", {}),
        ("皇后于是说，这里只有一个台子", {}),
        ("著名作家说他累了，藉此休息", {}),  # for the model to judge
    ],
)
def test_what_strayed_in_from_the_other_script(text: str, found: dict[int, str]) -> None:
    assert dict(strays(text)) == found


def test_a_stray_is_judged_by_its_neighbourhood() -> None:
    assert dict(strays("大災难。" + "这里发生过许多灾难。")) == {1: "灾"}
    assert dict(strays("大災难。" + "這裡發生過許多災難。")) == {2: "難"}
    assert dict(strays("大災难。" + "。" * REACH + "这里发生过许多灾难。")) == {}


@given(st.text(MIXED, max_size=60))
def test_without_its_strays_a_text_has_none(text: str) -> None:
    chars = list(text)
    for place, new in strays(text):
        assert len(new) == 1 and new != chars[place]
        chars[place] = new
    assert list(strays("".join(chars))) == []


def test_a_replacement_where_there_was_no_han_character_stays_out() -> None:
    assert restored("\u2f08口很多", 0, "入") == "\u2f08"


def test_a_source_that_is_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="not all within 1"):
        restored("頭", 0, "头发")
    with pytest.raises(ValueError, match="not all within 1"):
        restored("頭", -1, "头")


def test_a_long_text_costs_one_neighbourhood() -> None:
    text = "這是一個很長的句子，我門" * 20_000
    at = text.rindex("門")
    assert restored(text, at, "们") == restored(text[-2 * (LONGEST + REACH) :], 2 * (LONGEST + REACH) - 1, "们") == "們"


def test_far_into_a_long_text_the_same_phrase_is_looked_at() -> None:
    text = "他說。" * LONGEST + "皇候在宮裡說話。"
    assert restored(text, text.index("候"), "后") == "后"


@given(st.text(st.sampled_from(MIXED) | st.characters(), max_size=80))
def test_reading_keeps_every_offset_and_is_done_once(text: str) -> None:
    read = simplified(text)
    assert len(read) == len(text)
    for old, new in zip(text, read, strict=True):
        assert old == new or unicodedata.category(old)[0] in "LPSN"


@given(st.text(st.sampled_from(MIXED), min_size=1, max_size=60), st.data())
def test_what_is_not_replaced_is_restored(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert restored(text, start, simplified(text)[start:end]) == text[start:end]


@pytest.mark.parametrize("pair", ["頭头", "髮发", "後后", "裡里", "說说", "們们", "學学", "見见", "車车", "書书"])
def test_common_characters_come_back(pair: str) -> None:
    traditional, plain = pair
    assert simplified(f"這{traditional}") == f"这{plain}"


def test_threads_share_the_tables() -> None:
    texts = [f"這是第{number}個句子，他看著我的頭髮。" for number in range(64)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(simplified, texts)) == [simplified(text) for text in texts]


def test_simplified_text_loads_no_tables() -> None:
    program = (
        "import sys; from corrector.text.script import simplified, restored; "
        "simplified('他喜欢读书，我门也喜欢。'); restored('我门', 1, '们'); print('opencc' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
