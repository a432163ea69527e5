"""Which of two characters that writers confuse fits: what a place has around it, and the weights of each pair."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corrector.electra.contrasts import BUCKET_BITS, MIDDLE_VALUE, REACH, Contrasts, features, ids_around
from corrector.electra.ngrams import Ngrams
from corrector.electra.slips import Slips
from corrector.electra.static_map import StaticMap
from corrector.train.counts import ngrams_of

FIRST, SIZE = 10, 40


def random_text(length: int = 60, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(FIRST, SIZE, length)


def test_ids_around_end_where_the_text_does() -> None:
    text = random_text(40)
    text[[15, 30]] = 3, 0
    found = ids_around(text, np.array([0, 17, 22, 39]))
    assert found.shape == (4, 2 * REACH + 1)
    assert found[0, :REACH].tolist() == [0] * REACH and found[0, REACH:].tolist() == text[: REACH + 1].tolist()
    assert found[1].tolist() == [0] * (REACH - 1) + text[16:30].tolist() + [0] * 0  # from behind 15 to before 30
    assert found[2, : REACH - 6].tolist() == [0] * (REACH - 6) and found[2, REACH - 6 : REACH + 8].tolist() == text[16:30].tolist()
    assert found[3, : REACH - 8].tolist() == [0] * (REACH - 8) and found[3, REACH + 1 :].tolist() == [0] * REACH


def test_features_tell_places_and_kinds_apart() -> None:
    """The character of the place itself is none; the neighbours are, each in its place; further off only the side matters."""
    text = random_text(2 * REACH + 1)
    middle = np.array([REACH])

    def of(changes: dict[int, int]) -> list[int]:
        other = text.copy()
        for offset, value in changes.items():
            other[REACH + offset] = value
        found: list[int] = features(ids_around(other, middle))[0].tolist()
        return found

    same = of({})
    assert of({0: 39}) == same and len(same) == len(of({1: 39})) and min(same) > 0 and max(same) < 1 << BUCKET_BITS
    assert sum(a != b for a, b in zip(of({1: 5}), same, strict=True)) == 8  # collocations with the right neighbour, and nothing else
    assert sum(a != b for a, b in zip(of({REACH: 5}), same, strict=True)) == 1  # one pair of characters on the right
    swapped = of({6: int(text[REACH + 7]), 7: int(text[REACH + 6])})
    assert len({*swapped} & {*same}) >= len(same) - 3  # single characters count on their side alone


def test_features_are_those_that_files_of_weights_hold() -> None:
    """Whatever they are, they must stay so: a file knows them by number only."""
    ids = np.concatenate([np.arange(4, 40), [3], np.arange(40, 60)])
    found = features(ids_around(ids, np.array([5, 20, 34, 56])))
    assert (found.shape, zlib.crc32(found.astype("<i8").tobytes())) == ((4, 54), 4061188538)


def contrasts(text: np.ndarray, place: int, value: int) -> Contrasts:
    """One pair, 10 and 20, whose only weight is of the right neighbour."""
    bucket = features(ids_around(text, np.array([place])))[0, 1]
    weights = StaticMap.build(np.array([bucket, (1 << BUCKET_BITS) + bucket], dtype=np.uint64), np.array([value, 1]))
    pairs = np.array([[10, 20], [11, 30]], dtype=np.uint16)
    return Contrasts(SIZE, pairs, np.array([0.5, 0.0], dtype=np.float32), np.array([0.25, 1.0], dtype=np.float32), weights)


def test_log_odds_of_the_other_character(tmp_path: Path) -> None:
    text = random_text()
    own = contrasts(text, 30, 12)
    numbers = own.numbers(np.array([10, 20, 10, 30, 15, 39]), np.array([20, 10, 30, 11, 10, 38]))
    assert numbers.tolist() == [1, -1, 0, -2, 0, 0]
    elsewhere = next(place for place in range(12, 40) if text[place + 1] != text[31])
    places = np.array([30, 30, elsewhere])
    expected = [0.5 + 0.25 * (12 - MIDDLE_VALUE), -0.5 - 0.25 * (12 - MIDDLE_VALUE), 0.5]
    around = ids_around(text, places[1:])
    assert own.log_odds(around, np.array([0, 0, 1]), np.array([1, -1, 1])).tolist() == pytest.approx(expected)
    assert own.log_odds(around, np.array([0]), np.array([-2])).tolist() == pytest.approx([7.0])
    own.save(tmp_path / "contrasts.npz")
    again = Contrasts.load(tmp_path / "contrasts.npz")
    assert again.vocabulary_size == SIZE
    assert again.log_odds(around, np.array([0, 0, 1]), np.array([1, -1, 1])).tolist() == pytest.approx(expected)
    np.savez(tmp_path / "other.npz", vocabulary_size=3)
    with pytest.raises(ValueError, match="no weights"):
        Contrasts.load(tmp_path / "other.npz")


def test_contrasts_are_fitted_to_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two characters of which one stands before 30 and where 31 is near, the other before 32 and where 33 is: this is told apart again."""
    pytest.importorskip("sklearn")
    from corrector.train import contrast

    monkeypatch.setattr(contrast, "_POSSIBLE", np.inf)  # in so little text all others seem impossible
    random = np.random.default_rng(2)
    text = random.integers(34, 60, 40_000)
    places = np.arange(20, 39_900, 20)
    kinds = random.integers(0, 2, len(places))
    text[places] = np.where(kinds, 20, 10)
    near = random.random(len(places)) < 0.5
    text[places + 1] = np.where(near, np.where(kinds, 32, 30), text[places + 1])
    text[places + 5] = np.where(near, text[places + 5], np.where(kinds, 33, 31))
    texts = [text[:20_000].astype(np.uint16), text[20_000:30_000].astype(np.uint16)]
    nothing = np.zeros((60, 1), dtype=np.uint16)
    ngrams = ngrams_of(texts, 60, 8, (nothing, nothing.astype(np.uint8)))
    absent = 9  # in no text, so that nothing can be told of its pair
    fitted = contrast.contrasted(ngrams, texts, [(10, 20), (absent, 10), (20, 10)], 50, lambda _: None)
    held = places > 30_100
    assert fitted.pairs.tolist() == [[10, 20], [20, 10]] and fitted.vocabulary_size == 60
    around, every = ids_around(text, places[held]), np.ones(held.sum(), dtype=np.int64)
    for number, kind in ((1, 1), (2, 0)):  # the second character of the pair instead of its first
        right = (fitted.log_odds(around, np.arange(held.sum()), number * every) > 0) == (kinds[held] == kind)
        assert right.mean() > 0.95 and right[near[held]].mean() > 0.9 and right[~near[held]].mean() > 0.9


