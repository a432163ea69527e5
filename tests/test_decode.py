from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.errors import InputError
from corrector.text.decode import Decoder
from corrector.text.files import decode, encode, read_blocks
from corrector.text.guess import guess_encoding

SIMPLIFIED = "今天的天气很好，我们一起去公园散步。路上看到许多人在唱歌，大家都说这里比以前漂亮多了。\r\n"
TRADITIONAL = "今天的天氣很好，我們一起去公園散步。路上看到許多人在唱歌，大家都說這裡比以前漂亮多了。\r\n"
HONG_KONG = "佢哋話今日嘅天氣好好，我哋一齊去公園行下啦。呢度嘅人都好鍾意喺度唱歌，真係好開心。\n"
KOREAN = "안녕하세요. 오늘은 날씨가 매우 좋습니다. 우리는 공원에 가서 산책을 하고 커피를 마셨습니다. 대한민국의 수도는 서울이다.\n"
JAPANESE = "日本語の文章です。今日は天気がとても良いので、公園に行って散歩をしました。東京都知事選挙の結果が出た。\n"
RUSSIAN = "Сегодня очень хорошая погода, мы пошли в парк и пили кофе. Русский текст в старой кодировке.\n"
FRENCH = "L'été dernier, à la fenêtre, où étaient passées les élèves naïves ? Ça dépend du goût.\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (SIMPLIFIED, "gb18030"),
        (TRADITIONAL, "gb18030"),
        (SIMPLIFIED + "\U00020000", "gb18030"),  # four bytes
        (TRADITIONAL, "big5"),
        (TRADITIONAL + "€", "cp950"),
        (HONG_KONG, "big5hkscs"),
        (SIMPLIFIED, "utf-16-le"),
        (TRADITIONAL, "utf-16-be"),
        ("plain ASCII first\r\n" * 20_000 + SIMPLIFIED, "gb18030"),
    ],
)
def test_chinese_in_another_encoding_is_found_out(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    for name in (None, "auto"):
        document = decode(data, "a.txt", name)
        assert (document.text, document.encoding, document.newline) == (text, encoding, "\n" if text == HONG_KONG else "\r\n")
        assert encode(document.text, document.encoding) == data


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("联通", "gb18030"),  # two characters prove nothing
        ("人大", "utf-16-le"),
        ("abc\n" * 20, "utf-16-le"),  # nothing Chinese in it
        ("讽家国溯刹到当厩蛾大后", "gb18030"),  # as common in Big5: 當模弊咁价善絞學圓湮綴
        ("嘅" * 50, "big5hkscs"),  # one character over and over is no prose
        (KOREAN, "euc_kr"),
        (KOREAN, "cp949"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (FRENCH, "latin-1"),
        (FRENCH, "cp437"),
    ],
)
def test_what_is_not_surely_chinese_stays_an_error(text: str, encoding: str) -> None:
    with pytest.raises(InputError, match=r"a\.txt:?\d*: (not valid UTF-8 \(byte \d+\)|NUL at byte \d+)(.|\n)*--encoding"):
        decode(text.encode(encoding), "a.txt")


def test_random_bytes_are_no_chinese() -> None:
    randomness = random.Random(1)
    for _ in range(300):
        assert guess_encoding(b"\xff" + randomness.randbytes(randomness.choice((20, 200, 5000)))) is None


def test_a_named_encoding_is_never_doubted() -> None:
    with pytest.raises(InputError, match="not valid UTF-8"):
        decode(SIMPLIFIED.encode("gb18030"), "a.txt", "utf-8")
    assert decode("错对".encode(), "a.txt", "gb18030").text == "错对".encode().decode("gb18030")  # however wrong
    with pytest.raises(InputError, match=r"NUL at byte \d+: a binary file, or UTF-16"):
        decode(SIMPLIFIED.encode("utf-16-le"), "a.txt", "big5")


