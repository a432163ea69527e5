"""Every labelled format and every way a labelled file can be unusable."""

from __future__ import annotations

import hashlib
import json
import lzma
from pathlib import Path

import pytest

from corrector.errors import EvalDataError
from corrector.eval.dataset import LabelledSet, every_nth, load_set, shipped_paths, truncate
from corrector.types import OCR

SGML_2015 = """<ESSAY title="第一天">
<TEXT>
<PASSAGE id="A2-1">你应该走到十只路口，再右砖。</PASSAGE>
<PASSAGE id="A2-2">应为今天是第一天应为。 </PASSAGE>
<PASSAGE id="A2-3">没有错字。</PASSAGE>
</TEXT>
<MISTAKE id="A2-1" location="7">
<WRONG>十只路口</WRONG>
<CORRECTION>十字路口</CORRECTION>
</MISTAKE>
<MISTAKE id="A2-1" location="13"><WRONG>右砖</WRONG><CORRECTION>右转</CORRECTION></MISTAKE>
<MISTAKE id="A2-2" location="9"><WRONG>应为</WRONG><CORRECTION>因为</CORRECTION></MISTAKE>
</ESSAY>
"""
SGML_2013 = """<DOC Nid="00018">
<P>使自己在打混时警悌，更进步。 </P>
<TEXT>
<MISTAKE wrong_position=9>
<wrong>警悌</wrong>
<correct>警惕</correct>
</MISTAKE>
</TEXT>
</DOC>
<DOC Nid="00019">
<P>没有错字。</P>
<TEXT>
</TEXT>
</DOC>
"""
INPUT = "(NID=A2-0011-1)\t因该的人们跑地快\n(pid=A2-0011-2) 没有错字\n"
TRUTH = "A2-0011-2, 0 \n\tA2-0011-1, 1, 应, 7, 得\n"


def write(folder: Path, text: str | bytes, name: str = "set.tsv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def pairs(labelled: LabelledSet) -> list[tuple[str, str]]:
    return [(row.source, row.target) for row in labelled.rows]


def test_two_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "因该\t应该\r\n\r\n#话题#\t#话题#\n没错\t没错\n")
    labelled = load_set(path)
    assert labelled.format == "tsv" and labelled.name == "set"
    assert pairs(labelled) == [("因该", "应该"), ("#话题#", "#话题#"), ("没错", "没错")]
    assert [row.number for row in labelled.rows] == [1, 3, 4]
    assert labelled.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (labelled.read, labelled.dropped, labelled.truncated) == (3, 0, 0)


def test_lines_that_end_in_carriage_returns(tmp_path: Path) -> None:
    labelled = load_set(write(tmp_path, "因该\t应该\r没错\t没错\r"))
    assert pairs(labelled) == [("因该", "应该"), ("没错", "没错")]
    labelled = load_set(write(tmp_path, "因\r该\t应\r该\n没错\t没错\n"))  # where lines end otherwise it is a character
    assert pairs(labelled) == [("因\r该", "应\r该"), ("没错", "没错")]


@pytest.mark.parametrize(
    ("name", "text"),
    [("set.tsv", "因该\t应该\n没错\t没错\n"), ("set.json", '[{"original_text": "因该", "correct_text": "应该"}]')],
)
def test_a_compressed_file_is_the_same_set(tmp_path: Path, name: str, text: str) -> None:
    plain = load_set(write(tmp_path, text, name))
    compressed = load_set(write(tmp_path, lzma.compress(text.encode()), f"{name}.xz"))
    assert (compressed.name, compressed.format, compressed.sha256) == (plain.name, plain.format, plain.sha256)
    assert compressed.rows == plain.rows


@pytest.mark.parametrize("data", [b"no", b"", lzma.compress("因该\t应该\n".encode())[:-9]])
def test_a_compressed_file_that_is_not_whole_is_told(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, data, "set.tsv.xz")
    with pytest.raises(EvalDataError, match=r"set\.tsv\.xz: cannot be read: not a whole xz file"):
        load_set(path)


