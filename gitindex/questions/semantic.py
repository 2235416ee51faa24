"""`gitindex semantic list` and `semantic status`: which indexers may run, and what they said."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, Row, questions


def ask_list(here: Here, _params: Params) -> Answer:
    """Return the indexers."""
    from gitindex.semantic.jobs import list_indexers

    with here.tree() as view:
        return list_indexers(view)


def list_text(answer: Answer, _ink: Ink) -> Lines:
    """Yield the indexers and whether the layer is on."""
    for row in answer["indexers"]:
        state = "installed" if row["installed"] else f"missing: {row['install']}"
        state += ", experimental" if row["experimental"] else ""
        state += "" if row["enabled"] else ", switched off"
        yield f"{row['context']:<40} {row['files']:>6} files  {row['tool']}, {state}"
    yield safe_text(f"{'on' if answer['enabled'] else 'off'}: {answer['why']}")


def ask_status(here: Here, _params: Params) -> Answer:
    """Return the contexts with what the layer knows of each."""
    from gitindex.semantic.jobs import show_status

    with here.tree() as view:
        return show_status(view)


def status_text(answer: Answer, _ink: Ink) -> Lines:
    """Yield a line for each context."""
    for row in answer["contexts"]:
        known = f"{row['current']} of {row['files']} files known, {row['stale']} stale"
        yield safe_text(f"{row['context']:<40} {known}; {job_line(row['lastJob'])}")


def job_line(job: Row | None) -> str:
    """Describe a job of the layer in one line."""
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


TABLE = """
Hooks and set-up: semantic list | found=indexers
  Which indexers could run here, and whether they may.
Hooks and set-up: semantic status | found=contexts
  What is known of each context, and what became of its last job.
"""
QUESTIONS = questions(TABLE, (ask_list, list_text), (ask_status, status_text))
