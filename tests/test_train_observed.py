from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from corrector.train.config import NoiseConfig
from corrector.train.noise import Noise
from corrector.train.observed import MOST, PRIOR, Observed, observe
from tests import training
from tests.training import FIRST_HAN, MASK_ID, SIZE, group_of, windows

GOOD, BAD, WORSE, OTHER = FIRST_HAN, FIRST_HAN + 9, FIRST_HAN + 17, FIRST_HAN + 25


def row(given: list[int], right: list[int], weight: float = 1.0) -> tuple[np.ndarray, np.ndarray, float]:
    return np.array(given), np.array(right), weight


@pytest.fixture
def observed() -> Observed:
    """GOOD is wrong in 8 of 20 weighed places, three times as often BAD as WORSE; OTHER, as frequent, never."""
    rows = [row([BAD, OTHER], [GOOD, OTHER])] * 6 + [row([WORSE, OTHER], [GOOD, OTHER], 2.0)] + [row([GOOD, OTHER], [GOOD, OTHER])] * 12
    return observe(rows, SIZE)


def noise(known: Observed, **settings: object) -> Noise:
    kinds = replace(NoiseConfig(masked=0.0, clean_windows=0.0, single_windows=0.0, rates=(0.2,)), **settings)  # type: ignore[arg-type]
    return Noise(training.noise_tables(), kinds, SIZE, MASK_ID, known)


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def test_what_stood_there_instead(observed: Observed) -> None:
    assert observed.replacements[GOOD, :2].tolist() == [BAD, WORSE]
    assert observed.replacements_p[GOOD, :3] == pytest.approx([0.75, 1.0, 1.0])
    assert not observed.replacements_p[OTHER].any()


def test_how_often_a_character_is_wrong(observed: Observed) -> None:
    rate = 8 / 40  # of errors among all characters, weighed
    assert observed.proneness[GOOD] == pytest.approx((8 + PRIOR) / (20 * rate + PRIOR))
    assert observed.proneness[OTHER] == pytest.approx(PRIOR / (20 * rate + PRIOR))
    assert observed.proneness[FIRST_HAN + 1] == 1.0  # of what was never seen nothing is known
    often = observe([row([OTHER] * 999, [OTHER] * 999)] * 99 + [row([BAD] * 999, [GOOD] * 999)], SIZE)
    assert often.proneness[GOOD] == MOST


def test_errors_as_observed_where_they_were_observed(observed: Observed) -> None:
    original = np.full((300, 40), OTHER)
    original[:, ::2] = GOOD
    made = noise(observed, observed=1.0).corrupt(original, rng())
    good, other = made[original == GOOD], made[original == OTHER]
    ratio = (good != GOOD).mean() / (other != OTHER).mean()
    assert ratio == pytest.approx(observed.proneness[GOOD] / observed.proneness[OTHER], rel=0.15)
    assert set(good[good != GOOD].tolist()) == {BAD, WORSE}
    assert (good == BAD).sum() / (good == WORSE).sum() == pytest.approx(3, rel=0.2)
    # A character that was never wrong becomes one that sounds the same.
    assert (group_of(other[other != OTHER]) == group_of(OTHER)).all()


def test_the_share_of_observed_errors(observed: Observed) -> None:
    original = np.full((300, 40), GOOD)
    made = noise(observed, observed=0.25).replace(original, np.arange(original.size), rng())
    share = np.isin(made, [BAD, WORSE]).mean()
    kinds = noise(observed).config
    by_chance = kinds.random / (kinds.same_sound + kinds.near_sound + kinds.shape + kinds.random + kinds.word + kinds.particles)
    proneness = 0.25 * observed.proneness[GOOD]
    expected = proneness / (0.75 + proneness)
    assert expected - 0.03 < share < expected + by_chance + kinds.near_sound + kinds.shape


def test_without_a_share_the_observed_changes_nothing(observed: Observed) -> None:
    original = windows(50, 40)
    plain = noise(observed).corrupt(original, rng())
    assert (np.isin(plain, original) | (plain >= FIRST_HAN)).all()
    assert (plain != original).mean() == pytest.approx(0.2 * (original >= FIRST_HAN).mean(), abs=0.03)


def test_labelled_rows_lose_errors_and_get_others(observed: Observed) -> None:
    right = windows(600, 40)
    given = right.copy()
    given[:, 5] = np.where(right[:, 5] == BAD, WORSE, BAD)
    quiet = noise(observed, rates=(0.0,), labelled=0.5)
    changed = quiet.corrupt_labelled(right, given, rng())
    assert ((changed == right) | (changed == given)).all()
    assert (changed[:, 5] == right[:, 5]).mean() == pytest.approx(0.5 * 0.3, abs=0.04)
    loud = noise(observed, labelled=0.5, masked=0.1).corrupt_labelled(right, given, rng())
    untouched = (loud == given).all(1)
    assert untouched.mean() == pytest.approx(0.5, abs=0.06)
    assert (loud[~untouched] == MASK_ID).mean() == pytest.approx(0.1 * (right >= FIRST_HAN).mean(), abs=0.02)
    assert (noise(observed).corrupt_labelled(right, given, rng()) == given).all()
