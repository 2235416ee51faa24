"""File states of a worktree, queried by path, one or many at once, from one snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.vocabulary import Certainty, Freshness
from gitindex.base.worktree import find_worktree, inside_root
from gitindex.filestate.ambiguity import EditTarget
from gitindex.filestate.core import FileState, States
from gitindex.filestate.graph import DependencyGraph
from gitindex.filestate.world import World
from gitindex.store.history import Seen
from gitindex.view.overlay import WORKTREE
from gitindex.view.tree import TreeView, open_tree

if TYPE_CHECKING:
    from gitindex.filestate.mutation_gate import MutationGateResult

NOT_OWNED = FileState(Freshness.UNINDEXED, Certainty.UNKNOWN)


class FileStateService:
    """Answers for one view. Writes nothing."""

    def __init__(self, view: TreeView) -> None:
        if view.overlay.source != WORKTREE:
            raise GitIndexError("file states are of the files on disk", code=Exit.USAGE)
        self.world = World(view)
        self._root = view.worktree.root
        self._opened = ExitStack()
        self._graph = DependencyGraph(self.world)

    @classmethod
    def open(cls, root: str) -> FileStateService:
        """Return the service of the worktree around a folder; `close` it, or use it in `with`."""
        opened = ExitStack()
        service = cls(opened.enter_context(open_tree(find_worktree(root), root)))
        service._opened = opened
        return service

    def close(self) -> None:
        """Close the snapshot that `open` opened."""
        self._opened.close()

    def __enter__(self) -> FileStateService:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_file_state(self, path: str, context: str | None = None) -> FileState:
        """Return the state of one file, by its path below the root or an absolute one in it."""
        return self.get_file_states_batch([path], context)[path]

    def get_file_states_batch(
        self, paths: Iterable[str], context: str | None = None
    ) -> dict[str, FileState]:
        """Return the states of many files. A named context has none for files it does not own."""
        asked = {path: inside_root(self._root, self._root, path) for path in paths}
        states = self.states(asked.values())
        return {
            path: states.of(file) if self._owned(file, context) else NOT_OWNED
            for path, file in asked.items()
        }

    def check_mutation_gate(
        self, targets: Iterable[EditTarget | str], context: str | None = None
    ) -> MutationGateResult:
        """Return whether each file or definition may be edited without asking."""
        from gitindex.filestate.mutation_gate import judge_targets  # it is built on this class

        asked = [EditTarget(one) if isinstance(one, str) else one for one in targets]
        foreign = [target for target in asked if not self._owned(target.path, context)]
        return judge_targets(self, asked, foreign)

    def states(self, paths: Iterable[str]) -> States:
        """Return the states of many files and of everything they depend on, with the reasons."""
        return States(*self._graph.reach(paths))

    def reviewed(self, paths: Iterable[str]) -> dict[str, Seen]:
        """Return what published files see of edits that are not published: what a review has seen."""
        return self._graph.reviewed(paths, self.world.view.served.published.generation)

    def _owned(self, path: str, context: str | None) -> bool:
        if context is None:
            return True
        owner = self._graph.owner(path)
        return owner is not None and owner.name == context
