"""The language server: what is remembered, where things are, and a whole session with an editor."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types as lsp
from pygls.lsp.client import BaseLanguageClient

from corrector.config import Settings
from corrector.errors import ConfigError, InputError
from corrector.lsp import memory
from corrector.lsp.checking import Checker
from corrector.lsp.memory import Memory, RememberingCorrector
from corrector.lsp.places import Places
from corrector.lsp.server import PROTECT
from corrector.types import CorrectedDocument, Document, Span
from tests.fakes import FakeCorrector

FAKE = FakeCorrector({"散部": "散步", "高形": "高兴"}, {"东溪": "东西"})


class Counting:
    """The fake corrector, which keeps what it was asked."""

    model_name = "fake"

    def __init__(self, fake: FakeCorrector = FAKE) -> None:
        self._fake = fake
        self.asked: list[str] = []

    def correct_document(self, document: Document) -> CorrectedDocument:
        self.asked.append(document.text)
        return self._fake.correct_document(document)


def utf_16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


LINES = st.lists(st.sampled_from(["散部", "高形", "东溪", "好", "\n", "\n\n", "，"]), max_size=20).map("".join)


@given(st.lists(LINES, max_size=4), st.data())
@settings(max_examples=150, deadline=None)
def test_what_is_remembered_is_what_would_be_found(texts: list[str], data: st.DataObject) -> None:
    remembered = Memory(FAKE, lines=3)
    for text in texts:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2)))
        protected = (Span(*cuts),) if cuts[0] < cuts[1] else ()
        document = Document("a", text, protected=protected)
        assert RememberingCorrector(remembered).correct_document(document) == FAKE.correct_document(document)


def test_only_lines_that_are_new_are_read() -> None:
    counting = Counting()
    corrector = RememberingCorrector(Memory(counting))
    for text in ("散部\n好\n散部", "散部\n好的\n散部", "好\n散部\n好的", "散部"):
        corrector.correct_document(Document(None, text))
    assert counting.asked == ["散部\n好", "好的"]
    corrector.correct_document(Document(None, "散部", protected=(Span(0, 1),)))
    assert counting.asked[2:] == ["散部"]


def test_what_was_asked_for_longest_ago_is_forgotten_and_what_failed_is_counted() -> None:
    counting = Counting(FakeCorrector(fails_on="坏"))
    corrector = RememberingCorrector(Memory(counting, lines=2))
    for text in ("一", "二", "一", "三", "一", "二"):
        corrector.correct_document(Document(None, text))
    assert counting.asked == ["一", "二", "三", "二"]
    assert [corrector.correct_document(Document(None, "坏\n好")).unprocessed for _ in range(2)] == [1, 1]


def test_reading_goes_on_as_long_as_it_may_and_where_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_PORTION", 3)
    counting = Counting()
    shared = Memory(counting)
    document = Document(None, "散部\n高形\n散部\n东溪\n散部")
    found = []
    for portions in (0, 1, 0, 2):
        left = iter([True] * portions + [False] * 9)
        corrector = RememberingCorrector(shared, partial(next, left))
        corrected = corrector.correct_document(document)
        found.append((len(corrected.corrections), len(corrected.suggestions), corrector.is_complete))
    assert found == [(0, 0, False), (3, 0, False), (3, 0, False), (4, 1, True)]
    assert counting.asked == ["散部", "高形", "东溪"]


@given(st.text(st.sampled_from("a好😀\r\n\u2028"), max_size=30), st.sampled_from([utf_16, len]))
def test_places_are_those_of_the_protocol_and_lead_back(text: str, units: Callable[[str], int]) -> None:
    places = Places(text, units)
    for offset in (*range(len(text) + 1), *range(len(text), -1, -1), *range(0, len(text), 3)):
        line, unit = places.place(offset)
        before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
        if text[offset - 1 : offset + 1] != "\r\n":
            assert (line, unit) == (before.count("\n"), units(before.rpartition("\n")[2]))
            assert places.offset(line, unit) == offset
    assert places.offset(99, 0) == len(text)
    assert places.offset(0, 99) == len(text.partition("\n")[0].partition("\r")[0])


@pytest.mark.parametrize(
    "path, language, text, found",
    [
        (None, "plaintext", "散部 <!-- 散部 -->", [0, 8]),
        (None, "markdown", "散部 <!-- 散部 -->", [0]),
        ("a.md", "plaintext", "散部 <!-- 散部 -->", [0]),
        ("a.txt", "latex", "散部 % 散部", [0]),
        ("a.docx", "", "散部", [0]),
        ("a.txt", "", "散部 electra-correct: ignore\n散部", [27]),
        ("a.txt", "", "\n\nelectra-correct: ignore-file\n散部", []),
    ],
)
def test_a_text_is_checked_as_its_file_would_be(tmp_path: Path, path: str | None, language: str, text: str, found: list[int]) -> None:
    checked = Checker({}, lambda _: FAKE).check(text, path and str(tmp_path / path), language)
    assert [one.span.start for one in checked.corrections] == found


def test_what_the_project_excludes_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".electra-correct.toml").write_text("exclude = ['vendor/', '/a.md']\n")
    (tmp_path / "doc" / "vendor").mkdir(parents=True)
    checker = Checker({}, lambda _: FAKE)
    found = {name: len(checker.check("散部", str(tmp_path / name), "").corrections) for name in ("doc/vendor/b.txt", "a.md", "doc/a.md")}
    assert found == {"doc/vendor/b.txt": 0, "a.md": 0, "doc/a.md": 1}


def test_settings_are_those_of_the_project_and_over_them_the_editors(tmp_path: Path) -> None:
    (tmp_path / ".electra-correct.toml").write_text("profile = 'careful'\nwords = ['w.txt']\n")
    opened: list[Settings] = []

    def make(settings: Settings) -> FakeCorrector:
        opened.append(settings)
        return FAKE

    checker = Checker({"min-confidence": 0.9}, make)
    path = str(tmp_path / "a.txt")
    for _ in range(2):
        checker.check("散部", path, "")
    checker.protect(path, "散部")
    assert (tmp_path / "w.txt").read_text("utf-8") == "散部\n"
    checker.check("散部", path, "")  # with the list as it is now
    checker.check("散部", None, "")
    assert [(one.profile, one.min_confidence, len(one.words)) for one in opened] == [(None, 0.9, 1), (None, 0.9, 1), (None, 0.9, 0)]
    with pytest.raises(ConfigError, match="initialization options: nonsense: unknown setting"):
        Checker({"nonsense": 1}, make).check("", None, "")
    with pytest.raises(InputError, match="not valid JSON"):
        checker.check("{", str(tmp_path / "a.json"), "")


def test_recognised_text_of_a_project_is_read_as_such(tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / ".electra-correct.toml").write_text("origin = 'ocr'\n")
    opened: list[Settings] = []
    checker = Checker({}, lambda settings: opened.append(settings) or FAKE)
    for name in ("a.txt", "scans/a.txt", "b.txt"):
        checker.check("散部", str(tmp_path / name), "")
    assert [settings.origin for settings in opened] == ["typed", "ocr"]


SERVER = """
from corrector.lsp.server import server
from corrector.words import ProtectedWords
from tests.fakes import FakeCorrector

