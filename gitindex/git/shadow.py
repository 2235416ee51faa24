"""A copy of git's index for readers: with it git lists only folders that changed, and rereads no file.

The runner lets git refresh the copy and put its untracked cache in. It counts for exactly the index it
was made of, by that index's own checksum; else, and wherever there is doubt, git looks at everything.
"""

from __future__ import annotations

import os

from gitindex.atomic import read_small
from gitindex.paths import Worktree
from gitindex.values import NamedTuple

SETTINGS = (
    "-c", "core.untrackedCache=true",
    "-c", "status.showUntrackedFiles=all",  # the cache is of one way of asking
    "-c", "core.splitIndex=false",
)  # fmt: skip
CHECKSUM = 20


class Shadow(NamedTuple):
    """A copy that may be used as long as it is this very file."""

    path: str
    identity: tuple[int, ...]

    def is_there(self) -> bool:
        """Was it there all the time? To git an index that is missing is an empty one."""
        return identity_of(self.path) == self.identity


def find_shadow(worktree: Worktree) -> Shadow | None:
    """The copy of the index as it is now, if the runner has made one."""
    try:
        checksum, *known = (read_small(worktree.shadow) or b"").split()
        index = os.open(index_of(worktree), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            end = os.pread(index, CHECKSUM, max(0, os.fstat(index).st_size - CHECKSUM))
        finally:
            os.close(index)
    except (OSError, ValueError):
        return None
    copy = copy_of(worktree)
    identity = identity_of(copy)
    if identity is None or known != [b"%d" % number for number in identity]:
        return None
    return Shadow(copy, identity) if checksum == end.hex().encode() else None


def identity_of(path: str) -> tuple[int, ...] | None:
    """Inode, times and size: another file at the same place has others."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def index_of(worktree: Worktree) -> str:
    """Git's own index."""
    return os.path.join(worktree.git_dir, "index")


def copy_of(worktree: Worktree) -> str:
    """Where the copy of it is."""
    return f"{worktree.shadow}.index"
