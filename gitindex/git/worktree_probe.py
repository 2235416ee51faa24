"""HEAD and the work tree as they are now: one probe, started early and read when needed."""

from __future__ import annotations

from gitindex.base.errors import GitIndexError
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.vocabulary import EditScope
from gitindex.base.worktree import Worktree
from gitindex.git.command import (
    Result,
    Running,
    check_result,
    clean_env,
    empty_tree,
    git_argv,
    try_git,
)

if TYPE_CHECKING:
    from gitindex.git.hidden_edits import HiddenEdits
    from gitindex.git.shadow_index import Shadow

ATTEMPTS = 5
"""How often a probe restarts because HEAD or git's index changed while git was running."""

_GITLINK = b"160000"
_SUBMODULE = frozenset({_GITLINK, b"000000"})
"""Modes of a path that is a submodule or missing: at HEAD, in git's index, on disk."""
_HEAD = ("rev-parse", "HEAD", "HEAD^{tree}", "--symbolic-full-name", "HEAD")
_BRANCH = "refs/heads/"


class HeadState(NamedTuple):
    """HEAD, and what differs from it on disk."""

    commit: str | None  # None: no commit yet
    dirty: tuple[bytes, ...] = ()  # tracked paths that differ from HEAD
    untracked: tuple[bytes, ...] = ()  # new and not ignored
    converted: tuple[bytes, ...] = ()  # unchanged for git, but other bytes than the blob's
    submodules: tuple[bytes, ...] = ()  # in git's index, not in HEAD
    tree: str = ""
    branch: str | None = None  # None: detached
    scope: EditScope = EditScope.ALL  # which edits were searched for
    unchecked: int = 0  # tracked files that may differ and were not compared
    age_ms: int = 0  # since the work tree was compared; 0: for this question

    @property
    def differs(self) -> bool:
        """Return whether anything on disk, or any submodule, is not as HEAD says."""
        return bool(self.dirty or self.untracked or self.converted or self.submodules)

    @property
    def edits(self) -> int | None:
        """Return how many tracked or new paths differ from HEAD; None if not all were checked."""
        if self.scope is not EditScope.ALL:
            return None
        new = {path for path in self.untracked if not path.endswith(b"/")}
        return len(new.union(self.dirty))


class WorktreeProbe:
    """Git running on one worktree. `result` waits for it, `abandon` ends it.

    A submodule at another commit is not a
    difference, but a file in its place is.
    """

    def __init__(self, worktree: Worktree, scope: EditScope) -> None:
        self.worktree, self._scope = worktree, scope
        self._running: list[Running] = []
        self._begin()

    @classmethod
    def start(cls, worktree: Worktree, scope: EditScope = EditScope.ALL) -> WorktreeProbe:
        """Start git and return at once."""
        return cls(worktree, scope)

    def result(self) -> HeadState:
        """Return HEAD and the edits, read while neither HEAD nor git's index changed."""
        for _ in range(ATTEMPTS):
            if not self._running:
                self._begin()
            try:
                state, steady = self._collect()
            finally:
                self.abandon()
            if steady:
                break
        return state

    def abandon(self) -> None:
        """End git: the answer is not needed any more."""
        while self._running:
            self._running.pop().abandon()

    def __enter__(self) -> WorktreeProbe:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _begin(self) -> None:
        root = self.worktree.root
        env = clean_env(root)
        self._running = [Running(git_argv(root, _HEAD, env), env)]
        if self._scope is EditScope.NONE:
            return
        from gitindex.git.shadow_index import find_shadow, identity_of, index_of

        try:  # lazily: a prompt counts no edits
            self._before = identity_of(index_of(self.worktree))
            self._shadow = find_shadow(self.worktree)
            self._running.append(self._start_status())
        except BaseException:
            self.abandon()
            raise

    def _start_status(self) -> Running:
        """Start `git status`, with the copy of the index if it is valid."""
        from gitindex.git.shadow_index import SETTINGS

        env, settings = clean_env(self.worktree.root), tuple[str, ...]()
        if self._shadow is not None:
            env, settings = env | {"GIT_INDEX_FILE": self._shadow.path}, SETTINGS
        argv = git_argv(self.worktree.root, (*settings, *_status_args(self._scope)), env)
        return Running(argv, env)

    def _collect(self) -> tuple[HeadState, bool]:
        head = self._running.pop(0).result()
        if self._scope is EditScope.NONE:
            return self._committed(head, None), True
        output = self._running.pop(0).result()
        if self._shadow is not None and not _is_usable(output, self._shadow):
            output = _run_status(self.worktree, self._scope)
        status = _parse_status(check_result(("status",), output))
        state = self._committed(head, status)
        hidden, index = self._hidden(status, len(state.tree))
        dirty = dict.fromkeys((*status.dirty, *hidden.edited))
        steady = status.commit == state.commit and index == self._before
        state = state._replace(
            dirty=tuple(dirty),
            untracked=status.untracked,
            submodules=status.submodules,
            converted=tuple(path for path in hidden.converted if path not in dirty),
            unchecked=hidden.not_compared,
        )
        return state, steady

    def _hidden(self, status: HeadState, digits: int) -> tuple[HiddenEdits, tuple[int, ...] | None]:
        """Return edits that `git status` does not show, and the index that was read."""
        from gitindex.git.hidden_edits import find_hidden, probe_index
        from gitindex.git.shadow_index import identity_of, index_of

        probe = probe_index(self.worktree, digits)
        index = identity_of(index_of(self.worktree))
        return find_hidden(self.worktree, probe, status.dirty, status.untracked), index

    def _committed(self, head: Result, status: HeadState | None) -> HeadState:
        """Return HEAD's commit, tree and branch, read by one git process."""
        if head.returncode == 0:
            commit, tree, name = head.output.decode("utf-8", "surrogateescape").split("\n")[:3]
            return HeadState(commit, tree=tree, branch=_branch(name), scope=self._scope)
        if status is None:  # no commit yet, or HEAD is broken: `git status` shows which
            output = _run_status(self.worktree, EditScope.TRACKED)
            status = _parse_status(check_result(("status",), output))
        if status.commit is not None:
            said = head.errors.decode("utf-8", "replace").strip().partition("\n")[0]
            raise GitIndexError(f"HEAD cannot be read: {said}", "run `git fsck`")
        tree = empty_tree(self.worktree.root)
        return HeadState(None, tree=tree, branch=status.branch, scope=self._scope)


