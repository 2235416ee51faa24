"""The refresh queue, the one module that writes a job's status: SQLite decides every race. And
RefreshScope, where a refresh looks first: a lattice in which FULL and EMPTY are values of their own.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError, NotIndexed, StoreError, shortage
from gitindex.base.vocabulary import FailureReason, JobStatus, Layer
from gitindex.base.worktree import Worktree, find_worktree, normalize_rel_path
from gitindex.git.interface import Head
from gitindex.store import mapping
from gitindex.store.connection import Database, open_reader, open_writer


class _Fields(NamedTuple):  # not a dataclass: a runner that a hook starts cannot afford the import
    files: tuple[str, ...]
    packages: tuple[str, ...]
    changed_since: float | None
    full: bool


class RefreshScope(_Fields):
    """Files, path prefixes and a time, OR-ed. Always in canonical form, so equal means equal."""

    __slots__ = ()

    def __new__(
        cls,
        files: Iterable[str] = (),
        packages: Iterable[str] = (),
        changed_since: float | None = None,
        full: bool = False,
    ) -> RefreshScope:
        outermost = _outermost(_paths(packages))
        named = _paths(files)
        if changed_since is not None and math.isnan(changed_since):
            raise ValueError("changed_since is not a time")
        if full or "" in outermost or "" in named:
            return super().__new__(cls, (), (), None, True)
        roots = set(outermost)
        kept = tuple(sorted(name for name in named if not _under(name, roots)))
        return super().__new__(cls, kept, outermost, changed_since, False)

    def covers(self, other: RefreshScope | None) -> bool:
        """Does this scope select all that the other selects? None is FULL."""
        return merge_scopes(self, other) == self

    def to_json(self) -> str:
        """The stored form."""
        if self.full:
            return '{"full":true}'
        fields: dict[str, Any] = {}
        if self.files:
            fields["files"] = self.files
        if self.packages:
            fields["packages"] = self.packages
        if self.changed_since is not None:
            fields["changed_since"] = self.changed_since
        return json.dumps(fields, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | None) -> RefreshScope:
        """Parse a stored form. None, and what cannot be understood, is FULL: it must hide nothing."""
        if text is None:
            return FULL
        try:
            return cls(**_understand(json.loads(text)))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError, GitIndexError):
            return FULL


def merge_scopes(a: RefreshScope | None, b: RefreshScope | None) -> RefreshScope:
    """Return the least scope that covers both. None is FULL, as in seed 001."""
    a, b = scope_or_full(a), scope_or_full(b)
    times = [t for t in (a.changed_since, b.changed_since) if t is not None]
    return RefreshScope(
        a.files + b.files, a.packages + b.packages, min(times, default=None), a.full or b.full
    )


def scope_or_full(scope: RefreshScope | None) -> RefreshScope:
    """Return the scope; FULL for None."""
    return FULL if scope is None else scope


def resolve_scope(
    scope: RefreshScope | None, paths: Iterable[str], changed_at: Callable[[str], float | None]
) -> set[str]:
    """Those of `paths` that the scope selects now; `changed_at` is asked only if a time is given."""
    if scope is None or scope.full:
        return set(paths)
    files, packages, since = set(scope.files), set(scope.packages), scope.changed_since
    return {
        path
        for path in paths
        if path in files
        or _under(path, packages)
        or (since is not None and _is_after(changed_at(path), since))
    }


def _understand(fields: Any) -> dict[str, Any]:
    """The fields of a stored form, each of its type; anything else raises."""
    if not isinstance(fields, dict):
        raise TypeError("not a scope")
    if fields.get("full") is True:
        return {"full": True}
    given = {name: value for name, value in fields.items() if value is not None}
    if fields and not given:
        raise ValueError("no field says anything")
    if unknown := fields.keys() - _READERS.keys():
        raise KeyError(*unknown)
    return {name: _READERS[name](value) for name, value in given.items()}


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError("texts expected")
    return tuple(value)


def _time(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError("a time expected")
    return float(value)


_READERS: dict[str, Callable[[Any], Any]] = {
    "files": _texts,
    "packages": _texts,
    "changed_since": _time,
}


def _is_after(changed: float | None, since: float) -> bool:
    return changed is not None and changed >= since


def _paths(names: Iterable[str] | None) -> set[str]:
    if isinstance(names, str):
        raise TypeError("files and packages are collections of paths, not one text")
    return {normalize_rel_path(name) for name in names or ()}


def _outermost(packages: set[str]) -> tuple[str, ...]:
    kept: set[str] = set()
    for package in sorted(packages, key=lambda name: name.count("/")):
        if not _under(package, kept):
            kept.add(package)
    return tuple(sorted(kept))


def _under(path: str, packages: set[str]) -> bool:
    """Is the path one of the packages, or inside one? Looks at whole segments only."""
    if not packages:
        return False
    at = len(path)
    while at > 0:
        if path[:at] in packages:
            return True
        at = path.rfind("/", 0, at)
    return "" in packages


FULL = RefreshScope(full=True)
EMPTY = RefreshScope()


MAX_ATTEMPTS = 3
"""A job that kills its runner so often is given up: a crash that comes back is not the machine's."""
KEEP_ENDED = 200
"""Ended jobs of a worktree that `gitindex jobs` can show: a day of commits, 40 kB of the store."""
FORCED = "reindex"
"""First word of the reason of a forced refresh: the queue remembers by it what was asked for."""
SYNTACTIC = 0
"""Context id of the lexical and syntactic refresh."""
_OF_LAYER = {
    None: "1",
    Layer.SYNTACTIC: f"context_id={SYNTACTIC}",
    Layer.SEMANTIC: f"context_id<>{SYNTACTIC}",
}

