"""Scrubs a store: a part of it after each refresh, all of it for `doctor`, `create`, `repair`, `--force`.

A disk can lose a bit of a file that nobody reads for months. After each refresh a runner compares the
next few parts with their checksums, so that its work does not grow with the store, and over many
refreshes everything is compared. `gitindex index` may leave the full scrub to the runner that follows.
"""

from __future__ import annotations

import os
from contextlib import suppress

from gitindex.base.atomic_file import read_small, remove, write_atomic
from gitindex.base.errors import CorruptStore, StoreError
from gitindex.store.checksums import (
    CheckLevel,
    checked_parts,
    damage_of_store,
    half_of_lexical,
    parse_half,
    torn_file,
)
from gitindex.store.connection import Database, open_reader
from gitindex.store.lexical import LexicalReader

PIECE_BYTES = 32 << 20
"""How much one runner compares: about 20 ms."""
QUICK_BYTES = 64 << 20
"""A store up to this size is compared at once: it takes less than a tenth of a second."""
CURSOR = "compared"
"""The file that says where the next piece begins."""
REMEDY = "run `gitindex index --force`"
_EVERYTHING = b"all"


def scrub_next(store: str) -> str:
    """Describe damage in the next piece of a store, or in all of it if a full scrub is due."""
    cursor = os.path.join(store, CURSOR)
    said = read_small(cursor)
    if said == _EVERYTHING or size_of_store(store) <= QUICK_BYTES:
        wrong = damage_of_store(store, CheckLevel.FULL)
        with suppress(OSError):
            remove(cursor)
        return wrong
    wrong = damage_of_store(store)
    if wrong:
        return wrong
    wrong, at = _next_piece(store, int(said) if said and said.isdigit() else 0)
    with suppress(OSError):
        write_atomic(cursor, b"%d" % at, durable=False)
    return wrong


def schedule_full_scrub(store: str) -> None:
    """Let the next runner compare everything."""
    write_atomic(os.path.join(store, CURSOR), _EVERYTHING, durable=False)


def full_scrub_due(store: str) -> bool:
    """Is everything to be compared by the next runner?"""
    return read_small(os.path.join(store, CURSOR)) == _EVERYTHING


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


def _next_piece(store: str, at: int) -> tuple[str, int]:
    """Compare parts from the given one on; returns what is wrong, and where to go on."""
    parts = checked_parts(store)
    left = PIECE_BYTES
    while at < len(parts) and left > 0:
        if not parts[at].is_intact():
            # it was replaced meanwhile, or is damaged
            return damage_of_store(store, CheckLevel.FULL), 0
        left -= parts[at].size
        at += 1
    return "", at if at < len(parts) else 0


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
