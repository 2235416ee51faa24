"""The real queue over a real database, driven by Hypothesis: no scope is lost, no job runs twice."""

from __future__ import annotations

import os
import tempfile
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from gitindex.base.vocabulary import FailureReason, JobStatus
from gitindex.git.interface import Head
from gitindex.refresh.queue import (
    EMPTY,
    FULL,
    KEEP_ENDED,
    MAX_ATTEMPTS,
    Job,
    LostJob,
    RefreshJobService,
    RefreshScope,
    merge_scopes,
)
from gitindex.store.connection import Database, open_writer
from gitindex.store.mapping import register

CONTEXTS = (0, 3)
KEPT = KEEP_ENDED + 5
"""Ended jobs there may be: as many as a story is filled with before its first pruning."""

UNFINISHED = (JobStatus.QUEUED, JobStatus.RUNNING)
SCOPES = st.one_of(
    st.sets(st.sampled_from(["a", "p/b", "p/c", "q"])).map(
        lambda names: RefreshScope(tuple(names))
    ),
    st.sampled_from([("p",), ("q", "r")]).map(lambda names: RefreshScope(packages=names)),
    st.sampled_from([0.0, 5.0, 9.0]).map(lambda time: RefreshScope(changed_since=time)),
    st.sampled_from([FULL, EMPTY]),
)
context = st.sampled_from(CONTEXTS)


class Lab:
    """One database for all stories, as opening one costs more than a story; and a count of steps."""

    database: Database
    steps: Counter[str]


