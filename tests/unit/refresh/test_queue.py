"""The queue: every outcome, what the database itself refuses, fences, bounds, and real processes."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError, StoreError
from gitindex.base.vocabulary import FailureReason, JobStatus
from gitindex.git.interface import Head
from gitindex.refresh.queue import (
    EMPTY,
    FULL,
    KEEP_ENDED,
    MAX_ATTEMPTS,
    EnqueueOutcome,
    Job,
    LostJob,
    RefreshJobService,
    RefreshScope,
    merge_scopes,
)
from gitindex.store.connection import CURRENT, Database, open_writer
from gitindex.store.mapping import register
from tests.support import TIMEOUT

A, B, C = (RefreshScope(files=(name,)) for name in ("a.py", "b.py", "c.py"))


class Queue:
    """A service over a real database, with a HEAD the test moves."""

    def __init__(self, database: Database, name: str = "main") -> None:
        self.database = database
        self.commit: str | None = "c1"
        self.worktree = register(database, name, "/r").worktree_id
        self.service = RefreshJobService(database, self.worktree, self.head)
        self._runs = itertools.count()

    def head(self) -> Head:
        return Head(self.commit, f"tree-of-{self.commit}")

    def enqueue(self, scope: RefreshScope, context: int = 0) -> int:
        return self.service.enqueue_refresh(scope, "test", context).job_id

    def outcome(self, scope: RefreshScope) -> EnqueueOutcome:
        return self.service.enqueue_refresh(scope, "test").outcome

    def claim(self, context: int = 0) -> Job:
        job_id = self.service.next_queued(context)
        assert job_id is not None
        job = self.service.claim(f"run-{next(self._runs)}", job_id)
        assert job is not None
        return job

    def rows(self, status: JobStatus) -> list[Job]:
        return [job for job in self.service.history(10**6) if job.status is status]

    def only(self, status: JobStatus) -> Job:
        (job,) = self.rows(status)
        return job


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_writer(str(tmp_path / "facts.db"))
    yield opened
    opened.close()


@pytest.fixture
def queue(database: Database) -> Queue:
    return Queue(database)


def test_first_request_creates(queue: Queue) -> None:
    done = queue.service.enqueue_refresh(A, "post-commit")
    assert done.outcome is EnqueueOutcome.CREATED
    job = queue.only(JobStatus.QUEUED)
    assert (job.id, job.scope, job.trigger_reason) == (done.job_id, A, "post-commit")
    assert (job.head_at_enqueue, job.attempts, job.run_id) == ("c1", 0, None)
    assert queue.service.get_job_status(done.job_id) == job


def test_same_head_widens_or_covers(queue: Queue) -> None:
    first = queue.enqueue(A)
    assert queue.outcome(B) is EnqueueOutcome.WIDENED
    assert queue.outcome(A) is EnqueueOutcome.COVERED
    assert queue.outcome(EMPTY) is EnqueueOutcome.COVERED
    job = queue.only(JobStatus.QUEUED)
    assert (job.id, job.scope) == (first, merge_scopes(A, B))


def test_q1_moved_head_supersedes_and_carries_all_unfinished_scopes(queue: Queue) -> None:
    queue.enqueue(A)
    running = queue.claim()
    queue.enqueue(B)
    queue.commit = "c2"
    assert queue.outcome(C) is EnqueueOutcome.FOLLOW_UP
    job = queue.only(JobStatus.QUEUED)
    assert job.scope == RefreshScope(files=("a.py", "b.py", "c.py"))
    assert job.head_at_enqueue == "c2"
    old = queue.only(JobStatus.SUPERSEDED)
    assert old.superseded_reason == "HEAD moved to c2"
    assert old.finished_at is not None
    assert queue.only(JobStatus.RUNNING).id == running.id


def test_q1_superseding_without_a_runner_is_created(queue: Queue) -> None:
    queue.enqueue(A)
    queue.commit = "c2"
    assert queue.outcome(B) is EnqueueOutcome.CREATED
    assert queue.only(JobStatus.QUEUED).scope == merge_scopes(A, B)


def test_head_that_moves_back_still_supersedes(queue: Queue) -> None:
    for commit in ("c1", "c2", "c1"):
        queue.commit = commit
        queue.enqueue(A)
    assert queue.only(JobStatus.QUEUED).head_at_enqueue == "c1"
    assert len(queue.rows(JobStatus.SUPERSEDED)) == 2


@pytest.mark.parametrize("asked", [FULL, B, A, EMPTY], ids=["full", "other", "same", "empty"])
def test_q2_q3_a_running_job_is_never_coverage(queue: Queue, asked: RefreshScope) -> None:
    queue.enqueue(A)
    running = queue.claim()
    assert queue.outcome(asked) is EnqueueOutcome.FOLLOW_UP
    assert queue.only(JobStatus.QUEUED).scope == asked
    assert queue.only(JobStatus.RUNNING) == running


def test_q4_queued_file_and_then_full_is_one_full_job(queue: Queue) -> None:
    first = queue.enqueue(A)
    assert queue.outcome(FULL) is EnqueueOutcome.WIDENED
    job = queue.only(JobStatus.QUEUED)
    assert (job.id, job.scope) == (first, FULL)
    assert queue.outcome(A) is EnqueueOutcome.COVERED


def test_q21_unborn_head_is_named_by_its_tree(queue: Queue) -> None:
    queue.commit = None
    queue.enqueue(A)
    assert queue.only(JobStatus.QUEUED).head_at_enqueue == "tree-of-None"


def test_head_is_read_inside_the_transaction(queue: Queue, tmp_path: Path) -> None:
    other = open_writer(str(tmp_path / "facts.db"))
    other.run("PRAGMA busy_timeout=0")

    def head_that_tries_to_write() -> Head:
        with pytest.raises(StoreError, match="busy"), other.write():
            raise AssertionError("two writers at once")
        return Head("c9", "t")

    service = RefreshJobService(queue.database, queue.worktree, head_that_tries_to_write)
    service.enqueue_refresh(A, "test")
    assert queue.only(JobStatus.QUEUED).head_at_enqueue == "c9"
    other.close()


def test_head_that_cannot_be_read_leaves_the_queue_as_it_was(queue: Queue) -> None:
    def no_head() -> Head:
        raise GitIndexError("HEAD is gone")

    queue.enqueue(A)
    before = queue.service.history()
    with pytest.raises(GitIndexError, match="gone"):
        RefreshJobService(queue.database, queue.worktree, no_head).enqueue_refresh(B, "test")
    assert queue.service.history() == before
    queue.enqueue(B)  # the transaction was given back


def test_claim_takes_one_and_only_while_none_runs(queue: Queue) -> None:
    first = queue.enqueue(A)
    job = queue.service.claim("r1", first)
    assert job is not None
    assert (job.status, job.run_id, job.attempts) == (JobStatus.RUNNING, "r1", 1)
    assert queue.service.claim("r2", first) is None
    second = queue.enqueue(B)
    assert queue.service.claim("r2", second) is None
    queue.service.complete(job, 5)
    assert queue.service.claim("r2", first) is None
    assert queue.service.claim("r2", 999) is None
    assert queue.service.claim("r2", second) is not None


def test_run_job_completes(queue: Queue) -> None:
    job = queue.service.run_job(queue.enqueue(A), "r1", lambda job: len(job.scope.files) + 6)
    assert job is not None
    assert (job.status, job.extracted, job.run_id) == (JobStatus.COMPLETED, 7, "r1")
    assert not queue.service.has_work()


@pytest.mark.parametrize(
    "error", [GitIndexError("told"), OSError(28, "No space left", "f")], ids=repr
)
def test_run_job_gives_a_failed_job_back(queue: Queue, error: Exception) -> None:
    def work(_: Job) -> int:
        raise error

    job = queue.service.run_job(queue.enqueue(A), "r1", work)
    assert job is not None
    assert (job.status, job.attempts, job.run_id) == (JobStatus.QUEUED, 1, None)
    assert job.error
    assert queue.service.has_work()


def test_run_job_of_what_is_not_there_touches_nothing(queue: Queue) -> None:
    queued = queue.enqueue(A)
    before = queue.service.history()

    def never(_: Job) -> int:
        raise AssertionError("ran")

    assert queue.service.run_job(queued + 1, "r1", never) is None
    assert queue.service.history() == before


def test_fence_refuses_everyone_but_the_owner(queue: Queue) -> None:
    queue.enqueue(A)
    job = queue.claim()
    stranger = job._replace(run_id="someone else")
    for act in (
        lambda: queue.service.complete(stranger, 0),
        lambda: queue.service.fail(stranger, FailureReason.IO_ERROR, "x"),
        lambda: queue.service.fail(stranger._replace(attempts=9), FailureReason.IO_ERROR, "x"),
        lambda: queue.service.complete(job._replace(id=job.id + 1), 0),
    ):
        with pytest.raises(LostJob):
            act()
        assert queue.only(JobStatus.RUNNING) == job


def test_fence_refuses_a_runner_that_was_taken_for_dead(queue: Queue) -> None:
    queue.enqueue(A)
    dead = queue.claim()
    queue.service.take_over_orphans()
    with pytest.raises(LostJob):
        queue.service.complete(dead, 0)
    heir = queue.claim()
    assert (heir.id, heir.attempts) == (dead.id, 2)
    with pytest.raises(LostJob):
        queue.service.complete(dead, 0)
    with pytest.raises(LostJob):
        queue.service.fail(dead, FailureReason.IO_ERROR, "x")
    queue.service.complete(heir, 0)
    with pytest.raises(LostJob):
        queue.service.complete(heir, 0)


def test_lost_job_with_a_follow_up_changes_nothing(queue: Queue) -> None:
    queue.enqueue(A)
    dead = queue.claim()
    queue.service.take_over_orphans()
    heir = queue.claim()
    queue.enqueue(B)
    before = queue.service.history()
    with pytest.raises(LostJob):
        queue.service.fail(dead, FailureReason.IO_ERROR, "x")
    assert queue.service.history() == before
    queue.service.complete(heir, 0)


@pytest.mark.parametrize("reason", FailureReason)
def test_i13_attempts_are_bounded_then_the_cause_is_kept(
    queue: Queue, reason: FailureReason
) -> None:
    queue.enqueue(A)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        job = queue.claim()
        assert job.attempts == attempt
        assert queue.service.fail(job, reason, f"cause {attempt}") is (attempt == MAX_ATTEMPTS)
    failed = queue.only(JobStatus.FAILED)
    assert (failed.failure_reason, failed.error) == (reason, f"cause {MAX_ATTEMPTS}")
    assert failed.finished_at is not None
    assert not queue.service.has_work()
    queue.enqueue(A)  # the repository is not blocked
    assert queue.claim().attempts == 1


def test_failure_with_a_follow_up_is_merged_into_it(queue: Queue) -> None:
    queue.enqueue(A)
    job = queue.claim()
    follow_up = queue.enqueue(B)
    assert not queue.service.fail(job, FailureReason.IO_ERROR, "boom")
    queued = queue.only(JobStatus.QUEUED)
    assert (queued.id, queued.scope) == (follow_up, merge_scopes(A, B))
    ended = queue.only(JobStatus.SUPERSEDED)
    assert ended.id == job.id
    assert "boom" in (ended.superseded_reason or "")


@pytest.mark.promise("I-13")
def test_q12_orphans_are_taken_over_and_given_up_in_the_end(queue: Queue) -> None:
    first = queue.enqueue(A)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        job = queue.claim()
        assert (job.id, job.attempts) == (first, attempt)
        given_up = queue.service.take_over_orphans()
        assert [g.id for g in given_up] == ([first] if attempt == MAX_ATTEMPTS else [])
    failed = queue.only(JobStatus.FAILED)
    assert failed.failure_reason is FailureReason.TOOL_CRASHED
    assert failed.error == f"its runner died {MAX_ATTEMPTS} times"
    assert not queue.service.has_work()


def test_orphan_with_a_follow_up_leaves_its_scope_behind(queue: Queue) -> None:
    queue.enqueue(A)
    queue.claim()
    queue.enqueue(B)
    assert queue.service.take_over_orphans() == []
    assert queue.only(JobStatus.QUEUED).scope == merge_scopes(A, B)
    assert queue.rows(JobStatus.RUNNING) == []
    assert queue.service.take_over_orphans() == []


def test_orphans_of_every_context_and_of_no_other_worktree(queue: Queue) -> None:
    other = Queue(queue.database, "wt-side")
    other.enqueue(A)
    others = other.claim()
    for context in (0, 1, 2):
        queue.enqueue(A, context)
        queue.claim(context)
    assert queue.service.take_over_orphans() == []
    assert len(queue.rows(JobStatus.QUEUED)) == 3
    assert other.only(JobStatus.RUNNING) == others


def test_i11_contexts_and_worktrees_do_not_meet(queue: Queue) -> None:
    side = Queue(queue.database, "wt-side")
    ids = {queue.enqueue(A, 0), queue.enqueue(A, 1), side.enqueue(A, 0), side.enqueue(A, 1)}
    assert len(ids) == 4
    queue.claim(1)
    assert queue.service.next_queued(0) is not None
    assert queue.service.next_queued(1) is None
    assert side.service.next_queued(1) is not None
    foreign = side.service.next_queued(0)
    assert foreign is not None
    assert queue.service.claim("thief", foreign) is None
    assert queue.service.get_job_status(foreign) is None


@pytest.mark.parametrize("status", [JobStatus.QUEUED, JobStatus.RUNNING])
def test_i11_the_database_itself_refuses_a_second_one(queue: Queue, status: JobStatus) -> None:
    def insert(context: int) -> None:
        with queue.database.write():
            queue.database.insert(
                "INSERT INTO refresh_jobs (worktree_id, context_id, status, scope, trigger_reason,"
                " head_at_enqueue, created_at) VALUES (?,?,?,'{}','x','c',0)",
                queue.worktree,
                context,
                status,
            )

    insert(0)
    with pytest.raises(StoreError, match="UNIQUE"):
        insert(0)
    insert(1)
    assert len(queue.rows(status)) == 2


@pytest.mark.parametrize("status", [JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.SUPERSEDED])
def test_q20_ended_jobs_are_pruned_and_ids_never_reused(queue: Queue, status: JobStatus) -> None:
    with queue.database.write():
        queue.database.run_many(
            "INSERT INTO refresh_jobs (worktree_id, status, scope, trigger_reason, head_at_enqueue,"
            " created_at, finished_at) VALUES (?,?,'{}','x','c',0,0)",
            ((queue.worktree, status) for _ in range(10_000)),
        )
    side = Queue(queue.database, "wt-side")
    side.enqueue(A)
    last = queue.enqueue(A)
    assert last == 10_002
    queue.service.complete(queue.claim(), 0)
    kept = queue.service.history(10**6)
    assert len(kept) == KEEP_ENDED
    assert [job.id for job in kept] == [last, *range(10_000, 10_000 - KEEP_ENDED + 1, -1)]
    assert side.only(JobStatus.QUEUED)
    queue.database.run("DELETE FROM refresh_jobs")
    assert queue.enqueue(A) == last + 1


def test_q20_superseded_jobs_alone_do_not_fill_the_table(queue: Queue) -> None:
    for n in range(3 * KEEP_ENDED):
        queue.commit = f"c{n}"
        queue.enqueue(A)
    assert len(queue.service.history(10**6)) <= KEEP_ENDED + 1


def test_pruning_keeps_what_is_unfinished(queue: Queue) -> None:
    waiting = queue.enqueue(A, context=7)
    for _ in range(KEEP_ENDED + 20):
        queue.enqueue(A)
        queue.service.complete(queue.claim(), 0)
    assert queue.only(JobStatus.QUEUED).id == waiting
    assert len(queue.rows(JobStatus.COMPLETED)) == KEEP_ENDED


def test_history_is_newest_first_and_limited(queue: Queue) -> None:
    for context in range(5):
        queue.enqueue(A, context)
    assert [job.context_id for job in queue.service.history(3)] == [4, 3, 2]


def test_stored_scope_that_is_damaged_is_full(queue: Queue) -> None:
    queue.enqueue(A)
    queue.database.run("UPDATE refresh_jobs SET scope='{\"files\":'")
    assert queue.claim().scope == FULL


ENQUEUER = """
import os, sys
from gitindex.git.interface import Head
from gitindex.refresh.queue import RefreshJobService
from gitindex.refresh.queue import RefreshScope
from gitindex.store.connection import open_writer
path, name, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
database = open_writer(path)
head = lambda: Head(open(os.path.dirname(path) + "/HEAD").read(), "t")
service = RefreshJobService(database, 1, head)
sys.stdin.read()
for n in range(times):
    service.enqueue_refresh(RefreshScope(files=(f"{name}/{n}.py",)), "test")
    service.enqueue_refresh(RefreshScope(files=(f"{name}/{n}.py",)), "test", context_id=1)
