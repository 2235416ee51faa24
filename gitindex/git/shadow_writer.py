"""Makes the copy of git's index for readers: docs/internals.md, "The shadow of git's index".

Runs when nothing waits and without the runner's lock; several at once do no harm. Where the index
differs from the copy in a few entries, git changes those and nothing else is looked at.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from gitindex.base.atomic_file import remove
from gitindex.base.worktree import Worktree
from gitindex.git.command import HARDENING, clean_env, git_program
from gitindex.git.file_system import is_trusted, read_unnoticed, was_read, write_unread
from gitindex.git.index_contents import IndexChange, changes_between, digest_of
from gitindex.git.index_file import Unreadable, stamps_of
from gitindex.git.process import run_program
from gitindex.git.shadow_index import (
    CHECKSUM,
    MAX_BYTES,
    SETTINGS,
    ShadowRecord,
    copy_of,
    has_checksum,
    identity_from,
    index_of,
    read_note,
)

LEAST_BYTES = 1 << 15
"""Size of an index below which git is fast without a copy."""
MAX_CHANGES = 128
"""Entries that may come into a copy before git looks at all files again: it reads these at every look."""
MAX_NAMES = 32_000
"""Bytes of their names: they must fit into a pipe."""
MAX_UNASKED = 4
"""Updates of the copy that nobody asks for, before the next one waits until somebody does."""
UNASKED_BYTES = 3 << 19
"""Size of an index above which every update waits for that: below it one costs at most about 50 ms."""
_SECOND = 1_000_000_000


def keep_shadow_index(worktree: Worktree) -> None:
    """Make or update the copy, if that pays."""
    if not is_large(worktree):
        return
    asked = _is_asked_for(worktree)
    note = read_note(worktree, read_unnoticed)
    unasked = 0 if asked or note is None else note.unasked + 1
    if unasked > (MAX_UNASKED if _index_size(worktree) <= UNASKED_BYTES else 0):
        return
    if (note is not None and has_checksum(worktree, note)) or not is_trusted(worktree.root):
        return
    if note is not None and update_shadow_index(worktree, note, unasked):
        return
    if asked:
        refresh_shadow_index(worktree)


def update_shadow_index(worktree: Worktree, note: ShadowRecord, unasked: int) -> bool:
    """Give the copy the entries of the current index. False if that is not possible.

    The changed entries come without stat data, so git reads these files at every look; all others
    are as safe as before, because the copy keeps its time.
    """
    data, _ = _read_index(worktree)
    if not any(data[-CHECKSUM:]):
        return False
    with open(copy_of(worktree), "rb") as file:
        if identity_from(os.fstat(file.fileno())) != note.identity:
            return False  # another process has replaced it
        held = file.read()
    changes = changes_between(held, data, note.id_bytes, MAX_CHANGES - note.unsure)
    if changes is None or sum(len(change.path) for change in changes) > MAX_NAMES:
        return False
    digest = digest_of(data, note.id_bytes)
    began = note.identity[1]
    with _temporary(worktree) as temp:
        _write(temp, held)
        os.utime(temp, ns=(began, began))
        if not _change_entries(worktree, temp, changes):
            return False
        with open(temp, "rb") as file:
            if digest_of(file.read(), note.id_bytes) != digest:
                return False
        os.utime(temp, ns=(began, began))
        identity = _put_in_place(temp, copy_of(worktree))
    checksum, unsure = data[-CHECKSUM:].hex(), note.unsure + len(changes)
    # Git has checked all files for its own index: none of it is doubtful.
    made = ShadowRecord(checksum, note.id_bytes, digest, 0, unsure, unasked, identity)
    write_unread(worktree.shadow, made.render())
    return True


def refresh_shadow_index(worktree: Worktree) -> None:
    """Make a copy of the current index for later readers; git looks at all files."""
    note = read_note(worktree)
    if note is not None and has_checksum(worktree, note):
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
        if not _refresh(worktree, temp) or _is_blurred(temp, began // _SECOND, id_bytes):
            return
        # Later changes have a later time: git does not trust those entries.
        os.utime(temp, ns=(began, began))
        identity = _put_in_place(temp, copy_of(worktree))
    digest = digest_of(data, id_bytes)
    written = modified // _SECOND
    doubtful = sum(not 0 < then < written for _, then in stamps_of(data, id_bytes))
    made = ShadowRecord(checksum.hex(), id_bytes, digest, doubtful, 0, 0, identity)
    write_unread(worktree.shadow, made.render())


@contextlib.contextmanager
def _temporary(worktree: Worktree) -> Iterator[str]:
    """The name of a new file beside the copy, removed if it was not renamed."""
    folder, name = os.path.split(copy_of(worktree))
    temp = os.path.join(folder, f".{name}.{os.urandom(8).hex()}.tmp")
    try:
        yield temp
    finally:
        remove(temp)


def is_large(worktree: Worktree) -> bool:
    """Is git's index large enough for a copy? Git reads a small one fast."""
    return _index_size(worktree) >= LEAST_BYTES


