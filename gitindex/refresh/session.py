"""What a runner keeps open for one store: database, lexical writer, workers, one repository each."""

from __future__ import annotations

import contextlib
import os

from gitindex.base.errors import (
    CorruptStore,
    GitIndexError,
    NewerSchema,
    OlderSchema,
    StoreReplaced,
)
from gitindex.base.ownership import STORE, check_folder
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.extract.pool import Extractor
from gitindex.freshness.stamp import StoreFile, restamp
from gitindex.git.interface import Repository
from gitindex.refresh.public_files import prepare_store, refuse_older_writer
from gitindex.refresh.queue import RefreshJobService, unfinished
from gitindex.store import history, mapping
from gitindex.store.connection import Database, open_reader, open_writer
from gitindex.store.integrity import check_store
from gitindex.store.lexical import LexicalReader
from gitindex.store.lexical_current import CurrentReader
from gitindex.store.lexical_files import torn_file
from gitindex.store.lexical_updates import LexicalUpdates
from gitindex.store.rot import rot_of_store
from gitindex.store.seal import GLANCE, SEALS, damage_of_store
from gitindex.store.text_index import merge_segments

_ABANDONED: list[Database] = []
"""Open databases of stores that were deleted meanwhile."""


class Session:
    """Opened by the holder of the runner lock, closed before the lock is given up."""

    def __init__(self, worktree: Worktree, look: int = GLANCE) -> None:
        """`look`: how much of the store is compared with its checksums first."""
        self._anchor = worktree
        self._spool = os.path.join(worktree.store, "spool")
        self._published = os.path.join(worktree.store, "published")
        _prepare(worktree, look)
        self.database: Database = _open(worktree)
        self._inode = os.stat(worktree.database).st_ino
        self.extractor = Extractor()
        self._lexical: LexicalUpdates | None = None
        self._reader = CurrentReader(worktree.lexical)
        self._repositories: dict[str, Repository] = {}
        self.long_histories: set[int] = set()
        """Worktrees whose history is compacted at the end."""

    def check_identity(self) -> None:
        """Stop before anything is written beside another store, or into one that is being deleted."""
        self.store_file()
        paths = (os.path.join(self._anchor.common_dir, "HEAD"), self._spool, self._published)
        if not all(map(os.path.exists, paths)):
            raise StoreReplaced

    def store_file(self) -> StoreFile:
        """The database file we opened, as it is now; StoreReplaced if another is in its place."""
        try:
            found = os.stat(self._anchor.database)
        except OSError:
            raise StoreReplaced from None
        if found.st_ino != self._inode:
            raise StoreReplaced
        return StoreFile(found.st_ino, found.st_size)

    def lexical(self) -> LexicalUpdates:
        """The lexical writer, opened at first use."""
        if self._lexical is None:
            self._lexical = LexicalUpdates(self._anchor.lexical, self._reader)
        return self._lexical

    def lexical_reader(self) -> LexicalReader:
        """A reader that was opened after the documents were last committed."""
        return self._reader.open()

    def tidy(self) -> None:
        """What nobody waits for, between two jobs."""
        if self._lexical is not None:
            self._lexical.tidy()

    def drop_lexical(self) -> None:
        """After any error a writer stores nothing more: the next use opens a new one."""
        self._lexical = None
        self._reader = CurrentReader(self._anchor.lexical)

    def repository(self, worktree: Worktree) -> Repository:
        """The worktree's repository, kept open."""
        from gitindex.git.backend import open_repository  # lazily: pygit2 costs 100 ms

        if worktree.id not in self._repositories:
            self._repositories[worktree.id] = open_repository(worktree)
        return self._repositories[worktree.id]

    def jobs(self, worktree: Worktree) -> RefreshJobService:
        """The worktree's queue; registers the worktree if it is new."""
        row = mapping.register(self.database, worktree.id, worktree.root)
        return RefreshJobService(self.database, row.worktree_id, self.repository(worktree).head)

    def worktrees(self) -> dict[str, Worktree]:
        """Every worktree of this store that is still there, by id."""
        found = {}
        for name in mapping.known_roots(self.database).keys() | _spooled(self._anchor):
            worktree = self.locate(name)
            if worktree is not None:
                found[name] = worktree
        return found

    def lost_worktrees(self) -> list[str]:
        """Worktrees with unfinished jobs that are not there any more."""
        return [name for name in unfinished(self.database) if self.locate(name) is None]

    def locate(self, name: str) -> Worktree | None:
        """Where a worktree is now: as last known, as git's own files say, or as our starter said."""
        known = mapping.known_roots(self.database).get(name)
        told = _git_says(self._anchor.common_dir, name)
        for root in filter(None, (known, *told, self._anchor.root)):
            try:
                worktree = worktree_at(root)
            except GitIndexError:
                continue
            if (worktree.common_dir, worktree.id) == (self._anchor.common_dir, name):
                return worktree
        return None

    def close(self) -> None:
        """Let go of everything; waits for the lexical merges."""
        try:
            if self._lexical is not None:
                self._lexical.close()
        finally:
            self._lexical = None
            self.extractor.close()
            with contextlib.suppress(GitIndexError):  # nobody waits for us now
                merge_segments(self.database)
                for worktree_id in self.long_histories:
                    with self.database.write():
                        history.compact(self.database, worktree_id)
            for repository in self._repositories.values():
                repository.close()
            if self._is_deleted():
                _ABANDONED.append(self.database)  # closing it would remove files under the remover
            else:
                self.database.close()
                self._restamp()

    def _is_deleted(self) -> bool:
        try:
            self.check_identity()
        except StoreReplaced:
            return True
        return False

    def _restamp(self) -> None:
        """Closing moved the write-ahead log into the database: from now on it must be this large."""
        folder = os.path.join(self._anchor.store, "published")
        with contextlib.suppress(OSError, StoreReplaced):
            self.check_identity()
            store = self.store_file()
            for name in os.listdir(folder):
                restamp(os.path.join(folder, name), store)


