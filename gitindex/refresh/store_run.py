"""One stretch of work under the runner lock: events, queued jobs and moved HEADs of every worktree."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from gitindex.base.atomic_file import remove
from gitindex.base.errors import GitIndexError
from gitindex.base.worktree import Worktree
from gitindex.git.hook_switch import note_switch
from gitindex.refresh import public_files, spool
from gitindex.refresh.log import Log
from gitindex.refresh.queue import supersede_lost
from gitindex.refresh.session import Session
from gitindex.refresh.spool import Pace
from gitindex.refresh.worktree_writer import (
    Failures,
    Report,
    WorktreeWriter,
    quietly,
    status_lags,
)

POLL_SECONDS = 0.05


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

    def recover(self, asked: Worktree | None = None) -> None:
        """Take over what a dead runner left half-way, in every worktree."""
        for writer in self._writers():
            with self._unless_removed(writer.worktree):
                if asked is None or asked.id != writer.worktree.id:
                    quietly(
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
            if spool.is_settling(worktree, self._pace):
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
        """Watch spool, HEADs and status files for the linger, and as long as a worktree settles
        or a commit is under way whose end no event will tell. Proofs are read first and last only."""
        deadline, whole = time.monotonic() + self._pace.linger, True
        while True:
            self._session.check_identity()
            committing = bool(self._pace.linger) and self._committing.any_left()
            settling = [self._is_settling(name) for name in spool.waiting(self._anchor)]
            writers = self._writers()
            if not all(settling) or self._notice_heads(writers, whole):
                return True
            if any(status_lags(writer.worktree) for writer in writers):
                return True
            if committing:
                deadline = time.monotonic() + self._pace.linger
            elif not settling and time.monotonic() >= deadline:
                if whole:
                    return False
                whole = True
                continue
            whole = False
            time.sleep(POLL_SECONDS)

    def _is_settling(self, name: str) -> bool:
        worktree = self._session.locate(name)
        return worktree is not None and spool.is_settling(worktree, self._pace)
