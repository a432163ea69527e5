"""The stages together, over a fake runtime: what is suspicious, proposed, ranked, corrected and left alone."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector import pipeline
from corrector import stages as stages_module
from corrector.apply import corrected_text
from corrector.confusions import Confusions
from corrector.detect import detect
from corrector.edit_features import FEATURES, LONGEST
from corrector.edits import Change, Edit, Group, Proposal, edits_of, group, reason_of, similar_words
from corrector.electra.associations import association_keys
from corrector.electra.marks import PLAIN_MARKS, MarkTables
from corrector.electra.ngrams import SPECIALS, TRIPLE_STEPS, Ngrams
from corrector.electra.runtime import Encoding
from corrector.electra.slips import Slips
from corrector.electra.static_map import StaticMap
from corrector.electra.tokenizer import Marker, Tokenizer
from corrector.errors import ConfigError, CorrectorError, ModelError
from corrector.pipeline import BLOCK, BLOCK_CHARACTERS, PART, Corrector, _parts, windows_of
from corrector.propose import Characters, around, propose
from corrector.rank import CHECK_FEATURES, MASKED, Ranker, belief, default_ranker
from corrector.rewrites import together
from corrector.stages import Stages
from corrector.suspect import Look, best_others, suspected
from corrector.text.ignore import ignored_spans
from corrector.text.protect import is_han
from corrector.text.segment import sentences
from corrector.train.counts import IN_NONE, ngrams_of
from corrector.train.pairs import PairSet
from corrector.train.slips import count_slips
from corrector.train.word_counts import word_models_of
from corrector.types import CorrectedDocument, Document, Span
from corrector.words import ProtectedWords
from tests import training
from tests.fakes import FakeRuntime

CHARACTERS = "我今天很高形兴型因该应以经已的，。abc1大家好权利力公司"
VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[SPACE]", *dict.fromkeys(CHARACTERS))
WRONG = {"形": "兴", "因": "应", "以": "已"}


def key(word: str, vocabulary: tuple[str, ...] = VOCABULARY) -> int:
    number = 0
    for char in word:
        number = number * len(vocabulary) + vocabulary.index(char)
    return number


def tables() -> MarkTables:
    words = np.array(sorted(map(key, ["高兴", "应该", "已经", "今天", "权利", "权力", "公司", "大家"])), dtype=np.uint64)
    none, alike = np.zeros(0, dtype=np.uint64), np.zeros((len(VOCABULARY), 1), dtype=np.uint16)
    pairs, triples = StaticMap.build(words, np.full(len(words), 9)), StaticMap.build(none, none)
    ngrams = Ngrams(np.full(len(VOCABULARY), 100, dtype=np.float32), pairs, triples, alike, alike.astype(np.uint8))
    return MarkTables(len(VOCABULARY), (words, none, none), ngrams)


def make(
    wrong: Mapping[str, str] = WRONG,
    min_confidence: float = 0.5,
    words: Sequence[str] = (),
    confusions: Mapping[str, str] | None = None,
) -> tuple[Corrector, FakeRuntime]:
    """A corrector over the fake runtime, without a model directory."""
    runtime = FakeRuntime(VOCABULARY, wrong)
    corrector = Corrector.__new__(Corrector)
    corrector.model_name, corrector.model_checksum, corrector.min_confidence = "fake", "0", min_confidence
    corrector.words, corrector.confusions = ProtectedWords.of(words), Confusions.of(confusions or {})
    corrector.stages = Stages(Tokenizer(VOCABULARY, tables().types), runtime, default_ranker())
    return corrector, runtime


def test_one_error_is_corrected_with_offsets_of_the_text() -> None:
    corrected = make()[0].correct("abc 我今天很高形。")
    assert [(c.span, c.original, c.replacement) for c in corrected.corrections] == [(Span(9, 10), "形", "兴")]
    assert corrected_text(corrected) == "abc 我今天很高兴。"
    assert corrected.corrections[0].confidence > 0.5


def test_several_errors_and_lines() -> None:
    text = "我因该高形，\r\n大家以经好。\n"
    assert corrected_text(make()[0].correct(text)) == "我应该高兴，\r\n大家已经好。\n"


def test_nothing_is_done_above_the_confidence_asked_for() -> None:
    corrected = make(min_confidence=1.0)[0].correct("我很高形。")
    assert corrected.corrections == ()
    assert [c.replacement for c in corrected.suggestions] == ["兴"]


def test_clean_text_never_reaches_the_generator() -> None:
    corrector, runtime = make()
    assert corrector.correct("我今天很高兴。").corrections == ()
    assert runtime.calls == {"discriminator": 1, "generator": 0}


def test_the_generator_is_asked_only_of_what_its_answer_could_make_suspicious() -> None:
    ranker = dataclasses.replace(default_ranker(), suspicion=(0.6, 1.05, -0.8, 0.2), suspicion_threshold=0.1)
    logits = np.linspace(-8, 8, 200, dtype=np.float32)
    levels = np.arange(200) % 16
    may_be = ranker.may_be_suspicious(logits, levels)
    assert (may_be == ranker.is_suspicious(logits, np.zeros_like(logits), levels)).all() and 0 < may_be.sum() < len(logits)
    for answer in (-0.001, -1, -20):
        assert not (ranker.is_suspicious(logits, np.full_like(logits, answer), levels) & ~may_be).any()
    assert dataclasses.replace(ranker, suspicion=(0.6, -1.0, -0.8, 0.2)).may_be_suspicious(logits, levels).all()

    for offset, asked in ((0.0, True), (-20.0, False)):
        corrector, runtime = make()
        corrector.stages.ranker = dataclasses.replace(corrector.stages.ranker, suspicion=(1.0, 1.0, offset, 0.0))
        assert bool(corrector.correct("我很高形。").corrections) is asked
        assert bool(runtime.calls["generator"]) is asked


def _marked(marks: Marker, wrong: int, ids: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """The marks with a level of 10 at this id and of 0 elsewhere."""
    found: np.ndarray = marks(ids) % 1024 + 1024 * 10 * (ids == wrong)  # type: ignore[type-arg]
    return found


def test_a_mark_alone_can_make_a_character_suspicious() -> None:
    """One that the discriminator would not flag: what the ranker's weights of both say together counts, not each by itself."""
    for level_weight, found in ((0.0, False), (1.0, True)):
        corrector, runtime = make()
        stages = corrector.stages
        stages.ranker = dataclasses.replace(stages.ranker, look_threshold=0.9999, suspicion=(0.1, 0.0, -4.0, level_weight))
        marks = stages.tokenizer.marker
        assert marks is not None
        wrong = stages.tokenizer.id_of["形"]
        stages.tokenizer = Tokenizer(VOCABULARY, partial(_marked, marks, wrong))
        choices = stages.choices(list(windows_of(Document(None, "我今天很高形。"), 126)))
        assert bool(choices[0]) is found and bool(runtime.calls["generator"]) is found
        if found:
            (choice,) = choices[0]
            assert choice.edits[0].replacement == "兴"
            assert choice.edits[0].features[FEATURES.index("level")] == 10


