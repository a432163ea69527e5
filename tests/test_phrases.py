"""Set phrases: what the list says of a text, what becomes of that, and how the list is made."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector import Corrector, corrected_text
from corrector.electra.marks import MarkTables
from corrector.electra.model_dir import find_model
from corrector.electra.tokenizer import Tokenizer
from corrector.propose import Characters
from corrector.similarity.misspellings import BY_CHANCE, SURE, Meant, Misspellings, well_known
from corrector.similarity.phrases import DIGITS, HEADING, LENGTH, LIST, RARE, Phrases, set_phrases
from corrector.text.protect import is_han
from corrector.train.phrases import RIGHT_TOO, places_given_away, right_too
from tests.test_complaints import needs_model

LINES = LIST.read_text("utf-8").removeprefix(HEADING).splitlines()
PLACES = {line[:LENGTH]: DIGITS.index(line[LENGTH:]) for line in LINES}


def chars(meant: Mapping[int, Meant]) -> dict[int, str]:
    return {place: char for place, (char, _) in meant.items()}


def test_the_list_has_each_phrase_once_and_in_order() -> None:
    assert LIST.read_text("utf-8").startswith(HEADING)
    assert all(len(line) == LENGTH + 1 and all(map(is_han, line[:LENGTH])) for line in LINES)
    assert list(PLACES) == sorted(PLACES) and len(PLACES) == len(LINES) > 20_000


def test_no_phrase_is_a_well_known_misspelling() -> None:
    assert not [phrase for phrase in PLACES if well_known().are_in(phrase)]


def test_what_is_right_as_well_stays() -> None:
    assert not [phrase for phrase in PLACES if set_phrases().meant(phrase)]
    assert all(PLACES[phrase] == 0 for phrase in RIGHT_TOO.split())


def test_the_place_that_the_others_give_away() -> None:
    known = Phrases.of({"变本加厉": 0b1000, "一丝不苟": 0b0110, "一丝不挂": 0, "同一战线": 0b1111})
    assert chars(known.meant("他变本加利。")) == {4: "厉"}
    assert chars(known.meant("变本加厉，变本如厉")) == {}, "right, and a place that they do not give away"
    assert chars(known.meant("一思不苟、一丝布苟、一丝不狗、一丝不挂")) == {1: "丝", 7: "不"}
    assert chars(known.meant("通一战县")) == {}, "two are wrong"
    assert chars(known.meant("通一战线同一占线")) == {0: "同", 6: "战"}


def test_the_particle_stands_between_phrases() -> None:
    known = Phrases.of({"克敌制胜": 0b1111})
    assert chars(known.meant("攻无不克的制胜法宝")) == {}
    assert chars(known.meant("克的制剩")) == {} and chars(known.meant("克敌制剩")) == {3: "胜"}


@pytest.mark.parametrize("text", ["", "变", "变本加", "😀变本加", "\uffff\uffff\uffff\uffff", "\ud800变本加", "变本加\n"])
def test_other_texts_say_nothing(text: str) -> None:
    known = Phrases.of({"变本加厉": 0b0111})
    assert known.meant(text) == {} and Phrases.of({}).meant(text) == {}


@settings(deadline=None)
@given(
    st.dictionaries(st.text("甲乙丙", min_size=LENGTH, max_size=LENGTH), st.integers(0, 31), max_size=4),
    st.text("甲乙丙的😀", max_size=12),
)
def test_it_is_what_a_search_one_by_one_finds(places: dict[str, int], text: str) -> None:
    known, found = Phrases.of(places), dict[int, set[Meant]]()
    for start in range(len(text) - LENGTH + 1):
        written = text[start : start + LENGTH]
        for phrase, bits in places.items():
            wrong = [place for place in range(LENGTH) if written[place] != phrase[place]]
            if written not in places and len(wrong) == 1 and bits >> wrong[0] & 1 and written[wrong[0]] != "的":
                found.setdefault(start + wrong[0], set()).add(Meant(phrase[wrong[0]], BY_CHANCE if bits & RARE else SURE))
    meant = known.meant(text)
    assert meant.keys() == found.keys() and all(one in found[place] for place, one in meant.items())
    assert all(one.evidence == max(other.evidence for other in found[place]) for place, one in meant.items())


def test_only_a_character_alike_is_taken_for_a_slip(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"众所周知总重大")
    tokenizer = Tokenizer(vocabulary)
    empty = np.zeros(0, dtype=np.uint64)
    characters = Characters(vocabulary, tokenizer.id_of, MarkTables(len(vocabulary), (empty, empty, empty)))
    monkeypatch.setattr("corrector.propose.set_phrases", lambda: Phrases.of({"众所周知": 0b0001}))
    monkeypatch.setattr("corrector.propose.well_known", lambda: Misspellings({}))
    right = tokenizer.id_of["众"]
    assert characters.meant(tokenizer.encode("重所周知")) == {1: (right, SURE)}
    assert characters.meant(tokenizer.encode("总所周知")) == {1: (right, BY_CHANCE)}
    assert characters.meant(tokenizer.encode("大所周知")) == characters.meant(tokenizer.encode("众所周知")) == {}
    monkeypatch.setattr("corrector.propose.set_phrases", lambda: Phrases.of({"众所周知": RARE | 0b0001}))
    assert characters.meant(tokenizer.encode("重所周知")) == {1: (right, BY_CHANCE)}
    assert characters.meant(tokenizer.encode("总所周知")) == {}, "less alike"


@pytest.fixture(scope="module")
def corrector() -> Corrector:
    return Corrector(threads=1)


@needs_model
@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("大家都众失之的，他也没有办法。", "众矢之的"),
        ("这种事总所周知，不必再提。", "众所周知"),
        ("两个人一见如固，聊了整整一夜。", "一见如故"),
        ("这座城市给我的映像让人流恋忘返。", "流连忘返"),
        ("这样做只会近寸退尺。", "进寸退尺"),
        ("他不过是色力内荏。", "色厉内荏"),
    ],
)
def test_a_slip_in_a_phrase_is_mended(corrector: Corrector, text: str, right: str) -> None:
    assert right in corrected_text(corrector.correct(text))


@needs_model
@pytest.mark.parametrize("text", ["双方属于同一战线。", "他一向安分守纪。", "攻无不克的制胜法宝是什么？"])
def test_what_is_like_a_phrase_stays(corrector: Corrector, text: str) -> None:
    assert corrected_text(corrector.correct(text)) == text


@needs_model
def test_the_embedded_model_can_write_the_list() -> None:
    assert {char for phrase, bits in PLACES.items() if bits for char in phrase} <= set(find_model(None).tokenizer.vocabulary)


VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "，", *"变本加厉利历大家好说甲乙")


def tokens(text: str) -> np.ndarray:
    ids = {token: number for number, token in enumerate(VOCABULARY)}
    return np.array([ids[char] for char in text], dtype=np.uint16)


def test_the_places_that_a_corpus_gives_away() -> None:
    texts = [tokens("他变本加厉，".replace("他", "大") * 4 + "变本加大，"), tokens("变本加厉，变本加厉，" + "好本加厉，" * 20)]
    words = {"变本加厉": "i", "大家好说": "l", "本加变历": "n"}
    assert places_given_away(texts, VOCABULARY, words, ()) == {"变本加厉": 0b0110}, "6 of 7 with another last, 6 of 26 with another first"
    assert places_given_away(texts, VOCABULARY, words, {"变本加厉"}) == {"变本加厉": 0b1110}
    assert places_given_away(texts, VOCABULARY, {"变本加厉": "nr"}, ()) == {}
    assert places_given_away([texts[1]], VOCABULARY, {"变本加厉": "l"}, {"变本加厉"}) == {}, "too few"
    assert places_given_away([], VOCABULARY, words, ()) == places_given_away(texts, VOCABULARY, {}, ()) == {}
    assert places_given_away([texts[1]], VOCABULARY, words, {"变本加厉"}) == {"变本加厉": RARE | 0b1110}, "2 of 22 with another first"
    assert places_given_away([], VOCABULARY, words, {"变本加厉"}) == {"变本加厉": RARE | 0b1111}, "nothing else stands there"


def test_punctuation_and_the_ends_of_texts_part_phrases() -> None:
    texts = [tokens("变本，加厉" * 9), tokens("变本"), tokens("加厉")]
    assert places_given_away(texts, VOCABULARY, {"变本加厉": "l"}, {"变本加厉"}) == {}


def test_words_that_are_like_a_phrase_are_right_too() -> None:
    places = {"变本加厉": 0b1000}
    assert right_too(places, {"变本加利", "变本加大", "大本加厉", "变本加厉", "甲乙甲乙"}) == ["变本加利"]
