"""Databases that no runner shares: new ones, foreign packs, and ones other than the store's."""

from __future__ import annotations

import time
from collections.abc import Callable

from gitindex.store.connection import (
    CURRENT,
    LENGTH_LIMIT,
    Connection,
    Database,
    SqliteError,
    check_version,
    connect,
    connect_as,
    schema,
    translated,
)

MAX_VALUE = 16 << 20
"""Bytes of one value in a database that came as bytes."""


def open_fresh(path: str) -> Database:
    """Create a database with our schema that only this process uses: without log and checksums."""
    with translated(path):
        connection = connect(path, uri=True)
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
    """Open a database from an untrusted source, read-only: nothing in its schema is run."""
    with translated(path):
        connection = connect_as(path, "mode=ro&immutable=1")
        try:
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("PRAGMA cell_size_check=ON")
            connection.execute("PRAGMA query_only=ON")
            connection.execute("PRAGMA mmap_size=0")
            check_version(connection)
        except BaseException:
            connection.close()
            raise
    return Database(path, connection)


def open_bytes(data: bytes, seconds: float) -> Connection | None:
    """Open the bytes of an untrusted database in memory for so long; None if they are none."""
    if not data:
        return None  # SQLite says MemoryError
    until = time.monotonic() + seconds
    connection = connect(":memory:")
    try:
        connection.setlimit(LENGTH_LIMIT, MAX_VALUE)
        connection.deserialize(data)
        for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON"):
            connection.execute(f"PRAGMA {pragma}")
        connection.set_progress_handler(lambda: time.monotonic() > until, 10_000)
    except (SqliteError, OverflowError):
        connection.close()
        return None
    return connection


def schema_text(database: Database) -> list[tuple[str, ...]]:
    """Return a database's whole schema, as SQLite stores it."""
    return database.rows(
        "SELECT type, name, tbl_name, coalesce(sql, '') FROM main.sqlite_master ORDER BY 1, 2, 3"
    )


def open_plain(path: str, prepare: Callable[[Connection], None]) -> Connection | None:
    """Open or create a database other than the store's; None if it is damaged or cannot be made."""
    connection = None
    try:
        connection = connect(path)
        connection.isolation_level = (
            "DEFERRED"  # Python begins transactions, `with connection` ends them
        )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        prepare(connection)
    except SqliteError:
        if connection is not None:
            connection.close()
        return None
    return connection


def open_other(path: str, writes: bool = True) -> Database:
    """Open a database other than the store's; create it unless it is only read."""
    with translated(path):
        connection = connect_as(path, "mode=rwc" if writes else "mode=ro")
        connection.execute("PRAGMA trusted_schema=OFF")
    return Database(path, connection)
