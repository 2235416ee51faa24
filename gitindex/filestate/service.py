"""File states of a worktree: asked by path, one or many at once; all of one snapshot."""

from __future__ import annotations

from collections.abc import Iterable

from gitindex.base.errors import Exit, GitIndexError
from gitindex.filestate.core import FileState, States
from gitindex.filestate.graph import DependencyGraph
from gitindex.filestate.world import World
from gitindex.view.overlay import WORKTREE
from gitindex.view.tree import TreeView


class FileStateService:
    """Answers for one view. Writes nothing."""

    def __init__(self, view: TreeView) -> None:
        if view.overlay.source != WORKTREE:
            raise GitIndexError("file states are of the files on disk", code=Exit.USAGE)
        self.world = World(view)
        self._graph = DependencyGraph(self.world)

    def get_file_state(self, path: str) -> FileState:
        """The state of one file, by its path below the root."""
        return self.states([path]).of(path)

    def get_file_states_batch(self, paths: Iterable[str]) -> dict[str, FileState]:
        """The states of many files."""
        asked = list(paths)
        states = self.states(asked)
        return {path: states.of(path) for path in asked}

    def states(self, paths: Iterable[str]) -> States:
        """The states of many files and of all they depend on, with the reasons."""
        return States(*self._graph.reach(paths))
