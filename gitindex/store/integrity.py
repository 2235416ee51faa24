"""The thorough check of a store: for the runner, `doctor`, `create`, `repair` and `--force`."""

from __future__ import annotations

import os

from gitindex.base.errors import CorruptStore, StoreError
from gitindex.store import text_index
from gitindex.store.connection import open_reader
from gitindex.store.lexical import LexicalReader
from gitindex.store.lexical_files import torn_file
from gitindex.store.seal import ALL, damage_of_store

REMEDY = "run `gitindex index --force`"


def check_store(store: str) -> None:
    """Raise CorruptStore unless every byte is as written and both halves agree.

    Compares checksums of all files, SQLite's own check, the rows of the text index, the number of
    documents.
    """
    wrong = damage_of_store(store, ALL)
    if not wrong and (torn := torn_file(store)):
        wrong = f"lexical/{torn} is torn"
    if not wrong:
        try:
            wrong = _contents(store)
        except StoreError as error:
            raise CorruptStore(error.message, REMEDY) from error
    if wrong:
        raise CorruptStore(f"the store is damaged: {wrong}", REMEDY)


def _contents(store: str) -> str:
    database = open_reader(os.path.join(store, "facts.db"))
    if database is None:
        return "there is no facts.db"
    try:
        said = str(database.row("PRAGMA quick_check(1)")[0])
        if said != "ok":
            return said
        wrong = text_index.damage(database)
        documents = int(database.row("SELECT lexical_docs FROM repo_state")[0])
    finally:
        database.close()
    if not wrong and documents:
        held = LexicalReader(os.path.join(store, "lexical")).documents
        wrong = "the lexical index lost documents" if held < documents else ""
    return wrong
