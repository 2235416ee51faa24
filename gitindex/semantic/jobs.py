"""Semantic jobs: chooses contexts with an indexer, runs them one by one, and reports the results.

They are separate from the refresh: their own queue rows, lock and schedule. A job that fails does
not affect the lexical and the syntactic layer.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.runner_lock import RunnerLock, is_held
from gitindex.base.system import become_background
from gitindex.base.vocabulary import FailureReason, IndexState, Layer
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.freshness.observation import observe
from gitindex.freshness.verdict import judge
from gitindex.git.backend import open_repository
from gitindex.git.interface import Repository
from gitindex.refresh.background import MEMORY_BYTES
from gitindex.refresh.log import Log
from gitindex.refresh.queue import FULL, Job, RefreshJobService, RefreshScope, resolve_scope
from gitindex.refresh.run import refresh_now
from gitindex.refresh.runner import RefreshRequest
from gitindex.semantic.contexts.router import LiveContexts
from gitindex.semantic.scip.job import (
    ContextFiles,
    Failed,
    HeadMoved,
    SemanticJob,
    SemanticJobResult,
    contexts_at,
)
from gitindex.semantic.scip.schema import messages
from gitindex.semantic.scip.tools import (
    Indexer,
    is_allowed_on_commit,
    locate,
    read_trust,
    require_trust,
    tool_env,
    tool_for,
)
from gitindex.store import mapping, semantic
from gitindex.store.connection import Database, open_writer
from gitindex.view.tree import TreeView, open_tree

ROUNDS = 3
"""How often one call starts again because HEAD moved."""

INDEX_SECONDS = 10.0  # for the syntactic index of a HEAD that has just moved
POLL_SECONDS = 0.05  # between two looks at a job that another process runs

Report = Callable[[str, float | None], None]


class SemanticRequest(NamedTuple):
    """Which contexts to index, and the time limit."""

    names: tuple[str, ...] = ()  # context names; empty: all whose indexer is installed
    scope: RefreshScope = FULL
    seconds: float | None = None  # time limit of one run; None: the tool's own


class Outcome(NamedTuple):
    """The result of one job."""

    context: str
    job: Job
    done: SemanticJobResult | None


def switch(worktree: Worktree, name: str, enabled: bool) -> None:
    """Switch a context of HEAD's tree on or off, for all worktrees of the repository."""
    with _Session(worktree, None, lambda _phase, _percent: None) as session:
        session.switch(name, enabled)


def run(worktree: Worktree, request: SemanticRequest, report: Report) -> list[Outcome]:
    """Enqueue a job per context and run them; a call that is already running may take them over."""
    require_trust(worktree)
    messages()  # check for protobuf before an indexer spends an hour
    _bring_to_head(worktree, report)
    with _Session(worktree, request.seconds, report) as session:
        jobs = session.enqueue(request)
        ended = {outcome.context: outcome for outcome in session.work()}
        return [ended.get(name) or session.outcome(name, job) for name, job in jobs.items()]


