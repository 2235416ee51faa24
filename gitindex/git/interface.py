"""What the rest of gitindex may ask of a repository's objects, whichever library answers."""

from __future__ import annotations

from gitindex.base.errors import GitIndexError
from gitindex.base.lean import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol
else:
    Protocol = object  # a prompt cannot wait for `typing`

LINK = 0o120000
GITLINK = 0o160000
TREE = 0o040000
MAX_ENTRIES = 1_000_000
"""More paths than this in one tree is a bomb, not a project."""
MAX_REPEATED = 50_000
"""Paths below folders that the same tree has in several places. A few small objects, each of which
lists the next one ten times, are millions of paths."""


class Head(NamedTuple):
    """HEAD at one instant. Before the first commit: no commit, and the empty tree."""

    commit: str | None
    tree: str


class TooManyPaths(GitIndexError):
    """Two trees differ in more paths than are followed: list the new one instead."""


class Entry(NamedTuple):
    """One path of a tree; a folder only where it is left out as a whole (mode TREE)."""

    path: bytes
    mode: int
    oid: str


class Repository(Protocol):
    """Read-only access to one worktree's HEAD and to the objects behind it."""

    def head(self) -> Head:
        """HEAD now, read anew each time."""

    def entries(self, tree: str) -> Iterator[Entry]:
        """All paths of a tree."""

    def changes(self, old: str, new: str) -> Iterator[tuple[bytes, Entry | None]]:
        """Paths that differ between two trees with their entry in `new`, None where removed."""

    def size(self, oid: str) -> int:
        """Bytes of a blob, without reading it. ObjectMissing where git has it not."""

    def read(self, oid: str) -> bytes:
        """A blob's bytes. ObjectMissing where git has it not."""

    def close(self) -> None:
        """Let go of every file."""


def blob_id(data: bytes, digits: int) -> str:
    """The id git would give these bytes."""
    make = _sha256() if digits == 64 else _sha1()  # git's own name for it
    return str(make(b"blob %d\0%s" % (len(data), data)).hexdigest())


def _sha1() -> Callable[[bytes], Any]:
    """Without OpenSSL, which costs a prompt 6 ms."""
    try:
        module = __import__("_sha1")
    except ImportError:
        module = __import__("hashlib")
    make: Callable[[bytes], Any] = module.sha1
    return make


def _sha256() -> Callable[[bytes], Any]:
    from hashlib import sha256

    return sha256
