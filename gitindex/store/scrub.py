"""Scrubs a store: after a refresh, and for `doctor`, `create`, `repair`, `--force`.

A disk can lose a bit of a file that nobody reads for months. A runner compares a small store with its
checksums after each refresh, a large one once a day. `gitindex index` may leave it to the runner that
follows.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from gitindex.base.atomic_file import remove, write_atomic
from gitindex.base.errors import CorruptStore, StoreError
from gitindex.store.checksums import (
    CheckLevel,
    damage_of_store,
    half_of_lexical,
    parse_half,
    torn_file,
)
from gitindex.store.connection import Database, open_reader
from gitindex.store.lexical import LexicalReader

QUICK_BYTES = 64 << 20
"""A store up to this size is compared at once: it takes less than a tenth of a second."""
SCRUBBED = "compared"
"""The file whose time says when all of a large store was compared last."""
SCRUB_SECONDS = 86_400.0
"""Between two full scrubs of a large store: a gigabyte takes a second of CPU."""
REMEDY = "run `gitindex index --force`"


def scrub(store: str) -> str:
    """Describe damage of a store: of all its bytes if a scrub is due, else of its files' identities."""
    if size_of_store(store) <= QUICK_BYTES:
        return damage_of_store(store, CheckLevel.FULL)
    if not full_scrub_due(store):
        return damage_of_store(store)
    wrong = damage_of_store(store, CheckLevel.FULL)
    with suppress(OSError):
        write_atomic(os.path.join(store, SCRUBBED), b"", durable=False)
    return wrong


def schedule_full_scrub(store: str) -> None:
    """Let the next runner compare everything."""
    remove(os.path.join(store, SCRUBBED))


def full_scrub_due(store: str) -> bool:
    """Is all of a large store to be compared by the next runner?"""
    try:
        age = time.time() - os.stat(os.path.join(store, SCRUBBED)).st_mtime
    except OSError:
        age = SCRUB_SECONDS
    return not 0 <= age < SCRUB_SECONDS and size_of_store(store) > QUICK_BYTES


def size_of_store(store: str) -> int:
    """Return the bytes of the database and of the lexical index."""
    files = [os.path.join(store, "facts.db")]
    with suppress(OSError):
        files += [entry.path for entry in os.scandir(os.path.join(store, "lexical"))]
    return sum(map(_size, files))


def check_store(store: str) -> None:
    """Raise CorruptStore unless every byte is as written and both halves agree.

    Compares checksums of all files, SQLite's own check, and the lexical index that the database names.
    """
    wrong = damage_of_store(store, CheckLevel.FULL)
    if not wrong and (torn := torn_file(store)):
        wrong = f"lexical/{torn} is torn"
    if not wrong:
        try:
            wrong = _contents(store)
        except StoreError as error:
            raise CorruptStore(error.message, REMEDY) from error
        except (ValueError, TypeError, LookupError) as error:
            wrong = f"facts.db has a value of another kind ({error})"
    if wrong:
        raise CorruptStore(f"the store is damaged: {wrong}", REMEDY)


def other_lexical(database: Database, folder: str) -> str:
    """Describe how the lexical index is not the one that the database was last written with.

    Documents are committed before the facts that need them: a later commit than the named one is the
    rest of a process that died, and harmless.
    """
    named = parse_half(database.row("SELECT lexical_half FROM repo_state")[0])
    if half_of_lexical(folder).precedes(named):
        return "lexical/ is of another generation than facts.db"
    return ""


def _contents(store: str) -> str:
    database = open_reader(os.path.join(store, "facts.db"))
    if database is None:
        return "there is no facts.db"
    try:
        said = str(database.row("PRAGMA quick_check(1)")[0])
        if said != "ok":
            return said
        wrong = other_lexical(database, f"{store}/lexical")
        documents = database.row("SELECT lexical_docs FROM repo_state")[0]
    finally:
        database.close()
    if not wrong and documents and LexicalReader(f"{store}/lexical").documents < documents:
        wrong = "the lexical index lost documents"
    return wrong


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