def make(settings):
    words = ProtectedWords.load(*settings.words) if settings.words else ()
    return FakeCorrector({} if "散部" in open(settings.words[0]).read() else {"散部": "散步", "高形": "高兴"}, {"东溪": "东西"})

server(make).start_io()
"""


class Editor:
    """An editor with one text at a time."""

    def __init__(self, client: BaseLanguageClient, uri: str) -> None:
        self.client, self.uri = client, uri
        self.published: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: asyncio.Queue[str] = asyncio.Queue()
        client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(self.published.put_nowait))
        client.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda params: self.messages.put_nowait(params.message))

    def open(self, text: str) -> None:
        item = lsp.TextDocumentItem(self.uri, "plaintext", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def change(self, text: str, version: int) -> None:
        whole = [lsp.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(version, self.uri), whole)
        )

    async def diagnostics(self) -> list[tuple[int, int, str, int]]:
        """Line, first unit, what stands before the reason, and severity of each of the next that are published."""
        params = await asyncio.wait_for(self.published.get(), 60)
        assert params.uri == self.uri
        return [
            (one.range.start.line, one.range.start.character, one.message.partition("  ")[0], int(one.severity or 0))
            for one in params.diagnostics
        ]

    async def actions(self, line: int, start: int, end: int, only: list[Any] | None = None) -> list[lsp.CodeAction]:
        where = lsp.Range(lsp.Position(line, start), lsp.Position(line, end))
        params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(self.uri), where, lsp.CodeActionContext([], only))
        return list(await self.client.text_document_code_action_async(params) or ())  # type: ignore[arg-type]


@asynccontextmanager
async def editor(folder: Path, *command: str) -> Any:
    client = BaseLanguageClient("editor", "1")
    talking = Editor(client, (folder / "a.txt").as_uri())
    await client.start_io(sys.executable, *command)
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    client.initialized(lsp.InitializedParams())
    yield talking
    await client.shutdown_async(None)
    client.exit(None)
    await asyncio.wait_for(client.stop(), 60)


def test_a_session(tmp_path: Path) -> None:
    (tmp_path / ".electra-correct.toml").write_text("words = ['w.txt']\n")
    (tmp_path / "w.txt").write_text("")

    async def session() -> None:
        async with editor(tmp_path, "-c", SERVER) as talking:
            talking.open("😀散部\r\n东溪")
            assert await talking.diagnostics() == [(0, 2, "散部 → 散步", 2), (1, 0, "东溪 → 东西", 3)]
            talking.change("好，高形散部", 2)
            talking.change("😀好，高形散部\n东溪", 3)
            assert await talking.diagnostics() == [(0, 4, "高形 → 高兴", 2), (0, 6, "散部 → 散步", 2), (1, 0, "东溪 → 东西", 3)]
            first = await talking.actions(0, 4, 6)
            assert [action.title for action in first] == [
                "高形 → 高兴", "Leave 高形 alone from now on", "散部 → 散步", "Leave 散部 alone from now on", "Make all 2 corrections",
            ]  # fmt: skip
            assert [getattr(action, "is_preferred", None) for action in first] == [True, None, True, None, None]
            (edit,) = first[0].edit.changes[talking.uri]
            assert (edit.new_text, edit.range.start, edit.range.end) == ("高兴", lsp.Position(0, 4), lsp.Position(0, 6))
            every = await talking.actions(1, 0, 0, ["source.fixAll"])
            assert [one.new_text for one in every[0].edit.changes[talking.uri]] == ["高兴", "散步"]
            assert [one.title for one in await talking.actions(1, 0, 1, [lsp.CodeActionKind.QuickFix])] == [
                "东溪 → 东西", "Leave 东溪 alone from now on",
            ]  # fmt: skip
            assert await talking.actions(1, 1, 1, ["refactor"]) == []
            assert "Leave 高形散部 alone from now on" in [one.title for one in await talking.actions(0, 4, 8)]

            # Of the action itself only the title arrives: this client takes what has no edit for a command.
            talking.client.workspace_execute_command(lsp.ExecuteCommandParams(PROTECT, [talking.uri, "散部"]))
            assert await talking.diagnostics() == [(1, 0, "东溪 → 东西", 3)]
            assert (tmp_path / "w.txt").read_text("utf-8") == "散部\n"

            (tmp_path / ".electra-correct.toml").write_text("nonsense = 1\n")
            talking.client.text_document_did_save(lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(talking.uri)))
            assert "nonsense: unknown setting" in await asyncio.wait_for(talking.messages.get(), 60)
            talking.client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(talking.uri)))
            assert await talking.diagnostics() == []

    asyncio.run(session())


def test_what_is_not_of_its_format_is_said_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("")
    (tmp_path / ".electra-correct.toml").write_text("words = ['w.txt']\ninput-format = 'jsonl'\n")

    async def session() -> None:
        async with editor(tmp_path, "-c", SERVER) as talking:
            talking.open('{"text": "散部"}\n{')
            ((line, _, message, severity),) = await talking.diagnostics()
            assert (line, severity) == (1, 3)
            assert "not valid JSON" in message
            assert await talking.actions(0, 0, 9) == []
            talking.change("好" * 1_000_001, 2)
            ((line, _, message, _),) = await talking.diagnostics()
            assert (line, "has more than 1,000,000 characters" in message) == (0, True)

    asyncio.run(session())


def test_the_server_has_the_embedded_model(tmp_path: Path) -> None:
    async def session() -> None:
        async with editor(tmp_path, "-m", "corrector.lsp", "--stdio") as talking:
            talking.open("请住意查收。")
            assert await talking.diagnostics() == [(0, 1, "住 → 注", 2)]

    asyncio.run(session())