_COLUMNS = (
    "id, worktree_id, context_id, status, scope, trigger_reason, head_at_enqueue, created_at,"
    " started_at, finished_at, superseded_reason, error, failure_reason, run_id, attempts,"
    " extracted"
)


class EnqueueOutcome(StrEnum):
    """What became of a request."""

    CREATED = "created"  # nothing was queued before, or HEAD moved on
    WIDENED = "widened"  # the queued job covers it now
    COVERED = "covered"  # the queued job covered it already
    FOLLOW_UP = "follow_up"  # one runs; another waits behind it


class Enqueued(NamedTuple):
    """The answer to a request for a refresh."""

    outcome: EnqueueOutcome
    job_id: int


class Job(NamedTuple):
    """One row of the queue."""

    id: int
    worktree_id: int
    context_id: int
    status: JobStatus
    scope: RefreshScope
    trigger_reason: str
    head_at_enqueue: str
    created_at: float
    started_at: float | None
    finished_at: float | None
    superseded_reason: str | None
    error: str | None
    failure_reason: FailureReason | None
    run_id: str | None
    attempts: int
    extracted: int


class LostJob(Exception):
    """A fenced update found that the job is no longer ours."""


class RefreshJobService:
    """The queue of one worktree. HEAD is read inside the transaction that decides."""

    def __init__(self, database: Database, worktree_id: int, read_head: Callable[[], Head]) -> None:
        self._db = database
        self._worktree = worktree_id
        self._read_head = read_head

    @classmethod
    def open(cls, root: str) -> RefreshJobService:
        """Return the queue of the worktree around a folder; NotIndexed if it has no index."""
        from gitindex.git.backend import open_repository  # lazily: the runner has its own

        worktree = find_worktree(root)
        if not os.path.exists(worktree.database):
            raise NotIndexed
        database = open_writer(worktree.database)
        row = mapping.register(database, worktree.id, worktree.root)
        return cls(database, row.worktree_id, open_repository(worktree).head)

    def enqueue_refresh(
        self, scope: RefreshScope | None, reason: str, context_id: int = SYNTACTIC
    ) -> Enqueued:
        """Ask for a refresh; None is FULL. A running job is never coverage; only a moved HEAD supersedes."""
        scope = scope_or_full(scope)
        with self._db.write():
            head = _head_id(self._read_head())
            queued = self._one(JobStatus.QUEUED, context_id)
            running = self._one(JobStatus.RUNNING, context_id)
            if queued is not None and queued.head_at_enqueue == head:
                return self._widen(queued, scope)
            unfinished = [job.scope for job in (queued, running) if job is not None]
            if queued is not None:
                if is_forced(queued.trigger_reason):
                    reason = f"{queued.trigger_reason}, {reason}"
                self._supersede(queued, f"HEAD moved to {head}")
                for other in unfinished:
                    scope = merge_scopes(scope, other)
            outcome = EnqueueOutcome.FOLLOW_UP if running else EnqueueOutcome.CREATED
            return Enqueued(outcome, self._insert(context_id, scope, reason, head))

    def next_queued(self, context_id: int = SYNTACTIC) -> int | None:
        """Id of the job that waits, if one does."""
        queued = self._one(JobStatus.QUEUED, context_id)
        return queued.id if queued else None

    def claim(self, run_id: str, job_id: int) -> Job | None:
        """Take this job if it is queued and none of its context runs. Atomic."""
        with self._db.write():
            job = self._get(job_id)
            if job is None or job.status is not JobStatus.QUEUED:
                return None
            if self._one(JobStatus.RUNNING, job.context_id) is not None:
                return None
            self._move(
                job.id,
                JobStatus.QUEUED,
                JobStatus.RUNNING,
                None,
                started_at=time.time(),
                run_id=run_id,
                attempts=job.attempts + 1,
            )
            return self._get(job.id)

    def run_job(self, job_id: int, run_id: str, work: Callable[[Job], int]) -> Job | None:
        """Claim a queued job, run it, and set its result: completed, queued again, or failed.

        `work` returns how many blobs it extracted. None: the job was not there to claim.
        """
        job = self.claim(run_id, job_id)
        if job is None:
            return None
        try:
            extracted = work(job)
        except (GitIndexError, OSError) as error:
            self.fail(job, FailureReason.IO_ERROR, error_message(error))
        except (MemoryError, RuntimeError) as error:
            short = shortage(error)
            if short is None:
                raise
            self.fail(job, FailureReason.IO_ERROR, short.message)
        else:
            self.complete(job, extracted)
        return self._get(job_id)

    def complete(self, job: Job, extracted: int) -> None:
        """The job's marker is written. LostJob if it is no longer ours."""
        with self._db.write():
            self._end(job, JobStatus.COMPLETED, extracted=extracted)

    def supersede(self, job: Job, why: str) -> None:
        """End a job whose result is useless because HEAD moved while it ran."""
        with self._db.write():
            self._end(job, JobStatus.SUPERSEDED, superseded_reason=why)

    def fail(self, job: Job, reason: FailureReason, error: str, final: bool = False) -> bool:
        """Queue the job for another attempt; returns True if it was the last and the job has failed."""
        with self._db.write():
            if job.attempts < MAX_ATTEMPTS and not final:
                self._give_back(job, error)
                return False
            self._end(job, JobStatus.FAILED, failure_reason=reason, error=error)
            return True

    def take_over_orphans(self, layer: Layer | None = None, ended: bool = False) -> list[Job]:
        """Queue the jobs of dead runners again; returns those that have used up their attempts.

        Only the holder of the layer's lock calls this: then no live runner owns a running row of it.
        `ended`: somebody took the job over from a live runner, which is no failed attempt.
        """
        given_up: list[Job] = []
        running = f"status='running' AND {_OF_LAYER[layer]} ORDER BY id"
        if not self._select(running):
            return given_up  # a transaction changes the file, even an empty one
        with self._db.write():
            for job in self._select(running):
                if ended:
                    self._give_back(job, "it was taken over", attempts=job.attempts - 1)
                elif job.attempts < MAX_ATTEMPTS:
                    self._give_back(job, "its runner died")
                else:
                    error = f"its runner died {job.attempts} times"
                    reason = FailureReason.TOOL_CRASHED
                    self._end(job, JobStatus.FAILED, failure_reason=reason, error=error)
                    given_up.append(job)
        return given_up

    def get_job_status(self, job_id: int) -> Job | None:
        """One job as it is now."""
        return self._get(job_id)

    def has_work(self, layer: Layer | None = None) -> bool:
        """Is anything queued or running?"""
        return bool(self._select(f"status IN ('queued', 'running') AND {_OF_LAYER[layer]} LIMIT 1"))

    def queued(self, layer: Layer) -> list[Job]:
        """Jobs of a layer that wait, the oldest first."""
        return self._select(f"status='queued' AND {_OF_LAYER[layer]} ORDER BY id")

    def history(self, limit: int = 20) -> list[Job]:
        """The latest jobs, newest first."""
        return self._select(f"1 ORDER BY id DESC LIMIT {int(limit)}")

    def _widen(self, queued: Job, scope: RefreshScope) -> Enqueued:
        merged = merge_scopes(queued.scope, scope)
        if merged == queued.scope:
            return Enqueued(EnqueueOutcome.COVERED, queued.id)
        self._move(queued.id, JobStatus.QUEUED, JobStatus.QUEUED, None, scope=merged.to_json())
        return Enqueued(EnqueueOutcome.WIDENED, queued.id)

    def _give_back(self, job: Job, error: str, **fields: int) -> None:
        follow_up = self._one(JobStatus.QUEUED, job.context_id)
        if follow_up is None:
            fresh = {"run_id": None, "error": error, **fields}
            self._move(job.id, JobStatus.RUNNING, JobStatus.QUEUED, job.run_id, **fresh)
            return
        self._widen(follow_up, job.scope)
        self._end(
            job, JobStatus.SUPERSEDED, superseded_reason=f"merged into {follow_up.id}: {error}"
        )

    def _end(self, job: Job, status: JobStatus, **fields: object) -> None:
        self._move(job.id, JobStatus.RUNNING, status, job.run_id, finished_at=time.time(), **fields)
        self._prune()

    def _supersede(self, queued: Job, why: str) -> None:
        self._move(
            queued.id,
            JobStatus.QUEUED,
            JobStatus.SUPERSEDED,
            None,
            finished_at=time.time(),
            superseded_reason=why,
        )
        self._prune()

    def _move(
        self, job_id: int, old: JobStatus, new: JobStatus, owner: str | None, **fields: object
    ) -> None:
        """The one UPDATE of the queue: fenced by status and run id, its row count checked."""
        assigned = "".join(f", {name}=?" for name in fields)
        changed = self._db.run(
            f"UPDATE refresh_jobs SET status=?{assigned} WHERE id=? AND status=? AND run_id IS ?",
            new,
            *fields.values(),
            job_id,
            old,
            owner,
        )
        if changed != 1:
            raise LostJob(f"job {job_id} is no longer {old}")

    def _insert(self, context_id: int, scope: RefreshScope, reason: str, head: str) -> int:
        return self._db.insert(
            "INSERT INTO refresh_jobs (worktree_id, context_id, status, scope, trigger_reason,"
            " head_at_enqueue, created_at) VALUES (?,?,?,?,?,?,?)",
            self._worktree,
            context_id,
            JobStatus.QUEUED,
            scope.to_json(),
            reason,
            head,
            time.time(),
        )

    def _one(self, status: JobStatus, context_id: int) -> Job | None:
        jobs = self._select("status=? AND context_id=?", status, context_id)
        return jobs[0] if jobs else None

    def _get(self, job_id: int) -> Job | None:
        jobs = self._select("id=?", job_id)
        return jobs[0] if jobs else None

    def _select(self, where: str, *values: object) -> list[Job]:
        sql = f"SELECT {_COLUMNS} FROM refresh_jobs WHERE worktree_id=? AND {where}"
        return [_job(row) for row in self._db.rows(sql, self._worktree, *values)]

    def _prune(self) -> None:
        self._db.run(
            "DELETE FROM refresh_jobs WHERE worktree_id=? AND finished_at IS NOT NULL AND id <"
            " (SELECT id FROM refresh_jobs WHERE worktree_id=? AND finished_at IS NOT NULL"
            " ORDER BY id DESC LIMIT 1 OFFSET ?)",
            self._worktree,
            self._worktree,
            KEEP_ENDED - 1,
        )


