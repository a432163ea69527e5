"""The pair before fine-tuning, which lies in the repository and not in the wheel: to go on with training from, and for transformers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from corrector.electra import load_runtime
from corrector.electra.model_dir import find_model
from corrector.electra.torch_runtime import ALTERNATIVE

NAME = "electra-csc-zh-pretrained"
DIRECTORY = Path(__file__).parents[1] / "data" / "electra_models" / NAME
pytestmark = pytest.mark.skipif(not DIRECTORY.is_dir(), reason="not in this copy of the repository")


def test_it_is_whole_and_has_the_vocabulary_of_the_embedded_model() -> None:
    pretrained, embedded = find_model(DIRECTORY, verify=True), find_model()
    assert (pretrained.kind, pretrained.name) == ("pytorch", NAME)
    assert pretrained.vocabulary.read_bytes() == embedded.vocabulary.read_bytes()
    runs = pretrained.manifest["training"]["runs"]
    assert runs[-1]["tokens"] > 10**7 and not runs[-1].get("pairs")  # its last run was pre-training


def test_transformers_load_both_networks() -> None:
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    for network, kind, other in (
        ("discriminator", "ElectraForPreTraining", "generator_"), ("generator", "ElectraForMaskedLM", "discriminator_")
    ):  # fmt: skip
        loaded, report = getattr(transformers, kind).from_pretrained(DIRECTORY / network, output_loading_info=True)
        assert not report["missing_keys"]
        assert {key for key in report["unexpected_keys"] if not key.startswith(other)} <= {ALTERNATIVE}
        assert loaded.config.vocab_size == len(find_model(DIRECTORY).tokenizer.vocabulary)


def test_it_tells_a_wrong_character_from_a_right_one() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    model = find_model(DIRECTORY)
    runtime = load_runtime(model, 1)
    wrong, right = (reading.logits for reading in runtime.read(model.tokenizer.encode_many(["请大家住意安全。", "请大家注意安全。"])))
    place = 4  # of 住 or 注, after [CLS]
    assert int(np.argmax(wrong[1:-1])) + 1 in (place, place + 1)
    assert wrong[place] > right[place] + 2


def test_threads_may_share_it() -> None:
    """What is told to a network of one window's alternatives does not reach another's."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    model = find_model(DIRECTORY)
    windows = model.tokenizer.encode_many(["请大家住意安全。" * size for size in (1, 2, 3, 4)])
    one, shared = load_runtime(model, 1), load_runtime(model, 1)
    alone = [one.read([window])[0].logits for window in windows]

    def read(number: int) -> np.ndarray:
        return shared.read([windows[number % 4]])[0].logits

    with ThreadPoolExecutor(4) as pool:
        for number, logits in enumerate(pool.map(read, range(40))):
            assert logits == pytest.approx(alone[number % 4], abs=1e-4)
