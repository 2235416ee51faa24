"""The object database through the `git` command. Never fetches.

References are read in the repository, objects through a view of it (command.view_env).
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gitindex.base.errors import GitIndexError, ObjectMissing
from gitindex.base.escape import safe_text
from gitindex.base.pattern import compile_later
from gitindex.base.system import spawn
from gitindex.base.worktree import Worktree
from gitindex.git.command import (
    HARDENING,
    TIMEOUT_S,
    clean_env,
    empty_tree,
    git_argv,
    git_program,
    run_git,
    try_git,
    view_env,
)
from gitindex.git.interface import (
    NO_TREE,
    Entry,
    Head,
    Listing,
    compare_trees,
    object_id,
    parse_tree,
)

READ_BYTES = 1 << 18
"""Of one read: four times what a pipe holds."""
MAX_BLOB_BYTES = 1 << 29
"""Git streams larger ones, for ever where a loose object lies about its size; we read none above 64 MB."""
MAX_TREE_BYTES = 64 << 20
"""A folder larger than this is treated as a bomb: a million names of 40 bytes fit."""
_ID_BYTES = {"sha1": 20, "sha256": 32}
_TREE_LINE = compile_later(rb"tree ([0-9a-f]+)\n")
_COMMAND = ("cat-file", "--batch-command")


class ObjectInfo(NamedTuple):
    """What git reports about one object; no data where only its size was the question."""

    oid: str
    kind: str
    size: int
    data: bytes


class Batch:
    """Queries one `git cat-file` child, started on first use and restarted once if it died."""

    def __init__(self, argv: list[str], env: dict[str, str], timeout: float) -> None:
        self._argv, self._env, self._timeout = argv, env, timeout
        self._child: _BatchProcess | None = None

    def ask(
        self, command: str, names: Sequence[str], limit: int = MAX_BLOB_BYTES
    ) -> list[ObjectInfo | None]:
        """Return one answer per name, None if missing; no contents beyond `limit` bytes: ObjectMissing.

        `command`: `info` or `contents`. The names must fit into a pipe.
        """
        with contextlib.suppress(_Ended):
            return self._ask(command, names, limit)
        try:
            return self._ask(command, names, limit)
        except _Ended as ended:
            raise ended.explain(names) from None

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _ask(self, command: str, names: Sequence[str], limit: int) -> list[ObjectInfo | None]:
        if self._child is None:
            self._child = _BatchProcess(self._argv, self._env)
        child = self._child
        try:
            child.deadline = time.monotonic() + self._timeout
            child.send("".join(f"{command} {name}\n" for name in names).encode())
            return [_answer(child, limit if command == "contents" else -1) for _ in names]
        except BaseException:
            self.close()  # the rest of an answer may be in the pipe: never read it as the next one
            raise


def _answer(child: _BatchProcess, limit: int) -> ObjectInfo | None:
    """Read one answer; bytes follow it only where there is a limit for them."""
    words = child.line().decode("ascii", "replace").split(" ")
    if len(words) != 3:
        return None
    size = int(words[2])
    if size > limit >= 0:
        raise ObjectMissing(f"object {words[0]} is too big: {size} bytes")
    data = child.take(size + 1)[:size] if limit >= 0 else b""
    return ObjectInfo(words[0], words[1], size, data)


class _Ended(Exception):
    """The child is gone."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code

    def explain(self, names: Sequence[str]) -> GitIndexError:
        """Return the error: an exit code means an unreadable object, a signal does not."""
        what = f"object {names[0]}" if len(names) == 1 else "an object"
        if self.code > 0:
            return ObjectMissing(f"{what} cannot be read", "run `git fsck`")
        return GitIndexError(f"git cat-file was ended ({self.code})", "try again")


class _BatchProcess:
    """One process and its pipes. It exits when we do, because its stdin closes."""

    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        self.deadline = 0.0
        self._buffer = bytearray()
        ends: list[int] = []  # its input, ours; ours, its output
        try:
            ends += os.pipe()
            ends += os.pipe()
            self._pid = spawn(argv, env, ends[0], ends[3], None)
        except OSError as error:
            for fd in ends[1:3]:
                os.close(fd)
            raise GitIndexError(f"cannot run git: {error.strerror}", "try again") from error
        finally:
            for fd in ends[::3]:
                os.close(fd)
        self._in, self._out = ends[1:3]
        self._poller = select.poll()
        self._poller.register(self._out, select.POLLIN)

    def send(self, data: bytes) -> None:
        try:
            os.write(self._in, data)
        except BrokenPipeError:
            raise _Ended(self._reap()) from None

    def line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            self._more()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._more()
        data = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        return data

    def end(self) -> None:
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            self._reap()
        os.close(self._in)
        os.close(self._out)

    def _more(self) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0 or not self._poller.poll(left * 1000):
            raise GitIndexError("git did not answer in time", "try again, or run `git fsck`")
        chunk = os.read(self._out, READ_BYTES)
        if not chunk:
            raise _Ended(self._reap())
        self._buffer += chunk

    def _reap(self) -> int:
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        return os.waitstatus_to_exitcode(status)