def test_four_columns_with_comments_on_top_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = "\ufeff# source\ttarget\n#\n#no tab\n因该\t应该\t新闻\tsame_sound\n没错\t没错\t小说\t\n#a\t#a\n"
    rows = load_set(write(tmp_path, text)).rows
    assert [(row.source, row.domain, row.kind) for row in rows] == [
        ("因该", "新闻", "same_sound"),
        ("没错", "小说", ""),
        ("#a", "", ""),
    ]


def test_rows_of_unequal_length_are_dropped_and_counted(tmp_path: Path) -> None:
    labelled = load_set(write(tmp_path, "甲\t甲\n乙\t乙丙\n丁\t戊\n"))
    assert pairs(labelled) == [("甲", "甲"), ("丁", "戊")]
    assert (labelled.read, labelled.dropped, labelled.ordinals) == (3, 1, (0, 2))


def test_cscd(tmp_path: Path) -> None:
    labelled = load_set(write(tmp_path, "1\t因该\t应该\n0\t没错\t没错\n"))
    assert labelled.format == "cscd"
    assert pairs(labelled) == [("因该", "应该"), ("没错", "没错")]


def test_a_third_column_alone_is_a_domain(tmp_path: Path) -> None:
    labelled = load_set(write(tmp_path, "0\t1\t新闻\n因该\t应该\t新闻\n"))
    assert labelled.format == "tsv" and labelled.rows[0].domain == "新闻"


def test_sighan_training_of_2015(tmp_path: Path) -> None:
    labelled = load_set(write(tmp_path, SGML_2015, "B2_training.sgml"))
    assert labelled.format == "sighan"
    assert pairs(labelled) == [
        ("你应该走到十只路口，再右砖。", "你应该走到十字路口，再右转。"),
        ("应为今天是第一天应为。", "应为今天是第一天因为。"),
        ("没有错字。", "没有错字。"),
    ]
    assert labelled.rows[1].number == 4


def test_sighan_training_of_2013_with_unquoted_attributes(tmp_path: Path) -> None:
    labelled = load_set(write(tmp_path, SGML_2013, "sample.txt"))
    assert pairs(labelled) == [
        ("使自己在打混时警悌，更进步。", "使自己在打混时警惕，更进步。"),
        ("没有错字。", "没有错字。"),
    ]


def test_sighan_words_that_share_their_context(tmp_path: Path) -> None:
    text = (
        '<PASSAGE id="a">考盧班法</PASSAGE>\n'
        '<MISTAKE id="a" location="2"><WRONG>考盧班</WRONG><CORRECTION>考慮班</CORRECTION></MISTAKE>\n'
        '<MISTAKE id="a" location="3"><WRONG>盧班法</WRONG><CORRECTION>盧辦法</CORRECTION></MISTAKE>\n'
    )
    assert pairs(load_set(write(tmp_path, text, "a.sgml"))) == [("考盧班法", "考慮辦法")]


def test_sighan_ids_belong_to_their_essay(tmp_path: Path) -> None:
    labelled = load_set(write(tmp_path, SGML_2015 + SGML_2015.replace("十字路口", "十自路口"), "a.sgml"))
    assert [row.target[6] for row in (labelled.rows[0], labelled.rows[3])] == ["字", "自"]


def test_a_sighan_correction_of_another_length_drops_the_passage(tmp_path: Path) -> None:
    labelled = load_set(write(tmp_path, SGML_2015.replace("右转", "向右转"), "a.sgml"))
    assert labelled.dropped == 1 and len(labelled.rows) == 2


def test_sighan_test_pair(tmp_path: Path) -> None:
    path, truth = write(tmp_path, INPUT, "TestInput.txt"), write(tmp_path, TRUTH, "TestTruth.txt")
    labelled = load_set(path, truth=truth)
    assert labelled.format == "sighan"
    assert pairs(labelled) == [("因该的人们跑地快", "应该的人们跑得快"), ("没有错字", "没有错字")]
    assert labelled.sha256 == hashlib.sha256((INPUT + TRUTH).encode()).hexdigest()


def test_sighan_positions_count_an_ideographic_space_at_the_beginning(tmp_path: Path) -> None:
    path = write(tmp_path, "(NID=1) \t\u3000我門去公園。 \t\r\n(NID=2)\t我門\u3000\n", "TestInput.txt")
    truth = write(tmp_path, "1, 3, 們\n2, 2, 們\n", "TestTruth.txt")
    assert pairs(load_set(path, truth=truth)) == [("\u3000我門去公園。", "\u3000我們去公園。"), ("我門\u3000", "我們\u3000")]


