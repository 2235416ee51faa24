"""A copy of git's index for readers: with it git lists only changed folders, and re-reads no file.

The runner lets git refresh the copy and add its untracked cache. The copy is used as long as git's
index has the same entries, by its checksum or entry by entry; else git checks everything. Why that
is safe: docs/internals.md, "The shadow of git's index".
"""

from __future__ import annotations

import os

from gitindex.base.atomic_file import add_checksum, read_small, strip_checksum
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.worktree import Worktree

if TYPE_CHECKING:
    from collections.abc import Callable

SETTINGS = (
    "-c",
    "core.untrackedCache=true",
    "-c",
    "status.showUntrackedFiles=all",  # the cache is valid for one set of options
    "-c",
    "core.splitIndex=false",
)
CHECKSUM = 20
MAX_BYTES = 1 << 28
MANY = 32
"""If git would re-read this many files, the copy saves more than it costs to load."""


class Shadow(NamedTuple):
    """A copy that may be used as long as it is the same file."""

    path: str
    identity: tuple[int, ...]

    def is_there(self) -> bool:
        """Is it still there? Git treats a missing index as an empty one."""
        return identity_of(self.path) == self.identity


class ShadowRecord(NamedTuple):
    """The runner's record beside the copy."""

    checksum: str  # of the index it was made from
    id_bytes: int
    digest: str  # of the entries of that index
    doubtful: (
        int  # files that git reads again with that index: changed in its second, or never looked at
    )
    unsure: int  # files that git reads again with the copy: changed since it looked at all of them
    unasked: int  # updates of the copy since somebody asked for it
    identity: tuple[int, ...]  # of the copy

    def render(self) -> bytes:
        return add_checksum(" ".join(map(str, (*self[:6], *self.identity))).encode())


def find_shadow(worktree: Worktree, untracked: bool = True) -> Shadow | None:
    """Return the copy, if it has the same entries as git's index now.

    If new files are not needed, it pays only if git would re-read many files.
    """
    note = read_note(worktree)
    if note is None or (not untracked and note.doubtful < MANY):
        return None
    if has_checksum(worktree, note) or (untracked and _says_the_same(worktree, note)):
        return Shadow(copy_of(worktree), note.identity)
    return None


def read_note(
    worktree: Worktree, read: Callable[[str], bytes | None] = read_small
) -> ShadowRecord | None:
    """Return the runner's record, if it belongs to the present copy."""
    try:
        checksum, id_bytes, digest, *rest = (
            (strip_checksum(read(worktree.shadow)) or b"").decode().split()
        )
        doubtful, unsure, unasked, *identity = map(int, rest)
    except (OSError, ValueError):
        return None
    if identity_of(copy_of(worktree)) != tuple(identity):
        return None
    counts = doubtful, unsure, unasked
    return ShadowRecord(checksum, int(id_bytes), digest, *counts, tuple(identity))


def has_checksum(worktree: Worktree, note: ShadowRecord) -> bool:
    """Is git's index, byte for byte, the one that the copy was made from?"""
    try:
        index = os.open(index_of(worktree), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        end = os.pread(index, CHECKSUM, max(0, os.fstat(index).st_size - CHECKSUM))
    finally:
        os.close(index)
    return end.hex() == note.checksum


def _says_the_same(worktree: Worktree, note: ShadowRecord) -> bool:
    """Has git rewritten its index with nothing but new stat data?"""
    from gitindex.git.index_contents import digest_of  # lazily: most callers do not need it
    from gitindex.git.index_file import Unreadable

    try:
        with open(index_of(worktree), "rb") as file:
            return digest_of(file.read(MAX_BYTES), note.id_bytes) == note.digest
    except (OSError, Unreadable):
        return False


def identity_of(path: str) -> tuple[int, ...] | None:
    """Return inode, times and size of a file, following links: a replaced file has others."""
    try:
        return identity_from(os.stat(path))
    except OSError:
        return None


def identity_from(found: os.stat_result) -> tuple[int, ...]:
    """Return the same from a stat result."""
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def index_of(worktree: Worktree) -> str:
    """Return the path of git's own index."""
    return os.path.join(worktree.git_dir, "index")


def copy_of(worktree: Worktree) -> str:
    """Return the path of the copy."""
    return f"{worktree.shadow}.index"
