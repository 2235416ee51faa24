"""Scenarios where systems like this one are known to fail, each named by its id."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import unicodedata
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.extract import pool
from gitindex.extract.pool import Extractor
from gitindex.extract.worker import FAULT_VARIABLE
from gitindex.refresh import session
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.store.connection import open_reader
from tests.support import TIMEOUT, Repo, runner_pids, wait_for

UNSEEN = {"GITINDEX": "0"}


def _commit_unseen(repo: Repo, message: str = "unseen") -> str:
    """A commit that no hook of ours hears of."""
    repo.git("add", "-A")
    repo.git("commit", "-qm", message, env=UNSEEN)
    return repo.git("rev-parse", "HEAD").strip()


def _run(repo: Repo) -> None:
    done = repo.gitindex("run")
    assert done.returncode == 0, (done.stderr, repo.log())
    assert repo.state() == "fresh", (repo.gitindex("status").stdout, repo.log())
    repo.assert_published()


def _found(repo: Repo, text: str) -> list[str]:
    return [row["path"] for row in repo.answer("search", text)["results"]]


def _skipped(repo: Repo) -> dict[str, str]:
    return {r["path"]: r["reason"] for r in repo.answer("status", "--skipped")["skipped"]}


def _told(repo: Repo) -> dict[str, str]:
    fields = json.loads(Path(repo.worktree.llmc, "rag_index_status.json").read_text())
    assert isinstance(fields, dict)
    return fields


def _rows_of_blobs(repo: Repo, sql: str) -> list[tuple[str, str]]:
    database = open_reader(repo.worktree.database)
    assert database is not None
    try:
        return database.rows(sql)
    finally:
        database.close()


# Queue and refresh


@pytest.mark.promise("I-04")
def test_q1_a_superseded_job_loses_no_file(indexed: Repo) -> None:
    indexed.write("a.py", "def alpha_one(): pass\n")
    indexed.commit("one")
    indexed.write("b.py", "def beta_two(): pass\n")
    indexed.commit("two")
    indexed.wait_fresh()
    indexed.assert_published()
    assert _found(indexed, "alpha_one")[0] == "a.py"
    assert _found(indexed, "beta_two")[0] == "b.py"


@pytest.mark.promise("I-03")
@pytest.mark.parametrize("phase", ["diff", "extract", "publish"])
def test_q14_a_commit_during_a_refresh_is_never_fresh_for_the_wrong_tree(
    quiet: Repo, phase: str
) -> None:
    moved: list[str] = []
    claims: list[tuple[str, str]] = []

    def report(now: str, _percent: float | None) -> None:
        claims.append((quiet.verdict().state, quiet.tree()))
        if now == phase and len(moved) < 3:
            quiet.write("moving.py", f"step = {len(moved)}\n")
            moved.append(_commit_unseen(quiet))

    quiet.write("start.py", "start = 1\n")
    _commit_unseen(quiet)
    assert Runner(quiet.worktree, report=report).serve(RefreshRequest(quiet.worktree, "test"))
    assert moved
    assert all(state != "fresh" for state, _ in claims)
    assert quiet.state() == "fresh"
    quiet.assert_published()
    assert quiet.marker()["treeId"] == quiet.tree()


EVERY = (
    ["status"],
    ["status", "--json"],
    ["status", "--skipped"],
    ["check"],
    ["search", "x"],
    ["jobs"],
    ["log"],
    ["doctor"],
    ["index"],
    ["run"],
    ["wait", "--timeout", "20"],
    ["install"],
    ["uninstall"],
)


def _assert_no_traceback(repo: Repo) -> None:
    for command in EVERY:
        done = repo.gitindex(*command)
        said = f"{command}\n{done.stdout}\n{done.stderr}\n{repo.log()}"
        assert "Traceback" not in said, said
        assert "internal error" not in said, said
        assert "crashed" not in said, said


def test_q21_unborn_head(repo: Repo) -> None:
    _assert_no_traceback(repo)
    assert repo.gitindex("index").returncode == 0
    assert repo.state() == "fresh"


def test_q21_detached_head(quiet: Repo) -> None:
    quiet.git("switch", "-q", "--detach")
    _assert_no_traceback(quiet)
    quiet.write("more.py", "more = 1\n")
    quiet.gitindex("install")
    quiet.commit("detached")
    quiet.wait_fresh()
    quiet.assert_published()


def test_q21_unborn_to_first_commit_by_hook(repo: Repo) -> None:
    assert repo.gitindex("install").returncode == 0
    repo.wait_fresh()
    repo.write("a.py", "a = 1\n")
    repo.commit("first")
    repo.wait_fresh()
    repo.assert_published()


def test_q22_a_rebase_of_twenty_is_coalesced(quiet: Repo) -> None:
    quiet.git("switch", "-qc", "side", env=UNSEEN)
    for number in range(20):
        quiet.write(f"n{number}.py", f"n{number} = 1\n")
        _commit_unseen(quiet)
    quiet.git("switch", "-q", "main", env=UNSEEN)
    quiet.write("base.py", "base = 1\n")
    _commit_unseen(quiet)
    before = len(quiet.jobs())
    most = 0

    def ended() -> bool:
        nonlocal most
        most = max(most, len(_holders(quiet)))
        return rebase.poll() is not None

    rebase = subprocess.Popen(
        ["git", "-C", str(quiet.path), "rebase", "-q", "main", "side"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(ended, TIMEOUT)
    assert rebase.returncode == 0
    quiet.wait_fresh()
    quiet.assert_published()
    assert most <= 1
    assert len(quiet.jobs()) - before <= 4


def _holders(repo: Repo) -> list[int]:
    """Processes that advertise themselves as this store's runner."""
    try:
        pid, token = Path(repo.worktree.store, "runner.alive").read_text().split()
        return [int(pid)] if Path(f"/proc/{pid}/comm").read_text().strip() == token else []
    except (OSError, ValueError):
        return []