def wipe_store(
    worktree: Worktree, folders: tuple[str, ...] = (), files: tuple[str, ...] = ()
) -> None:
    """Remove a store's data, and what else is named of it. The stamps go first: no marker outlives
    its facts.

    Remove a folder by its descriptor, so that nothing that replaces it meanwhile is removed.
    """
    check_folder(worktree.store, STORE)
    store = os.open(worktree.store, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    database = os.path.basename(worktree.database)
    data = tuple(database + suffix for suffix in ("", "-wal", "-shm"))
    try:
        remove_tree("published", store)
        for name in (*data, *SEALS, *files):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=store)
        for name in (os.path.basename(worktree.lexical), *folders):
            remove_tree(name, store)
    finally:
        os.close(store)


def remove_tree(name: str, folder: int) -> None:
    """Remove a folder in an open one; one that is missing or a link is left alone."""
    import shutil  # lazily: archive formats come with it

    shutil.rmtree(name, ignore_errors=True, dir_fd=folder)


def mend_store(worktree: Worktree) -> None:
    """Wipe a store that is damaged, keep a sound one. Only the holder of the runner lock may ask."""
    _refuse_newer(worktree)
    if os.path.exists(worktree.database):
        try:
            check_store(worktree.store)
        except CorruptStore:
            wipe_store(worktree)


def _refuse_newer(worktree: Worktree) -> None:
    """Raise NewerSchema before a store of a newer gitindex is taken for a damaged one."""
    try:
        database = open_reader(worktree.database)
    except NewerSchema:
        raise
    except GitIndexError:
        return  # whatever is wrong with it, it is not newer
    if database is not None:
        database.close()


def mend_rot(worktree: Worktree, look_for_it: bool) -> None:
    """Begin anew if the store is damaged; the next round builds it.

    What was noticed when the log was moved counts in any case; more is read where nobody waits for us.
    """
    store = worktree.store
    if rot_of_store(store) if look_for_it else damage_of_store(store):
        rebuild_store(worktree)


def _prepare(worktree: Worktree, look: int) -> None:
    refuse_older_writer(worktree)
    prepare_store(worktree)
    _refuse_newer(worktree)
    halves = os.path.exists(worktree.database), os.path.exists(worktree.lexical)
    if not all(halves) or damage_of_store(worktree.store, look) or torn_file(worktree.store):
        rebuild_store(worktree)  # half a store is none, and neither is a damaged one


def _open(worktree: Worktree) -> Database:
    """The database; one of an older schema is built anew."""
    try:
        return open_writer(worktree.database)
    except OlderSchema:
        rebuild_store(worktree)
        return open_writer(worktree.database)


def rebuild_store(worktree: Worktree) -> None:
    """Wipe the store, and leave an event for each worktree that was published: nobody else will."""
    try:
        published = os.listdir(os.path.join(worktree.store, "published"))
    except FileNotFoundError:
        published = []
    wipe_store(worktree)
    prepare_store(worktree)
    for name in published:
        with open(os.path.join(worktree.store, "spool", name), "a", encoding="utf-8") as spool:
            spool.write("store-rebuilt\n")


def _spooled(worktree: Worktree) -> set[str]:
    names: set[str] = set()
    for folder in ("spool", "taken"):
        names |= set(os.listdir(os.path.join(worktree.store, folder)))
    return names


def _git_says(common: str, name: str) -> list[str]:
    if name == "main":
        return [os.path.dirname(common)] if os.path.basename(common) == ".git" else []
    git_dir = os.path.join(common, "worktrees", name.removeprefix("wt-"))
    try:
        with open(os.path.join(git_dir, "gitdir"), "rb") as file:
            dot_git = os.fsdecode(file.read().removesuffix(b"\n"))
            return [os.path.dirname(os.path.normpath(os.path.join(git_dir, dot_git)))]
    except OSError:
        return []
