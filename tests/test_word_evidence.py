"""What another character would do for a text as a row of words: the same as scoring the whole text twice, and what marks make of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import training

from corrector.electra import look_alikes
from corrector.electra.associations import STRENGTHS, association_keys
from corrector.electra.contrasts import REACH as CONTRAST_REACH
from corrector.electra.contrasts import Contrasts, features, ids_around
from corrector.electra.look_alikes import joined
from corrector.electra.marks import PLAIN_MARKS, MarkTables, levels_of
from corrector.electra.static_map import StaticMap
from corrector.electra.tokenizer import Tokenizer
from corrector.electra.word_evidence import CONTEXT, WordsThrough
from corrector.electra.word_model import WordModel
from corrector.rewrites import rewritten
from corrector.train import word_counts
from corrector.train.counts import IN_NONE
from corrector.train.word_counts import word_models_of

FIRST, SIZE, SEP = training.FIRST_HAN, training.SIZE, 3


@pytest.fixture(scope="module")
def tables() -> MarkTables:
    """Tables whose lexicon has words of every length, and a word model of random text that many of them stand in."""
    rng = np.random.default_rng(4)
    plain = training.mark_tables()
    words = [rng.integers(FIRST, SIZE, (12, size)) for size in (2, 3, 4)]
    lexicon = [np.unique([int(sum(int(c) * SIZE**i for i, c in enumerate(row[::-1]))) for row in own]).astype(np.uint64) for own in words]
    assert plain.ngrams is not None
    alike = rng.integers(FIRST, SIZE, (SIZE, 6)).astype(np.uint16)
    ngrams = dataclasses.replace(plain.ngrams, alike=alike, similarity=np.full(alike.shape, 200, dtype=np.uint8))
    own = dataclasses.replace(plain, words=tuple(lexicon), ngrams=ngrams)
    pieces = [rng.permutation(np.concatenate(words, axis=None)).reshape(-1)[:20] for _ in range(30)]
    rows = [row for own_words in words for row in own_words]
    pieces += [rows[i] for i in rng.integers(0, len(rows), 800)]
    text = np.concatenate(pieces).astype(np.uint16)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_counts, "LEAST_PAIR_GAIN", 0.1)
        patch.setattr(word_counts, "LEAST_TRIPLE_GAIN", 0.1)
        return own.with_words(next(word_models_of([[text]], [IN_NONE], own.sets, SIZE, lambda _: None)))


@pytest.fixture(autouse=True)
def every_look_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """In so little text hardly any pair is known, and all is unlikely."""
    monkeypatch.setattr(look_alikes, "_FEW_PAIRS", 0)
    monkeypatch.setattr(look_alikes, "_HOPELESS", -np.inf)


def texts_like(tables: MarkTables, rng: np.random.Generator, count: int, length: int) -> np.ndarray:  # type: ignore[type-arg]
    """Random characters, with words of the lexicon among them."""
    texts = rng.integers(FIRST, SIZE, (count, length))
    for size, keys in zip((2, 3, 4), tables.words, strict=True):
        for row in texts:
            for at in rng.integers(0, length - size + 1, 2):
                key = int(keys[rng.integers(len(keys))])
                row[at : at + size] = [key // SIZE**i % SIZE for i in reversed(range(size))]
    return texts


def model_of(tables: MarkTables) -> WordModel:
    assert tables.word_model is not None
    return tables.word_model


def test_gains_are_those_of_the_whole_text(tables: MarkTables) -> None:
    """``CONTEXT`` characters on either side are all the text that there is."""
    model, rng = model_of(tables), np.random.default_rng(1)
    pairs_only = dataclasses.replace(model, triple_gains=np.zeros_like(model.triple_gains))
    texts = texts_like(tables, rng, 60, 2 * CONTEXT + 1)
    new = texts.copy()
    new[:, CONTEXT] = rng.integers(FIRST, SIZE, len(texts))
    flat, inside = joined(texts)
    places = np.flatnonzero(inside).reshape(texts.shape)[:, CONTEXT]
    gains = WordsThrough(model, flat).gains(places, np.arange(len(places)), new[:, CONTEXT])
    assert gains == pytest.approx(pairs_only.score(new) - pairs_only.score(texts), abs=1e-3)
    assert (np.abs(gains) > 1).sum() > 10
    asked = np.array([new[2, CONTEXT], texts[0, CONTEXT], new[1, CONTEXT]])
    twice = WordsThrough(model, flat).gains(places[:3], np.array([2, 0, 2]), asked)
    assert twice[0] == pytest.approx(gains[2], abs=1e-3) and twice[1] == pytest.approx(0, abs=1e-3)


def test_at_the_ends_of_a_text_what_fills_it_up_is_read_with_it(tables: MarkTables) -> None:
    model, rng = model_of(tables), np.random.default_rng(5)
    pairs_only = dataclasses.replace(model, triple_gains=np.zeros_like(model.triple_gains))
    flat, inside = joined(texts_like(tables, rng, 20, 4))
    places = np.flatnonzero(inside)
    around = flat[places[:, None] + np.arange(-CONTEXT, CONTEXT + 1)]
    new = around.copy()
    new[:, CONTEXT] = rng.integers(FIRST, SIZE, len(places))
    gains = WordsThrough(model, flat).gains(places, np.arange(len(places)), new[:, CONTEXT])
    assert gains == pytest.approx(pairs_only.score(new) - pairs_only.score(around), abs=1e-3)


def test_text_farther_away_does_not_count(tables: MarkTables) -> None:
    model, rng = model_of(tables), np.random.default_rng(2)
    texts = texts_like(tables, rng, 40, 4 * CONTEXT + 1)
    middle = 2 * CONTEXT
    others = texts.copy()
    others[:, : middle - CONTEXT] = rng.integers(FIRST, SIZE, (40, CONTEXT))
    others[:, middle + CONTEXT + 1 :] = rng.integers(FIRST, SIZE, (40, CONTEXT))
    found = []
    for some in (texts, others):
        flat, inside = joined(some)
        places = np.flatnonzero(inside).reshape(some.shape)[:, middle]
        found.append(WordsThrough(model, flat).gains(places, np.arange(40), np.full(40, FIRST + 1)))
    assert found[0] == pytest.approx(found[1], abs=1e-3)


def test_marks_depend_on_no_more_than_they_say(tables: MarkTables) -> None:
    rng, middle = np.random.default_rng(9), 12
    texts = texts_like(tables, rng, 400, 2 * middle + 1)
    changed = texts.copy()
    changed[:, middle] = rng.integers(FIRST, SIZE, len(texts))
    differing = np.flatnonzero((tables.types(changed) != tables.types(texts)).any(0))
    assert tables.reach == tables.context == CONTEXT
    assert differing.min() >= middle - tables.reach and differing.max() <= middle + tables.reach
    plain = dataclasses.replace(tables, word_model=None)
    assert plain.reach == 3 and (plain.types(texts) != tables.types(texts)).any()


def test_rewritten_windows_have_the_marks_of_new_ones(tables: MarkTables) -> None:
    tokenizer, rng = Tokenizer(training.VOCABULARY, tables.types), np.random.default_rng(3)
    for text in texts_like(tables, rng, 30, 24):
        given = tokenizer.encode("".join(training.VOCABULARY[i] for i in text))
        new = {int(at): int(rng.integers(FIRST, SIZE)) for at in rng.integers(1, 25, 2)}
        [found] = rewritten([(given, new)], tokenizer, 64)
        assert found.types.tolist() == tables.types(found.ids).tolist()


def test_a_look_alike_that_makes_a_word_is_named(tables: MarkTables) -> None:
    """Of two look-alikes that triples know as little of, the one that makes a word of the lexicon."""
    model, ngrams = model_of(tables), tables.ngrams
    assert ngrams is not None
    key = int(tables.words[2][0])
    word = [key // SIZE**i % SIZE for i in reversed(range(4))]
    wrong = next(i for i in range(FIRST, SIZE) if i not in word)
    alike = np.zeros_like(ngrams.alike)
    alike[wrong, :2] = [next(i for i in range(FIRST, SIZE) if i not in (*word, wrong)), word[2]]
    own = dataclasses.replace(tables, ngrams=dataclasses.replace(ngrams, alike=alike))
    text = np.array([*word[:2], wrong, word[3], wrong, wrong])
    assert own.types(text)[2] // PLAIN_MARKS == word[2]
    unlikely = np.array([*word[:2], alike[wrong, 0], word[3], wrong, wrong])  # which has look-alikes, but none that makes a word
    assert own.types(text)[2] // 1024 % 16 > own.types(unlikely)[2] // 1024 % 16
    assert model.count > SIZE


def test_contrasts_are_weighed_for_their_pairs_alone(tables: MarkTables, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two look-alikes the one that is said to fit is named, in both orders of the pair; with other text around it, the other."""
    ngrams = tables.ngrams
    assert ngrams is not None
    monkeypatch.setattr(look_alikes, "SLIP_WEIGHTS", look_alikes.SLIP_WEIGHTS._replace(bias=np.float32(0)))
    monkeypatch.setattr(look_alikes, "_CONTRASTED", look_alikes._CONTRASTED._replace(bias=np.float32(0)))  # that makes up for counts
    monkeypatch.setattr(look_alikes, "_FAR_BEHIND", np.float32(1e6))
    first, low, high = FIRST, FIRST + 3, FIRST + 9
    alike = np.zeros_like(ngrams.alike)
    alike[[low, high], 0], alike[[low, high], 1] = (high, low), first
    own = dataclasses.replace(tables, ngrams=dataclasses.replace(ngrams, alike=alike))
    texts = np.random.default_rng(5).integers(FIRST, SIZE, (2, 31))
    texts[(texts == low) | (texts == high)] = first
    place = np.array([15])
    here = features(ids_around(texts[0], place))[0, :5]
    weights = StaticMap.build(here.astype(np.uint64), np.full(5, 15))
    contrasts = Contrasts(SIZE, np.array([[low, high]], dtype=np.uint16), np.zeros(1, np.float32), np.ones(1, np.float32), weights)
    told = own.with_contrasts(contrasts)
    levels = {}
    for present, other in ((low, high), (high, low)):
        texts[:, 15] = present
        plain, with_contrasts = own.types(texts), told.types(texts)
        changed = np.flatnonzero((plain != with_contrasts).any(0))
        assert changed.tolist() in ([], [15])  # nowhere else are there two that are told apart
        assert with_contrasts[0, 15] // PLAIN_MARKS == (other if present == low else first)
        levels[present] = levels_of(with_contrasts[:, 15]).tolist()
    assert levels[low][0] > levels[low][1] and levels[high][0] <= levels[high][1]
    assert (told.reach, told.context) == (CONTEXT, CONTRAST_REACH)


