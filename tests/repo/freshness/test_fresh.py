"""The one verdict: a table of observations, its precedence, and that fresh has no other way in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.errors import Exit
from gitindex.base.runner_lock import RunnerLock, is_held
from gitindex.base.vocabulary import (
    BuildKind,
    EditScope,
    FreshnessState,
    IndexState,
    ProofOutcome,
    ProofReason,
)
from gitindex.freshness.marker import CompletionMarker, CompletionProof, runtime_fingerprint
from gitindex.freshness.observation import (
    Failure,
    Observation,
    Progress,
    has_pending,
    observe,
    read_progress,
)
from gitindex.freshness.verdict import judge
from gitindex.git.worktree_probe import HeadState
from tests.support import TIMEOUT, Repo, stop_runners, wait_for

HEAD, TREE, OTHER = "c" * 40, "d" * 40, "e" * 40
MARKER = CompletionMarker("/r", runtime_fingerprint(), 3, 7, "t", "run", HEAD, TREE, 1)
VALID = CompletionProof(ProofOutcome.VALID, None, MARKER)
NOT_NEWEST = VALID._replace(is_newest=False)
MISMATCH = CompletionProof(
    ProofOutcome.FINGERPRINT_MISMATCH, ProofReason.FINGERPRINT_MISMATCH, MARKER
)
MISSING = CompletionProof(ProofOutcome.STALE_LOCAL, ProofReason.MISSING_MARKER_DOC)
MOVED = CompletionProof(ProofOutcome.STALE_LOCAL, ProofReason.PATH_MISMATCH, MARKER)
NEWER = CompletionProof(
    ProofOutcome.STALE_LOCAL, ProofReason.INVALID_MARKER_KIND, message="newer: upgrade gitindex"
)
FAILED_PROBE = CompletionProof(
    ProofOutcome.PROBE_FAILED, ProofReason.PROBE_FAILED, message="I/O error"
)
RUNNING = Progress(BuildKind.REFRESH, "extract", 50.0, "t")
FRESH = Observation(VALID, HeadState(HEAD, ()), TREE, None, False, None, True)

S, F = IndexState, FreshnessState
TABLE: dict[str, tuple[dict[str, Any], IndexState, FreshnessState, Exit, str]] = {
    "fresh": ({}, S.FRESH, F.FRESH, Exit.OK, "3 files"),
    "same tree at another commit": (
        {"head": HeadState("f" * 40, ())},
        S.FRESH,
        F.FRESH,
        Exit.OK,
        "3 files",
    ),
    "failure at another HEAD": (
        {"failure": Failure("old", OTHER)},
        S.FRESH,
        F.FRESH,
        Exit.OK,
        "3 files",
    ),
    "other tree": ({"head_tree": OTHER}, S.STALE, F.STALE, Exit.NO, "is not the indexed"),
    "queued": ({"pending": True}, S.STALE, F.STALE, Exit.NO, "queued"),
    "publish not finished": (
        {"proof": NOT_NEWEST},
        S.STALE,
        F.STALE,
        Exit.NO,
        "publish was not finished",
    ),
    "edited": ({"head": HeadState(HEAD, (b"a", b"b"))}, S.FRESH, F.FRESH, Exit.OK, "3 files"),
    "failed reindex of the published tree": (
        {"failure": Failure("boom", HEAD)},
        S.ERROR,
        F.STALE,
        Exit.ERROR,
        "boom",
    ),
    "failed, and a refresh is queued": (
        {"failure": Failure("boom", HEAD), "pending": True},
        S.STALE,
        F.STALE,
        Exit.NO,
        "queued",
    ),
    "failed first build, and a refresh is queued": (
        {"proof": MISSING, "failure": Failure("boom", HEAD), "pending": True},
        S.STALE,
        F.STALE,
        Exit.GATED,
        "missing_marker_doc",
    ),
    "running": ({"progress": RUNNING}, S.REBUILDING, F.STALE, Exit.NO, "extract"),
    "running without a phase": (
        {"progress": RUNNING._replace(phase=None)},
        S.REBUILDING,
        F.STALE,
        Exit.NO,
        "starting",
    ),
    "other tools": ({"proof": MISMATCH}, S.STALE, F.STALE, Exit.GATED, "requires_reindex:"),
    "never indexed": (
        {"proof": MISSING, "searchable": False},
        S.STALE,
        F.STALE,
        Exit.GATED,
        "not indexed",
    ),
    "installed a moment ago": (
        {"proof": MISSING, "searchable": False, "pending": True},
        S.STALE,
        F.STALE,
        Exit.GATED,
        "the first index is queued",
    ),
    "store without proof": ({"proof": MISSING}, S.STALE, F.STALE, Exit.GATED, "missing_marker_doc"),
    "moved repository": ({"proof": MOVED}, S.STALE, F.STALE, Exit.GATED, "path_mismatch"),
    "newer marker": ({"proof": NEWER}, S.STALE, F.STALE, Exit.GATED, "upgrade gitindex"),
    "failed first build": (
        {"proof": MISSING, "failure": Failure("boom", HEAD)},
        S.ERROR,
        F.STALE,
        Exit.ERROR,
        "boom",
    ),
    "failed at this HEAD": (
        {"head_tree": OTHER, "failure": Failure("boom", HEAD)},
        S.ERROR,
        F.STALE,
        Exit.ERROR,
        "boom",
    ),
    "failed at any HEAD": (
        {"head_tree": OTHER, "failure": Failure("boom", None)},
        S.ERROR,
        F.STALE,
        Exit.ERROR,
        "boom",
    ),
    "the store could not be opened, and is proven for HEAD": (
        {"failure": Failure("boom", None)},
        S.FRESH,
        F.FRESH,
        Exit.OK,
        "3 files",
    ),
    "the store could not be opened, and cannot be read": (
        {"proof": FAILED_PROBE, "failure": Failure("boom", None)},
        S.ERROR,
        F.STALE,
        Exit.ERROR,
        "boom",
    ),
    "failed at an older HEAD": (
        {"head_tree": OTHER, "failure": Failure("boom", "f" * 40)},
        S.STALE,
        F.STALE,
        Exit.NO,
        "is not the indexed",
    ),
    "probe failed": ({"proof": FAILED_PROBE}, S.STALE, F.UNKNOWN, Exit.NO, "I/O error"),
    "a job runs before anything is proven": (
        {"proof": MISSING, "progress": RUNNING},
        S.REBUILDING,
        F.STALE,
        Exit.NO,
        "a job runs",
    ),
    "a job runs towards our tools": (
        {"proof": MISMATCH, "progress": RUNNING},
        S.REBUILDING,
        F.STALE,
        Exit.NO,
        "a job runs",
    ),
    "a job runs after a failure": (
        {"head_tree": OTHER, "failure": Failure("boom", HEAD), "progress": RUNNING},
        S.REBUILDING,
        F.STALE,
        Exit.NO,
        "a job runs",
    ),
    "probe failed while a job runs": (
        {"proof": FAILED_PROBE, "progress": RUNNING},
        S.REBUILDING,
        F.STALE,
        Exit.NO,
        "a job runs",
    ),
    "other tools and another tree": (
        {"proof": MISMATCH, "head_tree": OTHER, "pending": True},
        S.STALE,
        F.STALE,
        Exit.GATED,
        "requires_reindex:",
    ),
    "other tree and queued and edited": (
        {"head_tree": OTHER, "pending": True, "head": HeadState(HEAD, (b"a",))},
        S.STALE,
        F.STALE,
        Exit.NO,
        "is not the indexed",
    ),
}


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE.keys())
def test_verdict(row: tuple[dict[str, Any], IndexState, FreshnessState, Exit, str]) -> None:
    changes, state, freshness, code, why = row
    verdict = judge(FRESH._replace(**changes))
    assert verdict[:3] == (state, freshness, code)
    assert why in verdict.why


PROOFS = (VALID, NOT_NEWEST, MISMATCH, MISSING, MOVED, NEWER, FAILED_PROBE)
HEADS = tuple(
    HeadState(commit, edited, scope=scope)
    for commit in (None, HEAD, OTHER)
    for edited in ((), (b"a",), (b"a", b"b"))
    for scope in EditScope
)
PROGRESS = (None, *(Progress(kind, None, None, None) for kind in BuildKind))
FAILURES = (None, *(Failure("boom", commit) for commit in (None, HEAD, OTHER)))


def every_observation() -> Iterator[Observation]:
    """Every combination of what can be seen: tens of thousands, in a second or two."""
    yes_or_no = (False, True)
    for fields in product(PROOFS, HEADS, (TREE, OTHER), PROGRESS, yes_or_no, FAILURES, yes_or_no):
        yield Observation(*fields)


def test_i01_fresh_exactly_when_everything_says_so() -> None:
    count = 0
    for count, seen in enumerate(every_observation(), 1):  # noqa: B007
        _check_fresh(seen)
    assert count >= 20_000


def _check_fresh(seen: Observation) -> None:
    verdict = judge(seen)
    proven = (
        seen.proof.outcome is ProofOutcome.VALID
        and seen.proof.is_newest
        and seen.proof.marker is not None
        and seen.head_tree == seen.proof.marker.tree_id
        and not seen.pending
        and (
            seen.failure is None
            or seen.failure.commit is None
            or seen.failure.commit != seen.head.commit
        )
        and seen.progress is None
    )
    told = (verdict.state, verdict.freshness, verdict.code)
    assert (told == (IndexState.FRESH, FreshnessState.FRESH, Exit.OK)) is proven
    assert (verdict.state is IndexState.FRESH) is proven
    assert (verdict.freshness is FreshnessState.FRESH) is proven
    assert (verdict.code is Exit.OK) is proven
    assert verdict.why


def test_exit_code_follows_the_state() -> None:
    allowed = {
        IndexState.FRESH: {Exit.OK},
        IndexState.STALE: {Exit.NO, Exit.GATED},
        IndexState.REBUILDING: {Exit.NO},
        IndexState.ERROR: {Exit.ERROR},
    }
    for seen in every_observation():
        verdict = judge(seen)
        assert verdict.code in allowed[verdict.state], seen


def stand_still(repo: Repo) -> None:
    """End the runner that lingers."""
    stop_runners(repo.path)
    wait_for(lambda: not is_held(repo.worktree.lock))


def test_observation_of_a_fresh_index(indexed: Repo) -> None:
    stand_still(indexed)
    seen = observe(indexed.worktree)
    assert judge(seen).state is IndexState.FRESH
    head, none = indexed.git("rev-parse", "HEAD").strip(), EditScope.NONE
    assert seen.head == HeadState(head, tree=indexed.tree(), branch="main", scope=none)
    assert observe(indexed.worktree, EditScope.ALL).head == seen.head._replace(scope=EditScope.ALL)
    assert seen.head_tree == indexed.tree()
    assert (seen.progress, seen.pending, seen.failure, seen.searchable) == (
        None,
        False,
        None,
        True,
    )


def test_each_hint_of_work_ends_fresh(indexed: Repo) -> None:
    stand_still(indexed)
    worktree = indexed.worktree
    for path in (worktree.spool, worktree.taken):
        Path(path).write_bytes(b"post-commit\n")
        assert has_pending(worktree)
        assert judge(observe(worktree)).why == "a refresh is queued"
        os.unlink(path)
    indexed.write("app.py", "x = 1\n")
    assert observe(worktree, EditScope.TRACKED).head.dirty == (b"app.py",)
    assert observe(worktree, EditScope.ALL).head.edits == 1
    assert judge(observe(worktree)).state is IndexState.FRESH
    indexed.git("-c", "core.hooksPath=/dev/null", "checkout", "-q", "app.py")
    assert judge(observe(worktree)).state is IndexState.FRESH


def test_i14_progress_of_a_dead_runner_does_not_count(indexed: Repo) -> None:
    stand_still(indexed)
    worktree = indexed.worktree
    Path(worktree.progress).write_text('{"kind":"create","phase":"extract","progressPct":1.5}')
    assert read_progress(worktree) is None
    assert judge(observe(worktree)).state is IndexState.FRESH
    lock = RunnerLock(worktree.lock)
    assert lock.acquire()
    try:
        assert read_progress(worktree) == Progress(BuildKind.CREATE, "extract", 1.5, None, False)
        assert judge(observe(worktree)).state is IndexState.REBUILDING
    finally:
        lock.release()
    assert read_progress(worktree) is None


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"kind":[]}', b"\xff"], ids=ascii)
def test_garbage_notes_raise_nothing(repo: Repo, data: bytes) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    worktree = repo.worktree
    os.makedirs(os.path.dirname(worktree.progress))
    os.makedirs(os.path.dirname(worktree.failure))
    Path(worktree.progress).write_bytes(data)
    Path(worktree.failure).write_bytes(data)
    lock = RunnerLock(worktree.lock)
    assert lock.acquire()
    try:
        assert judge(observe(worktree)).state is not IndexState.FRESH
    finally:
        lock.release()


def test_q21_before_the_first_commit_there_is_an_empty_tree(repo: Repo) -> None:
    seen = observe(repo.worktree)
    assert seen.head.commit is None
    assert seen.head_tree == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    assert judge(seen).why == "not indexed"


CUT_SHORT = """
import os
from gitindex.refresh import refresher
from gitindex.__main__ import main
refresher.Refresher.run = lambda *args, **kwargs: os._exit(9)
main()
"""


def test_unfinished_request_is_never_fresh(indexed: Repo) -> None:
    """Fresh with a job in the queue is forbidden, also for a job that no event asked for."""
    stand_still(indexed)
    done = subprocess.run(
        [sys.executable, "-c", CUT_SHORT, "index", "--force"],
        cwd=indexed.path,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 9
    assert not is_held(indexed.worktree.lock)
    assert judge(observe(indexed.worktree)).why == "a refresh is queued"
    assert indexed.gitindex("run").returncode == 0
    assert indexed.state() == "fresh"
