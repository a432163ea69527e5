"""From paths to corrected parts: which inputs there are, how each is read, and what comes of it block by block."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from corrector.errors import InputError
from corrector.formats import PACKAGES, READ_ONLY, TEXT, Format, format_name, format_of
from corrector.formats.passages import correct_passages
from corrector.render.summary import Summary
from corrector.render.text import render_text
from corrector.text.decode import STDIN
from corrector.text.files import encodable, encode, open_blocks, read_blocks
from corrector.text.ignore import FIRST_LINES, IgnoreState
from corrector.text.write import FileState, reason
from corrector.types import CorrectedDocument, Correction, Document

if TYPE_CHECKING:
    from corrector.command import DocumentCorrector
    from corrector.config import Settings
    from corrector.text.changes import Changes

Review = Callable[[CorrectedDocument, Summary], CorrectedDocument]
"""Decides which corrections are made after all; the summary is of what came before in the same text."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of an input, corrected. ``before`` sums up the same text up to it; a package, such as a Word document, has several texts.

    ``changes`` tells whether ``data`` is other than what was read.
    """

    corrected: CorrectedDocument
    before: Summary
    begins_text: bool
    changes: bool
    whole: bytes | None = None

    def data(self) -> bytes:
        """What is to be written for it; a package comes whole, with its last part."""
        if self.whole is not None:
            return self.whole
        document = self.corrected.document
        return encode(render_text(self.corrected), document.encoding, document.path)


class Input:
    """One input, to be read once: a file, or standard input for ``-``. With ``track_changes`` it is a Word document that is corrected by
    revisions, with ``comments`` one that gets comments. Of ``changes`` only lines that differ are corrected; a package counts as one.

    ``state`` is the state of the file when it was opened; None before that, and for what can be read only once.
    """

    def __init__(
        self, path: str, settings: Settings, track_changes: bool = False, comments: bool = False, changes: Changes | None = None
    ) -> None:
        self.path = None if path == "-" else path
        self.name = self.path or STDIN
        self.state: FileState | None = None
        self._format = format_name(self.path, settings.format_in)
        self._settings, self._track_changes, self._comments, self._changes = settings, track_changes, comments, changes

    @property
    def is_binary(self) -> bool:
        """Whether it is a package of texts, and nothing to be shown on a terminal."""
        return self._format in PACKAGES

    @property
    def is_read_only(self) -> bool:
        """Whether it has nothing that could be written: its text stays, and no comments are asked for."""
        return self._format in READ_ONLY and not self._comments

    def parts(self, corrector: DocumentCorrector, review: Review | None = None) -> Iterator[Part]:
        """The parts in order, at least one. Raises InputError for what cannot be read, not of its format or not for these options."""
        if self._track_changes and self._format != "docx":
            raise InputError(self.name, "changes are tracked in Word documents only; leave --track-changes out for this one")
        if self._comments and self._format not in ("docx", "pdf"):
            raise InputError(self.name, "comments are put in Word documents and PDFs only; leave --comments out for this one")
        return self._package_parts(corrector, review) if self.is_binary else self._text_parts(corrector, review)

    def text(self) -> str:
        """All of it, uncorrected. Raises InputError for what is no text."""
        return "".join(block.text for block in self._blocks(format_of(None, TEXT)))

    def _package_parts(self, corrector: DocumentCorrector, review: Review | None) -> Iterator[Part]:
        from corrector.formats.packages import PackageOptions, open_parted

        options = PackageOptions(self._settings.column, self._track_changes, self._comments)
        package = open_parted(self._bytes(), self.path, self._format, options)
        whole_file = self._changes is not None and self.path is not None and not self._changes.has(self.path)
        changed: dict[str, bytes] = {}
        for number, member in enumerate(package.members, 1):
            part = package.part(member)
            marked, after = IgnoreState(whole_file=whole_file).mark(part.document)
            if number == 1:  # the main text, whose marker for a whole file is for all of them
                whole_file = after.whole_file
            corrected = writable(part.correct(corrector, marked))
            if review is not None:
                corrected = writable(review(corrected, Summary(files=1)))
            written = part.written(corrected)
            if written is not None:
                package.refuse_signed()
                changed[member] = written
            last = number == len(package.members)
            yield Part(corrected, Summary(files=1), True, last and bool(changed), package.replaced(changed) if last else b"")

    def _text_parts(self, corrector: DocumentCorrector, review: Review | None) -> Iterator[Part]:
        settings, before = self._settings, Summary(files=1)
        form = format_of(self.path, settings.format_in, settings.column)

        def correct(block: Document) -> CorrectedDocument | InputError:
            try:
                return correct_passages(corrector, block, form.passages(block))
            except InputError as error:
                return error  # its lines count from the beginning of the block

        # Reading ahead for several processes would keep a pipe waiting for its lines.
        in_order = map if self.path is None else getattr(corrector, "in_order", map)
        for number, found in enumerate(in_order(correct, self._marked(form))):
            if isinstance(found, InputError):
                raise _moved(found, before.lines) from found
            corrected = writable(found)
            if review is not None:
                corrected = writable(review(corrected, before))
            yield Part(corrected, before, number == 0, bool(corrected.corrections))
            before = before.plus(corrected)

    def _marked(self, form: Format) -> Iterator[Document]:
        """The blocks with what their markers ignore protected."""
        marks: IgnoreState | None = None
        lines = self._changes.lines(self.path) if self._changes is not None and self.path is not None else None
        for block in self._blocks(form):
            if marks is None:
                marks = self._whole_file(block)
            marked, marks = marks.mark(block)
            if lines is not None:
                marked, lines = lines.mark(marked)
            yield marked

    def _whole_file(self, first: Document) -> IgnoreState:
        """The state to begin with: a file's first lines may go on beyond the ``first`` block, and ``ignore-file`` be there.

        Standard input is not waited for: there it counts from the block on that it comes in. A list of words or confusions in
        use stays as it is: the wrong forms in it are meant.
        """
        if self._is_list():
            return IgnoreState(whole_file=True)
        state = IgnoreState().read(first.text)[1]
        if self.path is None or state.whole_file or state.lines >= FIRST_LINES or not os.path.isfile(self.path):
            return IgnoreState()
        state = IgnoreState()
        for block in open_blocks(self.path, self._settings.encoding):
            state = state.read(block.text)[1]
            if state.whole_file or state.lines >= FIRST_LINES:
                break
        return IgnoreState(whole_file=state.whole_file)

    def _is_list(self) -> bool:
        lists = (*self._settings.words, *self._settings.confusions)
        return self.path is not None and any(os.path.realpath(self.path) == os.path.realpath(one) for one in lists)

    def _blocks(self, form: Format) -> Iterator[Document]:
        """The text in the pieces that its format can be given; at least one, even of no text."""
        settings = self._settings
        if self.path is None:
            blocks: Iterable[Document] = read_blocks(_StandardInput(), None, settings.encoding)
        else:
            file = open_blocks(self.path, settings.encoding)
            self.state, blocks = file.state, file
        empty = True
        for block in blocks if form.name == TEXT else _joined(blocks, form.streams):
            yield block
            empty = False
        if empty:
            yield Document(self.path, "")

    def _bytes(self) -> bytes:
        """The whole input."""
        if self.path is None:
            stream = _StandardInput()
            return b"".join(iter(lambda: stream.read1(1 << 20), b""))
        try:
            with open(self.path, "rb") as file:
                self.state = FileState.of(os.fstat(file.fileno()))
                return file.read()
        except (OSError, ValueError) as error:
            raise InputError(self.path, f"cannot be read: {reason(error)}") from error


def writable(corrected: CorrectedDocument) -> CorrectedDocument:
    """The document with the corrections that its encoding has no characters for as suggestions."""
    encoding = corrected.document.encoding
    if all(encodable(correction, encoding) for correction in corrected.corrections):
        return corrected
    made: list[Correction] = []
    suggested = list(corrected.suggestions)
    for correction in corrected.corrections:
        (made if encodable(correction, encoding) else suggested).append(correction)
    suggested.sort(key=lambda correction: correction.span)
    return dataclasses.replace(corrected, corrections=tuple(made), suggestions=tuple(suggested))


def _joined(blocks: Iterable[Document], streams: bool) -> Iterator[Document]:
    """Blocks of complete lines where the format streams, the whole document where it does not."""
    waiting: list[Document] = []
    for block in blocks:
        waiting.append(block)
        if streams and block.text.endswith(("\n", "\r")):
            yield _together(waiting)
            waiting = []
    if waiting:
        yield _together(waiting)


def _together(blocks: list[Document]) -> Document:
    return blocks[0] if len(blocks) == 1 else dataclasses.replace(blocks[0], text="".join(block.text for block in blocks))


def _moved(error: InputError, lines: int) -> InputError:
    """An error in a block that ``lines`` line ends came before."""
    if error.line is None:
        return error
    return InputError(error.path, str(error).removeprefix(f"{error.path}:{error.line}: "), error.line + lines)


class _StandardInput:
    """Standard input as bytes, with errors that name it."""

    def __init__(self) -> None:
        if sys.stdin is None:
            raise InputError(STDIN, "cannot be read: standard input is closed")
        self._buffer: Any = sys.stdin.buffer

    def read1(self, size: int, /) -> bytes:
        try:
            data: bytes = self._buffer.read1(size)
        except (OSError, ValueError) as error:  # ValueError: closed
            raise InputError(STDIN, f"cannot be read: {reason(error)}") from error
        return data