def odds_of(tables: MarkTables, text: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[int, int], float]:  # type: ignore[type-arg]
    """The log-odds that the second of two characters was meant where the first stands."""
    found: dict[tuple[int, int], float] = {}
    slip_odds = look_alikes._slip_odds

    def seen(*arguments: Any) -> np.ndarray:  # type: ignore[type-arg]
        _, flat, places, _, compared, *_ = arguments
        odds = slip_odds(*arguments)
        found.update(zip(zip(flat[places[compared.which]].tolist(), compared.characters.tolist(), strict=True), odds.tolist(), strict=True))
        return odds

    with monkeypatch.context() as patch:
        patch.setattr(look_alikes, "_slip_odds", seen)
        patch.setattr(look_alikes, "_FAR_BEHIND", np.float32(1e6))
        tables.types(text)
    return found


def test_what_contrasts_make_of_the_odds(tables: MarkTables, monkeypatch: pytest.MonkeyPatch) -> None:
    ngrams = tables.ngrams
    assert ngrams is not None
    low, high = FIRST + 3, FIRST + 9
    alike, counts = np.zeros_like(ngrams.alike), ngrams.counts.copy()
    alike[low, :2], alike[high, :2] = (FIRST, high), (FIRST, low)
    counts[[low, high]] = 99, 2999
    own = dataclasses.replace(tables, ngrams=dataclasses.replace(ngrams, alike=alike, counts=counts))
    text = np.random.default_rng(5).integers(FIRST + 10, SIZE, 31)
    text[[4, 15]] = low, high
    here = features(ids_around(text, np.array([15])))[0, :5]
    weights = StaticMap.build(here.astype(np.uint64), np.full(5, 15))
    contrasts = Contrasts(SIZE, np.array([[low, high]], dtype=np.uint16), np.zeros(1, np.float32), np.ones(1, np.float32), weights)
    plain, told = odds_of(own, text, monkeypatch), odds_of(own.with_contrasts(contrasts), text, monkeypatch)
    for place, pair in ((4, (low, high)), (15, (high, low))):
        numbers = contrasts.numbers(*(np.array([id]) for id in pair))
        [apart] = contrasts.log_odds(ids_around(text, np.array([place])), np.zeros(1, np.int64), numbers)
        given, meant = np.log([100, 3000] if pair == (low, high) else [3000, 100])
        weigh = look_alikes._CONTRASTED
        expected = weigh.bias + weigh.odds * plain[pair] + weigh.apart * apart + weigh.given * given + weigh.meant * meant
        assert told[pair] == pytest.approx(expected, abs=1e-3)
        assert told[pair[0], FIRST] == plain[pair[0], FIRST]


