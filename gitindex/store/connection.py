"""The only importer of sqlite3: opening, transactions, and SQLite's errors as ours."""

from __future__ import annotations

import atexit
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakSet

from gitindex.base.errors import CorruptStore, NewerSchema, OlderSchema, StoreBusy, StoreError
from gitindex.base.escape import safe_text
from gitindex.store.migrations import CURRENT, MIGRATIONS, migrate, schema
from gitindex.store.seal import DatabaseSealing, LogHeld, make_lock, wal_pages

LOG_BYTES = 8 << 20
"""A log that is larger than this is moved into the database after a transaction."""
BUSY_SECONDS = 60.0
"""SQLite's waiting is not fair: among fifty writers one waits a hundred times its share."""
TURN_SECONDS = 10.0
"""How long a writer waits for the readers of its own process to end."""
MISSING_LOG_TRIES = 40
MISSING_LOG_SECONDS = 0.01
_DAMAGED = ("malformed", "not a database", "file is encrypted", "disk image")


class Database:
    """One connection. Writes happen only inside `write()`, which takes the lock up front."""

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """All rows of a query."""
        with translated(self.path):
            return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> Any:
        """The first row of a query, or None."""
        with translated(self.path):
            return self._connection.execute(sql, values).fetchone()

    def run(self, sql: str, *values: Any) -> int:
        """Run one statement and return how many rows it changed."""
        with translated(self.path):
            return self._connection.execute(sql, values).rowcount

    def insert(self, sql: str, *values: Any) -> int:
        """Run one INSERT and return the new row's id."""
        with translated(self.path):
            return int(self._connection.execute(sql, values).lastrowid or 0)

    def run_many(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Run one statement for many rows."""
        with translated(self.path):
            self._connection.executemany(sql, rows)

    def run_all(self, statements: Iterable[str]) -> None:
        """Run statements without values."""
        for statement in statements:
            self.run(statement)

    @contextmanager
    def write(self) -> Iterator[None]:
        """One transaction that holds the write lock from its first statement."""
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    @contextmanager
    def unchecked_references(self) -> Iterator[None]:
        """SQLite does not look for the row behind each reference: for bulk loads of rows we made.

        Outside of transactions only. Nothing is deleted inside: no delete would be passed on.
        """
        self.run("PRAGMA foreign_keys=OFF")
        try:
            yield
        finally:
            self.run("PRAGMA foreign_keys=ON")

    @contextmanager
    def joined(self) -> Iterator[None]:
        """The caller's transaction, or one of its own."""
        if self._connection.in_transaction:
            yield
        else:
            with self.write():
                yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads inside see one state of the store."""
        self.run("BEGIN")
        try:
            yield
        finally:
            self._roll_back()

    @contextmanager
    def scratch(self) -> Iterator[None]:
        """A reader's own temporary tables may be written inside: in memory, and gone with it."""
        self.run("PRAGMA query_only=OFF")  # the file itself is opened read-only
        try:
            yield
        finally:
            self.run("PRAGMA query_only=ON")

    def close(self) -> None:
        """Close the connection."""
        with translated(self.path):
            self._connection.close()

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            with translated(self.path):
                self._connection.execute("ROLLBACK")


_READERS: WeakSet[Database] = WeakSet()
"""Readers of this process: while one is open, SQLite's memory is read-only for all of us."""
_TURN = threading.Condition()
_OPEN: set[Database] = set()
"""Writers of this process: freed without a close, SQLite would change the file behind the seal."""


class WriterDatabase(Database):
    """A connection that writes. It moves its log into the file itself, and seals the file again."""

    @contextmanager
    def write(self) -> Iterator[None]:
        """As of every database; afterwards a log that has grown is moved into the file."""
        with LogHeld(self.path), super().write():
            yield
        with suppress(OSError):
            if os.stat(f"{self.path}-wal").st_size > LOG_BYTES:
                self._move_log(lambda: None)

    def close(self) -> None:
        """Close the connection; the last one takes the log with it."""
        _OPEN.discard(self)
        try:
            self._move_log(self._end)
        except OSError:  # the store is being removed: its seal is nobody's any more
            super().close()

    def _end(self) -> None:
        """SQLite removes an empty log with its last connection; readers need one to be there."""
        super().close()
        if os.path.exists(self.path):
            leave_log(self.path)

    def _move_log(self, then: Callable[[], None]) -> None:
        """SQLite's checkpoint, without waiting for readers; what it wrote is sealed."""
        if not os.path.exists(self.path):
            then()
            return
        with DatabaseSealing(self.path) as sealing:
            pages, page_size = wal_pages(self.path)
            try:
                with translated(self.path):
                    self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            finally:
                then()
            sealing.finish(pages, page_size)


def open_writer(path: str) -> Database:
    """The store's database for a runner; created or migrated if need be."""
    with _TURN, translated(path):
        if not _has_writer(path) and not _TURN.wait_for(
            lambda: not _has_reader(path), TURN_SECONDS
        ):
            raise StoreBusy("this program reads the store", "close its views before it writes")
        with suppress(OSError):  # then SQLite says what is wrong
            make_lock(path)
        connection = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        database = WriterDatabase(path, connection)
        try:
            _configure(connection)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA wal_autocheckpoint=0")
            _bring_up_to_date(database)
        except BaseException:
            connection.close()
            raise
        _OPEN.add(database)
    return database


@atexit.register
def _close_all() -> None:
    """Seal what a process leaves open: SQLite moves the log when its last connection is freed."""
    for database in list(_OPEN):
        with suppress(OSError, StoreError):
            database.close()


class ReaderDatabase(Database):
    """A connection that reads, and by which SQLite does not touch any file."""

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """All rows of a query, as soon as no writer is between its start and its first lock."""
        found: list[Any] = _patiently(lambda: Database.rows(self, sql, *values))
        return found

    def row(self, sql: str, *values: Any) -> Any:
        """The first row of a query, or None; likewise."""
        return _patiently(lambda: Database.row(self, sql, *values))

    def close(self) -> None:
        """Close the connection."""
        super().close()
        with _TURN:
            _READERS.discard(self)
            _TURN.notify_all()


def open_reader(path: str) -> Database | None:
    """The store's database read-only, or None when there is none. Never creates or repairs it.

    SQLite's shared memory is opened read-only too, so that a reader changes no byte of it. That needs
    both files of the log, which every writer of ours leaves behind; for a moment, while a writer ends,
    they are missing. A process that has a writer open shares the writer's memory.
    """
    if not os.path.exists(path):
        return None
    for _ in range(MISSING_LOG_TRIES):
        try:
            with _TURN:
                if _has_writer(path):
                    return Database(path, _connect_reader(path, ""))
                database = ReaderDatabase(path, _connect_reader(path, "&readonly_shm=1"))
                _READERS.add(database)
                return database
        except StoreError as error:
            if not _is_passing(error) or not os.path.exists(path):
                raise
        time.sleep(MISSING_LOG_SECONDS)
    return Database(path, _connect_reader(path, ""))  # of a gitindex that left no log behind


def _patiently(ask: Callable[[], Any]) -> Any:
    """Ask again while a writer starts. Once a transaction has read, nothing of this can happen in it."""
    for _ in range(MISSING_LOG_TRIES):
        try:
            return ask()
        except StoreError as error:
            if not _is_passing(error):
                raise
        time.sleep(MISSING_LOG_SECONDS)
    return ask()


def _is_passing(error: StoreError) -> bool:
    """Were the files of the log missing for a moment, or not yet filled by the writer that made them?"""
    told = str(error.__cause__)
    return "unable to open" in told or "readonly database" in told


def _has_reader(path: str) -> bool:
    return any(database.path == path for database in _READERS)


def _has_writer(path: str) -> bool:
    return any(database.path == path for database in _OPEN)


def leave_log(path: str) -> None:
    """Make the empty files of the log beside a database, so that no reader waits for a writer."""
    for file in (f"{path}-wal", f"{path}-shm"):
        with suppress(OSError):  # there already, which is as good
            os.mknod(file, 0o600 | stat.S_IFREG)  # to open and close it would drop locks


def _connect_reader(path: str, options: str) -> sqlite3.Connection:
    with translated(path):
        connection = sqlite3.connect(
            f"file:{_quote(path)}?mode=ro{options}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
        )
        try:
            _configure(connection)
            connection.execute("PRAGMA temp_store=MEMORY")
            connection.execute("PRAGMA query_only=ON")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        except BaseException:
            connection.close()
            raise
    if version != CURRENT:
        connection.close()
        raise _wrong_version(version)
    return connection


def open_fresh(path: str) -> Database:
    """A new database with our schema that only this process uses: without a log and without a seal."""
    with translated(path):
        connection = sqlite3.connect(path, isolation_level=None, uri=True)
        database = Database(path, connection)
        try:
            connection.execute("PRAGMA journal_mode=OFF")
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("PRAGMA trusted_schema=OFF")
            for statement in schema():
                database.run(statement)
            database.run(f"PRAGMA user_version={CURRENT}")
        except BaseException:
            connection.close()
            raise
    return database


def open_foreign(path: str) -> Database:
    """A database that somebody else made, read-only: nothing in its schema is run."""
    with translated(path):
        connection = sqlite3.connect(
            f"file:{_quote(path)}?mode=ro&immutable=1", uri=True, isolation_level=None
        )
        try:
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("PRAGMA cell_size_check=ON")
            connection.execute("PRAGMA query_only=ON")
            connection.execute("PRAGMA mmap_size=0")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        except BaseException:
            connection.close()
            raise
    if version != CURRENT:
        connection.close()
        raise _wrong_version(version)
    return Database(path, connection)


def schema_text(database: Database) -> list[tuple[str, ...]]:
    """Everything in a database's schema, as SQLite keeps it."""
    return database.rows(
        "SELECT type, name, tbl_name, coalesce(sql, '') FROM main.sqlite_master ORDER BY 1, 2, 3"
    )


def open_plain(
    path: str, prepare: Callable[[sqlite3.Connection], None]
) -> sqlite3.Connection | None:
    """Open or create a database that is not the store's; None if it is damaged or cannot be made."""
    connection = None
    try:
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        prepare(connection)
    except sqlite3.Error:
        if connection is not None:
            connection.close()
        return None
    return connection


class PlainDatabase:
    """A database that is not the store's, with its errors as ours. It keeps no log beside it."""

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self._path, self._connection = path, connection

    @classmethod
    def open(cls, path: str, writes: bool = True) -> PlainDatabase:
        """Open it, and create it unless it is only read."""
        mode = "rwc" if writes else "ro"
        with translated(path):
            connection = sqlite3.connect(
                f"file:{_quote(path)}?mode={mode}",
                uri=True,
                timeout=BUSY_SECONDS,
                isolation_level=None,
            )
            connection.execute("PRAGMA trusted_schema=OFF")
        return cls(path, connection)

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """All rows of a statement."""
        with translated(self._path):
            return self._connection.execute(sql, values).fetchall()

    def insert(self, sql: str, *values: Any) -> int:
        """Run one INSERT and return the new row's id."""
        with translated(self._path):
            return int(self._connection.execute(sql, values).lastrowid or 0)

    def run_many(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Run one statement for many rows."""
        with translated(self._path):
            self._connection.executemany(sql, rows)

    @contextmanager
    def write(self) -> Iterator[None]:
        """One transaction that holds the write lock from its first statement."""
        self.rows("BEGIN IMMEDIATE")
        try:
            yield
            self.rows("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                with translated(self._path):
                    self._connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the connection."""
        with translated(self._path):
            self._connection.close()


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Every error of SQLite inside becomes a message with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explain(path, error) from error
    except UnicodeDecodeError as error:  # a text that nobody wrote, or a message that quotes one
        raise CorruptStore(
            f"the store is damaged: {safe_text(path)} (a text is not UTF-8)",
            "run `gitindex index --force`",
        ) from error


def marks(values: Iterable[object]) -> str:
    """The question marks of `IN (…)` for these values."""
    return ",".join("?" for _ in values)


def _explain(path: str, error: sqlite3.Error) -> StoreError:
    said, where = str(error), safe_text(path)
    if any(word in said for word in _DAMAGED):
        return CorruptStore(
            f"the store is damaged: {where} ({said})", "run `gitindex index --force`"
        )
    if "locked" in said or "busy" in said:
        return StoreBusy(f"the store is busy: {where}", "try again in a moment")
    if "full" in said:
        return StoreError(f"no space left for the store: {where}", "free some disk space")
    if "readonly" in said or "unable to open" in said or "disk I/O" in said:
        return StoreError(
            f"cannot use the store: {where} ({said})", "check its permissions and disk"
        )
    return StoreError(f"the store failed: {said}", "run `gitindex doctor`")


def _configure(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cache_size=-16384")


def _bring_up_to_date(database: Database) -> None:
    version = database.row("PRAGMA user_version")[0]
    if version == CURRENT:
        return
    if version > CURRENT:
        raise _wrong_version(version)
    if version and version not in MIGRATIONS:
        raise OlderSchema(
            f"the store has an older schema ({version})", "run `gitindex index --force`"
        )
    with database.write():
        version = database.row("PRAGMA user_version")[0]  # another runner may have been quicker
        for statement in schema() if version == 0 else migrate(version):
            database.run(statement)
        database.run(f"PRAGMA user_version={CURRENT}")


def _wrong_version(version: int) -> StoreError:
    if version > CURRENT:
        return NewerSchema(
            f"the store was written by a newer gitindex (schema {version})", "upgrade gitindex"
        )
    return StoreError(f"the store has an older schema ({version})", "run `gitindex index`")


def _quote(path: str) -> str:
    keep = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-"
    return "".join(chr(b) if b in keep else f"%{b:02X}" for b in os.fsencode(path))
