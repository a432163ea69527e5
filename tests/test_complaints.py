"""What users of other correctors complain about, one test each. The embedded model where it matters, else the fake.

Fast start and little memory are in test_startup.py and test_memory.py.
"""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from corrector import Corrector, corrected_text
from corrector.electra.model_dir import DEFAULT_MODEL, model_places
from corrector.text.protect import is_han
from corrector.words import WordIndex
from tests.fakes import write
from tests.shell import Shell

needs_model = pytest.mark.skipif(
    not any((place / DEFAULT_MODEL).is_dir() for place in model_places()), reason="no embedded model"
)
MISSPELT, CORRECT = "我今天很高形。", "我今天很高兴。"


@pytest.fixture(scope="module")
def corrector() -> Corrector:
    return Corrector(threads=1)


@pytest.fixture(scope="module")
def rash() -> Corrector:
    """Makes every correction that crosses its mind, but for two names."""
    return Corrector(min_confidence=0.0, words=["张林", "肖华"], threads=1)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def fixed(corrector: Corrector, text: str) -> str:
    return corrected_text(corrector.correct(text))


@needs_model
def test_names_are_changed(corrector: Corrector) -> None:
    """张林 became 张琳, 肖华 became 萧华."""
    for text in ("张林和肖华代表公司在合作协议上签了字。", "列车途经番禺、东莞、深圳，终点站为香港西九龙。"):
        assert fixed(corrector, text) == text


@needs_model
def test_names_that_were_given_are_changed(rash: Corrector) -> None:
    text = "张林和肖华代表公司在合做协议上签了子。"
    changed = fixed(rash, text)
    assert changed != text
    assert changed.startswith("张林") and changed[3:5] == "肖华"


@needs_model
def test_rare_words_are_corrected(corrector: Corrector) -> None:
    text = "春节期间本店不发货，青盐和官盐礼盒初八起陆续寄出。"
    assert fixed(corrector, text) == text


@needs_model
def test_digits_and_latin_are_rewritten(rash: Corrector) -> None:
    text = "2024年3月15日，订单No.1234共1,234.50元，电话138-0000-0000，我今天用Python3.12写程序很高形，①②③Ⅳ。"
    changed = fixed(rash, text)
    assert changed != text
    assert [char for char in changed if not is_han(char)] == [char for char in text if not is_han(char)]
    assert len(changed) == len(text)


@needs_model
def test_a_mix_of_latin_and_chinese_is_left_uncorrected(corrector: Corrector) -> None:
    assert fixed(corrector, f"OK, iPhone 15 到了，{MISSPELT}(yes)") == f"OK, iPhone 15 到了，{CORRECT}(yes)"


@needs_model
def test_spaces_shift_the_offsets(corrector: Corrector) -> None:
    text = f"  \t{MISSPELT}  \n\u3000\u3000A  B {MISSPELT} \r\n"
    found = corrector.correct(text)
    assert [correction.span.start for correction in found.corrections] == [8, 25]
    assert [text[c.span.start : c.span.end] for c in found.corrections] == ["形", "形"]
    assert corrected_text(found) == text.replace(MISSPELT, CORRECT)


@needs_model
def test_quotes_break_a_batch(corrector: Corrector) -> None:
    texts = ['他说："', MISSPELT, "“‘", "''''", f"“{MISSPELT}”", '\\"', ""]
    assert [corrected_text(found) for found in corrector.correct_many(texts)] == [
        text.replace(MISSPELT, CORRECT) for text in texts
    ]


@needs_model
@pytest.mark.parametrize("text", ["他为此禅精竭虑。", "𠮷野家的𨭎和龘，😀👩‍👩‍👧，e\u0301\u0302", "\ue000\U0010ffff丂㐀﨎"])
def test_unknown_characters_crash(text: str, rash: Corrector) -> None:
    found = rash.correct(text)
    assert found.unprocessed == 0
    assert len(corrected_text(found)) == len(text)


@needs_model
def test_a_sentence_of_more_than_128_characters_is_cut(corrector: Corrector) -> None:
    text = "我们昨天去了公园，" * 30 + MISSPELT
    assert fixed(corrector, text) == text.replace(MISSPELT, CORRECT)


@needs_model
def test_a_line_of_4000_characters_never_ends(corrector: Corrector) -> None:
    text = "我们昨天去了公园，看见了很多人。" * 250 + MISSPELT
    assert fixed(corrector, text) == text.replace(MISSPELT, CORRECT)


@pytest.mark.parametrize("length", [20_000, 200_000])
def test_a_longer_line_never_ends(length: int, shell: Shell) -> None:
    text = "很" * length + "平果，" + "很" * length + "天汽"
    outcome = shell.run(stdin=text.encode())
    assert outcome.stdout.decode() == text.replace("平果", "苹果").replace("天汽", "天气")


