"""The only importer of sqlite3: connections, and SQLite's errors translated to ours."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from gitindex.base.errors import CorruptStore, StoreBusy, StoreError
from gitindex.base.escape import safe_text

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
    from gitindex.store.name_rows import list_blobs  # lazily: a prompt asks for no name

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