def read_head_state(worktree: Worktree, scope: EditScope = EditScope.ALL) -> HeadState:
    """Return HEAD and the paths that differ from it, now."""
    return WorktreeProbe.start(worktree, scope).result()


def _is_usable(output: Result, shadow: Shadow) -> bool:
    return output.returncode == 0 and shadow.is_there()


def _status_args(scope: EditScope) -> tuple[str, ...]:
    return (
        "status",
        "--porcelain=v2",
        "--branch",
        "--no-ahead-behind",
        "-z",
        "--no-renames",
        f"--untracked-files={'all' if scope is EditScope.ALL else 'no'}",
        "--ignore-submodules=dirty",
    )


def _run_status(worktree: Worktree, scope: EditScope) -> Result:
    return try_git(worktree.root, *_status_args(scope))


def _parse_status(output: bytes) -> HeadState:
    commit: str | None = None
    branch: str | None = None
    dirty: list[bytes] = []
    new: list[bytes] = []
    submodules: list[bytes] = []
    for record in output.split(b"\0"):
        if record.startswith(b"# branch.oid "):
            name = record.removeprefix(b"# branch.oid ").decode()
            commit = None if name == "(initial)" else name
        elif record == b"# branch.head (unknown)":
            raise GitIndexError("HEAD cannot be read", "run `git fsck`")
        elif record.startswith(b"# branch.head "):
            name = record.removeprefix(b"# branch.head ").decode("utf-8", "surrogateescape")
            branch = None if name == "(detached)" else name
        elif record.startswith(b"1 "):
            fields = record.split(b" ", 8)
            if not _SUBMODULE.issuperset(fields[3:6]):
                dirty.append(fields[8])
            submodules += _new_submodule(fields)
        elif record.startswith(b"u "):
            dirty.append(record.split(b" ", 10)[-1])
        elif record.startswith(b"? "):
            new.append(record[2:])
    return HeadState(commit, tuple(dirty), tuple(new), submodules=tuple(submodules), branch=branch)


def _new_submodule(fields: list[bytes]) -> list[bytes]:
    head, index, disk, path = *fields[3:6], fields[8]
    return [path] if head != _GITLINK == index and disk in _SUBMODULE else []


def _branch(name: str) -> str | None:
    return name.removeprefix(_BRANCH) if name.startswith(_BRANCH) else None
