"""What says how surely two characters at once are meant, fitted on labelled sentences."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

from corrector.electra.model_dir import find_model
from corrector.errors import CorrectorError
from corrector.offer_options import Kind
from corrector.offers import HOPE_FEATURES, OFFER_FEATURES, OfferWeights
from corrector.pipeline import Corrector, windows_of
from corrector.rank import Ranker
from corrector.train.__main__ import main
from corrector.train.offers import fitted
from corrector.train.pairs import PairSet
from corrector.types import Document
from tests.test_offers import SWAPPED, TEXT, Doubting, make, weights

RIGHT = TEXT.replace("地毯", "低碳")
START: Mapping[Kind, OfferWeights] = {"words": weights(), "swaps": weights()}  # not of phrases


def confidence(bigrams: Mapping[Kind, OfferWeights]) -> float:
    """Of 低碳, as the fitted weights have it, in the one place that is offered a word."""
    stages = make(dataclasses.replace(bigrams["words"], hope=weights().hope)).stages
    ((_, (word,)),) = stages.considered(list(windows_of(Document(None, TEXT), 126)))
    assert word.replacement == "低碳"
    return word.confidence


def test_a_word_is_as_sure_as_it_was_meant_in_the_sets() -> None:
    said: list[str] = []
    meant, kept = PairSet(((TEXT, RIGHT),) * 6, 1.0, "meant.tsv"), PairSet(((TEXT, TEXT),) * 12, 1.0, "kept.tsv")
    found = fitted(make(None).stages, [meant, kept], said.append, start=START)
    assert said == [
        "to meant.tsv: 6 words, 6 of them meant; 0 swaps, 0 of them meant",
        "to kept.tsv: 18 words, 6 of them meant; 0 swaps, 0 of them meant",
        "too few swaps are meant to learn from: they stay as they were",
    ]  # fmt: skip
    assert list(found) == ["words"]
    assert set(found["words"].hope) == set(HOPE_FEATURES) and set(found["words"].check) == set(OFFER_FEATURES)
    assert confidence(found) == pytest.approx(1 / 3, abs=0.01)
    doubled = PairSet(meant.pairs, 4.0, "meant.tsv")
    assert confidence(fitted(make(None).stages, [doubled, kept], said.append, start=START)) == pytest.approx(2 / 3, abs=0.01)


def test_another_word_than_the_one_offered_is_not_meant() -> None:
    rows = ((TEXT, RIGHT),) * 6 + ((TEXT, TEXT.replace("地毯", "底摊")), (TEXT, TEXT.replace("地", "低"))) * 3
    found = fitted(make(None).stages, [PairSet(rows, 1.0, "rows.tsv")], lambda _: None, start=START)
    assert confidence(found) == pytest.approx(0.5, abs=0.01)


def test_exchanges_are_learned_beside_words() -> None:
    stages = make(None, Doubting(of="碳")).stages
    rows = ((SWAPPED, RIGHT),) * 6 + ((SWAPPED, SWAPPED),) * 2
    found = fitted(stages, [PairSet(rows, 1.0, "rows.tsv")], lambda _: None, start=START)
    assert list(found) == ["swaps"]
    ((_, (swap,)),) = make(dataclasses.replace(found["swaps"], hope=weights().hope), Doubting(of="碳"), kind="swaps").stages.considered(
        list(windows_of(Document(None, SWAPPED), 126))
    )
    assert (swap.replacement, swap.confidence) == ("低碳", pytest.approx(0.75, abs=0.01))


def test_too_few_words_to_learn_from() -> None:
    rows = PairSet(((TEXT, RIGHT),) * 4 + ((TEXT, TEXT),), 1.0, "rows.tsv")
    with pytest.raises(CorrectorError, match="of each kind fewer than 5 in the labelled sets are meant; give more rows"):
        fitted(make(None).stages, [rows], lambda _: None, start=START)
    with pytest.raises(CorrectorError, match=r"rows\.tsv is said to be of part 1 of the corpus; give --data"):
        fitted(make(None).stages, [PairSet(rows.pairs, 1.0, "rows.tsv", 1)], lambda _: None, start=START)


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
    assert main(["offers", "--kind", "words", "--model", str(model), "--pairs", str(tmp_path / "none.tsv")]) == 123
    assert "none.tsv" in capsys.readouterr().err and (model / "ranker.json").read_bytes() == old
    assert main(["offers", "--kind", "words", "--model", str(model), "--pairs", str(pairs)]) == 0
    said = capsys.readouterr().err
    assert "pairs.tsv: " in said and "scores dropped: the model has changed since" in said
    ranker, before = Ranker.load(model / "ranker.json"), embedded.stages.ranker
    assert ranker.offers["words"] != before.offers["words"]
    assert dataclasses.replace(ranker, offers=before.offers) == before
    adapted = Corrector(model, threads=1)  # its manifest has the new file
    assert adapted.model_checksum != embedded.model_checksum
    assert surest_words(adapted, slips) == []


def surest_words(corrector: Corrector, texts: Iterable[str]) -> list[str]:
    """The words that sound alike which the corrector takes for likelier than not."""
    windows = [window for text in texts for window in windows_of(Document(None, text), corrector.stages.max_length)]
    found = (choice for _, choices in corrector.stages.considered(windows) for choice in choices if choice.kind == "words")
    return [word.replacement for word in found if word.confidence > 0.5]