class _Session:
    """An open store and repository, and the queue of one worktree."""

    def __init__(self, worktree: Worktree, seconds: float | None, report: Report) -> None:
        if not os.path.exists(worktree.database):
            raise GitIndexError("not indexed", "run `gitindex index`", Exit.GATED)
        self._worktree = worktree
        self._seconds = seconds
        self._report = report
        self._log = Log(worktree.store)
        self._lock = RunnerLock(os.path.join(worktree.store, f"semantic.{worktree.id}.lock"))
        self._db: Database = open_writer(worktree.database)
        self._repo: Repository = open_repository(worktree)
        row = mapping.register(self._db, worktree.id, worktree.root)
        self._worktree_id = row.worktree_id
        self._moves: Counter[int] = Counter()
        self._jobs = RefreshJobService(self._db, row.worktree_id, self._repo.head)

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        self._repo.close()
        self._db.close()

    def enqueue(self, request: SemanticRequest) -> dict[str, int]:
        """Enqueue a job for every requested context; return job ids by context name."""
        self._require_index(0.0)
        chosen = self._choose(contexts_at(self._repo, self._repo.head().tree), request)
        found = {}
        for name, members in chosen.items():
            context_id = self._context_id(members)
            done = self._jobs.enqueue_refresh(request.scope, "semantic run", context_id)
            found[name] = done.job_id
        return found

    def switch(self, name: str, enabled: bool) -> None:
        """Switch a context on or off; a usage error if HEAD has no context of that name."""
        contexts = contexts_at(self._repo, self._repo.head().tree)
        if name not in contexts:
            known = ", ".join(sorted(contexts)) or "there are none"
            raise GitIndexError(f"no context {name}", f"one of: {known}", Exit.USAGE)
        semantic.switch_context(self._db, self._context_id(contexts[name]), enabled)

    def work(self) -> list[Outcome]:
        """Run the queued jobs, then check the queue again after releasing the lock."""
        ended = []
        while self._jobs.queued(Layer.SEMANTIC) and self._lock.acquire():
            try:
                self._jobs.take_over_orphans(Layer.SEMANTIC)
                while queued := self._jobs.queued(Layer.SEMANTIC):
                    ended.append(self._run(queued[0]))
            finally:
                self._lock.release()
        return ended

    def outcome(self, name: str, job_id: int) -> Outcome:
        """Return the outcome of a job that this call did not finish itself."""
        job = self._jobs.get_job_status(job_id)
        assert job is not None
        return Outcome(name, job, None)

    def _run(self, queued: Job) -> Outcome:
        job = self._jobs.claim(os.urandom(16).hex(), queued.id)
        assert job is not None, "only the holder of the lock claims"
        name = semantic.context_name(self._db, job.context_id)
        done: SemanticJobResult | None = None
        try:
            self._require_index(INDEX_SECONDS)
            runner = SemanticJob(self._worktree, self._db, self._repo, self._report)
            done = runner.run(self._worktree_id, job.context_id, name, job.scope, self._seconds)
        except HeadMoved:
            self._jobs.supersede(job, f"HEAD moved to {self._repo.head().commit}")
            self._moves[job.context_id] += 1
            if self._moves[job.context_id] < ROUNDS:
                self._jobs.enqueue_refresh(job.scope, "HEAD moved", job.context_id)
        except Failed as failure:
            self._jobs.fail(job, failure.reason, str(failure), final=True)
        except (GitIndexError, OSError) as error:
            self._jobs.fail(job, FailureReason.IO_ERROR, str(error), final=True)
        except BaseException:
            self._jobs.fail(job, FailureReason.INTERNAL_ERROR, "it was stopped", final=True)
            raise
        else:
            self._jobs.complete(job, done.changed)
        outcome = self.outcome(name, job.id)._replace(done=done)
        self._log.write(
            "semantic",
            root=self._worktree.root,
            job=job.id,
            context=name,
            status=outcome.job.status,
            error=outcome.job.error,
        )
        return outcome

    def _choose(
        self, contexts: dict[str, ContextFiles], request: SemanticRequest
    ) -> dict[str, ContextFiles]:
        able = {name: m for name, m in contexts.items() if m.files and tool_for(m.context)}
        off = semantic.switched_off(self._db.rows)
        _refuse_names(request.names, able, off)
        chosen = {
            name: able[name]
            for name in request.names or sorted(able.keys() - off)
            if request.names or self._is_served(able[name])
        }
        if request.scope != FULL:
            chosen = {n: m for n, m in chosen.items() if _touches(request.scope, m)}
        if not chosen:
            raise GitIndexError(
                "no installed indexer reads this tree", "see `gitindex semantic list`"
            )
        return chosen

    def _is_served(self, members: ContextFiles) -> bool:
        """Is or was its indexer installed? If it was, its absence is reported as a failure."""
        tool = tool_for(members.context)
        assert tool is not None
        return _program(tool, self._worktree) is not None or bool(
            semantic.known_tool(self._db, members.context.name)
        )

    def _context_id(self, members: ContextFiles) -> int:
        context = members.context
        return semantic.context_row(
            self._db, context.name, context.family, os.fsencode(context.root)
        )

    def _require_index(self, seconds: float) -> None:
        """Wait until the published tree is HEAD's: a hook's runner may be publishing it now."""
        deadline = time.monotonic() + seconds
        while True:
            row = mapping.published(self._db, self._worktree.id)
            if row is not None and row.tree == self._repo.head().tree:
                return
            if time.monotonic() > deadline:
                raise GitIndexError("the index is not at HEAD", "run `gitindex index`", Exit.GATED)
            time.sleep(POLL_SECONDS)


def _refuse_names(names: Collection[str], able: Collection[str], off: Collection[str]) -> None:
    """Raise if a name is that of no context with an indexer, or of one that is switched off."""
    for name in names:
        if name not in able:
            hint = "one of: " + ", ".join(sorted(able)) if able else "see `gitindex contexts`"
            raise GitIndexError(f"no context for an indexer: {name}", hint, Exit.USAGE)
    for name in names:
        if name in off:
            hint = f"`gitindex contexts --on {name}`"
            raise GitIndexError(f"{name} is switched off", hint, Exit.GATED)


