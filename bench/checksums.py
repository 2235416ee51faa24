"""What a reader pays to know that the store is as its writer left it, and which files git converted."""

from __future__ import annotations

import os

from bench.harness import Row, timed
from bench.scratch import Bench
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.git.hidden_edits import find_hidden, probe_index
from gitindex.query.symbols import SymbolQuery, list_symbols
from gitindex.store import checksums
from gitindex.store.checksums import CheckLevel, damage_of_store
from gitindex.view.tree import open_tree

ANSWERS = 15
REPEATS = 200


def measure(bench: Bench) -> list[Row]:
    """CPU of the checks in one process, against a whole warm answer (symbols of one name)."""
    worktree = find_worktree(os.fspath(bench.indexed().path))
    _answer(worktree)
    answers = sorted(timed(lambda: _answer(worktree)).cpu for _ in range(ANSWERS))
    answer = 1000 * answers[ANSWERS // 2]
    # An answer looks at the marker before and after HEAD was read: twice.
    stat = 2 * _each(lambda: damage_of_store(worktree.store))
    again = _each(lambda: damage_of_store(worktree.store, CheckLevel.CACHED))
    once = _each(lambda: _first_look(worktree))
    size = os.path.getsize(worktree.database) / 1e6
    cold = 1000 * bench.corpus().gitindex("symbols", "Popen").cpu
    probe = probe_index(worktree, 40)
    noted = _each(lambda: find_hidden(worktree, probe, (), ()))
    changed = probe._replace(checksum=b"x" * 20)
    other = _each(lambda: find_hidden(worktree, changed, (), ()))
    return [
        Row("checksums, in a warm answer", stat, "ms", answer, "symbols, warm", most_ratio=0.03),
        Row("checksums, read parts again", again, "ms", answer, "symbols, warm", most_ratio=0.03),
        Row(
            f"checksums, every part once, {size:.0f} MB", once, "ms", cold, "symbols, cold command"
        ),
        Row("files git converted, noted index", noted, "ms", answer, "symbols, warm"),
        Row("files git converted, other index", other, "ms", answer, "symbols, warm"),
    ]


def _answer(worktree: Worktree) -> None:
    with open_tree(worktree, ".") as view:
        list_symbols(view, SymbolQuery("Popen"))


def _first_look(worktree: Worktree) -> None:
    """As in a process that has read nothing yet."""
    checksums._intact.clear()
    assert not damage_of_store(worktree.store, CheckLevel.CACHED)


def _each(work: object) -> float:
    assert callable(work)

    def often() -> None:
        for _ in range(REPEATS):
            work()

    return 1000 * timed(often).cpu / REPEATS
