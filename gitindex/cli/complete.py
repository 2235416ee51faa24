"""What a shell offers while somebody types: names and paths of the published tree, and the scripts.

One look-up in the store by the beginning of a word: no gate, no look at the work tree, nothing written.
A hint may be older than the disk; the command that is then run is not.
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
"""Names that are offered at most; more letters narrow them."""
_PLAIN = re.compile(r"[\w./+@,:~#%-]+")
"""A repository chooses its names: nothing is offered that a shell would read as more than a word."""
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
    """Names of definitions that start with this; paths as well once there is a slash."""
    if "/" in typed:
        return tree_paths(typed)

    def look(database: Database, _worktree: Worktree, number: int) -> Iterator[str]:
        for (name,) in database.rows(_NAMES, number, typed, typed + "\U0010ffff", LIMIT):
            yield name

    return _offered(look)


def tree_paths(typed: str) -> list[str]:
    """Files and folders of the tree one step further than what is typed, from where one stands."""
    folder, slash, rest = typed.rpartition("/")

    def look(database: Database, worktree: Worktree, number: int) -> Iterator[str]:
        here = os.path.relpath(os.path.realpath(folder or "."), worktree.root)
        above = b"" if here == "." else os.fsencode(here) + b"/"
        for step in _steps(database, number, above, os.fsencode(rest)):
            yield folder + slash + os.fsdecode(step)

    return _offered(look)


def _steps(database: Database, worktree: int, above: bytes, typed: bytes) -> Iterator[bytes]:
    """The next components of paths below a folder; what a folder holds is stepped over, not read."""
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
    """What a look-up in the store of the current folder finds; nothing where it cannot be asked."""
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
