"""The health of an index: its jobs, the time until commits were fresh, its size, skipped paths."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from typing import Any

from gitindex.base.escape import path_fields
from gitindex.base.vocabulary import JobStatus
from gitindex.base.worktree import Worktree
from gitindex.git.command import try_git
from gitindex.refresh.queue import SYNTACTIC, Job, read_history
from gitindex.store import mapping
from gitindex.view.tree import TreeView

JOBS = 200
MAX_SKIPPED = 500
MAX_WAIT = 3_600.0
"""A commit indexed later than this is not counted: it came from elsewhere."""


def job_fields(job: Job) -> dict[str, Any]:
    """Return the columns of `refresh_jobs`, in camel case."""
    fields = job._asdict() | {"scope": json.loads(job.scope.to_json())}
    return {_camel(name): value for name, value in fields.items()}


def skipped_paths(view: TreeView) -> list[dict[str, Any]]:
    """Return every tracked path without content in the index, with the reason."""
    rows = mapping.skipped(view.served.database, view.served.published.worktree_id)
    return [{**path_fields(name), "reason": why} for name, why in rows]


def skipped_reasons(view: TreeView) -> dict[str, int]:
    """Return how many tracked paths have no content in the index, by reason."""
    return dict(Counter(row["reason"] for row in skipped_paths(view)).most_common())


def health(view: TreeView) -> dict[str, Any]:
    """Return the jobs, timings and size of a worktree's index, as an envelope."""
    worktree = view.worktree
    jobs = read_history(worktree, JOBS) or []
    skipped = skipped_paths(view)
    counts = mapping.count(view.served.database, view.served.published.worktree_id)
    return view.envelope(
        indexedFiles=counts.files,
        symbols=counts.symbols,
        jobs=[job_fields(job) for job in jobs],
        timings=_timings(worktree, jobs),
        storeBytes=store_bytes(worktree),
        skippedCount=len(skipped),
        skippedReasons=skipped_reasons(view),
        skipped=skipped[:MAX_SKIPPED],
    )


def store_bytes(worktree: Worktree) -> dict[str, int]:
    """Return the bytes of the store on disk: facts, text index, everything else."""
    sizes: Counter[str] = Counter(facts=0, lexical=0, other=0)
    for top, _, names in os.walk(worktree.store):
        inside = os.path.relpath(top, worktree.store)
        for name in names:
            try:
                size = os.lstat(os.path.join(top, name)).st_size
            except OSError:
                continue  # a runner replaced it
            part = "lexical" if inside.startswith("lexical") else "other"
            sizes["facts" if name.startswith("facts.db") else part] += size
    return dict(sizes)


def percentile(values: Iterable[float], share: float) -> float | None:
    """Return the value that this share of the values does not exceed; None without values."""
    ordered = sorted(values)
    if not ordered:
        return None
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)


def _timings(worktree: Worktree, jobs: list[Job]) -> dict[str, Any]:
    done = [j for j in jobs if j.status is JobStatus.COMPLETED and j.context_id == SYNTACTIC]
    ended = [(job, job.finished_at) for job in done if job.finished_at]
    return {
        "commitToFreshSeconds": _summary(_waits(worktree, ended)),  # git stores whole seconds
        "queueToFreshSeconds": _summary(end - job.created_at for job, end in ended),
        "jobSeconds": _summary(end - job.started_at for job, end in ended if job.started_at),
    }


def _waits(worktree: Worktree, ended: list[tuple[Job, float]]) -> Iterable[float]:
    """Return the seconds from each commit until its first job had ended."""
    heads = {job.head_at_enqueue for job, _ in ended if job.head_at_enqueue}
    committed = _commit_times(worktree, heads)
    first: dict[str, float] = {}
    for job, end in sorted(ended, key=lambda pair: pair[0].id):
        waited = end - committed.get(job.head_at_enqueue or "", float("inf"))
        if 0 <= waited <= MAX_WAIT:
            first.setdefault(job.head_at_enqueue or "", waited)
    return first.values()


def _summary(values: Iterable[float]) -> dict[str, Any]:
    kept = list(values)
    return {"count": len(kept), "p50": percentile(kept, 0.5), "p95": percentile(kept, 0.95)}


def _commit_times(worktree: Worktree, commits: set[str]) -> dict[str, int]:
    """Return the commit times of some commits; missing commits are left out."""
    names = "".join(f"{commit}\n" for commit in sorted(commits)).encode()
    if not names:
        return {}
    command = ("log", "--no-walk=unsorted", "--ignore-missing", "--format=%H %ct", "--stdin")
    output = try_git(worktree.root, *command, stdin=names).output.decode("ascii", "replace")
    pairs = (line.split() for line in output.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
