"""From text files to packed tokens, counts and windows.

``pack`` reads plain text (one paragraph a line, .txt or .txt.zst), makes the vocabulary, writes one uint16 array a file,
and counts pairs and triples of characters in the corpus without each of its parts: a window is always marked with the counts
that do *not* have the part it is in, so that the marks tell in training what they will tell about unseen text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corrector.electra.tokenizer import CLS, MASK, PAD, SEP, SPACE, UNKNOWN, Tokenizer, normalise_character
from corrector.errors import InputError
from corrector.similarity.words import is_count, jieba_words, misspelt, misspelt_in
from corrector.train.counts import IN_NONE, contrasts_path, write_marks
from corrector.train.overlap import shared_lines
from corrector.train.word_counts import occurrences

Tokens = NDArray[np.uint16]
SPECIALS = (PAD, UNKNOWN, CLS, SEP, MASK, SPACE)
SENTENCE_ENDS = "。！？；…"
MIN_CHARACTER_COUNT = 3
RECORD = "corpus.json"  # of a packed folder, written when all the rest is there
_AT_A_TIME = 1 << 20  # bytes decompressed


def read_text(path: Path) -> str:
    """A .txt or .txt.zst file, whole. Raises InputError for one that cannot be read as that."""
    failures: tuple[type[Exception], ...] = (OSError, UnicodeDecodeError)
    try:
        data = path.read_bytes()
        if path.suffix == ".zst":
            import zstandard

            failures = (*failures, zstandard.ZstdError, EOFError)
            data = b"".join(_decompressed(data))
        return data.decode("utf-8")
    except failures as error:
        raise InputError(path, f"cannot be read ({error}); give text in UTF-8, plain or compressed by zstd") from error


def _decompressed(data: bytes) -> Iterator[bytes]:
    """What is in all the frames of a zstd file, which may be of several. Raises ZstdError, and EOFError where the last one is cut off."""
    import zstandard

    frames = zstandard.ZstdDecompressor(max_window_size=2**27)
    frame = frames.decompressobj()
    for start in range(0, len(data), _AT_A_TIME):
        piece = data[start : start + _AT_A_TIME]
        while piece:
            if frame.eof:
                frame = frames.decompressobj()
            yield frame.decompress(piece)
            piece = frame.unused_data if frame.eof else b""
    if not frame.eof:
        raise EOFError("the end is missing")


def is_han(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff" or char == "〇" or "\u3400" <= char <= "\u4dbf" or ord(char) >= 0x20000


def make_vocabulary(counts: dict[str, int], extra: str) -> tuple[str, ...]:
    """Specials, then letters, digits and punctuation, then Han characters by falling frequency; ``extra`` are always in."""
    merged = dict.fromkeys(extra, 0)
    for char, count in counts.items():
        form = normalise_character(char)
        merged[form] = merged.get(form, 0) + count
    kept = [char for char, count in merged.items() if count >= MIN_CHARACTER_COUNT or char in extra]
    other = sorted((c for c in kept if not is_han(c) and not c.isspace() and merged[c] >= 100), key=lambda c: (-merged[c], c))
    han = sorted((c for c in kept if is_han(c)), key=lambda c: (-merged[c], c))
    return (*SPECIALS, *other, *han)


def standard_characters() -> str:
    """The 6,763 Han characters of GB 2312: in the vocabulary whether or not the corpus has them."""
    rows = (bytes((high, low)) for high in range(0xB0, 0xF8) for low in range(0xA1, 0xFF))
    return "".join(row.decode("gb2312", "ignore") for row in rows)


def count_characters(text: str, counts: dict[str, int]) -> None:
    codes = np.bincount(np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32))
    for code in np.flatnonzero(codes):
        counts[chr(code)] = counts.get(chr(code), 0) + int(codes[code])


def tokenize_lines(text: str, tokenizer: Tokenizer) -> Tokens:
    """All lines as one array, each ended by [SEP]."""
    ids = tokenizer.character_ids(text).astype(np.uint16)
    newline = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32) == 10
    ids[newline] = tokenizer.sep_id
    return ids


def lexicon_words() -> dict[str, int]:
    """jieba's dictionary: words of two to four Han characters with their frequencies."""
    return {word: count for word, count, _ in jieba_words() if 2 <= len(word) <= 4 and all(map(is_han, word))}


