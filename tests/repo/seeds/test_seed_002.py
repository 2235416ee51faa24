"""Seed 002, indexing and completion: each test carries the ids of the sentences it holds.

Other rows are held by tests/e2e/mcp/test_gate.py (test requirements 1-9: E, P, B, D, G, CG rows),
tests/repo/freshness/test_marker.py (M, N, S, L rows) and tests/repo/extract/test_policy.py (H rows).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitindex import validate_completion_proof
from gitindex.base.vocabulary import BuildKind
from gitindex.refresh.queue import FULL
from gitindex.refresh.runner import Runner
from gitindex.refresh.session import Session
from tests.mcp_client import Inside, digests, job_running, make_quiet
from tests.support import Repo


@pytest.fixture
def known(repo: Repo) -> Repo:
    return make_quiet(repo)


def test_002_m1b_the_seeds_own_marker_is_read(known: Repo) -> None:
    marker = {
        "kind": "satori_index_completion_v1",
        "codebasePath": str(known.path),
        "fingerprint": {"embeddingProvider": "x", "embeddingModel": "y", "schemaVersion": "1"},
        "indexedFiles": 3,
        "totalChunks": 9,
        "completedAt": "2026-01-02T03:04:05Z",
        "runId": "run_1",
    }
    Path(known.worktree.marker).write_text(json.dumps(marker))
    proof = validate_completion_proof(str(known.path))
    assert (proof.outcome, proof.reason) == ("fingerprint_mismatch", "fingerprint_mismatch")
    del marker["runId"]
    Path(known.worktree.marker).write_text(json.dumps(marker))
    assert validate_completion_proof(str(known.path)).reason == "invalid_payload"


def test_002_b3b_the_message_is_true_in_every_blocked_case(known: Repo, tmp_path: Path) -> None:
    inside = Inside(str(known.worktree.root), tmp_path)
    with job_running(known, BuildKind.REFRESH):
        answer = inside.ask("search_codebase", query="helper", strict=True)
    assert answer["status"] == "not_ready"
    assert "no proven generation" not in answer["message"]
    Path(known.worktree.marker).unlink()
    with job_running(known, BuildKind.CREATE):
        answer = inside.ask("search_codebase", query="helper")
    assert "no proven generation" in answer["message"]


def test_002_t14_a_blocked_operation_says_when_to_ask_again(known: Repo, tmp_path: Path) -> None:
    inside = Inside(str(known.worktree.root), tmp_path)
    with job_running(known, BuildKind.REINDEX):
        for action in ("create", "reindex", "sync", "repair"):
            answer = inside.ask("manage_index", action=action, path=str(known.path))
            if answer["outcome"] != "already_proven":
                assert answer["retryAfterMs"] > 0, action
            assert answer["hints"]["status"]["tool"] == "manage_index"


def test_002_s7_repair_and_clear_wait_for_a_running_job(known: Repo, tmp_path: Path) -> None:
    inside = Inside("", tmp_path)
    inside.ask("manage_index", action="create", path=str(known.path))
    with job_running(known, BuildKind.REINDEX):
        before = digests(known.worktree.store, known.worktree.llmc)
        for action in ("repair", "clear"):
            inside.ask("manage_index", action=action, path=known.worktree.root)
            assert digests(known.worktree.store, known.worktree.llmc) == before, action
    assert known.gitindex("status").returncode == 0


def test_002_m6b_total_chunks_counts_definitions(known: Repo) -> None:
    before = known.marker()["totalChunks"]
    known.write("more.py", "class A:\n    def b(self): ...\n\n    def c(self): ...\n")
    known.commit()
    known.index()
    assert known.marker()["totalChunks"] == before + 3


def test_002_s5b_a_killed_reindex_is_done_again_by_whoever_takes_over(known: Repo) -> None:
    files = known.marker()["indexedFiles"]
    session = Session(known.worktree)
    try:  # as a runner leaves it that is killed in the middle of `index --force`
        jobs = session.jobs(known.worktree)
        job = jobs.enqueue_refresh(FULL, "reindex").job_id
        assert jobs.claim("run of a dead runner", job) is not None
    finally:
        session.close()
    Runner(known.worktree).serve()
    [done] = [one for one in known.jobs() if one["id"] == job]
    assert (done["status"], done["extracted"]) == ("completed", files)


def test_002_jobs_are_told_in_camel_case(known: Repo) -> None:
    [job] = known.answer("jobs")["jobs"]
    assert {"contextId", "headAtEnqueue", "createdAt", "triggerReason"} <= job.keys()
    assert not any("_" in name for name in job)
