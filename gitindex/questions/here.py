"""The context of a question: the worktree, the tree, what a long process remembers, who waits."""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.worktree import Worktree, find_worktree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import Any, TypeVar

    from gitindex.git.status_cache import Probe
    from gitindex.query.names.memory import Memory
    from gitindex.query.near_names import NameMemory
    from gitindex.query.search.memory import SearchMemory
    from gitindex.view.overlay import FactsMemory
    from gitindex.view.tree import TreeChoice, TreeView

    Report = Callable[[str, float | None], None]
    A = TypeVar("A", bound=Mapping[str, Any])
    M = TypeVar("M")


class Memories(NamedTuple):
    """What a process that answers many keeps between questions."""

    facts: FactsMemory | None = None
    lexical: SearchMemory | None = None
    binding: Memory | None = None
    names: NameMemory | None = None


def _no_report(_phase: str, _percent: float | None) -> None:
    """Ignore the progress: nobody watches."""


class Here:
    """The place of one question. A door makes it, or its own kind of it; the question opens what it needs."""

    agent = False  # a model or a program reads the answer: no live scan in place of a closed gate
    may_write = True  # a question may keep what it had to derive for its answer
    terminal = False  # a person reads it, now
    buffers: Mapping[bytes, bytes] | None = None  # an editor's unsaved texts

    def __init__(
        self,
        path: str = ".",
        choice: TreeChoice | None = None,
        memories: Memories = Memories(),  # noqa: B008 - a constant
        worktree: Worktree | None = None,
        probe: Probe | None = None,
    ) -> None:
        from gitindex.view.tree import NOW

        self.path, self.choice, self.memories, self.probe = path, choice or NOW, memories, probe
        self._worktree = worktree
        self.kept: dict[str, Any] = {}  # by questions, for a door that asks again

    @property
    def worktree(self) -> Worktree:
        """The worktree around the path; found at the first use."""
        if self._worktree is None:
            self._worktree = self.find()
        return self._worktree

    def find(self) -> Worktree:
        """Find the worktree; raises if there is none."""
        return find_worktree(self.path)

    def doing(self, _what: str) -> AbstractContextManager[Any]:
        """Tell a person who waits what takes long."""
        return nullcontext()

    def progress(self, _title: str) -> AbstractContextManager[Report]:
        """Return a callback for phase and percentage."""
        return nullcontext(_no_report)

    def inside(self, file: str) -> str:
        """Return a file's path from the root of the tree."""
        return file

    def placed(self, symbol: str) -> str:
        """Return a symbol whose file, if it names one, is relative to the root."""
        return symbol

    def below(self, _view: TreeView) -> tuple[str, ...]:
        """Return the folders that the answer is limited to; none for the whole tree."""
        return ()

    def shown(self, path: str) -> str:
        """Return a path as this door prints it."""
        return safe_text(path)

    def folder(self, name: str) -> str:
        """Return the file or folder that an answer is limited to; empty for the whole tree."""
        inside = self.inside(name) if name else ""
        return "" if inside == "." else inside

    @contextmanager
    def tree(self) -> Iterator[TreeView]:
        """Open the requested tree."""
        from gitindex.view.tree import open_tree

        worktree, facts = self.worktree, self.memories.facts
        with open_tree(worktree, self.path, self.choice, facts, self.probe, self.buffers) as view:
            yield view

    def remember(self, _kind: str, view: TreeView, make: Callable[[TreeView], M]) -> M:
        """Return what `make` makes of a tree; a server keeps it for the next question."""
        return make(view)

    def unless_outdated(self, serve: Callable[[], A], scan: Callable[[str], A]) -> A:
        """Answer from the index; after an upgrade, until it is rebuilt, from the files on disk."""
        from gitindex.view.snapshot import GateClosed
        from gitindex.view.tree import NOW

        try:
            return serve()
        except GateClosed as closed:
            if self.agent or self.choice != NOW or not closed.outdated:
                raise
            return {**scan(closed.envelope["message"]), "gate": closed.envelope}  # type: ignore[return-value]


def in_tree(view: TreeView, path: str) -> str:
    """Return the path of a file or folder; refuses one that the tree has not."""
    raw = os.fsencode(path)
    sql = "SELECT 1 FROM {live} l WHERE l.path=? OR (l.path>? AND l.path<?) LIMIT 1"
    if path and not view.rows(sql, raw, raw + b"/", raw + b"0"):
        hint = "is it tracked? see `git ls-files`"
        raise GitIndexError(f"not in the tree: {safe_text(path)}", hint, Exit.USAGE)
    return path


def given_text(name: str, most: int) -> str:
    """Return the text of a file that a command line names; what standard input gave is a text already."""
    if name[:1] in ("{", "[") or "\n" in name or len(name) > MAX_NAME:
        return name
    if not os.path.exists(name):
        if len(name.split()) == 1 and not {"/", "."}.isdisjoint(name):  # no word of a report
            raise GitIndexError(f"no such file: {safe_text(name)}", code=Exit.USAGE)
        return name
    try:
        with open(name, "rb") as file:  # a link or a pipe, too: the user names it
            return file.read(most).decode("utf-8", "replace")
    except OSError as error:
        raise GitIndexError(f"{safe_text(name)}: {error.strerror}", code=Exit.USAGE) from None


MAX_NAME = 1_000
"""Characters of a file's name on a command line: longer ones are texts, and `stat` refuses them."""
MAX_LINE = 240
"""Most characters of a line of code in an answer."""


def add_lines(view: TreeView, rows: list[dict[str, Any]], around: int = 0) -> None:
    """Add to each place its line of code, with context."""
    from gitindex.extract.terms import lines_of

    lacking = [row for row in rows if around or "text" not in row]
    texts = view.read({os.fsencode(row["path"]) for row in lacking})
    lines = {path: lines_of(data) for path, data in texts.items()}
    for row in lacking:
        here, at = lines.get(os.fsencode(row["path"]), []), row["line"] - 1
        row.setdefault("text", here[at].strip()[:MAX_LINE] if at < len(here) else "")
        if around:
            row["before"] = [line[:MAX_LINE] for line in here[max(0, at - around) : at]]
            row["after"] = [line[:MAX_LINE] for line in here[at + 1 : at + 1 + around]]
