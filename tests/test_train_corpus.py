from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrector.electra.tokenizer import Tokenizer
from corrector.electra.word_model import WordModel
from corrector.errors import ConfigError, InputError
from corrector.similarity.glyph import glyph_similarity
from corrector.similarity.pinyin import nearest_by_sound, pinyin_similarity
from corrector.train import corpus, overlap, prepare
from corrector.train.corpus import SPECIALS, Shard, WindowStream
from corrector.train.counts import IN_NONE, LOOK_ALIKES, check_part, load_marks, look_alikes, words_path
from corrector.train.keys import count_keys
from corrector.train.noise_tables import NoiseTables
from corrector.train.overlap import GRAM
from corrector.train.prepare import describe, expand, read_record, shard_names

FIRST, SECOND = "春天来了。花开了，鸟叫了！\n", "秋天走了。叶落了，人归了！\n"
CLS_ID, SEP_ID = SPECIALS.index("[CLS]"), SPECIALS.index("[SEP]")


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """春天 is only in the first part, 秋天 only in the second; the clean text has the line of the first, and another one."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "raw-0.txt").write_text(FIRST * 30, "utf-8")
    (folder / "raw-1.txt").write_text(SECOND * 30, "utf-8")
    (folder / "clean-0.txt").write_text(FIRST + SECOND.replace("。", "") + "\n\n", "utf-8")
    files = [folder / f"{name}.txt" for name in ("raw-0", "raw-1", "clean-0")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "lexicon_words", lambda: {"春天": 9, "天来了": 2, "春天来了": 3, "冬天": 5})
        said: list[str] = []
        corpus.pack(files, folder / "data", {"raw-0.txt": 0, "raw-1.txt": 1}, said.append, extra="鬱")
    assert said.pop(0) == "clean-0: 100% of 2 lines kept, the others share passages with other text"
    assert [line.split(" ", 1)[1] for line in said[:3]] == ["text into words", "pairs and triples of words", "words near one another"]
    assert [line.split()[-1] for line in said[3:]] == ["marks.without-0.npz", "marks.without-1.npz", "marks.all.npz"]
    return folder / "data"


@pytest.fixture(scope="module")
def tokenizer(packed: Path) -> Tokenizer:
    return Tokenizer.load(packed / "vocab.txt")


def test_vocabulary_order_and_threshold() -> None:
    counts = {"了": 9, "天": 10, "罕": 2, "，": 200, ",": 5, "A": 100, "a": 50, "~": 3}
    assert corpus.make_vocabulary(counts, "鬱") == (*SPECIALS, "，", "a", "天", "了", "鬱")


def test_what_is_frequent_enough_for_the_vocabulary() -> None:
    counts = {"天": 500, "有": 3, "罕": 2, "b": 100, "c": 99, "\u3000": 900, "\n": 900}
    assert corpus.make_vocabulary(counts, "") == (*SPECIALS, "b", "天", "有")


@pytest.mark.parametrize("char", "〇一鿿㐀䶿𠀀")
def test_first_and_last_of_the_han_characters(char: str) -> None:
    assert corpus.is_han(char)


@pytest.mark.parametrize("char", "A，\u33ff䷀ꀀ𝄀")
def test_what_is_no_han_character(char: str) -> None:
    assert not corpus.is_han(char)


def test_characters_are_added_up() -> None:
    counts = {"天": 2}
    corpus.count_characters("天𠀀天\n", counts)
    assert counts == {"天": 4, "𠀀": 1, "\n": 1}


def test_standard_characters() -> None:
    characters = corpus.standard_characters()
    assert len(set(characters)) == len(characters) == 6763 and characters[0] == "啊" and characters[-1] == "齄"
    assert all(map(corpus.is_han, characters))


def test_words_of_two_to_four_han_characters_are_the_lexicon(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("中", "中国", "T恤", "共和国", "一九六六", "中国共产党")
    monkeypatch.setattr(corpus, "jieba_words", lambda: [(word, number, "n") for number, word in enumerate(words)])
    assert corpus.lexicon_words() == {"中国": 1, "共和国": 3, "一九六六": 4}


def test_tokens_spell_the_text(packed: Path, tokenizer: Tokenizer) -> None:
    tokens = np.load(packed / "raw-0.npy")
    assert tokens.dtype == np.uint16
    spelt = "".join(tokenizer.vocabulary[i] for i in tokens[: len(FIRST)])
    assert spelt == FIRST.replace("\n", "[SEP]").replace("，", "[UNK]").replace("！", "[UNK]").replace("。", "[UNK]")
    assert (tokens == SEP_ID).sum() == 30
    assert "鬱" in tokenizer.vocabulary


def test_words_are_counted_in_all_of_the_raw_text(packed: Path, tokenizer: Tokenizer) -> None:
    model = WordModel.load(words_path(packed, IN_NONE), load_marks(packed)[-1].sets)
    assert model.vocabulary_size == len(tokenizer.vocabulary)
    assert model.count == model.vocabulary_size + 3  # 冬 is not in the text
    lines = tokenizer.character_ids("春天来了").astype(np.int64)[None], tokenizer.character_ids("来天春了").astype(np.int64)[None]
    right, shuffled = (float(model.score(line)[0]) for line in lines)
    assert right > shuffled + 3


def test_parts_of_lines(packed: Path) -> None:
    assert np.load(packed / "raw-0.fold.npy").tolist() == [0] * 30
    assert np.load(packed / "raw-1.fold.npy").tolist() == [1] * 30
    assert np.load(packed / "clean-0.fold.npy").tolist() == [0, IN_NONE]  # the part that has the same line


def test_text_that_shares_passages_is_left_out_and_numbers_are_no_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clean text comes first; a line of raw text that another part has too is of its own part."""
    passage = "因为昨天晚上终于收到了录取通知书"
    texts = {"clean": f"他说{passage}\n一九六六年\n春天来了\n", "a": f"春天来了\n我{passage}\n一九六六\n", "b": "春天来了\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text * (1 if name == "clean" else 3), "utf-8")
    monkeypatch.setattr(overlap, "SAMPLED", 1)
    monkeypatch.setattr(corpus, "lexicon_words", lambda: {"春天": 9, "一九六六": 9})
    out, said = tmp_path / "new" / "data", list[str]()
    corpus.pack([tmp_path / f"{name}.txt" for name in texts], out, {"a.txt": 0, "b.txt": 1}, said.append, extra=passage)
    tokenizer = Tokenizer.load(out / "vocab.txt")
    assert "clean: 67% of 3 lines kept, the others share passages with other text" in said
    assert np.load(out / "clean.npy").tolist() == corpus.tokenize_lines("一九六六年\n春天来了\n", tokenizer).tolist()
    assert np.load(out / "clean.fold.npy").tolist() == [IN_NONE, 1]
    assert np.load(out / "a.fold.npy").tolist() == [0] * 9
    assert [len(words.keys) for words in load_marks(out)[-1].sets] == [1, 0, 0]


def test_a_part_is_left_out_of_the_pairs(packed: Path, tokenizer: Tokenizer) -> None:
    spring, autumn = (tokenizer.character_ids(word) for word in ("春天", "秋天"))
    steps = {}
    for name, marks in zip(("0", "1", "all"), load_marks(packed), strict=True):
        ngrams = marks.ngrams
        assert ngrams is not None and marks.associated is not None
        steps[name] = [int(ngrams.pair_step(*ids.reshape(2, 1))[0]) for ids in (spring, autumn)]
    # 30 occurrences are where step 5 begins; of half a corpus the limits are half as high, and step 6 begins at 30.
    assert steps == {"0": [0, 6], "1": [6, 0], "all": [5, 5]}


def test_characters_count_as_if_of_the_whole(packed: Path, tokenizer: Tokenizer) -> None:
    spring, both = (tokenizer.id_of[char] for char in "春了")
    counts = [marks.ngrams.counts for marks in load_marks(packed)]  # type: ignore[union-attr]
    total = [len(np.load(packed / f"raw-{number}.npy")) for number in (0, 1)]
    without_0, without_1 = (sum(total) / total[number] for number in (1, 0))
    assert [found[spring] for found in counts] == pytest.approx([0, 30 * without_1, 30])
    assert [found[both] for found in counts] == pytest.approx([90 * without_0, 90 * without_1, 180])
    assert all(not found[: len(SPECIALS)].any() for found in counts)


def test_counts_of_an_older_folder_are_refused(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "marks.all.npz").write_bytes((packed / "marks.all.npz").read_bytes())
    with pytest.raises(InputError, match="without each part"):
        load_marks(tmp_path)


def test_a_part_that_there_is_not(packed: Path, tmp_path: Path) -> None:
    check_part(packed, 1)
    with pytest.raises(InputError, match="without part 2; its text is in the parts 0 to 1, the raw files dealt out to them in turn"):
        check_part(packed, 2)
    with pytest.raises(InputError, match=r"without part 0; make the folder with .*pack"):
        check_part(tmp_path, 0)


def test_words_of_the_lexicon_are_marked(packed: Path, tokenizer: Tokenizer) -> None:
    marks = load_marks(packed)[1]
    assert (marks.types(tokenizer.character_ids("春天来了")) % 16).tolist() == [2 | 8, 1 | 4 | 8, 4 | 8, 4 | 8]


def test_counted_keys() -> None:
    tokens = np.array([6, 7, 6, 7, 3, 6, 7, 1, 8], dtype=np.uint16)
    keys, counts = count_keys([tokens], 2, 10, 1, 6)
    assert dict(zip(keys.tolist(), counts.tolist(), strict=True)) == {67: 3, 76: 1}
    keys, counts = count_keys([tokens, tokens], 3, 10, 2, 6)
    assert dict(zip(keys.tolist(), counts.tolist(), strict=True)) == {676: 2, 767: 2}


@given(
    st.lists(st.lists(st.integers(0, 20), max_size=60), min_size=1, max_size=4),
    st.integers(2, 3),
    st.integers(1, 3),
    st.integers(0, 4),
)
def test_counted_keys_are_those_of_a_counter(texts: list[list[int]], size: int, at_least: int, specials: int) -> None:
    grams = Counter(tuple(text[i : i + size]) for text in texts for i in range(len(text) - size + 1))
    expected = {
        functools.reduce(lambda key, token: key * 21 + token, gram): count
        for gram, count in grams.items()
        if count >= at_least and min(gram) >= specials
    }
    keys, counts = count_keys([np.array(text, dtype=np.uint16) for text in texts], size, 21, at_least, specials)
    assert keys.tolist() == sorted(expected)
    assert dict(zip(keys.tolist(), counts.tolist(), strict=True)) == expected


def test_clean_lines_that_share_passages_with_other_parts_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "SAMPLED", 1)
    rng, end = np.random.default_rng(1), 3
    passage, own, other = (rng.integers(6, 900, size) for size in (GRAM, GRAM + 9, GRAM + 9))
    parts = [[np.concatenate([other, [end], passage, [end]])], [np.concatenate([own, passage[1:], [end]])], []]
    lines = [
        np.concatenate([own[5:], passage]),  # all of it stands in part 1, but for what it begins with in part 0
        np.concatenate([own[:6], passage[:-1], own[6:12]]),  # one token of the passage is missing
        np.concatenate([rng.integers(6, 900, 4), passage, rng.integers(6, 900, 4)]),
        own,
        own[: GRAM - 1],
    ]
    tokens = np.concatenate([np.append(line, end) for line in lines])
    assert overlap.shared_lines(tokens, np.array([1, 1, 1, 1, 1]), parts, end).tolist() == [True, False, True, False, False]
    assert overlap.shared_lines(tokens, np.array([0, 0, 0, IN_NONE, 0]), parts, end).tolist() == [True, False, False, True, False]
    assert not overlap.shared_lines(np.array([end]), np.array([IN_NONE]), parts, end).any()


