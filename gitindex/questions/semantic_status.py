"""`gitindex semantic status`: what is known of each context, and its last job."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Question

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params


def ask(here: Here, _asked: Params) -> dict[str, Any]:
    """Return the contexts with what the layer knows of each."""
    from gitindex.semantic.jobs import show_status

    with here.tree() as view:
        return show_status(view)


def text(answer: dict[str, Any], _ink: Ink) -> Iterator[str]:
    """Yield a line for each context."""
    for row in answer["contexts"]:
        known = f"{row['current']} of {row['files']} files known, {row['stale']} stale"
        yield safe_text(f"{row['context']:<40} {known}; {job_line(row['lastJob'])}")


def job_line(job: dict[str, Any] | None) -> str:
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


QUESTION = Question(
    "semantic status",
    "What is known of each context, and what became of its last job.",
    (),
    ask,
    text,
    group="Hooks and set-up",
    found="contexts",
    trees="",
)