def _bring_to_head(worktree: Worktree, report: Report) -> None:
    """Refresh an index that is behind HEAD: without hooks nothing else does."""
    if os.path.exists(worktree.database) and judge(observe(worktree)).state is not IndexState.FRESH:
        refresh_now(RefreshRequest(worktree, "semantic run"), report)


def list_indexers(view: TreeView) -> dict[str, Any]:
    """Return every context with its indexer: whether it is installed and whether it may run."""
    trust = read_trust(view.worktree)
    listed = [
        {
            "context": name,
            "files": len(paths),
            "tool": tool.program,
            "installed": installed,
            "install": tool.install,
            "experimental": tool.experimental,
            "enabled": enabled,
        }
        for name, paths, tool, installed, enabled in _readable(view)
    ]
    return view.envelope(enabled=trust.allowed, why=trust.why, indexers=listed)


def show_status(view: TreeView) -> dict[str, Any]:
    """Return every context that an indexer could read, with its last job and its coverage."""
    coverage = semantic.coverage(view.rows)
    listed = [
        {
            "context": name,
            "files": len(paths),
            "current": len(coverage.current.intersection(map(os.fsencode, paths))),
            "stale": len(coverage.stale.intersection(map(os.fsencode, paths))),
            "usable": enabled and installed,
            "lastJob": _last_job(view, name),
        }
        for name, paths, _tool, installed, enabled in _readable(view)
    ]
    return view.envelope(contexts=listed)


def _readable(view: TreeView) -> Iterator[tuple[str, list[str], Indexer, bool, bool]]:
    """Yield contexts with files that an indexer reads: is it installed, is the context on?"""
    live, off = LiveContexts(view), semantic.switched_off(view.rows)
    for context, paths in live.router.members(live.tree).items():
        tool = tool_for(context)
        if tool is not None and paths:
            installed = _program(tool, view.worktree) is not None
            yield context.name, paths, tool, installed, context.name not in off


def _last_job(view: TreeView, name: str) -> dict[str, Any] | None:
    rows = view.rows(
        "SELECT j.id, j.status, j.failure_reason, j.error, j.superseded_reason, j.head_at_enqueue,"
        " j.finished_at, c.tool_version FROM refresh_jobs j JOIN contexts c ON c.id=j.context_id"
        " WHERE c.name=? AND j.worktree_id=? ORDER BY j.id DESC LIMIT 1",
        name,
        view.served.published.worktree_id,
    )
    if not rows:
        return None
    names = ("id", "status", "reason", "error", "superseded", "commit", "finishedAt", "toolVersion")
    return dict(zip(names, rows[0], strict=True))


def _touches(scope: RefreshScope, members: ContextFiles) -> bool:
    return bool(resolve_scope(scope, map(os.fsdecode, members.files), lambda _path: None))


def _program(tool: Indexer, worktree: Worktree) -> str | None:
    return locate(tool, tool_env(worktree.root, ""), worktree.root)


QUIET_SECONDS = 2.0  # HEAD stays for so long before an indexer starts: a rebase moves it often


def main() -> int:
    """`python -I -m gitindex.semantic.jobs <root>`."""
    worktree = worktree_at(sys.argv[1])
    become_background(MEMORY_BYTES)
    lock = RunnerLock(os.path.join(worktree.store, f"semantic.{worktree.id}.wait"))
    if not (read_trust(worktree).allowed and is_allowed_on_commit(worktree) and lock.acquire()):
        return 0
    try:
        _wait_for_rest(worktree)
        names = _behind(worktree)
    finally:
        lock.release()  # a commit during the run starts the next one
    if names:
        run(worktree, SemanticRequest(names), lambda _phase, _percent: None)
    return 0


def _wait_for_rest(worktree: Worktree) -> None:
    """Wait until HEAD has not moved for a while and no runner is active."""
    seen = _head(worktree)
    while True:
        time.sleep(QUIET_SECONDS)
        now = _head(worktree)
        if now == seen and not is_held(worktree.lock):
            return
        seen = now


def _head(worktree: Worktree) -> str:
    with contextlib.closing(open_repository(worktree)) as repository:
        return repository.head().tree


def _behind(worktree: Worktree) -> tuple[str, ...]:
    """Return contexts that a usable indexer covers and that have files without current facts."""
    with open_tree(worktree, worktree.root) as view:
        rows = show_status(view)["contexts"]
    return tuple(row["context"] for row in rows if row["current"] < row["files"] and row["usable"])


if __name__ == "__main__":
    try:
        main()
    except GitIndexError as error:
        Log(worktree_at(sys.argv[1]).store).write("semantic follow-up ended", error=error.message)
