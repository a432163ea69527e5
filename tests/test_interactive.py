"""Questions and answers: with scripted input, and over a pseudo-terminal as a user meets them."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from corrector.apply import corrected_text
from corrector.errors import InputError
from corrector.interactive import HELP, Reviewer, review
from corrector.types import Candidate, CorrectedDocument, Correction, Document, RankedCandidate, Span
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"天汽": "天气", "平果": "苹果"}, {"做": "作"})
ROOT = Path(__file__).resolve().parents[1]


class Script:
    """Answers in order, then the end of the input; what was asked and shown is ``shown``."""

    def __init__(self, *answers: str) -> None:
        self._answers: Iterator[str] = iter(answers)
        self.shown = ""

    def read(self) -> str:
        return next(self._answers, "")

    def write(self, text: str) -> None:
        self.shown += text

    @property
    def questions(self) -> int:
        return self.shown.count("correct? [")


def run(
    text: str, *answers: str, protect: Callable[[str], None] | None = None
) -> tuple[str, CorrectedDocument, Script]:
    """The corrected text, the document and the script, every answer sent with Enter."""
    script = Script(*(f"{answer}\n" for answer in answers))
    reviewed = review(CORRECTOR.correct_document(Document("a.txt", text)), script.read, script.write, protect)
    return corrected_text(reviewed), reviewed, script


def with_alternatives(text: str, *pairs: tuple[str, str]) -> CorrectedDocument:
    """Each ``(original, replacements)``: the first character of the replacements is proposed, the others are alternatives."""
    corrections = []
    for number, (original, replacements) in enumerate(pairs):
        start = [match.start() for match in re.finditer(original, text)][0 if number == 0 else -1]
        others = tuple(RankedCandidate(Candidate(c, -3.0), 0.9, 0.0, 0.03) for c in replacements[1:])
        corrections.append(Correction(Span(start, start + 1), original, replacements[0], 0.8, others, "same_sound"))
    return CorrectedDocument(Document("a.txt", text), tuple(corrections))


@pytest.mark.parametrize("answer", ["", "y", "Y", " yes ", "1"])
def test_accept(answer: str) -> None:
    assert run("吃平果", answer)[0] == "吃苹果"


@pytest.mark.parametrize("answer", ["s", "n", "skip", "S"])
def test_skip(answer: str) -> None:
    text, reviewed, _ = run("吃平果", answer)
    assert text == "吃平果"
    assert [c.replacement for c in reviewed.suggestions] == ["苹果"]


def test_suggestions_are_asked_for_too_and_made_when_accepted() -> None:
    text, reviewed, script = run("做天汽，平果", "y", "s", "y")
    assert text == "作天汽，苹果"
    assert [c.original for c in reviewed.corrections] == ["做", "平果"]
    assert [c.original for c in reviewed.suggestions] == ["天汽"]
    assert "1/3" in script.shown and "3/3" in script.shown


def test_each_is_shown_in_its_context() -> None:
    _, _, script = run("好\n吃平果吧", "s")
    assert script.shown == (
        "\na.txt:2:2: 平果 → 苹果  同音 (píng guǒ)  99 %\n    吃平果吧\n      ^^^^\n    1 苹果 99 %\n"
        "1/1 correct? [y/s/a/p/q/?] "
    )


def test_a_numbered_alternative() -> None:
    script = Script("2\n")
    reviewed = review(with_alternatives("散部", ("部", "步布怖")), script.read, script.write)
    assert corrected_text(reviewed) == "散布"
    assert (reviewed.corrections[0].confidence, reviewed.corrections[0].original) == (0.03, "部")
    assert "    1 步 80 %   2 布 3 %   3 怖 3 %\n1/1 correct? [y/1-3/s/a/p/q/?] " in script.shown


def test_alternatives_of_another_length_are_not_offered() -> None:
    odd = RankedCandidate(Candidate("步行", -1.0), 0.5, 0.0, 0.2)
    script = Script("2\n", "s\n")
    document = CorrectedDocument(Document(None, "部"), (Correction(Span(0, 1), "部", "步", 0.8, (odd,)),))
    assert corrected_text(review(document, script.read, script.write)) == "部"
    assert "步行" not in script.shown and "2: no such answer" in script.shown


def test_accept_all_like_this() -> None:
    text, _, script = run("平果天汽平果天汽平果", "s", "a", "")
    assert text == "平果天气苹果天气平果".replace("苹果天气平果", "苹果天气") + "平果"
    assert script.questions == 4


def test_accept_all_like_this_asks_for_none_of_them_again() -> None:
    text, _, script = run("平果做平果平果", "a", "s")
    assert (text, script.questions) == ("苹果做苹果苹果", 2)


def test_all_like_this_in_the_second_way() -> None:
    script = Script("a2\n")
    reviewed = review(with_alternatives("部的部", ("部", "步布"), ("部", "步布")), script.read, script.write)
    assert (corrected_text(reviewed), script.questions) == ("布的布", 1)


def test_protect_a_word() -> None:
    saved: list[str] = []
    text, reviewed, script = run("平果园和平果、平果园", "p", "平果园", "y", protect=saved.append)
    assert (text, saved) == ("平果园和苹果、平果园", ["平果园"])
    assert script.questions == 2  # the word is not asked about again
    assert reviewed.suggestions == ()
    assert "which word? it has 平果 in it" in script.shown


def test_a_word_to_protect_must_be_there() -> None:
    saved: list[str] = []
    text, _, script = run("吃平果和梨", "p", "香蕉", "和梨", "吃平", protect=saved.append)
    assert (text, saved) == ("吃平果和梨", ["吃平"])  # it overlaps what would have changed
    assert script.shown.count("is not here in the text") == 2


def test_protecting_can_be_taken_back() -> None:
    text, _, script = run("吃平果", "p", "", "y")
    assert (text, script.questions) == ("吃苹果", 2)


def test_a_word_that_cannot_be_saved_loses_nothing() -> None:
    def protect(word: str) -> None:
        raise InputError("words.txt", "cannot be written: no space left on device")

    text, _, script = run("天汽平果平果", "y", "p", "平果", protect=protect)
    assert text == "天气平果平果"
    assert "could not be saved: words.txt: cannot be written" in script.shown
    assert "--words FILE keeps it" in run("平果", "p", "平果")[2].shown


def test_quit_keeps_what_was_decided_and_leaves_the_rest() -> None:
    text, reviewed, script = run("天汽平果做天汽", "y", "q")
    assert (text, script.questions) == ("天气平果做天汽", 2)
    assert [c.original for c in reviewed.suggestions] == ["平果", "做", "天汽"]


def test_the_end_of_the_input_is_quit() -> None:
    assert run("天汽平果", "y")[0] == "天气平果"
    assert run("天汽平果")[0] == "天汽平果"


def test_help_and_nonsense_ask_again() -> None:
    text, _, script = run("平果", "?", "7", "\x1b[2Jx", "a9", "y")
    assert (text, script.questions) == ("苹果", 5)
    assert HELP in script.shown
    assert "␛[2Jx: no such answer" in script.shown and "\x1b" not in script.shown


def test_interruption_goes_through() -> None:
    def interrupted() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        review(CORRECTOR.correct("平果"), interrupted, lambda _: None)


def test_nothing_found_asks_nothing() -> None:
    _, reviewed, script = run("好")
    assert (reviewed, script.shown) == (CORRECTOR.correct_document(Document("a.txt", "好")), "")


def test_decisions_hold_for_the_documents_that_follow() -> None:
    script = Script("a\n", "p\n", "天汽预报\n", "q\n")
    reviewer = Reviewer(script.read, script.write)
    texts = ("平果", "天汽预报", "平果天汽预报天汽", "平果做")
    reviewed = [corrected_text(reviewer.review(CORRECTOR.correct(text))) for text in texts]
    assert reviewed == ["苹果", "天汽预报", "苹果天汽预报天汽", "平果做"]
    assert reviewer.quit and script.questions == 3


def test_overlapping_proposals_are_never_both_made() -> None:
    corrections = (Correction(Span(0, 2), "平果", "苹果", 0.9),)
    document = CorrectedDocument(Document(None, "平果"), corrections, (Correction(Span(1, 2), "果", "过", 0.4),))
    script = Script("y\n", "y\n")
    assert corrected_text(review(document, script.read, script.write)) == "苹果"
    assert script.questions == 1


DRIVER = """
import os, sys
from corrector.apply import corrected_text
from corrector.errors import InputError
from corrector.interactive import Reviewer, open_terminal
from tests.fakes import FakeCorrector

