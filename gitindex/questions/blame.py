"""Who last changed each line of a file, as of a commit; never of the disk, where filters would run."""

from __future__ import annotations

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.questions.table import Answer, Here, Params, Row, question


def ask(here: Here, params: Params) -> Answer:
    """Return commit, author, time and subject of each line."""
    with here.tree() as view:
        file = here.inside(params["file"])
        commit = view.envelope()["freshness"]["servedCommit"] or "HEAD"
        rows = _lines(here.worktree.root, commit, file, params["first"], params["last"])
        return view.envelope(commit=commit, lines=rows)


def _lines(root: str, commit: str, file: str, first: int, last: int) -> list[Row]:
    from gitindex.git.command import GitFailed, run_git

    span = f"-L{first},{last or ''}"
    command = ("blame", "--porcelain", "--no-textconv", span, commit, "--", file)
    try:
        output = run_git(root, *command).decode("utf-8", "replace")
    except GitFailed as error:
        raise GitIndexError(f"no history of {safe_text(file)} here", code=Exit.NO) from error
    commits: dict[str, Row] = {}
    rows, now = [], ""
    for line in output.split("\n"):
        if line.startswith("\t"):
            rows.append(commits[now])
            continue
        name, _, value = line.partition(" ")
        if len(name) in (40, 64) and value[:1].isdigit():
            now = name
            commits.setdefault(now, {"id": now, "author": "", "time": 0, "subject": ""})
        elif name in ("author", "summary"):
            commits[now]["author" if name == "author" else "subject"] = safe_text(value)
        elif name == "author-time":
            commits[now]["time"] = int(value)
    return rows


TABLE = """
blame | found=lines
  Who last changed each line of a file, as of a commit.
    file
    first
    last
    at
"""
QUESTION = question(TABLE, ask)