def pack(
    files: list[Path], out: Path, fold_of: dict[str, int], say: Callable[[str], None], extra: str | None = None
) -> None:
    """Write vocab.txt, NAME.npy (tokens), NAME.fold.npy (the part of the corpus each line is in), lexicon.json, and the marks, in place of
    what was learned from other text.

    ``fold_of`` gives the part of each file, from 0 on; files not named are only packed, and their lines are in the part that holds the
    same line, or ``IN_NONE``. Lines that share passages with other parts are left out: of these the counts know too much.
    ``extra`` are characters of the vocabulary that the text need not have; None: ``standard_characters``.

    Raises InputError, before anything is written, for a file that cannot be read, and for one of a part that has nothing to count.
    """
    counts: dict[str, int] = {}
    counts_of: dict[Path, dict[str, int]] = {path: {} for path in files}
    part_of: dict[int, int] = {}  # by the hash of a line
    for path, own_counts in counts_of.items():
        text = read_text(path)
        count_characters(text, own_counts)
        for char, count in own_counts.items():
            counts[char] = counts.get(char, 0) + count
        if path.name in fold_of:
            part_of.update(dict.fromkeys(map(hash, text.split("\n")), fold_of[path.name]))
    vocabulary = make_vocabulary(counts, standard_characters() if extra is None else extra)
    known = set(filter(is_han, vocabulary[len(SPECIALS) :]))
    for path, own_counts in counts_of.items():
        if path.name in fold_of and known.isdisjoint(map(normalise_character, own_counts)):
            raise InputError(path, "no Chinese text in it to count; leave the file out")
    out.mkdir(parents=True, exist_ok=True)
    _forget(out)
    (out / "vocab.txt").write_text("\n".join(vocabulary) + "\n", "utf-8")
    tokenizer = Tokenizer(vocabulary)
    parts: list[list[Tokens]] = [[] for _ in range(max(fold_of.values()) + 1)]
    for path in sorted(files, key=lambda path: path.name not in fold_of):  # those of a part first
        text = read_text(path).rstrip("\n")
        tokens = tokenize_lines(text + "\n", tokenizer)
        name = path.name.split(".")[0]
        own = fold_of.get(path.name)
        fold = np.array([part_of.get(hash(line), IN_NONE) if own is None else own for line in text.split("\n")], dtype=np.int8)
        if own is not None:
            parts[own].append(tokens)
        else:
            kept = ~shared_lines(tokens, fold, parts, tokenizer.sep_id)
            say(f"{name}: {kept.mean():.0%} of {len(fold):,} lines kept, the others share passages with other text")
            ends = tokens == tokenizer.sep_id
            tokens, fold = tokens[kept[ends.cumsum() - ends]], fold[kept]
        np.save(out / f"{name}.npy", tokens)
        np.save(out / f"{name}.fold.npy", fold)
    lexicon = lexicon_words()
    (out / "lexicon.json").write_text(json.dumps(lexicon, ensure_ascii=False), "utf-8")
    wrong = misspelt(lexicon) | misspelt_in(occurrences(lexicon, vocabulary, chain.from_iterable(parts)))
    words = [word for word in lexicon if word not in wrong and not is_count(word)]  # those make realistic noise, but are no words to mark
    write_marks(out, parts, vocabulary, words, len(SPECIALS), say)


def _forget(data: Path) -> None:
    """Take the record of a packed folder away, so that nobody reads it until it is whole again, and what is not written in any case."""
    for pattern in (RECORD, "marks.*.npz", "words.*.npz", contrasts_path(data).name):
        for path in data.glob(pattern):
            path.unlink()


