"""The language server: texts that open and change are checked after a moment, and what was found becomes diagnostics and quick fixes.

Language Server Protocol 3.17. One thread checks; what it found in a text that has changed in the meantime is forgotten.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from corrector import __version__
from corrector.config import Settings
from corrector.errors import CorrectorError, InputError
from corrector.lsp.checking import Checked, Checker
from corrector.lsp.places import Places
from corrector.render.describe import described, other_candidates
from corrector.types import Correction, Span

if TYPE_CHECKING:
    from corrector.command import DocumentCorrector

NAME = "electra-correct"
PROTECT = f"{NAME}.protect"
"""The command that puts a word into the list of words to leave alone: the address of a text, and the word."""

FIX_ALL = f"{lsp.CodeActionKind.SourceFixAll.value}.{NAME}"
_DELAY_S = 0.4  # between the last key and the check
_SHOWN_EVERY_S = 1.5  # what was found so far in a text that takes longer
LONGEST_TEXT = 1_000_000  # characters
_LONGEST_WORD = 20


@dataclass(frozen=True)
class Shown:
    """What was found in a version of a text, and where."""

    version: int | None
    places: Places
    checked: Checked

    def found(self) -> Iterator[tuple[Correction, bool]]:
        """The corrections (True), and the suggestions after them."""
        yield from ((correction, True) for correction in self.checked.corrections)
        yield from ((suggestion, False) for suggestion in self.checked.suggestions)

    def diagnostic(self, correction: Correction, is_made: bool) -> lsp.Diagnostic:
        """A correction as a warning, a suggestion as an information."""
        severity = lsp.DiagnosticSeverity.Warning if is_made else lsp.DiagnosticSeverity.Information
        return lsp.Diagnostic(self.range(correction.span), described(correction, is_made), severity, correction.reason, source=NAME)

    def range(self, span: Span) -> lsp.Range:
        """A span as editors count."""
        return lsp.Range(*(lsp.Position(*self.places.place(offset)) for offset in (span.start, span.end)))

    def span(self, given: lsp.Range) -> Span:
        """A range in code points."""
        return Span(*(self.places.offset(place.line, place.character) for place in (given.start, given.end)))


class Session:
    """One connection to an editor over ``server``; ``make`` opens the corrector of some settings, where it is not the usual one."""

    def __init__(self, server: LanguageServer, make: Callable[[Settings], DocumentCorrector] | None = None) -> None:
        self._server, self._make = server, make
        self._checker = Checker({}, make)
        self._shown: dict[str, Shown] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._told: set[str] = set()
        self._thread = ThreadPoolExecutor(1, "check")

    def initialize(self, params: lsp.InitializeParams) -> None:
        """Takes the settings that go before those of files."""
        options = params.initialization_options
        self._checker = Checker(options if isinstance(options, dict) else {}, self._make)

    def opened(self, params: lsp.DidOpenTextDocumentParams) -> None:
        """A text is checked at once when it opens,"""
        self._start(params.text_document.uri, 0.0)

    def changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        """after a moment when it changes,"""
        self._start(params.text_document.uri, _DELAY_S)

    def saved(self, _: lsp.DidSaveTextDocumentParams) -> None:
        """and all are when one is saved, which may be a file of settings or a list of words."""
        self._again()

    def closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """Nothing is said of a text that is closed."""
        uri = params.text_document.uri
        if task := self._waiting.pop(uri, None):
            task.cancel()
        self._shown.pop(uri, None)
        self._publish(uri, None, [])

    def shutdown(self, _: object) -> None:
        """Nothing more is checked."""
        for task in self._waiting.values():
            task.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """The quick fixes for what overlaps a range, and the one that makes all corrections of a text."""
        uri = params.text_document.uri
        shown = self._shown.get(uri)
        if shown is None or shown.version != self._server.workspace.get_text_document(uri).version:
            return []
        wanted = params.context.only
        actions: list[lsp.CodeAction] = []
        if _asks_for(wanted, lsp.CodeActionKind.QuickFix.value):
            selected, has_words = shown.span(params.range), self._has_words(uri)
            for correction, is_made in shown.found():
                if correction.span.start <= selected.end and selected.start <= correction.span.end:
                    diagnostic = shown.diagnostic(correction, is_made)
                    actions += _fixes(uri, diagnostic, correction, is_made)
                    if has_words:
                        actions += _protections(uri, diagnostic, correction, selected, shown.places.text)
        if shown.checked.corrections and _asks_for(wanted, FIX_ALL):
            edits = [lsp.TextEdit(shown.range(one.span), one.replacement) for one in shown.checked.corrections]
            title = f"Make all {len(edits)} corrections" if len(edits) > 1 else "Make the correction"
            actions.append(lsp.CodeAction(title, FIX_ALL, edit=lsp.WorkspaceEdit({uri: edits})))
        return actions

    def protect(self, uri: str, word: str) -> None:
        """Puts a word into the list of words to leave alone."""
        try:
            self._checker.protect(_path(uri), word)
        except CorrectorError as error:
            self._tell(str(error))
        self._again()

    def _again(self) -> None:
        for uri in list(self._shown):
            self._start(uri, 0.0)

    def _start(self, uri: str, delay: float) -> None:
        """Checks a text after ``delay`` seconds, unless it changes before."""
        if task := self._waiting.pop(uri, None):
            task.cancel()
        self._waiting[uri] = asyncio.get_running_loop().create_task(self._check(uri, delay))

    async def _check(self, uri: str, delay: float) -> None:
        await asyncio.sleep(delay)
        document = self._server.workspace.get_text_document(uri)
        version, text, path = document.version, document.source, _path(uri)
        language, units = document.language_id or "", document.position_codec.client_num_units
        loop, places = asyncio.get_running_loop(), Places(text, units)

        def is_current() -> bool:
            return uri in self._waiting and self._server.workspace.get_text_document(uri).version == version

        try:
            if len(text) > LONGEST_TEXT:
                raise InputError(path or uri, f"has more than {LONGEST_TEXT:,} characters; electra-correct itself takes files of any size")
            is_complete = False
            while not is_complete:  # each time some more has been read, and is shown
                until = time.monotonic() + _SHOWN_EVERY_S
                goes_on = lambda until=until: is_current() and time.monotonic() < until  # noqa: E731
                checked = await loop.run_in_executor(self._thread, self._checker.check, text, path, language, goes_on)
                if not is_current():
                    return
                self._show(uri, Shown(version, places, checked))
                is_complete = checked.is_complete
        except InputError as error:  # a text half written is often not of its format
            line = max((error.line or 1) - 1, 0)
            where = lsp.Range(lsp.Position(line, 0), lsp.Position(line, 1))
            said = lsp.Diagnostic(where, str(error), lsp.DiagnosticSeverity.Information, source=NAME)
            self._show(uri, Shown(version, places, Checked()), said)
        except CorrectorError as error:
            self._show(uri, Shown(version, places, Checked()))
            self._tell(str(error))
        except Exception as error:  # whatever is wrong with one text, the next has its turn
            self._tell(f"internal fault, please report it: {type(error).__name__}: {error}")

    def _show(self, uri: str, shown: Shown, *said: lsp.Diagnostic) -> None:
        self._shown[uri] = shown
        self._publish(uri, shown.version, [*(shown.diagnostic(*one) for one in shown.found()), *said])

    def _publish(self, uri: str, version: int | None, diagnostics: list[lsp.Diagnostic]) -> None:
        self._server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, diagnostics, version))

    def _tell(self, message: str) -> None:
        """Shows a message to the user, each once."""
        if message not in self._told:
            self._told.add(message)
            self._server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, f"{NAME}: {message}"))

    def _has_words(self, uri: str) -> bool:
        """Whether there is a list of words to leave alone; settings that cannot be read are complained of elsewhere."""
        try:
            return bool(self._checker.settings(_path(uri)).words)
        except CorrectorError:
            return False


def server(make: Callable[[Settings], DocumentCorrector] | None = None) -> LanguageServer:
    """A server with its session, not yet started."""
    made = LanguageServer(NAME, __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
    session = Session(made, make)
    kinds = lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix, FIX_ALL])
    for name, handler, options in (
        (lsp.INITIALIZE, session.initialize, None),
        (lsp.TEXT_DOCUMENT_DID_OPEN, session.opened, None),
        (lsp.TEXT_DOCUMENT_DID_CHANGE, session.changed, None),
        (lsp.TEXT_DOCUMENT_DID_SAVE, session.saved, None),
        (lsp.TEXT_DOCUMENT_DID_CLOSE, session.closed, None),
        (lsp.TEXT_DOCUMENT_CODE_ACTION, session.actions, kinds),
        (lsp.SHUTDOWN, session.shutdown, None),
    ):
        made.feature(name, options)(partial(handler))  # pygls notes things on what it is given, which a method does not let it
    made.command(PROTECT)(partial(session.protect))
    return made


def serve() -> None:
    """Serves one editor over standard input and output, until it says to stop."""
    server().start_io()


def _fixes(uri: str, diagnostic: lsp.Diagnostic, correction: Correction, is_made: bool) -> Iterator[lsp.CodeAction]:
    """What may stand there, the correction first."""
    replacements = [correction.replacement, *(other.candidate.text for other in other_candidates(correction))]
    for number, replacement in enumerate(replacements):
        edit = lsp.WorkspaceEdit({uri: [lsp.TextEdit(diagnostic.range, replacement)]})
        title, preferred = f"{correction.original} → {replacement}", (number == 0 and is_made) or None
        yield lsp.CodeAction(title, lsp.CodeActionKind.QuickFix, [diagnostic], preferred, edit=edit)


def _protections(uri: str, diagnostic: lsp.Diagnostic, correction: Correction, selected: Span, text: str) -> Iterator[lsp.CodeAction]:
    """The action that puts the selected text, or several characters that are wrong, into the list of words to leave alone."""
    within = selected.start <= correction.span.start and correction.span.end <= selected.end
    word = text[selected.start : selected.end] if within else correction.original
    if 1 < len(word) <= _LONGEST_WORD and len(word.split()) == 1:
        title = f"Leave {word} alone from now on"
        command = lsp.Command(title, PROTECT, arguments=[uri, word])
        yield lsp.CodeAction(title, lsp.CodeActionKind.QuickFix, [diagnostic], command=command)


def _path(uri: str) -> str | None:
    """The file of a text, if it has one."""
    return to_fs_path(uri) if uri.startswith("file:") else None


def _asks_for(wanted: Sequence[str] | None, kind: str) -> bool:
    """Whether a kind of action is among those wanted, which stand for all below them."""
    kinds = None if wanted is None else [getattr(one, "value", one) for one in wanted]
    return kinds is None or any(not one or kind == one or kind.startswith(f"{one}.") for one in kinds)