def test_only_the_first_of_several_errors_is_corrected(shell: Shell) -> None:
    assert shell.run(stdin="平果平果，天汽的平果。天汽\n平果".encode()).stdout == "苹果苹果，天气的苹果。天气\n苹果".encode()


@needs_model
def test_only_the_first_of_several_errors_is_corrected_by_the_model(corrector: Corrector) -> None:
    assert fixed(corrector, f"{MISSPELT}我门班一共有四十二个学生。{MISSPELT}") == f"{CORRECT}我们班一共有四十二个学生。{CORRECT}"


@needs_model
def test_the_dictionary_is_applied_once_only() -> None:
    corrector = Corrector(confusions={"帐户": "账户", "登录": "登录"}, threads=1)
    assert fixed(corrector, "帐户和帐户，还有帐户。\n帐户") == "账户和账户，还有账户。\n账户"


@pytest.mark.parametrize("entries", [10, 10_000])
def test_a_large_dictionary_costs_time_at_every_sentence(entries: int) -> None:
    """Whatever the size, a sentence is looked up once a character."""

    class Counted(dict[str, tuple[int, ...]]):
        asked = 0

        def get(self, key: str, default: Any = None) -> Any:
            Counted.asked += 1
            return super().get(key, default)

    words = WordIndex(["天气预报", *(f"{chr(0x4E00 + n // 100)}{chr(0x5000 + n % 100)}词" for n in range(entries))])
    words._lengths = Counted(words._lengths)
    text = "今天的天气预报说下午有雨。"
    assert [(span.start, span.end) for span in words.occurrences(text)] == [(3, 7)]
    assert Counted.asked == len(text)


def test_there_is_no_threshold_and_no_confidence(shell: Shell) -> None:
    write(shell.directory / "a.txt", "平果做".encode())
    *records, _ = map(json.loads, shell.run("--format", "json", "a.txt").stdout.splitlines())
    assert [(record["confidence"], record["applied"]) for record in records] == [(0.9877, True), (0.4, False)]
    assert shell.run("--min-confidence", "0.4", "a.txt").stdout == "苹果作".encode()
    assert shell.run("--min-confidence", "0.99", "a.txt").stdout == "平果做".encode()


@needs_model
def test_the_model_cannot_be_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert fixed(Corrector(threads=1), MISSPELT) == CORRECT


@needs_model
def test_the_same_text_gets_different_answers(corrector: Corrector) -> None:
    """Neither the second time, nor from another object, nor in another company."""
    texts = [MISSPELT, "我门班一共有四十二个学生。", "好", "周末我们打算去公园散部，顺便拍几张照片。", "他为此禅精竭虑。" * 9]
    alone = [corrector.correct(text) for text in texts]
    assert [corrector.correct(text) for text in texts] == alone
    assert list(corrector.correct_many(texts)) == alone
    assert list(corrector.correct_many(texts[::-1]))[::-1] == alone
    assert [Corrector(threads=2).correct(text) for text in texts[:2]] == alone[:2]


@needs_model
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("这座老桥已经及及可危。", "这座老桥已经岌岌可危。"),
        ("他今天神采弈弈地走上了讲台。", "他今天神采奕奕地走上了讲台。"),
        ("他得意扬扬地走了，孩子们高高兴兴，人人有份。", "他得意扬扬地走了，孩子们高高兴兴，人人有份。"),
    ],
)
def test_slips_in_idioms_are_only_found_one_at_a_time(wrong: str, right: str, corrector: Corrector) -> None:
    assert fixed(corrector, wrong) == right


@needs_model
def test_what_a_recogniser_misread_is_left_alone(corrector: Corrector) -> None:
    """Correctors know how people mistype; what was recognised in an image looks like what is meant, and sounds otherwise."""
    recognised = Corrector(origin="ocr", threads=1)
    for read, meant in (
        ("受台风外画环流影响，部分列车临时停远。", "受台风外围环流影响，部分列车临时停运。"),
        ("国升行的贷款发放额就近1000亿元。", "国开行的贷款发放额就近1000亿元。"),
        ("请各部门于木周五前提交报千。", "请各部门于本周五前提交报告。"),
        ("双方进行了友妤的交谈，公司的经菅状况良好。", "双方进行了友好的交谈，公司的经营状况良好。"),
    ):
        assert fixed(recognised, read) == fixed(recognised, meant) == meant
    assert recognised.origin == "ocr" != corrector.origin
    assert recognised.model_checksum == corrector.model_checksum
    for text in ("我们在奈良县看到了榫卯结构的古建筑，司寇昭雪讲解了半天。", "他用 Python 3.12 写的🙂脚本，睢宁县的同事也在用。"):
        assert fixed(recognised, text) == text
