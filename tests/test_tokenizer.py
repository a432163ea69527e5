"""Offsets: whatever the text, every character knows its token."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrector.electra import wordpiece
from corrector.electra.marks import MarkTables
from corrector.electra.tokenizer import Tokenizer, normalise_character
from corrector.errors import ModelError

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
CHARACTERS = Tokenizer((*SPECIAL, "[SPACE]", "，", "a", "b", "7", "汉", "字", "é", "(", "A"))
WITHOUT_SPACE = Tokenizer((*SPECIAL, "汉"))
PIECES = (
    *SPECIAL, "汉", "字", "，", ",", ".", "ab", "##c", "##d", "a", "b", "e", "i", "7", "20", "##21", "##a", "豈",
    "〇", "##〇", "cafe", "##s", "[", "]", "!", "wor", "##ld", "##i", "ß", "ᄀ", "##ᅡ",
)  # fmt: skip
WORDPIECE = Tokenizer(PIECES)


def read(tokenizer: Tokenizer, text: str) -> list[str]:
    return [tokenizer.vocabulary[identifier] for identifier in tokenizer.encode(text).ids]


def test_kind_is_told_from_the_vocabulary() -> None:
    assert not CHARACTERS.is_wordpiece
    assert WORDPIECE.is_wordpiece
    assert not Tokenizer((*SPECIAL, "#", "##")).is_wordpiece  # two number signs continue nothing


def test_special_ids() -> None:
    tokenizer = CHARACTERS
    ids = (tokenizer.pad_id, tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id)
    assert ids == (0, 1, 2, 3, 4)


def test_characters_are_one_token_each() -> None:
    encoding = CHARACTERS.encode("汉 ,AＢ７\n𠀀(é É")
    assert read(CHARACTERS, "汉 ,AＢ７\n𠀀(é É") == [
        "[CLS]", "汉", "[SPACE]", "，", "a", "b", "7", "[SPACE]", "[UNK]", "[UNK]", "é", "[SPACE]", "é", "[SEP]",
    ]  # fmt: skip
    assert encoding.token_of.tolist() == list(range(1, 13))
    assert encoding.is_whole.tolist() == [True, False, True, True, True, True, False, False, False, True, False, True]
    assert encoding.ids.dtype == encoding.types.dtype == encoding.token_of.dtype == np.int32


def test_white_space_without_a_space_token_is_unknown() -> None:
    assert read(WITHOUT_SPACE, "汉 \u3000汉") == ["[CLS]", "汉", "[UNK]", "[UNK]", "汉", "[SEP]"]


def test_normalised_characters() -> None:
    assert [normalise_character(char) for char in ",!?;:()"] == list("，！？；：（）")
    assert [normalise_character(char) for char in "AZ09Ａｚ９。汉İ"] == list("az09az9。汉İ")


def test_character_ids() -> None:
    assert CHARACTERS.character_ids("汉A ，👍\ud800").tolist() == [10, 7, 5, 6, 1, 1]
    assert WORDPIECE.character_ids("汉A，👍É豈\u0301가").tolist() == [5, 13, 7, 1, 15, 21, 1, 1]
    assert len(CHARACTERS.character_ids("")) == len(WORDPIECE.character_ids("")) == 0


@pytest.mark.parametrize("tokenizer", [CHARACTERS, WORDPIECE])
def test_empty_text(tokenizer: Tokenizer) -> None:
    encoding = tokenizer.encode("")
    assert encoding.ids.tolist() == [2, 3]
    assert len(encoding.token_of) == len(encoding.is_whole) == 0


@pytest.mark.parametrize(
    ("text", "tokens", "token_of", "whole"),
    [
        ("汉字，", ["汉", "字", "，"], [1, 2, 3], "111"),
        (" 汉 字 ", ["汉", "字"], [0, 1, 1, 2, 2], "01010"),
        ("汉ABcd字", ["汉", "ab", "##c", "##d", "字"], [1, 2, 2, 3, 4, 5], "100001"),
        ("a汉a", ["a", "汉", "a"], [1, 2, 3], "111"),
        ("aa", ["a", "##a"], [1, 2], "10"),
        ("2021字", ["20", "##21", "字"], [1, 1, 2, 2, 3], "00001"),
        ("café字", ["cafe", "字"], [1, 1, 1, 1, 2], "00001"),
        ("cafe\u0301s字", ["cafe", "##s", "字"], [1, 1, 1, 1, 1, 2, 3], "0000001"),
        ("İ字", ["i", "字"], [1, 2], "11"),  # two code points in lower case, still one character
        ("xyz字", ["[UNK]", "字"], [1, 1, 1, 2], "0001"),
        ("👍👍🏽字", ["[UNK]", "字"], [1, 1, 1, 2], "0001"),
        ("汉\u200b\x00字\ufffd", ["汉", "字"], [1, 1, 1, 2, 2], "10010"),
        ("a\u200bb", ["ab"], [1, 1, 1], "000"),  # a control joins what it stands between
        ("가字", ["ᄀ", "##ᅡ", "字"], [1, 3], "01"),  # a syllable that NFD takes apart
        ("豈字", ["豈", "字"], [1, 2], "11"),  # a compatibility ideograph
        ("𠀀𠀁字", ["[UNK]", "[UNK]", "字"], [1, 2, 3], "001"),
        ("〇〇字", ["〇", "##〇", "字"], [1, 2, 3], "101"),  # not Han in BERT's rules
        ("a.b!7", ["a", ".", "b", "!", "7"], [1, 2, 3, 4, 5], "11111"),
        ("ab\r\n汉\u3000\u2028字", ["ab", "汉", "字"], [1, 1, 1, 1, 2, 2, 2, 3], "00001001"),
        ("\u0301汉", ["汉"], [0, 1], "01"),
        ("a" * 101 + "汉", ["[UNK]", "汉"], [1] * 101 + [2], "0" * 101 + "1"),
        ("[MASK]", ["[", "[UNK]", "]"], [1, 2, 2, 2, 2, 3], "100001"),  # text cannot speak as a special token
    ],
)
def test_wordpiece_by_hand(text: str, tokens: list[str], token_of: list[int], whole: str) -> None:
    encoding = WORDPIECE.encode(text)
    assert read(WORDPIECE, text) == ["[CLS]", *tokens, "[SEP]"]
    assert encoding.token_of.tolist() == token_of
    assert "".join("01"[int(value)] for value in encoding.is_whole) == whole


def test_types_are_zero_unless_given() -> None:
    assert CHARACTERS.encode("汉字").types.tolist() == [0, 0, 0, 0]
    assert CHARACTERS.encode("汉字", np.array([0, 5, 6, 0])).types.tolist() == [0, 5, 6, 0]
    with pytest.raises(ValueError, match=r"shape \(2,\) for ids of shape \(4,\)"):
        CHARACTERS.encode("汉字", np.array([5, 6]))


def test_marker_reads_the_token_ids() -> None:
    tokenizer = Tokenizer(PIECES, lambda ids: ids * 2)
    encoding = tokenizer.encode(" abc字")
    assert encoding.types.tolist() == [2 * identifier for identifier in encoding.ids]
    assert encoding.types.dtype == np.int32
    assert tokenizer.encode("汉字", np.zeros(4, dtype=np.int32)).types.tolist() == [0, 0, 0, 0]


def test_many_windows_are_read_as_each_by_itself() -> None:
    size = len(CHARACTERS.vocabulary)
    none = np.zeros(0, dtype=np.uint64)
    tables = MarkTables(size, (np.array([10 * size + 11], dtype=np.uint64), none, none))
    texts = ["汉字，汉字", "", "字", "汉", "字汉字"]
    for tokenizer in (
        Tokenizer(CHARACTERS.vocabulary, tables.types), Tokenizer(PIECES, lambda ids: ids * 2), CHARACTERS
    ):  # fmt: skip
        found = tokenizer.encode_many(texts)
        for text, many in zip(texts, found, strict=True):
            one = tokenizer.encode(text)
            for name in ("ids", "types", "token_of", "is_whole"):
                ours, theirs = getattr(many, name), getattr(one, name)
                assert ours.dtype == theirs.dtype and ours.tolist() == theirs.tolist(), name
    marked = Tokenizer(CHARACTERS.vocabulary, tables.types)
    assert marked.tables is tables and CHARACTERS.tables is None
    assert [encoding.types.tolist() for encoding in marked.encode_many(["汉字", "字"])] == [[0, 2, 1, 0], [0, 0, 0]]
    assert marked.encode_many([]) == []


ANY_TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=()),  # lone surrogates too
        st.sampled_from("汉字，,.abcd7e〇İ가é\u0301 \t\n\u3000\u200b𠀀👍ſßΣ"),
    ),
    max_size=40,
)


@given(ANY_TEXT)
@pytest.mark.parametrize("tokenizer", [CHARACTERS, WITHOUT_SPACE, WORDPIECE])
def test_offsets_never_shift(tokenizer: Tokenizer, text: str) -> None:
    normalise = wordpiece.normalise_character if tokenizer.is_wordpiece else normalise_character
    encoding = tokenizer.encode(text)
    tokens = len(encoding.ids)
    assert encoding.ids[0] == tokenizer.cls_id and encoding.ids[-1] == tokenizer.sep_id
    assert len(encoding.token_of) == len(encoding.is_whole) == len(text)
    assert len(encoding.types) == tokens
    assert np.all(np.diff(encoding.token_of) >= 0)
    assert np.all((encoding.token_of >= 0) & (encoding.token_of < tokens - 1))
    alone = tokenizer.character_ids(text)
    for index, char in enumerate(text):
        if encoding.is_whole[index]:
            assert tokenizer.vocabulary[encoding.ids[encoding.token_of[index]]] == normalise(char)
            assert alone[index] == encoding.ids[encoding.token_of[index]]
        elif char in "汉字":
            assert char not in tokenizer.vocabulary
    if not tokenizer.is_wordpiece:
        assert encoding.token_of.tolist() == list(range(1, tokens - 1))


@given(ANY_TEXT, st.sampled_from("汉字"), ANY_TEXT)
def test_a_han_character_is_always_whole(before: str, char: str, after: str) -> None:
    encoding = WORDPIECE.encode(before + char + after)
    index = len(before)
    assert encoding.is_whole[index]
    assert WORDPIECE.vocabulary[encoding.ids[encoding.token_of[index]]] == char
    assert np.count_nonzero(encoding.token_of == encoding.token_of[index]) >= 1
    assert np.array_equal(WORDPIECE.encode(before).token_of, encoding.token_of[:index])


def save(folder: Path, tokens: tuple[str, ...] = PIECES) -> Path:
    path = folder / "vocab.txt"
    path.write_text("".join(token + "\n" for token in tokens), encoding="utf-8")
    return path


def test_load(tmp_path: Path) -> None:
    tokenizer = Tokenizer.load(save(tmp_path, (*PIECES, "\u2028", "汉")))
    assert tokenizer.vocabulary == (*PIECES, "\u2028", "汉")
    assert tokenizer.id_of["汉"] == len(PIECES) + 1  # BERT keeps the last of two equal lines


def test_load_errors(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"vocab\.txt: cannot be read"):
        Tokenizer.load(tmp_path / "vocab.txt")
    with pytest.raises(ModelError, match=r"no \[MASK\] in"):
        Tokenizer.load(save(tmp_path, ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "汉")))
    (tmp_path / "vocab.txt").write_bytes("汉".encode("gb18030"))
    with pytest.raises(ModelError, match="not UTF-8"):
        Tokenizer.load(tmp_path / "vocab.txt")


def test_same_tokens_as_transformers(tmp_path: Path) -> None:
    """Random mixed text against the reference implementation; offsets are checked by hand above."""
    transformers = pytest.importorskip("transformers")
    theirs = transformers.BertTokenizerFast.from_pretrained(str(save(tmp_path).parent))
    source = random.Random(7)
    parts = ["汉", "字", "，", "abcd", "ABc", " ", "2021", "café", "e\u0301", "İ", "xyz", "👍🏽", "\u200b", "가", "豈",
             "〇", "𠀀", "\u3000", "ß", "Σς", "world", "don't", "a" * 99, "±", "①", "½", "\0", "ﬁ"]  # fmt: skip
    for _ in range(500):
        text = "".join(source.choice(parts) for _ in range(source.randrange(12)))
        assert WORDPIECE.encode(text).ids.tolist() == theirs(text)["input_ids"], repr(text)
