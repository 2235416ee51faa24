"""`gitindex merge-check`: what a textually clean merge would break."""

from __future__ import annotations

import os

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import Aside
from gitindex.questions.sarif import SarifResult, render_sarif
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitindex.base.worktree import Worktree

FOUND = ("conflicts", "breaks", "possible", "duplicates")


def ask(here: Here, params: Params) -> Answer:
    """Merge HEAD with a branch in memory and return what no longer fits together."""
    from contextlib import ExitStack

    from gitindex.git.merge_tree import MergedTree, commit_of, merged_tree
    from gitindex.query.impact.merge import check_merge, open_sides

    worktree, merging = here.worktree, params["merging"]
    theirs = (
        _merge_head(worktree)
        if merging
        else commit_of(worktree, params["branch"] or _upstream(worktree))
    )
    with here.doing("merging"), ExitStack() as stack:
        result: MergedTree | None = None
        ours = commit_of(worktree, "HEAD")
        if not merging:
            result = stack.enter_context(merged_tree(worktree, ours, theirs))
        sides = stack.enter_context(open_sides(worktree, here.path, ours, theirs, result))
        outcome = check_merge(sides)
        conflicts = result.conflicts if result else ()
        return sides.result.envelope(
            ours=ours,
            theirs=theirs,
            conflicts=[path_fields(name)["path"] for name in conflicts],
            breaks=[one.fields() for one in outcome.breaks],
            possible=[one.fields() for one in outcome.possible],
            duplicates=[one.fields() for one in outcome.duplicates],
        )


def is_merging(worktree: Worktree) -> bool:
    """Is a merge under way, as the hook pre-merge-commit sees it?"""
    return next(_merge_heads(worktree), "") != ""


def has_upstream(worktree: Worktree) -> bool:
    """Is there a default branch to merge with?"""
    from gitindex.git.command import try_git

    return not try_git(worktree.root, "rev-parse", "-q", "--verify", "@{upstream}").returncode


def _upstream(worktree: Worktree) -> str:

    if not has_upstream(worktree):
        raise GitIndexError(
            "this branch has no upstream", "name the branch to merge with", Exit.USAGE
        )
    return "@{upstream}"


def _merge_head(worktree: Worktree) -> str:
    from gitindex.git.merge_tree import commit_of

    head = next(_merge_heads(worktree), "")
    if not head:
        raise GitIndexError("no merge is under way", "leave --merging out", Exit.USAGE)
    return commit_of(worktree, head)


def _merge_heads(worktree: Worktree) -> Lines:
    """Yield the commits being merged; before the commit only hooks know them: GITHEAD_<commit>."""
    from gitindex.base.atomic_file import read_small

    heads = read_small(os.path.join(worktree.git_dir, "MERGE_HEAD")) or b""
    yield from heads.decode("ascii", "replace").split()
    yield from (name[8:] for name in os.environ if name.startswith("GITHEAD_"))


def code(answer: Answer, _params: Params) -> int:
    """Return 1 if anything breaks."""
    return 1 if answer["breaks"] or answer["duplicates"] else 0


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield conflicts, what is gone on the other side, and what both define."""
    if ink.params.get("form") == "sarif":
        yield render_sarif([*_sarif(answer)])
        return
    for name in answer["conflicts"]:
        yield ink.paint("dim", f"conflict {ink.path(name)}: git will ask you to resolve it")
    for mark, listed in (("", answer["breaks"]), ("? ", answer["possible"])):
        for row in listed:
            other = "their side" if row["side"] == "ours" else "our side"
            gone = f"`{safe_text(row['name'])}` is gone from {ink.path(row['missingFrom'])}"
            line = f"{mark}{ink.place(row)}: {gone} on {other}"
            yield ink.paint("dim", f"{line} [{row['tier']}]") if mark else line
    for row in answer["duplicates"]:
        first = f"{ink.path(row['firstPath'])}:{row['firstLine']}"
        name = safe_text(row["name"])
        yield f"{ink.place(row)}: `{name}` is defined on both sides, also at {first}"
    if not any(answer[kind] for kind in FOUND):
        yield Aside("nothing breaks in this merge")


def _sarif(answer: Answer) -> Iterator[SarifResult]:
    for row in (*answer["breaks"], *answer["possible"]):
        level = "error" if row in answer["breaks"] else "note"
        gone = f"{row['name']} is gone from {row['missingFrom']} on the other side of the merge"
        yield SarifResult("merge-break", level, gone, row["path"], row["line"])
    for row in answer["duplicates"]:
        both = f"{row['name']} is defined on both sides, also at "
        place = f"{row['firstPath']}:{row['firstLine']}"
        yield SarifResult("duplicate-definition", "error", both + place, row["path"], row["line"])


TABLE = """
Change: merge-check
  What a textually clean merge would break, in both directions. Exit 1 if anything.
    * | branch = | What to merge with HEAD; its upstream if left out.
    --merging | merging flag | Check the staged result of the merge under way.
    sarif
"""
QUESTION = question(TABLE, ask, text, code=code)
