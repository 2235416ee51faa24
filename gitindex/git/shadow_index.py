"""A copy of git's index for readers: with it git lists only changed folders, and re-reads no file.

The runner lets git refresh the copy and add its untracked cache, when nothing waits and without its
lock; several at once do no harm. The copy is used as long as git's index has the same entries, by its
checksum or entry by entry; else git checks everything. Why that is safe: docs/internals.md, "The shadow
of git's index".
"""

from __future__ import annotations

import os

from gitindex.base.atomic_file import add_checksum, read_small, remove, strip_checksum, write_atomic
from gitindex.base.light_types import NamedTuple
from gitindex.base.system import mounts
from gitindex.base.worktree import Worktree
from gitindex.git.command import HARDENING, clean_env, git_program, run_program
from gitindex.git.index_file import (
    SECOND,
    Unreadable,
    digest_of,
    stamps_of,
)

TRUSTED = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "overlay"})
"""File systems whose folders reliably change times and inode when an entry comes or goes."""
MAPPED = TRUSTED - {"tmpfs"}
"""Those of them where a write through a memory mapping changes the times of the file."""


def is_trusted(root: str, kinds: frozenset[str] = TRUSTED) -> bool:
    """Is the whole work tree on one file system of these kinds?"""
    mounted = mounts()
    if mounted is None:
        return False  # not Linux
    here, best, kind = os.fsencode(root), b"", ""
    for place, its_kind in mounted:
        if place.startswith(here + b"/"):
            return False
        within = place == b"/" or here == place or here.startswith(place + b"/")
        if within and len(place) >= len(best):
            best, kind = place, its_kind
    return kind in kinds


SETTINGS = (
    "-c",
    "core.untrackedCache=true",
    "-c",
    "status.showUntrackedFiles=all",  # the cache is valid for one set of options
    "-c",
    "core.splitIndex=false",
)
CHECKSUM = 20  # bytes at the end of an index, also of one with longer ids
MAX_BYTES = 1 << 28  # of an index: that of two million files; a larger one is left to git


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
    identity: tuple[int, ...]  # of the copy

    def render(self) -> bytes:
        return add_checksum(" ".join(map(str, (*self[:3], *self.identity))).encode())


def find_shadow(worktree: Worktree) -> Shadow | None:
    """Return the copy, if it has the same entries as git's index now."""
    note = read_note(worktree)
    if note is None or not (has_checksum(worktree, note) or _says_the_same(worktree, note)):
        return None
    return Shadow(copy_of(worktree), note.identity)


def read_note(worktree: Worktree) -> ShadowRecord | None:
    """Return the runner's record, if it belongs to the present copy."""
    try:
        checksum, id_bytes, digest, *rest = (
            (strip_checksum(read_small(worktree.shadow)) or b"").decode().split()
        )
        identity = tuple(map(int, rest))
    except (OSError, ValueError):
        return None
    if identity_of(copy_of(worktree)) != identity:
        return None
    return ShadowRecord(checksum, int(id_bytes), digest, identity)


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


def identity_from(info: os.stat_result) -> tuple[int, ...]:
    """Return the same from a stat result."""
    return info.st_ino, info.st_mtime_ns, info.st_ctime_ns, info.st_size


def index_of(worktree: Worktree) -> str:
    """Return the path of git's own index."""
    return os.path.join(worktree.git_dir, "index")


def copy_of(worktree: Worktree) -> str:
    """Return the path of the copy."""
    return f"{worktree.shadow}.index"


LEAST_BYTES = 1 << 15
"""Size of an index below which git is fast without a copy: about 400 files."""


def is_due(worktree: Worktree) -> bool:
    """Is the copy missing or out of date, and worth its cost?"""
    if not is_large(worktree):
        return False
    return not _is_current(worktree) and is_trusted(worktree.root)


def _is_current(worktree: Worktree) -> bool:
    note = read_note(worktree)
    return note is not None and has_checksum(worktree, note)