def test_the_ranker_is_told_which_edit_the_marks_name() -> None:
    corrector, _ = make()
    marks, better = corrector.stages.tokenizer.marker, corrector.stages.tokenizer.id_of["兴"]
    assert marks is not None
    wrong = corrector.stages.tokenizer.id_of["形"]
    corrector.stages.tokenizer = Tokenizer(VOCABULARY, lambda ids: marks(ids) + PLAIN_MARKS * better * (ids == wrong))
    ((choice,),) = corrector.stages.choices(list(windows_of(Document(None, "我今天很高形。"), 126)))
    taken = {edit.replacement: edit.features[FEATURES.index("alternative_taken")] for edit in choice.edits if len(edit.original) == 1}
    assert len(taken) > 1 and taken == {replacement: float(replacement == "兴") for replacement in taken}


def test_what_is_surely_wrong_is_checked_however_unlikely_its_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    corrector, _ = make()
    corrector.stages.hopeless = 1.0
    windows = list(windows_of(Document(None, "我今天很高形。"), 126))
    assert len(corrector.stages.choices(windows)[0]) == 1
    monkeypatch.setattr("corrector.stages.SURE", 99.0)
    assert corrector.stages.choices(windows) == [[]]
    words = dataclasses.replace(tables(), words=(*tables().words[:2], np.array([key("天很高兴")], dtype=np.uint64)))
    corrector.stages.characters = Characters(VOCABULARY, corrector.stages.tokenizer.id_of, words)  # so is what completes a word
    assert [choice.edits[0].replacement for choice in corrector.stages.choices(windows)[0]] == ["兴"]


def test_suspicious_text_is_read_masked_only_for_a_ranker_that_weighs_it() -> None:
    corrector, runtime = make()
    assert corrector.stages.ranker.reads_masked
    assert corrected_text(corrector.correct("我今天很高形。")) == "我今天很高兴。"
    masked = runtime.calls["generator"]
    ranker = corrector.stages.ranker
    weights = dict(ranker.weights) | dict.fromkeys(MASKED, 0.0) | {"visible_log_odds": 0.8}
    runtime.calls["generator"] = 0
    corrector.stages.ranker = dataclasses.replace(ranker, weights=weights)
    assert not corrector.stages.ranker.reads_masked
    assert dataclasses.replace(corrector.stages.ranker, check_bends={MASKED[0]: ((0.0, 1.0),)}).reads_masked
    assert corrected_text(corrector.correct("我今天很高形。")) == "我今天很高兴。"
    assert 0 < runtime.calls["generator"] < masked


def test_views_of_the_vocabulary_are_made_for_few_characters_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    corrector, runtime = make()
    asked, views = [], runtime.log_probabilities

    def counted(encodings: Sequence[Encoding], places: Sequence[Sequence[int]], *more: Any) -> Any:
        asked.append(sum(map(len, places)))
        return views(encodings, places, *more)

    monkeypatch.setattr(runtime, "log_probabilities", counted)
    monkeypatch.setattr(stages_module, "TOGETHER", 8)
    text = "我因该高形。\n" * 40
    assert corrected_text(corrector.correct(text)) == "我应该高兴。\n" * 40
    assert len(asked) >= 80 / 8 and max(asked) < 8 + 2  # two wrong characters in each window


def test_text_without_han_reaches_no_model() -> None:
    corrector, runtime = make()
    assert corrected_text(corrector.correct("abc 1😀\n")) == "abc 1😀\n"
    assert runtime.calls == {"discriminator": 0, "generator": 0}


def test_protected_spans_stay() -> None:
    text = "见 https://a.cn/高形 和 `高形`。"
    assert corrected_text(make()[0].correct(text)) == text


def test_unknown_characters_shift_nothing() -> None:
    text = "𠀀😀e\u0301 我很高形𪚥。"
    assert corrected_text(make()[0].correct(text)) == text.replace("形", "兴")


def test_a_window_that_fails_stays_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    corrector, runtime = make()
    working = runtime.read

    def failing(encodings):  # type: ignore[no-untyped-def]
        if any(VOCABULARY.index("公") in encoding.ids for encoding in encodings):
            raise ValueError("a window it cannot read")
        return working(encodings)

    monkeypatch.setattr(runtime, "read", failing)
    corrected = corrector.correct("我很高形。\n公司以经好。\n我因该好。\n")
    assert corrected_text(corrected) == "我很高兴。\n公司以经好。\n我应该好。\n"
    assert corrected.unprocessed == 1


