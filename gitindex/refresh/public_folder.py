"""The folder `.llmc/` of a worktree: who may write into it, and that what git tracks is left alone."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from functools import partial
from io import FileIO

from gitindex.base.atomic_file import read_small, remove, sweep_temporaries, write_atomic
from gitindex.base.errors import GitIndexError
from gitindex.base.ownership import check_folder
from gitindex.base.worktree import FROM_TEMPLATE, LLMC, STORE_FOLDERS, Worktree
from gitindex.freshness.status_file import path_of
from gitindex.git.command import try_git
from gitindex.git.index_file import surely_lacks
from gitindex.git.interface import blob_id
from gitindex.git.shadow_index import identity_from, identity_of, index_of

LITTER_SECONDS = 60.0
LOCK_SECONDS = 2.0
"""How long a change waits for the git command that was writing the index meanwhile."""
POLL_SECONDS = 0.005
PIECE = 1 << 16
"""Bytes of git's index that are read at first; then as many as were read so far."""
_CONVERTING = (b"filter", b"ident", b"encoding")
_TELLING = (b"bigfilethreshold", b"attributesfile", b"[include")

_waited: set[int] = set()
"""Locks that outlasted the wait: a killed git left them, or it is an editor that is open."""

_lacking: dict[str, tuple[int, ...]] = {}
"""Indexes of git that had nothing of `.llmc/`, as they were then."""


class TrackedFolder(GitIndexError):
    """Git tracks something in `.llmc/`: nothing there is written or removed."""

    def __init__(self) -> None:
        super().__init__(f"{LLMC} is tracked by git", f"`git rm -r --cached {LLMC}`")


@contextlib.contextmanager
def changing(worktree: Worktree) -> Iterator[None]:
    """Change files of ours in `.llmc/`; TrackedFolder if git tracks any of them.

    A `git add -f` or a checkout may be under way. It holds `index.lock` from before it reads or writes a
    file until its index is in place. So a change begins when a lock that is there has gone (git refuses a
    file that appears where it has just removed one), and the index is looked at again after it, likewise;
    where git tracks the folder by then, what we wrote gives way to git's bytes.
    """
    if worktree.beside:
        yield
        return
    check_folder(worktree.llmc, LLMC)
    await_git(worktree)
    before = {path: _content(path) for path in _files(worktree)}
    seen = identity_of(index_of(worktree))
    if is_tracked(worktree):
        _give_way(worktree)
        raise TrackedFolder
    try:
        yield
    finally:
        written = {path: _content(path) for path in before}
        await_git(worktree)
        if identity_of(index_of(worktree)) != seen and is_tracked(worktree):
            _put_back(before | _tracked(worktree), written)
            raise TrackedFolder


def _files(worktree: Worktree) -> tuple[str, ...]:
    ignore = os.path.join(worktree.llmc, ".gitignore")
    return ignore, worktree.marker, worktree.stale_status, path_of(worktree.root)


def await_git(worktree: Worktree) -> None:
    """Wait until this very lock of git's index is gone, for a bounded time, and only once."""
    lock = index_of(worktree) + ".lock"
    held = _inode(lock)
    deadline = time.monotonic() + LOCK_SECONDS
    while held and held not in _waited and _inode(lock) == held:
        if time.monotonic() > deadline:
            _waited.add(held)
        time.sleep(POLL_SECONDS)


def _inode(path: str) -> int:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return 0


def _put_back(wanted: dict[str, bytes | None], written: dict[str, bytes | None]) -> None:
    """Undo what was written, but nothing that somebody has written since."""
    for path, data in wanted.items():
        if _content(path) != written[path] or written[path] == data:
            continue
        if data is None:
            remove(path)
        else:
            write_atomic(path, data)  # the store may have been cleared


def _give_way(worktree: Worktree) -> None:
    """Put git's bytes in the place of what we wrote while a git command held the lock for too long."""
    ours = (read_small(worktree.public_objects) or b"").replace(b"/", b"").decode().split()
    for path, data in _tracked(worktree).items():
        held = _content(path)
        if data is None or held is None or held == data:
            continue
        if any(blob_id(held, len(name)) == name for name in ours):
            write_atomic(path, data)


def _tracked(worktree: Worktree) -> dict[str, bytes | None]:
    """The bytes that git's index has for files of ours: what it has read, or checked out."""
    found: dict[str, bytes | None] = {}
    listed = try_git(worktree.root, "ls-files", "-s", "-z", "--", LLMC).output
    for record in filter(None, listed.split(b"\0")):
        said, _, name = record.partition(b"\t")
        path = os.path.join(worktree.root, os.fsdecode(name))
        if path in _files(worktree):
            blob = try_git(worktree.root, "cat-file", "blob", said.split()[1].decode())
            if not blob.returncode:
                found[path] = blob.output
    return found


def _content(path: str) -> bytes | None:
    try:
        return read_small(path)
    except OSError:  # a checkout put a link or a folder in its place
        return None


def is_tracked(worktree: Worktree) -> bool:
    """Does git track anything in `.llmc/`? Also true where git cannot say.

    The beginning of git's index is read, whose paths are sorted; only where it has the name, or is of
    another format, git is asked. A runner asks several times for one commit: an index that lacked it is
    not read again.
    """
    index = index_of(worktree)
    now = identity_of(index)
    if now is not None and _lacking.get(index) == now:
        return False
    with contextlib.suppress(OSError), open(index, "rb", 0) as file:
        read = identity_from(os.fstat(file.fileno()))
        if _lacks_folder(file, read[-1]) and not _may_be_split(worktree):
            _lacking[index] = read
            return False
    listed = try_git(worktree.root, "ls-files", "-z", "--", LLMC)
    return listed.returncode != 0 or bool(listed.output)


