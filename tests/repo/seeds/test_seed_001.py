"""Seed 001, the index module: each test carries the ids of the sentences it holds.

Other rows are held by tests/repo/filestate/test_file_state.py, test_filestate_random.py, test_mutation.py and
test_decisions.py (R31-R48, R73: states, gate, decisions), tests/unit/refresh/test_queue.py and
tests/repo/refresh/test_scope.py (R56-R72, I1-I4: queue and scopes),
tests/repo/semantic/test_contexts.py (R9),
tests/e2e/semantic/test_jobs.py and test_scip.py (R18-R29, R50-R54: indexers and their jobs),
tests/repo/query/test_search.py, test_map.py, test_callgraph.py, test_slicing.py (R1-R17).
"""

from __future__ import annotations

import inspect
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from gitindex import EMPTY, FULL, RefreshJobService, RefreshScope, merge_scopes
from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import Freshness, JobStatus, SearchMode
from gitindex.coordinator import IndexCoordinator
from gitindex.filestate import FileStateService
from gitindex.git.interface import Head
from gitindex.refresh.queue import SYNTACTIC, resolve_scope
from gitindex.store import mapping
from gitindex.store.connection import open_writer
from gitindex.view.tree import open_tree
from tests.support import Repo


@pytest.fixture
def index(repo: Repo) -> IndexCoordinator:
    repo.write("lib/util.py", "def helper():\n    return 42\n")
    repo.write("app.py", "from lib.util import helper\n\n\ndef main():\n    return helper()\n")
    repo.write("pyproject.toml", '[project]\nname = "x"\n')
    repo.commit()
    made = IndexCoordinator(str(repo.path))
    made.reindex_incremental()
    return made


def parameters(function: object) -> list[str]:
    assert callable(function)
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_001_r57_none_means_full_refresh(repo: Repo) -> None:
    some = RefreshScope(files=["a.py"])  # the seed's lists
    assert merge_scopes(None, some) == merge_scopes(some, None) == FULL
    assert merge_scopes(None, None) == FULL
    assert RefreshScope.from_json(None) == FULL
    assert FULL.covers(None)
    assert not some.covers(None)
    assert resolve_scope(None, ["a", "b"], lambda _: None) == {"a", "b"}
    assert FULL != EMPTY != RefreshScope(files=["a"])
    repo.write("a.py", "x = 1\n")
    repo.commit()
    repo.index()
    database = open_writer(repo.worktree.database)
    try:
        row = mapping.published(database, repo.worktree.id)
        assert row is not None
        jobs = RefreshJobService(database, row.worktree_id, lambda: Head("c" * 40, "t" * 40))
        job = jobs.get_job_status(jobs.enqueue_refresh(None, "a program").job_id)
    finally:
        database.close()
    assert job is not None
    assert (job.scope, job.status, job.context_id) == (FULL, JobStatus.QUEUED, SYNTACTIC)


def test_001_r77_search_query_mode_scope(index: IndexCoordinator) -> None:
    assert parameters(IndexCoordinator.search)[:3] == ["query", "mode", "scope"]

    def paths(*args: object) -> list[str]:
        answer = index.search(*args)  # type: ignore[arg-type]
        return [row["path"] for row in answer.get("results") or answer.get("symbols", [])]

    lib, app = RefreshScope(packages=("lib",)), RefreshScope(files=("app.py",))
    assert paths("helper")[0] == "lib/util.py"
    assert set(paths("helper", SearchMode.RANKED, app)) == {"app.py"}
    assert paths(r"return \d+", "regex") == ["lib/util.py"]
    assert paths(r"return \d+", "literal") == []
    assert paths("helper()", SearchMode.LITERAL, lib) == ["lib/util.py"]
    assert paths("main", SearchMode.SYMBOL, None) == ["app.py"]
    assert paths("main", SearchMode.SYMBOL, lib) == []
    for scope in (EMPTY, RefreshScope(changed_since=1.0)):
        with pytest.raises(GitIndexError, match="names files or packages"):
            index.search("helper", SearchMode.RANKED, scope)
    with pytest.raises(GitIndexError, match="no such mode"):
        index.search("helper", "telepathy")


