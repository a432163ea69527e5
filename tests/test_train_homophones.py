"""What says how surely a whole word is meant, fitted on labelled sentences."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

from corrector.electra.model_dir import find_model
from corrector.errors import CorrectorError
from corrector.homophones import HOPE_FEATURES, WORD_FEATURES, WordWeights
from corrector.pipeline import Corrector, windows_of
from corrector.rank import Ranker
from corrector.train.__main__ import main
from corrector.train.homophones import fitted
from corrector.train.pairs import PairSet
from corrector.types import Document
from tests.test_homophones import TEXT, make, weights

RIGHT = TEXT.replace("地毯", "低碳")


def confidence(words: WordWeights) -> float:
    """Of 低碳, as the fitted weights have it, in the one place that is offered a word."""
    ((_, (word,)),) = make(dataclasses.replace(words, hope=weights().hope)).stages.considered(list(windows_of(Document(None, TEXT), 126)))
    assert word.replacement == "低碳"
    return word.confidence


def test_a_word_is_as_sure_as_it_was_meant_in_the_sets() -> None:
    said: list[str] = []
    meant, kept = PairSet(((TEXT, RIGHT),) * 6, 1.0, "meant.tsv"), PairSet(((TEXT, TEXT),) * 12, 1.0, "kept.tsv")
    words = fitted(make(None).stages, [meant, kept], said.append, start=weights())
    assert said == ["meant.tsv: 6 words, 6 of them meant", "kept.tsv: 12 words, 0 of them meant"]
    assert set(words.hope) == set(HOPE_FEATURES) and set(words.check) == set(WORD_FEATURES)
    assert confidence(words) == pytest.approx(1 / 3, abs=0.01)
    doubled = PairSet(meant.pairs, 4.0, "meant.tsv")
    assert confidence(fitted(make(None).stages, [doubled, kept], said.append, start=weights())) == pytest.approx(2 / 3, abs=0.01)


def test_another_word_than_the_one_offered_is_not_meant() -> None:
    rows = ((TEXT, RIGHT),) * 6 + ((TEXT, TEXT.replace("地毯", "底摊")), (TEXT, TEXT.replace("地", "低"))) * 3
    words = fitted(make(None).stages, [PairSet(rows, 1.0, "rows.tsv")], lambda _: None, start=weights())
    assert confidence(words) == pytest.approx(0.5, abs=0.01)


def test_too_few_words_to_learn_from() -> None:
    rows = PairSet(((TEXT, RIGHT),) * 4 + ((TEXT, TEXT),), 1.0, "rows.tsv")
    with pytest.raises(CorrectorError, match="only 4 words in the labelled sets are meant; give more rows"):
        fitted(make(None).stages, [rows], lambda _: None, start=weights())
    with pytest.raises(CorrectorError, match=r"rows\.tsv is said to be of part 1 of the corpus; give --data"):
        fitted(make(None).stages, [PairSet(rows.pairs, 1.0, "rows.tsv", 1)], lambda _: None, start=weights())


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From few rows the embedded model learns that the words that it would put there are not meant."""
    embedded, model, pairs = Corrector(threads=1), tmp_path / "model", tmp_path / "pairs.tsv"
    shutil.copytree(find_model(None).path, model)
    slips = {"小城接待的有课突破百万人次。": "有课", "他一边走一边哼歌，心里乐吱吱的。": "吱吱"}
    slips |= {"他在摆渡上搜索了半天也没找到答案。": "摆渡"}
    meant = dict(zip(slips, ("游客", "滋滋", "百度"), strict=True))
    assert surest_words(embedded, slips) == list(meant.values())
    rows = [(text, text.replace(slips[text], meant[text])) for text in slips] * 3 + [(text, text) for text in slips] * 60
    pairs.write_text("".join(f"{source}\t{target}\n" for source, target in rows), "utf-8")
    old = (model / "ranker.json").read_bytes()
    assert main(["homophones", "--model", str(model), "--pairs", str(tmp_path / "none.tsv")]) == 123
    assert "none.tsv" in capsys.readouterr().err and (model / "ranker.json").read_bytes() == old
    assert main(["homophones", "--model", str(model), "--pairs", str(pairs)]) == 0
    said = capsys.readouterr().err
    assert "pairs.tsv: " in said and "scores dropped: the model has changed since" in said
    ranker, before = Ranker.load(model / "ranker.json"), embedded.stages.ranker
    assert ranker.words is not None and ranker.words != before.words
    assert dataclasses.replace(ranker, words=before.words) == before
    adapted = Corrector(model, threads=1)  # its manifest has the new file
    assert adapted.model_checksum != embedded.model_checksum
    assert surest_words(adapted, slips) == []


def surest_words(corrector: Corrector, texts: Iterable[str]) -> list[str]:
    """The words that sound alike which the corrector takes for likelier than not."""
    windows = [window for text in texts for window in windows_of(Document(None, text), corrector.stages.max_length)]
    return [word.replacement for _, words in corrector.stages.considered(windows) for word in words if word.confidence > 0.5]