if len(sys.argv) > 1:
    os.close(os.open(sys.argv[1], os.O_RDWR))  # the terminal of this session
corrector = FakeCorrector({"天汽": "天气", "平果": "苹果"}, {"做": "作"})
try:
    with open_terminal() as terminal:
        reviewed = Reviewer(terminal.read, terminal.write, None, color=True).review(corrector.correct(sys.stdin.read()))
except InputError as error:
    sys.exit(f"error: {error}")
except KeyboardInterrupt:
    sys.exit(130)
sys.stdout.write(corrected_text(reviewed))
"""


def start(terminal: str | None) -> subprocess.Popen[bytes]:
    """The driver in a session of its own, its text on standard input, its terminal the one named."""
    arguments = [sys.executable, "-c", DRIVER, *([terminal] if terminal else [])]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    process = subprocess.Popen(
        arguments, cwd=ROOT, env=environment, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write("今天天汽好，吃平果，做饭".encode())
    process.stdin.close()
    process.stdin = None
    return process


def converse(answers: Sequence[str]) -> tuple[int, str, str]:
    """Status, standard output and the screen of the driver: each answer is typed when a question stands there."""
    pty = pytest.importorskip("pty")
    keyboard, terminal = pty.openpty()
    process = start(os.ttyname(terminal))
    screen = b""
    try:
        for number, answer in enumerate(answers, 1):
            screen = _until(keyboard, screen, number)
            os.write(keyboard, answer.encode())
        output, errors = _ended(process, keyboard, answers[-1])
        screen = _until(keyboard, screen, None)
    finally:
        process.kill()
        os.close(terminal)
        os.close(keyboard)
    assert not errors, errors
    return process.returncode, output.decode(), screen.decode()


def _ended(process: subprocess.Popen[bytes], keyboard: int, last: str) -> tuple[bytes, bytes]:
    """What the driver wrote to standard output and error until its end.

    Python sees a signal that comes after its last look and before a read blocks only with the next one; nobody types as fast, a test may.
    """
    if last == "\x03":
        try:
            return process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.write(keyboard, last.encode())
    return process.communicate(timeout=60)


def _until(keyboard: int, screen: bytes, questions: int | None) -> bytes:
    """The screen when that many questions stand on it, or with None all there is left."""
    deadline = time.monotonic() + 60
    while questions is None or screen.count(b"/?] ") < questions:
        ready, _, _ = select.select(
            [keyboard], [], [], 0.0 if questions is None else max(0.0, deadline - time.monotonic())
        )
        if not ready and questions is None:
            return screen
        assert ready, screen
        screen += os.read(keyboard, 4096)
    return screen


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are POSIX")
def test_over_a_terminal_while_standard_input_is_the_text() -> None:
    status, output, screen = converse(["\n", "s\n", "y\n"])
    assert (status, output) == (0, "今天天气好，吃平果，作饭")
    assert "\x1b[1m<stdin>:1:3:\x1b[0m" in screen
    assert "3/3 correct? [y/s/a/p/q/?] " in screen


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are POSIX")
def test_control_c_at_a_terminal_writes_nothing() -> None:
    status, output, _ = converse(["y\n", "\x03"])
    assert (status, output) == (130, "")


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are POSIX")
def test_control_d_at_a_terminal_is_quit() -> None:
    status, output, _ = converse(["y\n", "\x04"])
    assert (status, output) == (0, "今天天气好，吃平果，做饭")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="sessions are POSIX")
def test_without_a_terminal_the_error_says_so() -> None:
    process = start(None)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (1, b"")
    assert b"error: /dev/tty: there is no terminal to ask on" in errors
    assert b"leave out -i" in errors
