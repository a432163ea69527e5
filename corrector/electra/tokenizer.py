"""Characters to tokens and back: the sole owner of token offsets.

Two kinds of vocabulary. A *character* vocabulary gives every code point exactly one token. A *WordPiece* vocabulary
(the public Chinese BERT and ELECTRA releases; some entries start with ``##``) follows BERT's rules in ``wordpiece.py``.
What the model reads is normalised; what the offsets point into is always the text as it was given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corrector.electra import wordpiece
from corrector.electra.marks import MarkTables
from corrector.electra.runtime import Encoding, Ints
from corrector.errors import ModelError

Marker = Callable[[Ints], NDArray[np.integer]]
"""Gives every token of a window, [CLS] and [SEP] included, its type: ids (tokens,) → types (tokens,)."""

PAD, UNKNOWN, CLS, SEP, MASK, SPACE = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[SPACE]"

_WIDTH = 0xFEE0  # full-width forms lie this far above their ASCII twins
_FOLDED = (
    {half: chr(ord(half) + _WIDTH) for half in ",!?;:()"}
    | {chr(ord(letter) + _WIDTH): letter for letter in "0123456789abcdefghijklmnopqrstuvwxyz"}
    | {chr(ord(letter) + _WIDTH): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
)
_LAST_SPACE = 0x3000  # the ideographic space is the highest code point for which str.isspace is true


def normalise_character(char: str) -> str:
    """What a character vocabulary reads for ``char``: full-width punctuation, half-width lower-case letters and digits.

    >>> [normalise_character(char) for char in ",AＢ７汉"]
    ['，', 'a', 'b', '7', '汉']
    """
    folded = _FOLDED.get(char)
    if folded is not None:
        return folded
    lower = char.lower()
    return lower if len(lower) == 1 else char  # 'İ' has a lower case of two code points and stays as it is


@dataclass(frozen=True, eq=False)
class Tokenizer:
    """A vocabulary and the rules to read text with it. ``marker``, when given, supplies the token types."""

    vocabulary: tuple[str, ...]
    marker: Marker | None = None

    @classmethod
    def load(cls, vocab_path: str | Path, marker: Marker | None = None) -> Tokenizer:
        """Read a ``vocab.txt``, one token a line. Raises ModelError if it cannot be read or lacks a special token."""
        try:
            text = Path(vocab_path).read_text(encoding="utf-8")
        except OSError as error:
            raise ModelError(vocab_path, f"cannot be read ({error.strerror}); fetch the model again") from error
        except UnicodeDecodeError as error:
            raise ModelError(vocab_path, "not UTF-8; fetch the model again") from error
        vocabulary = tuple(text.rstrip("\n").split("\n"))  # not splitlines: U+2028 may be a token
        missing = [token for token in (PAD, UNKNOWN, CLS, SEP, MASK) if token not in vocabulary]
        if missing:
            raise ModelError(vocab_path, f"no {', '.join(missing)} in the vocabulary; give a BERT or ELECTRA vocab.txt")
        return cls(vocabulary, marker)

    @cached_property
    def id_of(self) -> Mapping[str, int]:
        """Token to id; the last of two equal lines wins, as in BERT."""
        return {token: identifier for identifier, token in enumerate(self.vocabulary)}

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the vocabulary, a token a line."""
        return hashlib.sha256("".join(f"{token}\n" for token in self.vocabulary).encode()).hexdigest()

    @cached_property
    def is_wordpiece(self) -> bool:
        """True when the vocabulary continues words with ``##`` pieces."""
        return any(token.startswith(wordpiece.CONTINUATION) and len(token) > 2 for token in self.vocabulary)

    @cached_property
    def pad_id(self) -> int:
        return self.id_of[PAD]

    @cached_property
    def unk_id(self) -> int:
        return self.id_of[UNKNOWN]

    @cached_property
    def cls_id(self) -> int:
        return self.id_of[CLS]

    @cached_property
    def sep_id(self) -> int:
        return self.id_of[SEP]

    @cached_property
    def mask_id(self) -> int:
        return self.id_of[MASK]

    def character_ids(self, text: str) -> Ints:
        """The vocabulary id of every character read by itself, [UNK] where it is not one entry: shape (characters,)."""
        if self.is_wordpiece:
            forms = map(wordpiece.normalise_character, text)
            found = (self.id_of.get(form, self.unk_id) if len(form) == 1 else self.unk_id for form in forms)
            return np.fromiter(found, dtype=np.int32, count=len(text))
        codes = _codes(text)
        return self._id_by_code[np.minimum(codes, len(self._id_by_code) - 1)]

    def encode(self, text: str, types: NDArray[np.integer] | None = None) -> Encoding:
        """Read a window as ``[CLS] tokens [SEP]``.

        ``types`` are the token types, shape (tokens,), in place of ``token_types``. A character that makes no token
        (white space and controls under WordPiece) belongs to the token before it and is not whole; one that makes
        several belongs to the first of them.
        """
        ids, token_of, is_whole = self._read(text)
        if types is None:
            return Encoding(ids, self.token_types(ids), token_of, is_whole)
        if types.shape != ids.shape:
            raise ValueError(f"token types of shape {types.shape} for ids of shape {ids.shape}")
        return Encoding(ids, types.astype(np.int32), token_of, is_whole)

    def encode_many(self, texts: Sequence[str]) -> list[Encoding]:
        """``encode`` of every window, with all token types found at once."""
        read = [self._read(text) for text in texts]
        types = self.token_types_many([ids for ids, _, _ in read])
        return [Encoding(ids, own, places, whole) for (ids, places, whole), own in zip(read, types, strict=True)]

    def token_types(self, ids: Ints) -> Ints:
        """The types of these tokens, the same shape: the marker's, or 0. To be asked again when a token was masked."""
        if self.marker is None:
            return np.zeros(ids.shape, dtype=np.int32)
        return self.marker(ids).astype(np.int32)

    def token_types_many(self, windows: Sequence[Ints], wanted: Sequence[NDArray[np.bool_]] | None = None) -> list[Ints]:
        """``token_types`` of every window, right at least where they are ``wanted``: at once, in far less time, where they come from
        ``tables``."""
        if self.tables is None:
            return [self.token_types(ids) for ids in windows]
        return self.tables.types_many(windows, wanted)

    @cached_property
    def tables(self) -> MarkTables | None:
        """The tables whose ``types`` the marker is, if it is."""
        owner = getattr(self.marker, "__self__", None)
        return owner if isinstance(owner, MarkTables) else None

    def _read(self, text: str) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """``ids``, ``token_of`` and ``is_whole`` of an Encoding."""
        return self._read_pieces(text) if self.is_wordpiece else self._read_characters(text)

    def _read_characters(self, text: str) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """``ids``, ``token_of`` and ``is_whole`` of an Encoding, one token a character."""
        count = len(text)
        ids = np.empty(count + 2, dtype=np.int32)
        ids[0], ids[-1] = self.cls_id, self.sep_id
        ids[1:-1] = self.character_ids(text)
        return ids, np.arange(1, count + 1, dtype=np.int32), self._is_character[ids[1:-1]]

    def _read_pieces(self, text: str) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """``ids``, ``token_of`` and ``is_whole`` of an Encoding under WordPiece."""
        ids = [self.cls_id]
        token_of = np.zeros(len(text), dtype=np.int32)
        is_whole = np.zeros(len(text), dtype=np.bool_)
        for piece in wordpiece.pieces(text, self.id_of, self._longest):
            token, first = len(ids), piece.sources[0]
            ids.append(self.unk_id if piece.id is None else piece.id)
            for source in piece.sources:
                if not token_of[source]:
                    token_of[source] = token
            whole = piece.id is not None and piece.starts_word and len(piece.text) == 1
            is_whole[first] = whole and len(wordpiece.normalise_character(text[first])) == 1
        ids.append(self.sep_id)
        # Tokens only grow from left to right, so a running maximum gives characters without a token the one before.
        return np.array(ids, dtype=np.int32), np.maximum.accumulate(token_of), is_whole

    @cached_property
    def _longest(self) -> int:
        """Length in characters of the longest entry, an upper bound for any greedy match."""
        return max(map(len, self.vocabulary))

    @cached_property
    def _is_character(self) -> NDArray[np.bool_]:
        """For each id, whether the entry is one character: shape (vocabulary,)."""
        return np.array([len(token) == 1 for token in self.vocabulary], dtype=np.bool_)

    @cached_property
    def _id_by_code(self) -> Ints:
        """Code point to id under the character rules; the last element, [UNK], stands for every higher code."""
        ids = [identifier for identifier, token in enumerate(self.vocabulary) if len(token) == 1]
        characters = [self.vocabulary[identifier] for identifier in ids]
        cased = [char for char in characters if not char.lower() == char == char.upper()]
        forms = [*cased, *filter(None, map(_upper, cased)), *_FOLDED]
        codes = _codes("".join(characters))
        table = np.full(max(_LAST_SPACE, *map(ord, forms), *codes.tolist()) + 2, self.unk_id, dtype=np.int32)
        table[codes] = ids  # of equal entries the last, as in id_of
        for form in forms:
            table[ord(form)] = self.id_of.get(normalise_character(form), self.unk_id)
        for code in range(_LAST_SPACE + 1):
            if chr(code).isspace():
                table[code] = self.id_of.get(SPACE, self.unk_id)
        return table


def _codes(text: str) -> NDArray[np.uint32]:
    """The code point of every character."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _upper(char: str) -> str:
    """The upper-case form of ``char`` if it is one code point, else ''."""
    upper = char.upper()
    return upper if len(upper) == 1 else ""
