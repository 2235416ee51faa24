"""The store's database: readers, writers and their locking. The only importer of sqlite3."""

from __future__ import annotations

import atexit
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from typing import Any
from weakref import WeakSet

from gitindex.base.errors import CorruptStore, NewerSchema, OlderSchema, StoreBusy, StoreError
from gitindex.base.escape import safe_text
from gitindex.store.checksums import (
    DatabaseChecksums,
    LogLock,
    half_of_database,
    log_tag,
    make_lock,
    wal_pages,
)

Connection = sqlite3.Connection
SqliteError = sqlite3.Error
LENGTH_LIMIT = sqlite3.SQLITE_LIMIT_LENGTH
BUSY_SECONDS = 60.0
"""SQLite's locking is not fair: among fifty writers one may wait a hundred times its share."""
_DAMAGED = ("malformed", "not a database", "file is encrypted", "disk image", "user-defined")


def connect(path: str, uri: bool = False, check_same_thread: bool = True) -> Connection:
    """Return a connection that waits for locks; its user begins every transaction."""
    connection = sqlite3.connect(
        path,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        uri=uri,
        check_same_thread=check_same_thread,
    )
    connection.create_function("blob_list", 2, _list_blobs, deterministic=True)
    return connection


def connect_as(path: str, mode: str) -> Connection:
    """The same with SQLite's own parameters, such as `mode=ro`; the path may hold any byte."""
    return connect(f"file:{_quote(path)}?{mode}", uri=True)


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn every error of SQLite inside into a message with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explain(path, error) from error
    except UnicodeDecodeError as error:  # corrupt text, or a message that quotes it
        raise CorruptStore(
            f"the store is damaged: {safe_text(path)} (a text is not UTF-8)",
            "run `gitindex index --force`",
        ) from error


def _list_blobs(first: int, others: bytes) -> str:
    from gitindex.store.name_rows import list_blobs

    return list_blobs(first, others)


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


def _quote(path: str) -> str:
    keep = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-"
    return "".join(chr(b) if b in keep else f"%{b:02X}" for b in os.fsencode(path))


LOG_BYTES = 8 << 20
"""A larger log is checkpointed into the database after a transaction."""
AT_ONCE = 400
"""Values bound in one statement: some builds of SQLite allow 999."""
TURN_SECONDS = 10.0
"""How long a writer waits for the readers of its own process to close."""
UNFINISHED_LOG = "locking protocol"
"""What SQLite says of shared memory whose two headers differ, after trying for ten seconds."""
MISSING_LOG_TRIES = 40  # four tenths of a second together
MISSING_LOG_SECONDS = 0.01  # between two tries: a writer leaves the log anew within a few ms


class Database:
    """One connection. Writes happen only inside `write()`, which takes the lock up front."""

    def __init__(self, path: str, connection: Connection) -> None:
        self.path = path
        self._connection = connection

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Return all rows of a query."""
        with translated(self.path):
            return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> Any:
        """Return the first row of a query, or None."""
        with translated(self.path):
            return self._connection.execute(sql, values).fetchone()

    def rows_among(self, sql: str, values: Iterable[Any], *before: Any) -> list[Any]:
        """Return all rows of a query with `IN ({marks})` for any number of values.

        `before`: the values that it binds before them.
        """
        return rows_among(self.rows, sql, values, *before)

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

    def insert_many(
        self, table: str, row: str, rows: Iterable[Sequence[Any]], conflict: str = ""
    ) -> None:
        """Insert rows; `row` is what `VALUES` says of one, `conflict` what becomes of one that is there.

        Many in a statement cost a third of one each.
        """
        each = AT_ONCE // row.count("?")
        source = iter(rows)
        first = list(islice(source, each))
        with translated(self.path):
            if len(first) == each:
                left: list[Sequence[Any]] = []
                values = ",".join([row] * each)
                full = _flattened(chain(first, source), each, left)
                sql = f"INSERT INTO {table} VALUES {values} {conflict}"
                self._connection.executemany(sql, full)
                first = left
            self._connection.executemany(f"INSERT INTO {table} VALUES {row} {conflict}", first)

    def run_all(self, statements: Iterable[str]) -> None:
        """Run statements without parameters."""
        for statement in statements:
            self.run(statement)

    @contextmanager
    def write(self) -> Iterator[None]:
        """Run a transaction that holds the write lock from its first statement."""
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    @contextmanager
    def unchecked_references(self) -> Iterator[None]:
        """Disable foreign key checks: for bulk loads of rows we made.

        Outside of transactions only. Do not delete inside: deletes do not cascade.
        """
        self.run("PRAGMA foreign_keys=OFF")
        try:
            yield
        finally:
            self.run("PRAGMA foreign_keys=ON")

    @contextmanager
    def joined(self) -> Iterator[None]:
        """Join the caller's transaction, or begin one."""
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
        """Allow writes to a reader's own temporary tables: in memory, gone with the connection."""
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


