"""`gitindex api`: a plain function that returns an exit code."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, path_fields, safe_text
from gitindex.base.output import print_json
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.cli.printing import print_answer
from gitindex.cli.progress import patience
from gitindex.cli.sarif import SarifResult, render_sarif
from gitindex.cli.shown_path import shown_path
from gitindex.cli.terminal import paint, say
from gitindex.cli.verbs.impact import unchecked
from gitindex.git.command import try_git
from gitindex.query.impact.change import TreeChange, comparing, parse_range
from gitindex.query.impact.surface import (
    SurfaceChange,
    SurfaceKind,
    added_news,
    find_surface,
    is_announced,
    is_version_bumped,
)


class SurfaceRequest(NamedTuple):
    """Which change to compare, how to show it, and what makes it acceptable."""

    between: str = ""
    staged: bool = False
    check: bool = False  # exit 1 for an incompatible change that nothing announces
    require: str = "any"  # "version", "changelog", or "any" of the two
    version_file: str = ""
    changelog: str = ""
    form: str = "text"


REQUIRED = ("any", "version", "changelog")


def api(wanted: SurfaceRequest, path: str = ".") -> int:
    """Print what changed in the exported surface."""
    worktree = find_worktree(path)

    def question() -> dict[str, Any]:
        between = wanted.between
        if not between and not wanted.staged:
            between = f"{last_tag(worktree)}..HEAD"
        pair = parse_range(between, wanted.staged)
        with patience("comparing"), comparing(worktree, path, pair) as change:
            found = find_surface(change)
            excused = _excused(wanted, change, found)
            rows = [_fields(one, one in excused) for one in found]
            blocking = any(one.incompatible and one not in excused for one in found)
            return change.after.view.envelope(
                between=between or "staged", api=rows, acceptable=not blocking
            )

    def code(answer: dict[str, Any]) -> int:
        return int(Exit.NO if wanted.check and not answer["acceptable"] else Exit.OK)

    def text(answer: dict[str, Any]) -> None:
        if wanted.form == "sarif":
            print_json(render_sarif([_sarif(row) for row in answer["api"]]))
        else:
            _say(answer, wanted)

    return print_answer(question, wanted.form == "json", text, code, unchecked)


def last_tag(worktree: Worktree) -> str:
    """Return the last release tag before HEAD."""
    asked = ("describe", "--tags", "--abbrev=0", "HEAD")
    found = try_git(worktree.root, *asked)
    if found.returncode:
        raise GitIndexError("no tag to compare with", "give a range: A..B", Exit.USAGE)
    return os.fsdecode(found.output.strip())


def has_tag(worktree: Worktree) -> bool:
    """Is there a release to compare with?"""
    return not try_git(worktree.root, "describe", "--tags", "--abbrev=0", "HEAD").returncode


def _excused(
    wanted: SurfaceRequest, change: TreeChange, found: list[SurfaceChange]
) -> set[SurfaceChange]:
    """Return the incompatible changes that a version or a changelog announces."""
    broken = [one for one in found if one.incompatible]
    if not broken:
        return set()
    if wanted.require != "changelog" and is_version_bumped(change, wanted.version_file):
        return set(broken)
    if wanted.require == "version":
        return set()
    news = added_news(change, wanted.changelog)
    return {one for one in broken if is_announced(one, news)}


def _fields(one: SurfaceChange, excused: bool) -> dict[str, Any]:
    definition = one.definition
    return {
        "change": str(one.kind),
        "name": definition.name,
        "qualifiedName": definition.qualified,
        "kind": definition.kind,
        "language": one.language,
        **path_fields(os.fsencode(definition.path)),
        "line": definition.line + 1,
        "signature": definition.signature,
        **({"before": one.before} if one.before else {}),
        "incompatible": one.incompatible,
        **({"why": one.why} if one.why else {}),
        **({"announced": excused} if one.incompatible else {}),
    }


def _say(answer: dict[str, Any], wanted: SurfaceRequest) -> None:
    for row in answer["api"]:
        mark = "!" if row["incompatible"] else " "
        why = f": {row['why']}" if row.get("why") and row["change"] != SurfaceKind.REMOVED else ""
        told = ", announced" if row.get("announced") else ""
        place = f"{shown_path(row['path'])}:{row['line']}"
        name = safe_text(row["qualifiedName"])
        say(f"{mark} {row['change']:<7} {name}{safe_text(why)}{told}  {paint('path', place)}")
    count = sum(row["incompatible"] for row in answer["api"])
    say(
        paint(
            "dim",
            f"-- {counted(len(answer['api']), 'exported names')} changed, {count} incompatibly",
        )
    )
    if wanted.check and not answer["acceptable"]:
        say("raise the version, or name what breaks in a changelog")


def _sarif(row: dict[str, Any]) -> SarifResult:
    if row["change"] == SurfaceKind.REMOVED:
        rule = "api-removed"
    else:
        rule = "api-incompatible" if row["incompatible"] else f"api-{row['change']}"
    quiet = not row["incompatible"] or row.get("announced")
    message = f"{row['qualifiedName']}: {row.get('why') or row['change']}"
    line = 1 if row["change"] == SurfaceKind.REMOVED else row["line"]
    return SarifResult(rule, "note" if quiet else "error", message, row["path"], line)
