from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from corrector.similarity.glyph import glyph_similarity
from corrector.train.config import NoiseConfig
from corrector.train.noise import Noise
from corrector.train.noise_tables import ALIKE, FREQUENCY_POWER, SAME_TONE, WIDTH, WORD_WIDTH, NoiseTables, build
from tests import training
from tests.training import FIRST_HAN, GROUP, HOMOPHONES, MASK_ID, PARTICLES, SIZE, WORD, group_of, windows

NO_KIND = {"same_sound": 0.0, "near_sound": 0.0, "shape": 0.0, "random": 0.0, "word": 0.0, "particles": 0.0}
LENGTH = 40


def noise(**settings: object) -> Noise:
    return Noise(training.noise_tables(), replace(NoiseConfig(), **settings), SIZE, MASK_ID)  # type: ignore[arg-type]


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_only_han_characters_change() -> None:
    original = windows(400, LENGTH)
    result = noise().corrupt(original, rng())
    changed = result != original
    assert changed.any()
    assert (original[changed] >= FIRST_HAN).all()
    assert ((result[changed] >= FIRST_HAN) | (result[changed] == MASK_ID)).all()


def test_the_original_stays_as_it_is() -> None:
    original = windows(20, LENGTH)
    before = original.copy()
    noise().corrupt(original, rng())
    assert (original == before).all()


def test_the_same_random_numbers_make_the_same_errors() -> None:
    original = windows(20, LENGTH)
    assert (noise().corrupt(original, rng()) == noise().corrupt(original, rng())).all()


def test_clean_windows_and_windows_with_one_error() -> None:
    original = windows(2000, LENGTH)
    kinds = {**NO_KIND, "same_sound": 1.0}
    made = noise(clean_windows=0.3, single_windows=0.7, masked=0.0, doubled=0.0, **kinds).corrupt(original, rng())
    errors = (made != original).sum(1)
    assert set(errors.tolist()) == {0, 1}
    assert (errors == 0).mean() == pytest.approx(0.3, abs=0.04)


def test_rate_of_errors_and_of_masks() -> None:
    original = windows(1500, LENGTH)
    kinds = {**NO_KIND, "same_sound": 1.0}
    quiet = {"clean_windows": 0.0, "single_windows": 0.0}
    han = original >= FIRST_HAN
    made = noise(rates=(0.1,), masked=0.0, **quiet, **kinds).corrupt(original, rng())
    assert (made != original)[han].mean() == pytest.approx(0.1, abs=0.01)
    made = noise(rates=(0.0,), masked=0.05, **quiet, **kinds).corrupt(original, rng())
    assert (made == MASK_ID)[han].mean() == pytest.approx(0.05, abs=0.01)
    assert ((made == original) | (made == MASK_ID)).all()


@pytest.mark.parametrize(("kind", "step"), [("same_sound", 0), ("near_sound", 1), ("shape", 2)])
def test_replacements_come_from_their_table(kind: str, step: int) -> None:
    original = windows(200, LENGTH)
    places = np.flatnonzero(original >= FIRST_HAN)
    result = noise(**{**NO_KIND, kind: 1.0}).replace(original, places, rng()).reshape(-1)
    before = original.reshape(-1)
    groups = (SIZE - FIRST_HAN) // GROUP
    assert (result[places] != before[places]).all()
    assert (group_of(result[places]) == (group_of(before[places]) + step) % groups).all()
    drawn = {int(new) for new in result[places][before[places] == FIRST_HAN]}
    assert len(drawn) == (GROUP - 1 if step == 0 else GROUP)  # every neighbour, not only the first


def test_words_become_their_homophones() -> None:
    text = np.array([[2, *WORD, 20, 21, 22, 3]] * 400)
    places = np.arange(400) * text.shape[1] + 1
    result = noise(**{**NO_KIND, "word": 1.0}).replace(text, places, rng())
    made = {tuple(pair) for pair in result[:, 1:3].tolist()}
    assert made == set(HOMOPHONES)
    share = (result[:, 1] == HOMOPHONES[0][0]).mean()
    assert share == pytest.approx(0.75, abs=0.08)
    assert (result[:, 3:] == text[:, 3:]).all()


