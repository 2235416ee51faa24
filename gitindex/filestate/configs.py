"""Edges from a file to the project files of its context, now and at its last refresh."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from gitindex.base.vocabulary import SkipReason
from gitindex.filestate.core import CONFIG, FileDependency
from gitindex.filestate.world import World
from gitindex.git.command import read_blobs
from gitindex.semantic.contexts import Context, ContextRouter, discover
from gitindex.semantic.contexts.discovery import marks_of

_NO_FILES = (SkipReason.SYMLINK, SkipReason.SUBMODULE)


class Configurations:
    """Contexts of the tree on disk and of older generations, computed only if one may differ."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._edited = any(map(_is_marker, world.laid))
        recorded = (changes for path, changes in world.history.changes() if _is_marker(path))
        self._changed = sorted({generation for changes in recorded for generation, _ in changes})
        self._now: ContextRouter | None = None
        self._then: dict[int, ContextRouter] = {}

    def edges(self, path: str, since: int) -> Iterator[FileDependency]:
        """Yield a file's edge to its configuration, if it may differ from generation `since`."""
        passed = bisect_right(self._changed, since)
        if passed == len(self._changed) and not self._edited:
            return
        if self._now is None:
            self._now = self._route(
                {
                    p: self._world.disk_id(p) or "" if _is_marker(p) else ""
                    for p in self._world.paths
                }
            )
        if passed not in self._then:
            self._then[passed] = self._route(self._tree_at(since))
        now, then = self.owner(path), self._then[passed].route(path).context
        owner = now or then
        if owner is not None:
            yield FileDependency(
                owner.name,
                then and f"{then.name} {then.config_hash}",
                now and f"{now.name} {now.config_hash}",
                CONFIG,
            )

    def owner(self, path: str) -> Context | None:
        """Return the context of a file according to the project files on disk."""
        if self._now is None:
            markers = {p for p in self._world.paths if _is_marker(p)}
            ids = {p: self._world.disk_id(p) or "" for p in markers}
            self._now = self._route(dict.fromkeys(self._world.paths, "") | ids)
        return self._now.route(path).context

    def _tree_at(self, since: int) -> dict[str, str]:
        tree = {}
        for path in self._world.history.paths_at(since, self._world.files):
            was = self._world.was(path, since) if _is_marker(path) else None
            tree[path] = was.oid.hex() if was else ""
        return tree

    def _route(self, tree: dict[str, str]) -> ContextRouter:
        files = self._world.files
        kept = {p: o for p, o in tree.items() if p not in files or files[p].reason not in _NO_FILES}
        return ContextRouter(discover(kept, lambda path: self._read(path, kept.get(path, ""))))

    def _read(self, path: str, oid: str) -> bytes | None:
        """Return a project file as it was then; read it from disk if it has not changed."""
        if not oid:
            return None
        if self._world.disk_id(path) == oid:
            return self._world.read(path)
        return read_blobs(self._world.view.worktree.root, [oid]).get(oid)


def _is_marker(path: str) -> bool:
    return bool(marks_of(path.rpartition("/")[2]))