def refresh_shadow_index(worktree: Worktree) -> None:
    """Make a copy of the current index for later readers; git checks all files."""
    if _is_current(worktree):
        return
    remove(worktree.shadow)
    data, modified = _read_index(worktree)
    checksum = data[-CHECKSUM:]
    if len(data) < LEAST_BYTES or not any(checksum) or not is_trusted(worktree.root):
        remove(copy_of(worktree))
        return
    with _temporary(worktree) as temp:
        began = _write(temp, data)
        # By the index's time git decides which entries may have changed since it checked them.
        os.utime(temp, ns=(modified, modified))
        id_bytes = _id_bytes(data)
        if not _refresh(worktree, temp) or _is_blurred(temp, began // SECOND, id_bytes):
            return
        # Later changes have a later time: git does not trust those entries.
        os.utime(temp, ns=(began, began))
        identity = _put_in_place(temp, copy_of(worktree))
    made = ShadowRecord(checksum.hex(), id_bytes, digest_of(data, id_bytes), identity)
    write_atomic(worktree.shadow, made.render(), durable=False)


class _temporary:  # noqa: N801 - a context manager without contextlib, which a prompt would load
    """The name of a new file beside the copy, removed if it was not renamed."""

    def __init__(self, worktree: Worktree) -> None:
        folder, name = os.path.split(copy_of(worktree))
        self._temp = os.path.join(folder, f".{name}.{os.urandom(8).hex()}.tmp")

    def __enter__(self) -> str:
        return self._temp

    def __exit__(self, *_: object) -> None:
        remove(self._temp)


def is_large(worktree: Worktree) -> bool:
    """Is git's index large enough for a copy? Git reads a small one fast."""
    try:
        return os.stat(index_of(worktree)).st_size >= LEAST_BYTES
    except OSError:
        return False


def _put_in_place(temp: str, name: str) -> tuple[int, ...]:
    """Rename a file and return its new identity, even if another process replaces it."""
    fd = os.open(temp, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.replace(temp, name)
        return identity_from(os.fstat(fd))
    finally:
        os.close(fd)


def _refresh(worktree: Worktree, index: str) -> bool:
    """Let git check everything and write the result into this index, under its own lock."""
    args = ("status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=dirty")
    return _run_with(worktree, index, args)


def _run_with(worktree: Worktree, index: str, words: tuple[str, ...]) -> bool:
    """Let git work on this index instead of its own, and write it."""
    env = clean_env(worktree.root) | {"GIT_INDEX_FILE": index}
    env["GIT_OPTIONAL_LOCKS"] = "1"
    hardening = [word for word in HARDENING if word != "--no-optional-locks"]
    argv = [git_program(env), "-C", worktree.root, *hardening, *SETTINGS, *words]
    return run_program(argv, env).returncode == 0


def plain_index(worktree: Worktree) -> bytes:
    """Return git's index as a whole one of version 2 or 3, written by git into a temporary folder."""
    from tempfile import TemporaryDirectory  # lazily: few repositories have another one

    with TemporaryDirectory(prefix="gitindex-index-") as folder:
        copy, (data, modified) = os.path.join(folder, "index"), _read_index(worktree)
        _write(copy, data)
        os.utime(copy, ns=(modified, modified))  # by it git decides which entries it checks
        words = ("update-index", "--index-version", "2", "--no-split-index", "--force-write-index")
        if not _run_with(worktree, copy, ("-c", "index.sparse=false", *words)):
            raise Unreadable
        with open(copy, "rb") as file:
            return file.read()


def _is_blurred(index: str, second: int, id_bytes: int) -> bool:
    """Was a time set back in the second of the check? Git compares seconds and may miss edits."""
    with open(index, "rb") as file:
        seen = stamps_of(file.read(), id_bytes)
        return any(modified < second <= changed for changed, modified in seen)


def _id_bytes(data: bytes) -> int:
    """Return the length of the ids in an index: with the wrong one it cannot be parsed."""
    for length in (20, 32):
        try:
            digest_of(data, length)
        except Unreadable:
            continue
        return length
    raise Unreadable


def _read_index(worktree: Worktree) -> tuple[bytes, int]:
    """Return git's index and its modification time; empty if it is missing or too large."""
    try:
        with open(index_of(worktree), "rb") as file:
            info = os.fstat(file.fileno())
            return file.read() if info.st_size <= MAX_BYTES else b"", info.st_mtime_ns
    except FileNotFoundError:
        return b"", 0


def _write(path: str, data: bytes) -> int:
    """Write a new file; return its time in whole seconds, by the file system's clock."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        began = os.fstat(fd).st_mtime_ns
        file.write(data)
    return began - began % SECOND  # not every file system is finer