def test_q22_an_amend_is_one_refresh(indexed: Repo) -> None:
    indexed.wait_idle()
    before = len(indexed.jobs())
    indexed.write("app.py", "amended = 1\n")
    indexed.git("add", "-A")
    indexed.git("commit", "-q", "--amend", "--no-edit")
    indexed.wait_fresh()
    indexed.assert_published()
    assert len(indexed.jobs()) - before <= 2


@pytest.mark.promise("P-4")
def test_q23_a_seen_branch_is_fresh_again_without_extracting(indexed: Repo) -> None:
    indexed.git("switch", "-qc", "side")
    for number in range(5):
        indexed.write(f"side{number}.py", f"side = {number}\n")
    indexed.commit("side")
    indexed.wait_fresh()
    seen = indexed.extracted()
    for branch in ("main", "side", "main"):
        indexed.git("switch", "-q", branch)
        indexed.wait_fresh()
        indexed.assert_published()
    assert indexed.extracted() == seen


def test_q13_a_worker_that_crashes_quarantines_its_blob_only(quiet: Repo) -> None:
    quiet.write("poison.py", "def poisoned_well(): pass\n")
    quiet.write("good.py", "def gentle_brook(): pass\n")
    _commit_unseen(quiet)
    done = quiet.gitindex("run", env={FAULT_VARIABLE: "crash:poisoned_well"})
    assert done.returncode == 0, done.stderr
    assert quiet.state() == "fresh"
    quiet.assert_published()
    _assert_quarantined(quiet, "crashed")