def test_look_alikes_are_similar_and_common() -> None:
    vocabulary = (*SPECIALS, "，", "型", "形", "行", "兴", "木")
    alike, similarity = look_alikes(vocabulary, np.full(len(vocabulary), 100))
    assert alike.shape == similarity.shape == (len(vocabulary), LOOK_ALIKES)
    others = [vocabulary[i] for i in alike[vocabulary.index("形")] if i]
    assert others[0] == "型" and "行" in others and "形" not in others
    for token, row, how_much in zip(vocabulary, alike, similarity, strict=True):
        kept = np.count_nonzero(row)
        assert not row[kept:].any() and not how_much[kept:].any()
        assert how_much[:kept].tolist() == sorted(how_much[:kept].tolist(), reverse=True)
        for other, found in zip(row[:kept], how_much[:kept], strict=True):
            pair = token, vocabulary[other]
            assert found == round(255 * max(pinyin_similarity(*pair), glyph_similarity(*pair)))
    assert not alike[: len(SPECIALS) + 1].any()


def test_of_equally_similar_look_alikes_the_common_ones_are_kept() -> None:
    homophones = "".join(char for char, likeness in nearest_by_sound("亿", 200) if likeness >= 0.9)
    assert len(homophones) > LOOK_ALIKES + 10
    vocabulary = (*SPECIALS, "亿", *homophones)
    counts = np.full(len(vocabulary), 10)
    common = [vocabulary.index(char) for char in homophones[-5:]]  # the last of all, were it for likeness in sound alone
    counts[common] = 1_000_000
    alike, _ = look_alikes(vocabulary, counts)
    kept = alike[vocabulary.index("亿")].tolist()
    assert 0 not in kept and set(common) <= set(kept)


