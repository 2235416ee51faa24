"""The commits of HEAD's first-parent line, newest first, with their tags."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Answer, Here, Params, Row, question

if TYPE_CHECKING:
    from collections.abc import Iterator


_FORMAT = "%H%x00%ct%x00%an%x00%s%x00%D%x00"
MAX_FILES = 20
"""Changed files of one commit that are named."""


def ask(here: Here, params: Params) -> Answer:
    """Return commits, of the whole repository or of one file; none before the first one."""
    file = here.inside(params["file"]) if params["file"] else ""
    rows = [*_commits(here.worktree.root, params, file)]
    with here.tree() as view:
        return view.envelope(commits=rows, truncated=len(rows) == params["limit"])


def _commits(root: str, params: Params, file: str) -> Iterator[Row]:
    import secrets

    from gitindex.git.command import GitFailed, run_git

    mark = secrets.token_hex(16)  # names and subjects may hold any other text
    command = ["log", f"--max-count={params['limit']}", "-z", "--no-show-signature"]
    command += ["--name-only", "--diff-merges=first-parent"] if params["files"] else []
    command += _narrowed(file, params["lines"])
    form, start = f"--format=tformat:{mark}{_FORMAT}", params["at"] or "HEAD"
    place = (f":(literal,top){file}",) * bool(file and not params["lines"])
    try:
        output = run_git(root, *command, form, "--end-of-options", start, "--", *place)
    except GitFailed:
        return  # no commit yet
    for record in output.split(mark.encode())[1:]:
        fields, names = record.split(b"\0")[:5], record.split(b"\0")[5:]
        row = _row(*(field.decode("utf-8", "replace") for field in fields))
        if params["files"]:
            changed = [name.removeprefix(b"\n") for name in names]
            row["files"] = [safe_text(name) for name in changed if name][:MAX_FILES]
        yield row


def _narrowed(file: str, lines: str) -> list[str]:
    """Return the options for all commits, those of a file, or those that changed lines of it."""
    return [f"-L{lines}:{file}", "--no-patch"] if lines else [] if file else ["--first-parent"]


def _row(commit: str, when: str, author: str, subject: str, names: str) -> Row:
    tags = [name.removeprefix("tag: ") for name in names.split(", ") if name.startswith("tag: ")]
    return {
        "id": commit,
        "time": int(when),
        "author": safe_text(author),
        "subject": safe_text(subject),
        "tags": [safe_text(tag) for tag in tags],
    }


TABLE = """
commits | found=commits
  The commits of HEAD's first-parent line, or those that changed a file.
    --file | file path | Only those that changed this file.
    --lines | lines <A,B> | Only those that changed these lines of the file.
    --files | files flag | With the files that each changed.
    --limit -m -n | limit integer =500 1..5000 | Commits at most.
    at
"""
QUESTION = question(TABLE, ask)
