"""Shell completion: names and paths of the published tree, and the scripts.

One prefix look-up in the store: no gate, no read of the work tree, no writes. A completion may be
older than the disk; the command that then runs is not.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from gitindex.base.errors import GitIndexError
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.cli.commands import all_commands, resolve
from gitindex.questions.table import shell_params
from gitindex.store import mapping
from gitindex.store.connection import Database, open_reader

if TYPE_CHECKING:
    from gitindex.questions.table import Param

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

    def lookup(database: Database, _worktree: Worktree, number: int) -> Iterator[str]:
        for (name,) in database.rows(_NAMES, number, typed, typed + "\U0010ffff", LIMIT):
            yield name

    return _offered(lookup)


def tree_paths(typed: str) -> list[str]:
    """Complete a path, relative to the current folder, by one component."""
    folder, slash, rest = typed.rpartition("/")

    def lookup(database: Database, worktree: Worktree, number: int) -> Iterator[str]:
        here = os.path.relpath(os.path.realpath(folder or "."), worktree.root)
        above = b"" if here == "." else os.fsencode(here) + b"/"
        for step in _steps(database, number, above, os.fsencode(rest)):
            yield folder + slash + os.fsdecode(step)

    return _offered(lookup)


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


def _offered(lookup: Callable[[Database, Worktree, int], Iterator[str]]) -> list[str]:
    """Run a look-up in the store of the current folder; an empty list if there is none to ask."""
    try:
        worktree = find_worktree(".")
        database = open_reader(worktree.database)
        if database is None:
            return []
        try:
            row = mapping.published(database, worktree.id)
            found = [] if row is None else list(lookup(database, worktree, row.worktree_id))
        finally:
            database.close()
    except (GitIndexError, OSError):
        return []
    return [word for word in found if _PLAIN.fullmatch(word)]


def print_script(shell: str) -> int:
    """Print the script of a shell."""
    from gitindex.base.locations import shipped_folder

    script = os.path.join(shipped_folder("templates"), "completion", f"gitindex.{shell}")
    with open(script, encoding="utf-8") as file:
        sys.stdout.write(file.read())
    return 0


def print_offers() -> int:
    """Print what fits the word under the cursor, a line each, as the shells' scripts ask for it."""
    words = _words(os.environ.get("COMP_WORDS", ""))
    at = int(os.environ.get("COMP_CWORD", "0") or 0)
    typed = words[at] if at < len(words) else ""
    for offer in offers(words[1:at], typed):
        sys.stdout.write(f"{offer}\n")
    return 0


def _words(line: str) -> list[str]:
    import shlex

    try:
        return shlex.split(line)
    except ValueError:  # a quote is open
        return line.split()


def offers(before: list[str], typed: str) -> list[str]:
    """Return what may stand after these words: commands, options, or values of the table."""
    while before[:1] == ["-C"] and len(before) > 1:
        before = before[2:]
    one, rest = resolve(before)
    inner = _inner(before, typed) if not rest or one is None else []
    if one is None:
        return inner + (_starting(_GLOBALS, typed) if typed.startswith("-") else [])
    params = shell_params(one)
    if typed.startswith("-"):
        return _starting([*(flag for param in params for flag in param.flags), "--help"], typed)
    expected = _position(params, rest)
    return inner + (_values(expected, typed) if expected else [])


_GLOBALS = ("--version", "--full-name", "--help", "-C")
"""What may stand before a command."""


def _position(params: list[Param], rest: list[str]) -> Param | None:
    """Return the parameter whose value comes next."""
    last = rest[-1] if rest else ""
    for param in params:
        if last in param.flags and param.kind != "flag":
            return param
    places = [param for param in params if not param.flags]
    given = sum(not word.startswith("-") for word in rest)
    return places[min(given, len(places) - 1)] if places else None


def _inner(before: list[str], typed: str) -> list[str]:
    """Return the next words of command names that begin with these."""
    many = len(before)
    names = (one.name.split() for one in all_commands())
    found = (name[many] for name in names if len(name) > many and name[:many] == before)
    return _starting(dict.fromkeys(found), typed)


def _values(param: Param, typed: str) -> list[str]:
    if param.complete in _LOOKUPS:
        return _LOOKUPS[param.complete](typed)
    words = list(param.choices)
    for word in param.complete.split():
        module, _, name = _LISTS.get(word, "").partition(":")
        words += sorted(getattr(import_module(f"gitindex.{module}"), name)) if module else [word]
    return _starting(words, typed)


def _starting(words: Iterable[str], typed: str) -> list[str]:
    return [word for word in words if word.startswith(typed)]


_LOOKUPS = {"names": symbol_names, "paths": tree_paths}
_LISTS = {
    "clients": "install.mcp_clients:CLIENTS",
    "kinds": "query.search.query_text:KINDS",
    "languages": "languages.table:BY_NAME",
}
"""What a row of the table calls them after `@`, and where they are."""