def test_window_starts_at_a_sentence_unless_that_is_far(packed: Path, tokenizer: Tokenizer) -> None:
    shard = Shard.load(packed / "raw-0.npy", tokenizer.vocabulary)
    line = len(FIRST)
    window, fold = shard.window(line + 3, 10, CLS_ID, SEP_ID)
    assert window.tolist() == [CLS_ID, *shard.tokens[line : line + 8], SEP_ID]
    assert fold == 0
    assert shard.window(line + 5, 10, CLS_ID, SEP_ID)[0].tolist() == window.tolist()  # half a window is not far
    window, _ = shard.window(line + 3, 4, CLS_ID, SEP_ID)
    assert window.tolist() == [CLS_ID, *shard.tokens[line + 3 : line + 5], SEP_ID]


def test_a_window_is_of_the_part_of_its_first_line(packed: Path, tokenizer: Tokenizer) -> None:
    shard = Shard.load(packed / "clean-0.npy", tokenizer.vocabulary)
    parts = [shard.window(nominal, 6, CLS_ID, SEP_ID)[1] for nominal in range(len(shard.tokens))]
    assert parts == [0] * len(FIRST) + [IN_NONE] * (len(SECOND) - 1)


def test_window_at_the_end_is_full(packed: Path, tokenizer: Tokenizer) -> None:
    shard = Shard.load(packed / "raw-1.npy", tokenizer.vocabulary)
    window, fold = shard.window(len(shard.tokens) - 1, 12, CLS_ID, SEP_ID)
    assert len(window) == 12 and window[-1] == SEP_ID
    assert fold == 1