@pytest.mark.parametrize("indent", [None, 1])
def test_pycorrector_array(tmp_path: Path, indent: int | None) -> None:
    records = [
        {"id": "1", "original_text": "因该", "correct_text": "应该", "wrong_ids": [0]},
        {"source": "没错", "target": "没错"},
    ]
    labelled = load_set(write(tmp_path, json.dumps(records, ensure_ascii=False, indent=indent), "test.json"))
    assert labelled.format == "pycorrector"
    assert pairs(labelled) == [("因该", "应该"), ("没错", "没错")]


def test_pycorrector_lines(tmp_path: Path) -> None:
    line = '{"original_text": "因该", "wrong_ids": [0], "correct_text": "应该"}\n'
    labelled = load_set(write(tmp_path, line + "\n" + line))
    assert labelled.format == "pycorrector" and [row.number for row in labelled.rows] == [1, 3]


def test_a_sentence_that_begins_with_a_bracket_is_still_a_table(tmp_path: Path) -> None:
    assert load_set(write(tmp_path, "[因该]\t[应该]\n")).format == "tsv"
    assert load_set(write(tmp_path, "<因该>\t<应该>\n")).format == "tsv"


BAD = [
    ("tsv", "甲\t甲\n只有一列\n", 2, "one column"),
    ("tsv", "甲\t甲\n\t乙\n", 2, "empty"),
    ("tsv", "甲\t\n", 1, "empty"),
    ("tsv", "", None, "no labelled sentences"),
    ("tsv", "甲\t甲\n".encode() + "乙\t乙\n".encode("gb18030"), 2, "UTF-8"),
    ("cscd", "1\t甲\t乙\n甲\t乙\n", 2, "2 columns"),
    ("cscd", "1\t甲\t乙\n2\t甲\t乙\n", 2, "label"),
    ("pycorrector", "[{]", 1, "JSON"),
    ("pycorrector", '{"source": "甲", "target": "甲"}\n{"source": \n', 2, "JSON"),
    ("pycorrector", '[{"source": "甲", "target": "甲"}, {"source": "甲"}]', 2, "original_text"),
    ("pycorrector", "[1]", 1, "original_text"),
    ("pycorrector", '{"source": "甲\\n乙", "target": "甲\\n乙"}', 1, "line break"),
    ("sighan", INPUT, None, "--truth"),
    ("sighan", SGML_2015.replace('"A2-2" location', '"A2-9" location'), 12, "not in its essay"),
    ("sighan", SGML_2015.replace('"A2-2">', '"A2-1">'), 4, "twice"),
    ("sighan", SGML_2015.replace('location="9"', 'location="x"'), 12, "location"),
    ("sighan", SGML_2015.replace('location="9"', 'location="²"'), 12, "location"),
    ("sighan", SGML_2015.replace("<WRONG>应为", "<WRONG>不在"), 12, "does not occur"),
    ("sighan", SGML_2015.replace("<WRONG>应为", "<WRONG>"), 12, "without a wrong word"),
]


