"""Semantic jobs with an indexer that crashes, hangs, lies, and is slow."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.extras import install_hint
from gitindex.base.vocabulary import FailureReason, JobStatus
from gitindex.refresh.queue import RefreshScope
from gitindex.semantic.jobs import SemanticRequest
from gitindex.semantic.scip import schema
from gitindex.semantic.scip.tools import read_trust, run_tool
from gitindex.store import semantic
from gitindex.store.semantic import NOWHERE
from gitindex.view.tree import TreeView
from tests.indexers import Fake, allow, dump, index_semantically, places, refresh, with_lens
from tests.support import Repo, wait_for

A = "def alpha():\n    tmp = 1\n    return tmp\n"
B = "from a import alpha\n\ndef beta():\n    tmp = alpha()\n    print(tmp)\n"
RUN = SemanticRequest()


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{made.folder}{os.pathsep}{os.environ['PATH']}")
    return made


@pytest.fixture
def sem(repo: Repo, fake: Fake) -> Iterator[Repo]:
    """Two files, a fresh index, and a user who turned indexers on."""
    repo.write("a.py", A)
    repo.write("b.py", B)
    repo.commit("first")
    refresh(repo)
    allow(repo)
    yield repo
    repo.git("config", "--global", "--unset-all", "gitindex.semantic")


def only(repo: Repo, wanted: SemanticRequest = RUN) -> Any:
    (outcome,) = index_semantically(repo, wanted)
    return outcome


def test_definitions_references_and_callers(sem: Repo) -> None:
    outcome = only(sem)
    assert outcome.job.status is JobStatus.COMPLETED
    assert (outcome.done.files, outcome.done.imported, outcome.done.changed) == (2, 2, 2)
    assert places(sem, "alpha") == [
        ("a.py", 0, 4, "alpha"),
        ("b.py", 0, 14, "alpha"),
        ("b.py", 3, 10, "alpha"),
    ]

    def ask(view: TreeView) -> None:
        (identity,) = semantic.find_identities(view.rows, "alpha")
        (definition,) = semantic.definitions(view.rows, [identity])
        assert (definition.path, definition.kind, definition.exported) == (
            b"a.py",
            "function",
            True,
        )
        assert definition.signature == "def alpha():"
        found = semantic.references(view.rows, [identity])
        assert [ref.place.use for ref in found] == [0, 1, 3]  # definition, import, call
        (beta,) = semantic.find_identities(view.rows, "beta")
        assert [ref.place.enclosing for ref in found] == [NOWHERE, NOWHERE, 0]  # 0: beta, of b.py
        (defined,) = semantic.definitions(view.rows, [beta])
        inside = semantic.callees(view.rows, b"b.py", (defined.line, defined.line))
        assert [ref.place.line for ref in inside if ref.identity == identity] == [3]
        outside = semantic.callees(view.rows, b"b.py", None)
        assert [ref.place.line for ref in outside if ref.identity == identity] == [0]
        assert semantic.symbols_at(view.rows, b"b.py", 3, 12) == [identity]
        assert [d.name for d in semantic.file_definitions(view.rows, [b"a.py"])] == ["alpha", "1"]

    with_lens(sem, ask)


def test_s5_an_external_symbol_is_stored_as_external(sem: Repo) -> None:
    only(sem)

    def ask(view: TreeView) -> None:
        (identity,) = {
            i for (i,) in view.rows("SELECT identity FROM semantic_symbols") if "print" in i
        }
        assert semantic.definitions(view.rows, [identity]) == []
        assert [ref.path for ref in semantic.references(view.rows, [identity])] == [b"b.py"]
        (alpha,) = semantic.find_identities(view.rows, "alpha")
        assert semantic.externals(view.rows, [identity, alpha]) == {identity}

    with_lens(sem, ask)


def test_s7_the_same_output_twice_changes_no_row(sem: Repo) -> None:
    only(sem)
    before = dump(sem)
    again = only(sem)
    assert (again.done.imported, again.done.changed) == (2, 0)
    assert dump(sem) == before


def test_x7_x8_versions_inside_symbols_are_no_part_of_the_identity(sem: Repo, fake: Fake) -> None:
    only(sem)
    before = dump(sem)
    sem.write("c.py", "def gamma():\n    return 3\n")
    sem.commit("second")
    refresh(sem)
    fake.plan(package_version="2.0")
    assert only(sem).done.changed == 1
    after = dump(sem)
    assert set(before["semantic_occurrences"]) < set(after["semantic_occurrences"])
    assert set(before["file_semantic_facts"]) < set(after["file_semantic_facts"])


def test_x6_locals_stay_in_their_document(sem: Repo) -> None:
    only(sem)

    def ask(view: TreeView) -> None:
        assert semantic.find_identities(view.rows, "1") == []
        (_,) = view.rows("SELECT 1 FROM semantic_symbols WHERE identity='local 1'")
        for path in (b"a.py", b"b.py"):
            defined = semantic.file_definitions(view.rows, [path])
            assert [d.path for d in defined if d.identity == "local 1"] == [path]

    with_lens(sem, ask)


def test_x3_x4_x5_positions_are_bytes_on_disk_in_every_encoding(sem: Repo, fake: Fake) -> None:
    sem.write("a.py", f'"😀é"; ǆ = "𝒙"\n{A}')
    sem.write("b.py", 'from a import alpha\n"é"; x = "😀"; alpha(); "😀"; alpha()\n')
    sem.write("crlf.py", b'from a import alpha\r\n"\xc3\xa9"; alpha()\r\nalpha()\r\n')
    sem.commit()
    refresh(sem)
    tables = []
    for encoding in (0, 1, 2, 3):  # 0 is unsaid: then the tool's habit counts
        fake.plan(encoding=encoding)
        assert only(sem).job.status is JobStatus.COMPLETED
        found = places(sem, "alpha")
        assert {text for *_, text in found} == {"alpha"}
        assert len(found) == 7
        tables.append(dump(sem))
    assert tables == [tables[0]] * 4


def test_x9_a_sub_directory_root_is_re_based(repo: Repo, sem: Repo) -> None:
    sem.write("lib/pyproject.toml", "[project]\nname='lib'\n")
    sem.write("lib/pkg/deep.py", "def deep():\n    return 1\n")
    sem.commit()
    refresh(sem)
    outcomes = {o.context: o for o in index_semantically(sem)}
    assert {name: o.done.imported for name, o in outcomes.items() if o.done} == {
        "python:.": 2,
        "python:lib": 1,
    }
    assert places(sem, "deep") == [("lib/pkg/deep.py", 0, 4, "deep")]


BAD = [
    ({"mode": "crash"}, FailureReason.TOOL_CRASHED),
    ({"mode": "empty"}, FailureReason.PARSE_ERROR),
    ({"mode": "garbage"}, FailureReason.PARSE_ERROR),
    ({"mode": "truncated"}, FailureReason.PARSE_ERROR),
    ({"mode": "silent"}, FailureReason.PARSE_ERROR),
    ({"drop": "a.py"}, FailureReason.PARSE_ERROR),
    ({"outside": "b.py"}, FailureReason.PARSE_ERROR),
]


def test_x2_x11_bad_output_keeps_old_facts_and_fails_the_job(sem: Repo, fake: Fake) -> None:
    only(sem)
    before = dump(sem)
    sem.write("c.py", "def gamma():\n    return 3\n")
    sem.commit("second")
    refresh(sem)
    for plan, reason in BAD:
        fake.plan(**plan)
        outcome = only(sem)
        assert (outcome.job.status, outcome.job.failure_reason) == (JobStatus.FAILED, reason), plan
        assert outcome.job.error
        assert dump(sem) == before, plan
    assert sem.state() == "fresh"


def test_001_r53_a_job_is_completed_after_its_import(sem: Repo) -> None:
    job = only(sem).job
    asked = "SELECT count(*), max(refreshed_at) FROM file_semantic_facts"
    count, newest = with_lens(sem, lambda view: view.served.database.row(asked))
    assert (job.status, count) == (JobStatus.COMPLETED, 2)
    assert newest <= job.finished_at


def test_q13_a_failed_job_is_told_and_the_index_stays_fresh(sem: Repo, fake: Fake) -> None:
    fake.plan(mode="crash")
    done = sem.gitindex("semantic", "run")
    assert done.returncode == Exit.ERROR
    assert "failed (tool_crashed): scip-python ended with 3: boom: it broke" in done.stdout
    (row,) = sem.answer("semantic", "status")["contexts"]
    assert (row["lastJob"]["status"], row["lastJob"]["reason"]) == ("failed", "tool_crashed")
    assert (row["files"], row["current"], row["stale"]) == (2, 0, 0)
    assert sem.state() == "fresh"
    sem.assert_published()


def test_q13_a_missing_tool(sem: Repo, fake: Fake) -> None:
    (fake.folder / "scip-python").unlink()
    with pytest.raises(GitIndexError, match="no installed indexer"):
        only(sem)
    outcome = only(sem, SemanticRequest(("python:.",)))
    assert outcome.job.failure_reason is FailureReason.MISSING_TOOL
    (fake.folder / "scip-python").write_text("#!/bin/sh\nexit 1\n")
    (fake.folder / "scip-python").chmod(0o755)
    assert only(sem).job.failure_reason is FailureReason.MISSING_TOOL
    assert sem.state() == "fresh"


def test_x12_a_hanging_indexer_dies_with_all_its_children(sem: Repo, fake: Fake) -> None:
    fake.plan(mode="hang")
    pids = fake.folder / "pids"
    for seconds in (3.0, 30.0, 200.0):  # until the indexer got as far as starting its child
        outcome = only(sem, SemanticRequest(seconds=seconds))
        if pids.exists() and pids.read_text():
            break
    assert outcome.job.failure_reason is FailureReason.TOOL_TIMEOUT
    assert sem.git("status", "--porcelain") == ""
    for pid in map(int, (fake.folder / "pids").read_text().split()):
        wait_for(lambda pid=pid: not _alive(pid))  # type: ignore[misc]


def test_x12_an_indexer_dies_with_the_gitindex_that_started_it(sem: Repo, fake: Fake) -> None:
    fake.plan(mode="hang")
    ours = subprocess.Popen(
        [sys.executable, "-m", "gitindex", "semantic", "run"],
        cwd=sem.path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for((fake.folder / "pids").exists, 300)
    wait_for(lambda: bool((fake.folder / "pids").read_text()))
    ours.kill()
    ours.wait(300)
    for pid in map(int, (fake.folder / "pids").read_text().split()):
        wait_for(lambda pid=pid: not _alive(pid))  # type: ignore[misc]
    fake.plan()
    assert only(sem).job.status is JobStatus.COMPLETED  # the orphaned row is taken over
    assert "running" not in {job["status"] for job in sem.jobs()}


def test_x12_ctrl_c_ends_the_indexer_and_the_job(sem: Repo, fake: Fake) -> None:
    fake.plan(mode="hang")
    ours = subprocess.Popen(
        [sys.executable, "-m", "gitindex", "semantic", "run"],
        cwd=sem.path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for((fake.folder / "pids").exists, 300)
    wait_for(lambda: bool((fake.folder / "pids").read_text()))
    ours.send_signal(signal.SIGINT)
    assert ours.wait(300) == 130
    for pid in map(int, (fake.folder / "pids").read_text().split()):
        wait_for(lambda pid=pid: not _alive(pid))  # type: ignore[misc]
    (row,) = sem.answer("semantic", "status")["contexts"]
    assert (row["lastJob"]["status"], row["lastJob"]["error"]) == ("failed", "it was stopped")
    assert sem.git("status", "--porcelain") == ""


def test_the_worktree_is_left_as_it_was(sem: Repo, fake: Fake) -> None:
    only(sem)
    assert sem.git("status", "--porcelain", "--ignored") == "!! .llmc/\n"
    fake.plan(mode="litter")
    done = sem.gitindex("semantic", "run")
    assert "left behind: litter.txt" in done.stdout


def test_x10_a_scope_of_one_file_changes_only_its_rows(sem: Repo) -> None:
    only(sem)
    before = dump(sem)
    sem.write("a.py", A.replace("alpha():", "alpha(x=1):"))
    sem.write("b.py", B + "\n\ndef more():\n    return alpha()\n")
    sem.commit("both change")
    refresh(sem)
    outcome = only(sem, SemanticRequest(scope=RefreshScope(files=("b.py",))))
    assert (outcome.done.imported, outcome.done.changed) == (1, 1)

    def ask(view: TreeView) -> semantic.SemanticCoverage:
        return semantic.coverage(view.rows)

    assert with_lens(sem, ask) == (frozenset({b"b.py"}), frozenset({b"a.py"}))
    assert set(before["file_semantic_facts"]) < set(dump(sem)["file_semantic_facts"])
    assert sem.gitindex("semantic", "run", "--only", "a.py").returncode == 0
    assert with_lens(sem, ask).stale == frozenset()


def test_an_edit_makes_facts_stale_and_coming_back_needs_nothing(sem: Repo, fake: Fake) -> None:
    only(sem)
    sem.write("b.py", B + "# later\n")

    def ask(view: TreeView) -> tuple[set[bytes], int]:
        (identity,) = semantic.find_identities(view.rows, "alpha")
        found = semantic.references(view.rows, [identity])
        return set(semantic.coverage(view.rows).stale), len(found)

    assert with_lens(sem, ask) == ({b"b.py"}, 1)
    sem.git("checkout", "-q", "-b", "side")
    sem.commit("on a branch")
    refresh(sem)
    assert only(sem).done.changed == 1
    assert with_lens(sem, ask) == (set(), 3)
    runs = fake.runs()
    sem.git("checkout", "-q", "-")
    refresh(sem)
    assert with_lens(sem, ask) == (set(), 3)
    assert fake.runs() == runs


def test_r5_line_ends_of_the_checkout_and_files_that_are_not_as_in_git(sem: Repo) -> None:
    sem.git("config", "core.autocrlf", "true")
    (sem.path / "b.py").unlink()
    sem.git("checkout", "-q", "b.py")
    assert b"\r\n" in (sem.path / "b.py").read_bytes()
    sem.write("a.py", A + "# edited\n")
    outcome = only(sem)
    assert (outcome.done.imported, outcome.done.left_out) == (1, 1)
    assert [row.path for row in with_lens(sem, lambda view: semantic.facts_rows(view.rows))] == [
        b"b.py"
    ]
    (edge,) = with_lens(sem, lambda view: semantic.edge_rows(view.rows))
    assert (edge.target, edge.target_oid, edge.target_hash) == (b"a.py", b"", "")


def in_background(work: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    return thread, found


def test_q15_a_file_edited_while_the_indexer_runs_is_left_out(sem: Repo, fake: Fake) -> None:
    fake.plan(mode="slow")
    thread, found = in_background(lambda: sem.gitindex("semantic", "run", "--json"))
    wait_for((fake.folder / "started").exists, 300)
    sem.write("a.py", "def alpha():\n    tmp = 2\n    return tmp\n")
    (fake.folder / "go").touch()
    thread.join(300)
    assert '"status": "completed"' in found[0].stdout, found[0].stderr

    def ask(view: TreeView) -> set[bytes]:
        return {
            path
            for path, _ in view.rows(
                "SELECT p.path, 1 FROM file_semantic_facts f JOIN paths p ON p.id=f.path_id"
            )
        }

    assert with_lens(sem, ask) == {b"b.py"}
    sem.git("checkout", "-q", "a.py")  # the same bytes again: still nobody knows what was read
    assert with_lens(sem, ask) == {b"b.py"}


def test_q17_head_moves_while_the_indexer_runs(sem: Repo, fake: Fake) -> None:
    fake.plan(mode="slow")
    thread, found = in_background(lambda: sem.gitindex("semantic", "run", "--json"))
    wait_for((fake.folder / "started").exists, 300)
    sem.write("a.py", "def renamed():\n    tmp = 2\n    return tmp\n")
    sem.write("b.py", "from a import renamed\n")
    head = sem.commit("HEAD 2")
    refresh(sem)
    second = sem.gitindex("semantic", "run", "--json")
    assert '"status": "queued"' in second.stdout
    assert second.returncode == Exit.NO
    (fake.folder / "go").touch()
    thread.join(300)
    assert '"status": "completed"' in found[0].stdout, found[0].stdout + found[0].stderr
    jobs = [job for job in sem.jobs() if job["context_id"]]
    assert [job["status"] for job in jobs] == ["completed", "superseded"]
    assert jobs[0]["head_at_enqueue"] == head
    assert places(sem, "alpha") == []
    assert [text for *_, text in places(sem, "renamed")] == ["renamed", "renamed"]
    assert dump(sem)["file_semantic_facts"][0]  # and nothing of HEAD 1 is in the store:
    assert len(dump(sem)["file_semantic_facts"]) == 2


def test_f9_configuration_and_tool_version_are_kept_with_the_facts(sem: Repo, fake: Fake) -> None:
    only(sem)

    def ask(view: TreeView) -> list[semantic.FactsRow]:
        return sorted(semantic.facts_rows(view.rows))

    first = with_lens(sem, ask)
    assert {row.tool_version for row in first} == {"1.0"}
    sem.write("pyproject.toml", "[project]\nname='x'\n")
    sem.commit("a project now")
    refresh(sem)
    assert {row.config_hash for row in with_lens(sem, ask)} == {row.config_hash for row in first}
    fake.plan(version="2.0")
    assert only(sem).done.changed == 2
    second = with_lens(sem, ask)
    assert {row.tool_version for row in second} == {"2.0"}
    assert not {row.config_hash for row in second} & {row.config_hash for row in first}


def test_edges_lead_to_the_files_whose_symbols_are_used(sem: Repo) -> None:
    only(sem)
    (edge,) = with_lens(sem, lambda view: semantic.edge_rows(view.rows))
    (row,) = [
        r for r in with_lens(sem, lambda view: semantic.facts_rows(view.rows)) if r.path == b"a.py"
    ]
    assert (edge.path, edge.target) == (b"b.py", b"a.py")
    assert (edge.target_oid, edge.target_hash) == (row.oid, row.interface_hash)


def test_interface_hash_ignores_bodies_and_sees_signatures(sem: Repo) -> None:
    def interface() -> str:
        only(sem)
        rows = with_lens(sem, lambda view: semantic.facts_rows(view.rows))
        return str(next(row.interface_hash for row in rows if row.path == b"a.py"))

    first = interface()
    sem.write("a.py", A.replace("tmp = 1", "tmp = 100"))
    sem.commit()
    refresh(sem)
    assert interface() == first
    sem.write("a.py", A.replace("alpha():", "alpha(x):"))
    sem.commit()
    refresh(sem)
    assert interface() != first


def test_indexers_are_off_until_the_user_turns_them_on(repo: Repo, fake: Fake) -> None:
    repo.write("a.py", A)
    repo.commit()
    repo.index()
    done = repo.gitindex("semantic", "run")
    assert done.returncode == Exit.GATED
    assert "indexers are off" in done.stderr
    assert "git config --global --add gitindex.semantic" in done.stderr
    listed = repo.answer("semantic", "list")
    assert (listed["enabled"], listed["indexers"][0]["installed"]) == (False, True)
    assert fake.runs() == 0


@pytest.mark.parametrize("value", ["true", "1", "root"])
def test_nothing_inside_a_repository_turns_indexers_on(repo: Repo, fake: Fake, value: str) -> None:
    """An archive with a `.git` in it brings its own configuration along."""
    root = str(repo.path.resolve())
    repo.write("a.py", A)
    repo.write("evil.gitconfig", f"[gitindex]\n\tsemantic = {root if value == 'root' else value}\n")
    repo.commit()
    repo.index()
    repo.git("config", "gitindex.semantic", root if value == "root" else value)
    repo.git("config", "include.path", "../evil.gitconfig")
    repo.git("config", "extensions.worktreeConfig", "true")
    repo.git("config", "--worktree", "gitindex.semantic", "true")
    assert not read_trust(repo.worktree).allowed
    repo.git("config", "--global", "include.path", str(repo.path / "evil.gitconfig"))
    try:
        trust = read_trust(repo.worktree)
        assert not trust.allowed
        assert "only in your own git configuration" in trust.why
        assert repo.gitindex("semantic", "run").returncode == Exit.GATED
    finally:
        repo.git("config", "--global", "--unset", "include.path")
    assert fake.runs() == 0


def test_trust_is_for_one_repository_or_for_all(repo: Repo, tmp_path: Path) -> None:
    repo.write("a.py", A)
    repo.commit()
    repo.git("config", "--global", "gitindex.semantic", str(tmp_path / "other"))
    try:
        assert not read_trust(repo.worktree).allowed
        repo.git("config", "--global", "--add", "gitindex.semantic", "true")
        assert read_trust(repo.worktree).allowed
        repo.git("config", "--global", "--add", "gitindex.semantic", "false")
        assert not read_trust(repo.worktree).allowed
        allow(repo)
        assert read_trust(repo.worktree).allowed
        repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
        assert read_trust(Repo(tmp_path / "linked").worktree).allowed
    finally:
        repo.git("config", "--global", "--unset-all", "gitindex.semantic")


def test_a_program_inside_the_repository_is_never_run(
    sem: Repo, fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (fake.folder / "scip-python").rename(tmp_path / "aside")
    sem.write("node_modules/.bin/scip-python", "#!/bin/sh\ntouch ../ran\n")
    (sem.path / "node_modules/.bin/scip-python").chmod(0o755)
    here = str(sem.path / "node_modules/.bin")
    monkeypatch.setenv(
        "PATH", os.pathsep.join(["node_modules/.bin", here, ".", os.environ["PATH"]])
    )
    monkeypatch.chdir(sem.path)
    with pytest.raises(GitIndexError, match="no installed indexer"):
        only(sem)
    (fake.folder / "scip-python").symlink_to(sem.path / "node_modules/.bin/scip-python")
    with pytest.raises(GitIndexError, match="no installed indexer"):
        only(sem)
    assert not (tmp_path / "ran").exists()


def test_an_unknown_context_is_a_usage_error(sem: Repo) -> None:
    done = sem.gitindex("semantic", "run", "cobol:.")
    assert done.returncode == Exit.USAGE
    assert "one of: python:." in done.stderr


def test_001_r50b_an_index_behind_head_is_refreshed_first(sem: Repo, fake: Fake) -> None:
    sem.write("c.py", "x = 1\n")
    sem.commit()  # without hooks nobody refreshes
    assert "stale" in sem.gitindex("status").stdout
    done = sem.gitindex("semantic", "run")
    assert (done.returncode, fake.runs()) == (Exit.OK, 1), done.stderr
    assert "3 of 3 files" in done.stdout
    assert sem.gitindex("check").returncode == Exit.OK


def test_a_repository_without_an_index_is_not_opted_in(repo: Repo, fake: Fake) -> None:
    repo.write("a.py", A)
    repo.commit()
    allow(repo)
    done = repo.gitindex("semantic", "run")
    assert (done.returncode, fake.runs()) == (Exit.GATED, 0)
    assert "not indexed" in done.stderr
    assert not os.path.exists(repo.worktree.database)


def test_001_s3_a_context_can_be_switched_off(sem: Repo, fake: Fake) -> None:
    only(sem)
    assert places(sem, "alpha")
    said = sem.gitindex("contexts", "--off", "python:.")
    assert (said.returncode, said.stdout) == (Exit.OK, "python:. is switched off\n")
    assert places(sem, "alpha") == []
    assert with_lens(sem, lambda view: semantic.coverage(view.rows)) == (frozenset(), frozenset())
    assert "switched off" in sem.gitindex("contexts").stdout
    assert "switched off" in sem.gitindex("semantic", "list").stdout
    runs = fake.runs()
    assert sem.gitindex("semantic", "run").returncode == Exit.ERROR  # nothing is left to run
    named = sem.gitindex("semantic", "run", "python:.")
    assert (named.returncode, fake.runs()) == (Exit.GATED, runs)
    assert "gitindex contexts --on python:." in named.stderr
    assert sem.gitindex("contexts", "--on", "python:.").returncode == Exit.OK
    assert places(sem, "alpha")
    unknown = sem.gitindex("contexts", "--off", "cobol:.")
    assert unknown.returncode == Exit.USAGE
    assert "one of: python:." in unknown.stderr


def test_indexers_that_no_test_runs_are_called_experimental(sem: Repo) -> None:
    sem.write("go.mod", "module x\n")
    sem.write("main.go", "package main\n")
    sem.git("add", "-A")
    rows = json.loads(sem.gitindex("semantic", "list", "--json").stdout)["indexers"]
    assert {row["tool"]: row["experimental"] for row in rows} == {
        "scip-python": False,
        "scip-go": True,
    }
    assert "scip-go, missing" in (said := sem.gitindex("semantic", "list").stdout)
    assert "experimental" in said


def test_without_protobuf_one_sentence(
    sem: Repo, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    schema.messages.cache_clear()
    try:
        with pytest.raises(GitIndexError, match="needs the extra `semantic`") as told:
            only(sem)
    finally:
        schema.messages.cache_clear()
    assert told.value.hint == install_hint("semantic")
    assert fake.runs() == 0


def test_a_run_leaves_no_process_behind(tmp_path: Path) -> None:
    """A tool that ends and leaves a child in its group: the child goes, too."""
    log, pids = str(tmp_path / "log"), tmp_path / "pid"
    script = f"sleep 600 & echo $! > {pids}"
    ended = run_tool(["/bin/sh", "-c", script], "/", dict(os.environ), log, 60.0)
    assert ended.code == 0
    pid = int(pids.read_text())
    wait_for(lambda: not _alive(pid))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path("/proc", str(pid), "stat")
    try:
        return state.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_001_r29_a_commit_starts_the_indexer_where_the_user_asked_for_it(
    sem: Repo, fake: Fake
) -> None:
    sem.gitindex("install")
    sem.wait_idle()
    sem.git("config", "gitindex.semantic.oncommit", "true")  # the repository's own: not enough
    sem.write("c.py", "def gamma():\n    return 1\n")
    sem.commit()
    sem.wait_fresh()
    sem.wait_idle()
    assert follow_ups(sem) == 0
    sem.git("config", "--global", "gitindex.semantic.oncommit", "true")
    try:
        sem.write("d.py", "def delta():\n    return 1\n")
        sem.commit()
        wait_for(lambda: fake.runs() == 1)
        wait_for(lambda: bool(places(sem, "delta")))
        assert sem.gitindex("check").returncode == Exit.OK
    finally:
        sem.git("config", "--global", "--unset-all", "gitindex.semantic.oncommit")


def follow_ups(repo: Repo) -> int:
    """Processes that are about to run an indexer for a repository; those without consent end at once."""
    wait_for(lambda: not _named("semantic.follow_up", str(repo.path.resolve())))
    return len(with_lens(repo, lambda view: view.served.database.rows("SELECT 1 FROM contexts")))


def _named(*words: str) -> bool:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if all(word in line for word in words):
            return True
    return False
