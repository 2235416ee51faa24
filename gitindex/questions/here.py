"""Where a question is asked: the worktree, the tree, what a long process remembers, who waits."""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext

from gitindex.base.lean import TYPE_CHECKING, NamedTuple, once
from gitindex.base.worktree import Worktree, find_worktree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import Any, TypeVar

    from gitindex.git.look_memory import Probe
    from gitindex.query.names.memory import Memory
    from gitindex.query.near_names import NameMemory
    from gitindex.query.search.memory import SearchMemory
    from gitindex.view.overlay_tables import FactsMemory
    from gitindex.view.tree import TreeChoice, TreeView

    Report = Callable[[str, float | None], None]
    A = TypeVar("A", bound=Mapping[str, Any])


class Memories(NamedTuple):
    """What a process that is asked often keeps between questions."""

    facts: FactsMemory | None = None
    lexical: SearchMemory | None = None
    binding: Memory | None = None
    names: NameMemory | None = None


class Here:
    """The place of one question. A door makes it; the question opens what it needs."""

    def __init__(
        self,
        path: str = ".",
        choice: TreeChoice | None = None,
        memories: Memories = Memories(),  # noqa: B008 - a constant
        begun: Probe | None = None,
        worktree: Callable[[], Worktree] | None = None,
    ) -> None:
        from gitindex.view.tree import NOW

        self.path, self.choice, self.memories, self.begun = path, choice or NOW, memories, begun
        self._worktree = once(worktree or (lambda: find_worktree(path)))
        self.buffers: Mapping[bytes, bytes] | None = None
        self.agent = False  # a model reads the answer
        self.terminal = False  # a person reads it, now
        self.doing: Callable[[str], AbstractContextManager[Any]] = lambda _: nullcontext()
        self.progress: Callable[[str], AbstractContextManager[Report]] = lambda _: nullcontext(
            lambda _phase, _percent: None
        )
        self.inside: Callable[[str], str] = lambda file: file
        self.placed: Callable[[str], str] = lambda asked: asked
        self.below: Callable[[TreeView], tuple[str, ...]] = lambda _: ()

    def folder(self, asked: str) -> str:
        """Return the file or folder that an answer is limited to; empty for the whole tree."""
        inside = self.inside(asked) if asked else ""
        return "" if inside == "." else inside

    @property
    def worktree(self) -> Worktree:
        """The worktree around the path; found at the first use."""
        return self._worktree()

    @contextmanager
    def tree(self) -> Iterator[TreeView]:
        """Open the tree that is asked for."""
        from gitindex.view.tree import open_tree

        worktree, facts = self.worktree, self.memories.facts
        with open_tree(worktree, self.path, self.choice, facts, self.begun, self.buffers) as view:
            yield view

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


MAX_LINE = 240
"""Most characters of a line of code in an answer."""


def add_lines(view: TreeView, rows: list[dict[str, Any]], around: int = 0) -> None:
    """Add to each place its line of code, with context."""
    from gitindex.extract.terms import decode_text

    lacking = [row for row in rows if around or "text" not in row]
    texts = view.read({os.fsencode(row["path"]) for row in lacking})
    lines = {path: decode_text(data).splitlines() for path, data in texts.items()}
    for row in lacking:
        here, at = lines.get(os.fsencode(row["path"]), []), row["line"] - 1
        row.setdefault("text", here[at].strip()[:MAX_LINE] if at < len(here) else "")
        if around:
            row["before"] = [line[:MAX_LINE] for line in here[max(0, at - around) : at]]
            row["after"] = [line[:MAX_LINE] for line in here[at + 1 : at + 1 + around]]
