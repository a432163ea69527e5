"""The counts of words: how a corpus is divided, what the model says of a text, and that it says it for every division."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from corrector.electra.ngrams import SPECIALS
from corrector.electra.static_map import StaticMap
from corrector.electra.word_model import STEP, WordModel, word_numbers
from corrector.electra.word_set import Keys, WordSet
from corrector.train import word_counts
from corrector.train.counts import IN_NONE
from corrector.train.word_counts import divided, occurrences, word_models_of

VOCABULARY = "012345副作用幅很大的我们仓促太了，"
SIZE = len(VOCABULARY)
WORDS = ("作用", "很大", "我们", "仓促", "太仓", "副作用")


def ids(text: str) -> list[int]:
    return [VOCABULARY.index(char) for char in text]


def keys(size: int) -> Keys:
    made = []
    for word in WORDS:
        if len(word) == size:
            key = 0
            for number in ids(word):
                key = key * SIZE + number
            made.append(key)
    return np.array(sorted(made), dtype=np.uint64)


LEXICON = (WordSet(keys(2)), WordSet(keys(3)), WordSet(keys(4)))


def number(word: str) -> int:
    """Of a word, in the order that a model gives them."""
    found = word_numbers(np.array([ids(word)]), SIZE, LEXICON)[0, len(word) - 1, 0]
    assert found >= 0
    return int(found)


def corpus(*texts: tuple[str, int]) -> list[np.ndarray]:  # type: ignore[type-arg]
    lines = [[*ids(text), 3] for text, times in texts for _ in range(times)]
    return [np.array([token for line in lines for token in line], dtype=np.uint16)]


def test_occurrences_of_words_be_it_within_others() -> None:
    texts = corpus(("我们的副作用很大", 3), ("作用", 2))
    found = occurrences([*WORDS, "秋天"], VOCABULARY, texts)
    assert found == {"作用": 5, "很大": 3, "我们": 3, "仓促": 0, "太仓": 0, "副作用": 3}


@pytest.fixture(scope="module")
def model() -> WordModel:
    texts = corpus(("我们的副作用很大", 40), ("太仓促了", 30), ("我们太大了", 20), ("作用很大", 25), ("太仓", 2), ("幅，大的了", 20))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_counts, "LEAST_PAIR_GAIN", 0.1)  # in so little text hardly anything is worth more
        patch.setattr(word_counts, "LEAST_TRIPLE_GAIN", 0.1)
        return next(word_models_of([texts], [IN_NONE], LEXICON, SIZE, lambda _: None))


def chances(model: WordModel, words: list[str]) -> float:
    """The score of one division, by looking every word up."""
    numbers = [number(word) for word in words]
    total = -float(model.rarity[numbers[0]]) * STEP
    levels = [int(model.pairs.get(np.array([a * model.count + b], dtype=np.uint64))[0]) for a, b in pairwise(numbers)]
    for place, ((before, word), level) in enumerate(zip(pairwise(numbers), levels, strict=True)):
        total -= float(model.rarity[word]) * STEP
        total += float(model.pair_gains[level]) if level else -float(model.reserve[before]) * STEP
        if place and level and levels[place - 1]:
            key = (numbers[place - 1] * model.count + before) * model.count + word
            total += float(model.triple_gains[model.triples.get(np.array([key], dtype=np.uint64))[0]])
    return total


def divisions(text: str) -> list[list[str]]:
    if not text:
        return [[]]
    heads = [text[:size] for size in range(1, min(4, len(text)) + 1) if size == 1 or text[:size] in WORDS]
    return [[head, *rest] for head in heads for rest in divisions(text[len(head) :])]


def test_words_have_numbers_after_the_characters() -> None:
    found = word_numbers(np.array([ids("副作用很大"), ids("太仓促了我")]), SIZE, LEXICON)
    assert found.shape == (5, 4, 2)
    assert found[:, 0, 0].tolist() == ids("副作用很大")
    assert [place for place in range(5) if found[place, 1, 0] >= 0] == [1, 3]  # 作用, 很大
    assert [place for place in range(5) if found[place, 2, 0] >= 0] == [0]  # 副作用
    assert [place for place in range(5) if found[place, 1, 1] >= 0] == [0, 1]  # 太仓, 仓促
    assert sorted(map(number, WORDS)) == list(range(SIZE, SIZE + len(WORDS)))
    assert number("副作用") == SIZE + 5  # those of three after all of two


def test_a_text_is_divided_into_its_likeliest_words() -> None:
    log_p = np.full(SIZE + len(WORDS), -9.0, dtype=np.float32)
    log_p[[number("太仓"), number("仓促")]] = -10.0, -8.0
    rows = np.array([ids("我们太仓促了"), ids("副作用的太仓")])
    found = divided(rows, log_p, SIZE, LEXICON).tolist()
    assert found == [number("我们"), *ids("太"), number("仓促"), *ids("了"), 0, number("副作用"), *ids("的"), number("太仓"), 0]


def test_the_score_is_that_of_the_best_division(model: WordModel) -> None:
    texts = ["我们的副作用很大了", "我们太仓促了，幅大", "幅作用很大太仓的们"]
    scores = model.score(np.array([ids(text) for text in texts]))
    assert scores.dtype == np.float32
    assert scores.tolist() == pytest.approx([max(chances(model, words) for words in divisions(text)) for text in texts], abs=1e-3)
    assert model.score(np.array([ids("大")])).tolist() == pytest.approx([chances(model, ["大"])], abs=1e-5)
    assert model.score(np.zeros((0, 5), dtype=np.int64)).shape == (0,)


def test_it_tells_a_word_from_a_row_of_characters(model: WordModel) -> None:
    right, wrong = model.score(np.array([ids("我们的副作用很大"), ids("我们的幅作用很大")]))
    assert right - wrong > 3
    assert model.triples.get(np.array([(number("我们") * model.count + ids("的")[0]) * model.count + number("副作用")], dtype=np.uint64))[0]


def test_specials_are_no_text(model: WordModel) -> None:
    """[CLS], [SEP] and the places outside a window neither cost nor say anything, but that nothing is known after them."""
    text = ids("太仓促了")
    alone, between = model.score(np.array([text]))[0], model.score(np.array([[0, 2, *text, 3, 0]]))[0]
    assert between - alone == pytest.approx(-float(model.reserve[text[-1]]) * STEP, abs=1e-3)
    assert model.score(np.arange(SPECIALS)[None])[0] == 0


def test_three_words_gain_what_is_known_of_them_beside_their_pairs() -> None:
    a, b, c = ids("副作用")
    pairs = StaticMap.build(np.array([a * SIZE + b, b * SIZE + c], dtype=np.uint64), np.array([1, 2]))
    triples = StaticMap.build(np.array([(a * SIZE + b) * SIZE + c], dtype=np.uint64), np.array([3]))
    gains = np.arange(16, dtype=np.float32)
    none = WordSet(np.zeros(0, dtype=np.uint64))
    nothing = np.zeros(SIZE, dtype=np.uint8)
    known = WordModel(SIZE, (none, none, none), nothing, nothing, pairs, triples, gains, 10 * gains)
    assert known.score(np.array([[a, b, c], [b, c, a], [a, c, b]])).tolist() == [1 + 2 + 30, 2, 0]


def test_probabilities_by_hand(model: WordModel) -> None:
    """太仓 is never a word where 仓促 is one: 30 of 仓促, 2 of 太仓."""
    words = [40 * 4, 30 * 3, 20 * 4, 25 * 2, 2, 20 * 5]  # 我们 的 副作用 很大, 太 仓促 了, 我们 太 大 了, 作用 很大, 太仓, 幅 ， 大 的 了
    total = sum(words) + 0.1 * model.count
    for word, times in (("仓促", 30), ("太仓", 2), ("很大", 65), ("们", 0)):
        assert -float(model.rarity[number(word)]) * STEP == pytest.approx(math.log((times + 0.1) / total), abs=STEP)


def test_words_of_four_with_the_middle_and_whether_the_corpus_has_them() -> None:
    """In a lexicon that has 我们很大, which stands in the corpus, and 很大仓促, which does not."""
    four = np.array(sorted(int(np.dot(ids(word), SIZE ** np.arange(3, -1, -1))) for word in ("我们很大", "很大仓促")), dtype=np.uint64)
    lexicon = (*LEXICON[:2], WordSet(four))
    model = next(word_models_of([corpus(("我们很大", 9), ("仓促", 9))], [IN_NONE], lexicon, SIZE, lambda _: None))
    model.rarity[-2:] = [255 if key == int(np.dot(ids("很大仓促"), SIZE ** np.arange(3, -1, -1))) else 100 for key in four.tolist()]
    are_words, are_seen = model.words_of_four(np.array([ids("副我们很大仓促"), ids("副作用很大仓促"), ids("我们很大副作用")]))
    assert are_words.astype(int).tolist() == [[0, 1, 0, 1], [0, 0, 0, 1], [1, 0, 0, 0]]
    assert are_seen.astype(int).tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]


def test_rare_pairs_are_left_out(model: WordModel, monkeypatch: pytest.MonkeyPatch) -> None:
    key = np.array([number("仓促") * model.count + ids("了")[0]], dtype=np.uint64)
    assert model.pairs.get(key)[0] > 0
    monkeypatch.setattr(word_counts, "FEWEST_PAIRS", 31)
    monkeypatch.setattr(word_counts, "LEAST_PAIR_GAIN", 0.1)
    texts = corpus(("太仓促了", 30), ("我们的副作用很大", 40))
    fewer = next(word_models_of([texts], [IN_NONE], LEXICON, SIZE, lambda _: None))
    assert fewer.pairs.get(key)[0] == 0
    assert fewer.pairs.get(np.array([number("副作用") * model.count + number("很大")], dtype=np.uint64))[0] > 0


def test_a_file_that_lacks_a_part_is_refused(model: WordModel, tmp_path: Path) -> None:
    model.save(tmp_path / "words.npz")
    with np.load(tmp_path / "words.npz") as data:
        arrays = dict(data)
    for name in ("pairs_map", "triples_map", "rarity"):
        np.savez(tmp_path / "less.npz", **{key: values for key, values in arrays.items() if key != name})
        with pytest.raises(KeyError, match=name):
            WordModel.load(tmp_path / "less.npz", LEXICON)


def test_it_is_read_as_it_was_written(model: WordModel, tmp_path: Path) -> None:
    model.save(tmp_path / "words.npz")
    again = WordModel.load(tmp_path / "words.npz", LEXICON)
    rows = np.array([ids("我们的副作用很大")])
    assert again.score(rows).tolist() == model.score(rows).tolist()
    with pytest.raises(ValueError, match="made for 26 words where the lexicon has 25"):
        WordModel.load(tmp_path / "words.npz", (WordSet(keys(2)[1:]), LEXICON[1], LEXICON[2]))