"""

CLAIMER = """
import json, os, sys
from gitindex.git.interface import Head
from gitindex.refresh.queue import RefreshJobService
from gitindex.store.connection import open_writer
database = open_writer(sys.argv[1])
services = [RefreshJobService(database, w, lambda: Head("c", "t")) for w in (1, 2)]
claimed = []
sys.stdin.read()
for context in range(100):
    for service in services:
        job_id = service.next_queued(context)
        job = service.claim(f"{os.getpid()}-{context}", job_id) if job_id is not None else None
        if job is not None:
            claimed.append([job.id, job.run_id])
print(json.dumps(claimed))
"""


def start(script: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Let all of them go at once, and return what they printed."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    outputs = [process.communicate(timeout=TIMEOUT) for process in processes]
    assert [errors for _, errors in outputs] == [""] * len(outputs)
    assert [process.returncode for process in processes] == [0] * len(outputs)
    return [output for output, _ in outputs]


def test_q10_eight_processes_enqueue_at_once(queue: Queue, tmp_path: Path) -> None:
    (tmp_path / "HEAD").write_text("c1")
    path = str(tmp_path / "facts.db")
    finish([start(ENQUEUER, path, f"p{n}", "25") for n in range(8)])
    wanted = RefreshScope(files=tuple(f"p{n}/{m}.py" for n in range(8) for m in range(25)))
    jobs = queue.rows(JobStatus.QUEUED)
    assert sorted(job.context_id for job in jobs) == [0, 1]
    assert [job.scope for job in jobs] == [wanted, wanted]
    assert len(queue.service.history(10**6)) == 2


@pytest.mark.promise("I-12")
def test_q11_eight_processes_claim_each_job_exactly_once(queue: Queue, tmp_path: Path) -> None:
    side = Queue(queue.database, "wt-side")
    ids = [q.enqueue(A, context) for q in (queue, side) for context in range(100)]
    assert len(ids) == 200
    path = str(tmp_path / "facts.db")
    printed = finish([start(CLAIMER, path) for _ in range(8)])
    claimed = [(job_id, run_id) for text in printed for job_id, run_id in json.loads(text)]
    assert Counter(job_id for job_id, _ in claimed) == dict.fromkeys(ids, 1)
    stored = {j.id: j.run_id for q in (queue, side) for j in q.rows(JobStatus.RUNNING)}
    assert stored == dict(claimed)


def test_eight_processes_open_a_new_store_at_once(tmp_path: Path) -> None:
    script = (
        "import sys; from gitindex.store.connection import open_writer; sys.stdin.read();"
        "print(open_writer(sys.argv[1]).row('PRAGMA user_version')[0])"
    )
    path = str(tmp_path / "facts.db")
    assert finish([start(script, path) for _ in range(8)]) == [f"{CURRENT}\n"] * 8
    assert not os.path.exists(f"{path}-journal")


def test_a_job_that_was_taken_over_has_not_failed(queue: Queue) -> None:
    queue.enqueue(A)
    for _ in range(MAX_ATTEMPTS + 2):
        assert queue.claim().attempts == 1
        assert queue.service.take_over_orphans(ended=True) == []
    assert queue.claim().attempts == 1
