"""Verbs of contexts and the semantic layer: plain functions that return an exit code."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from gitindex.base.errors import Exit
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import JobStatus
from gitindex.base.worktree import find_worktree, inside_root
from gitindex.cli.printing import CommandReply
from gitindex.questions.semantic import job_line
from gitindex.refresh.queue import FULL, RefreshScope

if TYPE_CHECKING:
    from gitindex.semantic.jobs import Outcome


def run(names: list[str], path: str, only: list[str], seconds: float) -> CommandReply:
    """Run the indexers of some contexts, or of all whose indexer is installed."""
    from gitindex.cli.progress import progress_bar
    from gitindex.semantic.jobs import SemanticRequest
    from gitindex.semantic.jobs import run as run_jobs

    os.umask(0o077)
    worktree = find_worktree(path)
    scope = _scope(worktree.root, path, only) if only else FULL
    with progress_bar("semantic") as report:
        request = SemanticRequest(tuple(names), scope, seconds or None)
        outcomes = run_jobs(worktree, request, report)
    jobs = [_fields(outcome) for outcome in outcomes]
    lines = [safe_text(f"{job['context']:<40} {job_line(job)}") for job in jobs]
    code = _code({outcome.job.status for outcome in outcomes})
    return CommandReply({"status": "ok", "jobs": jobs}, lines, code)


def _code(states: set[JobStatus]) -> int:
    if JobStatus.FAILED in states:
        return int(Exit.ERROR)
    return int(Exit.OK if states == {JobStatus.COMPLETED} else Exit.NO)


def _scope(root: str, path: str, only: list[str]) -> RefreshScope:
    inside = [inside_root(root, path, name) for name in only]
    folders = [name for name in inside if os.path.isdir(os.path.join(root, name))]
    files = [name for name in inside if name not in folders]
    return RefreshScope(files=tuple(files), packages=tuple(folders))


def _fields(outcome: Outcome) -> dict[str, Any]:
    job, done = outcome.job, outcome.done
    fields: dict[str, Any] = {
        "context": outcome.context,
        "id": job.id,
        "status": job.status,
        "reason": job.failure_reason,
        "error": job.error,
        "superseded": job.superseded_reason,
        "commit": job.head_at_enqueue,
        "seconds": round((job.finished_at or 0.0) - (job.started_at or 0.0), 3),
    }
    if done is not None:
        fields |= {
            "files": done.files,
            "imported": done.imported,
            "changed": done.changed,
            "leftOut": done.left_out,
            "doubtful": done.doubtful,
            "leftBehind": done.left_behind,
        }
    return fields