def is_forced(reason: str) -> bool:
    """Was everything to be extracted again? A runner that takes the job over does so too."""
    return reason == FORCED or reason.startswith((f"{FORCED}-", f"{FORCED},"))


def anything_queued(database: Database, layer: Layer) -> bool:
    """Does a job of any worktree wait?"""
    where = f"status='queued' AND {_OF_LAYER[layer]}"
    return database.row(f"SELECT 1 FROM refresh_jobs WHERE {where} LIMIT 1") is not None


def unfinished(database: Database) -> list[str]:
    """Names of the worktrees that have a job queued or running, of any layer."""
    rows = database.rows(
        "SELECT DISTINCT w.name FROM refresh_jobs j JOIN worktrees w ON w.id = j.worktree_id"
        " WHERE j.status IN ('queued', 'running')"
    )
    return [os.fsdecode(name) for (name,) in rows]


def supersede_lost(database: Database, name: str) -> None:
    """End every job of a worktree that is gone: nobody could do them. `gc` drops its mapping."""
    row = mapping.published(database, name)
    if row is not None:
        with database.write():
            database.run(
                "UPDATE refresh_jobs SET status='superseded', finished_at=?, superseded_reason=?"
                " WHERE worktree_id=? AND status IN ('queued', 'running')",
                time.time(),
                "the worktree is gone",
                row.worktree_id,
            )


def error_message(error: GitIndexError | OSError) -> str:
    """What an error says, without its hint."""
    if isinstance(error, GitIndexError):
        return error.message
    where = f": {error.filename}" if error.filename else ""
    return f"{error.strerror or error}{where}"


def _head_id(head: Head) -> str:
    return head.commit or head.tree


def _job(row: tuple[object, ...]) -> Job:
    job = Job(*row)  # type: ignore[arg-type]
    return job._replace(
        status=JobStatus(job.status),
        scope=RefreshScope.from_json(str(job.scope)),
        failure_reason=FailureReason(job.failure_reason) if job.failure_reason else None,
    )


def read_history(worktree: Worktree, limit: int) -> list[Job] | None:
    """The newest jobs of a worktree, read only; None where there is no store."""
    database = open_reader(worktree.database)
    if database is None:
        return None
    try:
        row = mapping.published(database, worktree.id)
        return RefreshJobService(database, row.worktree_id, _no_head).history(limit) if row else []
    finally:
        database.close()


def _no_head() -> Head:
    raise StoreError("history needs no HEAD")
