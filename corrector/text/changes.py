"""What differs from a revision of git: which files, and in each which lines."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from corrector.errors import InputError
from corrector.text.gitignore import repository_root
from corrector.text.protect import merged
from corrector.types import Document, Span

_HUNK = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines by number, counted from 0, of a text that is read block by block; ``before`` counts the line ends so far."""

    numbers: frozenset[int]
    before: int = 0

    def mark(self, document: Document) -> tuple[Document, Lines]:
        """The next block with all other lines protected, and the state after it."""
        starts = [0, *(match.end() for match in re.finditer("\n", document.text))]
        after = dataclasses.replace(self, before=self.before + len(starts) - 1)
        ends = [*starts[1:], len(document.text)]
        spans = (Span(*span) for number, span in enumerate(zip(starts, ends, strict=True), self.before) if number not in self.numbers)
        protected = merged((*document.protected, *(span for span in spans if len(span))))
        return dataclasses.replace(document, protected=protected), after


class Changes:
    """What the working tree has since it left ``revision`` (the last ancestor of both): lines changed or new, and files git does not know.

    Lines that only moved to a file of another name are none. Asks git; every method raises InputError where it cannot tell.
    """

    def __init__(self, revision: str) -> None:
        self.revision = revision
        self._trees: dict[str, _Tree] = {}

    def look_at(self, path: str) -> None:
        """Asks git of the working tree that a file or a folder is in."""
        self._at(os.path.join(path, "") if os.path.isdir(path) else path)

    def has(self, path: str) -> bool:
        """Whether a file is new or differs at all."""
        tree, name = self._at(path)
        return name in tree.new or name in tree.changed

    def lines(self, path: str) -> Lines | None:
        """The lines of a file that are new or differ; None for all: it is new, or nothing that git would compare line by line."""
        tree, name = self._at(path)
        if name in tree.new:
            return None
        return tree.lines(name) if name in tree.changed else Lines(frozenset())

    def _at(self, path: str) -> tuple[_Tree, bytes]:
        """The working tree that a file is in, and its name there."""
        file = os.path.join(os.path.realpath(os.path.dirname(path) or os.curdir), os.path.basename(path))
        root = repository_root(os.path.dirname(file))
        if root is None:
            raise InputError(path, "is in no git repository; leave --since out for it")
        if root not in self._trees:
            self._trees[root] = _Tree(root, self.revision)
        return self._trees[root], os.fsencode(os.path.relpath(file, root).replace(os.sep, "/"))


class _Tree:
    """One working tree. ``changed`` files by what they were called."""

    def __init__(self, root: str, revision: str) -> None:
        self._root, self._revision = root, revision
        named = f"{revision}^{{commit}}"
        commit = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", named, otherwise="is no revision here")
        base = self._git("merge-base", commit.decode().strip(), "HEAD", otherwise="has no ancestor in common with HEAD here")
        self._base = base.decode().split()[0]
        self.new = {*self._git("ls-files", "--others", "--exclude-standard", "-z").split(b"\0")}
        self.changed: dict[bytes, bytes] = {}
        fields = iter(self._git("diff", "--name-status", "-z", "--find-renames", self._base).split(b"\0"))
        for status in fields:
            if not status:
                continue
            old = next(fields)
            name = next(fields) if status[:1] in b"RC" else old
            if status[:1] in b"AU":  # unmerged files have the lines of both sides
                self.new.add(name)
            else:
                self.changed[name] = old

    def lines(self, name: bytes) -> Lines | None:
        """The lines of a changed file that are new or differ; None where git does not tell lines."""
        options = ("--unified=0", "--find-renames", "--no-color", "--no-ext-diff", "--no-textconv")
        names = (os.fsdecode(one) for one in dict.fromkeys((self.changed[name], name)))
        shown = self._git("--literal-pathspecs", "diff", *options, self._base, "--", *names)
        header, *_ = shown.split(b"\n@@", 1)
        if re.search(rb"^Binary files ", header, re.MULTILINE):
            return None
        return Lines(frozenset(_numbers(shown)))

    def _git(self, *arguments: str, otherwise: str = "") -> bytes:
        """What git says. Raises InputError, which says what git has against it."""
        own = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}  # a hook's
        try:
            done = subprocess.run(["git", *arguments], cwd=self._root, env=own, capture_output=True, check=False)
        except OSError as error:
            raise InputError(self._root, f"git cannot be run ({error.strerror}); install it, or leave --since out") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ").split("\n")[0]
            why = said or f"{otherwise}; fetch more of the history, or give another"
            raise InputError(self._root, f"--since {self._revision}: {why}")
        return done.stdout


def _numbers(shown: bytes) -> Iterator[int]:
    """The numbers of the lines that a diff without context has put in."""
    for line in shown.split(b"\n"):
        if found := _HUNK.match(line):
            first = int(found[1]) - 1
            yield from range(first, first + int(found[2] or 1))
