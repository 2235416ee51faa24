"""What a runner keeps open for one store: database, lexical writer, workers, one repository each."""

from __future__ import annotations

import contextlib
import os

from gitindex.base.atomic_file import remove
from gitindex.base.errors import (
    CorruptStore,
    GitIndexError,
    NewerSchema,
    OlderSchema,
    StoreReplaced,
)
from gitindex.base.worktree import STORE, Worktree, check_folder, worktree_at
from gitindex.extract.pool import Extractor
from gitindex.freshness.marker import (
    StoreIdentity,
    identify_for_stamp,
    identify_store,
    read_stamp,
    restamp,
)
from gitindex.git.interface import Repository
from gitindex.refresh.public_files import prepare_store, refuse_older_writer
from gitindex.refresh.queue import RefreshJobService, unfinished
from gitindex.store import history, mapping
from gitindex.store.checksums import (
    CHECKSUM_FILES,
    META,
    CheckLevel,
    complete_checksums,
    damage_of_store,
    torn_file,
)
from gitindex.store.connection import Database, WriterDatabase, open_reader, open_writer
from gitindex.store.lexical import LexicalMemory, LexicalReader, LexicalWriter
from gitindex.store.scrub import SCRUBBED, check_store, other_lexical
from gitindex.store.scrub import scrub as scrub_store
from gitindex.store.text_index import merge_word_lists

_ABANDONED: list[Database] = []
"""Open databases of stores that were deleted meanwhile."""


class Session:
    """Opened by the holder of the runner lock, closed before the lock is given up."""

    def __init__(self, worktree: Worktree, level: CheckLevel = CheckLevel.STAT) -> None:
        """`level`: how much of the store is compared with its checksums first."""
        self._anchor = worktree
        self.lexical_folder = worktree.lexical
        self._spool = os.path.join(worktree.store, "spool")
        self._published = os.path.join(worktree.store, "published")
        _prepare(worktree, level)
        self.database: WriterDatabase = _open(worktree)
        self._inode = os.stat(worktree.database).st_ino
        self.extractor = Extractor()
        self._lexical: LexicalWriter | None = None
        self._reader = LexicalMemory(checked=False)
        self._repositories: dict[str, Repository] = {}
        self.long_histories: set[int] = set()
        """Worktrees whose history is compacted at the end."""

    def check_identity(self) -> None:
        """Stop before anything is written beside another store, or into one that is being deleted."""
        self._refuse_replaced()
        paths = (os.path.join(self._anchor.common_dir, "HEAD"), self._spool, self._published)
        if not all(map(os.path.exists, paths)):
            raise StoreReplaced

    def store_identity(self) -> StoreIdentity:
        """The store we opened, as it is now; StoreReplaced if another is in its place."""
        self._refuse_replaced()
        try:
            if not os.path.exists(os.path.join(self.lexical_folder, META)):
                self.lexical()  # an empty repository has an empty index, not none
            return identify_for_stamp(self._anchor)
        except FileNotFoundError:
            raise StoreReplaced from None

    def _refuse_replaced(self) -> None:
        try:
            inode = os.stat(self._anchor.database).st_ino
        except OSError:
            raise StoreReplaced from None
        if inode != self._inode:
            raise StoreReplaced

    def lexical(self) -> LexicalWriter:
        """The lexical writer, opened at first use."""
        if self._lexical is None:
            self._lexical = LexicalWriter(self._anchor.lexical)
        return self._lexical

    def lexical_reader(self) -> LexicalReader:
        """A reader that was opened after the documents were last committed."""
        return self._reader.reader(self._anchor.lexical)

    def drop_lexical(self) -> None:
        """After any error a writer stores nothing more: the next use opens a new one."""
        self._lexical = None
        self._reader = LexicalMemory(checked=False)

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
        worktrees = {}
        for name in mapping.known_roots(self.database).keys() | _spooled(self._anchor):
            worktree = self.locate(name)
            if worktree is not None:
                worktrees[name] = worktree
        return worktrees

    def lost_worktrees(self) -> list[str]:
        """Worktrees with unfinished jobs that are not there any more."""
        return [name for name in unfinished(self.database) if self.locate(name) is None]

    def locate(self, name: str) -> Worktree | None:
        """Where a worktree is now: as last known, as git's own files say, or as our starter said."""
        known = mapping.known_roots(self.database).get(name)
        by_git = _git_says(self._anchor.common_dir, name)
        for root in filter(None, (known, *by_git, self._anchor.root)):
            try:
                worktree = worktree_at(root)
            except GitIndexError:
                continue
            if (worktree.common_dir, worktree.id) == (self._anchor.common_dir, name):
                return worktree
        return None

    def close(self) -> None:
        """Let go of everything; waits for the lexical merges. In a store that is being deleted nothing
        more is written."""
        try:
            if self._lexical is not None and not self._is_deleted():
                self._lexical.close()
        finally:
            self._lexical = None
            self.extractor.close()
            with contextlib.suppress(GitIndexError, StoreReplaced):  # nobody waits for us now
                self.check_identity()
                complete_checksums(self._anchor.store)
                merge_word_lists(self.database)
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
        """Closing moved the write-ahead log into the database: from now on this state is the least."""
        folder = os.path.join(self._anchor.store, "published")
        with contextlib.suppress(OSError, StoreReplaced):
            self.check_identity()
            store = self.store_identity()
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
        for name in (*data, *CHECKSUM_FILES, *files):
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