class GitCommandRepository:
    """One worktree read by two long-lived `git cat-file` children that start on first use."""

    def __init__(
        self, worktree: Worktree, timeout: float = TIMEOUT_S, id_bytes: int | None = None
    ) -> None:
        """`id_bytes`: the length of an id, where it is known; else git is asked."""
        self._root = worktree.root
        self._id_bytes = id_bytes or _examine(worktree)
        self._trees: dict[str, str] = {}  # of the last commit that was HEAD
        self._id = re.compile(rf"[0-9a-f]{{{2 * self._id_bytes}}}")
        self._empty: str | None = None
        env = clean_env(worktree.root)
        view = view_env(worktree, 2 * self._id_bytes)
        reader = [git_program(env), "-C", "/", *HARDENING, *_COMMAND]
        self._names = Batch(git_argv(worktree.root, _COMMAND, env), env, timeout)
        self._objects = Batch(reader, view, timeout)

    def head(self) -> Head:
        for _ in range(2):  # the first commit may be made, or references moved, meanwhile
            (commit,) = self._names.ask("info", ["HEAD^{commit}"])
            if commit is not None:
                return Head(commit.oid, self._tree_of(commit.oid))
            named = try_git(self._root, "rev-parse", "--verify", "--quiet", "HEAD")
            if named.returncode:
                return self._unborn()
            self._names.close()
        raise GitIndexError("HEAD names an object that is missing", "run `git fsck`")

    def entries(self, tree: str) -> Iterator[Entry]:
        for _, entry in compare_trees(self._list, NO_TREE, tree):
            if entry is not None:
                yield entry

    def changes(self, old: str, new: str) -> Iterator[tuple[bytes, Entry | None]]:
        return compare_trees(self._list, old, new)

    def size(self, oid: str) -> int:
        return self._ask("info", oid).size

    def read(self, oid: str) -> bytes:
        return _verified(oid, self._ask("contents", oid)).data

    def close(self) -> None:
        self._names.close()
        self._objects.close()

    def _unborn(self) -> Head:
        """Return HEAD without a commit; raises if HEAD is a broken reference."""
        named = try_git(self._root, "symbolic-ref", "--quiet", "HEAD")
        if named.returncode:
            raise GitIndexError("HEAD cannot be read", "run `git fsck`")
        if self._empty is None:
            self._empty = empty_tree(self._root)
        return Head(None, self._empty)

    def _tree_of(self, commit: str) -> str:
        """Parse the tree id of a commit: git would read the tree, which may be missing."""
        if commit not in self._trees:
            line = _TREE_LINE.match(self.read(commit))
            if line is None:
                raise GitIndexError(f"commit {commit} is malformed", "run `git fsck`")
            self._trees = {commit: line[1].decode()}
        return self._trees[commit]

    def _ask(self, command: str, oid: str) -> ObjectInfo:
        self._check(oid)
        (info,) = self._objects.ask(command, [oid])
        if info is None:
            raise ObjectMissing(f"object {oid} is not in this repository")
        return info

    def _list(self, oids: Iterable[str]) -> dict[str, Listing]:
        names = list(oids)
        for oid in names:
            self._check(oid)
        listings = {}
        answers = self._objects.ask("contents", names, limit=MAX_TREE_BYTES)
        for oid, info in zip(names, answers, strict=True):
            if info is None:
                raise ObjectMissing(f"tree {oid} is not in this repository")
            if _verified(oid, info).kind != "tree":
                raise GitIndexError(f"object {oid} is not a tree")
            listings[oid] = parse_tree(info.data, self._id_bytes)
        return listings

    def _check(self, oid: str) -> None:
        """Accept only whole ids: never an abbreviation, a name or a second line."""
        if not self._id.fullmatch(oid):
            raise ObjectMissing(f"{safe_text(oid)} is no object id of this repository")


def _verified(oid: str, info: ObjectInfo) -> ObjectInfo:
    """Return an object that is what its id says: git does not check that for one in a pack."""
    if object_id(info.kind.encode(), info.data, len(oid)) != oid:
        raise ObjectMissing(f"object {oid} cannot be read: it is another one", "run `git fsck`")
    return info


def _examine(worktree: Worktree) -> int:
    """Return how many bytes an id has. Git itself decides whether the folder is trusted."""
    output = run_git(worktree.root, "rev-parse", "--show-object-format", "--absolute-git-dir")
    hash_name, _, git_dir = output.partition(b"\n")
    actual = os.path.realpath(git_dir.removesuffix(b"\n"))
    if actual != os.path.realpath(os.fsencode(worktree.git_dir)):
        raise GitIndexError(
            f"git reads another repository here: {safe_text(actual)}", "check it with `git status`"
        )
    name = hash_name.decode()
    if name not in _ID_BYTES:
        raise GitIndexError(f"object format {safe_text(name)} is unknown", "upgrade gitindex")
    return _ID_BYTES[name]
