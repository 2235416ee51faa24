"""The runner: one per store while there is work, then gone. Spool → queue → refresh → proof."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import NamedTuple

from gitindex.base.atomic_file import remove
from gitindex.base.errors import GitIndexError, StoreError, StoreReplaced
from gitindex.base.runner_lock import RunnerLock, advertised
from gitindex.base.vocabulary import EditScope, IndexState, Layer
from gitindex.base.worktree import BUILDING, Worktree
from gitindex.freshness.marker import read_stamp
from gitindex.freshness.status_file import read_pack_note
from gitindex.git.settings import note_switch
from gitindex.git.worktree_probe import read_head_state
from gitindex.refresh import public_files, spool
from gitindex.refresh.detached import drain_outbox
from gitindex.refresh.log import Log
from gitindex.refresh.queue import anything_queued, error_message, supersede_lost
from gitindex.refresh.session import (
    Session,
    forget_notes,
    repair_corruption,
    wipe_if_corrupt,
)
from gitindex.refresh.spool import IMMEDIATE, Pace
from gitindex.refresh.worktree_writer import (
    Failures,
    Report,
    WorktreeWriter,
    ignore_errors,
    status_lags,
)
from gitindex.store.blobs import scopes_are_due
from gitindex.store.checksums import CheckLevel
from gitindex.store.connection import open_reader
from gitindex.store.scrub import QUICK_BYTES, schedule_full_scrub, size_of_store

POLL_SECONDS = 0.05
"""Between two checks of spool and HEADs while a runner lingers, which is a second."""


class StoreRun:
    """Serves all worktrees of one store, one after the other. The caller holds the runner lock."""

    def __init__(
        self, anchor: Worktree, session: Session, pace: Pace, report: Report, failures: Failures
    ) -> None:
        self.worktrees: list[Worktree] = []
        """Those that were there when jobs were last run."""
        self._anchor = anchor
        self._session = session
        self._pace = pace
        self._report = report
        self._failures = failures
        self._log = Log(anchor.store)
        self._committing = spool.Committing()

    def recover(self, requested: Worktree | None = None) -> None:
        """Take over what a dead runner left half-way, in every worktree."""
        for writer in self._writers():
            with self._unless_removed(writer.worktree):
                if requested is None or requested.id != writer.worktree.id:
                    ignore_errors(
                        public_files.end_progress, writer.worktree
                    )  # else it is the note of the process that asks
                writer.recover()

    def note_request(self, worktree: Worktree, reason: str) -> None:
        """Put a forced refresh into the queue: whoever takes over after a death forces it, too."""
        self._writer(worktree).enqueue(reason, full=True)

    def serve_request(self, worktree: Worktree, reason: str, force: bool) -> None:
        """Run the refresh that a person asked for, before anything else."""
        self._writer(worktree).enqueue(reason, full=force)
        self._run_queued(forced=worktree.id if force else None)

    def serve_events(self) -> None:
        """Work until no event, no job and no moved HEAD is left, and for the linger none comes."""
        while True:
            self._session.check_identity()
            self._take_events()
            if not self._run_queued() and not self._wait_for_news():
                return

    def _writer(self, worktree: Worktree) -> WorktreeWriter:
        return WorktreeWriter(worktree, self._session, self._log, self._report, self._failures)

    def _writers(self) -> list[WorktreeWriter]:
        return [self._writer(worktree) for worktree in self._session.worktrees().values()]

    @contextlib.contextmanager
    def _unless_removed(self, worktree: Worktree) -> Iterator[None]:
        """A linked worktree that is removed while we work on it must not stop the others."""
        try:
            yield
        except (GitIndexError, OSError):
            if worktree.id == self._anchor.id or self._session.locate(worktree.id) is not None:
                raise
            self._forget(worktree.id)

    def _forget(self, name: str) -> None:
        """End the jobs of a worktree that is gone, so that nobody waits for them."""
        for folder in ("spool", "taken", "progress", "failure", "published"):
            remove(os.path.join(self._anchor.store, folder, name))
        supersede_lost(self._session.database, name)

    def _take_events(self) -> None:
        for name in spool.waiting(self._anchor):
            worktree = self._session.locate(name)
            if worktree is None:
                self._forget(name)
                continue
            if spool.is_too_new(worktree, self._pace):
                continue
            if not note_switch(worktree):
                remove(worktree.spool)
                continue
            spool.wait_until_quiet(worktree, self._pace)
            events = spool.take_events(worktree)
            self._committing.add(events.committing)
            if events.summary:
                with self._unless_removed(worktree):
                    self._writer(worktree).enqueue(events.summary)

    def _run_queued(self, forced: str | None = None) -> bool:
        ran = False
        for name in self._session.lost_worktrees():
            self._forget(name)
        writers = self._writers()
        self.worktrees = [writer.worktree for writer in writers]
        for writer in writers:
            with self._unless_removed(writer.worktree):
                ran |= writer.run_queued(force=writer.worktree.id == forced)
        return ran

    def _notice_heads(self, writers: list[WorktreeWriter], whole: bool) -> bool:
        """Enqueue worktrees whose HEAD moved without a hook, unless that very HEAD just failed.

        `whole`: also those whose proof is gone.
        """
        noticed = False
        for writer in writers:
            try:
                reason = writer.why_refresh(whole)
            except GitIndexError as error:
                if writer.worktree.id == self._anchor.id:
                    self._failures.last = error
                continue  # a broken worktree must not stop the others
            if reason is not None and note_switch(writer.worktree):
                writer.enqueue(reason)
                noticed = True
        return noticed

    def _wait_for_news(self) -> bool:
        """Watch spool, HEADs and status files for the linger, and as long as a worktree is too new
        or a commit is under way whose end no event will tell. Proofs are read first and last only."""
        deadline, whole = time.monotonic() + self._pace.linger, True
        while True:
            self._session.check_identity()
            committing = bool(self._pace.linger) and self._committing.any_left()
            too_new = [self._is_too_new(name) for name in spool.waiting(self._anchor)]
            writers = self._writers()
            if not all(too_new) or self._notice_heads(writers, whole):
                return True
            if any(status_lags(writer.worktree) for writer in writers):
                return True
            if committing:
                deadline = time.monotonic() + self._pace.linger
            elif not too_new and time.monotonic() >= deadline:
                if whole:
                    return False
                whole = True
                continue
            whole = False
            time.sleep(POLL_SECONDS)

    def _is_too_new(self, name: str) -> bool:
        worktree = self._session.locate(name)
        return worktree is not None and spool.is_too_new(worktree, self._pace)


PAUSE_SECONDS = 0.1
"""Between two parts of idle work: others may take the lock."""


MAX_REBUILDS = 2
"""Of one runner: where a store is damaged as soon as it is written, another rebuild does not help."""


class RefreshRequest(NamedTuple):
    """A refresh asked for by a person, served before anything that is spooled."""

    worktree: Worktree
    reason: str
    force: bool = False


class Runner:
    """Takes the lock of one store and serves the events of all its worktrees."""

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
        self._lock = lock or RunnerLock(anchor.lock)
        self._failures = Failures()
        self._rebuilds = 0
        self.served: list[Worktree] = []
        """The worktrees that were there when jobs were last run."""

    def serve(self, request: RefreshRequest | None = None) -> bool:
        """Take the lock and work until nothing waits. False if another runner is at work already.

        The spool is read once more after the lock was given up: a hook that saw this runner alive
        appended its event before that.
        """
        served = False
        while self._lock.acquire():
            try:
                with advertised(self._anchor):
                    self._serve_locked(request)
            except StoreReplaced:
                return served
            except (GitIndexError, OSError) as error:
                self._tell(request, error)
                raise
            finally:
                self._lock.release()
            served, request = True, None
            if not (self._anything_waiting() or self._work_idly()):
                break
        if served and self._pace.linger > 0:
            drain_outbox(self.served)
        if self._failures.last is not None:
            raise self._failures.last
        return served

    def _work_idly(self) -> bool:
        """Derive scopes, then verify facts of packs, until other work arrives; True if it did.

        Only a runner that lingers does it: one that a person waits for leaves it to the next.
        """
        if self._pace.linger <= 0:
            return False
        late = scopes_are_due(self._anchor.database)
        imported = read_pack_note(self._anchor.store).imported > 0
        if not (late or imported):
            return False
        from gitindex.extract.pool import Extractor  # lazily: most runners have nothing to do
        from gitindex.refresh.idle_work import derive_part, verify_part

        with closing(Extractor()) as workers:
            if late:
                self._in_parts(partial(derive_part, self._anchor, workers))
            if imported:
                self._in_parts(partial(verify_part, self._anchor, workers))
        return self._anything_waiting()

    def _in_parts(self, do_part: Callable[[], bool]) -> None:
        """Work until nothing is left or other work arrives.

        The lock is given up after each part, so that nobody waits for it.
        """
        more = True
        while more and not self._anything_waiting() and self._lock.acquire():
            try:
                with advertised(self._anchor):
                    more = do_part()
            except StoreReplaced:
                more = False
            finally:
                self._lock.release()
            time.sleep(PAUSE_SECONDS)

    def _serve_locked(self, request: RefreshRequest | None) -> None:
        if os.path.lexists(os.path.join(self._anchor.store, BUILDING)):
            from gitindex.refresh.rebuild import finish_rebuild  # lazily: only `--force` needs it

            finish_rebuild(self._anchor)
        built = request is not None and request.force and self._build_anew(request)
        session = self._open_store(request)
        try:
            run = StoreRun(self._anchor, session, self._pace, self._report, self._failures)
            if request is None:
                run.recover()
            else:
                run.recover(requested=request.worktree)
                if not built:
                    run.serve_request(request.worktree, request.reason, request.force)
            run.serve_events()
            self.served = run.worktrees
        finally:
            session.close()
        wrong = repair_corruption(self._anchor, request is None and self._pace.linger > 0)
        self._rebuilds += bool(wrong)
        if self._rebuilds > MAX_REBUILDS:
            raise StoreError(f"what is written to the store is not kept: {wrong}", "check the disk")

    def _build_anew(self, request: RefreshRequest) -> bool:
        """Build a new store beside the old one and exchange them. False: extract in place instead.

        Of a store that is damaged nothing is kept.
        """
        from gitindex.refresh.rebuild import plan_rebuild, rebuild

        forget_notes(self._anchor)
        wipe_if_corrupt(self._anchor)
        session = self._open_store(request)
        try:
            run = StoreRun(self._anchor, session, self._pace, self._report, self._failures)
            run.recover(requested=request.worktree)
            run.note_request(request.worktree, request.reason)
            plan = plan_rebuild(session, request.worktree, request.reason)
        finally:
            session.close()
        return plan is not None and rebuild(plan, self._report)

    def _open_store(self, request: RefreshRequest | None) -> Session:
        """A person's request compares all bytes first; of a large store only if HEAD has not moved.

        Else the runner that follows compares them: nobody waits for that one.
        """
        if request is None:
            return Session(self._anchor, CheckLevel.STAT)
        if not request.force and size_of_store(self._anchor.store) > QUICK_BYTES:
            stamp = read_stamp(request.worktree.stamp)
            head = read_head_state(request.worktree, EditScope.NONE)
            if stamp is not None and stamp.runs[0].commit != head.commit:
                schedule_full_scrub(self._anchor.store)
                return Session(self._anchor, CheckLevel.STAT)
        return Session(self._anchor, CheckLevel.FULL)

    def _tell(self, request: RefreshRequest | None, error: GitIndexError | OSError) -> None:
        """The public status says what failed before any job could: the store, or HEAD itself."""
        worktree = request.worktree if request else self._anchor
        make = request is not None  # else the repository may be being removed
        ignore_errors(public_files.note_failure, worktree, error_message(error), None)
        ignore_errors(
            public_files.write_state, worktree, IndexState.ERROR, error_message(error), make
        )

    def _anything_waiting(self) -> bool:
        """Without the lock: are there events, queued jobs, or a status that a late hook renamed?"""
        database = open_reader(self._anchor.database)
        if database is None:
            return bool(spool.waiting(self._anchor))  # a damaged store was wiped
        try:
            queued = anything_queued(database, Layer.SYNTACTIC)
        finally:
            database.close()
        return queued or bool(spool.waiting(self._anchor)) or any(map(status_lags, self.served))
