"""The runner: one per store while there is work, then gone. Spool → queue → refresh → proof."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gitindex.base.atomic_file import remove
from gitindex.base.errors import GitIndexError, StoreReplaced
from gitindex.base.runner_lock import RunnerLock, advertised
from gitindex.base.vocabulary import BuildKind, IndexState, JobStatus, Layer, ProofOutcome
from gitindex.base.worktree import LLMC, Worktree
from gitindex.freshness.marker import is_newer
from gitindex.freshness.observation import prove, read_failure
from gitindex.freshness.status_file import load_record
from gitindex.git.hook_switch import note_switch
from gitindex.git.shadow_writer import refresh_shadow_index
from gitindex.refresh import public_files, spool
from gitindex.refresh.log import Log
from gitindex.refresh.queue import Job, RefreshJobService, anything_queued
from gitindex.refresh.refresher import Refresher
from gitindex.refresh.scope import FULL, RefreshScope
from gitindex.refresh.session import Session, mend_store
from gitindex.refresh.spool import IMMEDIATE, Pace
from gitindex.store import mapping
from gitindex.store.connection import open_reader

MAX_SCOPE_PATHS = 50
"""Beyond it a scope names folders: it tells where to look first, and then that is everywhere."""
POLL_SECONDS = 0.05
RETRY_SECONDS = 0.2

Report = Callable[[str, float | None], None]


class RefreshRequest(NamedTuple):
    """A refresh asked for by a person, served before anything that is spooled."""

    worktree: Worktree
    reason: str
    force: bool = False


class Runner:
    """Serves one store. Whoever gets the lock serves everybody's events."""

    def __init__(
        self,
        anchor: Worktree,
        pace: Pace = IMMEDIATE,
        report: Report | None = None,
        lock: RunnerLock | None = None,
    ) -> None:
        self._anchor = anchor
        self._pace = pace
        self._report = report or (lambda _phase, _percent: None)
        self._log = Log(anchor.store)
        self._lock = lock or RunnerLock(anchor.lock)
        self._failed: GitIndexError | None = None
        self._known: list[Worktree] = []
        self._given_up: set[tuple[str, str]] = set()
        """Heads that failed for good; a full disk may keep us from noting it anywhere else."""

    def serve(self, request: RefreshRequest | None = None) -> bool:
        """Take the lock and work until nothing waits. False if another runner is at it already.

        The spool is looked at once more after the lock was given up: a hook that saw us alive
        appended its event before that look.
        """
        served = False
        while self._lock.acquire():
            try:
                with advertised(self._anchor):
                    self._serve_locked(request)
            except StoreReplaced:
                return served
            finally:
                self._lock.release()
            served, request = True, None
            if not self._anything_waiting():
                break
        if self._failed is not None:
            raise self._failed
        return served

    def _serve_locked(self, request: RefreshRequest | None) -> None:
        if request is not None and request.force:
            mend_store(self._anchor)
        session = Session(self._anchor)
        try:
            for worktree in session.worktrees().values():
                with self._unless_removed(session, worktree):
                    if request is None or request.worktree.id != worktree.id:
                        remove(worktree.progress)  # else it is the note of who asked
                    self._recover(session, worktree)
            if request is not None:
                self._enqueue(session, request.worktree, request.reason, full=request.force)
                self._run_queued(session, request)
            while True:
                session.check_identity()
                self._take_events(session)
                if self._run_queued(session, request) or self._notice_heads(session):
                    continue
                for worktree in self._known:
                    _quietly(refresh_shadow_index, worktree)  # nobody waits for us now
                if not self._wait_for_news(session):
                    return
        finally:
            session.close()

    def _recover(self, session: Session, worktree: Worktree) -> None:
        """Mend what a dead runner left half-way: its job, its notes, a status it did not write."""
        _quietly(public_files.sweep_litter, worktree)
        for job in session.jobs(worktree).take_over_orphans(Layer.SYNTACTIC):
            message = job.error or "its runner died too often"
            self._note_failure(worktree, message, job.head_at_enqueue)
        if os.path.exists(worktree.taken):  # it took events and died before it enqueued them
            self._enqueue(session, worktree, "events of a dead runner")

    @contextlib.contextmanager
    def _unless_removed(self, session: Session, worktree: Worktree) -> Iterator[None]:
        """A linked worktree that is removed while we work on it must not stop the others."""
        try:
            yield
        except GitIndexError:
            if worktree.id == self._anchor.id or session.locate(worktree.id) is not None:
                raise
            remove(worktree.taken)
            mapping.forget(session.database, worktree.id)

    def _take_events(self, session: Session) -> None:
        for name in spool.waiting(self._anchor):
            worktree = session.locate(name)
            if worktree is None:
                remove(os.path.join(self._anchor.store, "spool", name))
                mapping.forget(session.database, name)
                continue
            if not note_switch(worktree):
                remove(worktree.spool)
                continue
            spool.wait_until_quiet(worktree, self._pace)
            events = spool.take_events(worktree)
            if events:
                with self._unless_removed(session, worktree):
                    self._enqueue(session, worktree, events)

    def _enqueue(
        self, session: Session, worktree: Worktree, reason: str, full: bool = False
    ) -> None:
        scope = FULL if full else self._scope(session, worktree)
        spool.note_taken(worktree)  # readers look there, not into the queue
        done = session.jobs(worktree).enqueue_refresh(scope, reason)
        self._log.write(
            "enqueue", root=worktree.root, job=done.job_id, outcome=done.outcome, why=reason
        )

    def _scope(self, session: Session, worktree: Worktree) -> RefreshScope:
        """Where the difference is now: a hint for the order of work, never a limit to it."""
        row = mapping.register(session.database, worktree.id, worktree.root)
        if row.tree is None:
            return FULL
        repository = session.repository(worktree)
        try:
            changed = repository.changes(row.tree, repository.head().tree)
            names = [os.fsdecode(path) for path, _ in changed]
            if len(names) <= MAX_SCOPE_PATHS:
                return RefreshScope(files=tuple(names))
            return RefreshScope(packages=tuple({name.partition("/")[0] for name in names}))
        except GitIndexError:
            return FULL  # the indexed tree was pruned, or no scope can hold a name like `c:x`

    def _run_queued(self, session: Session, request: RefreshRequest | None) -> bool:
        ran = False
        self._known = list(session.worktrees().values())
        for worktree in self._known:
            ours = request is not None and request.worktree.id == worktree.id
            force = ours and bool(request and request.force)
            with self._unless_removed(session, worktree):
                ran |= self._run_queued_of(session, worktree, force)
        return ran

    def _run_queued_of(self, session: Session, worktree: Worktree, force: bool) -> bool:
        ran = False
        jobs = session.jobs(worktree)
        while (job_id := jobs.next_queued()) is not None:
            self._run_job(session, worktree, jobs, job_id, force)
            ran = True
        if not jobs.has_work(Layer.SYNTACTIC):
            remove(worktree.taken)
            self._mend_status(worktree)
        return ran

    def _run_job(
        self,
        session: Session,
        worktree: Worktree,
        jobs: RefreshJobService,
        job_id: int,
        force: bool,
    ) -> None:
        kind = _kind(worktree, force)
        try:
            job = jobs.run_job(
                job_id,
                os.urandom(16).hex(),
                lambda job: self._refresh(session, worktree, job, kind),
            )
        finally:
            _quietly(remove, worktree.progress)
        assert job is not None, "only the holder of the lock claims"
        self._conclude(session, worktree, job)

    def _refresh(self, session: Session, worktree: Worktree, job: Job, kind: BuildKind) -> int:
        if is_newer(prove(worktree)):
            raise GitIndexError("the marker is of a newer gitindex: upgrade gitindex")
        public_files.ensure_folder(worktree)
        if kind is BuildKind.CREATE and not public_files.is_ours(worktree):
            raise GitIndexError(f"{LLMC} is tracked by git", f"`git rm -r --cached {LLMC}`")
        public_files.note_progress(worktree, kind, "starting", None)
        public_files.write_state(worktree, IndexState.REBUILDING)
        notes = _ProgressNotes(worktree, kind, self._report)
        refresher = Refresher(worktree, session, notes)
        assert job.run_id is not None
        return refresher.run(job.run_id, job.scope, force=kind is BuildKind.REINDEX)

    def _conclude(self, session: Session, worktree: Worktree, job: Job) -> None:
        self._log.write(
            "job",
            root=worktree.root,
            job=job.id,
            run=job.run_id,
            status=job.status,
            attempts=job.attempts,
            extracted=job.extracted,
            error=job.error,
            seconds=round((job.finished_at or time.time()) - (job.started_at or 0.0), 3),
        )
        if job.status is JobStatus.COMPLETED:
            remove(worktree.failure)
            return
        session.drop_lexical()
        if job.status is JobStatus.FAILED:
            message = job.error or "the refresh failed"
            self._note_failure(worktree, message, job.head_at_enqueue)
            self._failed = GitIndexError(message, "see `gitindex log`")
            self._given_up.add((worktree.id, job.head_at_enqueue))
        else:
            time.sleep(RETRY_SECONDS * job.attempts)

    def _note_failure(self, worktree: Worktree, message: str, commit: str | None) -> None:
        def note() -> None:
            public_files.note_failure(worktree, message, commit)
            if public_files.is_ours(worktree):
                public_files.write_state(worktree, IndexState.ERROR, message)

        _quietly(note)

    def _mend_status(self, worktree: Worktree) -> None:
        proof = prove(worktree)
        if proof.marker is not None and _status_lags(worktree):
            public_files.publish_status(worktree, proof.marker)

    def _notice_heads(self, session: Session) -> bool:
        """Enqueue worktrees whose HEAD moved without a hook, unless that very HEAD just failed."""
        noticed = False
        for worktree in session.worktrees().values():
            row = mapping.published(session.database, worktree.id)
            if row is None or row.tree is None:
                continue
            try:
                head = session.repository(worktree).head()
            except GitIndexError as error:
                if worktree.id == self._anchor.id:
                    self._failed = error
                continue  # a broken worktree must not stop the others
            failure = read_failure(worktree)
            moved = (head.tree, head.commit) != (row.tree, row.head_commit)
            proof = prove(worktree)
            unproven = not proof.settled or proof.outcome not in (
                ProofOutcome.VALID,
                ProofOutcome.PROBE_FAILED,
            )
            given_up = (failure is not None and failure.commit in (head.commit, None)) or (
                (worktree.id, head.commit or head.tree) in self._given_up
            )
            if (moved or unproven) and not given_up and note_switch(worktree):
                self._enqueue(session, worktree, "HEAD moved" if moved else "proof missing")
                noticed = True
        return noticed

    def _wait_for_news(self, session: Session) -> bool:
        deadline = time.monotonic() + self._pace.linger
        while time.monotonic() < deadline:
            session.check_identity()
            if spool.waiting(self._anchor) or self._notice_heads(session):
                return True
            if any(map(_status_lags, session.worktrees().values())):
                return True
            time.sleep(POLL_SECONDS)
        return False

    def _anything_waiting(self) -> bool:
        """Looked at without the lock: events, queued jobs, and a status that a late hook renamed."""
        database = open_reader(self._anchor.database)
        if database is None:
            return False
        try:
            queued = anything_queued(database, Layer.SYNTACTIC)
        finally:
            database.close()
        return queued or bool(spool.waiting(self._anchor)) or any(map(_status_lags, self._known))


class _ProgressNotes:
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


def _status_lags(worktree: Worktree) -> bool:
    """The index is proven and nothing waits, but the public status says something else."""
    status = load_record(worktree.root)
    if status is not None and status.index_state is IndexState.FRESH:
        return False
    waits = os.path.exists(worktree.spool) or os.path.exists(worktree.taken)
    proof = prove(worktree)
    proven = proof.outcome is ProofOutcome.VALID and proof.settled
    return proven and not waits and read_failure(worktree) is None


def _kind(worktree: Worktree, force: bool) -> BuildKind:
    if force:
        return BuildKind.REINDEX
    proven = prove(worktree).outcome is ProofOutcome.VALID
    return BuildKind.REFRESH if proven else BuildKind.CREATE


def _quietly(action: Callable[..., None], *args: object) -> None:
    """A note that cannot be written must not hide the failure it is about."""
    with contextlib.suppress(OSError, GitIndexError):
        action(*args)
