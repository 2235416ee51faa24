"""Verifies imported facts now, in the foreground, as the runner does in the background."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

from gitindex.base.errors import NotIndexed
from gitindex.base.worktree import Worktree
from gitindex.extract.pool import Extractor
from gitindex.freshness.pack_note import read_pack_note
from gitindex.refresh.import_check import verify_part
from gitindex.refresh.run import take_lock
from gitindex.refresh.start import start_runner
from gitindex.store.connection import open_reader
from gitindex.store.imported import imported_facts

Report = Callable[[str, float | None], None]


def check_imports(worktree: Worktree, report: Report) -> dict[str, Any]:
    """Derive every imported fact again; rebuild the store if one is wrong."""
    before = read_pack_note(worktree.store).rejected
    more = True
    with closing(Extractor()) as workers:
        while more:
            lock = take_lock(worktree, report)
            try:
                more = verify_part(worktree, workers)
            finally:
                lock.release()
            note = read_pack_note(worktree.store)
            report("verify", 100.0 * note.verified / note.imported if note.imported else None)
    rejected = [signer for signer in note.rejected if signer not in before]
    if rejected:
        start_runner(worktree)
    return {"status": "ok", "left": _left(worktree), "rejected": rejected}


def _left(worktree: Worktree) -> int:
    database = open_reader(worktree.database)
    if database is None:
        raise NotIndexed
    try:
        held = imported_facts(database)
    finally:
        database.close()
    return held.imported - held.verified if held else 0