class QueueMachine(RuleBasedStateMachine):
    """Two contexts of one worktree; runners come, work, and die."""

    def __init__(self) -> None:
        super().__init__()
        self.database = Lab.database
        self.database.run("DELETE FROM refresh_jobs")
        self.worktree = register(self.database, "main", "/r").worktree_id
        self.service = RefreshJobService(self.database, self.worktree, self.head)
        self.commit = 0
        self.runs = 0
        self.live: dict[int, Job] = {}  # by context: what a live runner holds
        self.ghosts: list[Job] = []  # as held by runners that ended them, or were taken for dead
        self.owed = dict.fromkeys(CONTEXTS, EMPTY)  # asked for, no completed job started since
        self.taken = dict.fromkeys(CONTEXTS, EMPTY)  # of it, what the running job promised
        self.widest: dict[int, RefreshScope] = {}  # by queued job: it never shrinks
        self.queued: set[int] = set()  # contexts that have a job to claim
        self.last_id = 0
        self.finished: set[int] = set()

    def head(self) -> Head:
        return Head(f"c{self.commit}", f"t{self.commit}")

    def step(self, name: str) -> None:
        Lab.steps[name] += 1

    @initialize(ended=st.sampled_from([0, 0, 0, 0, 0, 0, 0, KEEP_ENDED + 5]))
    def fill(self, ended: int) -> None:
        if ended:
            with self.database.write():
                self.database.run_many(
                    "INSERT INTO refresh_jobs (worktree_id, status, scope, trigger_reason,"
                    " head_at_enqueue, created_at, finished_at) VALUES (?,?,'{}','x','c',0,0)",
                    ((self.worktree, JobStatus.COMPLETED) for _ in range(ended)),
                )
        self.step("fill")

    @rule()
    def move_head(self) -> None:
        self.commit += 1
        self.step("commit")

    @rule(scope=SCOPES, context_id=context)
    def enqueue(self, scope: RefreshScope, context_id: int) -> None:
        done = self.service.enqueue_refresh(scope, "test", context_id)
        self.owed[context_id] = merge_scopes(self.owed[context_id], scope)
        job = self.service.get_job_status(done.job_id)
        assert job is not None
        assert job.status is JobStatus.QUEUED  # a running job is never coverage
        assert job.scope.covers(scope)
        assert job.head_at_enqueue == f"c{self.commit}"
        self.step("enqueue")

    @precondition(lambda self: self.queued)
    @rule(context_id=context)
    def claim(self, context_id: int) -> None:
        job_id = self.service.next_queued(context_id)
        assert (job_id is not None) is (context_id in self.queued)
        job = self.service.claim(f"run{self.runs}", job_id or 0)
        free = context_id in self.queued and context_id not in self.live
        assert (job is not None) is free
        if job is not None:
            self.runs += 1
            self.live[context_id] = job
            self.taken[context_id], self.owed[context_id] = self.owed[context_id], EMPTY
        self.step("claim")

    @precondition(lambda self: self.live)
    @rule(first=st.booleans())
    def complete(self, first: bool) -> None:
        context_id, job = self.end(first)
        assert job.scope.covers(self.taken[context_id])
        self.service.complete(job, 1)
        self.taken[context_id] = EMPTY
        self.finished.add(job.id)
        self.step("complete")

    @precondition(lambda self: self.live)
    @rule(first=st.booleans(), reason=st.sampled_from([*FailureReason]))
    def fail(self, first: bool, reason: FailureReason) -> None:
        context_id, job = self.end(first)
        final = self.service.fail(job, reason, "boom")
        assert final is (job.attempts == MAX_ATTEMPTS)
        self.hand_back(context_id, job, final)
        self.step("fail")

    @precondition(lambda self: self.live)
    @rule()
    def runner_dies_and_the_next_takes_over(self) -> None:
        given_up = {job.id for job in self.service.take_over_orphans()}
        assert given_up == {j.id for j in self.live.values() if j.attempts == MAX_ATTEMPTS}
        while self.live:
            context_id, job = self.end(first=True)
            self.hand_back(context_id, job, job.id in given_up)
        self.step("take over")

    def end(self, first: bool) -> tuple[int, Job]:
        """The runner of one context lets go of its job, or is taken for dead."""
        context_id = sorted(self.live)[0 if first else -1]
        job = self.live.pop(context_id)
        self.ghosts.append(job)
        return context_id, job

    def hand_back(self, context_id: int, job: Job, final: bool) -> None:
        """Work that was not done is owed again; work given up for good is told as failed."""
        if final:
            self.finished.add(job.id)
        else:
            self.owed[context_id] = merge_scopes(self.owed[context_id], self.taken[context_id])
        self.taken[context_id] = EMPTY

    @precondition(lambda self: self.ghosts)
    @rule(back=st.integers(1, 4), reason=st.sampled_from([*FailureReason]))
    def ghost_is_fenced_off(self, back: int, reason: FailureReason) -> None:
        ghost = self.ghosts[-min(back, len(self.ghosts))]
        before = self.database.rows("SELECT * FROM refresh_jobs ORDER BY id")
        with pytest.raises(LostJob):
            self.service.complete(ghost, 1)
        with pytest.raises(LostJob):
            self.service.fail(ghost, reason, "boom")
        assert self.database.rows("SELECT * FROM refresh_jobs ORDER BY id") == before
        self.step("ghost")

    @invariant()
    def holds(self) -> None:
        unfinished = [
            job for job in self.service.history(2 * len(CONTEXTS) + KEPT) if job.finished_at is None
        ]
        self.one_of_each(unfinished)
        self.no_scope_is_lost(unfinished)
        self.history_is_bounded(unfinished)
        self.stored_scopes_only_grow(unfinished)

    def one_of_each(self, unfinished: list[Job]) -> None:
        """I-11, I-12, I-13: one queued and one running per context; each running one has its owner."""
        assert {job.status for job in unfinished} <= set(UNFINISHED)
        counted = Counter((job.context_id, job.status) for job in unfinished)
        assert all(n == 1 for n in counted.values())
        running = {j.context_id: j for j in unfinished if j.status is JobStatus.RUNNING}
        assert running == self.live
        assert all(job.attempts <= MAX_ATTEMPTS for job in unfinished)
        assert all(job.attempts >= 1 for job in running.values())

    def no_scope_is_lost(self, unfinished: list[Job]) -> None:
        """What was asked for and not done since is queued, or runs."""
        queued = {j.context_id: j.scope for j in unfinished if j.status is JobStatus.QUEUED}
        self.queued = set(queued)
        for context_id in CONTEXTS:
            assert queued.get(context_id, EMPTY).covers(self.owed[context_id])
            if context_id in self.live:
                assert self.live[context_id].scope.covers(self.taken[context_id])

    def stored_scopes_only_grow(self, unfinished: list[Job]) -> None:
        """I-05 over time."""
        for job in unfinished:
            assert job.scope.covers(self.widest.get(job.id, EMPTY))
            self.widest[job.id] = job.scope

    def history_is_bounded(self, unfinished: list[Job]) -> None:
        """Ended jobs are few and stay ended; a new id is higher than any before."""
        ended, last = self.database.row(
            "SELECT count(finished_at), coalesce(max(id), 0) FROM refresh_jobs"
        )
        assert ended <= KEPT
        assert all(j.id in self.widest or j.id > self.last_id for j in unfinished)
        self.last_id = max(self.last_id, last)
        assert not self.finished & {job.id for job in unfinished}


@pytest.fixture(autouse=True)
def _scratch() -> object:
    """On a disk in memory where there is one: the steps are many, durability is tested elsewhere."""
    below = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="gitindex-queue-", dir=below) as folder:
        Lab.database = open_writer(os.path.join(folder, "facts.db"))
        Lab.steps = Counter()
        yield
        Lab.database.close()


def explore(steps: int) -> None:
    """Tell stories of 50 steps until at least so many steps were taken."""
    told = settings(
        max_examples=steps // 30,
        stateful_step_count=50,
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(QueueMachine, settings=told)
    assert Lab.steps.total() >= steps, Lab.steps
    for name in ("commit", "enqueue", "claim", "complete", "fail", "take over", "ghost"):
        assert Lab.steps[name] >= steps // 200, Lab.steps


@pytest.mark.promise("I-05", "I-10", "I-12", cases=2_000)
def test_f9_no_interleaving_loses_a_scope() -> None:
    explore(2_000)


@pytest.mark.promise("I-05", "I-10", "I-12", cases=500_000)
@pytest.mark.torture
@pytest.mark.timeout(7200)
def test_f9_no_interleaving_loses_a_scope_at_full_size() -> None:
    explore(500_000)