def test_no_word_here_means_one_same_sounding_character() -> None:
    text = np.array([[2, 20, 21, 22, 3]] * 50)
    result = noise(**{**NO_KIND, "word": 1.0}).replace(text, np.arange(50) * 5 + 1, rng())
    assert (result[:, 1] != 20).all() and (group_of(result[:, 1]) == group_of(20)).all()
    assert (result[:, 2:] == text[:, 2:]).all()


def test_a_word_error_never_reaches_into_the_next_window() -> None:
    text = np.array([[2, 20, WORD[0]], [WORD[1], 20, 3]])
    result = noise(**{**NO_KIND, "word": 1.0}).replace(text, np.array([2]), rng())
    assert (result[1] == text[1]).all()


def test_an_error_at_one_of_two_like_characters_is_made_at_both_in_the_share_asked_for() -> None:
    text = np.array([[2, 30, 20, 20, 31, 3]] * 1000)
    for column in (2, 3):
        result = noise(**{**NO_KIND, "same_sound": 1.0}, doubled=0.7).replace(text, np.arange(1000) * 6 + column, rng())
        assert (result[:, column] != 20).all()
        both = result[:, 2] == result[:, 3]
        assert both.mean() == pytest.approx(0.7, abs=0.05)
        assert (result[~both, 5 - column] == 20).all()
        assert (result[:, [0, 1, 4, 5]] == text[:, [0, 1, 4, 5]]).all()


def test_two_like_characters_are_no_double_across_windows() -> None:
    text = np.array([[2, 30, 20], [20, 31, 3]])
    for place in (2, 3):
        result = noise(**{**NO_KIND, "same_sound": 1.0}, doubled=1.0).replace(text, np.array([place]), rng())
        assert (result != text).sum() == 1


def test_particles_are_swapped_and_others_get_a_same_sound() -> None:
    text = np.array([[2, *PARTICLES, 30, 3]] * 20)
    places = np.flatnonzero(text >= FIRST_HAN)
    result = noise(**{**NO_KIND, "particles": 1.0}).replace(text, places, rng())
    assert (result[:, 1] == PARTICLES[1]).all() and (result[:, 2] == PARTICLES[0]).all()
    assert (group_of(result[:, 3]) == group_of(30)).all() and (result[:, 3] != 30).all()


def test_a_character_that_nothing_stands_for_stays_as_it_is() -> None:
    tables = training.noise_tables()
    tables.same_sound_p[20] = 0
    text = np.array([[2, 20, 21, 3]] * 20)
    result = replace(noise(**{**NO_KIND, "same_sound": 1.0}), tables=tables).replace(text, np.flatnonzero(text >= FIRST_HAN), rng())
    assert (result[:, 1] == 20).all() and (result[:, 2] != 21).all()


def test_masks_for_the_generator() -> None:
    original = windows(50, LENGTH)
    masked, places = noise(generator_masked=0.15).mask_for_generator(original, rng())
    assert len(places) == round(0.15 * original.size)
    assert (np.diff(places) > 0).all()
    assert (original.reshape(-1)[places] >= FIRST_HAN).all()
    assert (masked.reshape(-1)[places] == MASK_ID).all()
    elsewhere = np.delete(np.arange(original.size), places)
    assert (masked.reshape(-1)[elsewhere] == original.reshape(-1)[elsewhere]).all()


def test_similarity_bias() -> None:
    original = np.array([FIRST_HAN, FIRST_HAN + 9])
    plain = noise(generator_similarity=0.0).similarity_bias(original, rng())
    assert plain.shape == (2, SIZE)
    assert (plain[:, :FIRST_HAN] == -1e4).all() and (plain[:, FIRST_HAN:] == 0).all()
    weighted = noise(generator_similarity=1.0, similarity_power=2.0).similarity_bias(original, rng())
    assert weighted[0, FIRST_HAN + 1] == pytest.approx(2 * np.log(1.02))
    assert weighted[0, FIRST_HAN + 9] == pytest.approx(2 * np.log(0.02))
    assert (weighted[:, :FIRST_HAN] == -1e4).all()


VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[SPACE]", "，", *"在再载权利力例的地得请清情晴日木未末永")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> NoiseTables:
    folder = tmp_path_factory.mktemp("noise")
    lexicon = {"权利": 50, "权力": 40, "日木": 9}
    counts = np.zeros(len(VOCABULARY), dtype=np.int64)
    counts[VOCABULARY.index("再")] = 400
    build(VOCABULARY, counts, lexicon).save(folder / "noise.npz")
    return NoiseTables.load(folder / "noise.npz")


def neighbours(table: np.ndarray, shares: np.ndarray, character: str) -> dict[str, float]:
    row = VOCABULARY.index(character)
    own = np.diff(shares[row], prepend=0.0)
    return {VOCABULARY[i]: float(share) for i, share in zip(table[row], own, strict=True) if share > 0}


def test_built_tables_know_sound_shape_and_particles(built: NoiseTables) -> None:
    same = neighbours(built.same_sound, built.same_sound_p, "在")
    assert max(same, key=same.__getitem__) == "再" and set(same) == {"再", "载"}
    assert sum(same.values()) == pytest.approx(1.0)
    assert "清" in neighbours(built.shape, built.shape_p, "请")
    assert set(neighbours(built.particles, built.particles_p, "的")) == {"地", "得"}
    assert neighbours(built.same_sound, built.same_sound_p, "，") == {}
    assert built.is_han.tolist() == [False] * 7 + [True] * (len(VOCABULARY) - 7)


def test_what_sounds_or_looks_nearly_the_same_is_likelier_the_nearer(built: NoiseTables) -> None:
    assert set(neighbours(built.near_sound, built.near_sound_p, "得")) == {"地"}
    assert neighbours(built.near_sound, built.near_sound_p, "在") == {}  # 再 and 载 are of the same sound
    near = neighbours(built.near_sound, built.near_sound_p, "日")
    alike = ALIKE * (glyph_similarity("日", "力") - glyph_similarity("日", "的"))
    assert np.log(near["力"] / near["的"]) == pytest.approx(2 * np.log(0.8 / 0.57) + alike, abs=0.02)
    shape = neighbours(built.shape, built.shape_p, "末")
    assert set(shape) == {"未", "木"} and shape["未"] / shape["木"] == pytest.approx((0.94 / 0.57) ** 3, rel=0.01)


def test_a_random_error_is_any_character_and_oftener_a_frequent_one(built: NoiseTables) -> None:
    share = np.diff(built.frequency_p, prepend=0.0)
    assert (share[~built.is_han] == 0).all() and built.frequency_p[-1] == pytest.approx(1)
    assert share[VOCABULARY.index("再")] / share[VOCABULARY.index("在")] == pytest.approx(401**FREQUENCY_POWER, rel=0.01)


def test_slips_are_frequent_in_the_same_tone_and_alike(built: NoiseTables) -> None:
    """晴 and 清 look as much like 情 as one another; 晴 has its tone."""
    same = neighbours(built.same_sound, built.same_sound_p, "情")
    assert max(same, key=same.__getitem__) == "晴"
    alike = ALIKE * (glyph_similarity("情", "晴") - glyph_similarity("情", "清"))
    assert np.log(same["晴"] / same["清"]) == pytest.approx(SAME_TONE + alike, abs=0.01)
    same = neighbours(built.same_sound, built.same_sound_p, "在")
    alike = ALIKE * (glyph_similarity("在", "再") - glyph_similarity("在", "载"))
    assert np.log(same["再"] / same["载"]) == pytest.approx(FREQUENCY_POWER * np.log(401) + alike, abs=0.01)


