"""`gitindex jobs`: the refresh queue and its history."""

from __future__ import annotations

from gitindex.base.errors import NotIndexed
from gitindex.base.escape import counted, safe_text
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question


def ask(here: Here, params: Params) -> Answer:
    """Return the jobs, newest first."""
    from gitindex.query.health import job_fields
    from gitindex.refresh.queue import read_history

    jobs = read_history(here.worktree, params["limit"])
    if jobs is None:
        raise NotIndexed
    return {"status": "ok", "jobs": [job_fields(job) for job in jobs]}


def text(answer: Answer, _ink: Ink) -> Lines:
    """Yield a line for each job."""
    for job in answer["jobs"]:
        done = job["finishedAt"] and job["startedAt"]
        took = f"{job['finishedAt'] - job['startedAt']:.2f} s" if done else "-"
        why = safe_text(job["error"] or job["supersededReason"] or "")
        line = (
            f"{job['id']:>5} {job['status']:<10} {took:>8} {counted(job['extracted'], 'blobs'):>12}"
        )
        yield f"{line}  {safe_text(job['triggerReason'])}  {why}".rstrip()


TABLE = """
Prove: jobs
  The refresh queue and its history.
    --limit -m -n | limit integer =20 1..2147483648 | Jobs at most.
"""
QUESTION = question(TABLE, ask, text)
