"""The commits of HEAD's first-parent line, newest first, with their tags."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.lean import TYPE_CHECKING
from gitindex.questions.table import Question, limit, option

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params

_FORMAT = "--format=tformat:%H%x00%ct%x00%an%x00%s%x00%D"


def ask(here: Here, params: Params) -> dict[str, Any]:
    """Return commits, of the whole repository or of one file; none before the first one."""
    root, most = here.worktree.root, params["limit"]
    found = _commits(root, most, here.inside(params["file"]) if params["file"] else "")
    with here.tree() as view:
        return view.envelope(commits=found, truncated=len(found) == most)


def _commits(root: str, most: int, file: str) -> list[dict[str, Any]]:
    from gitindex.git.command import GitFailed, run_git

    line = () if file else ("--first-parent",)
    command = ("log", *line, f"--max-count={most}", "-z", "--no-show-signature", _FORMAT, "HEAD")
    try:
        output = run_git(root, *command, "--", *((f":(literal,top){file}",) if file else ()))
    except GitFailed:
        return []  # no commit yet
    fields = output.decode("utf-8", "replace").split("\0")
    return [_row(*fields[at : at + 5]) for at in range(0, len(fields) - 4, 5)]


def _row(commit: str, when: str, author: str, subject: str, names: str) -> dict[str, Any]:
    tags = [name.removeprefix("tag: ") for name in names.split(", ") if name.startswith("tag: ")]
    return {
        "id": commit,
        "time": int(when),
        "author": safe_text(author),
        "subject": safe_text(subject),
        "tags": [safe_text(tag) for tag in tags],
    }


def text(answer: dict[str, Any], _ink: Ink) -> Iterator[str]:
    """Yield a line for each commit."""
    for row in answer["commits"]:
        yield f"{row['id'][:12]} {row['author']}: {row['subject']}"


QUESTION = Question(
    "commits",
    "The commits of HEAD's first-parent line, or those that changed a file.",
    (
        option("--file", "file", "Only those that changed this file.", kind="path"),
        limit("Commits", 500, 5_000),
    ),
    ask,
    text,
    group="",
    found="commits",
    trees="",
)
