"""Shell completion: names and paths of the published tree, and the scripts.

One prefix look-up in the store: no gate, no read of the work tree, no writes. A completion may be
older than the disk; the command that then runs is not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from gitindex.base.errors import GitIndexError
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.store import mapping
from gitindex.store.connection import Database, open_reader

LIMIT = 200
"""Maximum number of names offered; more letters narrow them."""
_PLAIN = re.compile(r"[\w./+@,:~#%-]+")
"""Only names that a shell reads as one plain word are offered: a repository may use any."""
_NAMES = (
    "SELECT DISTINCT n.text FROM names n JOIN symbols s ON s.name_id=n.id"
    " JOIN files f ON f.blob_id=s.blob_id AND f.worktree_id=?"
    " WHERE n.text>=? AND n.text<? ORDER BY n.text LIMIT ?"
)
_NEXT_PATH = (
    "SELECT p.path FROM paths p JOIN files f ON f.path_id=p.id AND f.worktree_id=?"
    " WHERE p.path>=? AND p.path<? ORDER BY p.path LIMIT 1"
)


def symbol_names(typed: str) -> list[str]:
    """Return names of definitions with this prefix; paths too if it contains a slash."""
    if "/" in typed:
        return tree_paths(typed)

    def look(database: Database, _worktree: Worktree, number: int) -> Iterator[str]:
        for (name,) in database.rows(_NAMES, number, typed, typed + "\U0010ffff", LIMIT):
            yield name

    return _offered(look)


def tree_paths(typed: str) -> list[str]:
    """Complete a path, relative to the current folder, by one component."""
    folder, slash, rest = typed.rpartition("/")

    def look(database: Database, worktree: Worktree, number: int) -> Iterator[str]:
        here = os.path.relpath(os.path.realpath(folder or "."), worktree.root)
        above = b"" if here == "." else os.fsencode(here) + b"/"
        for step in _steps(database, number, above, os.fsencode(rest)):
            yield folder + slash + os.fsdecode(step)

    return _offered(look)


def _steps(database: Database, worktree: int, above: bytes, typed: bytes) -> Iterator[bytes]:
    """Yield the next components of paths below a folder; skips over the contents of each folder."""
    start = above + typed
    end = start + b"\xff"
    for _ in range(LIMIT):
        row = database.row(_NEXT_PATH, worktree, start, end)
        if row is None:
            return
        path: bytes = row[0]
        step, slash, _rest = path[len(above) :].partition(b"/")
        yield step + slash
        start = above + step + (b"0" if slash else b"\x00")  # "0" follows "/"


def _offered(look: Callable[[Database, Worktree, int], Iterator[str]]) -> list[str]:
    """Run a look-up in the store of the current folder; an empty list if there is none to ask."""
    try:
        worktree = find_worktree(".")
        database = open_reader(worktree.database)
        if database is None:
            return []
        try:
            row = mapping.published(database, worktree.id)
            found = [] if row is None else list(look(database, worktree, row.worktree_id))
        finally:
            database.close()
    except (GitIndexError, OSError):
        return []
    return [word for word in found if _PLAIN.fullmatch(word)]