def _lacks_folder(index: FileIO, size: int) -> bool:
    data, lacks = b"", None
    while lacks is None and (piece := index.read(max(PIECE, len(data)))):
        data += piece
        lacks = surely_lacks(data, LLMC.encode(), whole=len(data) >= size)
    return bool(lacks)


def _may_be_split(worktree: Worktree) -> bool:
    """Are there files that a split index has its other entries in? Git makes them before the index."""
    folders = {worktree.git_dir, worktree.common_dir}
    return any(name.startswith("sharedindex") for path in folders for name in os.listdir(path))


def is_ours(worktree: Worktree) -> bool:
    """May this user write into `.llmc/`, and is nothing in it tracked?"""
    try:
        check_folder(worktree.llmc, LLMC)
    except GitIndexError:
        return False
    return not is_tracked(worktree)


def ensure_folder(worktree: Worktree, make: bool = True) -> None:
    """Create `.llmc/`, or refuse one that we may not write. Never in a worktree that is gone.

    Without `make` it was there when the job began: where it is missing now, it is being removed.
    """
    if not check_folder(worktree.llmc, LLMC):
        if not (make and os.path.lexists(os.path.join(worktree.root, ".git"))):
            raise GitIndexError("the worktree was removed")
        os.mkdir(worktree.llmc, 0o700)
    if stat.S_IMODE(os.stat(worktree.llmc).st_mode) != 0o700:
        os.chmod(worktree.llmc, 0o700)
    ignore = os.path.join(worktree.llmc, ".gitignore")
    if not os.path.exists(ignore):
        write_public(worktree, ignore, b"*\n")


def may_make_folder(worktree: Worktree) -> bool:
    """Whether a user asked for an index here; a git template alone is not enough."""
    return os.path.isdir(worktree.llmc) or not os.path.exists(
        os.path.join(worktree.store, FROM_TEMPLATE)
    )


def write_public(worktree: Worktree, path: str, data: bytes) -> None:
    """Write into `.llmc/` by one rename, while git does not write; the temporary file lies in the store."""
    write_atomic(path, data, scratch=worktree.store, ready=partial(await_git, worktree))


def note_objects(worktree: Worktree, digits: int, *contents: bytes) -> None:
    """Tell the hook the names of the loose objects that `git add` would make of these contents.

    The hook runs no git: where such an object exists, somebody has added our file, and the hook leaves
    it alone. Where git would convert the file, its object is not known: then the hook never touches it.
    """
    names = [blob_id(data, digits) for data in contents]
    unknown = _is_converted(worktree, max(map(len, contents)))
    words = "" if unknown else " ".join(f"{n[:2]}/{n[2:]}" for n in names)
    write_atomic(worktree.public_objects, words.encode() + b"\n", durable=False)


def _is_converted(worktree: Worktree, size: int) -> bool:
    """Would git store our status file with other bytes, or in a pack? Git is asked only where a file may
    say so: attributes, or a configuration that names them, a threshold, or more configuration.
    """
    user = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    attributes = _texts(
        os.path.join(worktree.root, ".gitattributes"),
        os.path.join(worktree.common_dir, "info", "attributes"),
        os.path.join(user, "git", "attributes"),
        "/etc/gitattributes",
    )
    configuration = _texts(
        os.path.join(worktree.common_dir, "config"),
        os.path.join(worktree.git_dir, "config.worktree"),
        os.path.join(user, "git", "config"),
        os.path.expanduser("~/.gitconfig"),
        "/etc/gitconfig",
    ).lower()
    if any(word in configuration for word in _TELLING):
        asked = ("config", "--type=int", "--get", "core.bigFileThreshold")
        limit = try_git(worktree.root, *asked).output.strip()
        if limit.isdigit() and int(limit) <= size:
            return True
    elif not any(word in attributes for word in _CONVERTING):
        return False
    names = (f"{LLMC}/{os.path.basename(path)}" for path in _files(worktree)[2:])
    wanted = ("filter", "ident", "working-tree-encoding")
    told = try_git(worktree.root, "check-attr", "-z", *wanted, "--", *names)
    values = set(told.output.split(b"\0")[2::3])
    return told.returncode != 0 or bool(values - {b"unspecified", b"unset"})


def _texts(*paths: str) -> bytes:
    """The content of some files; a word that makes us ask git for one that cannot be read."""
    found = []
    for path in paths:
        try:
            found.append(_read_linked(path) or b"")
        except OSError:
            found.append(_CONVERTING[0] + _TELLING[0])
    return b"\n".join(found)


def _read_linked(path: str) -> bytes | None:
    try:
        return read_small(path)
    except OSError:  # a link, say
        return read_small(os.path.realpath(path))


def sweep_litter(worktree: Worktree) -> None:
    """Remove old temporary files of killed writers, but nothing that git tracks."""
    folders = [worktree.store, *(os.path.join(worktree.store, name) for name in STORE_FOLDERS)]
    if not is_tracked(worktree):
        folders.append(worktree.llmc)
    for folder in folders:
        if not os.path.islink(folder):
            sweep_temporaries(folder, LITTER_SECONDS)
