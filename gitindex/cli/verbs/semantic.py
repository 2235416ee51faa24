"""Verbs of contexts and the semantic layer: plain functions that return an exit code."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gitindex.base.errors import Exit
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import JobStatus
from gitindex.base.worktree import find_worktree, inside_root
from gitindex.cli.printing import any_of, in_tree, print_answer
from gitindex.cli.terminal import say
from gitindex.refresh.scope import FULL, RefreshScope
from gitindex.view.tree import NOW, TreeChoice, TreeView

if TYPE_CHECKING:
    from gitindex.semantic.jobs import Outcome


def contexts(path: str = ".", ask: TreeChoice = NOW, as_json: bool = False) -> int:
    """List the projects of the tree by language family, and the files each owns."""
    from gitindex.semantic.contexts.listing import LiveContexts

    return _serve(
        path, as_json, lambda view: LiveContexts(view).answer(), _say_contexts, "contexts", ask
    )


def switch_context(name: str, enabled: bool, path: str = ".", as_json: bool = False) -> int:
    """Switch the semantic layer of one context on or off."""
    from gitindex.semantic.jobs import switch

    os.umask(0o077)
    switch(find_worktree(path), name, enabled)

    def text(_answer: dict[str, Any]) -> None:
        say(safe_text(f"{name} is switched {'on' if enabled else 'off'}"))

    answer = {"status": "ok", "context": name, "enabled": enabled}
    return print_answer(lambda: answer, as_json, text, lambda _: int(Exit.OK))


def list_indexers(path: str = ".", as_json: bool = False) -> int:
    """List the indexers that could run here, and whether they are allowed to."""
    from gitindex.semantic.jobs import list_indexers as listed

    def text(answer: dict[str, Any]) -> None:
        for row in answer["indexers"]:
            state = "installed" if row["installed"] else f"missing: {row['install']}"
            state += ", experimental" if row["experimental"] else ""
            state += "" if row["enabled"] else ", switched off"
            say(f"{row['context']:<40} {row['files']:>6} files  {row['tool']}, {state}")
        say(safe_text(f"{'on' if answer['enabled'] else 'off'}: {answer['why']}"))

    return _serve(path, as_json, listed, text, "indexers")


def show_status(path: str = ".", as_json: bool = False) -> int:
    """Print what the semantic layer knows of each context, and the result of its last job."""
    from gitindex.semantic.jobs import show_status as shown

    def text(answer: dict[str, Any]) -> None:
        for row in answer["contexts"]:
            known = f"{row['current']} of {row['files']} files known, {row['stale']} stale"
            say(safe_text(f"{row['context']:<40} {known}; {_told(row['lastJob'])}"))

    return _serve(path, as_json, shown, text, "contexts")


def run(
    names: list[str],
    path: str = ".",
    only: list[str] | None = None,
    seconds: float | None = None,
    as_json: bool = False,
) -> int:
    """Run the indexers of some contexts, or of all whose indexer is installed."""
    from gitindex.cli.progress import progress_bar
    from gitindex.semantic.jobs import SemanticRequest
    from gitindex.semantic.jobs import run as run_jobs

    os.umask(0o077)
    worktree = find_worktree(path)
    scope = _scope(worktree.root, path, only) if only else FULL
    with progress_bar("semantic") as report:
        outcomes = run_jobs(worktree, SemanticRequest(tuple(names), scope, seconds), report)
    jobs = [_fields(outcome) for outcome in outcomes]

    def text(_answer: dict[str, Any]) -> None:
        for job in jobs:
            say(safe_text(f"{job['context']:<40} {_told(job)}"))

    code = _code({outcome.job.status for outcome in outcomes})
    return print_answer(lambda: {"status": "ok", "jobs": jobs}, as_json, text, lambda _: code)


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


def _told(job: dict[str, Any] | None) -> str:
    """Describe a job in one line."""
    if job is None:
        return "never run"
    why = job["error"] or job["superseded"] or ""
    reason = f" ({job['reason']})" if job["reason"] else ""
    line = f"{job['status']}{reason}{': ' + why if why else ''}"
    if "imported" in job:
        line += f", {job['imported']} of {job['files']} files, {job['changed']} changed"
        line += f", {job['leftOut']} not as in git" if job["leftOut"] else ""
        line += f", left behind: {', '.join(job['leftBehind'][:5])}" if job["leftBehind"] else ""
    return line


def _serve(
    path: str,
    as_json: bool,
    ask: Callable[[TreeView], dict[str, Any]],
    text: Callable[[dict[str, Any]], None],
    found: str,
    asked: TreeChoice = NOW,
) -> int:
    return print_answer(in_tree(path, asked, ask), as_json, text, any_of(found))


def _say_contexts(answer: dict[str, Any]) -> None:
    for context in answer["contexts"]:
        kind = f"{context['kind']}, {context['state']}"
        kind += "" if context["enabled"] else ", switched off"
        say(f"{context['name']:<40} {context['files']:>6} files  {kind}")
    for hole in answer["leftOut"]:
        where = f"the workspace {hole['workspace'] or '.'}"
        say(f"{hole['family']}:{hole['root']:<30} {hole['files']:>6} files  left out by {where}")