def test_001_r78_get_symbol_by_name_and_path(index: IndexCoordinator) -> None:
    assert index.get_symbol("helper", "app.py") is None
    found = index.get_symbol("helper", None)
    assert found is not None
    assert found["path"] == "lib/util.py"


def test_001_r79_get_references_of_a_context(index: IndexCoordinator) -> None:
    assert index.get_references("helper")["totalReferences"] == 2
    owner = index.get_references("helper", "python:.")
    assert [row["path"] for row in owner["references"]] == ["app.py", "app.py"]
    with pytest.raises(GitIndexError, match="no such context"):
        index.get_references("helper", "fortran:.")


def test_001_r81_reindex_incremental_returns_index_stats(
    repo: Repo, index: IndexCoordinator
) -> None:
    repo.write("new.py", "x = 1\n")
    repo.write("app.py", "y = 2\n")
    repo.git("rm", "-q", "lib/util.py")
    repo.commit()
    told = index.reindex_incremental([repo.path / "new.py", "app.py"])
    assert told._replace(seconds=0) == (2, 3, 1, 1, 1, 0)
    assert told.seconds > 0
    repo.assert_published()  # lib/util.py too: a list of paths hides nothing
    assert index.reindex_incremental()[1:5] == (3, 0, 0, 0)
    with pytest.raises(GitIndexError, match="outside the repository"):
        index.reindex_incremental(["../elsewhere.py"])


def test_001_r82_reindex_full_returns_index_stats(repo: Repo, index: IndexCoordinator) -> None:
    told = index.reindex_full()
    assert told._replace(seconds=0) == (2, 3, 0, 0, 0, 0)
    assert repo.jobs()[0]["extracted"] == 3


def test_001_r84_get_file_state_and_batch_of_a_context(repo: Repo, index: IndexCoordinator) -> None:
    """Row R40 as well."""
    assert index.worktree == repo.worktree
    with open_tree(repo.worktree, str(repo.path)) as view:
        service = FileStateService(view)
        assert service.get_file_state("app.py").freshness is Freshness.CLEAN
        assert service.get_file_state("app.py", None).freshness is Freshness.CLEAN
        assert service.get_file_state("app.py", "python:.").freshness is Freshness.CLEAN
        assert service.get_file_state("app.py", "go:.").freshness is Freshness.UNINDEXED
        both = service.get_file_states_batch(["app.py", "lib/util.py"], "python:.")
        assert {state.freshness for state in both.values()} == {Freshness.CLEAN}


def test_001_r85_check_mutation_gate_is_a_method(repo: Repo, index: IndexCoordinator) -> None:
    assert index.worktree == repo.worktree
    with open_tree(repo.worktree, str(repo.path)) as view:
        service = FileStateService(view)
        assert service.check_mutation_gate(["app.py", "lib/util.py"]).status == "ok"
        foreign = service.check_mutation_gate(["app.py"], "go:.")
        assert foreign.status == "blocked"
        assert foreign.targets[0]["freshness"] == "unindexed"


def test_001_s4_refresh_jobs_has_the_seeds_eleven_columns(
    repo: Repo, index: IndexCoordinator
) -> None:
    assert index.worktree == repo.worktree
    seed = (
        "id context_id status scope trigger_reason head_at_enqueue created_at"
        " started_at finished_at superseded_reason error"
    )
    database = open_writer(repo.worktree.database)
    try:
        held = {row[1] for row in database.rows("PRAGMA table_info(refresh_jobs)")}
    finally:
        database.close()
    assert set(seed.split()) <= held
    assert {str(status) for status in JobStatus} == {
        "queued",
        "running",
        "completed",
        "superseded",
        "failed",
    }