def test_associated_words_around_change_the_odds(tables: MarkTables, monkeypatch: pytest.MonkeyPatch) -> None:
    ngrams = tables.ngrams
    assert ngrams is not None
    first, second = tables.words[0][:2]
    (a, b), (right, after) = (divmod(int(key), SIZE) for key in (first, second))
    wrong = next(i for i in range(FIRST, SIZE) if i * SIZE + after not in tables.words[0] and i not in (a, b, right, after))
    alike = np.zeros_like(ngrams.alike)
    alike[wrong, 0], alike[right, 0] = right, wrong
    plain = dataclasses.replace(tables, ngrams=dataclasses.replace(ngrams, alike=alike))
    level = StaticMap.build(association_keys(first[None], second[None], SIZE), np.array([3]))
    associated = dataclasses.replace(plain, associated=level)
    weights = look_alikes.SLIP_WEIGHTS
    for pair, weight in (((wrong, right), weights.associated_after), ((right, wrong), weights.associated_before)):
        text = np.array([a, b, 5, 5, pair[0], after])
        alone, together = (odds_of(one, text, monkeypatch)[pair] for one in (plain, associated))
        assert together - alone == pytest.approx(weight * STRENGTHS[3], abs=1e-3)


def test_levels_and_alternatives_are_those_of_plain_loops(tables: MarkTables, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look-alike weighed by itself: the text around it scored whole with it and without."""
    model, ngrams = model_of(tables), tables.ngrams
    assert ngrams is not None
    weights = look_alikes.SLIP_WEIGHTS._replace(bias=np.float32(0))  # by text so short all would be the lowest
    monkeypatch.setattr(look_alikes, "SLIP_WEIGHTS", weights)
    pairs_only = dataclasses.replace(model, triple_gains=np.zeros_like(model.triple_gains))
    texts = texts_like(tables, np.random.default_rng(7), 25, 2 * CONTEXT + 1)
    found = tables.types(texts)[:, CONTEXT]
    levels = set()
    for text, mark in zip(texts, found.tolist(), strict=True):
        present, odds = int(text[CONTEXT]), {}
        for alike, similarity in zip(ngrams.alike[present].tolist(), ngrams.similarity[present].tolist(), strict=True):
            both = np.stack([text, text])
            both[1, CONTEXT] = alike
            own, triples = ngrams.text_score(both[:, CONTEXT - 2 : CONTEXT + 3])
            words = pairs_only.score(both)
            odds[alike] = (
                weights.triples * (triples - own) + weights.words * (words[1] - words[0]) + weights.similarity * np.log(similarity / 255)
                + weights.common * np.log(ngrams.counts[present] + 1) + weights.fitting * own + weights.bias
            )  # fmt: skip
        best = max(odds, key=odds.__getitem__)
        level = int((odds[best] + 1e-4 >= look_alikes._ODDS_STEPS).sum())
        assert mark // 1024 % 16 in (level, int((odds[best] - 1e-4 >= look_alikes._ODDS_STEPS).sum()))
        assert mark // PLAIN_MARKS == (best if odds[best] > look_alikes._WORTH_NAMING else 0)
        levels.add(level)
    assert len(levels) > 3


def test_words_are_asked_only_of_look_alikes_with_hope(tables: MarkTables, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    partial: list[np.ndarray] = []  # type: ignore[type-arg]
    gains, slip_odds = WordsThrough.gains, look_alikes._slip_odds

    def counted(self: WordsThrough, places: np.ndarray, which: np.ndarray, characters: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        asked.append(len(which))
        return gains(self, places, which, characters)

    def seen(*arguments: Any) -> np.ndarray:  # type: ignore[type-arg]
        partial.append(slip_odds(*arguments))
        return partial[-1]

    monkeypatch.setattr(WordsThrough, "gains", counted)
    monkeypatch.setattr(look_alikes, "_slip_odds", seen)
    monkeypatch.setattr(look_alikes, "SLIP_WEIGHTS", look_alikes.SLIP_WEIGHTS._replace(words=np.float32(0)))
    texts = texts_like(tables, np.random.default_rng(5), 20, 20)
    tables.types(texts)
    middle = np.quantile(partial[0], 0.7)
    for least in (middle, np.inf):
        monkeypatch.setattr(look_alikes, "_HOPELESS", least)
        types = tables.types(texts)
        assert asked[-1] == (partial[0] >= least).sum() and (partial[-1][partial[0] < least] == -np.inf).all()
    assert (types // 1024 == 0).all()  # no level, nothing named


def test_words_are_asked_only_of_look_alikes_near_the_best(tables: MarkTables, monkeypatch: pytest.MonkeyPatch) -> None:
    whose: list[np.ndarray] = []  # type: ignore[type-arg]
    partial: list[np.ndarray] = []  # type: ignore[type-arg]
    slip_odds = look_alikes._slip_odds

    def seen(*arguments: Any) -> np.ndarray:  # type: ignore[type-arg]
        whose.append(arguments[4].which)
        partial.append(slip_odds(*arguments))
        return partial[-1]

    monkeypatch.setattr(look_alikes, "_slip_odds", seen)
    monkeypatch.setattr(look_alikes, "_HOPELESS", np.float32(-1e4))
    monkeypatch.setattr(look_alikes, "SLIP_WEIGHTS", look_alikes.SLIP_WEIGHTS._replace(words=np.float32(0)))
    texts = texts_like(tables, np.random.default_rng(5), 20, 20)
    monkeypatch.setattr(look_alikes, "_FAR_BEHIND", np.float32(1e3))
    tables.types(texts)
    best = np.full(whose[0].max() + 1, -np.inf)
    np.maximum.at(best, whose[0], partial[0])
    behind = best[whose[0]] - partial[0]
    far = behind.max() / 2
    monkeypatch.setattr(look_alikes, "_FAR_BEHIND", np.float32(far))
    tables.types(texts)
    assert np.isfinite(partial[0]).all() and far > 0.01
    assert ((partial[1] == -np.inf) == (behind > far)).all()
    assert np.allclose(partial[1][behind < far], partial[0][behind < far])


def test_a_rare_character_is_less_likely_a_slip(tables: MarkTables, monkeypatch: pytest.MonkeyPatch) -> None:
    """All else being equal, by ``common`` for each e-fold of its count."""
    ngrams = tables.ngrams
    assert ngrams is not None
    nothing = look_alikes.SlipWeights(*[np.float32(0)] * 8)
    monkeypatch.setattr(look_alikes, "SLIP_WEIGHTS", nothing._replace(common=np.float32(1), bias=np.float32(-8)))
    text = np.arange(FIRST, FIRST + 8)
    counts = ngrams.counts.copy()
    counts[text] = [0, 2, 5, 30, 100, 600, 3000, 10000]
    levels = dataclasses.replace(tables, ngrams=dataclasses.replace(ngrams, counts=counts)).types(text) // 1024 % 16
    assert levels.tolist() == look_alikes._ODDS_STEPS.searchsorted(np.log(counts[text] + 1) - 8, side="right").tolist()
    assert (np.diff(levels) >= 0).all() and levels[-1] > levels[0]


def test_each_part_is_read_with_the_words_of_the_others() -> None:
    texts = [[np.array([FIRST, SEP] * 40, dtype=np.uint16)], [np.array([FIRST + 2, SEP] * 40, dtype=np.uint16)]]  # no words of the lexicon
    sets = training.mark_tables().sets
    first, second, both = word_models_of(texts, [0, 1, IN_NONE], sets, SIZE, lambda _: None)
    assert first.log_p[FIRST] < both.log_p[FIRST] < second.log_p[FIRST]  # number 0 is left out of the first
    assert second.log_p[FIRST + 2] < both.log_p[FIRST + 2] < first.log_p[FIRST + 2]
