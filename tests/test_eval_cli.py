"""`python -m corrector.eval` from labelled file to report, with a corrector that knows three words."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from corrector.eval import dataset
from corrector.eval.__main__ import main
from corrector.eval.predict import proposed_edits
from corrector.train.release import read_scores
from corrector.types import TYPED, CorrectedDocument, Correction, Document, Origin, Span

WORDS = {"因该": ("应该", 0.9), "在说": ("再说", 0.6), "跑的": ("跑得", 0.8)}
ROWS = [
    ("我因该去", "我应该去", "生活"),
    ("以后在说", "以后再说", "生活"),
    ("他在说话", "他在说话", "新闻"),
    ("他跑的快", "他跑的快", "新闻"),
    ("长短不一", "长短不齐了", "新闻"),
    ("没有错字", "没有错字", "新闻"),
]


def correction(text: str, wrong: str, right: str, confidence: float) -> Correction:
    start = text.index(wrong)
    return Correction(Span(start, start + len(wrong)), wrong, right, confidence)


class DictionaryCorrector:
    """Stands in for the model: corrects ``WORDS``, suggests those below the threshold."""

    model_name = "dictionary"
    model_checksum = "0123456789abcdef"

    def __init__(
        self, model: str | None = None, origin: Origin = TYPED, min_confidence: float | None = None, threads: int = 0
    ) -> None:
        self.min_confidence = 0.5 if min_confidence is None else min_confidence

    def correct_many(self, texts: Iterable[str]) -> Iterator[CorrectedDocument]:
        for text in texts:
            found = [correction(text, w, r, c) for w, (r, c) in WORDS.items() if w in text]
            sure = tuple(one for one in found if one.confidence >= self.min_confidence)
            unsure = tuple(one for one in found if one.confidence < self.min_confidence)
            yield CorrectedDocument(Document(None, text), sure, unsure)


@pytest.fixture(autouse=True)
def _dictionary_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline: Any = ModuleType("corrector.pipeline")
    pipeline.Corrector = DictionaryCorrector
    monkeypatch.setitem(sys.modules, "corrector.pipeline", pipeline)


@pytest.fixture
def labelled(tmp_path: Path) -> str:
    path = tmp_path / "set.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in ROWS), encoding="utf-8")
    return str(path)


class Outcome(NamedTuple):
    stdout: str
    stderr: str


def run(*arguments: str, status: int = 0) -> Outcome:
    with contextlib.redirect_stdout(io.StringIO()) as stdout, contextlib.redirect_stderr(io.StringIO()) as stderr:
        assert main(arguments) == status, stderr.getvalue()
    return Outcome(stdout.getvalue(), stderr.getvalue())


def one_set(*arguments: str) -> dict[str, Any]:
    (only,) = json.loads(run(*arguments, "--json", "--bootstrap", "50").stdout)["sets"]
    assert isinstance(only, dict)
    return only


def test_more_threads_than_any_machine_has_are_a_wrong_option(labelled: str) -> None:
    assert "Invalid value for '--threads': 1025 is not in the range 0<=x<=1024" in run(labelled, "--threads", "1025", status=2).stderr
    assert one_set(labelled, "--threads", "1024")["rows"]["used"] == 5


def test_json(labelled: str) -> None:
    result = one_set(labelled)
    assert result["rows"] == {"read": 6, "used": 5, "dropped": 1, "truncated": 0}
    assert result["counts"]["erroneous"] == 2 and result["counts"]["false_positives"] == 2
    assert result["scores"]["strict_correction.precision"] == 0.5
    assert result["scores"]["strict_correction.recall"] == 1.0
    assert result["scores"]["false_positive_rate"] == pytest.approx(2 / 3)
    low, high = result["intervals"]["strict_correction.f1"]
    assert low <= result["scores"]["strict_correction.f1"] <= high
    assert "|model:dictionary|checksum:0123456789ab|threshold:0.5|" in result["signature"]
    assert result["signature_fields"]["options"] == {"dropped": "1"}
    assert result["seconds"] > 0


def test_precision_at_recall_goes_below_the_threshold(labelled: str) -> None:
    result = one_set(labelled, "--min-confidence", "0.85")
    assert result["scores"]["strict_correction.recall"] == 0.5
    answers = {answer["recall"]: (answer["precision"], answer["threshold"]) for answer in result["precision_at_recall"]}
    assert answers[0.1] == answers[0.5] == (1.0, 0.9)


def test_calibration_and_curve_are_in_the_json(labelled: str, tmp_path: Path) -> None:
    """Over both sets: 因该 0.9 right; 在说 0.6 right once in three; 跑的 0.8 never right."""
    clean = tmp_path / "clean.tsv"
    clean.write_text("他在说话\t他在说话\n", encoding="utf-8")
    report = json.loads(run(labelled, str(clean), "--json", "--bootstrap", "0").stdout)
    with_errors, error_free = report["sets"]
    assert [tuple(point.values()) for point in with_errors["precision_recall"]] == [
        (0.9, 1.0, 0.5), (0.8, 0.5, 0.5), (0.6, 0.5, 1.0),
    ]  # fmt: skip
    assert list(with_errors["precision_recall"][0]) == ["threshold", "precision", "recall"]
    assert "precision_recall" not in error_free
    found = report["reliability"]
    assert found["edits"] == 5 and found["ece"] == pytest.approx((3 * (0.6 - 1 / 3) + 0.8 + 0.1) / 5)
    assert [(one["edits"], one["share_right"]) for one in found["bins"]] == [(3, pytest.approx(1 / 3)), (1, 0), (1, 1)]
    low, high = found["bins"][0]["interval"]
    assert low < 1 / 3 < high
    saved = tmp_path / "report.json"
    saved.write_text(json.dumps(report), encoding="utf-8")
    assert [row["set"] for row in read_scores(saved)] == ["set", "clean"]


def test_the_calibration_does_not_depend_on_the_threshold(labelled: str) -> None:
    low, high = (json.loads(run(labelled, "--json", "--min-confidence", c).stdout) for c in ("0.1", "0.95"))
    assert low["reliability"] == high["reliability"]
    assert low["sets"][0]["precision_recall"] == high["sets"][0]["precision_recall"]


def test_predictions_without_confidences_have_no_calibration(labelled: str, tmp_path: Path) -> None:
    saved = str(tmp_path / "predictions.txt")
    run(labelled, "--save-predictions", saved)
    report = json.loads(run(labelled, "--predictions", saved, "--json").stdout)
    assert "reliability" not in report and "precision_recall" not in report["sets"][0]
    assert "needs confidences" in run(labelled, "--predictions", saved, "--plot", "x.png", status=2).stderr


@pytest.mark.parametrize("rows", ["我因该去\t我应该去\n他在说话\t他在说话\n", "他在说话\t他在说话\n", "没有错字\t没有错字\n"])
def test_plot(tmp_path: Path, rows: str) -> None:
    """With errors, without errors, and without edits; a name with $ and _ is taken as it is."""
    pytest.importorskip("matplotlib")
    labelled, picture = tmp_path / "_$a$.tsv", tmp_path / "out.png"
    labelled.write_text(rows, encoding="utf-8")
    printed = run(str(labelled), str(labelled), "--plot", str(picture), "--bootstrap", "0").stdout
    assert printed.startswith("_$a$\n")
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG") and len(content) > 10_000


def test_a_plot_that_cannot_be_made_is_told_before_scoring(labelled: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name, message in [("out.doc", "let it end in .png"), ("absent/out.png", "its folder does not exist")]:
        result = run(labelled, "--plot", str(tmp_path / name), status=123)
        assert message in result.stderr and not result.stdout


def test_what_cannot_be_done_with_the_scores_is_told_before_the_model_is_asked(
    labelled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DictionaryCorrector, "correct_many", lambda *_: pytest.fail("a long run"))
    for arguments, message in [
        (("--by", "kind"), "no kind in it, which is the fourth column"),
        (("--save-predictions", str(tmp_path / "absent" / "a.txt")), "cannot be written: its folder does not exist"),
        (("--save-predictions", str(tmp_path)), "cannot be written: it is a folder"),
        (("--save-predictions", labelled), "is an input, which would be replaced"),
    ]:
        assert message in run(labelled, *arguments, status=123).stderr


def test_a_plot_that_cannot_be_written_leaves_the_scores(labelled: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    taken = tmp_path / "out.png"
    taken.mkdir()
    result = run(labelled, "--plot", str(taken), status=123)
    assert f"error: {taken}: cannot be written" in result.stderr and result.stdout.startswith("set\n")


def test_without_matplotlib_the_extra_is_named(labelled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(labelled, "--plot", "out.png", status=123)
    assert "pip install electra-correct[bench]" in result.stderr and not result.stdout
    assert "reliability" in json.loads(run(labelled, "--json").stdout)


def test_remove_de(labelled: str) -> None:
    result = one_set(labelled, "--remove-de")
    assert result["counts"]["false_positives"] == 1
    assert result["signature"].endswith("|remove_de:yes")


def test_text_report(labelled: str) -> None:
    lines = run(labelled, "--by", "domain", "--bootstrap", "0").stdout.splitlines()
    assert lines[0] == "set"
    assert (
        lines[1]
        == "rows: 5 used, 1 dropped (unequal length), 0 truncated; 2 erroneous, 3 error-free; 2 wrong characters"
    )
    assert lines[3].split() == ["strict", "correction", "50.0", "100.0", "66.7"]
    assert lines[5].split() == ["official", "correction", "50.0", "100.0", "66.7"]
    assert "false-positive rate (of the error-free)      66.7" in lines
    living = next(line for line in lines if line.startswith("生活"))
    news = next(line for line in lines if line.startswith("新闻"))
    assert living.split() == ["生活", "2", "2", "100.0", "100.0", "100.0", "100.0", "100.0", "100.0", "–"]
    assert news.split() == ["新闻", "3", "0", "–", "–", "–", "–", "–", "–", "66.7"]
    assert lines[-1].startswith("signature: set:set|rows:5|")


def test_saved_predictions_score_the_same(labelled: str, tmp_path: Path) -> None:
    saved = tmp_path / "predictions.txt"
    first = one_set(labelled, "--save-predictions", str(saved))
    assert saved.read_text(encoding="utf-8") == "我应该去\n以后再说\n他再说话\n他跑得快\n没有错字\n"
    second = one_set(labelled, "--predictions", str(saved))
    assert (second["scores"], second["intervals"]) == (first["scores"], first["intervals"])
    assert "precision_at_recall" not in second
    assert "|model:file predictions.txt|" in second["signature"] and "|threshold:none|" in second["signature"]


def test_lone_surrogates_are_saved_and_read_back(tmp_path: Path) -> None:
    labelled, saved = tmp_path / "set.json", tmp_path / "predictions.txt"
    labelled.write_text(json.dumps([{"source": "\ud800我因该去", "target": "\ud800我应该去"}]), encoding="utf-8")
    run(str(labelled), "--save-predictions", str(saved))
    assert saved.read_bytes().decode("utf-8", "surrogatepass") == "\ud800我应该去\n"
    assert one_set(str(labelled), "--predictions", str(saved))["scores"]["accuracy"] == 1.0


def test_predictions_for_every_row_read_and_several_files(labelled: str, tmp_path: Path) -> None:
    predictions = tmp_path / "predictions.txt"
    texts = [target if len(source) == len(target) else "随便" for source, target, _ in ROWS]
    predictions.write_text("\n".join(texts + texts), encoding="utf-8")
    output = run(labelled, labelled, "--predictions", str(predictions), "--limit", "3").stdout
    assert "mean strict correction F1 over 2 sets with errors: 100.0" in output
    assert output.count("3 used") == 2


def test_predictions_are_cut_like_the_sources(labelled: str, tmp_path: Path) -> None:
    predictions = tmp_path / "predictions.txt"
    predictions.write_text("".join(target + "\n" for _, target, _ in ROWS), encoding="utf-8")
    result = one_set(labelled, "--predictions", str(predictions), "--max-length", "2")
    assert result["counts"]["broken_length"] == 0 and result["rows"]["truncated"] == 5
    assert result["scores"]["strict_correction.f1"] == 1.0


def test_broken_lengths_are_reported(labelled: str, tmp_path: Path) -> None:
    predictions = tmp_path / "predictions.txt"
    predictions.write_text("我应该去了\n以后再说\n他在说话\n他跑的快\n没有错字\n", encoding="utf-8")
    assert "broken: 1 changed length, 0 windows unprocessed" in run(labelled, "--predictions", str(predictions)).stdout


def test_without_files_the_shipped_set_is_scored(
    monkeypatch: pytest.MonkeyPatch, labelled: str, tmp_path: Path
) -> None:
    asked: list[Origin] = []

    def shipped(origin: Origin) -> tuple[Path, ...]:
        asked.append(origin)
        return (Path(labelled),)

    monkeypatch.setattr(dataset, "shipped_paths", shipped)
    assert run("--bootstrap", "0").stdout.startswith("set\n")
    assert run("--bootstrap", "0", "--origin", "ocr").stdout.rstrip().endswith("|origin:ocr")
    assert asked == ["typed", "ocr"]


def test_errors_go_to_stderr_with_the_exit_codes_of_every_command(labelled: str, tmp_path: Path) -> None:
    predictions = tmp_path / "predictions.txt"
    predictions.write_text("一行\n", encoding="utf-8")
    bad = tmp_path / "bad.tsv"
    bad.write_text("一列\n", encoding="utf-8")
    for status, arguments, message in [
        (123, (str(bad),), f"error: {bad}:1: "),
        (123, (labelled, "--predictions", str(predictions)), "1 lines for 5 scored rows of 6"),
        (123, (labelled, "--predictions", str(tmp_path / "absent")), "cannot be read"),
        (123, (labelled, "--save-predictions", str(tmp_path)), "cannot be written"),
        (123, (labelled, "--by", "kind"), "no kind in it"),
        (2, (labelled, labelled, "--truth", str(bad)), "exactly one FILE"),
        (2, (labelled, "--predictions", str(predictions), "--min-confidence", "0.5"), "leave out --model"),
    ]:
        result = run(*arguments, status=status)
        assert message in result.stderr and not result.stdout


def test_suggestions_that_overlap_a_correction_are_not_counted_twice() -> None:
    applied = correction("我因该去", "因", "应", 0.9)
    overlapping = correction("我因该去", "因该", "阴该", 0.2)
    other = correction("我因该去", "去", "趣", 0.1)
    corrected = CorrectedDocument(Document(None, "我因该去"), (applied,), (overlapping, other))
    assert [(edit.start, edit.replacement) for edit in proposed_edits(corrected)] == [(1, "应"), (3, "趣")]


def test_help_imports_nothing_heavy() -> None:
    import subprocess

    heavy = "{'matplotlib', 'numpy', 'torch', 'transformers', 'onnxruntime', 'jieba', 'pypinyin'}"
    program = (
        "import sys\nfrom corrector.eval.__main__ import main\n"
        f"try: main(['--help'])\nfinally: sys.stderr.write(str(sorted({heavy} & set(sys.modules))))"
    )
    root = Path(__file__).resolve().parents[1]
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=root, check=False)
    assert result.returncode == 0 and result.stderr == "[]"
