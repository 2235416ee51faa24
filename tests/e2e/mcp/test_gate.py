"""The gate through the server, over real stdio. The numbers are those of the two sheets it was built from."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.vocabulary import BuildKind, ProofOutcome
from gitindex.freshness.observation import prove
from gitindex.freshness.verdict import STALE_CREATE
from tests.mcp_client import (
    READERS,
    Agent,
    digests,
    edit_marker,
    job_running,
    make_quiet,
    probe_failing,
)
from tests.support import Repo, stop_runners


@pytest.fixture
def quiet(repo: Repo) -> Repo:
    """As everywhere, but indexed in this process and without hooks: a second less."""
    return make_quiet(repo)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """One server for all of this file, started outside any repository."""
    folder = tmp_path_factory.mktemp("elsewhere")
    with Agent(folder, tmp_path_factory.mktemp("state")) as made:
        yield made


@pytest.fixture(scope="module")
def shared(agent: Agent, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    """One indexed repository that the server knows."""
    made = make_quiet(Repo(tmp_path_factory.mktemp("shared") / "repo"))
    assert agent.manage("create", made.path)["outcome"] == "already_indexed"
    yield made
    stop_runners(made.path)


@pytest.fixture
def known(shared: Repo) -> Iterator[Repo]:
    """The same; its proof is put back after each test."""
    worktree = shared.worktree
    kept = {path: Path(path).read_bytes() for path in (worktree.marker, worktree.stamp)}
    yield shared
    if prove(worktree).outcome is not ProofOutcome.VALID:
        for path, data in kept.items():
            Path(path).write_bytes(data)
    assert prove(worktree).outcome is ProofOutcome.VALID


def read_all(agent: Agent, repo: Repo, **more: Any) -> dict[str, dict[str, Any]]:
    return {
        tool: agent.ask(tool, path=str(repo.path), **arguments, **more)
        for tool, arguments in READERS.items()
    }


def statuses(agent: Agent, repo: Repo, **more: Any) -> set[str]:
    return {answer["status"] for answer in read_all(agent, repo, **more).values()}


def change_fingerprint(repo: Repo) -> None:
    def change(marker: dict[str, Any]) -> None:
        marker["fingerprint"]["extractorVersion"] = "0"

    edit_marker(repo, change)


def action(name: str, repo: Repo) -> dict[str, Any]:
    return {"tool": "manage_index", "args": {"action": name, "path": os.path.realpath(repo.path)}}


def test_002_1_no_promotion_without_a_marker(agent: Agent, known: Repo) -> None:
    os.unlink(known.worktree.marker)
    assert os.path.exists(known.worktree.database)
    assert statuses(agent, known) == {"not_indexed"}
    with job_running(known, BuildKind.CREATE):
        assert statuses(agent, known) == {"not_ready"}
    assert statuses(agent, known) == {"not_indexed"}
    assert agent.manage("status", known.path)["status"] == "not_indexed"


def test_002_2_blocked_tools_say_not_ready(agent: Agent, known: Repo) -> None:
    with job_running(known, BuildKind.REINDEX):
        for answer in read_all(agent, known).values():
            assert (answer["status"], answer["reason"]) == ("not_ready", "indexing")
            assert answer["message"]
            assert answer["hints"]["status"] == action("status", known)
            indexing = answer["indexing"]
            assert (indexing["progressPct"], indexing["phase"]) == (40.0, "extract")
            assert indexing["lastUpdated"].endswith("Z")
            assert answer["path"] == str(known.path)
            assert answer["codebaseRoot"] == os.path.realpath(known.path)
            assert answer["retryAfterMs"] > 0
            assert "debugIndexing" not in answer["hints"]
        for answer in read_all(agent, known, debug=True).values():
            assert answer["hints"]["debugIndexing"] == {
                "completionProof": "marker_doc",
                "markerPresent": True,
            }


def test_002_3_reasons_are_stable(agent: Agent, known: Repo) -> None:
    change_fingerprint(known)
    for answer in read_all(agent, known).values():
        assert (answer["status"], answer["reason"]) == ("requires_reindex", "requires_reindex")
        assert answer["hints"]["reindex"] == action("reindex", known)
    os.unlink(known.worktree.marker)
    for answer in read_all(agent, known).values():
        assert (answer["status"], answer["reason"]) == ("not_indexed", "not_indexed")
        assert answer["hints"]["create"] == action("create", known)


def test_002_4_ensure_freshness_skips_while_indexing(agent: Agent, quiet: Repo) -> None:
    known = quiet
    agent.manage("create", known.path)
    known.write("app.py", "def other(): pass\n")
    known.git("-c", "core.hooksPath=/dev/null", "commit", "-qam", "second")
    with job_running(known, BuildKind.REFRESH):
        answer = agent.manage("sync", known.path)
        assert (answer["status"], answer["outcome"]) == ("ok", "skipped_indexing")
        assert "operationId" not in answer
        read = agent.ask("read_file", path=str(known.path), file="app.py")
        assert read["freshness"]["mode"] == "skipped_indexing"
        assert read["content"] == "def other(): pass"
    assert agent.manage("sync", known.path)["outcome"] == "synced"
    assert agent.manage("sync", known.path)["outcome"] == "skipped_fresh"


def test_002_5_read_file_is_blocked_in_the_same_words(agent: Agent, known: Repo) -> None:
    with job_running(known, BuildKind.CREATE):
        for more in ({}, {"startLine": 1, "endLine": 1}, {"at": "HEAD"}):
            answer = agent.ask("read_file", path=str(known.path), file="app.py", **more)
            assert (answer["status"], answer["reason"]) == ("not_ready", "indexing")
            assert "content" not in answer


def test_002_6_notes_are_filtered_ordered_and_cut(agent: Agent, repo: Repo) -> None:
    repo.write("a.py", "from b import *\n\n\ndef one(x):\n    x.two()\n    return eval('1')\n")
    repo.write("b.py", "from a import one\n\n\ndef two():\n    return one(two)\n")
    repo.write("noise.py", "def other(x):\n    return eval(x)\n")
    repo.commit()
    agent.manage("create", repo.path, waitSeconds=60)
    whole = agent.ask("call_graph", path=str(repo.path), symbol="one", noteLimit=200)
    notes = whole["notes"]
    assert len(notes) > 1
    files = {node["path"] for node in whole["nodes"]} | {
        edge["site"]["path"] for edge in whole["edges"]
    }
    ids = {node["id"] for node in whole["nodes"]}
    assert all(note["file"] in files for note in notes)
    assert all(note["symbolId"] is None or note["symbolId"] in ids for note in notes)
    assert notes == sorted(
        notes,
        key=lambda n: (
            n["file"].encode(),
            n["type"].encode(),
            n["symbolId"] is None,
            (n["symbolId"] or "").encode(),
            n["startLine"] is None,
            n["startLine"] or 0,
            n["detailHash"],
        ),
    )
    assert (whole["notesTruncated"], whole["totalNoteCount"]) == (False, len(notes))
    assert "CALL_GRAPH_NOTES_TRUNCATED" not in json.dumps(whole["warnings"])
    cut = agent.ask("call_graph", path=str(repo.path), symbol="one", noteLimit=1)
    assert cut["notes"] == notes[:1]
    assert (cut["notesTruncated"], cut["totalNoteCount"], cut["returnedNoteCount"]) == (
        True,
        len(notes),
        1,
    )
    assert "CALL_GRAPH_NOTES_TRUNCATED" in json.dumps(cut["warnings"])


def test_002_7_only_the_busy_codebase_is_blocked(agent: Agent, known: Repo, tmp_path: Path) -> None:
    other = make_quiet(Repo(tmp_path / "other"))
    agent.manage("create", other.path)
    before = read_all(agent, other)
    with job_running(known, BuildKind.CREATE):
        assert statuses(agent, known) == {"not_ready"}
        assert read_all(agent, other) == before
    stop_runners(tmp_path)


def test_002_8_requires_reindex_wins_unless_a_rebuild_ends_it(agent: Agent, known: Repo) -> None:
    change_fingerprint(known)
    assert statuses(agent, known) == {"requires_reindex"}
    with job_running(known, BuildKind.REINDEX):
        assert statuses(agent, known) == {"not_ready"}
        note = Path(known.worktree.progress)
        other = json.loads(note.read_text()) | {"towards": "another version"}
        note.write_text(json.dumps(other))
        assert statuses(agent, known) == {"requires_reindex"}
    os.unlink(known.worktree.stamp)
    assert statuses(agent, known) == {"not_indexed"}


def test_002_9_hints_name_the_effective_root(agent: Agent, known: Repo) -> None:
    below = str(known.path / "lib")
    found = agent.ask("file_outline", path=below, file="lib/util.py")
    assert found["codebaseRoot"] == os.path.realpath(known.path)
    os.unlink(known.worktree.marker)
    answer = agent.ask("search_codebase", path=below, query="helper")
    assert answer["path"] == below
    assert answer["codebaseRoot"] == os.path.realpath(known.path)
    assert answer["hints"]["create"] == action("create", known)


def test_strict_blocks_while_anything_runs(agent: Agent, known: Repo) -> None:
    with job_running(known, BuildKind.REFRESH):
        assert statuses(agent, known) == {"ok"}
        assert statuses(agent, known, strict=True) == {"not_ready"}
    assert statuses(agent, known, strict=True) == {"ok"}


STALE: dict[str, Any] = {
    "missing_marker_doc": None,
    "invalid_marker_kind": lambda marker: marker.update(kind="something_else"),
    "path_mismatch": lambda marker: marker.update(codebasePath="/nonexistent"),
    "invalid_payload": lambda marker: marker.pop("runId"),
}


@pytest.mark.parametrize("reason", STALE)
def test_004_a_f_acceptance_3_4_6_readers_never_reconcile(
    agent: Agent, known: Repo, reason: str
) -> None:
    """A stale-local answer is data, the same every time, says what to do, and changes nothing."""
    if STALE[reason] is None:
        os.unlink(known.worktree.marker)
    else:
        edit_marker(known, STALE[reason])
    known.wait_idle()
    before = digests(known.worktree.store, known.worktree.llmc, agent.state)
    first = read_all(agent, known)
    listed = agent.ask("list_codebases")
    for answer in first.values():
        assert (answer["status"], answer["reason"]) == ("not_indexed", "not_indexed")
        assert reason in answer["message"]
        assert answer["hints"]["staleLocal"] == {
            "completionProof": reason,
            "recommendedAction": action("create", known),
        }
    assert read_all(agent, known) == first
    assert agent.ask("list_codebases") == listed
    agent.manage("status", known.path)
    assert digests(known.worktree.store, known.worktree.llmc, agent.state) == before


def test_004_b_acceptance_2_create_mends_a_stale_state(agent: Agent, known: Repo) -> None:
    os.unlink(known.worktree.marker)
    answer = agent.manage("create", known.path, waitSeconds=60)
    assert (answer["outcome"], answer["message"]) == ("created", STALE_CREATE)
    assert statuses(agent, known) == {"ok"}
    again = agent.manage("create", known.path)
    assert again["outcome"] == "already_indexed"
    assert "operationId" not in again


def test_004_c_status_warns_of_a_stale_searchable_state(agent: Agent, known: Repo) -> None:
    edit_marker(known, lambda marker: marker.update(kind="something_else"))
    answer = agent.manage("status", known.path)
    assert answer["status"] == "not_indexed"
    assert "invalid_marker_kind" in answer["warning"]
    assert "create" in answer["warning"]
    assert answer["proof"] == {"outcome": "stale_local", "reason": "invalid_marker_kind"}


@pytest.mark.promise("I-23")
def test_004_d_acceptance_5_the_list_is_stable(agent: Agent, known: Repo) -> None:
    root = os.path.realpath(known.path)
    listed = agent.ask("list_codebases", limit=200)["codebases"]
    assert [c["root"] for c in listed] == sorted(c["root"] for c in listed)
    registry = agent.state / "gitindex" / "codebases.json"
    for _ in range(10):
        with probe_failing(known):
            now = agent.ask("list_codebases", limit=200)["codebases"]
            assert {c["root"]: c["status"] for c in now} == {c["root"]: c["status"] for c in listed}
        os.rename(registry, registry.with_suffix(".aside"))
        registry.mkdir()
        now = agent.ask("list_codebases", limit=200)["codebases"]
        assert root in [c["root"] for c in now]
        registry.rmdir()
        os.rename(registry.with_suffix(".aside"), registry)


def test_004_e_g_acceptance_5_7_a_failing_probe_changes_nothing(agent: Agent, known: Repo) -> None:
    before = read_all(agent, known)
    with probe_failing(known):
        for tool, answer in read_all(agent, known).items():
            assert answer["status"] == "ok"
            assert answer["hints"]["debugProofCheck"] == {"ok": False, "reason": "probe_failed"}
            same = {k: v for k, v in answer.items() if k not in ("hints", "freshness")}
            assert same == {k: v for k, v in before[tool].items() if k != "freshness"}
        told = agent.manage("status", known.path)
        assert told["status"] == "ok"
        assert told["hints"]["debugProofCheck"]["reason"] == "probe_failed"
    assert read_all(agent, known) == before


def test_004_g_a_failing_probe_upgrades_nothing(agent: Agent, repo: Repo) -> None:
    repo.write("app.py", "x = 1\n")
    repo.commit()
    agent.manage("create", repo.path, waitSeconds=60)
    os.unlink(repo.worktree.stamp)
    shutil.rmtree(repo.worktree.lexical)
    os.unlink(repo.worktree.database)
    with probe_failing(repo):
        assert agent.ask("read_file", path=str(repo.path), file="app.py")["status"] == "not_indexed"


def test_004_g_fingerprint_mismatch_and_missing_marker(agent: Agent, known: Repo) -> None:
    change_fingerprint(known)
    told = agent.manage("status", known.path)
    assert told["status"] == "requires_reindex"
    assert told["hints"]["reindex"] == action("reindex", known)
    os.unlink(known.worktree.marker)
    told = agent.manage("status", known.path)
    assert told["proof"] == {"outcome": "stale_local", "reason": "missing_marker_doc"}


def test_004_acceptance_1_create_status_search_list_do_not_flap(agent: Agent, known: Repo) -> None:
    root = os.path.realpath(known.path)
    for _ in range(10):
        assert agent.manage("create", root)["outcome"] == "already_indexed"
        assert agent.manage("status", root)["status"] == "ok"
        assert agent.ask("search_codebase", path=root, query="helper")["status"] == "ok"
        listed = agent.ask("list_codebases", limit=200)["codebases"]
        assert [c["status"] for c in listed if c["root"] == root] == ["ok"]


@pytest.mark.parametrize("reason", STALE)
def test_004_acceptance_2_already_indexed_needs_proof(
    agent: Agent, known: Repo, reason: str
) -> None:
    if STALE[reason] is None:
        os.unlink(known.worktree.marker)
    else:
        edit_marker(known, STALE[reason])
    answer = agent.manage("create", known.path, waitSeconds=60)
    assert (answer["outcome"], answer["message"]) == ("created", STALE_CREATE)


def test_004_acceptance_8_a_mismatch_is_mended_by_reindex(agent: Agent, known: Repo) -> None:
    change_fingerprint(known)
    seen: list[Any] = []
    answer = agent.watch(
        "manage_index",
        {"action": "reindex", "path": str(known.path), "waitSeconds": 60},
        seen,
    )
    assert answer["outcome"] == "reindexed"
    assert seen
    assert all(total == 100.0 for _, total, _ in seen)
    assert statuses(agent, known) == {"ok"}


def test_a_newer_marker_asks_for_an_upgrade(agent: Agent, known: Repo) -> None:
    edit_marker(known, lambda marker: marker.update(kind="gitindex_completion_v9"))
    kept = Path(known.worktree.marker).read_bytes()
    answer = agent.ask("search_codebase", path=str(known.path), query="helper")
    assert "upgrade gitindex" in answer["message"]
    assert "create" not in answer["hints"]
    assert agent.manage("create", known.path)["status"] == "error"
    assert agent.manage("reindex", known.path)["status"] == "error"
    assert Path(known.worktree.marker).read_bytes() == kept


def test_answers_are_plain_json_even_for_names_that_are_not_text(agent: Agent, repo: Repo) -> None:
    (repo.path / os.fsdecode(b"caf\xe9.py")).write_text("def latin(): pass\n")
    repo.write("\u202eevil\x1b.py", "def bidi(): pass\n")
    repo.commit()
    agent.manage("create", repo.path, waitSeconds=60)
    for query in ("latin", "bidi"):
        answer = agent.ask("search_codebase", path=str(repo.path), query=query)
        assert answer["results"], json.dumps(answer)
        assert answer["untrusted"] is True
