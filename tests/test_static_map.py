"""The map against a dictionary, and its bits against the same arithmetic in plain integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrector.electra.static_map import LARGEST_VALUE, THIRDS, StaticMap, StaticSet

FIRST, SECOND, THIRD = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
WORD = 2**64 - 1

KEYS = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 1000))
VALUES = st.integers(1, LARGEST_VALUE)


def as_keys(numbers: object) -> np.ndarray:
    return np.array(list(numbers), dtype=np.uint64)  # type: ignore[call-overload]


def slow_value(static_map: StaticMap, key: int) -> int:
    """What ``get`` promises for one key."""
    size, segment = len(static_map.table), static_map.segment
    mixed = (key + static_map.seed) * FIRST & WORD
    mixed ^= mixed >> 29
    mixed = mixed * SECOND & WORD
    mixed ^= mixed >> 32
    other = mixed * THIRD & WORD
    parts = [mixed >> 32, mixed & 0xFFFFFFFF, other >> 32]
    if segment == THIRDS:
        slots = [number * (size // 3) + (part * (size // 3) >> 32) for number, part in enumerate(parts)]
    else:
        first = parts[0] * (size - 2 * segment) >> 32
        slots = [first, *(first + number * segment ^ parts[number] % segment for number in (1, 2))]
        assert [slot // segment for slot in slots] == [first // segment + number for number in range(3)]
    found = 0
    for slot in slots:
        found ^= int(static_map.table[slot])
    return found & 15 if found >> 4 == other >> 8 & 0xFFF else 0


@given(st.dictionaries(KEYS, VALUES, max_size=200))
def test_every_key_gives_its_value(items: dict[int, int]) -> None:
    found = StaticMap.build(as_keys(items), np.array(list(items.values()), dtype=np.uint8)).get(as_keys(items))
    assert found.dtype == np.uint8
    assert found.tolist() == list(items.values())


@given(st.dictionaries(KEYS, VALUES, max_size=40), st.lists(KEYS, max_size=40), st.integers(0, 2**64 - 1))
def test_any_key_gives_what_plain_integers_give(items: dict[int, int], others: list[int], seed: int) -> None:
    built = StaticMap.build(as_keys(items), np.array(list(items.values())))
    noise = np.random.default_rng(len(others)).integers(0, 2**16, 48, dtype=np.uint16)
    for one in (built, StaticMap(noise, seed), StaticMap(noise, seed, 8)):
        assert one.get(as_keys(others)).tolist() == [slow_value(one, key) for key in others]


def test_absent_keys_are_hardly_ever_found() -> None:
    rng = np.random.default_rng(2)
    keys = rng.choice(2**40, 5000, replace=False).astype(np.uint64)
    found = StaticMap.build(keys, rng.integers(1, 16, len(keys))).get(keys + np.uint64(2**41))
    # Fifteen of sixteen values that an absent key may come to are not 0.
    expected = len(keys) / 4096 * 15 / 16
    more = StaticMap.build(keys, rng.integers(1, 16, len(keys))).get(rng.integers(2**41, 2**50, 400_000).astype(np.uint64))
    assert np.count_nonzero(found) < expected + 6
    assert np.count_nonzero(more) == pytest.approx(400_000 / 4096 * 15 / 16, rel=0.4)


def test_a_large_map_takes_little_more_than_two_bytes_a_key() -> None:
    keys = np.arange(1_000_000, dtype=np.uint64) * np.uint64(7)
    values = (np.arange(len(keys)) % 15 + 1).astype(np.uint8)
    built = StaticMap.build(keys, values)
    assert np.array_equal(built.get(keys), values)
    assert built.table.nbytes < 2.28 * len(keys)


def test_what_is_saved_is_read_again() -> None:
    keys = as_keys(range(100, 400))
    some, several = StaticMap.build(keys, np.full(300, 9)), StaticSet.build(keys)
    data = some.arrays("some") | several.arrays("several")
    assert (again := StaticMap.read(data, "some")) is not None and again.get(keys).tolist() == [9] * 300
    assert (held := StaticSet.read(data, "several")) is not None and held.has(keys).all() and not held.has(keys + np.uint64(300)).all()
    assert StaticMap.read(data, "several") is None and StaticSet.read(data, "other") is None


def test_a_filter_of_version_0_8_is_read() -> None:
    """Its file has no length of a segment."""
    rng = np.random.default_rng(4)
    table = rng.integers(0, 2**16, 48, dtype=np.uint16)
    found = StaticMap.read({"some_map": table, "some_seed": np.array(7)}, "some")
    assert found is not None and found.segment == THIRDS
    keys = rng.integers(0, 2**50, 40_000).astype(np.uint64)  # some nine of them have the right twelve bits by chance
    values = found.get(keys).tolist()
    assert 0 < np.count_nonzero(values) < 40
    assert values == [slow_value(found, int(key)) for key in keys]


def test_an_empty_map_knows_nothing() -> None:
    empty = StaticMap.build(as_keys([]), np.zeros(0, dtype=np.uint8))
    assert empty.get(np.arange(1000, dtype=np.uint64)).tolist() == [0] * 1000
    assert empty.get(as_keys([])).shape == (0,)


def test_the_shape_of_the_keys_is_kept() -> None:
    built = StaticMap.build(as_keys([5, 7]), np.array([3, 4]))
    assert built.get(as_keys([5, 7, 5, 7, 7, 5]).reshape(2, 3)).tolist() == [[3, 4, 3], [4, 4, 3]]
    assert built.get(np.zeros((3, 0), dtype=np.uint64)).shape == (3, 0)
    rows = np.array([[5, 0, 7, 0], [7, 0, 5, 0]], dtype=np.uint64)
    assert built.get(rows[:, ::2]).tolist() == [[3, 4], [4, 3]]
    assert rows.tolist() == [[5, 0, 7, 0], [7, 0, 5, 0]]  # keys are only read


def test_building_twice_gives_the_same_table() -> None:
    keys, values = as_keys(range(100, 400)), np.full(300, 9)
    assert StaticMap.build(keys, values).table.tolist() == StaticMap.build(keys, values).table.tolist()


@pytest.mark.parametrize("value", [0, LARGEST_VALUE + 1, -1])
def test_values_out_of_range_are_refused(value: int) -> None:
    with pytest.raises(ValueError, match=r"values must lie in 1\.\.15"):
        StaticMap.build(as_keys([5, 7]), np.array([3, value]))


def test_equal_keys_are_refused() -> None:
    with pytest.raises(ValueError, match="keys must be distinct"):
        StaticMap.build(as_keys([5, 7, 5]), np.array([3, 4, 3]))


@given(st.sets(KEYS, max_size=200))
def test_every_key_is_in_its_set(keys: set[int]) -> None:
    found = StaticSet.build(as_keys(keys)).has(as_keys(keys))
    assert found.dtype == np.bool_
    assert found.all() and found.shape == (len(keys),)


def test_one_absent_key_in_256_is_taken_for_one_of_a_set() -> None:
    rng = np.random.default_rng(3)
    built = StaticSet.build(rng.choice(2**40, 5000, replace=False).astype(np.uint64))
    others = rng.integers(2**41, 2**50, (400, 1000)).astype(np.uint64)
    assert built.table.dtype == np.uint8
    assert np.count_nonzero(built.has(others)) == pytest.approx(others.size / 256, rel=0.1)


def test_a_set_of_a_key_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="distinct"):
        StaticSet.build(as_keys([1, 2, 1]))