def test_correct_many_reads_no_more_than_a_block_ahead() -> None:
    taken = 0

    def texts(count: int, text: str) -> Iterator[str]:
        nonlocal taken
        for _ in range(count):
            taken += 1
            yield text

    corrector = make()[0]
    for count, text, ahead in ((BLOCK + 2, "", BLOCK), (3, "a" * BLOCK_CHARACTERS, 1), (5, "a" * (BLOCK_CHARACTERS // 2), 2)):
        taken, found = 0, corrector.correct_many(texts(count, text))
        next(found)
        assert taken == ahead
        assert len(list(found)) == count - 1 and taken == count


@pytest.mark.parametrize("last", [None, b"\xe5", 7, KeyError("gone")])
def test_what_is_no_text_ends_correct_many_after_those_before_it(last: object) -> None:
    def texts() -> Iterator[Any]:
        yield from ("我很高形。", "我很好。")
        if isinstance(last, Exception):
            raise last
        yield last

    found = make()[0].correct_many(texts())
    assert [corrected_text(next(found)) for _ in range(2)] == ["我很高兴。", "我很好。"]
    with pytest.raises(KeyError if isinstance(last, Exception) else TypeError, match=r"gone|a text must be a str, not "):
        next(found)


def test_one_text_is_not_many() -> None:
    corrector = make()[0]
    for text in ("我很高形。", b"\xe5"):
        with pytest.raises(TypeError, match=r"give \[text\], or use correct"):
            corrector.correct_many(text)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a text must be a str, not NoneType"):
        corrector.correct(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a Document, not str; use correct"):
        corrector.correct_document("我很高形。")  # type: ignore[arg-type]


def test_a_corrector_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="open one in each process"):
        pickle.dumps(make()[0])


def test_correct_many_keeps_the_order() -> None:
    texts = [f"{number}我很高{'形' if number % 3 else '兴'}。" for number in range(150)]
    assert [corrected_text(c) for c in make()[0].correct_many(iter(texts))] == [t.replace("形", "兴") for t in texts]


def test_two_neighbours_are_one_correction() -> None:
    corrected = make({"以": "已", "今": "经"})[0].correct("我以今好。")
    assert [(c.original, c.replacement) for c in corrected.corrections] == [("以今", "已经")]


@settings(deadline=None, max_examples=60)
@given(st.text(st.sampled_from(CHARACTERS + "形因以 \n\r😀é~𠀀"), max_size=200))
def test_only_reported_spans_change_and_twice_is_once(text: str) -> None:
    corrector, _ = make()
    corrected = corrector.correct(text)
    result = corrected_text(corrected)
    assert len(result) == len(text)
    changed = {i for i, (a, b) in enumerate(zip(text, result, strict=True)) if a != b}
    assert changed <= {i for c in corrected.corrections for i in range(c.span.start, c.span.end)}
    assert corrected_text(corrector.correct(result)) == result


def edits(corrected: CorrectedDocument) -> list[tuple[int, str, str, str]]:
    return [(c.span.start, c.original, c.replacement, c.reason) for c in corrected.corrections]


def test_confusions_are_corrected_in_what_the_models_read_and_stay() -> None:
    corrector, _ = make({"形": "兴", "型": "形"}, confusions={"天很": "大型"})
    corrected = corrector.correct("我今天很高形。")
    assert edits(corrected) == [(2, "天很", "大型", "confusion"), (5, "形", "兴", "same_sound")]
    assert corrected.corrections[0].confidence == 1.0
    assert corrected_text(corrected) == "我今大型高兴。"
    assert corrector.correct("我今大型高兴。").corrections == ()


def test_confusions_are_certain_whatever_confidence_is_asked_for() -> None:
    assert corrected_text(make({}, min_confidence=1.0, confusions={"abc": "cba"})[0].correct("abc我")) == "cba我"


def test_a_correction_of_the_models_that_the_confusions_call_wrong_is_corrected_on() -> None:
    corrector, _ = make({"形": "兴"}, confusions={"高兴": "大家"})
    corrected = corrector.correct("我很高形。高形")
    assert edits(corrected) == [(2, "高形", "大家", "confusion"), (5, "高形", "大家", "confusion")]
    assert corrector.correct("我很大家。大家").corrections == ()


def test_a_protected_word_is_not_changed_even_in_part() -> None:
    corrector, _ = make(words=["很高形", "因该"], confusions={"高形": "大家", "我因": "我应", "天": "大"})
    text = "我今天很高形，我因该，高形因"
    assert corrected_text(corrector.correct(text)) == "我今大很高形，我因该，大家应"


def test_a_protected_word_counts_in_its_traditional_spelling_too() -> None:
    corrector, _ = make(words=["高形应"])
    assert corrected_text(corrector.correct("我高形應，我高形")) == "我高形應，我高興"


def test_a_whitelisted_form_is_not_changed_by_the_models() -> None:
    assert corrected_text(make(confusions={"高形": "高形"})[0].correct("我很高形，大形")) == "我很高形，大兴"


def test_markers_and_spans_of_the_document_win_over_confusions() -> None:
    corrector, _ = make(confusions={"大家": "家大"})
    text = "大家 `大家` https://a.cn/大家 很形\n大家因该 # electra-correct: ignore\n大家\n"
    assert corrected_text(corrector.correct(text)) == text.replace("大家", "家大", 1).replace("很形", "很兴")[:-3] + "家大\n"
    assert [corrected_text(c) for c in corrector.correct_many([text])] == [corrected_text(corrector.correct(text))]
    document = Document(None, "大家，大家", protected=(Span(1, 2),))
    assert corrected_text(corrector.correct_document(document)) == "大家，家大"


def test_a_block_of_a_document_is_taken_without_its_markers() -> None:
    text = "# electra-correct: ignore-file\n我很高形\n"
    corrector, _ = make()
    assert corrected_text(corrector.correct(text)) == text
    assert corrected_text(corrector.correct_document(Document(None, text))) == text.replace("形", "兴")


def test_text_that_is_ignored_or_protected_reaches_no_model() -> None:
    corrector, runtime = make(words=["我很高形。"])
    corrector.correct("我很高形。\n我因该 # electra-correct: ignore\n")
    assert runtime.calls == {"discriminator": 0, "generator": 0}


def test_traditional_text_is_corrected_in_its_own_script() -> None:
    corrected = make()[0].correct("他們應該很高形，我因該以經頭髮。")
    assert corrected_text(corrected) == "他們應該很高興，我應該已經頭髮。"
    assert edits(corrected)[0] == (6, "形", "興", "same_sound")
    assert edits(corrected)[1][1:3] == ("因", "應")


def test_doubtful_corrections_are_made_when_they_are_asked_for() -> None:
    """Below REPORTED_CONFIDENCE nothing is even suggested, but what the user asks for is made."""
    doubtful = default_ranker()
    doubtful = Ranker(doubtful.weights, doubtful.check_weights, (1.0, -14.0), doubtful.look_threshold)
    for min_confidence, result in ((0.5, "我很高形"), (0.0, "我很高兴")):
        corrector, _ = make(min_confidence=min_confidence)
        corrector.stages.ranker = doubtful
        corrected = corrector.correct("我很高形")
        assert corrected_text(corrected) == result
        assert corrected.suggestions == ()
        assert all(c.confidence < 0.1 for c in corrected.corrections)


def test_a_correction_corrected_on_is_one_and_a_second_run_changes_nothing() -> None:
    corrector, _ = make({"形": "型", "型": "兴"})
    corrected = corrector.correct("我很高形。")
    assert edits(corrected) == [(3, "形", "兴", "same_sound")]
    assert corrector.correct("我很高兴。").corrections == ()


def test_parts_are_shared_out_and_come_back_in_order() -> None:
    """Texts of many windows, some of which fail or are corrected: one caller, or several, makes no difference."""
    numbers = list(range(3 * PART * 4 + 5))
    assert [n for part in _parts(iter(numbers), 4) for n in part] == numbers  # type: ignore[arg-type, misc]
    assert [len(part) for part in _parts(iter(numbers[: PART * 4 + 5]), 4)] == [PART] * 4 + [2, 2, 1]  # type: ignore[arg-type]
    texts = ["我很高形。" * (number % 5) + "大家好，" * (number % 3) + "天" * 300 * (number % 7 == 0) for number in range(90)]
    alone, together = make()[0], make()[0]
    together.stages.runtime.callers = 4
    assert list(together.correct_many(texts)) == list(alone.correct_many(texts))
    joined = "\n".join(texts)
    assert together.correct(joined) == alone.correct(joined)


def test_many_threads_share_one_corrector() -> None:
    corrector, _ = make(words=["高形大"], confusions={"天很": "大很"})
    state = dict(vars(corrector))
    texts = [f"我今天很高形，{'因该' * (number % 5)}以经高形大應該。\n" * (number % 3 + 1) for number in range(20)]
    expected = [corrector.correct(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(corrector.correct, texts)) == expected
        assert [list(found) for found in pool.map(corrector.correct_many, [texts] * 2)] == [expected] * 2
    assert vars(corrector) == state


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ranker file of a model that ``Corrector()`` opens; its runtime is the fake one."""
    ranker = tmp_path / "ranker.json"
    default_ranker().save(ranker)
    network = SimpleNamespace(setting=lambda name: None)
    tokenizer = Tokenizer(VOCABULARY, tables().types)
    tables_of = {"tokenizer": tokenizer, "slips": None, "word_model": None}
    directory = SimpleNamespace(name="fake", checksum="0", ranker=ranker, discriminator=network, origin="typed", **tables_of)
    directory.of = lambda origin: directory
    monkeypatch.setattr(pipeline, "find_model", lambda name: directory)
    monkeypatch.setattr(stages_module, "load_runtime", lambda directory, threads: FakeRuntime(VOCABULARY, WRONG))
    return ranker


def test_profiles_and_confidences(model: Path) -> None:
    assert Corrector().min_confidence == 0.8
    assert [Corrector(profile=name).min_confidence for name in ("careful", "balanced", "eager")] == [0.8, 0.8, 0.3]
    model.write_text(json.dumps(json.loads(model.read_text()) | {"profiles": {"eager": 0.25}}))
    assert Corrector(profile="eager").min_confidence == 0.25
    assert Corrector(min_confidence=0).min_confidence == 0
    assert Corrector(min_confidence=np.float32(0.5), threads=np.int64(1)).min_confidence == 0.5  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"min_confidence": 0.5, "profile": "eager"}, "profile: cannot be given together with min_confidence"),
        ({"origin": "scan"}, "origin: must be one of typed, ocr, not 'scan'"),
        ({"profile": "bold"}, "profile: must be one of careful, balanced, eager, not 'bold'"),
        ({"min_confidence": 1.1}, "min_confidence: must lie in 0..1, not 1.1"),
        ({"min_confidence": float("nan")}, "min_confidence: must lie in 0..1, not nan"),
        ({"min_confidence": True}, "min_confidence: must lie in 0..1, not True"),
        ({"min_confidence": "0.5"}, "min_confidence: must lie in 0..1, not '0.5'"),
        ({"words": "张林"}, "words: must be a list of words"),
        ({"words": None}, "words: must be a list of words, not None"),
        ({"words": 1}, "words: must be a list of words, not 1"),
        ({"threads": -1}, "Corrector: threads: must be a whole number from 0 (every core) to 1,024, not -1"),
        ({"threads": 1.5}, "Corrector: threads: must be a whole number"),
        ({"threads": "2"}, "Corrector: threads: must be a whole number"),
        ({"threads": 10**20}, "Corrector: threads: must be a whole number"),
        ({"confusions": {"甲": "乙丙"}}, "1 and 2 characters; only pairs of equal length"),
    ],
)
def test_settings_that_are_refused(model: Path, settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Corrector(**settings)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_words_and_confusions_of_any_kind(model: Path) -> None:
    for words in (["很高形"], iter(["很高形"]), ProtectedWords.of(["很高形"])):
        for confusions in ({"大": "天"}, Confusions.of({"大": "天"})):
            corrected = Corrector(words=words, confusions=confusions, min_confidence=0.5).correct("大很高形")
            assert corrected_text(corrected) == "天很高形"
            words = ["很高形"]


MARKERS = ("ignore", "ignore-next-line", "ignore-file", "off", "on")
PIECES = (*CHARACTERS, *"形因以形因以應該經興們著，。\n\r 😀é~𠀀`#", *(f" electra-correct: {kind} " for kind in MARKERS))
FORMS = st.text(st.sampled_from("高形兴因应以已大家该應興"), min_size=1, max_size=3)
PAIRS = st.lists(st.tuples(FORMS, FORMS).filter(lambda pair: len(pair[0]) == len(pair[1])), max_size=3).map(dict)
DICTIONARIES = st.sampled_from([WRONG, {"形": "型", "型": "兴", "因": "应"}, {"形": "兴", "大": "家", "家": "天", "以": "已"}])


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=80).map("".join), st.lists(FORMS, max_size=3), PAIRS, DICTIONARIES)
def test_all_of_it_together(text: str, words: list[str], pairs: dict[str, str], wrong: dict[str, str]) -> None:
    """Only Han characters in reported spans change, nothing protected does, and a second run finds what the first one left."""
    try:
        corrector, _ = make(wrong, words=words, confusions=pairs)
    except CorrectorError:
        return
    corrected = corrector.correct(text)
    result = corrected_text(corrected)
    changed = {place for place, (old, new) in enumerate(zip(text, result, strict=True)) if old != new}
    assert changed <= {place for c in corrected.corrections for place in range(c.span.start, c.span.end)}
    assert all(is_han(text[place]) and is_han(result[place]) for place in changed)
    for span in (*corrector.words.spans(text), *ignored_spans(text), *corrector.confusions.whitelist_spans(text)):
        assert changed.isdisjoint(range(span.start, span.end))
    again = corrector.correct(result)
    assert again.corrections == ()
    assert set(corrected.suggestions) <= set(again.suggestions)


def test_detect_respects_core_and_threshold() -> None:
    tokenizer = Tokenizer(VOCABULARY)
    (sentence,) = sentences("我很高形。")
    encoding = tokenizer.encode(sentence.text)
    logits = np.array([9, -2, 0, -2, 2, 9, 9], dtype=np.float32)  # [CLS] 我 很 高 形 。 [SEP]
    assert [s.span for s in detect(sentence, encoding, logits, 0.5)] == [Span(1, 2), Span(3, 4)]
    (found,) = detect(sentence, encoding, logits, 0.6)
    assert found.span == Span(3, 4)
    assert found.probability == pytest.approx(0.8808, abs=1e-4)
    others = np.array([False, False, True, False, False, True, False])  # 很, and 。, which no correction may change
    assert [s.span for s in detect(sentence, encoding, logits, 0.6, others)] == [Span(1, 2), Span(3, 4)]
    everything = np.full(7, 9, dtype=np.float32)
    for protected, expected in (((), [Span(1, 2), Span(2, 3)]), ((Span(2, 3),), [Span(1, 2)])):
        part = dataclasses.replace(sentence, core=Span(1, 3), protected=protected)
        assert [s.span for s in detect(part, encoding, everything, 0.5)] == expected


KNOWN = Characters(VOCABULARY, Tokenizer(VOCABULARY).id_of, tables())


def proposal(character: str, index: int, *candidates: str, masked: bool = False) -> Proposal:
    view = np.full(len(VOCABULARY), -8.0, dtype=np.float32)
    for rank, candidate in enumerate(candidates):
        view[KNOWN.id_of[candidate]] = -1.0 - rank
    encoding = Tokenizer(VOCABULARY, tables().types).encode(character)
    (found,) = propose([(encoding, 1)], [view[None]], [()], KNOWN)
    return Proposal(index, index + 1, 3.0, 2, 0.0, view, found, view if masked else None)


def test_proposals_hold_the_likeliest_and_the_similar_but_not_the_original() -> None:
    found = [VOCABULARY[candidate] for candidate in proposal("形", 0, "形", "天").candidates]
    assert found[0] == "天"
    assert {"型", "兴"} <= set(found)
    assert "形" not in found
    assert all(char >= "\u4e00" for char in found)


def test_what_a_character_was_seen_to_stand_for_is_proposed_where_the_ranker_asks_for_it() -> None:
    """Though it is like it neither in sound nor in shape."""
    encoding = Tokenizer(VOCABULARY, tables().types).encode("形")
    (given,), (meant,) = (Tokenizer(VOCABULARY).character_ids(char).astype(np.int64).tolist() for char in ("形", "好"))
    slips = Slips(np.array([given * len(VOCABULARY) + meant]), np.ones(1, dtype=np.float32), np.ones(len(VOCABULARY), dtype=np.float32))
    view = np.full(len(VOCABULARY), -8.0, dtype=np.float32)
    view[meant] = -30.0
    for by_slips in (0, 1):
        characters = Characters(VOCABULARY, KNOWN.id_of, tables(), slips, by_slips=by_slips)
        assert (meant in characters.similar(given)) is (by_slips > 0)
        (candidates,) = propose([(encoding, 1)], [view[None]], [()], characters)
        assert (meant in candidates) is (by_slips > 0)
    assert Characters(VOCABULARY, KNOWN.id_of, tables(), None, by_slips=9).similar(given).tolist() == KNOWN.similar(given).tolist()


def test_what_the_marks_name_is_proposed_however_unlikely() -> None:
    named, view = KNOWN.id_of["好"], np.full(len(VOCABULARY), -8.0, dtype=np.float32)
    view[named] = -30.0
    for better, found in ((named, True), (0, False)):
        encoding = Tokenizer(VOCABULARY, partial(_naming, better)).encode("形")
        (candidates,) = propose([(encoding, 1)], [view[None]], [()], KNOWN)
        assert (named in candidates) is found and 0 not in candidates


def _naming(better: int, ids: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return np.full(len(ids), 5 + PLAIN_MARKS * better)


def _knowing(word: str, vocabulary: tuple[str, ...]) -> tuple[Tokenizer, Characters]:
    """Of a lexicon whose only word is this one, of four characters."""
    none = np.zeros(0, dtype=np.uint64)
    words = MarkTables(len(vocabulary), (none, none, np.array([key(word, vocabulary)], dtype=np.uint64)))
    tokenizer = Tokenizer(vocabulary, words.types)
    return tokenizer, Characters(vocabulary, tokenizer.id_of, words)


def test_an_idiom_proposes_the_character_it_lacks() -> None:
    """Though the generator has no idea of it; but not if it is nothing like the one that is there."""
    vocabulary = (*VOCABULARY[:6], *"再接厉历我们")
    tokenizer, characters = _knowing("再接再厉", vocabulary)
    encodings = [tokenizer.encode(text) for text in ("我们再接再历", "再接再我", "再接再厉")]
    sites = [(encodings[0], 6), (encodings[0], 5), (encodings[1], 4), (encodings[2], 4)]
    assert characters.completions(sites) == [[vocabulary.index("厉")], [], [], []]
    flat = np.full(len(vocabulary), -2.0, dtype=np.float32)
    flat[vocabulary.index("厉")] = -30.0
    (found,) = propose(sites[:1], [[flat], [flat]], characters.completions(sites[:1]), characters)
    assert vocabulary.index("厉") in found
    assert characters.completions([]) == []


def test_suspected_is_what_seems_wrong_and_what_keeps_a_word_from_being_one() -> None:
    vocabulary = (*VOCABULARY[:6], *"再接厉历我们")
    tokenizer, characters = _knowing("再接再厉", vocabulary)
    (sentence,) = sentences("我们再接再历")
    look = Look(
        0, [0, 1, 5], [1, 2, 6], np.array([3, -3, -3], dtype=np.float32), np.zeros(3, dtype=np.int32),
        np.full((3, len(vocabulary)), -8.0, dtype=np.float32), np.zeros(3, dtype=np.float32),
    )  # fmt: skip
    groups = suspected([sentence], [tokenizer.encode(sentence.text)], [look], characters, default_ranker())
    assert [(window, [member.index for member in members]) for window, members in groups] == [(0, [0]), (0, [5])]


def test_the_likeliest_other_is_a_han_character() -> None:
    views = np.full((2, len(VOCABULARY)), -9.0, dtype=np.float32)
    for char, log_probability in (("形", -0.5), ("兴", -2.0), ("，", -1.0)):
        views[:, KNOWN.id_of[char]] = log_probability
    present = np.array([KNOWN.id_of["形"], KNOWN.id_of["兴"]])
    assert best_others(views, present, KNOWN).tolist() == [-2.0, -0.5]


def test_a_slip_in_a_doubled_character_is_one_slip() -> None:
    """忧心冲冲 for 忧心忡忡: in no place does one character alone make it a word."""
    vocabulary = (*VOCABULARY[:6], *"忧心冲忡匆我们")
    tokenizer, characters = _knowing("忧心忡忡", vocabulary)
    right, wrong = vocabulary.index("忡"), vocabulary.index("冲")
    found = {}
    for text in ("我忧心冲冲们", "忧心忡忡", "忧心我我", "忧心忡冲", "冲冲忧心", "忧心冲冲冲"):
        encoding = tokenizer.encode(text)
        found[text] = [text[token - 1] for token in np.flatnonzero(characters.misspelt_doubles(encoding))]
    assert found == {"我忧心冲冲们": ["冲", "冲"], "忧心忡忡": [], "忧心我我": [], "忧心忡冲": [], "冲冲忧心": [], "忧心冲冲冲": []}
    encoding = tokenizer.encode("我忧心冲冲们")
    sites = [(encoding, token) for token in (4, 5)]
    assert characters.completions(sites) == [[right], [right]]
    view = np.full(len(vocabulary), -8.0, dtype=np.float32)
    view[wrong], view[right] = -0.1, -6.0
    members = [Proposal(token - 1, token, 1.0, 2, 0.0, view, [vocabulary.index("匆"), right]) for token in (4, 5)]
    (edits,) = edits_of([(encoding, members)], characters)
    doubled = next(edit for edit in edits if edit.replacement == "忡忡")
    assert (doubled.pinyin_similarity, doubled.glyph_similarity) == (0.98, 0.56), "as of one of them"
    assert reason_of(doubled) == "same_sound"
    named = {edit.replacement: dict(zip(FEATURES, edit.features.tolist(), strict=True)) for edit in edits if edit.index == 3}
    one, both, unlike = named["忡"], named["忡忡"], named["忡匆"]
    of_a_character = FEATURES[: FEATURES.index("ngram_gain")]
    assert {name: both[name] for name in of_a_character} == pytest.approx({name: one[name] for name in of_a_character})
    assert unlike["changed"] == 2 and (both["together"], unlike["together"]) == (0, 1)
    assert both["completed"] > 0 and one["completed"] == 0


def test_proposals_of_many_are_those_of_each() -> None:
    """Views drawn at random; every site alone and all of them together."""
    rng = np.random.default_rng(4)
    encoding = Tokenizer(VOCABULARY, tables().types).encode("我很高形。大家好")
    sites = [(encoding, token) for token in (1, 3, 4, 6, 7)]
    views = rng.normal(-6, 3, (2, len(sites), len(VOCABULARY))).astype(np.float32)
    for used in (views, views[:1]):
        together = propose(sites, used, [()] * len(sites), KNOWN)
        for number, site in enumerate(sites):
            assert propose([site], used[:, number : number + 1], [()], KNOWN) == [together[number]]
            mean = used[:, number].sum(0)
            assert together[number] == sorted(together[number], key=lambda candidate: -mean[candidate])


def test_groups_are_neighbours_three_at_most() -> None:
    members = [proposal("形", index) for index in (0, 1, 2, 3, 7)]
    assert [[m.index for m in g] for g in group(members)] == [[0, 1, 2], [3], [7]]


ALIKE = (*VOCABULARY[:6], *"一以意义异议已我们")


def _alike(*words: tuple[str, int]) -> Characters:
    """Of a lexicon of these words, each in a step of the corpus's pairs."""
    keys = np.array([key(word, ALIKE) for word, _ in words], dtype=np.uint64)
    none, nothing = keys[:0], np.zeros((len(ALIKE), 1), dtype=np.uint16)
    pairs = StaticMap.build(keys, np.array([step for _, step in words]))
    ngrams = Ngrams(np.ones(len(ALIKE), dtype=np.float32), pairs, StaticMap.build(none, none), nothing, nothing.astype(np.uint8))
    tables = MarkTables(len(ALIKE), (np.sort(keys), none, none), ngrams)
    return Characters(ALIKE, {char: number for number, char in enumerate(ALIKE)}, tables)


def _group(text: str, *candidates: str, start: int = 0) -> Group:
    """The characters of the text from ``start`` on are suspicious, with these candidates for each."""
    view = np.zeros(len(ALIKE), dtype=np.float32)
    members = [Proposal(n, n + 1, 1.0, 2, 0.0, view, [ALIKE.index(char) for char in own]) for n, own in enumerate(candidates, start)]
    return Tokenizer(ALIKE).encode(text), members


def _replacements(item: Group, characters: Characters) -> list[str]:
    return [edit.replacement for edit in edits_of([item], characters)[0]]


def test_an_edit_says_what_it_changes_and_where() -> None:
    (edits,) = edits_of([_group("我一以们", "意异", "义", start=1)], _alike(("我们", 1)))
    expected = [(1, "一", "意"), (1, "一", "异"), (2, "以", "义"), (1, "一以", "意义"), (1, "一以", "异义")]
    assert [(edit.index, edit.original, edit.replacement) for edit in edits] == expected
    assert [edit.replacement for edit in edits[1:3]] == ["异", "义"]
    assert [list(edits.same_place(number)) for number in range(5)] == [[1], [0], [], [4], [3]]


def test_words_alike_in_both_characters_are_proposed_the_commonest_first() -> None:
    """议我 is unlike in its second character, and 一议 keeps the first."""
    characters = _alike(("意义", 3), ("异议", 9), ("议我", 12), ("一议", 12), ("我们", 12))
    found = [ALIKE[a] + ALIKE[b] for a, b in similar_words(ALIKE.index("一"), ALIKE.index("以"), characters)]
    assert found == ["异议", "意义"]
    assert _replacements(_group("一以", "我", "们"), characters) == ["我", "们", "我们", "异议", "意义"]
    assert similar_words(ALIKE.index("一"), ALIKE.index("[SEP]"), characters) == []


def test_neighbours_are_changed_together_by_their_likeliest_candidates() -> None:
    singles, nothing = "意义异议已我", _alike(("我们", 1))
    pairs = _replacements(_group("一以", singles, singles), nothing)
    assert [new for new in pairs if len(new) == 2] == [a + b for a in singles[:5] for b in singles[:5]]
    assert "我我" in _replacements(_group("一一", singles, singles), nothing)  # one slip made twice, so however unlikely
    assert _replacements(_group("一一", "意", "义"), nothing) == ["意", "义", "意义"]
    triples = _replacements(_group("一以们", singles, singles, singles), nothing)
    assert [new for new in triples if len(new) == 3] == [a + b + c for a in singles[:3] for b in singles[:3] for c in singles[:3]]


@pytest.mark.parametrize(
    ("sound", "shape", "gains", "reason"),
    [
        (1.0, 1.0, {}, "same_sound"), (0.9, 0.95, {}, "same_sound"), (0.8, 0.6, {}, "near_sound"), (0.6, 0.8, {}, "shape"),
        (0.5, 0.0, {}, "near_sound"), (0.4, 0.45, {}, "shape"), (0.45, 0.45, {}, "shape"), (0.5, 0.4, {"word_gain": 1}, "near_sound"),
        (0.4, 0.4, {"word_gain": 1}, "word"), (0.4, 0.4, {"long_word_gain": 1}, "word"), (0.4, 0.4, {"word_gain": -1}, "context"),
        (0.4, 0.4, {}, "context"), (0.1, 0.4, {}, "context"),
    ],
)  # fmt: skip
def test_the_reason_is_the_strongest_evidence(sound: float, shape: float, gains: dict[str, float], reason: str) -> None:
    """Of the mean over the changed characters, here two."""
    values = dict.fromkeys(FEATURES, 0.0) | {"pinyin_similarity": 2 * sound, "glyph_similarity": 2 * shape, "changed": 2} | gains
    assert reason_of(Edit(0, "天地", "人和", np.array(list(values.values())))) == reason


def test_features_of_an_edit_by_hand() -> None:
    encoding = Tokenizer(VOCABULARY, tables().types).encode("高形")
    by_masked = []
    for masked in (False, True):
        (edits,) = edits_of([(encoding, [proposal("形", 1, "兴", masked=masked)])], KNOWN)
        (edit,) = [edit for edit in edits if edit.replacement == "兴"]
        by_masked.append(dict(zip(FEATURES, edit.features.tolist(), strict=True)))
    unread, named = by_masked
    assert [unread[name] for name in MASKED] == [0, 0]
    assert {**unread, **{name: named[name] for name in MASKED}} == named
    assert named["changed"] == 1
    assert named["detection"] == 3
    assert named["visible_log_odds"] == named["masked_log_odds"] == 7  # -1 against -8
    # 高兴 is in step 9, which stands for the middle of 400 and 1,000; smoothing adds the share of 兴, or of 形, a hundred times.
    share = 100 / len(VOCABULARY)
    assert named["ngram_gain"] == pytest.approx(math.log((math.sqrt(400 * 1000) + share) / share))
    assert named["word_gain"] == 1
    assert named["together"] == 0
    assert named["same_sound"] == 1
    assert reason_of(edit) == "same_sound"


def test_an_edit_knows_how_often_people_were_seen_to_make_the_slip() -> None:
    slips = count_slips([PairSet((("高形", "高兴"), ("形", "形")), 3.0)], Tokenizer(VOCABULARY))
    known = Characters(VOCABULARY, KNOWN.id_of, tables(), slips)
    encoding = Tokenizer(VOCABULARY, tables().types).encode("高形")
    members = [dataclasses.replace(proposal(char, place, option), token=place + 1) for place, (char, option) in enumerate(("高很", "形兴"))]
    (edits,) = edits_of([(encoding, members)], known)
    found = {edit.replacement: edit.features[FEATURES.index("slip")] for edit in edits}
    seen, never = math.log(3.2 / 56), math.log(0.2 / 53)
    assert found["兴"] == pytest.approx(seen, abs=1e-5) and found["很兴"] == pytest.approx(seen + never, abs=1e-5)


def test_triples_through_an_edit_are_counted() -> None:
    ids = [KNOWN.id_of[char] for char in "今天高兴大家"]
    wrong = [*ids[:3], KNOWN.id_of["形"], *ids[4:]]
    text = [np.array([*ids, 3, 0] * 6 + [*wrong, 3, 0], dtype=np.uint16)]
    nothing = np.zeros((len(VOCABULARY), 1), dtype=np.uint16), np.zeros((len(VOCABULARY), 1), dtype=np.uint8)
    ngrams = ngrams_of(text, len(VOCABULARY), SPECIALS, nothing)
    known = Characters(VOCABULARY, KNOWN.id_of, dataclasses.replace(tables(), ngrams=ngrams))
    encoding = Tokenizer(VOCABULARY, tables().types).encode("今天高形大家")
    member = dataclasses.replace(proposal("形", 3, "兴"), token=4)
    (edits,) = edits_of([(encoding, [member])], known)
    (edit,) = [edit for edit in edits if edit.replacement == "兴"]
    named = dict(zip(FEATURES, edit.features.tolist(), strict=True))
    # Three triples are through the fourth of six characters; with 形 they occur once, with 兴 six times.
    assert [named[f"triples_{when}"] for when in ("before", "after")] == [0, 1]
    assert [named[f"known_{when}"] for when in ("before", "after")] == pytest.approx([0, 2 / len(TRIPLE_STEPS)])


def test_an_edit_knows_how_much_likelier_it_makes_the_words() -> None:
    text = [np.array([KNOWN.id_of[char] for char in "今天高兴"] * 9 + [3, KNOWN.id_of["形"]], dtype=np.uint16)]
    model = next(word_models_of([text], [IN_NONE], tables().sets, len(VOCABULARY), lambda _: None))
    known = Characters(VOCABULARY, KNOWN.id_of, tables(), None, model)
    encoding = Tokenizer(VOCABULARY, tables().types).encode("今天高形")
    member = dataclasses.replace(proposal("形", 3, "兴"), token=4)
    for characters in (known, KNOWN):
        (edits,) = edits_of([(encoding, [member])], characters)
        (edit,) = [edit for edit in edits if edit.replacement == "兴"]
        ids = [[0, *(KNOWN.id_of[char] for char in given), 3, 0, 0] for given in ("今天高形", "今天高兴")]
        before, after = characters.word_score(np.array(ids)).tolist()
        assert edit.features[FEATURES.index("word_model_gain")] == pytest.approx(after - before, abs=1e-3)
        assert (after - before > 1) == (characters is known)


def test_associations_of_the_words_through_an_edit() -> None:
    """大家 is associated with 高兴 and 公司 with 高形."""
    words = np.sort(np.array(list(map(key, ["大家", "公司", "高兴", "高形"])), dtype=np.uint64))
    first, second = (np.array(list(map(key, pair)), dtype=np.uint64) for pair in (["大家", "公司"], ["高兴", "高形"]))
    table = StaticMap.build(association_keys(first, second, len(VOCABULARY)), np.array([9, 3]))
    known = Characters(VOCABULARY, KNOWN.id_of, MarkTables(len(VOCABULARY), (words, words[:0], words[:0]), None, table))
    found = {}
    for text in ("大家好，我高形", "公司好，我高形", "高形", "大家高形", "大家" + "我很" * 6 + "高形", "我高形大家公司"):
        encoding, place = Tokenizer(VOCABULARY).encode(text), text.index("形")
        member = dataclasses.replace(proposal("形", place, "兴"), token=place + 1)
        (edits,) = edits_of([(encoding, [member])], known)
        (edit,) = [edit for edit in edits if edit.replacement == "兴"]
        named = dict(zip(FEATURES, edit.features.tolist(), strict=True))
        found[text] = [round(15 * named[f"associated_{when}"]) for when in ("before", "after")]
    assert list(found.values()) == [[0, 9], [3, 0], [0, 0], [0, 9], [0, 0], [3, 9]]


def test_features_of_many_groups_are_those_of_each() -> None:
    """Groups of one to three characters at the start, in the middle and at the end of two texts, and one without candidates."""
    rng = np.random.default_rng(5)
    groups = []
    for text in ("我很高形。大家好", "高形高形"):
        encoding = Tokenizer(VOCABULARY, tables().types).encode(text)
        for first, size in ((0, 1), (1, 2), (0, 3), (len(text) - 1, 1)):
            sites = [(encoding, place + 1) for place in range(first, first + size)]
            views = rng.normal(-6, 3, (2, size, len(VOCABULARY))).astype(np.float32)
            found = zip(sites, *views, propose(sites, views, [()] * len(sites), KNOWN), strict=True)
            groups.append((encoding, [Proposal(t - 1, t, 1.0, 7, 0.5, v, ids, m) for (_, t), v, m, ids in found]))
    groups.insert(3, (groups[0][0], [dataclasses.replace(groups[0][1][0], candidates=())]))
    together = edits_of(groups, KNOWN)
    assert [len(edits) > 0 for edits in together] == [number != 3 for number in range(len(groups))]
    for edits, item in zip(together, groups, strict=True):
        (alone,) = edits_of([item], KNOWN)
        assert [(e.index, e.replacement) for e in alone] == [(e.index, e.replacement) for e in edits] and alone.changes == edits.changes
        assert alone.features == pytest.approx(edits.features, abs=1e-5)
        assert len(set(edits.changes)) == len(edits) and max((len(e.original) for e in edits), default=1) <= LONGEST
    two = together[1]
    pair = next(number for number, change in enumerate(two.changes) if len(change.ids) == 2)
    parts = [two.changes.index(Change(place, (new,))) for place, new in enumerate(two.changes[pair].ids)]
    summed = slice(0, FEATURES.index("ngram_gain"))
    assert two.features[pair, summed] == pytest.approx(two.features[parts, summed].sum(0), abs=1e-4)
    assert two[pair].features[FEATURES.index("together")] == 1
    assert two[pair].replacement == two[parts[0]].replacement + two[parts[1]].replacement
    backwards = two.ordered(np.arange(len(two))[::-1])
    assert [edit.replacement for edit in backwards] == [edit.replacement for edit in two][::-1]
    assert set(two.same_place(pair)) == {n for n, c in enumerate(two.changes) if (c.first, len(c.ids)) == (0, 2) and n != pair}


def test_other_ids_bring_the_types_of_the_whole_text() -> None:
    """Types are found again near a change only, and yet they are those of all of the changed text."""
    marks = training.random_tables(seed=3)
    for marker in (marks.types, lambda ids: np.cumsum(ids)[::-1], None):  # the second depends on every token
        tokenizer = Tokenizer(training.VOCABULARY, marker)
        stages = Stages(tokenizer, FakeRuntime(training.VOCABULARY, {}), default_ranker())
        rng = np.random.default_rng(1)
        changes = []
        for _ in range(200):
            text = "".join(rng.choice(list(training.HAN), rng.integers(1, 30)))
            encoding = tokenizer.encode(text)
            first = int(rng.integers(1, len(text) + 1))
            new = rng.integers(4, training.SIZE, min(int(rng.integers(1, 4)), len(text) + 1 - first))
            changes.append((encoding, dict(enumerate(new.tolist(), first)) | {int(rng.integers(1, len(text) + 1)): 5}))
        before = [(encoding.ids.copy(), encoding.types.copy()) for encoding, _ in changes]
        for (encoding, new), changed in zip(changes, stages.rewritten(changes), strict=True):
            assert changed.ids.tolist() == [new.get(place, token) for place, token in enumerate(encoding.ids.tolist())]
            assert changed.types.tolist() == tokenizer.token_types(changed.ids).tolist()
            assert changed.types.dtype == np.int32
        for (encoding, _), (ids, types) in zip(changes, before, strict=True):
            assert encoding.ids.tolist() == ids.tolist() and encoding.types.tolist() == types.tolist()


def test_ranker_probabilities_by_hand() -> None:
    ranker = Ranker(dict.fromkeys(FEATURES, 0.0), dict.fromkeys(CHECK_FEATURES, 0.0) | {"score": 1.0})
    checks = np.zeros((2, len(CHECK_FEATURES)), dtype=np.float32)
    checks[:, CHECK_FEATURES.index("score")] = np.log(2), -np.log(3)
    assert ranker.confidences(checks).tolist() == pytest.approx([2 / 3, 1 / 4])
    calibrated = dataclasses.replace(ranker, calibration=(2.0, 1.0))
    assert calibrated.confidences(checks).tolist() == pytest.approx([1 / (1 + math.exp(-1) / 4), 1 / (1 + 9 * math.exp(-1))])


def test_an_edit_is_scored_alike_beside_any_others() -> None:
    rng = np.random.default_rng(1)
    names = rng.permutation(len(FEATURES)), rng.permutation(len(CHECK_FEATURES))
    weights = dict(zip(FEATURES, (names[0] / 7 - 1).tolist(), strict=True))
    checks = dict(zip(CHECK_FEATURES, (names[1] / 70 - 0.5).tolist(), strict=True))
    bends = dict.fromkeys(CHECK_FEATURES, ((0.1, 0.3), (1.7, -0.7)))
    ranker = Ranker(weights, checks, check_bends=bends)
    edits, groups = (rng.normal(size=(200, len(of))).astype(np.float32) for of in (FEATURES, CHECK_FEATURES))
    for size in (1, 2, 3, 7, 50):
        assert (ranker.scores(edits[:size]) == ranker.scores(edits)[:size]).all()
        assert (ranker.confidences(groups[:size]) == ranker.confidences(groups)[:size]).all()


def test_groups_are_judged_apart() -> None:
    scores = np.log(np.array([2, 1, 3, 1, 1, 1], dtype=np.float32))
    assert belief(scores, [2, 1, 3]).tolist() == pytest.approx([2 / 4, 1 / 4, 3 / 4, 1 / 4, 1 / 4, 1 / 4])
    bends = {"score": ((0.0, 1.0), (1.0, -1.0))}  # 0 below 0, a slope of 1, then level from 1 on
    ranker = Ranker({}, dict.fromkeys(CHECK_FEATURES, 0.0), check_bends=bends)
    checks = np.zeros((4, len(CHECK_FEATURES)), dtype=np.float32)
    checks[:, CHECK_FEATURES.index("score")] = -3, 0.5, 1, 7
    assert ranker.check_shares(checks).sum(1).tolist() == pytest.approx([0, 0.5, 1, 1])


def test_groups_that_are_far_apart_share_a_reading() -> None:
    groups = [(0, 1, 1), (0, 3, 3), (0, 4, 5), (0, 9, 9), (2, 1, 1), (2, 12, 13), (3, 2, 2)]  # window, first and last token
    assert together(groups) == [[0, 2, 3], [1], [4, 5], [6]]
    assert together([(0, 1, 1), (0, 5, 5), (0, 7, 7)]) == [[0, 1], [2]]
    assert together([]) == []


def test_ranker_file_round_trip_and_refusal(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "ranker.json"
    default_ranker().save(path)
    assert Ranker.load(path) == default_ranker()
    record = json.loads(path.read_text("utf-8"))
    del record["weights"]["completed"], record["check_weights"]["completed"]  # as an earlier version wrote it
    path.write_text(json.dumps(record), "utf-8")
    assert Ranker.load(path) == default_ranker()
    path.write_text(path.read_text("utf-8").replace("word_gain", "wort"), "utf-8")
    with pytest.raises(ModelError, match="other features"):
        Ranker.load(path)
    for section in ("weights", "check_weights", "check_bends"):
        default_ranker().save(path)
        record = json.loads(path.read_text("utf-8"))
        record[section]["wort"] = [[0.0, 1.0]] if section == "check_bends" else 1.0
        path.write_text(json.dumps(record), "utf-8")
        with pytest.raises(ModelError, match="other features"):
            Ranker.load(path)


def test_suspicion_by_hand() -> None:
    """0.5·logit + 2·ln p - 1 + level/4 must be at least ln(0.2/0.8) = -1.39."""
    ranker = Ranker({}, {}, suspicion=(0.5, 2.0, -1.0, 0.25), suspicion_threshold=0.2)
    values = np.array([[2, 0, 0], [2, -1, 0], [2, -1, 4], [0, 0, 0], [-2, 0, 0], [-1.2, 0, 0]], dtype=np.float32).T
    assert ranker.is_suspicious(*values).tolist() == [True, False, True, True, False, False]  # 0, -2, -1, -1, -2, -1.6
    alone = dataclasses.replace(ranker, suspicion=(1.0, 0.0, 0.0, 0.0))  # to which it is nothing that no other Han character is likely
    assert alone.is_suspicious(values[0], np.full(6, -np.inf, dtype=np.float32), values[2]).tolist() == [True] * 4 + [False, True]


@pytest.mark.parametrize(("bends", "expected"), [((), False), (((0.5, 0.0),), False), (((0.5, 0.0), (1.0, 0.1)), True)])
def test_a_ranker_reads_masked_only_for_what_counts(bends: tuple[tuple[float, float], ...], expected: bool) -> None:
    assert Ranker({}, {"score": 1.0}, check_bends={MASKED[0]: bends}).reads_masked is expected


def test_reading_again_goes_on_until_nothing_more_is_found() -> None:
    """Five errors of which the discriminator sees only the first at a time."""
    corrector, runtime = make({"形": "兴"})
    working = runtime.read

    def one_at_a_time(encodings):  # type: ignore[no-untyped-def]
        readings = working(encodings)
        for encoding, found in zip(encodings, (reading.logits for reading in readings), strict=True):
            wrong = [VOCABULARY.index("形")]
            places = [place for place, token in enumerate(encoding.ids.tolist()) if token in wrong]
            found[:] = -6.0
            found[places[:1]] = 6.0
        return readings

    runtime.read = one_at_a_time  # type: ignore[method-assign]
    corrected = corrector.correct("高形，高形，高形，高形，高形。")
    assert corrected_text(corrected) == "高兴，高兴，高兴，高兴，高兴。"


def test_what_stands_around_a_token_ends_with_its_window() -> None:
    first, second = (Encoding(np.array(ids, dtype=np.int32), *[np.zeros(len(ids), dtype=np.int32)] * 2, np.ones(len(ids), dtype=np.bool_))
                     for ids in ([1, 2, 3], [4, 5]))  # fmt: skip
    found = around([(first, 0), (first, 2), (second, 0), (second, 1), (first, 1)], 2, 1)
    assert found.tolist() == [[0, 0, 1, 2], [1, 2, 3, 0], [0, 0, 4, 5], [0, 4, 5, 0], [0, 1, 2, 3]]