def forget_notes(worktree: Worktree) -> None:
    """Remove every note that is made again by itself: whatever stands in one, it is not asked again."""
    for folder in ("shadow", "progress", "failure"):
        path = os.path.join(worktree.store, folder)
        for name in os.listdir(path):
            remove(os.path.join(path, name))
    remove(os.path.join(worktree.store, SCRUBBED))


def wipe_if_corrupt(worktree: Worktree) -> None:
    """Wipe a store that is damaged, keep an intact one. Only the holder of the runner lock may ask."""
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


def repair_corruption(worktree: Worktree, scrub: bool) -> str:
    """Begin anew if the store is damaged, and say how it is; the next round builds it.

    What was noticed when the log was moved counts in any case; more is read where nobody waits for us.
    """
    store = worktree.store
    wrong = scrub_store(store) if scrub else damage_of_store(store)
    if wrong:
        rebuild_store(worktree)
    return wrong


def _prepare(worktree: Worktree, level: CheckLevel) -> None:
    refuse_older_writer(worktree)
    prepare_store(worktree)
    _refuse_newer(worktree)
    halves = os.path.exists(worktree.database), os.path.exists(worktree.lexical)
    if (
        not all(halves)
        or _stamped_otherwise(worktree)
        or damage_of_store(worktree.store, level)
        or torn_file(worktree.store)
    ):
        rebuild_store(worktree)  # half a store is none, and neither is a damaged one


def _stamped_otherwise(worktree: Worktree) -> bool:
    """Does a stamp of any worktree name a later state of this store than the one that is here?"""
    try:
        now = identify_store(worktree)
    except FileNotFoundError:
        return False
    folder = os.path.join(worktree.store, "published")
    stamps = (read_stamp(os.path.join(folder, name)) for name in os.listdir(folder))
    return any(
        stamp.store.inode == now.inode and now.mismatch(stamp.store) for stamp in stamps if stamp
    )


def _open(worktree: Worktree) -> WriterDatabase:
    """The database; one that is of an older schema, or beside another lexical index, is built anew."""
    try:
        database = open_writer(worktree.database)
        try:
            wrong = other_lexical(database, worktree.lexical)
        except BaseException:
            database.close()
            raise
        if not wrong:
            return database
        database.close()
    except OlderSchema:
        pass
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