def test_built_tables_know_homophone_words(built: NoiseTables) -> None:
    ids = {token: number for number, token in enumerate(VOCABULARY)}
    expected = sorted(ids[word[0]] * len(VOCABULARY) + ids[word[1]] for word in ("权利", "权力"))
    assert built.word_keys.tolist() == expected
    rows = [[VOCABULARY[i] for i in pair] for pair in built.word_alternatives[:, 0].tolist()]
    assert sorted(map("".join, rows)) == ["权利", "权力"]
    assert built.word_alternatives[0, 0].tolist() != [ids["权"], built.word_keys[0] % len(VOCABULARY)]


def test_words_become_those_of_their_sound_and_more_rarely_of_nearly_their_sound() -> None:
    vocabulary = (*VOCABULARY[:7], *"情清亲晴人们")
    lexicon = {"情人": 70, "亲人": 3, "清人": 50, "晴人": 2, "清": 900, "情": 900, "情人们": 900, "轻人": 900}  # no 轻 there
    tables = build(vocabulary, np.ones(len(vocabulary), dtype=np.int64), lexicon)
    key = {word: vocabulary.index(word[0]) * len(vocabulary) + vocabulary.index(word[1]) for word in ("情人", "清人", "亲人")}
    assert tables.word_keys.tolist() == sorted(key.values())
    row = tables.word_keys.tolist().index(key["情人"])
    own = np.diff(tables.word_p[row], prepend=0.0)
    share = {"".join(vocabulary[i] for i in pair): s for pair, s in zip(tables.word_alternatives[row], own, strict=True) if s > 0}
    assert set(share) == {"清人", "亲人"}
    alike = ALIKE * (glyph_similarity("情", "清") - glyph_similarity("情", "亲")) / 2  # of two characters one
    assert np.log(share["清人"] / share["亲人"]) == pytest.approx(FREQUENCY_POWER * np.log(51 / 4) - np.log(0.3) + alike, abs=0.02)
    text = np.array([[2, *map(vocabulary.index, word), 3] for word in key])
    words_only = replace(NoiseConfig(), **{**NO_KIND, "word": 1.0})
    made = Noise(tables, words_only, len(vocabulary), MASK_ID).replace(text, np.array([1, 5, 9]), rng())
    assert (made[:, 1] != text[:, 1]).all() and (made[:, 2] == text[:, 2]).all()  # each is found, the last of the keys too


def test_where_there_is_no_room_the_likeliest_are_kept() -> None:
    often, seldom = "一以已意义议易艺医衣依异移疑亿忆益亦役译翼遗仪宜乙抑疫逸毅倚伊姨怡", "蚁裔咦颐漪"
    vocabulary = (*VOCABULARY[:7], *seldom, *often)
    counts = np.array([10**6 if token in often else 0 for token in vocabulary])
    lexicon = {f"一{c}": 3 for c in seldom} | {f"一{c}": 10**6 for c in often[: WORD_WIDTH + 1]}
    tables = build(vocabulary, counts, lexicon)
    assert len(often) == WIDTH + 1
    assert {vocabulary[i] for i in tables.same_sound[vocabulary.index("一")]} == set(often) - {"一"}
    first = tables.word_keys.tolist().index(vocabulary.index("一") * (len(vocabulary) + 1))
    assert {vocabulary[i] for i in tables.word_alternatives[first, :, 1]} == set(often[1 : WORD_WIDTH + 1])


def test_built_similarity(built: NoiseTables) -> None:
    ids = {token: number for number, token in enumerate(VOCABULARY)}
    assert built.similarity[ids["在"], ids["再"]] > 200
    assert built.similarity[ids["在"], ids["木"]] < 100
    assert built.similarity[ids["请"], ids["清"]] > 200
    assert built.similarity[ids["未"], ids["末"]] == int(255 * glyph_similarity("未", "末"))
    assert (built.similarity[ids["，"]] == 0).all()