def _index_size(worktree: Worktree) -> int:
    try:
        return os.stat(index_of(worktree)).st_size
    except OSError:
        return 0


def pays(worktree: Worktree) -> bool:
    """Is a copy worth a process of its own: has somebody asked for it, and is it missing?"""
    if not is_large(worktree) or not _is_asked_for(worktree):
        return False
    note = read_note(worktree)
    is_there = note is not None and has_checksum(worktree, note)
    return not is_there and is_trusted(worktree.root)


def _is_asked_for(worktree: Worktree) -> bool:
    """Has a reader looked for the copy since the last one was made? A new one costs git a look at all
    files, an update a tenth of it.

    The first copy of the main worktree is made at once; of others, of which there may be many, when
    somebody asks there: an empty record waits for it.
    """
    if worktree.id != "main" and not os.path.exists(worktree.shadow):
        write_unread(worktree.shadow, b"")
    return was_read(worktree.shadow)


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
    look = ("status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=dirty")
    return _run_with(worktree, index, look)


def _change_entries(worktree: Worktree, index: str, changes: list[IndexChange]) -> bool:
    """Let git change entries of this index; it forgets which new files their folders have."""
    lines = b"".join(b"%o %s %d\t%s\0" % (c.mode, c.oid.encode(), c.stage, c.path) for c in changes)
    return _run_with(worktree, index, ("update-index", "-z", "--index-info"), lines)


def _run_with(worktree: Worktree, index: str, words: tuple[str, ...], stdin: bytes = b"") -> bool:
    """Let git work on this index instead of its own, and write it."""
    env = clean_env(worktree.root) | {"GIT_INDEX_FILE": index}
    env["GIT_OPTIONAL_LOCKS"] = "1"
    hardening = [word for word in HARDENING if word != "--no-optional-locks"]
    argv = [git_program(env), "-C", worktree.root, *hardening, *SETTINGS, *words]
    return run_program(argv, env, stdin).returncode == 0


def _is_blurred(index: str, second: int, id_bytes: int) -> bool:
    """Was a time set back in the second of the check? Git compares seconds and may miss edits."""
    with open(index, "rb") as file:
        seen = stamps_of(file.read(), id_bytes)
        return any(modified < second <= changed for changed, modified in seen)


def _id_bytes(data: bytes) -> int:
    """Return the length of the ids in an index: with the wrong one it cannot be parsed."""
    for length in (20, 32):
        with contextlib.suppress(Unreadable):
            digest_of(data, length)
            return length
    raise Unreadable


def _read_index(worktree: Worktree) -> tuple[bytes, int]:
    """Return git's index and its modification time; empty if it is missing or too large."""
    try:
        with open(index_of(worktree), "rb") as file:
            found = os.fstat(file.fileno())
            return file.read() if found.st_size <= MAX_BYTES else b"", found.st_mtime_ns
    except FileNotFoundError:
        return b"", 0


def _write(path: str, data: bytes) -> int:
    """Write a new file; return its time in whole seconds, by the file system's clock."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        began = os.fstat(fd).st_mtime_ns
        file.write(data)
    return began - began % _SECOND  # not every file system is finer