def test_places_are_learned_from_where_the_other_character_could_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """By pairs and triples, and not within two characters of the ends of a text."""
    contrast = pytest.importorskip("corrector.train.contrast")
    monkeypatch.setattr(contrast, "_POSSIBLE", 5.0)  # there are 0 nats and 11 between what can and what cannot stand here
    nothing = np.zeros((60, 1), dtype=np.uint16)
    text = np.tile([40, 41, 10, 42, 43, 50, 51, 20, 52, 53, 40, 41, 20, 42, 43], 400).astype(np.uint16)  # 20 also where 10 stands
    text = np.concatenate([text[2:], text[:3]])  # begins and ends with 10
    ngrams = ngrams_of([text], 60, 8, (nothing, nothing.astype(np.uint8)))
    tens, twenties = (np.flatnonzero(text == one) for one in (10, 20))
    random = np.random.default_rng(0)
    (found,) = contrast._possible(ngrams, [text], [tens], 20, random)
    assert found.tolist() == tens[1:-1].tolist()
    (found,) = contrast._possible(ngrams, [text], [twenties], 10, random)
    assert found.tolist() == twenties[text[twenties - 1] == 41].tolist()
    monkeypatch.setattr(contrast, "_MOST_PLACES", 100)
    assert 70 < sum(map(len, contrast._possible(ngrams, [text], [tens], 20, random))) < 130


def test_pairs_that_are_likely_confused_come_first() -> None:
    """Half of it is likeness, 10 and 11 before 12 and 13; half is what was seen, 13 and 14 nine times, 10 and 14 three times in all."""
    contrast = pytest.importorskip("corrector.train.contrast")
    counts, alike, similarity = np.full(SIZE, 90_000), np.zeros((SIZE, 2), dtype=np.uint16), np.zeros((SIZE, 2), dtype=np.uint8)
    counts[15] = 7_999  # too rare for a contrast
    for one, other, likeness in ((10, 11, 255), (11, 10, 255), (12, 13, 153), (13, 12, 153), (14, 16, 140)):
        alike[one, 0], similarity[one, 0] = other, likeness
    alike[10, 1], similarity[10, 1] = 15, 255
    ngrams = Ngrams(counts, *[StaticMap.build(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))] * 2, alike, similarity)
    seen = {(10, 14): 1.0, (12, 14): 1.0, (13, 14): 9.0, (14, 10): 2.0, (15, 11): 50.0}  # given instead of what was meant
    pairs = np.array([given * SIZE + meant for given, meant in seen])
    slips = Slips(pairs, np.array(list(seen.values()), dtype=np.float32), np.zeros(SIZE, dtype=np.float32))
    assert contrast.confusable_pairs(ngrams, slips, []) == [(10, 11), (13, 14), (10, 14), (12, 13)]
    undecided = [frozenset({10, 11, 14}), frozenset({12})]
    assert contrast.confusable_pairs(ngrams, slips, undecided) == [(13, 14), (12, 13)]
    assert contrast.confusable_pairs(ngrams, replace(slips, pairs=pairs[:0], times=slips.times[:0]), []) == [(10, 11), (12, 13)]
