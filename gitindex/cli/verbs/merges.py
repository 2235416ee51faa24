"""`gitindex merge-check`: a plain function that returns an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.output import print_json
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.cli.printing import print_answer
from gitindex.cli.progress import patience
from gitindex.cli.sarif import SarifResult, render_sarif
from gitindex.cli.shown_path import shown_path
from gitindex.cli.terminal import paint, say
from gitindex.cli.verbs.impact import dangling_fields, unchecked
from gitindex.git.command import try_git
from gitindex.git.merge_tree import MergedTree, commit_of, merged_tree
from gitindex.query.impact.merge import Duplicate, MergeBreak, check_merge, open_sides

_FOUND = ("conflicts", "breaks", "possible", "duplicates")


def merge_check(
    branch: str = "", path: str = ".", merging: bool = False, form: str = "text"
) -> int:
    """Merge HEAD with a branch in memory and report what no longer fits together."""
    worktree = find_worktree(path)

    def question() -> dict[str, Any]:
        theirs = (
            _merge_head(worktree) if merging else commit_of(worktree, branch or _upstream(worktree))
        )
        with patience("merging"), ExitStack() as stack:
            result: MergedTree | None = None
            ours = commit_of(worktree, "HEAD")
            if not merging:
                result = stack.enter_context(merged_tree(worktree, ours, theirs))
            sides = stack.enter_context(open_sides(worktree, path, ours, theirs, result))
            found = check_merge(sides)
            return sides.result.envelope(
                ours=ours,
                theirs=theirs,
                conflicts=[path_fields(name)["path"] for name in result.conflicts]
                if result
                else [],
                breaks=[_break_fields(one) for one in found.breaks],
                possible=[_break_fields(one) for one in found.possible],
                duplicates=[_duplicate_fields(one) for one in found.duplicates],
            )

    def code(answer: dict[str, Any]) -> int:
        return int(Exit.NO if answer["breaks"] or answer["duplicates"] else Exit.OK)

    text = _say_sarif if form == "sarif" else _say
    return print_answer(question, form == "json", text, code, unchecked)


def is_merging(worktree: Worktree) -> bool:
    """Is a merge under way, as the hook pre-merge-commit sees it?"""
    return next(_merge_heads(worktree), "") != ""


def has_upstream(worktree: Worktree) -> bool:
    """Is there a default branch to merge with?"""
    return not try_git(worktree.root, "rev-parse", "-q", "--verify", "@{upstream}").returncode


def _upstream(worktree: Worktree) -> str:
    if not has_upstream(worktree):
        raise GitIndexError(
            "this branch has no upstream", "name the branch to merge with", Exit.USAGE
        )
    return "@{upstream}"


def _merge_head(worktree: Worktree) -> str:
    found = next(_merge_heads(worktree), "")
    if not found:
        raise GitIndexError("no merge is under way", "leave --merging out", Exit.USAGE)
    return commit_of(worktree, found)


def _merge_heads(worktree: Worktree) -> Iterator[str]:
    """Yield the commits being merged; before the commit only hooks know them: GITHEAD_<commit>."""
    told = read_small(os.path.join(worktree.git_dir, "MERGE_HEAD")) or b""
    yield from told.decode("ascii", "replace").split()
    yield from (name[8:] for name in os.environ if name.startswith("GITHEAD_"))


def _break_fields(one: MergeBreak) -> dict[str, Any]:
    return {**dangling_fields(one.found), "side": one.side}


def _duplicate_fields(one: Duplicate) -> dict[str, Any]:
    return {
        "name": one.first.qualified,
        **path_fields(os.fsencode(one.second.path)),
        "line": one.second.line + 1,
        "firstPath": path_fields(os.fsencode(one.first.path))["path"],
        "firstLine": one.first.line + 1,
    }


def _say_sarif(answer: dict[str, Any]) -> None:
    results = [
        SarifResult(
            "merge-break",
            "error" if found in answer["breaks"] else "note",
            f"{found['name']} is gone from {found['missingFrom']} on the other side of the merge",
            found["path"],
            found["line"],
        )
        for found in (*answer["breaks"], *answer["possible"])
    ]
    results += [
        SarifResult(
            "duplicate-definition",
            "error",
            f"{found['name']} is defined on both sides, also at "
            f"{found['firstPath']}:{found['firstLine']}",
            found["path"],
            found["line"],
        )
        for found in answer["duplicates"]
    ]
    print_json(render_sarif(results))


def _say(answer: dict[str, Any]) -> None:
    for name in answer["conflicts"]:
        say(paint("dim", f"conflict {shown_path(name)}: git will ask you to resolve it"))
    for mark, listed in (("", answer["breaks"]), ("? ", answer["possible"])):
        for found in listed:
            other = "their side" if found["side"] == "ours" else "our side"
            what = f"`{safe_text(found['name'])}` is gone from {shown_path(found['missingFrom'])}"
            line = f"{mark}{shown_path(found['path'])}:{found['line']}: {what} on {other}"
            say(paint("dim", f"{line} [{found['tier']}]") if mark else line)
    for found in answer["duplicates"]:
        first = f"{shown_path(found['firstPath'])}:{found['firstLine']}"
        place = f"{shown_path(found['path'])}:{found['line']}"
        say(f"{place}: `{safe_text(found['name'])}` is defined on both sides, also at {first}")
    if sys.stdout.isatty() and not any(answer[kind] for kind in _FOUND):
        say(paint("dim", "nothing breaks in this merge"))
