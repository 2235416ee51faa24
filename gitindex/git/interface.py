"""The interface to a repository's objects, for either library."""

from __future__ import annotations

from gitindex.base.digest import sha1, sha256
from gitindex.base.errors import GitIndexError
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol
else:
    Protocol = object  # a prompt cannot afford to import `typing`

LINK = 0o120000
GITLINK = 0o160000
TREE = 0o040000
MAX_ENTRIES = 1_000_000
"""Paths of one tree. A few small objects, each of which lists the next one ten times, are more: folders
beyond it are left out, which every answer counts."""


class Head(NamedTuple):
    """HEAD at one instant. Before the first commit: no commit, and the empty tree."""

    commit: str | None
    tree: str


class TooManyPaths(GitIndexError):
    """Two trees differ in more than MAX_ENTRIES paths: list the new one instead."""


class Entry(NamedTuple):
    """One path of a tree; a folder only if it is left out as a whole (mode TREE)."""

    path: bytes
    mode: int
    oid: str


class Repository(Protocol):
    """Read-only access to one worktree's HEAD and to the objects behind it."""

    def head(self) -> Head:
        """Return HEAD, read anew each time."""

    def entries(self, tree: str) -> Iterator[Entry]:
        """Return all paths of a tree."""

    def changes(self, old: str, new: str) -> Iterator[tuple[bytes, Entry | None]]:
        """Return paths that differ between two trees with their entry in `new`, None if removed."""

    def size(self, oid: str) -> int:
        """Return the size of a blob, without reading it. ObjectMissing if git does not have it."""

    def read(self, oid: str) -> bytes:
        """Return a blob's bytes. ObjectMissing if git does not have it."""

    def close(self) -> None:
        """Close every file."""


def blob_id(data: bytes, digits: int) -> str:
    """Return the id that git would give these bytes."""
    return object_id(b"blob", data, digits)


def object_id(kind: bytes, data: bytes, digits: int) -> str:
    """Return the id that git would give an object of any kind."""
    make = sha256 if digits == 64 else sha1  # git's own name for it
    return str(make(b"%s %d\0%s" % (kind, len(data), data)).hexdigest())
