"""File states of a worktree, queried by path, one or many at once, from one snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.vocabulary import Certainty, Freshness
from gitindex.filestate.ambiguity import EditTarget
from gitindex.filestate.core import FileState, States
from gitindex.filestate.graph import DependencyGraph
from gitindex.filestate.world import World
from gitindex.view.overlay import WORKTREE
from gitindex.view.tree import TreeView

if TYPE_CHECKING:
    from gitindex.filestate.mutation_gate import MutationGateResult

NOT_OWNED = FileState(Freshness.UNINDEXED, Certainty.UNKNOWN)


class FileStateService:
    """Answers for one view. Writes nothing."""

    def __init__(self, view: TreeView) -> None:
        if view.overlay.source != WORKTREE:
            raise GitIndexError("file states are of the files on disk", code=Exit.USAGE)
        self.world = World(view)
        self._graph = DependencyGraph(self.world)

    def get_file_state(self, path: str, context: str | None = None) -> FileState:
        """Return the state of one file, by its path below the root."""
        return self.get_file_states_batch([path], context)[path]

    def get_file_states_batch(
        self, paths: Iterable[str], context: str | None = None
    ) -> dict[str, FileState]:
        """Return the states of many files. A named context has none for files it does not own."""
        asked = list(paths)
        states = self.states(asked)
        return {p: states.of(p) if self._owned(p, context) else NOT_OWNED for p in asked}

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

    def _owned(self, path: str, context: str | None) -> bool:
        if context is None:
            return True
        owner = self._graph.owner(path)
        return owner is not None and owner.name == context
