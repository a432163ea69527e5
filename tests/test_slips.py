"""Which characters people were seen to confuse: counted, kept and looked up."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from corrector.electra.model_dir import find_model
from corrector.electra.slips import Slips
from corrector.electra.tokenizer import Tokenizer
from corrector.errors import ModelError
from corrector.train.pairs import PairSet
from corrector.train.slips import count_slips

VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[SPACE]", *"在再见做作")
TOKENIZER = Tokenizer(VOCABULARY)
SETS = (PairSet((("在见", "再见"), ("再见", "再见"), ("在作", "在做")), 2.0), PairSet((("在见", "再见"),), 0.5))


def ids(text: str) -> np.ndarray:
    return TOKENIZER.character_ids(text).astype(np.int64)


def rate(times: float, written: float) -> float:
    return math.log((times + 0.2) / (written + 50))


def test_rates_of_what_was_seen_and_what_was_not() -> None:
    slips = count_slips(SETS, TOKENIZER)
    found = slips.log_rates(ids("在作再在"), ids("再做在做"))
    assert found.tolist() == pytest.approx([rate(2.5, 4.5), rate(2, 2), rate(0, 2), rate(0, 4.5)], abs=1e-6)
    assert slips.forgotten().log_rates(ids("在作"), ids("再做")).tolist() == pytest.approx([rate(0, 4.5), rate(0, 2)], abs=1e-6)
    assert slips.log_rates(ids("在作").reshape(2, 1), ids("再做").reshape(2, 1)).shape == (2, 1)


def test_what_was_most_often_meant_comes_first() -> None:
    sets = (PairSet((("在", "再"), ("在", "见"), ("在", "做"), ("在", "见"), ("再", "在"), ("作", "做"), ("在", "罕")), 1.0),)
    slips = count_slips(sets, TOKENIZER)
    found = {char: slips.most_meant(4)[ids(char)[0]].tolist() for char in "在再见作"}
    nothing = [0] * 4
    assert found == {
        "在": [*ids("见再做").tolist(), 0], "再": [*ids("在").tolist(), 0, 0, 0], "见": nothing, "作": [*ids("做").tolist(), 0, 0, 0]
    }  # fmt: skip
    assert slips.most_meant(2)[ids("在")[0]].tolist() == ids("见再").tolist()  # of those as often, as the vocabulary has them
    assert not slips.forgotten().most_meant(3).any()


def test_the_likelier_a_slip_the_more_alike() -> None:
    often, seldom = PairSet((("在", "再"),), 40.0), PairSet((("在", "见"), ("再", "在")), 1.0)
    alike, similarity = count_slips((often, seldom), TOKENIZER).look_alikes(3)
    (row,) = ids("在").tolist()
    assert alike[row].tolist() == [*ids("再见").tolist(), 0]
    assert 255 == similarity[row, 0] > similarity[row, 1] > similarity[row, 2] == 0
    (other,) = ids("见").tolist()
    assert not alike[other].any() and not similarity[other].any()


def test_what_was_counted_earlier_counts_too() -> None:
    parts = count_slips(SETS[1:], TOKENIZER, count_slips(SETS[:1], TOKENIZER))
    whole = count_slips(SETS, TOKENIZER)
    assert parts.pairs.tolist() == whole.pairs.tolist()
    assert parts.times.tolist() == whole.times.tolist() and parts.written.tolist() == whole.written.tolist()


def test_rows_without_an_error_only_say_what_was_written() -> None:
    slips = count_slips([PairSet((("再见", "再见"),), 1.0)], TOKENIZER)
    assert slips.log_rates(ids("再作"), ids("在做")).tolist() == pytest.approx([rate(0, 1), rate(0, 0)], abs=1e-6)


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    slips = count_slips(SETS, TOKENIZER)
    slips.save(tmp_path / "slips.npz")
    again = Slips.load(tmp_path / "slips.npz")
    given, meant = ids("在作再在"), ids("再做在做")
    assert again.log_rates(given, meant).tolist() == slips.log_rates(given, meant).tolist()


def test_the_embedded_model_knows_common_slips() -> None:
    model = find_model(None)
    slips, id_of = model.slips, model.tokenizer.id_of
    assert slips is not None
    for given, meant, never in ("在再猫", "象像猫", "帐账猫"):
        seen, unseen = slips.log_rates(np.array([id_of[given]] * 2), np.array([id_of[meant], id_of[never]]))
        assert seen > unseen + 1


@pytest.mark.parametrize(("damage", "said"), [("nonsense", "cannot be read"), ("", "made for 11 tokens where the vocabulary has 5")])
def test_a_file_that_does_not_fit(tmp_path: Path, damage: str, said: str) -> None:
    for name in ("discriminator", "generator"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / name / "model.safetensors").write_text("")
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")
    count_slips(SETS, TOKENIZER).save(tmp_path / "slips.npz")
    if damage:
        (tmp_path / "slips.npz").write_text(damage)
    with pytest.raises(ModelError, match=rf"slips\.npz: .*{said}.*again"):
        _ = find_model(tmp_path).slips


def test_what_is_forgotten_was_still_written() -> None:
    slips = count_slips(SETS, TOKENIZER).forgotten()
    assert slips.log_rates(ids("在作"), ids("再做")).tolist() == pytest.approx([rate(0, 4.5), rate(0, 2)], abs=1e-6)