def _flattened(
    rows: Iterable[Sequence[Any]], each: int, left: list[Sequence[Any]]
) -> Iterator[list[Any]]:
    """Yield the values of so many rows at a time; those that are too few go to `left`."""
    source = iter(rows)
    while len(part := list(islice(source, each))) == each:
        yield list(chain.from_iterable(part))
    left += part


_READERS: WeakSet[Database] = WeakSet()
"""Readers of this process: while one is open, SQLite's memory is read-only for the process."""
_TURN = threading.Condition()
_OPEN: set[Database] = set()
"""Writers of this process: if freed without close, SQLite changes the file without its checksums."""


class WriterDatabase(Database):
    """A connection that writes. It checkpoints its log itself, and updates its checksums."""

    inode = 0

    @contextmanager
    def write(self) -> Iterator[None]:
        """As in the base class; afterwards checkpoints a log that has grown."""
        with LogLock(self.path, exclusive=False):
            self._refuse_other_file()
            with super().write():
                self._mark_log()
                yield
        with suppress(OSError):
            if os.stat(f"{self.path}-wal").st_size > LOG_BYTES:
                self._move_log(lambda: None)

    def vacuum(self) -> None:
        """Write the database anew without free pages; the next move of the log cuts the file."""
        with self.write():  # marks the log
            pass
        with LogLock(self.path, exclusive=False):
            self._refuse_other_file()
            self.run("VACUUM")

    def _mark_log(self) -> None:
        """Mark the log with the state of the database file that it belongs to; once in each log."""
        half = half_of_database(os.path.dirname(self.path))
        if half.number and self.row("PRAGMA application_id")[0] != log_tag(half):
            self.run(f"PRAGMA application_id={log_tag(half)}")

    def _refuse_other_file(self) -> None:
        """Refuse to write if `--force` has replaced the store: the old file is gone."""
        with suppress(FileNotFoundError):  # the store is being removed: the caller checks for that
            if os.stat(self.path).st_ino != self.inode:
                raise StoreBusy("the store was rebuilt in the meantime", "try again")

    def close(self) -> None:
        """Checkpoint the log and close the connection."""
        _OPEN.discard(self)
        try:
            self._move_log(self._end)
        except OSError:  # the store is being removed: its checksums no longer matter
            super().close()

    def _end(self) -> None:
        """Close, then recreate the log that SQLite removes: readers need one to exist."""
        super().close()
        if os.path.exists(self.path):
            leave_log(self.path)

    def _move_log(self, then: Callable[[], None]) -> None:
        """Checkpoint without waiting for readers; updates the checksums of the pages written."""
        if not os.path.exists(self.path):
            then()
            return
        with DatabaseChecksums(self.path) as checksums:
            pages, page_size = wal_pages(self.path)
            checksums.check(pages, page_size)
            try:
                with translated(self.path):
                    self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            finally:
                then()
            checksums.finish(pages, page_size)


def open_writer(path: str) -> WriterDatabase:
    """Open the store's database for a runner; create it if needed."""
    with _TURN, translated(path):
        if not _has_writer(path) and not _TURN.wait_for(
            lambda: not _has_reader(path), TURN_SECONDS
        ):
            raise StoreBusy("this program reads the store", "close its views before it writes")
        with suppress(OSError):  # then SQLite reports what is wrong
            make_lock(path)
        connection = connect(path, check_same_thread=False)
        database = WriterDatabase(path, connection)
        try:
            _configure(connection)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA wal_autocheckpoint=0")
            connection.execute("PRAGMA journal_size_limit=0")  # a log that was moved is cut
            database.inode = os.stat(path).st_ino
            _create(database)
            check_version(connection)
        except BaseException:
            connection.close()
            raise
        _OPEN.add(database)
    return database


@atexit.register
def _close_all() -> None:
    """Close open writers: SQLite checkpoints when its last connection is freed."""
    for database in list(_OPEN):
        with suppress(OSError, StoreError):
            database.close()


