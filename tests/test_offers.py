"""Words that sound alike, characters in the other order and in set phrases: what is offered, how surely it is meant, and what becomes of
it."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from corrector.apply import corrected_text
from corrector.confusions import Confusions
from corrector.electra.associations import association_keys
from corrector.electra.marks import MarkTables
from corrector.electra.runtime import Encoding, Floats, Reading
from corrector.electra.slips import Slips
from corrector.electra.static_map import StaticMap
from corrector.electra.tokenizer import Tokenizer
from corrector.errors import ModelError
from corrector.explain import explain
from corrector.offer_options import KINDS, LEAST_DOUBT, Kind
from corrector.offers import HOPE_FEATURES, OFFER_FEATURES, Offer, OfferWeights, Place, beside, offered, read
from corrector.pipeline import Corrector, surest, windows_of
from corrector.propose import Characters
from corrector.rank import Ranker, default_ranker
from corrector.similarity.phrases import Phrases
from corrector.similarity.pinyin import pinyin_similarity
from corrector.stages import Stages
from corrector.train.counts import IN_NONE
from corrector.train.pairs import PairSet
from corrector.train.slips import count_slips
from corrector.train.word_counts import word_models_of
from corrector.types import Correction, Document, Span
from corrector.words import ProtectedWords
from tests.fakes import FakeRuntime
from tests.test_pipeline import key

VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[SPACE]", *"绿色低碳地毯底摊技术用的很好，。马不停蹄歇啼")
ID_OF = {token: number for number, token in enumerate(VOCABULARY)}
TEXT = "绿色地毯技术很好。"


def key_of(word: str) -> np.uint64:
    return np.uint64(key(word, VOCABULARY))


def tables() -> MarkTables:
    """低碳 is associated with 技术."""
    none = np.zeros(0, dtype=np.uint64)
    words = np.array(sorted(map(key_of, ["绿色", "低碳", "地毯", "底摊", "技术"])), dtype=np.uint64)
    four = np.array([key_of("马不停蹄")], dtype=np.uint64)
    pairs = association_keys(np.array([key_of("低碳")]), np.array([key_of("技术")]), len(VOCABULARY))
    return MarkTables(len(VOCABULARY), (words, none, four), None, StaticMap.build(pairs, np.full(1, 15)))


def characters(slips: Slips | None = None) -> Characters:
    """Text has 低碳 between 绿色 and 技术, seldom 底摊, and 地毯 elsewhere."""
    lines = "绿色低碳技术很好。" * 9 + "地毯很好。" * 9 + "绿色底摊技术很好。" * 3 + "马不停蹄的。" * 9
    text = [np.array([ID_OF[char] for char in lines], dtype=np.uint16)]
    model = next(word_models_of([text], [IN_NONE], tables().sets, len(VOCABULARY), lambda _: None))
    return Characters(VOCABULARY, ID_OF, tables(), slips, model)


def weights(sure: float = 3.0, **hope: float) -> OfferWeights:
    """Any word that is likelier is hoped for; how surely it is meant is the same of all."""
    return OfferWeights(
        dict.fromkeys(HOPE_FEATURES, 0.0) | {"word_model_gain": 0.1} | hope, dict.fromkeys(OFFER_FEATURES, 0.0) | {"bias": sure}
    )


class Doubting(FakeRuntime):
    """Doubts ``of`` a little, and nothing else but what is ``wrong``."""

    def __init__(self, doubt: float = LEAST_DOUBT, wrong: dict[str, str] | None = None, of: str = "地") -> None:
        super().__init__(VOCABULARY, wrong or {})
        self.doubt, self.of = doubt, ID_OF[of]

    def read(self, encodings: Sequence[Encoding]) -> list[Reading]:
        readings = super().read(encodings)
        for encoding, reading in zip(encodings, readings, strict=True):
            if self.of not in self._right_of:
                reading.logits[encoding.ids == self.of] = self.doubt
        return readings


def make(
    words: OfferWeights | None,
    runtime: FakeRuntime | None = None,
    keep: Sequence[str] = (),
    slips: Slips | None = None,
    kind: Kind = "words",
) -> Corrector:
    corrector = Corrector.__new__(Corrector)
    corrector.model_name, corrector.model_checksum, corrector.min_confidence = "fake", "0", 0.5
    corrector.words, corrector.confusions = ProtectedWords.of(keep), Confusions.of({})
    ranker = dataclasses.replace(default_ranker(), offers={kind: words} if words else {})
    corrector.stages = Stages(Tokenizer(VOCABULARY, tables().types), runtime or Doubting(), ranker)
    corrector.stages.characters = characters(slips)
    return corrector


def offers(corrector: Corrector, text: str, kind: Kind = "words", **hope: float) -> tuple[list[Offer], Floats]:
    """What is offered in a text, and its features once it is read in its place."""
    stages = corrector.stages
    windows = list(windows_of(Document(None, text), 126))
    encodings = stages.tokenizer.encode_many([window.text for window in windows])
    readings = stages.runtime.read(encodings)
    found = offered(kind, windows, encodings, readings, stages.characters, weights(**hope))
    return found, read(stages, found, encodings, readings) if found else np.zeros((0, len(OFFER_FEATURES)), dtype=np.float32)


def word_of(offer: Offer) -> str:
    return "".join(VOCABULARY[number] for number in offer.ids)


def test_words_that_sound_alike_and_have_neither_character() -> None:
    first, second, likeness = characters().homophones(ID_OF["地"], ID_OF["毯"])
    found = {VOCABULARY[a] + VOCABULARY[b]: like for a, b, like in zip(first, second, likeness, strict=True)}
    assert set(found) == {"低碳", "底摊"}
    assert found["低碳"] == pytest.approx(2 * pinyin_similarity("地毯", "低碳"), abs=1e-3)
    assert all(len(column) == 0 for column in characters().homophones(ID_OF["好"], ID_OF["。"]))
    assert all(len(column) == 0 for column in characters().homophones(ID_OF["绿"], ID_OF["色"]))


def test_a_word_is_mended_of_which_neither_character_is_suspicious() -> None:
    corrected = make(weights()).correct(f"abc {TEXT}")
    (found,) = corrected.corrections
    assert (found.span, found.original, found.replacement, found.reason) == (Span(6, 8), "地毯", "低碳", "same_sound")
    assert found.confidence == pytest.approx(1 / (1 + np.exp(-3.0)), abs=1e-4) and found.alternatives == ()
    assert corrected_text(corrected) == "abc 绿色低碳技术很好。"


def test_without_weights_and_confidence_the_text_stays() -> None:
    for words in (None, weights(sure=-9.0)):
        corrected = make(words).correct(TEXT)
        assert (corrected.corrections, corrected.suggestions) == ((), ())
    corrected = make(weights(sure=-1.0)).correct(TEXT)
    assert corrected.corrections == () and [c.replacement for c in corrected.suggestions] == ["低碳"]


def test_what_is_left_alone() -> None:
    assert corrected_text(make(weights()).correct("地毯很好。")) == "地毯很好。"  # 低碳 is no likelier there
    assert corrected_text(make(weights(), Doubting(LEAST_DOUBT - 0.1)).correct(TEXT)) == TEXT
    assert corrected_text(make(weights(), keep=["地毯"]).correct(TEXT)) == TEXT
    assert corrected_text(make(weights(), keep=["色地"]).correct(TEXT)) == TEXT
    assert offers(make(None), TEXT, bias=-99.0)[0] == []  # no hope


def test_set_phrases_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corrector.offer_options.set_phrases", lambda: Phrases.of({"地毯技术": 0}))
    assert corrected_text(make(weights()).correct(TEXT)) == TEXT
    monkeypatch.setattr("corrector.offer_options.set_phrases", lambda: Phrases.of({"毯技术的": 0}))
    assert corrected_text(make(weights()).correct(TEXT)) == TEXT.replace("地毯", "低碳")


def test_a_right_text_costs_no_further_reading() -> None:
    runtime = Doubting(-6.0)
    make(weights(), runtime).correct(TEXT)
    assert runtime.calls == {"discriminator": 1, "generator": 0}


def test_the_word_with_most_hope_is_taken_of_each_place() -> None:
    found, _ = offers(make(None), TEXT)
    assert [(offer.place, word_of(offer)) for offer in found] == [(Place(0, 2, 3), "低碳")]
    assert found[0].new_ids == {3: ID_OF["低"], 4: ID_OF["碳"]}
    found, _ = offers(make(None), TEXT, associated_after=-9.0, bias=2.0)  # 低碳 is associated with 技术
    assert [word_of(offer) for offer in found] == ["底摊"]
    found, _ = offers(make(None), f"{TEXT}\n\n{TEXT}")
    assert [(offer.place.window, word_of(offer)) for offer in found] == [(0, "低碳"), (1, "低碳")]


def test_features_by_hand() -> None:
    slips = count_slips([PairSet((("地", "低"), ("地", "低")), 1.0, "slips")], Tokenizer(VOCABULARY))
    corrector = make(None, Doubting(), slips=slips)
    (offer,), (row,) = offers(corrector, TEXT)
    known = corrector.stages.characters
    named = dict(zip(OFFER_FEATURES, row.tolist(), strict=True))
    ids = np.array([[0, 0, 2, *(ID_OF[char] for char in f"绿色{word}技术很好。"[:9])] for word in ("地毯", "低碳")])
    before, after = known.word_score(ids).tolist()
    assert named["word_model_gain"] == pytest.approx(after - before, abs=1e-3)
    assert (named["first"], named["second"], named["left"], named["right"]) == (LEAST_DOUBT, -6, -6, -6)
    assert (named["first_after"], named["second_after"], named["left_after"], named["right_after"]) == (-6, -6, -6, -6)
    assert (named["associated_before"], named["associated_after"], named["was_word"]) == (0, 1, 1)
    rates = slips.log_rates(np.array([ID_OF["地"], ID_OF["毯"]]), np.array([ID_OF["低"], ID_OF["碳"]]))
    assert named["slip"] == pytest.approx(rates.sum(), abs=1e-3)
    assert named["pinyin_similarity"] == pytest.approx(offer.likeness, abs=1e-6)
    gone = np.log1p(np.exp(LEAST_DOUBT)) - np.log1p(np.exp(-6.0))
    assert named["suspicion_removed"] == pytest.approx(gone, abs=1e-5)
    # The generator gives 0.9 to what it sees, so that each new character is e^-x as likely as the old; of a mask it thinks nothing.
    share = 0.1 / len(VOCABULARY)
    assert named["visible_log_odds"] == pytest.approx(2 * np.log(share / (0.9 + share)), abs=1e-3)
    assert named["masked_log_odds"] == pytest.approx(0, abs=1e-3)
    assert named["bias"] == 1


def test_beyond_the_ends_of_a_window_nothing_is_suspicious() -> None:
    logits = np.array([9, 1, 2, 3, 9], dtype=np.float32)  # the first and the last are of [CLS] and [SEP]
    assert beside(logits, 1, 2) == (1, 2, -8, 3)
    assert beside(logits, 2, 2) == (2, 3, 1, -8)
    assert beside(logits[[0, 1, 2, 4]], 1, 2) == (1, 2, -8, -8)
    assert beside(logits, 2, 1) == (2, 2, 1, 3)


def test_the_surer_of_two_that_overlap_is_made() -> None:
    one, other, far = (
        Correction(Span(*span), "天" * (span[1] - span[0]), "地" * (span[1] - span[0]), confidence)
        for *span, confidence in ((2, 4, 0.6), (3, 5, 0.7), (5, 6, 0.2))
    )
    assert surest([one, other, far]) == [other, far]
    assert surest([far, one]) == [one, far]
    runtime = Doubting(wrong={"地": "低"})  # one of the word, which is sure
    ((_, words),) = make(weights(), runtime).stages.considered(list(windows_of(Document(None, TEXT), 126)))
    assert [word.replacement for word in words] == ["低碳"]
    assert corrected_text(make(weights(sure=20.0), runtime).correct(TEXT)) == "绿色低碳技术很好。"
    assert corrected_text(make(weights(sure=0.1), runtime).correct(TEXT)).startswith("绿色低毯")


SWAPPED = "绿色碳低技术很好。"


def swapping(sure: float = 3.0, of: str = "碳", keep: Sequence[str] = ()) -> Corrector:
    return make(weights(sure), Doubting(of=of), keep, kind="swaps")


def test_characters_in_the_other_order() -> None:
    first, second, likeness = characters().exchanged(ID_OF["地"], ID_OF["低"])
    assert (first.tolist(), second.tolist()) == ([ID_OF["低"]], [ID_OF["地"]])
    assert likeness.tolist() == pytest.approx([2 * pinyin_similarity("地", "低")], abs=1e-3)
    assert all(len(column) == 0 for column in characters().exchanged(ID_OF["好"], ID_OF["好"]))


@pytest.mark.parametrize("of", ["碳", "低"])
def test_an_exchange_is_taken_back(of: str) -> None:
    corrected = swapping(of=of).correct(f"abc {SWAPPED}")
    (found,) = corrected.corrections
    assert (found.span, found.original, found.replacement, found.reason) == (Span(6, 8), "碳低", "低碳", "order")
    assert found.confidence == pytest.approx(1 / (1 + np.exp(-3.0)), abs=1e-4)
    assert corrected_text(corrected) == "abc 绿色低碳技术很好。"


def test_each_kind_has_its_own_weights() -> None:
    assert make(weights(), Doubting(of="碳")).correct(SWAPPED).corrections == ()
    assert swapping(of="地").correct(TEXT).corrections == ()
    both = swapping()
    both.stages.ranker = dataclasses.replace(both.stages.ranker, offers={"words": weights(), "swaps": weights(sure=-9.0)})
    assert corrected_text(both.correct(SWAPPED)) == SWAPPED
    both.stages.runtime = Doubting()
    assert corrected_text(both.correct(TEXT)) == "绿色低碳技术很好。"


def test_the_right_order_is_left_alone() -> None:
    for text in ("绿色低碳技术很好。", "绿色低低技术。", "绿色碳，低技术。"):
        assert corrected_text(swapping().correct(text)) == text
        assert corrected_text(swapping(of="低").correct(text)) == text
    assert corrected_text(swapping(keep=["色碳"]).correct(SWAPPED)) == SWAPPED
    assert corrected_text(swapping(sure=-9.0).correct(SWAPPED)) == SWAPPED


def test_features_of_an_exchange() -> None:
    (offer,), (row,) = offers(swapping(), SWAPPED, "swaps")
    named = dict(zip(OFFER_FEATURES, row.tolist(), strict=True))
    assert (offer.kind, word_of(offer), named["was_word"], named["commoner"]) == ("swaps", "低碳", 0, 0)
    assert named["pinyin_similarity"] == pytest.approx(2 * pinyin_similarity("碳", "低"), abs=1e-3)
    assert named["word_model_gain"] > 1


def test_an_exchange_is_explained() -> None:
    text = explain(swapping(), SWAPPED)
    assert "Order of 碳低, characters 3 to 4\n" in text and "碳低 → 低碳 颠倒" in text
    assert "Decision: 碳低 → 低碳, 95.3 %, is corrected: at least 50.0 %.\n" in text


PHRASES = Phrases.of({"马不停蹄": 8})  # its last character is given away by the others


@pytest.fixture
def phrases(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("offer_options", "propose"):
        monkeypatch.setattr(f"corrector.{module}.set_phrases", lambda: PHRASES)


@pytest.mark.usefixtures("phrases")
def test_a_character_that_is_nothing_like_that_of_the_phrase() -> None:
    corrected = make(weights(), kind="phrases").correct("很好，马不停歇的。")
    (found,) = corrected.corrections
    assert (found.span, found.original, found.replacement, found.reason) == (Span(6, 7), "歇", "蹄", "word")
    assert found.confidence == pytest.approx(1 / (1 + np.exp(-3.0)), abs=1e-4)
    text = explain(make(weights(), kind="phrases"), "马不停歇的。")
    assert "Phrase with 歇, character 4\n" in text and "歇 → 蹄 词" in text


@pytest.mark.usefixtures("phrases")
def test_what_of_a_phrase_is_left_alone() -> None:
    for text in ("马不停蹄的。", "马不停的。", "马不停，很好。", "不停歇的。"):
        assert corrected_text(make(weights(), kind="phrases").correct(text)) == text
    assert offers(make(None), "马不停啼的。", "phrases")[0] == []  # so like it that the ranker has it
    assert corrected_text(make(weights(), keep=["停歇"], kind="phrases").correct("马不停歇的。")) == "马不停歇的。"
    assert corrected_text(make(weights(sure=-9.0), kind="phrases").correct("马不停歇的。")) == "马不停歇的。"


def test_what_stands_in_another_phrase_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corrector.offer_options.set_phrases", lambda: Phrases.of({"马不停蹄": 8, "停歇的很": 0}))
    assert offers(make(None), "马不停歇的很。", "phrases")[0] == []
    assert len(offers(make(None), "马不停歇的好。", "phrases")[0]) == 1


@pytest.mark.usefixtures("phrases")
def test_features_of_a_phrase() -> None:
    corrector = make(None, Doubting(-2.0, of="歇"))
    (offer,), (row,) = offers(corrector, "很马不停歇的。", "phrases")
    named = dict(zip(OFFER_FEATURES, row.tolist(), strict=True))
    assert (offer.place, offer.new_ids) == (Place(0, 4, 5), {5: ID_OF["蹄"]})
    assert (named["first"], named["second"], named["left"], named["right"]) == (-2, -2, -6, -6)
    assert (named["first_after"], named["second_after"]) == (-6, -6)
    assert named["suspicion_removed"] == pytest.approx(np.log1p(np.exp(-2.0)) - np.log1p(np.exp(-6.0)), abs=1e-5)
    assert (named["was_word"], named["associated_before"], named["associated_after"]) == (0, 0, 0)
    assert named["pinyin_similarity"] == pytest.approx(pinyin_similarity("歇", "蹄"), abs=1e-3)
    share = 0.1 / len(VOCABULARY)
    assert named["visible_log_odds"] == pytest.approx(np.log(share / (0.9 + share)), abs=1e-3)


def test_it_is_explained() -> None:
    text = explain(make(weights()), TEXT)
    assert "Word 地毯, characters 3 to 4\n" in text and "地毯 → 低碳 同音" in text
    assert "Decision: 地毯 → 低碳, 95.3 %, is corrected: at least 50.0 %.\n" in text
    assert all(f"\n  {name}" in text for name in OFFER_FEATURES)
    assert "gives way to a surer one" in explain(make(weights(sure=0.1), Doubting(wrong={"地": "低"})), TEXT)
    assert "is not reported" in explain(make(weights(sure=-9.0)), TEXT)


def test_a_feature_that_the_weights_of_an_earlier_version_lack_counts_for_nothing() -> None:
    record = weights().record()
    del record["hope"]["given_away"], record["check"]["given_away"]
    assert OfferWeights.of(record) == weights()


def test_the_weights_are_kept_with_the_ranker(tmp_path: Path) -> None:
    path = tmp_path / "ranker.json"
    ranker = dataclasses.replace(default_ranker(), offers={kind: weights(sure) for sure, kind in enumerate(KINDS)})
    ranker.save(path)
    assert Ranker.load(path) == ranker
    record = json.loads(path.read_text("utf-8"))
    cases = (("hope", "other features"), ("check", "other features"), (None, "cannot be read as a ranker"))
    for kind, (step, message) in itertools.product(KINDS, cases):
        changed = json.loads(json.dumps(record))
        if step is None:
            changed[kind] = ["hope"]
        else:
            changed[kind][step]["sleep"] = changed[kind][step].pop("slip")
        path.write_text(json.dumps(changed), "utf-8")
        with pytest.raises(ModelError, match=message):
            Ranker.load(path)
