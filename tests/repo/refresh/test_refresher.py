"""What a refresh decides: which paths it looks at, what it extracts again, and when it publishes."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import IndexState
from gitindex.extract.pool import extract_blobs
from gitindex.extract.worker import FAULT_VARIABLE
from gitindex.languages.facts import FactsKey
from gitindex.maintenance.verify import verify
from gitindex.refresh import refresher
from gitindex.refresh.queue import FULL, RefreshScope
from gitindex.refresh.refresher import Refresher
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.refresh.session import Session
from gitindex.refresh.spool import append_event
from gitindex.store.blobs import all_late
from gitindex.store.connection import leave_log, open_reader
from tests.support import TIMEOUT, Repo, accept_changes

EXTRACTORS = "SELECT DISTINCT b.extractor FROM files f JOIN blobs b ON b.id=f.blob_id"


@pytest.fixture
def project(repo: Repo) -> Repo:
    for name in ("one", "two", "three"):
        repo.write(f"{name}.py", f"def {name}():\n    return 1\n")
    repo.commit()
    repo.index()
    repo.wait_idle()
    return repo


def by_hand(repo: Repo, *statements: str) -> None:
    """Change the database as an earlier version would have left it."""
    with closing(sqlite3.connect(repo.worktree.database)) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount, statement
        connection.commit()
    leave_log(repo.worktree.database)
    accept_changes(repo.worktree.store)


def rows(repo: Repo, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(repo.worktree.database)) as connection:
        found = connection.execute(sql).fetchall()
    leave_log(repo.worktree.database)
    return found


def serve_event(repo: Repo) -> None:
    append_event(repo.worktree, "post-commit")
    assert Runner(repo.worktree).serve()


@pytest.mark.parametrize("moved", [False, True], ids=["the same tree", "a new commit"])
def test_after_an_upgrade_nothing_keeps_the_facts_of_the_old_extractor(
    project: Repo, moved: bool
) -> None:
    """The trees differ in nothing, or in one path: the fingerprint says that every path is to be read."""
    [(now,)] = rows(project, EXTRACTORS)
    by_hand(
        project,
        "UPDATE worktrees SET fingerprint='{}'",
        "UPDATE blobs SET extractor='old', symbols=0, lexical=0",
        "UPDATE repo_state SET lexical_docs=0",
        "DELETE FROM definitions",
    )
    if moved:
        project.write("four.py", "def four(): pass\n")
        project.commit()
    serve_event(project)
    assert rows(project, EXTRACTORS) == [(now,)]
    defined = "SELECT count(*) FROM definitions d JOIN files f ON f.blob_id=d.blob_id"
    assert rows(project, defined) == [(4 if moved else 3,)]
    assert project.verdict().state is IndexState.FRESH


def test_a_full_scope_looks_at_every_path(project: Repo) -> None:
    by_hand(project, "DELETE FROM files WHERE path_id=(SELECT min(path_id) FROM files)")
    request = RefreshRequest(project.worktree, "reindex", force=True)
    assert Runner(project.worktree).serve(request)
    assert len(project.mapping()) == 3


def test_without_the_old_tree_every_path_is_compared(project: Repo) -> None:
    by_hand(project, f"UPDATE worktrees SET tree='{'1' * 40}'")
    project.write("four.py", "def four(): pass\n")
    (project.path / "one.py").unlink()
    project.commit()
    serve_event(project)
    project.assert_published()


def test_a_head_that_moves_is_looked_at_again_but_not_for_ever(
    project: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before every publish somebody commits: the last look publishes the tree that it has."""
    publish, seen = refresher.Refresher._publish, list[str]()

    def moving(self: refresher.Refresher, *args: object) -> bool:
        project.write("more.py", f"x = {len(seen)}\n")
        seen.append(project.commit())
        return publish(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(refresher.Refresher, "_publish", moving)
    project.write("more.py", "x = -1\n")
    project.commit()
    monkeypatch.setattr(refresher, "MAX_ROUNDS", 3)
    append_event(project.worktree, "post-commit")
    rounds = []
    monkeypatch.setattr(
        refresher, "announce_run", lambda *_args: rounds.append(len(seen)), raising=True
    )
    with pytest.MonkeyPatch.context() as once:
        once.setattr("gitindex.refresh.worktree_writer.WorktreeWriter.why_refresh", lambda *_: None)
        Runner(project.worktree).serve()
    assert rounds == [0, 1, 2]
    assert project.verdict().state is not IndexState.FRESH, "HEAD is another one by now"


def _quarantined(repo: Repo) -> list[tuple[object, ...]]:
    return rows(repo, "SELECT reason FROM blobs WHERE status='quarantined'")


def test_a6_a_crash_is_tried_once_more_and_then_stays(
    project: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("poison.py", "def poisoned_well(): pass\n")
    project.commit()
    monkeypatch.setenv(FAULT_VARIABLE, "crash:poisoned_well")
    for reason in ("crashed", "crashed again", "crashed again"):
        serve_event(project)
        assert _quarantined(project) == [(reason,)]
    monkeypatch.delenv(FAULT_VARIABLE)
    serve_event(project)
    assert _quarantined(project) == [("crashed again",)], "not a third time"


def test_a6_what_crashed_once_is_whole_after_the_next_refresh(
    project: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("poison.py", "def poisoned_well(): pass\n")
    project.commit()
    monkeypatch.setenv(FAULT_VARIABLE, "crash:poisoned_well")
    serve_event(project)
    monkeypatch.delenv(FAULT_VARIABLE)
    serve_event(project)
    assert _quarantined(project) == []
    assert verify(project.worktree, ".", full=True)["verified"]


def test_a6_a_refresh_in_which_every_blob_crashes_fails(
    project: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(refresher.MANY_QUARANTINED):
        project.write(f"p{number}.py", f"def poisoned_well_{number}(): pass\n")
    project.commit()
    monkeypatch.setenv(FAULT_VARIABLE, "crash:poisoned_well")
    with pytest.raises(GitIndexError, match="cannot start a parser"):
        serve_event(project)
    assert _quarantined(project) == []
    assert project.verdict().state is IndexState.ERROR
    monkeypatch.delenv(FAULT_VARIABLE)
    project.index()
    assert verify(project.worktree, ".", full=True)["verified"]


@pytest.mark.promise("I-42")
@pytest.mark.parametrize("megabytes", [60, 150, 400])
def test_a6_a_memory_limit_leaves_no_mark(repo: Repo, megabytes: int) -> None:
    """`ulimit -v`: what cannot be parsed under it is an error or is tried again, and never stays."""
    for number in range(5):
        repo.write(f"f{number}.py", f"def f{number}(): return f1()\n")
    repo.commit()
    limit = megabytes << 20
    done = subprocess.run(
        [sys.executable, "-I", "-m", "gitindex", "index"],
        cwd=repo.path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert "Traceback" not in done.stderr or megabytes < 100, done.stderr
    repo.index()
    assert _quarantined(repo) == []
    assert verify(repo.worktree, ".", full=True)["verified"]
    assert Path(repo.worktree.stamp).exists()


@pytest.mark.parametrize(("limit", "late"), [(2, 2), (3, 0)])
def test_scopes_come_later_from_so_many_blobs_on(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, limit: int, late: int
) -> None:
    monkeypatch.setattr(refresher, "LATE_SCOPES", limit)
    repo.git("config", "gitindex.enabled", "false")
    repo.index_files({"a.py": "def a(): pass\n", "b.py": "def b(): pass\n"})
    database = open_reader(repo.worktree.database)
    assert database is not None
    assert len(all_late(database)) == late
    database.close()


def test_a_job_says_how_many_blobs_it_extracted(repo: Repo) -> None:
    repo.index_files({"a.py": "def a(): pass\n", "b.py": "def b(): pass\n"})
    repo.write("a.py", "def other(): pass\n")
    repo.commit()
    repo.index()
    database = open_reader(repo.worktree.database)
    assert database is not None
    rows = database.rows("SELECT extracted FROM refresh_jobs ORDER BY id")
    database.close()
    assert [row[0] for row in rows if row[0] is not None] == [2, 1]


@pytest.mark.parametrize(("limit", "waits"), [(2, 1), (3, 0)])
def test_a_background_refresh_of_so_many_blobs_waits_for_its_turn(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, limit: int, waits: int
) -> None:
    waited: list[str] = []

    @contextmanager
    def slot(root: str, _tell: object) -> Iterator[None]:
        waited.append(root)
        yield

    monkeypatch.setattr(refresher, "heavy_slot", slot)
    monkeypatch.setattr(refresher, "is_background", lambda: True)
    monkeypatch.setattr(refresher, "HEAVY_BLOBS", limit)
    repo.index_files({"a.py": "def a(): pass\n", "b.py": "def b(): pass\n"})
    assert len(waited) == waits


@pytest.fixture
def session(repo: Repo) -> Iterator[Session]:
    """A session of a store with one file; two more are committed."""
    repo.index_files({"seed.py": "x = 1\n"})
    for name in "abz":
        repo.write(f"{name}.py", f"def {name}(): pass\n")
    repo.commit()
    session = Session(repo.worktree)
    yield session
    session.close()


def _refresher(repo: Repo, session: Session) -> Refresher:
    return Refresher(repo.worktree, session, lambda *_: None, make_folder=False)


def test_what_the_scope_names_is_extracted_first(
    repo: Repo, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    real = extract_blobs

    def noted(blobs: Iterable[tuple[FactsKey, str]], *args: Any, **named: Any) -> Any:
        listed = list(blobs)
        order.extend(key.oid for key, _ in listed)
        return real(iter(listed), *args, **named)

    monkeypatch.setattr(refresher, "extract_blobs", noted)
    _refresher(repo, session).run("0" * 32, RefreshScope(files=("z.py",)), force=False)
    oids = {path: oid for path, (_, oid) in repo.ls_tree().items()}
    assert order[0] == oids[b"z.py"]
    assert sorted(order[1:]) == sorted([oids[b"a.py"], oids[b"b.py"]])


def test_a_forced_refresh_extracts_once_however_often_head_moves(
    repo: Repo, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, rounds = Refresher._publish, []

    def moved(self: Refresher, plan: Any, held: Any, run: Any) -> bool:
        rounds.append(run.last)
        return real(self, plan, held, run) if run.last else False

    monkeypatch.setattr(Refresher, "_publish", moved)
    extracted = _refresher(repo, session).run("0" * 32, FULL, force=True)
    assert rounds == [False] * (refresher.MAX_ROUNDS - 1) + [True]
    assert extracted == 4, "all files, in the first round"


def test_only_the_public_folder_itself_is_refused_in_a_tree(repo: Repo) -> None:
    """A tree may hold it although git's index does not; names that only begin like it are files."""
    repo.index_files({".llmc-notes.py": "def a(): pass\n", ".llmcs/b.py": "def b(): pass\n"})
    repo.assert_published()
    blob = repo.git("rev-parse", "HEAD:.llmc-notes.py").strip()
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},.llmc/x")
    tree = repo.git("write-tree").strip()
    repo.git("update-index", "--force-remove", ".llmc/x")
    repo.git("update-ref", "HEAD", repo.git("commit-tree", tree, "-p", "HEAD", "-m", "x").strip())
    with pytest.raises(GitIndexError, match="tracked"):
        repo.index()