class ReaderDatabase(Database):
    """A read-only connection, with which SQLite changes no file."""

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Return all rows of a query; retries while a writer is starting."""
        result: list[Any] = _patiently(lambda: Database.rows(self, sql, *values))
        return result

    def row(self, sql: str, *values: Any) -> Any:
        """Return the first row of a query, or None; retries in the same way."""
        return _patiently(lambda: Database.row(self, sql, *values))

    def close(self) -> None:
        """Close the connection."""
        super().close()
        with _TURN:
            _READERS.discard(self)
            _TURN.notify_all()


def open_reader(path: str) -> Database | None:
    """Open the store's database read-only; None if there is none. Never creates or repairs it.

    SQLite's shared memory is opened read-only too, so a reader changes no byte of it. That needs
    both files of the log, which our writers leave behind; they are missing only for a moment, while
    a writer closes. A process that has a writer open shares the writer's memory. Where a writer was
    killed while it changed that memory, it is of no use: then SQLite makes it anew from the log.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):  # SQLite would wait for a pipe
            wrong = f"the store is damaged: {safe_text(path)} is not a file"
            raise CorruptStore(wrong, "run `gitindex index`")
    except FileNotFoundError:
        return None
    for _ in range(MISSING_LOG_TRIES):
        try:
            with _TURN:
                if _has_writer(path):
                    return Database(path, _connect_reader(path, ""))
                database = ReaderDatabase(path, _connect_reader(path, "&readonly_shm=1"))
                _READERS.add(database)
                return database
        except FileNotFoundError:
            return None
        except StoreError as error:
            if UNFINISHED_LOG in str(error.__cause__):
                break
            if not _is_passing(error) or not os.path.exists(path):
                raise
        time.sleep(MISSING_LOG_SECONDS)
    return Database(path, _connect_reader(path, ""))  # or by a gitindex that left no log behind


def _patiently(ask: Callable[[], Any]) -> Any:
    """Retry while a writer starts. A transaction that has read once cannot fail this way."""
    for _ in range(MISSING_LOG_TRIES):
        try:
            return ask()
        except StoreError as error:
            if not _is_passing(error):
                raise
        time.sleep(MISSING_LOG_SECONDS)
    return ask()


def _is_passing(error: StoreError) -> bool:
    """Were the log files missing for a moment, or not yet filled by their writer?"""
    message = f"{error.__cause__} {error.message}"
    return any(
        what in message for what in ("unable to open", "readonly database", "anew meanwhile")
    )


def _has_reader(path: str) -> bool:
    return any(database.path == path for database in _READERS)


def _has_writer(path: str) -> bool:
    return any(database.path == path for database in _OPEN)


def leave_log(path: str) -> None:
    """Create empty log files beside a database, so that readers need not wait for a writer."""
    for file in (f"{path}-wal", f"{path}-shm"):
        with suppress(OSError):  # already there, which is fine
            os.mknod(file, 0o600 | stat.S_IFREG)  # opening and closing it would drop locks


def _connect_reader(path: str, options: str) -> Connection:
    with translated(path):
        inode = os.stat(path).st_ino
        connection = connect_as(path, f"mode=ro{options}")
        try:
            _configure(connection)
            connection.execute("PRAGMA temp_store=MEMORY")
            connection.execute("PRAGMA query_only=ON")
            check_version(connection)  # opens the log
            if os.stat(path).st_ino != inode:
                raise StoreBusy("the store was rebuilt in the meantime", "try again")
        except BaseException:
            connection.close()
            raise
    return connection


def check_version(connection: Connection) -> None:
    """Raise unless the database has the schema of this gitindex."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > CURRENT:
        raise NewerSchema(
            f"the store was written by a newer gitindex (schema {version})", "upgrade gitindex"
        )
    if version != CURRENT:
        kind = OlderSchema if version else StoreError  # 0: an empty file
        raise kind(f"the store has an older schema ({version})", "run `gitindex index`")


def rows_among(
    ask: Callable[..., list[Any]], sql: str, values: Iterable[Any], *before: Any
) -> list[Any]:
    """Return all rows of a query with `IN ({marks})`, asked in parts."""
    listed = list(values)
    parts = (listed[at : at + AT_ONCE] for at in range(0, len(listed), AT_ONCE))
    answers = (ask(sql.replace("{marks}", marks(part)), *before, *part) for part in parts)
    return list(chain.from_iterable(answers))


def marks(values: Collection[object]) -> str:
    """Return the question marks of `IN (…)` for these values."""
    return ",".join("?" * len(values))


def _configure(connection: Connection) -> None:
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cache_size=-16384")


def _create(database: Database) -> None:
    """Make an empty database current; any other is left as it is."""
    if database.row("PRAGMA user_version")[0] == 0:
        with database.write():
            if database.row("PRAGMA user_version")[0]:
                return  # another runner was faster
            for statement in schema():
                database.run(statement)
            database.run(f"PRAGMA user_version={CURRENT}")


CURRENT = 11
"""PRAGMA user_version of a store that this code reads and writes. Another one is built anew: everything
here is derived from git."""


def schema() -> Iterator[str]:
    """Return the statements that make an empty database current."""
    folder = os.path.join(os.path.dirname(__file__), "sql")
    for name in sorted(os.listdir(folder)):
        yield from statements_of(name)


def statements_of(name: str) -> Iterator[str]:
    """Return the statements of one schema file."""
    path = os.path.join(os.path.dirname(__file__), "sql", name)
    with open(path, encoding="utf-8") as file:
        yield from _statements(file.read())


def _statements(script: str) -> Iterator[str]:
    lines = (line.partition("--")[0].rstrip() for line in script.splitlines())
    for statement in "\n".join(line for line in lines if line).split(";"):
        if statement.strip():
            yield statement
