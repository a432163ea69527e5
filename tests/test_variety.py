"""Older literature and Cantonese: how they are known, and what of a correction is left in them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from random import Random

import pytest

from corrector.apply import corrected_text
from corrector.confusions import Confusions
from corrector.lsp.memory import Memory, RememberingCorrector
from corrector.revision import Revision
from corrector.similarity import variety
from corrector.similarity.build_variety import beginnings, fitted, pieces, written
from corrector.similarity.variety import in_variety, older_score, variety_around, variety_of
from corrector.text.segment import line_around
from corrector.types import CorrectedDocument, Correction, Document, Span, Variety
from corrector.words import ProtectedWords, read_lines
from tests.test_revision import found

OLDER = [
    "玄德曰：“久闻先生大名，未曾拜会，今日幸得相见，实慰平生之愿。”",
    "那婆娘听了，慌忙下楼来，与他唱个喏，道：“叔叔休怪。”",
    "是夜风雨大作，余独坐舟中，闻岸上有哭声甚哀，遂不能寐。",
    "月落乌啼霜满天，江枫渔火对愁眠。姑苏城外寒山寺，夜半钟声到客船。",
]
CANTONESE = ["我哋今晚去食饭啦。", "佢话唔嚟，冇计。", "呢本书系边个嘅？", "你食咗饭未？"]
TODAY = [
    "请在网页上填写申请表，并于下周一之前提交给人事部。",
    "她每天早上六点起床，跑步半小时以后去上班。",
    "昨天夜里下了一场大雪，早上出门的时候路都看不见了。",
    "“你怎么又迟到了？”老师笑着说，“快进来吧。”",
    "内存不足，程序已退出。",
    "唔，让我想想。",
    "",
    "……",
]


@pytest.mark.parametrize(
    ("texts", "expected"), [(OLDER, "older"), (CANTONESE, "cantonese"), (TODAY, "today")], ids=["older", "cantonese", "today"]
)
def test_varieties_are_known_by_their_characters(texts: list[str], expected: Variety) -> None:
    assert [variety_of(text, 0, len(text)) for text in texts] == [expected] * len(texts)


def test_a_passage_is_of_the_variety_of_its_line_unless_it_is_clearly_of_today() -> None:
    line = "".join(OLDER[:2]) + "他走了。" + TODAY[0]
    assert variety_of(line, line.index("他走"), line.index("他走") + 4) == "older"
    assert variety_of("他走了。", 0, 4) == "today"
    assert variety_of(line, line.index(TODAY[0]), len(line)) == "today"


def test_a_quotation_makes_no_line_cantonese() -> None:
    line = "这是老师说过的话。" + CANTONESE[0] + "落雨。"
    assert [variety_of(line, line.index(part), line.index(part) + len(part)) for part in (line[:9], CANTONESE[0], "落雨。")] == [
        "today", "cantonese", "cantonese",
    ]  # fmt: skip


def test_what_is_around_counts_for_what_says_little_by_itself() -> None:
    text = "\n".join([*OLDER, "他走了。", *OLDER])
    start = text.index("他走了")
    assert variety_around(text, start, start + 4) == "older"
    assert variety_of("他走了。", 0, 4, "older") == "older" and variety_of(TODAY[0], 0, len(TODAY[0]), "older") == "today"
    text = "\n".join([*CANTONESE, "落雨。", "这是他的。"])
    assert variety_around(text, text.index("落雨"), text.index("这是")) == "cantonese"
    assert [variety_of(line, 0, len(line), "cantonese") for line in ("落雨。", "这是他的。")] == ["cantonese", "today"]
    assert variety_around("\n".join(TODAY), 0, 10) == "today"


def test_the_first_modern_prose_keeps_what_was_usual_and_is_else_read_as_today_s(monkeypatch: pytest.MonkeyPatch) -> None:
    prose = "我走进屋子里，看见他独自坐在窗下，默默地望着院子里的枣树。" * 12 + "你到那里去？埋付好了。"
    monkeypatch.setattr(variety, "_EARLY_AROUND", older_score(prose) - 2)
    monkeypatch.setattr(variety, "_OLDER_AROUND", 50)
    assert variety_around(prose, len(prose) - 12, len(prose)) == "early"
    assert variety_around(prose[-100:], 88, 100) == "today"  # too few characters
    lines = "她在网站上提交了申请。\n" + prose.replace("。", "。\n")
    corrected = revised("a.txt", lines, confidence=0.6)
    assert corrected_text(corrected) == lines.replace("付", "伏") and not corrected.suggestions


def test_a_line_ends_at_every_line_break() -> None:
    for end in "\n\r\v\f\x85\u2028\u2029":
        assert line_around(f"甲{end}乙丙丁{end}戊", 3, 4, 200) == "乙丙丁"
    assert line_around("甲乙丙丁戊", 2, 3, 1) == "乙丙丁"


def correction(old: str, new: str, confidence: float = 0.9) -> Correction:
    return Correction(Span(0, len(old)), old, new, confidence, (), "same_sound")


@pytest.mark.parametrize(
    ("old", "new", "kept_in"),
    [
        ("那", "哪", "today cantonese"),
        ("那里", "哪里", "today cantonese"),
        ("嘱付", "嘱咐", "today cantonese"),
        ("依", "一", "today older"),
        ("啲", "的", "today older"),  # no line of the list: what only Cantonese has
        ("付那", "伏哪", "today older cantonese"),  # not all that changes is usual
        ("象", "向", "today older cantonese"),
    ],
)
def test_what_is_usual_there_is_no_slip(old: str, new: str, kept_in: str) -> None:
    varieties: tuple[Variety, ...] = ("today", "older", "cantonese")
    assert " ".join(name for name in varieties if in_variety(correction(old, new), name)) == kept_in


def test_what_is_left_is_less_sure_than_it_is_today() -> None:
    slip = correction("象", "向")
    assert in_variety(slip, "today") is slip
    older, cantonese = (in_variety(slip, name) for name in ("older", "cantonese"))
    assert older and cantonese and 0.7 < older.confidence < cantonese.confidence < 0.9
    for sure in (0.0, 1.0):
        unchanged = in_variety(dataclasses.replace(slip, confidence=sure), "older")
        assert unchanged and unchanged.confidence == sure


def test_the_lists_are_of_single_characters_that_differ() -> None:
    for name in ("older", "cantonese"):
        lines = [line for _, line in read_lines(variety.WEIGHTS_PATH.with_name(f"variety_{name}.txt"))]
        assert len(lines) == len(set(lines)) > 50
        assert [line for line in lines if len(line) != 2 or line[0] == line[1]] == []
        assert [line for line in lines if line[0] in variety._CANTONESE] == []


EDITS = {"那": "哪", "付": "伏"}


def revised(path: str | None, text: str, around: Variety = "today", confidence: float = 0.7) -> CorrectedDocument:
    """With ``EDITS`` as what the models find, 0.5 as the threshold."""
    revision = Revision(Document(path, text, around=around), ProtectedWords.of(()), Confusions.of({}), 0.5)
    while True:
        for window in revision.windows(126):
            revision.note(window, found(window, EDITS, confidence))
        if not revision.settle():
            return revision.result()


def places(corrected: CorrectedDocument) -> list[tuple[int, int]]:
    return [(len(part.original), part.span.start) for part in corrected.corrections]


def test_corrections_of_a_document_depend_on_its_varieties() -> None:
    assert corrected_text(revised(None, "你去那里？\n埋付好了。")) == "你去哪里？\n埋伏好了。"
    line = OLDER[0] + "那里埋付着军马？"
    corrected = revised(None, line)
    assert corrected_text(corrected) == line
    assert [(part.original, round(part.confidence, 2)) for part in corrected.suggestions] == [("付", 0.46)]
    assert corrected_text(revised(None, line, confidence=0.95)) == line.replace("付", "伏")
    assert not revised(None, line, confidence=0.2).suggestions  # less than what is reported


def test_what_makes_a_quotation_is_as_sure_as_in_today_s_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EDITS, "渡", "度")
    text = OLDER[3] + "羌笛何须怨杨柳，春风不渡玉门关。"
    assert corrected_text(revised(None, text, confidence=0.6)) == text.replace("渡", "度")
    assert corrected_text(revised(None, OLDER[3] + "江上风渡浪不平。", confidence=0.6)).endswith("风渡浪不平。")


def test_lines_of_a_file_count_for_each_other_and_those_of_a_stream_do_not() -> None:
    text = "\n".join([*OLDER, "那里走。", *OLDER])
    assert corrected_text(revised("a.txt", text)) == text
    assert "哪里走" in corrected_text(revised(None, text))
    assert corrected_text(revised(None, "那里走。", "older")) == "那里走。"


def test_a_text_once_corrected_stays_as_it_is() -> None:
    random = Random(5)
    parts = [*OLDER, *CANTONESE, *TODAY, "那里走。", "埋付。", "\n", "\n"]
    for _ in range(60):
        text = "".join(random.choices(parts, k=12))
        once = corrected_text(revised("a.txt", text))
        assert corrected_text(revised("a.txt", once)) == once


class Finder:
    """Corrects documents by ``EDITS``, and keeps what it was asked."""

    model_name = "finder"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def correct_document(self, document: Document) -> CorrectedDocument:
        self.asked.append(document.text)
        return dataclasses.replace(revised(document.path, document.text, document.around), document=document)


def test_an_editor_shows_what_the_command_finds_in_the_file() -> None:
    text = "\n".join([*OLDER, "那里走。", *OLDER, *[*TODAY[:4]] * 3, "那里走。"])
    finder = Finder()
    memory = Memory(finder)
    assert places(RememberingCorrector(memory).correct_document(Document("a.txt", text))) == places(revised("a.txt", text))
    assert places(RememberingCorrector(memory).correct_document(Document(None, text))) == places(revised(None, text))
    finder.asked.clear()
    assert len(places(RememberingCorrector(memory).correct_document(Document("a.txt", text)))) == 1 and not finder.asked


def test_variants_in_older_literature_are_only_suggested() -> None:
    text = OLDER[3] + "闲来下碁，坐看疎林。"
    corrected = revised(None, text)
    assert corrected_text(corrected) == text and [part.original for part in corrected.suggestions] == ["碁", "疎"]
    assert corrected_text(revised(None, "他们在公园里下碁，旁边站满了看热闹的人。")).startswith("他们在公园里下棋")
    assert corrected_text(revised(None, OLDER[3] + "小园風雨，花落無人问。")).endswith("小园风雨，花落无人问。")


# how the weights are made


def test_weights_say_what_every_source_agrees_on() -> None:
    pytest.importorskip("sklearn")
    random = Random(2)
    today = "\n".join("".join(random.choices("的了是我们在春风花", k=40)) + "。" for _ in range(300))
    novel, poems = ("".join(random.choices(f"之曰矣春风花{own}", k=9000)) for own in ("贾", "雁"))
    weights, _, constant = fitted(today, [novel, poems])
    assert min(weights[char] for char in "之曰矣") > 1 > 0 > max(weights[char] for char in "的了我们")
    assert weights["贾"] == weights["雁"] == 0  # each in one of them
    lines = written(weights, 0.5, constant).splitlines()
    assert lines[2] == f"{constant:+.2f} constant" and lines[3] == "+0.50 other" and lines[-1].split() == ["+0", "贾雁"]
    assert {char for line in lines[4:] for char in line.split()[1]} == set(weights)


def test_pieces_are_short_and_long_and_today_s_begin_with_a_sentence() -> None:
    lengths = [len(piece) for piece in pieces("之" * 1000 + "\n" + "曰" * 1000, 400, Random(1))]
    assert min(lengths) >= 10 and max(lengths) <= 300 and sorted(lengths)[200] < 80
    found = beginnings("一二三。四五六。\n\n七八九", Random(1))
    assert {next(found)[:3] for _ in range(50)} == {"一二三", "四五六", "七八九"}


def test_the_score_grows_with_the_root_of_the_length(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "weights.txt"
    path.write_text("# two\n-1.00 constant\n+0.50 other\n+2 曰\n-1 的\n", "utf-8")
    monkeypatch.setattr(variety, "WEIGHTS_PATH", path)
    variety._weights.cache_clear()
    try:
        assert [round(older_score(text), 2) for text in ("曰" * 16, "曰" * 36, "的" * 16 + ",a", "丙" * 16, "曰" * 3, "")] == [
            5.53, 11.0, -4.27, 0.63, 0.22, -1.0,
        ]  # fmt: skip
    finally:
        variety._weights.cache_clear()