def test_q13_a_worker_that_hangs_quarantines_its_blob_only(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet.write("poison.py", "def poisoned_well(): pass\n")
    quiet.write("good.py", "def gentle_brook(): pass\n")
    _commit_unseen(quiet)
    _limit_seconds(monkeypatch, 0.4)
    monkeypatch.setenv(FAULT_VARIABLE, "hang:poisoned_well")
    assert Runner(quiet.worktree).serve(RefreshRequest(quiet.worktree, "test"))
    assert quiet.state() == "fresh"
    quiet.assert_published()
    _assert_quarantined(quiet, "timed out")


def test_a13_a_time_out_is_named_and_tried_once_more(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet.write("poison.py", "def poisoned_well(): pass\n")
    quiet.write("sound.py", "def sound_well(): pass\n")
    _commit_unseen(quiet)
    _limit_seconds(monkeypatch, 0.4)
    monkeypatch.setenv(FAULT_VARIABLE, "hang:_well")
    assert Runner(quiet.worktree).serve(RefreshRequest(quiet.worktree, "test"))
    assert quiet.gitindex("status").stdout.splitlines()[1:] == [
        "  2 files could not be parsed: see `gitindex status --skipped`"
    ]
    assert quiet.answer("status")["quarantinedFiles"] == 2
    assert quiet.gitindex("status", "--skipped").stdout.splitlines() == [
        "quarantined: timed out poison.py",
        "quarantined: timed out sound.py",
    ]
    assert quiet.answer("refs", "helper")["coverage"]["quarantined"] == 2
    monkeypatch.setenv(FAULT_VARIABLE, "hang:poisoned_well")
    assert Runner(quiet.worktree).serve(RefreshRequest(quiet.worktree, "test"))
    rows = quiet.answer("status", "--skipped")["skipped"]
    assert [(row["path"], row["reason"]) for row in rows] == [
        ("poison.py", "quarantined: timed out again")
    ]
    assert quiet.answer("status")["quarantinedFiles"] == 1
    assert [row["path"] for row in quiet.answer("symbols", "sound_well")["symbols"]] == ["sound.py"]
    quiet.assert_published()
    [(counted, noted)] = _rows_of_blobs(
        quiet,
        "SELECT sum(b.symbols), (SELECT symbols FROM worktrees) FROM files f"
        " JOIN blobs b ON b.id=f.blob_id",
    )
    assert counted == noted
    before = quiet.extracted()
    assert Runner(quiet.worktree).serve(RefreshRequest(quiet.worktree, "test"))
    assert quiet.extracted() == before, "there is no third time"


def _limit_seconds(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """A child that hangs uses its CPU up, twice: the real limit would cost twenty seconds."""
    monkeypatch.setattr(session, "Extractor", partial(Extractor, seconds=seconds))
    monkeypatch.setattr(pool, "START_SECONDS", 0.3)


def _assert_quarantined(repo: Repo, cause: str) -> None:
    statuses = dict(
        _rows_of_blobs(
            repo,
            "SELECT CAST(p.path AS TEXT), b.status || ' ' || b.reason FROM files f"
            " JOIN paths p ON p.id=f.path_id JOIN blobs b ON b.id=f.blob_id",
        )
    )
    assert statuses["poison.py"] == f"quarantined {cause}"
    assert statuses["good.py"] == "parsed "
    assert _found(repo, "poisoned_well") == ["poison.py"], "its words stay searchable"
    assert _found(repo, "gentle_brook")[0] == "good.py"


# Store


ODD_NAMES = {
    "latin1": b"latin-\xe9.py",
    "newline": b"new\nline.py",
    "tab": b"tab\there.py",
    "quotes": b'it\'s "quoted".py',
    "escape": b"esc\x1b[31mred.py",
    "bell": b"bell\x07.py",
    "emoji": "party-\U0001f389.py".encode(),
    "nfd": unicodedata.normalize("NFD", "é-nfd.py").encode(),
    "nfc": unicodedata.normalize("NFC", "é-nfd.py").encode(),
    "bidi": "abc\u202egpj.py".encode(),
    "backslash": b"back\\slash.py",
    "dash": b"--option.py",
    "space": b" leading and trailing ",
    "glob": b"*[a]?.py",
    "colon": b"a:b.py",
    "deep": b"d\xff\xfe/\x01/x.py",
}


def test_s9_odd_names_are_indexed_and_never_reach_the_terminal_raw(quiet: Repo) -> None:
    root = os.fsencode(quiet.path)
    for number, name in enumerate(ODD_NAMES.values()):
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"def oddity():\n    return 'odd\x1b[0m\x9b' + %d\n" % number)
    _commit_unseen(quiet)
    _run(quiet)
    rows = {row.path: row for row in quiet.mapping()}
    for label, name in ODD_NAMES.items():
        assert rows[name].blob_id is not None or rows[name].skip is not None, label
    answer = quiet.answer("search", "oddity", "--limit", "50")
    assert len(answer["results"]) == len(ODD_NAMES)
    for command in (
        ["search", "oddity", "-n", "50"],
        ["search", "esc"],
        ["status"],
        ["status", "--skipped"],
        ["jobs"],
        ["log"],
        ["doctor"],
    ):
        done = quiet.gitindex(*command)
        _assert_printable(done.stdout + done.stderr)


def _assert_printable(text: str) -> None:
    for char in text:
        code = ord(char)
        assert char == "\n" or (code >= 0x20 and not 0x7F <= code <= 0x9F), repr(text)
        assert not 0xDC80 <= code <= 0xDCFF, repr(text)
        assert char not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", repr(text)


def test_r1_a_change_seen_before_a_crash_is_still_found(indexed: Repo) -> None:
    indexed.wait_idle()
    Path(indexed.worktree.store, "python").write_text("/bin/false\n")
    indexed.write("late.py", "def latecomer(): pass\n")
    indexed.commit("its runner dies at once")
    assert indexed.state() == "stale"
    _run(indexed)
    assert _found(indexed, "latecomer") == ["late.py"]


def test_r2_r3_removed_and_moved_files_leave_no_ghost(quiet: Repo) -> None:
    quiet.git("rm", "-q", "README.md")
    quiet.git("mv", "lib/util.py", "lib/tool.py")
    quiet.git("mv", "app.py", "application.py")
    _commit_unseen(quiet)
    _run(quiet)
    assert {row.path for row in quiet.mapping()} == {b"application.py", b"lib/tool.py"}
    assert _found(quiet, "helper")[0] == "lib/tool.py"
    assert _found(quiet, "README.md") == []


@pytest.mark.promise("I-33")
def test_r6_links_are_never_followed(quiet: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "treasure.py").write_text("def outside_treasure(): pass\n")
    links = {
        "inside": "app.py",
        "out": str(outside / "treasure.py"),
        "folder": str(outside),
        "dangling": "nowhere",
        "loop": "loop",
        "proc": "/proc/self/environ",
    }
    for name, target in links.items():
        (quiet.path / name).symlink_to(target)
    _commit_unseen(quiet)
    _run(quiet)
    assert {p for p, why in _skipped(quiet).items() if why == "symlink"} == set(links)
    assert _found(quiet, "outside_treasure") == []
    (quiet.path / "lib" / "util.py").unlink()
    (quiet.path / "lib").rmdir()
    (quiet.path / "lib").symlink_to(outside)
    assert quiet.state() == "fresh"
    _commit_unseen(quiet)
    _run(quiet)
    assert _found(quiet, "outside_treasure") == []


def test_r10_a_case_only_rename_is_one_row(quiet: Repo) -> None:
    quiet.git("mv", "app.py", "App.py")
    _commit_unseen(quiet)
    _run(quiet)
    assert [r.path for r in quiet.mapping() if r.path.lower() == b"app.py"] == [b"App.py"]


@pytest.mark.promise("I-35")
def test_r11_hostile_files_cost_bounded_time_and_say_why(quiet: Repo) -> None:
    quiet.write("image.png", b"\x89PNG\0\0" + bytes(1000))
    quiet.write("huge.txt", b"word " * (10 << 20))
    quiet.write("bundle.js", "var a=1;" * 20_000)
    quiet.write("proto.py", "# Code generated by protoc. DO NOT EDIT.\nx = 1\n")
    quiet.write("nested.py", "x = " + "[" * 100_000 + "]" * 100_000 + "\n")
    quiet.write("nested.js", "(" * 100_000)
    quiet.write("quotes.js", '"' * 40_000)
    quiet.write("utf16.txt", "wide words".encode("utf-16"))
    quiet.write("empty.py", "")
    quiet.write("after.py", "def still_here(): pass\n")
    _commit_unseen(quiet)
    _run(quiet)
    skipped = _skipped(quiet)
    assert skipped["image.png"] == "binary"
    assert skipped["huge.txt"] == "oversize"
    assert skipped["bundle.js"] == "minified"
    assert "proto.py" not in skipped
    assert _found(quiet, "still_here") == ["after.py"]
    assert _found(quiet, "wide") == ["utf16.txt"]


# Gates, marker, status


@pytest.mark.promise("I-09")
def test_g3_a_reindex_that_crashes_still_serves_the_proven_generation(quiet: Repo) -> None:
    def report(phase: str, _percent: float | None) -> None:
        if phase == "publish":
            raise GitIndexError("the disk caught fire")

    before = quiet.marker()
    with pytest.raises(GitIndexError, match="caught fire"):
        Runner(quiet.worktree, report=report).serve(
            RefreshRequest(quiet.worktree, "test", force=True)
        )
    assert quiet.marker() == before
    answer = quiet.answer("search", "helper")
    assert answer["status"] == "ok"
    assert answer["receipt"]["treeId"] == before["treeId"]
    assert _told(quiet)["last_error"] == "the disk caught fire"
    quiet.write("more.py", "more = 1\n")
    _commit_unseen(quiet)
    assert quiet.answer("search", "helper")["freshness"]["state"] == "stale"
    _run(quiet)
    assert "last_error" not in _told(quiet)


@pytest.mark.promise("I-19")
@pytest.mark.parametrize("unreadable", ["marker", "stamp"])
def test_g6_a_failed_probe_changes_nothing(quiet: Repo, unreadable: str) -> None:
    path = Path(getattr(quiet.worktree, unreadable))
    aside = path.with_name("aside")
    path.rename(aside)
    path.mkdir()
    before = _fingerprints(quiet)
    answers = set()
    for _ in range(20):
        seen = quiet.verdict()
        answers.add((seen.word, seen.state, seen.code))
    assert answers == {("unknown", "stale", 1)}
    status = quiet.answer("status")
    assert status["hints"]["debugProofCheck"] == {"ok": False, "reason": "probe_failed"}
    assert quiet.answer("search", "helper")["freshness"]["state"] == "unknown"
    assert _fingerprints(quiet) == before
    path.rmdir()
    aside.rename(path)
    assert quiet.state() == "fresh"


def test_g7_a_moved_repository_works_again_without_extracting(quiet: Repo) -> None:
    extracted = quiet.extracted()
    moved = Repo(quiet.path.with_name("moved"))
    quiet.path.rename(moved.path)
    assert moved.state() == "stale"
    assert moved.answer("status")["why"] == "not proven: path_mismatch"
    _run(moved)
    assert moved.extracted() == extracted
    assert moved.marker()["codebasePath"] == str(moved.path.resolve())


def test_g12_an_empty_repository_reaches_fresh_with_no_files(repo: Repo) -> None:
    assert repo.gitindex("index").returncode == 0
    assert repo.answer("status")["indexedFiles"] == 0
    assert repo.state() == "fresh"
    repo.git("commit", "-q", "--allow-empty", "-m", "nothing")
    _run(repo)
    assert repo.marker()["indexedFiles"] == 0
    assert repo.gitindex("search", "anything").returncode == 1


def test_g13_a_refresh_of_one_file_updates_marker_and_status(quiet: Repo) -> None:
    before = quiet.marker()
    quiet.write("one.py", "def one(): pass\n")
    head = _commit_unseen(quiet)
    _run(quiet)
    after = quiet.marker()
    assert after["headCommit"] == head
    assert after["generation"] == before["generation"] + 1
    assert after["indexedFiles"] == before["indexedFiles"] + 1
    assert after["totalChunks"] == before["totalChunks"] + 1
    assert after["runId"] != before["runId"]
    assert (_told(quiet)["index_state"], _told(quiet)["last_indexed_commit"]) == ("fresh", head)
    assert quiet.jobs()[0]["extracted"] == 1


def _edit(repo: Repo) -> None:
    repo.write("app.py", "edited = 1\n")


def _drop_marker(repo: Repo) -> None:
    Path(repo.worktree.marker).unlink()


def _event_waits(repo: Repo) -> None:
    Path(repo.worktree.spool).write_text("post-commit \n")


def _as_is(repo: Repo) -> None:
    """Nothing is wrong."""


@pytest.mark.promise("I-18", "P-3")
@pytest.mark.parametrize("condition", [_as_is, _edit, _drop_marker, _event_waits])
def test_g15_readers_write_nothing(quiet: Repo, condition: Callable[[Repo], None]) -> None:
    condition(quiet)
    before = _fingerprints(quiet)
    commands = (
        ["status"],
        ["status", "--json"],
        ["check"],
        ["search", "helper"],
        ["search", "nothing", "--json"],
        ["jobs"],
        ["log"],
        ["status", "--skipped"],
    )
    for command in commands:
        quiet.gitindex(*command)
    for _ in range(25):
        quiet.verdict()
    assert _fingerprints(quiet) == before
    assert runner_pids(quiet.path) == []


def _fingerprints(repo: Repo) -> dict[str, str]:
    found = {}
    for folder in (repo.worktree.store, repo.worktree.llmc):
        for path in Path(folder).rglob("*"):
            if path.is_file():
                data = path.read_bytes() + str(path.stat().st_mtime_ns).encode()
                found[str(path)] = hashlib.sha256(data).hexdigest()
    return found


def test_g16_every_path_leads_to_the_right_root(quiet: Repo, tmp_path: Path) -> None:
    inner = Repo(quiet.path / "lib" / "inner")
    inner.init()
    inner.write("inner.py", "def inner_only(): pass\n")
    inner.commit()
    linked = Repo(tmp_path / "linked")
    quiet.git("worktree", "add", "-q", "-b", "side", str(linked.path), env=UNSEEN)
    below = quiet.gitindex("status", "--json", cwd=quiet.path / "lib")
    assert json.loads(below.stdout)["codebaseRoot"] == str(quiet.path.resolve())
    assert inner.gitindex("status").returncode == 3
    assert linked.gitindex("status").returncode == 3
    inner.index()
    assert _found(inner, "inner_only") == ["inner.py"]
    assert _found(quiet, "inner_only") == []
    linked.index()
    for repo in (quiet, inner, linked):
        assert repo.answer("status")["codebaseRoot"] == str(repo.path.resolve())
        assert repo.state() == "fresh"


@pytest.mark.promise("I-02")
def test_t6_the_public_status_is_never_fresh_for_an_unindexed_tree(indexed: Repo) -> None:
    pauses = random.Random(6)
    for number in range(12):
        indexed.write("t6.py", f"t6 = {number}\n")
        indexed.commit(f"t6 {number}")
        looks = pauses.randint(1, 40)
        for _ in range(looks):
            marker, status = indexed.marker(), _told(indexed)
            again = indexed.marker()
            if status["index_state"] == "fresh" and marker == again:
                assert marker["treeId"] == indexed.tree()
    indexed.wait_fresh()
    head = indexed.git("rev-parse", "HEAD").strip()
    wait_for(lambda: _told(indexed)["index_state"] == "fresh")
    assert _told(indexed)["last_indexed_commit"] == head
    indexed.assert_published()


def test_t8_a_pruned_indexed_commit_is_not_fresh_and_mends(quiet: Repo) -> None:
    quiet.git("switch", "-qc", "doomed", env=UNSEEN)
    quiet.write("doomed.py", "def doomed(): pass\n")
    _commit_unseen(quiet)
    _run(quiet)
    quiet.git("switch", "-q", "main", env=UNSEEN)
    quiet.git("branch", "-qD", "doomed")
    quiet.git("reflog", "expire", "--expire=now", "--all")
    quiet.git("gc", "-q", "--prune=now")
    assert quiet.try_git("cat-file", "-e", quiet.marker()["headCommit"]).returncode != 0
    assert quiet.state() == "stale"
    assert quiet.answer("search", "doomed")["freshness"]["state"] == "stale"
    _run(quiet)
    assert _found(quiet, "doomed") == []


def test_t8_a_shallow_clone(quiet: Repo, tmp_path: Path) -> None:
    for number in range(3):
        quiet.write("deep.py", f"deep = {number}\n")
        _commit_unseen(quiet)
    shallow = Repo(tmp_path / "shallow")
    quiet.git("clone", "-q", "--depth", "1", f"file://{quiet.path}", str(shallow.path))
    shallow.index()
    assert shallow.state() == "fresh"
    shallow.assert_published()
    quiet.write("deep.py", "deep = 'more'\n")
    _commit_unseen(quiet)
    shallow.git("fetch", "-q", "--depth", "1")
    shallow.git("reset", "-q", "--hard", "origin/main")
    assert shallow.state() == "stale"
    _run(shallow)


def test_t10_nothing_of_ours_is_seen_added_or_missed(quiet: Repo) -> None:
    extracted = quiet.extracted()
    assert quiet.git("status", "--porcelain") == ""
    quiet.git("add", "-A")
    assert quiet.git("status", "--porcelain") == ""
    assert quiet.git("status", "--porcelain", "--ignored").split("\n")[0] in ("!! .llmc/", "")
    quiet.git("clean", "-qfdx")
    assert not Path(quiet.worktree.llmc).exists()
    assert quiet.state() == "stale"
    _run(quiet)
    assert quiet.extracted() == extracted


@pytest.mark.promise("I-21")
def test_t12_worktrees_do_not_disturb_each_other(quiet: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    quiet.git("worktree", "add", "-q", "-b", "side", str(other.path), env=UNSEEN)
    extracted = quiet.extracted()
    other.index()
    assert other.extracted() == 0, "its blobs were known"
    assert quiet.extracted() == extracted
    before = (_told(quiet), quiet.marker())
    other.write("side.py", "def side_only(): pass\n")
    _commit_unseen(other)
    _run(other)
    assert (_told(quiet), quiet.marker()) == before
    assert quiet.state() == "fresh"
    assert _found(quiet, "side_only") == []
    assert _found(other, "side_only") == ["side.py"]
