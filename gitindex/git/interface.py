"""What the rest of gitindex may ask of a repository's objects, whichever library answers."""

from __future__ import annotations

from gitindex.base.lean import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol
else:
    Protocol = object  # a prompt cannot wait for `typing`

LINK = 0o120000
GITLINK = 0o160000
MAX_ENTRIES = 1_000_000
"""More paths than this in one tree is a bomb, not a project."""


class Head(NamedTuple):
    """HEAD at one instant. Before the first commit: no commit, and the empty tree."""

    commit: str | None
    tree: str


class Entry(NamedTuple):
    """One path of a tree: never a folder."""

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
    import hashlib  # lazily: a prompt mostly has nothing to hash

    make = hashlib.sha256 if digits == 64 else hashlib.sha1  # git's own name for it
    return make(b"blob %d\0%s" % (len(data), data)).hexdigest()