def test_utf_8_and_marks_are_certain() -> None:
    assert decode(SIMPLIFIED.encode(), None).encoding == "utf-8"
    assert decode("\ufeff一".encode("utf-16-be"), None).encoding == "utf-16-be"
    for begin in ("\ufeff", "\ufeffa"):  # of which GB18030 would make 锘縜
        with pytest.raises(InputError, match="not valid UTF-8"):
            decode(begin.encode() + SIMPLIFIED.encode("gb18030"), "a.txt")


class Pieces:
    """A stream that gives its bytes in the pieces they came in, as a slow pipe does."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = iter(pieces)

    def read1(self, size: int, /) -> bytes:
        return next(self._pieces, b"")


def test_a_stream_turns_to_another_encoding_while_it_is_still_ascii() -> None:
    data = SIMPLIFIED.encode("gb18030")
    blocks = list(read_blocks(Pieces(b"first\n", b"sec", b"ond\n" + data, data)))
    assert "".join(block.text for block in blocks) == "first\nsecond\n" + SIMPLIFIED * 2
    assert blocks[-1].encoding == "gb18030"
    assert b"".join(encode(block.text, block.encoding) for block in blocks) == b"first\nsecond\n" + data * 2


def test_a_stream_that_has_shown_utf_8_stays_with_it() -> None:
    stream = read_blocks(Pieces("错\n".encode(), b"a\n", SIMPLIFIED.encode("gb18030")))
    assert [next(stream).text, next(stream).text] == ["错\n", "a\n"]
    with pytest.raises(InputError, match=r"<stdin>:3: not valid UTF-8 \(byte 6\); pass --encoding gb18030"):
        list(stream)


def test_a_stream_cut_in_the_middle_of_its_first_character() -> None:
    data = SIMPLIFIED.encode("gb18030")
    decoder = Decoder(None)
    assert decoder.feed(b"a\n") == "a\n"
    assert decoder.feed(b"\xe4") == ""  # so far it may be UTF-8 as well as the first half of a character in GB18030
    assert decoder.feed(b"\xe3" + data, final=True) == (b"\xe4\xe3" + data).decode("gb18030")
    assert decoder.encoding == "gb18030"


def test_a_guess_that_fails_later_names_itself() -> None:
    data = SIMPLIFIED.encode("gb18030")
    decoder = Decoder("a.txt")
    decoder.feed(data)
    with pytest.raises(InputError) as caught:
        decoder.feed(b"a\n\xff\n")
    assert str(caught.value) == (
        f"a.txt:3: not valid GB18030 (byte {len(data) + 2}); it began like GB18030 and was not valid UTF-8; "
        "pass the encoding it is in with --encoding"
    )


def test_a_guess_that_fails_at_once_is_none() -> None:
    with pytest.raises(InputError, match=r"^a\.txt:1: not valid UTF-8 \(byte 0\); pass --encoding gb18030$"):
        decode(SIMPLIFIED.encode("gb18030") + b"\xb5", "a.txt")  # its last character is cut off


def test_an_error_amid_an_encoding_with_states_is_told() -> None:
    data = "一三\n".encode("hz")
    decoder = Decoder("a.txt", "hz")
    assert decoder.feed(data[:4]) == "一"
    with pytest.raises(InputError, match=r"^a\.txt:1: not valid HZ \(byte 8\); pass"):
        decoder.feed(data[4:8] + b"\xff")


def test_ascii_is_in_no_encoding_of_its_own() -> None:
    assert guess_encoding(b"") is guess_encoding(b"plain\n") is None


@settings(deadline=None)
@given(st.integers(0, 90), st.sampled_from(["gb18030", "big5", "utf-16-le", "utf-16-be"]))
def test_a_sample_may_end_anywhere(cut: int, encoding: str) -> None:
    data = (TRADITIONAL * 3).encode(encoding)
    assert guess_encoding(data[: len(data) - cut]) == encoding


@settings(deadline=None, max_examples=50)
@given(
    st.text(st.sampled_from("的一是不了在人有我他這们中来上大为和国地到以説时abc，。\n"), min_size=40),
    st.sampled_from(["gb18030", "utf-16-le"]),
)
def test_what_is_guessed_is_written_back_as_it_was(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    try:
        document = decode(data, None)
    except InputError:
        return
    assert encode(document.text, document.encoding) == data