def stream(packed: Path, tokenizer: Tokenizer, seed: int = 1) -> WindowStream:
    shards = corpus.load_shards(packed, ["raw-0", "raw-1"], tokenizer.vocabulary)
    return WindowStream(shards, seed, CLS_ID, SEP_ID)


def test_stream_goes_on_exactly(packed: Path, tokenizer: Tokenizer) -> None:
    whole = stream(packed, tokenizer)
    for _ in range(7):
        whole.batch(9, 12)
    assert whole.epoch == 0
    resumed = stream(packed, tokenizer)
    resumed.epoch, resumed.index = whole.epoch, whole.index
    for length in (12, 12, 12, 20, 20):  # across the end of the epoch and a longer window
        expected, found = whole.batch(9, length), resumed.batch(9, length)
        assert (expected[0] == found[0]).all() and (expected[1] == found[1]).all()
    assert whole.epoch > 0


def test_windows_of_an_epoch_do_not_overlap() -> None:
    """But for the last one of a shard that is no multiple of their text; two shards of one line without sentences."""
    texts = np.arange(6, 106), np.arange(206, 306)
    shards = [Shard(text.astype(np.uint16), np.array([0]), np.array([99]), np.array([0], dtype=np.int8)) for text in texts]
    windows, _ = WindowStream(shards, 1, CLS_ID, SEP_ID).batch(19, 12)
    assert sorted(windows[:, 1].tolist()) == [*range(6, 96, 10), 94, *range(206, 296, 10)]
    assert (windows[:, 1:-1] == windows[:, 1:2] + np.arange(10)).all()


