"""Changes files of a work tree: all of them or none, also after a kill or a power cut.

Old and new bytes are staged in the store, then a journal names them, then files are replaced one by
one; removing the journal ends the edit. Whoever finds a journal that no process holds puts the old
bytes back, unless every file has its new ones. A file that somebody changed since is left alone.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from typing import Any, NamedTuple

from gitindex.base.atomic_file import read_small, remove, sync_dir, write_atomic
from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.errors import GitIndexError
from gitindex.base.escape import counted, safe_text
from gitindex.base.light_types import sha256
from gitindex.base.system import try_lock
from gitindex.base.worktree import Worktree

_JOURNAL = "journal"
_JOURNAL_BYTES = 1 << 26  # paths and digests of 100,000 files
_ATTEMPTS = 100  # to open a folder that others remove when they are done with it
_NEXT = "the next gitindex command undoes the edit; nothing is lost"


class FileChange(NamedTuple):
    """One file: its expected old bytes, its new bytes, and its new path if it moves."""

    path: str
    old: bytes
    new: bytes
    moved: str = ""


class _Entry(NamedTuple):
    """One line of the journal; the bytes themselves are in the files `<number>.old` and `.new`."""

    number: int
    path: str
    moved: str
    mode: int
    old: str  # SHA-256
    new: str
    beside: str  # a temporary file, where the store is on another file system

    @property
    def target(self) -> str:
        return self.moved or self.path


def change_files(worktree: Worktree, changes: list[FileChange]) -> None:
    """Write all changes, or leave every file as it was. `.git` is never touched.

    Raises GitIndexError where a file is not as expected, OSError where the disk refuses.
    """
    with _locked(worktree.edit) as locked:
        if not locked:
            raise GitIndexError(
                "another edit is being written", "nothing was written; try again when it has ended"
            )
        edit = _Edit(worktree)
        edit.undo()  # one that was interrupted
        try:
            edit.stage(changes)
            edit.replace_all()
        except BaseException as error:
            try:
                edit.put_back()
            except OSError as failure:
                raise GitIndexError(f"cannot write, nor undo: {failure}", _NEXT) from error
            raise
        with suppress(OSError):  # the next command removes what is left in the store
            edit.forget()


def undo_unfinished(worktree: Worktree) -> None:
    """Undo an edit that was interrupted, and say so; one that a live process writes goes on."""
    if not os.path.lexists(worktree.edit):
        return
    try:
        with _locked(worktree.edit, make=False) as locked:
            message = _Edit(worktree).undo() if locked else ""
    except OSError as error:
        message = f"an interrupted edit cannot be undone: {error}"
    if message:
        sys.stderr.write(f"gitindex: {safe_text(message)}\n")


class _State(Enum):
    """Which bytes a file has."""

    OLD = "old"
    NEW = "new"
    BOTH = "both"  # it moves: the new file is there, the old one as well
    OTHER = "other"  # somebody changed it since


class _Edit:
    """The staged files and the journal of one worktree's edit. The caller holds the lock."""

    def __init__(self, worktree: Worktree) -> None:
        self._root, self._folder = worktree.root, worktree.edit
        self._journal = os.path.join(self._folder, _JOURNAL)
        self._entries = self._read()

    def stage(self, changes: list[FileChange]) -> None:
        """Check every file, keep its old and new bytes in the store, write the journal last."""
        entries = []
        for number, change in enumerate(changes):
            self._check(change)
            mode = stat.S_IMODE(os.lstat(self._at(change.path)).st_mode)
            digests = _digest(change.old), _digest(change.new)
            folder = os.path.dirname(change.moved or change.path)
            beside = os.path.join(folder, f".gitindex-edit-{os.urandom(6).hex()}")
            entries.append(_Entry(number, change.path, change.moved, mode, *digests, beside))
            _write(self._staged(number, "old"), change.old)
            _write(self._staged(number, "new"), change.new)
        import json  # lazily: every answer imports this module

        text = json.dumps([entry._asdict() for entry in entries]).encode()
        write_atomic(self._journal, text)
        self._entries = entries

    def replace_all(self) -> None:
        """Give every file its new bytes, then remove the journal: from there on the edit is made."""
        for entry in self._entries:
            if self._state(entry) is not _State.OLD:
                raise _changed(entry.path)
            self._place(entry, "new", entry.target)
            if entry.moved:
                os.unlink(self._at(entry.path))
        self._sync()
        remove(self._journal)
        sync_dir(self._folder)

    def put_back(self) -> int:
        """Give files that have the new bytes the old ones; returns how many."""
        count = 0
        for entry in reversed(self._entries):
            remove(self._at(entry.beside))
            state = self._state(entry)
            if state is _State.NEW:
                self._place(entry, "old", entry.path)
            if state in (_State.NEW, _State.BOTH):
                count += 1
                if entry.moved:
                    os.unlink(self._at(entry.moved))
        self._sync()
        self.forget()
        return count

    def undo(self) -> str:
        """End an edit that was interrupted; returns what was done, empty if nothing was."""
        states = {entry: self._state(entry) for entry in self._entries}
        if not {_State.OLD, _State.BOTH} & set(states.values()):  # none is left to be written
            for entry in states:
                remove(self._at(entry.beside))
            self.forget()
            return ""
        count = self.put_back()
        other = [entry.path for entry, state in states.items() if state is _State.OTHER]
        left = f"; left alone, as changed since: {', '.join(other)}" if other else ""
        return f"an interrupted edit was undone in {counted(count, 'files')}{left}" if count else ""

    def forget(self) -> None:
        """Remove the journal, then what is staged."""
        remove(self._journal)
        for name in os.listdir(self._folder):
            remove(os.path.join(self._folder, name))
        self._entries = []

    def _state(self, entry: _Entry) -> _State:
        here = self._found(entry.path)
        states: dict[str | None, _State] = {entry.old: _State.OLD, entry.new: _State.NEW}
        if not entry.moved:
            return states.get(here, _State.OTHER)
        if self._found(entry.moved) == entry.new:
            states = {None: _State.NEW, entry.old: _State.BOTH}
            return states.get(here, _State.OTHER)
        taken = os.path.lexists(self._at(entry.moved))
        return _State.OLD if here == entry.old and not taken else _State.OTHER

    def _read(self) -> list[_Entry]:
        """Return the journal; nothing where there is none, or where it cannot be one of ours."""
        data = read_small(self._journal, _JOURNAL_BYTES)
        if data is None:
            return []
        import json

        try:
            rows: list[Any] = json.loads(data)
            return [_Entry(**row) for row in rows]
        except (ValueError, TypeError):
            return []

    def _place(self, entry: _Entry, which: str, path: str) -> None:
        """Move staged bytes to their path; by a copy beside it where a rename cannot reach it."""
        staged, target = self._staged(entry.number, which), self._at(path)
        os.chmod(staged, entry.mode)
        try:
            os.replace(staged, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with open(staged, "rb") as file:
                data = file.read()
            beside = self._at(entry.beside)
            _write(beside, data)
            os.chmod(beside, entry.mode)
            os.replace(beside, target)

    def _sync(self) -> None:
        for folder in {os.path.dirname(p) for e in self._entries for p in (e.path, e.target)}:
            sync_dir(self._at(folder))

    def _check(self, change: FileChange) -> None:
        """Raise unless the file on disk has the expected bytes and no link leads to it."""
        for path in filter(None, (change.path, change.moved)):
            if os.fsencode(path).split(b"/")[0].lower() == b".git":
                raise GitIndexError(f"inside .git: {safe_text(path)}")
        if change.moved and os.path.lexists(self._at(change.moved)):
            raise GitIndexError(f"{safe_text(change.moved)} exists already")
        if self._found(change.path) != _digest(change.old):
            raise _changed(change.path)

    def _found(self, path: str) -> str | None:
        """Return the digest of a file in the work tree; None where there is no regular file."""
        with ConfinedRoot(self._root) as disk:
            file = disk.read(os.fsencode(path), sys.maxsize)
        return None if file is None else _digest(file.data)

    def _at(self, path: str) -> str:
        return os.path.join(self._root, path)

    def _staged(self, number: int, which: str) -> str:
        return os.path.join(self._folder, f"{number}.{which}")


@contextmanager
def _locked(folder: str, make: bool = True) -> Iterator[bool]:
    """Hold the folder of an edit; False where another process does. It is removed if it is empty."""
    fd = _open(folder, make)
    try:
        yield fd is not None
    finally:
        if fd is not None:
            for path in (folder, os.path.dirname(folder)):
                with suppress(OSError):
                    os.rmdir(path)
            os.close(fd)


def _open(folder: str, make: bool) -> int | None:
    """Open and lock the folder; again where its last holder removed it meanwhile."""
    for _ in range(_ATTEMPTS):
        if make:
            for path in (os.path.dirname(folder), folder):
                with suppress(FileExistsError):
                    os.mkdir(path, 0o700)
        try:
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            if make:
                continue
            return None
        try:
            if not try_lock(fd):
                os.close(fd)
                return None
            if os.path.samestat(os.fstat(fd), os.stat(folder)):
                return fd
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
    return None


def _changed(path: str) -> GitIndexError:
    return GitIndexError(
        f"changed since it was read: {safe_text(path)}", "nothing was written; try again"
    )


def _write(path: str, data: bytes) -> None:
    """Write a new file, private and durable."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