def test_001_r19_syntactic_facts_allow_local_edits_only(
    repo: Repo, index: IndexCoordinator
) -> None:
    """tests/repo/filestate/test_file_state.py has the other half: semantic facts allow `cross-file`."""
    assert index.worktree == repo.worktree
    with open_tree(repo.worktree, str(repo.path)) as view:
        [told] = FileStateService(view).check_mutation_gate(["lib/util.py"]).targets
    assert (told["status"], told["layer"], told["scope"]) == ("ok", "syntactic", "local")


def test_001_s5_repo_state_is_kept_at_every_publish(repo: Repo, index: IndexCoordinator) -> None:
    for text in ("x = 1\n", "x = 2\n"):
        repo.write("seen.py", text)
        commit = repo.commit()
        index.reindex_incremental()
        database = open_writer(repo.worktree.database)
        try:
            head, mtime, at = database.row(
                "SELECT last_seen_head, last_seen_index_mtime, checked_at FROM repo_state"
            )
        finally:
            database.close()
        assert head == commit
        assert mtime == (repo.path / ".git/index").stat().st_mtime
        assert at >= mtime - 1


def test_001_r11_s7_s9_the_index_in_the_seeds_tables(
    repo: Repo, index: IndexCoordinator, tmp_path: Path
) -> None:
    """For people who ask in SQL: a copy, since the store packs occurrences and keeps no edges."""
    repo.write("pkg/more.py", "from pkg.core import run\n\n\ndef more(n):\n    return run(n)\n")
    repo.write("pkg/core.py", "def run(n):\n    return n\n")
    repo.write("pkg/__init__.py", "")
    repo.commit()
    index.reindex_incremental()
    target = tmp_path / "index.db"
    done = repo.gitindex("export", "--format", "sqlite", "-o", str(target))
    assert done.returncode == 0, done.stderr
    database = sqlite3.connect(target)

    def ask(sql: str) -> list[Any]:
        return database.execute(sql).fetchall()

    oid = repo.git("rev-parse", "HEAD:pkg/more.py").strip()
    assert ask("SELECT language, content_hash FROM files WHERE path='pkg/more.py'") == [
        ("python", oid)
    ]
    assert ask(
        'SELECT s.name, s.kind, s.line, s."column", s.layer FROM symbols s JOIN files f'
        " ON f.id=s.file_id WHERE f.path='pkg/more.py'"
    ) == [("more", "function", 4, 5, "syntactic")]
    assert ask(
        "SELECT o.start_line, o.start_col, o.end_col, o.role, o.symbol_id IS NULL FROM occurrences o"
        " JOIN files f ON f.id=o.file_id WHERE o.name='run' AND f.path LIKE 'pkg/%' ORDER BY f.path, o.id"
    ) == [(1, 5, 8, "definition", 0), (1, 22, 25, "import", 1), (5, 12, 15, "call", 1)]
    assert (
        "pkg/more.py",
        "pkg/core.py",
        "import",
    ) in ask(
        "SELECT a.path, b.path, e.dependency_type FROM edges e JOIN files a ON a.id=e.source_file"
        " JOIN files b ON b.id=e.target_file"
    )
    hashes = dict(
        ask(
            "SELECT s.name, h.interface_hash FROM symbol_interface_hashes h JOIN symbols s"
            " ON s.id=h.symbol_id"
        )
    )
    repo.write("pkg/core.py", "def run(n):\n    return n + 1\n")
    repo.write("pkg/more.py", "from pkg.core import run\n\n\ndef more(n, m):\n    return run(n)\n")
    database.close()
    assert repo.gitindex("export", "--format", "sqlite", "-o", str(target)).returncode == 0
    database = sqlite3.connect(target)
    after = dict(
        ask(
            "SELECT s.name, h.interface_hash FROM symbol_interface_hashes h JOIN symbols s"
            " ON s.id=h.symbol_id"
        )
    )
    database.close()
    assert after["run"] == hashes["run"]  # a body says nothing to other files
    assert after["more"] != hashes["more"]