def test_windows_that_become_much_longer(packed: Path, tokenizer: Tokenizer) -> None:
    """So far into an epoch of short windows that one of long ones has not so many, even twice over."""
    windows = stream(packed, tokenizer)
    windows.batch(150, 6)
    assert windows.epoch == 0
    assert windows.batch(3, 60)[0].shape == (3, 60)
    assert windows.epoch > 1


def test_stream_depends_on_seed_and_gives_the_half_of_each_window(packed: Path, tokenizer: Tokenizer) -> None:
    windows, folds = stream(packed, tokenizer).batch(40, 12)
    others, _ = stream(packed, tokenizer, seed=2).batch(40, 12)
    assert (windows != others).any()
    assert set(folds.tolist()) == {0, 1}
    autumn = tokenizer.id_of["秋"]
    assert (folds[(windows == autumn).any(1)] == 1).all()


def test_workers_share_out_the_windows_of_an_epoch(packed: Path, tokenizer: Tokenizer) -> None:
    whole = stream(packed, tokenizer, seed=7)
    windows = [whole.batch(1, 12)[0].tolist() for _ in range(30)]
    assert whole.epoch == 0
    for number in range(3):
        own = stream(packed, tokenizer)
        own.share(number, 3, seed=7)
        assert [own.batch(1, 12)[0].tolist() for _ in range(10)] == windows[number::3]


def test_reading_zstandard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "a.txt.zst"
    whole, more = (zstandard.ZstdCompressor().compress(text.encode()) for text in (FIRST, SECOND * 9))
    path.write_bytes(whole)
    assert corpus.read_text(path) == FIRST
    path.write_bytes(whole + b"\x50\x2a\x4d\x18\x02\x00\x00\x00no" + more)  # a frame to skip between two
    assert corpus.read_text(path) == FIRST + SECOND * 9
    monkeypatch.setattr(corpus, "_AT_A_TIME", 7)
    assert corpus.read_text(path) == FIRST + SECOND * 9


@pytest.mark.parametrize("kept", [0, 3, 30, -1])
def test_zstandard_that_was_cut_off(tmp_path: Path, kept: int) -> None:
    """Of two frames: nothing, not even the head, the first one in part, all but the last byte."""
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "a.txt.zst"
    path.write_bytes((zstandard.ZstdCompressor().compress(FIRST.encode()) + zstandard.ZstdCompressor().compress(SECOND.encode()))[:kept])
    with pytest.raises(InputError, match=r"a\.txt\.zst: cannot be read \(the end is missing\)"):
        corpus.read_text(path)


def test_text_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    for name, data in (("gbk.txt", "汉字".encode("gbk")), ("plain.txt.zst", FIRST.encode())):
        (tmp_path / name).write_bytes(data)
    for name in ("none.txt", "gbk.txt", "plain.txt.zst"):
        with pytest.raises(InputError, match=rf"{name}: cannot be read \(.*give text in UTF-8"):
            corpus.read_text(tmp_path / name)


def test_expand_takes_files_and_patterns(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "c.md"):
        (tmp_path / name).touch()
    expected = [tmp_path / "a.txt", tmp_path / "b.txt"]
    assert expand([str(tmp_path / "*.txt"), str(tmp_path / "a.txt")]) == expected
    (tmp_path / "d[1].txt").touch()
    assert expand([str(tmp_path / "d[1].txt")]) == [tmp_path / "d[1].txt"]  # a file that is there, and no pattern
    with pytest.raises(InputError, match="no such file"):
        expand([str(tmp_path / "*.zst")])


def test_prepare_needs_two_raw_files_of_different_names(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="two files at least"):
        prepare.prepare([tmp_path / "a.txt"], [], tmp_path / "out", None, print)
    same = [tmp_path / "a.txt", tmp_path / "sub" / "a.txt.zst"]
    with pytest.raises(ConfigError, match="rename one"):
        prepare.prepare(same, [], tmp_path / "out", None, print)
    for name in ("features.txt", "words.a.txt.zst", "corpus.txt", "noise", ".txt"):
        with pytest.raises(ConfigError, match=rf"pack: .*{name}: shards are named after their files, and this name is taken: rename it"):
            prepare.prepare([tmp_path / "a.txt", tmp_path / "b.txt"], [tmp_path / name], tmp_path / "out", None, print)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(FIRST * 30, "utf-8")
    with pytest.raises(InputError, match=r"ids\.txt: no such file"):
        prepare.prepare([tmp_path / "a.txt", tmp_path / "b.txt"], [], tmp_path / "out", tmp_path / "ids.txt", lambda _: None, extra="")
    assert not (tmp_path / "out").exists()