@dataclass(frozen=True, eq=False)
class Shard:
    """Packed tokens of one file and, per token, nothing more: starts of sentences and the part of the corpus of each line."""

    tokens: Tokens
    sentence_starts: NDArray[np.int64]
    line_ends: NDArray[np.int64]
    folds: NDArray[np.int8]

    @classmethod
    def load(cls, path: Path, vocabulary: tuple[str, ...]) -> Shard:
        tokens = np.load(path)
        ends = [vocabulary.index(SEP), *(vocabulary.index(c) for c in SENTENCE_ENDS if c in vocabulary)]
        starts = np.flatnonzero(np.isin(tokens[:-1], ends)) + 1
        line_ends = np.flatnonzero(tokens == vocabulary.index(SEP))
        return cls(tokens, np.concatenate([[0], starts]), line_ends, np.load(path.with_suffix(".fold.npy")))

    def window(self, nominal: int, length: int, cls_id: int, sep_id: int) -> tuple[Tokens, int]:
        """[CLS] + tokens from the sentence start nearest before ``nominal`` + [SEP] (``length`` in all), and the line's part."""
        place = int(np.searchsorted(self.sentence_starts, nominal, side="right")) - 1
        start = int(self.sentence_starts[place])
        if nominal - start > length // 2:
            start = nominal
        start = min(start, len(self.tokens) - length)
        window = np.empty(length, dtype=np.uint16)
        window[0], window[-1] = cls_id, sep_id
        window[1:-1] = self.tokens[start : start + length - 2]
        return window, int(self.folds[np.searchsorted(self.line_ends, start)])


class WindowStream:
    """Windows of the shards in a seeded order without end; ``position`` (epoch, index) resumes it exactly."""

    def __init__(self, shards: list[Shard], seed: int, cls_id: int, sep_id: int) -> None:
        self.shards, self.seed, self.cls_id, self.sep_id = shards, seed, cls_id, sep_id
        self.lengths = np.cumsum([len(shard.tokens) for shard in shards])
        self.epoch, self.index, self.step = 0, 0, 1
        self._order: tuple[int, int, NDArray[np.int64]] | None = None

    def share(self, number: int, count: int, seed: int) -> None:
        """From here on give every ``count``-th window, from ``number`` on, of the order of another seed."""
        self.seed, self.epoch, self.index, self.step = seed, 0, number, count

    def batch(self, count: int, length: int) -> tuple[Tokens, NDArray[np.int64]]:
        """``count`` windows (count, length) and their parts of the corpus (count,)."""
        windows = np.empty((count, length), dtype=np.uint16)
        folds = np.empty(count, dtype=np.int64)
        for row in range(count):
            order = self._ordered(length)
            while self.index >= len(order):  # twice, where windows have become much longer
                self.epoch, self.index = self.epoch + 1, self.index - len(order)
                order = self._ordered(length)
            nominal = int(order[self.index]) * (length - 2)
            self.index += self.step
            shard = int(np.searchsorted(self.lengths, nominal, side="right"))
            before = 0 if shard == 0 else int(self.lengths[shard - 1])
            windows[row], folds[row] = self.shards[shard].window(nominal - before, length, self.cls_id, self.sep_id)
        return windows, folds

    def _ordered(self, length: int) -> NDArray[np.int64]:
        if self._order is None or self._order[:2] != (self.epoch, length):
            rng = np.random.default_rng((self.seed, self.epoch, length))
            total = int(self.lengths[-1]) // (length - 2) - 1
            self._order = (self.epoch, length, rng.permutation(total))
        return self._order[2]


def load_shards(data: Path, names: list[str], vocabulary: tuple[str, ...]) -> list[Shard]:
    return [Shard.load(data / f"{name}.npy", vocabulary) for name in names]
