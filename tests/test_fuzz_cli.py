"""Anything may be typed and anything may be in a file: no traceback, no exit code of another meaning, nothing lost.

Hypothesis puts together texts, encodings, formats and options; the command runs in this process with the fake corrector.
"""

from __future__ import annotations

import json
import tempfile
from itertools import chain
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corrector.formats import EXTENSIONS as KNOWN
from corrector.formats import PACKAGES
from tests.fakes import write
from tests.shell import DOUBTFUL, SURE, Outcome, Shell

STATUSES = {0, 1, 2, 123}
EXAMPLES = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Pieces that mean something to a format, a marker or the fake corrector, between pieces that mean nothing.
PIECES = st.sampled_from(
    ["平果", "天汽", "做", "坏", "好。", "，", " ", "\t", "\n", "\r\n", "\r", "\x0b", "\x85", "\u2028", "\ufeff", "\0", "\x1b[2J",
     "`", "```\n", "---\n", "# ", "    ", "[平果](a)", "<p>", "</p>", "<!--", "-->", "<script>", "&amp;", "&#24179;", "<![CDATA[",
     "\"", "'", ",", ";", "{", "}", "{\"text\": \"", "\\u5e73", "\\", "1\n00:00:01,000 --> 00:00:02,000\n", "WEBVTT\n\n",
     "Dialogue: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,", "[Events]\n", "text", "msgstr \"",
     "# ", "/*", "*/", "//", "\"\"\"",
     "electra-correct: ignore", "electra-correct: off\n",
     "https://a.cn/平果", "😀", "e\u0301", "𠀀", "頭髮", "ﾊ", "%", "::", "\ud7ff", "\ue000", "\U0010ffff"]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=25).map("".join)
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "gb18030", "big5", "utf-16", "utf-16-le", "utf-32", "ascii", "hz", "utf-7"])
EXTENSIONS = st.sampled_from(
    ["txt", "md", "rst", "tex", "html", "xml", "srt", "vtt", "ass",
      "po", "json", "ipynb", "jsonl", "csv", "tsv", "docx", "pptx", "xlsx", "odt", "epub", "py", "c", "pdf", "bin", ""]
)
FORMAT_NAMES = {"md": "markdown", "txt": "text", "tex": "latex", "odt": "odf", "py": "source", "c": "source"}
GIVEN_ENCODINGS = st.sampled_from(
    ["utf-8", "utf-16", "gb18030", "big5", "latin-1", "utf-7", "hz", "iso2022_jp", "cp037", "unicode_escape", "rot13", "undefined", "x", ""]
)
OPTIONS = st.one_of(
    st.sampled_from(
        [["-w"], ["--diff"], ["--check"], ["-q"], ["-v"], ["--no-gitignore"], ["--no-config"], ["--show-config"], ["-"], ["."], ["none"],
         ["-o", "out"], ["-o", "d"], ["-o", "none/out"], ["-o", "-"], ["--backup", ".bak"], ["--backup", "/"], ["--words", "w"],
         ["--words", "none"], ["--confusions", "c"], ["--config", "w"], ["--threads", "2"], ["--threads", "-1"], ["--model", "none"],
         ["--include", "*"], ["--exclude", "["], ["--exclude", "*.txt"], ["--column", "text"], ["--column", "1"], ["--column", "好"],
         ["--color", "always"], ["--explain"], ["--nonsense"], ["--version"], ["--"], ["-h"]]
    ),
    st.sampled_from(["text", "json", "human", "html", "sarif", "github", "gitlab", "x"]).map(lambda name: ["--format", name]),
    EXTENSIONS.map(lambda name: ["--input-format", FORMAT_NAMES.get(name, name)]),
    GIVEN_ENCODINGS.map(lambda name: ["--encoding", name]),
    st.sampled_from(["0", "0.3", "0.99", "1", "nan", "-1", "x"]).map(lambda value: ["--min-confidence", value]),
    st.sampled_from(["careful", "balanced", "eager", "x"]).map(lambda name: ["--profile", name]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(lambda word: [word]),
)  # fmt: skip


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    """A text in an encoding, or now and then bytes that are no text."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=40))
    return draw(TEXTS).encode(draw(ENCODINGS), "ignore")


@EXAMPLES
@given(contents(), contents(), EXTENSIONS, st.lists(OPTIONS, max_size=5))
def test_no_option_and_no_text_ends_in_a_traceback(first: bytes, second: bytes, extension: str, options: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shell = shell_with(folder, {f"a.{extension}": first, "b.txt": second, "w": "平果公司\n".encode(), "c": "帐户 账户\n".encode()})
        before = shell.files()
        outcome = shell.run(*chain(*options), f"a.{extension}", "b.txt", stdin=first)
        assert_calm(outcome)
        after = shell.files()
        assert before.keys() <= after.keys()
        assert after.keys() - before.keys() <= {"out", "b.txt.bak", f"a.{extension}.bak"}  # and no temporary file
        if ["-w"] not in options:
            assert {name: after[name] for name in before} == before


@EXAMPLES
@given(TEXTS, ENCODINGS, EXTENSIONS.filter(lambda extension: KNOWN.get(f".{extension}") not in PACKAGES))
def test_only_reported_spans_differ(text: str, encoding: str, extension: str) -> None:
    data = text.encode(encoding, "ignore")
    name = f"a.{extension}"
    with tempfile.TemporaryDirectory() as folder:
        shell = shell_with(folder, {name: data})
        options = ["--encoding", "utf-8" if encoding == "utf-8-sig" else encoding]
        corrected = shell.run(name, *options)
        report = shell.run(name, "--format", "json", *options)
        assert_calm(corrected)
        assert corrected.status == report.status
        if corrected.status:
            return
        assert corrected.stdout == rewritten(data, encoding, report.stdout)
        written = shell.run("-wq", name, *options)
        assert written.status == 0
        assert shell.files() == {name: corrected.stdout}
        assert shell.run("-q", name, *options).stdout == corrected.stdout  # a second run changes nothing


def shell_with(folder: str, files: dict[str, bytes]) -> Shell:
    """A shell in ``folder`` with these files and an empty folder ``d``."""
    for name, data in files.items():
        write(Path(folder) / name, data)
    (Path(folder) / "d").mkdir()
    return Shell(Path(folder))


def assert_calm(outcome: Outcome) -> None:
    """The exit code says what it means and standard error is for people."""
    stderr = outcome.stderr.decode()
    assert outcome.status in STATUSES
    assert "Traceback" not in stderr
    assert "internal fault" not in stderr, stderr
    assert outcome.status in (0, 1) or stderr.count("error: ") >= 1


def rewritten(data: bytes, encoding: str, report: bytes) -> bytes:
    """``data`` with the corrections that a JSON report says were made, and with nothing else."""
    encoding = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding, encoding)
    text = list(data.decode(encoding))
    *records, _ = map(json.loads, report.splitlines())
    for record in records:
        place = slice(record["start"], record["end"])
        assert "".join(text[place]) == record["original"]
        if record["applied"]:
            assert record["original"] in SURE or set(record["original"]) & set("".join(SURE))
            text[place] = record["replacement"]
        else:
            assert record["original"] in DOUBTFUL or record["original"] in SURE
    return "".join(text).encode(encoding)
