"""Verdicts on raw text, and the labelled pairs that they make."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

pytest.importorskip("scipy")  # training needs its extra

from corrector.train.__main__ import main
from corrector.train.pairs import read_pairs
from corrector.train.reviewed import Verdict, read_verdicts, rows_of

FIRST = "我今天很高形，因为昨天晚上终于收到了等了三个星期的录取通知书。"
SECOND = "他在见到我时很高兴，说下个月会带着全家人一起到南方的海边去度假。"
LINE = FIRST + SECOND
END = len(FIRST)


def test_rows_are_the_sentences_that_verdicts_are_about() -> None:
    first, second = (FIRST, FIRST.replace("形", "兴")), (SECOND, SECOND.replace("在", "再", 1))
    both = [Verdict(5, "形", "兴"), Verdict(END + 1, "在", "再"), Verdict(END + 4, "我", "我")]
    assert list(rows_of(LINE, both)) == [first, second]
    assert list(rows_of(LINE, [*both, Verdict(8, "为", None)])) == [second]
    assert list(rows_of(LINE, [Verdict(END + 7, "高兴", "高兴")])) == [(SECOND, SECOND)]
    assert list(rows_of(LINE, [Verdict(END - 1, "。", "。")])) == [(FIRST, FIRST)]  # the last of one, and the first of the next
    assert list(rows_of(LINE, [Verdict(END, "他", "他")])) == [(SECOND, SECOND)]
    assert not list(rows_of(LINE, []))
    with pytest.raises(ValueError, match="'形' where '行' was judged"):
        list(rows_of(LINE, [Verdict(5, "行", "兴")]))


def test_pairs_of_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, lines in enumerate((["无关。", *[f"第{n}天很高形。" for n in range(40)]], [LINE])):
        (tmp_path / f"raw-{number}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    verdicts = tmp_path / "verdicts.tsv.xz"
    told = [f"0\t{n + 1}\t{len(str(n)) + 4}\t形\t兴" for n in range(40)]
    told += ["1\t0\t5\t形\t兴", f"1\t0\t{END + 1}\t在\t?", f"1\t0\t{len(LINE) - 1}\t。\t。"]
    verdicts.write_bytes(lzma.compress("\n".join(told).encode()))
    raw, out = ["--raw", str(tmp_path / "raw-*.txt")], tmp_path / "out"
    assert main(["reviewed", str(verdicts), *raw, "--out", str(out)]) == 0
    assert "raw-0.txt: 40 rows, 40 with an error" in capsys.readouterr().err
    fit, held = read_pairs(out / "fit.0.tsv"), read_pairs(out / "held.0.tsv")
    assert sorted((*fit, *held)) == sorted((f"第{n}天很高形。", f"第{n}天很高兴。") for n in range(40))
    assert 0 < len(held) < 10
    assert (out / "fit.1.tsv").read_text("utf-8") + (out / "held.1.tsv").read_text("utf-8") == f"{FIRST}\t{FIRST.replace('形', '兴')}\n"


def test_the_seventh_file_is_of_the_first_part_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it is packed: there is no part 6 whose counts could be left out."""
    for number in range(8):
        (tmp_path / f"raw-{number}.txt").write_text(f"第{number}天很高形。\n", "utf-8")
    (tmp_path / "verdicts.tsv").write_text("".join(f"{number}\t0\t5\t形\t兴\n" for number in range(8)), "utf-8")
    raw, out = str(tmp_path / "raw-*.txt"), tmp_path / "out"
    assert main(["reviewed", str(tmp_path / "verdicts.tsv"), "--raw", raw, "--out", str(out)]) == 0
    assert "raw-7.txt: 1 rows, 1 with an error; of part 1" in capsys.readouterr().err
    assert sorted(path.name for path in out.iterdir()) == [f"{name}.{part}.tsv" for name in ("fit", "held") for part in range(6)]
    for part in range(6):
        written = (out / f"fit.{part}.tsv").read_text("utf-8") + (out / f"held.{part}.tsv").read_text("utf-8")
        numbers = [number for number in range(8) if number % 6 == part]
        assert sorted(written.splitlines()) == [f"第{number}天很高形。\t第{number}天很高兴。" for number in numbers]


def test_a_sentence_with_a_tab_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would be read as other columns: source 名单, target 我今天…."""
    (tmp_path / "raw.txt").write_text(f"名单\t{FIRST}\n{FIRST}\n", "utf-8")
    (tmp_path / "verdicts.tsv").write_text("0\t0\t8\t形\t兴\n0\t1\t5\t形\t兴\n", "utf-8")
    out = tmp_path / "out"
    assert main(["reviewed", str(tmp_path / "verdicts.tsv"), "--raw", str(tmp_path / "raw.txt"), "--out", str(out)]) == 0
    assert "raw.txt: 1 rows, 1 with an error; 1 left out: a tab in the sentence; of part 0" in capsys.readouterr().err
    assert (out / "fit.0.tsv").read_text("utf-8") + (out / "held.0.tsv").read_text("utf-8") == f"{FIRST}\t{FIRST.replace('形', '兴')}\n"


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("0\t0\t5\t形\t高兴", "verdicts.tsv:1: expected file<TAB>line<TAB>offset<TAB>original<TAB>right"),
        ("0\t0\t5\t形", "verdicts.tsv:1: expected file"),
        ("0\t0\t5\t\t", "verdicts.tsv:1: expected file"),
        ("0\t0\t5\t形\t兴\n0\t0\t-1\t形\t兴", "verdicts.tsv:2: expected file"),
        ("0\t0\t5\t行\t兴", "raw.txt: line 1 has '形' where '行' was judged"),
        ("3\t0\t5\t形\t兴", "verdicts.tsv: verdicts on 4 files, and 1 are given"),
        ("0\t0\t5\t形\t兴\n1\t0\t5\t形\t兴", "verdicts.tsv: verdicts on 2 files, and 1 are given"),
        ("0\t0\t5\t形\t兴\n0\t7\t5\t形\t兴", "verdicts.tsv:2: on offset 5 of line 8 of"),
        ("0\t1\t0\t形\t兴", "verdicts.tsv:1: on offset 0 of line 2 of"),
        ("0\t2\t0\t形\t兴", "verdicts.tsv:1: on offset 0 of line 3 of"),
        (f"0\t0\t{len(LINE)}\t形\t?", f"verdicts.tsv:1: on offset {len(LINE)} of line 1 of"),
        (f"0\t0\t{len(LINE) - 1}\t。去\t。云", f"verdicts.tsv:1: on offset {len(LINE) - 1} of line 1 of"),
    ],
)
def test_complaints(tmp_path: Path, capsys: pytest.CaptureFixture[str], told: str, message: str) -> None:
    (tmp_path / "raw.txt").write_text(LINE + "\n", "utf-8")
    (tmp_path / "verdicts.tsv").write_text(told, "utf-8")
    arguments = ["reviewed", str(tmp_path / "verdicts.tsv"), "--raw", str(tmp_path / "raw.txt"), "--out", str(tmp_path / "out")]
    assert main(arguments) == 123
    assert message in capsys.readouterr().err


def test_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "broken.xz").write_bytes(b"no")
    for name in ("none.tsv", "broken.xz"):
        with pytest.raises(Exception, match="cannot be read"):
            read_verdicts(tmp_path / name)
