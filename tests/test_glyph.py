"""How alike characters look: known look-alikes, symmetry, neighbours, decompositions, and the published pairs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrector.errors import EvalDataError
from corrector.similarity import recall
from corrector.similarity.glyph import _neighbours, _table, covers, glyph_similarity, nearest_by_shape
from corrector.similarity.ids import Decomposition, parse_sequence
from corrector.similarity.pinyin import common_characters

CONFUSIONS = Path(__file__).parents[2] / "shared" / "csc"
common = st.sampled_from(common_characters())


@pytest.mark.parametrize("pair", ["未末", "己已", "已巳", "人入", "晴睛", "日曰", "土士", "戊戌", "乌鸟", "大太"])
def test_look_alikes_are_near(pair: str) -> None:
    assert glyph_similarity(*pair) >= 0.7
    assert pair[1] in [c for c, _ in nearest_by_shape(pair[0], 5)]


@pytest.mark.parametrize("pair", ["一龘", "的我", "是不", "口鼎"])
def test_unlike_characters_are_far(pair: str) -> None:
    assert glyph_similarity(*pair) < 0.2


def test_a_shared_component_makes_characters_alike_wherever_it_stands() -> None:
    assert glyph_similarity("清", "请") > 0.45 > glyph_similarity("清", "江")
    assert glyph_similarity("龚", "陇") > 0.4
    assert glyph_similarity("候", "侯") > glyph_similarity("候", "修")


def test_texts_average_over_their_characters() -> None:
    assert glyph_similarity("未来", "末来") == pytest.approx((glyph_similarity("未", "末") + 1) / 2)
    assert glyph_similarity("", "") == 1.0
    with pytest.raises(ValueError, match="unequal length"):
        glyph_similarity("未", "未来")


def test_unknown_characters_are_like_themselves_only() -> None:
    assert glyph_similarity("x", "x") == 1.0
    assert glyph_similarity("x", "乂") == glyph_similarity("乂", "x") == 0.0
    assert nearest_by_shape("x") == () and not covers("x")


def test_coverage() -> None:
    assert all(map(covers, common_characters()))
    assert covers("龍") and covers("鸰") and covers("婥")


@given(common, common)
def test_similarity_is_symmetric_and_one_only_for_equals(a: str, b: str) -> None:
    similarity = glyph_similarity(a, b)
    assert similarity == glyph_similarity(b, a)
    assert 0 <= similarity <= 1 and (similarity == 1) == (a == b)


@given(common)
def test_neighbours_carry_the_similarity_of_the_pair_from_both_sides(character: str) -> None:
    neighbours = nearest_by_shape(character)
    assert character not in dict(neighbours) and len(dict(neighbours)) == len(neighbours) <= 30
    assert [s for _, s in neighbours] == sorted((s for _, s in neighbours), reverse=True)
    assert neighbours[:5] == nearest_by_shape(character, 5)
    for other, similarity in neighbours:
        assert similarity == glyph_similarity(character, other) == glyph_similarity(other, character) > 0


def test_a_pair_that_is_not_held_is_not_taken_for_one_of_the_next_character() -> None:
    rare = _table().characters[-100:]
    for character in rare:
        neighbours = _neighbours(character)
        for other in set(rare) - {character}:
            assert glyph_similarity(character, other) == neighbours.get(other, 0)


def test_neighbours_of_a_traditional_character_are_common_ones() -> None:
    neighbours = [c for c, _ in nearest_by_shape("龍", 10)]
    assert neighbours and set(neighbours) <= set(common_characters())


def test_almost_every_common_character_has_thirty_neighbours() -> None:
    few = [c for c in common_characters() if len(nearest_by_shape(c)) < 30]
    assert len(few) < 0.01 * len(common_characters())


@pytest.mark.parametrize(
    ("sequence", "tree"),
    [
        ("⿰日青(.,T,K)", ("⿰", "日", "青")),
        ("⿲彳⿱山王亍", ("⿲", "彳", ("⿱", "山", "王"), "亍")),
        ("⿱⿻[b]㇉一一(J)", ("⿱", ("⿻", "㇉", "一"), "一")),
        ("{末}⿻𰀁人", ("⿻", "𰀁", "人")),
        ("⿸#(丨-一丨)目", ("⿸", "#(丨-一丨)", "目")),
        ("木", "木"),
    ],
)
def test_sequences_parse(sequence: str, tree: object) -> None:
    assert parse_sequence(sequence) == tree


def test_a_sequence_cut_short_is_an_error_and_leaves_its_character_whole() -> None:
    with pytest.raises(ValueError, match="ends early"):
        parse_sequence("⿰日")
    assert Decomposition({"晴": "⿰日"}).tree("晴") == "晴"


def test_features_weigh_components_by_strokes_and_place() -> None:
    decomposition = Decomposition({"杲": "⿱日木", "日": "#(丨-𠃍-一-一)", "木": "#(一-丨-丿-乀)"})
    assert decomposition.strokes("杲") == 8
    features = decomposition.features("杲")
    assert features["日"] == features["木"] == 2
    assert features["日 ⿱0"] == pytest.approx(0.7 * 2) and "日 ⿱1" not in features
    assert features["杲"] == pytest.approx(math.sqrt(8))


def test_a_decomposition_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_text("晴\t⿰日青(.,T);⿰日靑(K)\n品\t⿱口⿰口口\t⿱吅口\n", encoding="utf-8")
    decomposition = Decomposition.read(path)
    assert decomposition.tree("晴") == ("⿰", "日", "青")
    assert decomposition.tree("品") == ("⿱", "口", ("⿰", "口", "口"))


def test_a_broken_confusion_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "confusion.x.tsv"
    path.write_text("未\t末朱\n己已\n", encoding="utf-8")
    with pytest.raises(EvalDataError, match=r"confusion\.x\.tsv:2"):
        list(recall.read_confusions(path))


def test_a_folder_without_confusion_files_is_told(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(EvalDataError, match=r"has no file confusion\.\*\.tsv"):
            recall.table(folder)


def test_the_recall_table_has_a_line_for_each_file_and_measure(tmp_path: Path) -> None:
    (tmp_path / "confusion.x.tsv").write_text("未\t末味龘\n", encoding="utf-8")
    lines = recall.table(tmp_path).splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [["confusion.x", "sound", "3"], ["confusion.x", "shape", "3"]]
    assert "66.7%" in lines[2]


@pytest.mark.skipif(not CONFUSIONS.is_dir(), reason="published confusion sets not here")
def test_published_look_alikes_are_among_the_neighbours() -> None:
    confusions = recall.read_confusions(CONFUSIONS / "confusion.shape.pycorrector.tsv")
    measured = recall.measure(confusions, nearest_by_shape, covers)
    assert measured.known >= 0.99 * measured.pairs
    assert measured.shares()[0] >= 0.8