@pytest.mark.parametrize("chosen, text, row, message", BAD)
def test_unusable_files_are_named_with_their_row(
    tmp_path: Path, chosen: str, text: str | bytes, row: int | None, message: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(EvalDataError, match=message) as caught:
        load_set(path, chosen)  # type: ignore[arg-type]
    assert (caught.value.file, caught.value.row) == (str(path), row)


@pytest.mark.parametrize("before, row", [("", None), ('{"source": "甲", "target": "甲"}\n', 2)], ids=["array", "lines"])
@pytest.mark.parametrize("beyond", ["[" * 100_000, f"[{'1' * 5000}]"], ids=["brackets", "digits"])
def test_json_that_python_refuses_to_read(tmp_path: Path, before: str, row: int | None, beyond: str) -> None:
    with pytest.raises(EvalDataError, match="not usable JSON: a number too long or too many brackets") as caught:
        load_set(write(tmp_path, before + beyond, "set.json"))
    assert caught.value.row == row


def test_sighan_positions_of_thousands_of_digits(tmp_path: Path) -> None:
    digits = "9" * 5000
    with pytest.raises(EvalDataError, match="numeric location"):
        load_set(write(tmp_path, SGML_2015.replace('location="9"', f'location="{digits}"'), "a.sgml"))
    truth = write(tmp_path, f"A2-0011-2, 0\nA2-0011-1, {digits}, 应\n", "truth.txt")
    with pytest.raises(EvalDataError, match="position, character"):
        load_set(write(tmp_path, INPUT, "input.txt"), truth=truth)


BAD_TRUTHS = [
    ("A2-0011-2, 0\nA2-0011-1, 9, 应\n", 2, "outside"),
    ("A2-0011-2, 0\nA2-0011-1, 1\n", 2, "expected"),
    ("A2-0011-2, 0\nA2-0011-1, 1, 应该\n", 2, "expected"),
    ("A2-0011-2\n", 1, "expected"),
    ("A2-0011-2, 0\nA2-0011-1, ², 应\n", 2, "expected"),
    ("A2-0011-2, 0\n", None, "no line for sentence A2-0011-1"),
    (TRUTH + "A2-0011-2, 0\n", 3, "answered twice"),
    (TRUTH + "A2-0011-3, 0\n", 3, "is not in"),
]


@pytest.mark.parametrize("text, row, message", BAD_TRUTHS)
def test_unusable_truth_files(tmp_path: Path, text: str, row: int | None, message: str) -> None:
    path, truth = write(tmp_path, INPUT, "input.txt"), write(tmp_path, text, "truth.txt")
    with pytest.raises(EvalDataError, match=message) as caught:
        load_set(path, truth=truth)
    assert (caught.value.file, caught.value.row) == (str(truth), row)


def test_a_bad_input_line(tmp_path: Path) -> None:
    path, truth = write(tmp_path, INPUT + "没有编号\n", "input.txt"), write(tmp_path, TRUTH, "truth.txt")
    with pytest.raises(EvalDataError, match=r"input\.txt:3: expected \(NID=id\)"):
        load_set(path, truth=truth)


def test_a_truth_file_where_none_belongs(tmp_path: Path) -> None:
    truth = write(tmp_path, TRUTH, "truth.txt")
    for name, text in (("a.tsv", "甲\t甲\n"), ("a.sgml", SGML_2015)):
        with pytest.raises(EvalDataError, match="leave --truth out"):
            load_set(write(tmp_path, text, name), truth=truth)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(EvalDataError, match="cannot be read"):
        load_set(tmp_path / "absent.tsv")


def test_shipped_paths(tmp_path: Path) -> None:
    with pytest.raises(EvalDataError, match="pass a labelled file"):
        shipped_paths(tmp_path)
    (tmp_path / "eval").mkdir()
    names = ["sentences.tsv", "traps.tsv", "traditional.tsv", "varieties.tsv"]
    for name in names:
        write(tmp_path / "eval", "甲\t甲\n", name)
    assert [path.name for path in shipped_paths(tmp_path)] == names
    with pytest.raises(EvalDataError, match=r"scans\.tsv: .*pass a labelled file"):
        shipped_paths(tmp_path, OCR)
    assert shipped_paths(origin=OCR) == (Path(__file__).resolve().parents[1] / "eval" / "scans.tsv",)


def test_a_limit_takes_evenly_spaced_rows(tmp_path: Path) -> None:
    labelled = load_set(write(tmp_path, "".join(f"{i}\t{i}\n" for i in "0123456789")))
    third = every_nth(labelled, 3)
    assert [row.source for row in third.rows] == ["0", "3", "6"]
    assert (third.limit, third.ordinals, third.read) == (3, (0, 3, 6), 10)
    assert every_nth(labelled, 10) == every_nth(labelled, None) == labelled


def test_truncation_is_counted(tmp_path: Path) -> None:
    labelled = load_set(write(tmp_path, "abcd\taXcY\nab\tab\n"))
    cut = truncate(labelled, 3)
    assert pairs(cut) == [("abc", "aXc"), ("ab", "ab")]
    assert (cut.truncated, cut.max_length) == (1, 3)
    assert truncate(labelled, None) == labelled
