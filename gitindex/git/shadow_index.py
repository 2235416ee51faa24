"""A copy of git's index for readers: with it git lists only folders that changed, and rereads no file.

The runner lets git refresh the copy and put its untracked cache in. It counts as long as git's index
says the same of all files, by its checksum or entry by entry; else git looks at everything. Why that is
safe: docs/design.md, "The shadow of git's index".
"""

from __future__ import annotations

import os

from gitindex.base.atomic_file import read_small
from gitindex.base.lean import NamedTuple
from gitindex.base.worktree import Worktree

SETTINGS = (
    "-c",
    "core.untrackedCache=true",
    "-c",
    "status.showUntrackedFiles=all",  # the cache is of one way of asking
    "-c",
    "core.splitIndex=false",
)
CHECKSUM = 20
MAX_BYTES = 1 << 28
MANY = 32
"""Files that git would read again: then the copy saves more than it takes to load."""


class Shadow(NamedTuple):
    """A copy that may be used as long as it is this very file."""

    path: str
    identity: tuple[int, ...]

    def is_there(self) -> bool:
        """Was it there all the time? To git an index that is missing is an empty one."""
        return identity_of(self.path) == self.identity


class ShadowRecord(NamedTuple):
    """What the runner leaves beside the copy."""

    checksum: str  # of the index that it was made of
    id_bytes: int
    digest: str  # of what that index says of its files
    doubtful: (
        int  # files that git reads again with that index: changed in its second, or never looked at
    )
    identity: tuple[int, ...]  # of the copy

    def render(self) -> bytes:
        return " ".join(map(str, (*self[:4], *self.identity))).encode()


def find_shadow(worktree: Worktree, untracked: bool = True) -> Shadow | None:
    """The copy, if it says of all files what git's index says now.

    Where new files are not asked for it is worth its size only if git would read many files again.
    """
    note = read_note(worktree)
    if note is None or (not untracked and note.doubtful < MANY):
        return None
    if has_checksum(worktree, note) or (untracked and _says_the_same(worktree, note)):
        return Shadow(copy_of(worktree), note.identity)
    return None


def read_note(worktree: Worktree) -> ShadowRecord | None:
    """The runner's note, if it is of the copy that is there."""
    try:
        checksum, id_bytes, digest, *rest = (read_small(worktree.shadow) or b"").decode().split()
        doubtful, *identity = map(int, rest)
        note = ShadowRecord(checksum, int(id_bytes), digest, doubtful, tuple(identity))
    except (OSError, ValueError):
        return None
    return note if identity_of(copy_of(worktree)) == note.identity else None


def has_checksum(worktree: Worktree, note: ShadowRecord) -> bool:
    """Is git's index, byte for byte, the one that the copy was made of?"""
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
    """Has git written its index again and changed no more than what files looked like on disk?"""
    from gitindex.git.index_file import Unreadable, digest_of  # lazily: most never ask

    try:
        with open(index_of(worktree), "rb") as file:
            return digest_of(file.read(MAX_BYTES), note.id_bytes) == note.digest
    except (OSError, Unreadable):
        return False


def identity_of(path: str) -> tuple[int, ...] | None:
    """Inode, times and size of a file, also behind a link: another one at the same place has others."""
    try:
        return identity_from(os.stat(path))
    except OSError:
        return None


def identity_from(found: os.stat_result) -> tuple[int, ...]:
    """The same from what the system says of a file."""
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def index_of(worktree: Worktree) -> str:
    """Git's own index."""
    return os.path.join(worktree.git_dir, "index")


def copy_of(worktree: Worktree) -> str:
    """Where the copy of it is."""
    return f"{worktree.shadow}.index"
