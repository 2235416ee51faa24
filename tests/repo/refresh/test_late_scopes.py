"""A refresh of many blobs is fresh without their scopes; the runner derives them when it is idle."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.runner_lock import RunnerLock, is_held
from gitindex.base.vocabulary import IndexState
from gitindex.extract.pool import Extractor
from gitindex.extract.worker import FAULT_VARIABLE
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.refresh import refresher
from gitindex.refresh.detached import start_runner
from gitindex.refresh.idle_work import derive_part
from gitindex.refresh.run import wait_until_fresh
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.refresh.spool import Pace
from gitindex.sharing.create import create_pack
from gitindex.store.blobs import scopes_are_due
from gitindex.store.connection import leave_log, open_reader
from gitindex.view.tree import open_tree
from tests.support import Repo, accept_changes, child_pids, runner_pids, wait_for

FILES = {
    "a.py": "class Base:\n    def asked(self): pass\n",
    "b.py": "from a import Base\nclass Own(Base): pass\nOwn().asked()\n",
    "c.py": "def other(asked):\n    asked()\n",
    "d.js": "class One { asked() {} }\nnew One().asked();\n",
    "notes.txt": "asked\n",
}
SCOPED = 4


def _rows(repo: Repo) -> list[tuple[bytes, bytes]]:
    database = open_reader(repo.worktree.database)
    assert database is not None
    with closing(database):
        return list(
            database.rows("SELECT oid, packed FROM scopes JOIN blobs ON id=blob_id ORDER BY 1")
        )


def _answer(repo: Repo) -> list[Any]:
    with closing(Extractor()) as workers, open_tree(repo.worktree, str(repo.path)) as view:
        told = find_references(view, ReferenceQuery("asked"), Memory(workers=workers))
    rows = [(row["path"], row["line"], row["tier"]) for row in told["references"]]
    assert len(rows) >= 2
    return [sorted(rows), told["complete"]]


def _refresh(repo: Repo, force: bool = False) -> None:
    """Index here, and start no runner."""
    assert Runner(repo.worktree).serve(RefreshRequest(repo.worktree, "test", force))
    assert repo.verdict().state is IndexState.FRESH


def _silence(*_: object) -> None:
    pass


@pytest.fixture
def late(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Fresh, and all scopes are due."""
    repo.git("config", "gitindex.enabled", "false")
    for path, text in FILES.items():
        repo.write(path, text)
    repo.commit()
    repo.index()
    monkeypatch.setattr(refresher, "LATE_SCOPES", 3)
    wanted = _rows(repo)
    assert len(wanted) == SCOPED
    shutil.rmtree(repo.worktree.store)
    repo.index()
    repo.git("config", "--unset", "gitindex.enabled")
    assert not runner_pids(Path(repo.worktree.common_dir)), "hooks are off: nothing is started"
    assert _rows(repo) == []
    return repo


@pytest.mark.parametrize("force", [False, True])
def test_the_runner_derives_the_same_scopes_and_answers_stay(
    late: Repo, force: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if force:
        _refresh(late, force=True)
        assert _rows(late) == []
    before = _answer(late)
    assert _rows(late) == [], "readers write nothing"
    Runner(late.worktree, Pace(linger=0.01)).serve()
    derived = _rows(late)
    assert _answer(late) == before
    assert not scopes_are_due(late.worktree.database)
    shutil.rmtree(late.worktree.store)
    monkeypatch.setattr(refresher, "LATE_SCOPES", 500)
    late.index()
    assert _rows(late) == derived
    assert len(derived) == SCOPED
    assert _answer(late) == before


def test_a_commit_brings_its_scopes_and_takes_no_others(late: Repo) -> None:
    late.write("e.py", "def more(asked):\n    asked()\n")
    late.git("add", "-A")
    late.git("commit", "-qm", "x", env={"GITINDEX": "0"})
    _refresh(late)
    assert len(_rows(late)) == 1
    assert scopes_are_due(late.worktree.database)


def test_proofs_agree_before_and_after(late: Repo) -> None:
    for _ in range(2):
        proven = late.gitindex("verify", "--full")
        assert proven.returncode == 0, proven.stdout
        assert late.answer("audit")["equal"]
        assert "ok  store: every byte is as it was written" in late.gitindex("doctor").stdout
        Runner(late.worktree, Pace(linger=0.01)).serve()
    with closing(sqlite3.connect(late.worktree.database)) as connection:
        connection.execute("DELETE FROM scopes")
        connection.commit()
    leave_log(late.worktree.database)
    accept_changes(late.worktree.store)
    assert late.gitindex("verify", "--full").returncode, "now no row is due: they are lost"


def test_a_killed_runner_is_continued(
    late: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, common = _answer(late), Path(late.worktree.common_dir)
    lock = RunnerLock(late.worktree.lock)
    assert lock.acquire()
    with closing(Extractor()) as workers:
        assert derive_part(late.worktree, workers, 2), "there are more"
    lock.release()
    assert len(_rows(late)) == 2
    held = tmp_path / "held"
    held.write_text("")
    monkeypatch.setenv(FAULT_VARIABLE, f"hold:asked:{held}")
    start_runner(late.worktree)
    wait_for(lambda: any(child_pids(p, b"extract.worker") for p in runner_pids(common)))
    assert late.verdict().state is IndexState.FRESH
    assert wait_until_fresh(late.worktree, 60, _silence) is None, "nobody waits for scopes"
    for pid in runner_pids(common):
        os.kill(pid, signal.SIGKILL)
    held.unlink()
    late.wait_idle()
    wait_for(lambda: not is_held(late.worktree.lock))  # a killed process closes its files last
    assert len(_rows(late)) == 2
    monkeypatch.delenv(FAULT_VARIABLE)
    assert wait_until_fresh(late.worktree, 60, _silence) is None
    wait_for(lambda: not scopes_are_due(late.worktree.database), tell=late.log)
    late.wait_idle()
    assert len(_rows(late)) == SCOPED
    assert _answer(late) == before


def test_a_blob_that_kills_its_parser_is_tried_once(
    late: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FAULT_VARIABLE, "crash:class Own")
    Runner(late.worktree, Pace(linger=0.01)).serve()
    assert len(_rows(late)) == SCOPED - 1
    assert not scopes_are_due(late.worktree.database)
    monkeypatch.delenv(FAULT_VARIABLE)
    assert late.gitindex("verify", "--full").returncode == 0


def test_a_pack_has_the_same_facts_whenever_it_is_made(
    late: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blobs keep the numbers of their store, so only the root over the facts is compared."""
    made = []
    for name in ("late", "forced"):
        created = create_pack(late.worktree, "HEAD", str(tmp_path / name), _silence)
        made.append(created.manifest.merkle_root)
        assert len(_rows(late)) == SCOPED
        monkeypatch.setattr(refresher, "LATE_SCOPES", 500)
        _refresh(late, force=True)
    assert made[0] == made[1]


def test_a_first_index_of_many_files_leaves_them_to_a_runner(repo: Repo) -> None:
    count = refresher.LATE_SCOPES + 20
    for number in range(count):
        repo.write(f"m{number}.py", f"def asked{number}(a):\n    return a\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "x", env={"GITINDEX": "0"})
    assert repo.gitindex("index").returncode == 0
    assert repo.verdict().state is IndexState.FRESH
    wait_for(lambda: not scopes_are_due(repo.worktree.database), tell=repo.log)
    repo.wait_idle()
    assert len(_rows(repo)) == count
    assert repo.verdict().state is IndexState.FRESH