def test_every_file_of_a_packed_folder_besides_the_text_is_reserved(packed: Path) -> None:
    own = {path.name.split(".")[0] for path in packed.iterdir()} - {"raw-0", "raw-1", "clean-0"}
    assert own | {"corpus", "features", "noise", "contrasts"} == set(prepare.RESERVED)


@pytest.mark.parametrize("text", ["", "\n\n", "，。\n", "hello\n", "霡霡\n"])
def test_raw_text_with_nothing_to_count(tmp_path: Path, text: str) -> None:
    """The last is of a character that is too rare for the vocabulary."""
    for number, content in enumerate((FIRST * 30, text)):
        (tmp_path / f"raw-{number}.txt").write_text(content, "utf-8")
    raw, out = [tmp_path / "raw-0.txt", tmp_path / "raw-1.txt"], tmp_path / "out"
    with pytest.raises(InputError, match=r"raw-1\.txt: no Chinese text in it to count; leave the file out"):
        prepare.prepare(raw, [], out, None, lambda _: None, extra="")
    assert not out.exists()


def test_packing_into_a_used_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing stays that was made of the text before: not counts of more parts, not contrasts; cut off, it is no packed folder."""
    raw, out = [tmp_path / f"raw-{number}.txt" for number in range(3)], tmp_path / "out"
    for path, text in zip(raw, (FIRST, SECOND, FIRST + SECOND), strict=True):
        path.write_text(text * 30, "utf-8")
    monkeypatch.setattr(corpus, "lexicon_words", lambda: {"春天": 9, "冬天": 5})

    def pack(paths: list[Path]) -> None:
        assert prepare.prepare(paths, [], out, None, lambda _: None, extra="") == read_record(out)
        size = len((out / "vocab.txt").read_text("utf-8").splitlines())
        assert len(NoiseTables.load(out / "noise.npz").is_han) == len(np.load(out / "features.npy")) == size

    pack(raw)
    assert len(load_marks(out)) == 4
    (out / "contrasts.npz").write_bytes(b"of that text")
    (out / "notes.txt").write_text("my own", "utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(corpus, "write_marks", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            pack(raw[:2])
    with pytest.raises(InputError, match=r"corpus\.json: cannot be read"):
        read_record(out)
    assert not [path.name for pattern in ("contrasts*", "marks*", "words*") for path in out.glob(pattern)]
    pack(raw[:2])
    assert len(load_marks(out)) == 3 and read_record(out).raw == ("raw-0", "raw-1")
    assert (out / "notes.txt").is_file()
    raw[2].write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"raw-2\.txt: cannot be read"):
        pack(raw)
    assert read_record(out).raw == ("raw-0", "raw-1")  # text that cannot be packed harms nothing


def test_record_with_names_only_is_completed(packed: Path, tmp_path: Path) -> None:
    for path in packed.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "corpus.json").write_text(json.dumps({"raw": ["raw-0", "raw-1"], "clean": ["clean-0"]}), "utf-8")
    record = read_record(tmp_path)
    assert shard_names(tmp_path) == (("raw-0", "raw-1"), ("clean-0",))
    assert record.tokens == 31 * (len(FIRST) + len(SECOND)) - 1
    assert record.characters == 31 * 20
    assert record == describe(packed, ["raw-0", "raw-1"], ["clean-0"])
    assert record.sha256 != describe(packed, ["raw-1", "raw-0"], ["clean-0"]).sha256


@pytest.mark.parametrize("text", ["", "[]", '{"raw": ["a"]}', '{"raw": "a", "clean": []}'])
def test_unusable_record(tmp_path: Path, text: str) -> None:
    (tmp_path / "corpus.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"corpus\.json.*pack"):
        shard_names(tmp_path)
