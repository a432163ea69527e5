"""Text is rendered, spoilt and read again; what is read as another character becomes an error."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from corrector.errors import InputError
from corrector.train import recognise as module
from corrector.train.__main__ import main
from corrector.train.recognise import aligned, misread, recognise, scanned

if TYPE_CHECKING:
    from corrector.train.recognise import Place


def places(text: str) -> list[Place]:
    return [{char: 1.0} for char in text]


@pytest.mark.parametrize(
    "text, read, distance, substituted",
    [
        ("日本", "目木", 2, [(0, 0), (1, 1)]),
        ("一日本", "日木", 2, [(1, 0), (2, 1)]),
        ("日本", "日人木", 2, [(0, 0), (1, 2)]),
        ("日本", "", 2, []),
        ("", "日", 1, []),
    ],
)
def test_what_was_read_is_put_beside_the_text(text: str, read: str, distance: int, substituted: list[tuple[int, int]]) -> None:
    assert aligned(text, read) == (distance, substituted)


def test_only_han_characters_read_as_others_are_errors() -> None:
    text, read = "今日第3页，日本来信共有五封，都已收到。", "今目第8页.日木来信共有五封，都收到。"
    (source,) = misread(text, places(read), 0, 0.3, random.Random(1))
    assert source == "今目第3页，日木来信共有五封，都已收到。"


def test_what_is_read_all_wrong_is_left_out() -> None:
    assert list(misread("今日天气", places("令目大气"), 0, 0.3, random.Random(1))) == []
    assert list(misread("今日天气", places("令目大气"), 2, 0.8, random.Random(1))) == ["令目大气"] * 2


def test_readings_are_drawn_by_their_probabilities() -> None:
    seen = [{"今": 1.0}, {"日": 0.75, "目": 0.25}, {}, {"氣体": 0.5, "气": 0.5}]
    drawn = list(misread("今日天气", [seen[0], seen[1], {"天": 1.0}, seen[3]], 400, 0.3, random.Random(1)))
    assert set(drawn) == {"今日天气", "今目天气"} and 60 < drawn.count("今目天气") < 140
    assert list(misread("今日天气", seen, 9, 0.3, random.Random(1))) == []  # half of it is lost


class FakeEngine:
    """Reads what it was told that is in the images, with 日 as 目."""

    rendered: ClassVar[list[str]] = []

    def read(self, image: Any) -> list[Place]:
        return places(self.rendered.pop(0).replace("日", "目"))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No font has a say: what is rendered is noted for the engine."""

    def scan(text: str, font: Any, pixels: tuple[float, float], rng: random.Random) -> None:
        FakeEngine.rendered.append(text)

    monkeypatch.setattr(module, "scanned", scan)
    monkeypatch.setattr(module, "_face", lambda font, size: None)
    monkeypatch.setitem(module.ENGINES, "rapidocr", FakeEngine)


def test_long_lines_are_read_in_pieces(tmp_path: Path, engine: None) -> None:
    lost = "日日" * 20
    text = "今天的日子和往常一样平平静静地过去了没有什么特别的事情发生" * 3 + "日本来信"
    lost_in_part = text[:30] + "日日"
    lines = (text, lost, lost_in_part, "明 日出发")
    assert recognise(lines, ["a.ttf"], "rapidocr", (10, 12), 0, 0.3, 1, tmp_path / "pairs.tsv") == (len(text) + 4, 5)
    assert (tmp_path / "pairs.tsv").read_text("utf-8") == f"{text.replace('日', '目')}\t{text}\n明 目出发\t明 日出发\n"


def test_the_command(tmp_path: Path, engine: None, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text("今日晴朗\n\n明天下雨\n", "utf-8")
    out = tmp_path / "pairs.tsv"
    assert main(["recognise", str(tmp_path / "text.txt"), "--font", "a.ttf", "--out", str(out), "--draws", "2"]) == 0
    assert out.read_text("utf-8") == "今目晴朗\t今日晴朗\n" * 2 + "明天下雨\t明天下雨\n" * 2
    assert f"16 Han characters, 2 read as another; wrote {out}" in capsys.readouterr().err


def test_a_font_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    (tmp_path / "a.ttf").write_bytes(b"no font")
    for name in ("a.ttf", "missing.ttf", "a.ttf:x"):
        with pytest.raises(InputError, match="ttf: cannot be used as a font"):
            recognise(["日"], [str(tmp_path / name)], "rapidocr", (10, 12), 0, 0.3, 1, tmp_path / "pairs.tsv")
    assert not (tmp_path / "pairs.tsv").exists()


def test_a_scan_is_one_line_and_the_same_for_a_seed() -> None:
    fonts = pytest.importorskip("PIL.ImageFont")
    font = fonts.load_default(32)
    images = [scanned("ABC 123", font, (10, 14), random.Random(seed)) for seed in (1, 1, 2)]
    assert {image.height for image in images} == {48} and all(image.width > 48 for image in images)
    first, again, other = (image.tobytes() for image in images)
    assert first == again != other
    assert min(first) < 128 < max(first)  # ink and paper
