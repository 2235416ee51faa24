"""What the runner does for one worktree: enqueue, run the queued job, publish `fresh`, note failures."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable

from gitindex.base.atomic_file import remove
from gitindex.base.errors import GitIndexError
from gitindex.base.runner_lock import was_ended
from gitindex.base.vocabulary import BuildKind, IndexState, JobStatus, Layer, ProofOutcome
from gitindex.base.worktree import Worktree
from gitindex.freshness.marker import CompletionProof, is_newer
from gitindex.freshness.observation import has_pending, prove, read_failure
from gitindex.freshness.status_file import load_status
from gitindex.refresh import public_files, spool
from gitindex.refresh.log import Log
from gitindex.refresh.queue import FULL, Job, RefreshJobService, RefreshScope, is_forced
from gitindex.refresh.refresher import Refresher
from gitindex.refresh.session import Session
from gitindex.store import mapping

MAX_SCOPE_PATHS = 50
"""Beyond it a scope names folders: it tells where to look first, and then that is everywhere."""
RETRY_SECONDS = 0.2
"""Before the next attempt of a failed job, times the attempts so far: a full disk is often full briefly."""
LONG_JOB_SECONDS = 1.0
"""A job that is shorter writes the status once; people notice a second."""

Report = Callable[[str, float | None], None]


class Failures:
    """What failed for good while one runner lived. A full disk may keep it from being noted."""

    def __init__(self) -> None:
        self.last: GitIndexError | None = None
        self.heads: set[tuple[str, str]] = set()
        """Worktree and HEAD that are not tried again."""


class WorktreeWriter:
    """Writes the index of one worktree. The caller holds the runner lock."""

    def __init__(
        self, worktree: Worktree, session: Session, log: Log, report: Report, failures: Failures
    ) -> None:
        self.worktree = worktree
        self._session = session
        self._log = log
        self._report = report
        self._failures = failures
        self._first = not os.path.isdir(worktree.llmc)

    def recover(self) -> None:
        """Take over what a dead runner left half-way: its temporaries, its job, its events."""
        ignore_errors(public_files.sweep_litter, self.worktree)
        ended = was_ended(self.worktree)
        for job in self._jobs().take_over_orphans(Layer.SYNTACTIC, ended):
            self._note_failure(job.error or "its runner died too often", job.head_at_enqueue)
        if os.path.exists(self.worktree.taken):  # it took events and died before it enqueued them
            self.enqueue("events of a dead runner")

    def enqueue(self, reason: str, full: bool = False) -> None:
        """Ask for a refresh of this worktree."""
        scope = FULL if full else self._scope()
        self._session.check_identity()
        spool.note_taken(self.worktree)  # readers look there, not into the queue
        done = self._jobs().enqueue_refresh(scope, reason)
        root = self.worktree.root
        self._log.write("enqueue", root=root, job=done.job_id, outcome=done.outcome, why=reason)

    def run_queued(self, force: bool = False) -> bool:
        """Run what is queued. False if nothing was."""
        jobs = self._jobs()
        ran = False
        while (job_id := jobs.next_queued()) is not None:
            queued = jobs.get_job_status(job_id)
            again = queued is not None and is_forced(queued.trigger_reason)
            self._run_job(jobs, job_id, force or again)
            ran = True
        if not ran:
            self._publish_if_idle(jobs)
        return ran

    def why_refresh(self, whole: bool) -> str | None:
        """Why a published worktree needs a refresh that no event asked for; None if it needs none.

        `whole`: check the proof as well, not only at HEAD.
        """
        row = mapping.published(self._session.database, self.worktree.id)
        if row is None or row.tree is None:
            return None
        head = self._session.repository(self.worktree).head()
        failure = read_failure(self.worktree)
        if failure is not None and failure.commit and failure.commit == head.commit:
            return None
        if (self.worktree.id, head.commit or head.tree) in self._failures.heads:
            return None
        if (head.tree, head.commit) != (row.tree, row.head_commit):
            return "HEAD moved"
        if not whole:
            return None
        proof = prove(self.worktree)
        known = proof.outcome in (ProofOutcome.VALID, ProofOutcome.PROBE_FAILED)
        return None if known and proof.is_newest else "proof missing"

    def _run_job(self, jobs: RefreshJobService, job_id: int, force: bool) -> None:
        proof = prove(self.worktree)
        try:
            run_id = os.urandom(16).hex()
            job = jobs.run_job(job_id, run_id, lambda job: self._refresh(job, proof, force))
        finally:
            ignore_errors(public_files.end_progress, self.worktree)
        assert job is not None, "only the holder of the lock claims"
        self._conclude(jobs, job)

    def _refresh(self, job: Job, proof: CompletionProof, force: bool) -> int:
        worktree, kind = self.worktree, _kind(proof, force)
        if is_newer(proof):
            raise GitIndexError("the marker is of a newer gitindex: upgrade gitindex")
        public_files.refuse_tracked(worktree)
        public_files.note_progress(worktree, kind, "starting", None)
        notes = ProgressNotes(worktree, kind, self._report)
        refresher = Refresher(worktree, self._session, notes, self._first)
        assert job.run_id is not None
        with LongJobStatus(worktree, self._first):
            return refresher.run(job.run_id, job.scope, force=kind is BuildKind.REINDEX)

    def _conclude(self, jobs: RefreshJobService, job: Job) -> None:
        """A job has ended: publish `fresh`, or note why not. See "Order of a publish" in docs/internals.md.

        By now the refresher has committed documents and facts, published the mapping, read both
        stores back and written the marker; the job is completed. The status file comes last.
        """
        self._log_job(job)
        if job.status is JobStatus.COMPLETED:
            remove(self.worktree.failure)
        else:
            self._session.drop_lexical()
        if job.status is JobStatus.FAILED:
            message = job.error or "the refresh failed"
            self._note_failure(message, job.head_at_enqueue)
            self._failures.last = GitIndexError(message, "see `gitindex log`")
            self._failures.heads.add((self.worktree.id, job.head_at_enqueue))
        elif job.status is not JobStatus.COMPLETED:
            time.sleep(RETRY_SECONDS * job.attempts)
        self._publish_if_idle(jobs)

    def _publish_if_idle(self, jobs: RefreshJobService) -> None:
        """With an empty queue, forget the events that were taken and publish `fresh` if it is."""
        if not jobs.has_work(Layer.SYNTACTIC):
            remove(self.worktree.taken)
            self._publish_fresh()

    def _publish_fresh(self) -> None:
        """Write `fresh` into the status file, unless it says so or the index is not proven."""
        proof = prove(self.worktree)
        marker = proof.marker
        if marker is None or not _may_say_fresh(self.worktree, proof):
            return
        said = load_status(self.worktree.root)
        now = (IndexState.FRESH, marker.completed_at, marker.head_commit)
        if said is None or now != (
            said.index_state,
            said.last_indexed_at,
            said.last_indexed_commit,
        ):
            remove(self.worktree.failure)
            public_files.publish_status(self.worktree, marker, make=self._first)

    def _note_failure(self, message: str, commit: str | None) -> None:
        def note() -> None:
            self._session.check_identity()
            public_files.note_failure(self.worktree, message, commit)
            state = IndexState.ERROR
            public_files.write_state(self.worktree, state, message, make=self._first)

        ignore_errors(note)

    def _scope(self) -> RefreshScope:
        """Where the difference is now: a hint for the order of work, never a limit to it."""
        row = mapping.register(self._session.database, self.worktree.id, self.worktree.root)
        if row.tree is None:
            return FULL
        repository = self._session.repository(self.worktree)
        try:
            changed = [path for path, _ in repository.changes(row.tree, repository.head().tree)]
            if len(changed) <= MAX_SCOPE_PATHS:
                return RefreshScope(files=tuple(map(os.fsdecode, changed)))
            folders = {path.partition(b"/")[0] for path in changed}
            return RefreshScope(packages=tuple(map(os.fsdecode, folders)))
        except GitIndexError:
            return FULL  # the indexed tree was pruned, or no scope can hold a name like `c:x`

    def _jobs(self) -> RefreshJobService:
        return self._session.jobs(self.worktree)

    def _log_job(self, job: Job) -> None:
        self._log.write(
            "job",
            root=self.worktree.root,
            job=job.id,
            run=job.run_id,
            status=job.status,
            attempts=job.attempts,
            extracted=job.extracted,
            error=job.error,
            seconds=round((job.finished_at or time.time()) - (job.started_at or 0.0), 3),
        )


class LongJobStatus:
    """Writes `rebuilding` into the status file if a job takes longer than a second.

    A shorter one writes the file once, when it is done. Readers of ours do not need the file.
    """

    def __init__(self, worktree: Worktree, make_folder: bool) -> None:
        """`make_folder`: `.llmc/` was not there before; else one that vanishes meanwhile stays away."""
        self._worktree, self._make_folder = worktree, make_folder
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _write(self) -> None:
        worktree = self._worktree
        if self._over.wait(LONG_JOB_SECONDS) or not public_files.may_make_folder(worktree):
            return
        if not self._over.is_set():
            rebuilding = IndexState.REBUILDING
            ignore_errors(public_files.write_state, worktree, rebuilding, None, self._make_folder)


class ProgressNotes:
    """Passes progress on to readers and to the terminal, a few times a second at most."""

    def __init__(self, worktree: Worktree, kind: BuildKind, report: Report) -> None:
        self._worktree, self._kind, self._report = worktree, kind, report
        self._last: tuple[str, float] = ("", 0.0)

    def __call__(self, phase: str, percent: float | None) -> None:
        self._report(phase, percent)
        now = time.monotonic()
        if phase != self._last[0] or now - self._last[1] > 0.2:
            self._last = (phase, now)
            public_files.note_progress(self._worktree, self._kind, phase, percent)


def status_lags(worktree: Worktree) -> bool:
    """The index is proven and nothing waits, but the status file does not say `fresh`."""
    status = load_status(worktree.root)
    if status is not None and status.index_state is IndexState.FRESH:
        return False
    return _may_say_fresh(worktree, prove(worktree))


def _may_say_fresh(worktree: Worktree, proof: CompletionProof) -> bool:
    """The index is proven, nothing waits, and no attempt to refresh it has failed since."""
    proven = proof.outcome is ProofOutcome.VALID and proof.is_newest
    failure = read_failure(worktree)
    return proven and not has_pending(worktree) and (failure is None or failure.commit is None)


def ignore_errors(action: Callable[..., None], *args: object) -> None:
    """A note that cannot be written must not hide the failure it is about."""
    with contextlib.suppress(OSError, GitIndexError):
        action(*args)


def _kind(proof: CompletionProof, force: bool) -> BuildKind:
    if force:
        return BuildKind.REINDEX
    proven = proof.outcome is ProofOutcome.VALID
    return BuildKind.REFRESH if proven else BuildKind.CREATE
