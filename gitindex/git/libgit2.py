"""HEAD through pygit2; the only importer of pygit2.

Objects come from git itself, as fast: libgit2 inflates a loose object that was cut short for ever.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

from gitindex.base.errors import GitIndexError, ObjectMissing
from gitindex.base.escape import safe_text
from gitindex.base.worktree import Worktree
from gitindex.git.git_objects import GitCommandRepository
from gitindex.git.interface import Head

_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""libgit2 reads sha1 repositories only."""


class _Numbers(ModuleType):
    """Replaces `pygit2.enums`: the kind of an object is its plain number."""

    def __getattr__(self, name: str) -> type[int]:
        if name.startswith("_"):
            raise AttributeError(name)
        return int


def _load_core() -> Any:
    """Load pygit2's compiled core alone: the rest (TLS, archives, enumerations) costs six times as
    much, at every start of a runner. Loads all of pygit2 if the core is not as expected.
    """
    if "pygit2" not in sys.modules:
        try:
            return _core_alone()
        except (ImportError, AttributeError, TypeError):
            pass  # another version, or no compiled core beside the package
    import pygit2

    return pygit2._pygit2


def _core_alone() -> Any:
    package = find_spec("pygit2")
    spec = package and PathFinder.find_spec("pygit2._pygit2", package.submodule_search_locations)
    if spec is None or spec.loader is None:
        raise ImportError("pygit2 has no compiled core")
    core: Any = module_from_spec(spec)
    spec.loader.exec_module(core)
    stand_ins = {"pygit2": ModuleType("pygit2"), "pygit2.enums": _Numbers("pygit2.enums")}
    sys.modules.update(stand_ins)
    try:
        core._cache_enums()
    finally:
        for name in stand_ins:
            del sys.modules[name]
    if not callable(core.init_file_backend):
        raise ImportError("pygit2 opens repositories in another way")
    return core


_CORE = _load_core()
_UNREADABLE = (KeyError, ValueError, OSError, _CORE.GitError)
"""What pygit2 raises for a damaged repository: which of them depends on where libgit2 noticed it."""


class Pygit2Repository(GitCommandRepository):
    """One worktree opened by its exact git directory, without discovery.

    A runner reads HEAD twenty times a second while it lingers: through libgit2 no process is asked.
    """

    def __init__(self, worktree: Worktree) -> None:
        try:
            self._repo = _CORE.Repository(_CORE.init_file_backend(worktree.git_dir, 0))
        except _UNREADABLE as error:
            raise GitIndexError(
                f"libgit2 cannot open {safe_text(worktree.git_dir)}: {error}"
            ) from error
        super().__init__(worktree, id_bytes=20)

    def head(self) -> Head:
        try:
            commit = str(self._repo.lookup_reference("HEAD").resolve().target)
        except KeyError:
            if self._is_unborn():
                return Head(None, _EMPTY_TREE)
            raise GitIndexError("HEAD names an object that is missing", "run `git fsck`") from None
        except _UNREADABLE as error:
            raise GitIndexError(f"cannot read HEAD: {error}", "run `git fsck`") from error
        try:
            return Head(commit, self._tree_of(commit))
        except ObjectMissing as error:
            raise GitIndexError("HEAD names an object that is missing", "run `git fsck`") from error

    def close(self) -> None:
        super().close()
        self._repo.free()

    def _is_unborn(self) -> bool:
        try:
            return bool(self._repo.head_is_unborn)
        except _UNREADABLE:
            return False
