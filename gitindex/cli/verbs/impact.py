"""`gitindex impact`: what a change reaches, what it leaves dangling, which tests it concerns."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from gitindex.base.errors import Exit
from gitindex.base.escape import counted, path_fields, safe_text
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import any_of, print_answer
from gitindex.cli.progress import patience
from gitindex.cli.shown_path import shown_path
from gitindex.cli.terminal import paint, say, say_nothing
from gitindex.cli.verbs.graph import with_team
from gitindex.languages.syntax.kinds import DATA_KINDS
from gitindex.view.snapshot import GateClosed

if TYPE_CHECKING:
    from gitindex.base.answers import ImpactAnswer
    from gitindex.cli.printing import Asking
    from gitindex.query.impact.affected import AffectedTest
    from gitindex.query.impact.change import TreeChange
    from gitindex.query.impact.dangling import Dangling
    from gitindex.query.impact.misfits import Misfit

TEAM_HITS = 100
"""Maximum number of places in other repositories that `impact` lists."""


def impact(
    wanted: str,
    staged: bool,
    path: str = ".",
    depth: int = 2,
    as_json: bool = False,
    everything: bool = False,
    team: bool = False,
) -> int:
    """Print what a change reaches: symbols, files, tests."""
    from gitindex.query.impact.reach import impact as find_impact

    def question() -> ImpactAnswer:
        with _comparing(path, wanted, staged) as change:
            return find_impact(change, depth)

    text = partial(_say_impact, everything=everything)
    told: Asking = (question, text, any_of("changedFiles"))
    if team:
        told = with_team(path, _exported_changes, TEAM_HITS, told)
    return print_answer(told[0], as_json, told[1], told[2])


def _exported_changes(answer: ImpactAnswer) -> list[str]:
    """Return names of changed definitions that another repository could use."""
    changed = [one for one in answer["changedSymbols"] if one["kind"] not in DATA_KINDS]
    return [one["qualifiedName"].rpartition(".")[2] for one in changed]


def dangling(
    wanted: str,
    staged: bool,
    path: str = ".",
    as_json: bool = False,
    signatures: bool = False,
) -> int:
    """Report references that a change leaves dangling: exit 1, with their places.

    `signatures`: also report calls that no longer fit the changed signature.
    """
    from gitindex.query.impact.dangling import find_dangling
    from gitindex.query.impact.misfits import find_misfits

    def question() -> dict[str, Any]:
        with _comparing(path, wanted, staged) as change:
            found = find_dangling(change)
            missing = {one.missing_from for one in (*found.sure, *found.possible)}
            return change.after.view.envelope(
                deletedFiles=[p for p in sorted(missing) if change.paths.get(p) == "deleted"],
                dangling=[dangling_fields(one) for one in found.sure],
                possible=[dangling_fields(one) for one in found.possible],
                misfits=[_misfit_fields(o) for o in find_misfits(change)] if signatures else [],
                truncated=found.truncated,
            )

    def text(answer: dict[str, Any]) -> None:
        for line in _gone(answer["dangling"], answer["deletedFiles"]):
            say(line)
        for found in answer["misfits"]:
            say(f"{_place(found)}: `{safe_text(found['name'])}` {safe_text(found['why'])}")
        for line in _gone(answer["possible"], answer["deletedFiles"], "tier"):
            say(paint("dim", f"? {line}"))
        if answer["dangling"]:
            say_nothing("restore what is gone, or change these places and stage them")
        if answer["truncated"]:
            say(paint("dim", "-- not all of this change was looked at"))

    def code(answer: dict[str, Any]) -> int:
        return Exit.NO if answer["dangling"] or answer["misfits"] else Exit.OK

    return print_answer(question, as_json, text, code, unchecked)


def reached_tests(
    wanted: str,
    staged: bool,
    path: str = ".",
    as_json: bool = False,
    limit: int = 0,
    nodes: bool = False,
) -> int:
    """Print the tests that reach a change, the likeliest first."""
    from gitindex.query.impact.affected import affected_tests

    def question() -> dict[str, Any]:
        with _comparing(path, wanted, staged) as change:
            found = affected_tests(change)
            shown = found.tests[:limit] if limit else found.tests
            ranked = [_test_fields(one) for one in shown]
            return change.after.view.envelope(
                tests=[one["path"] for one in ranked],
                ranked=ranked,
                truncated=found.truncated or len(shown) < len(found.tests),
                unfollowed=found.truncated,
            )

    def text(answer: dict[str, Any]) -> None:
        for one in answer["ranked"]:
            for node in one["nodes"] if nodes and one["nodes"] else [one["path"]]:
                file, colons, name = node.partition("::")
                say(shown_path(file) + colons + name)
        if not answer["tests"]:
            say_nothing("no test reaches the change")
        if answer["unfollowed"]:
            sys.stderr.write("gitindex: farther tests import the change, too; only all are sure\n")

    return print_answer(question, as_json, text, closed=unchecked)


def _test_fields(found: AffectedTest) -> dict[str, Any]:
    return {
        **path_fields(os.fsencode(found.path)),
        "route": str(found.route),
        "distance": found.distance,
        "nodes": [safe_text(node) for node in found.nodes],
    }


def unchecked(_closed: GateClosed) -> int:
    """Report that a commit gate has no index, and let the commit pass."""
    sys.stderr.write("gitindex: not indexed, nothing was checked\n  hint: run `gitindex index`\n")
    return int(Exit.OK)


def dangling_fields(found: Dangling) -> dict[str, Any]:
    """Return the JSON fields of a dangling reference."""
    return {
        **path_fields(os.fsencode(found.path)),
        "line": found.line + 1,
        "column": found.column + 1,
        "name": found.name,
        "missingFrom": safe_text(found.missing_from),
        "tier": str(found.tier),
    }


def _misfit_fields(found: Misfit) -> dict[str, Any]:
    return {
        **path_fields(os.fsencode(found.path)),
        "line": found.line + 1,
        "column": found.column + 1,
        "name": found.name,
        "why": found.why,
        "signature": found.signature,
    }


def _place(found: dict[str, Any]) -> str:
    return f"{shown_path(found['path'])}:{found['line']}"


def _gone(rows: list[dict[str, Any]], deleted: list[str], last: str = "") -> Iterator[str]:
    """Yield a line for each place: which names are gone from which file, or that it is deleted."""
    names: dict[tuple[str, str, str], dict[str, None]] = {}
    for found in rows:
        end = f" [{found[last]}]" if last else ""
        names.setdefault((_place(found), found["missingFrom"], end), {})[found["name"]] = None
    for (place, missing, end), gone in names.items():
        listed = ", ".join(f"`{safe_text(name)}`" for name in gone)
        if missing in deleted:
            yield f"{place}: {listed} used, but {shown_path(missing)} is deleted{end}"
        else:
            verb = "is" if len(gone) == 1 else "are"
            yield f"{place}: {listed} {verb} gone from {shown_path(missing)}{end}"


@contextmanager
def _comparing(path: str, wanted: str, staged: bool) -> Iterator[TreeChange]:
    from gitindex.query.impact.change import comparing, parse_range

    between = parse_range(wanted, staged)
    with patience("following the change"), comparing(find_worktree(path), path, between) as change:
        yield change


def _say_impact(answer: dict[str, Any], everything: bool = False) -> None:
    """Print code first, file by file; keys of data files and headings only with `everything`."""
    changed = answer["changedSymbols"]
    code = changed if everything else [one for one in changed if one["kind"] not in DATA_KINDS]
    for path, found in groupby(code, key=itemgetter("path")):
        say(paint("path", shown_path(path)))
        for one in found:
            say(f"  {one['line']:>5}  {one['change']:<9} {safe_text(one['qualifiedName'])}")
    if answer["reached"]:
        say("reaches")
    for path, found in groupby(sorted(answer["reached"], key=_by_place), key=itemgetter("path")):
        say(f"  {paint('path', shown_path(path))}")
        for one in found:
            step = paint("dim", f"[{one['tier']}, {counted(one['distance'], 'steps')}]")
            say(f"    {one['line']:>5}  {safe_text(one['qualifiedName'])}  {step}")
    if answer["tests"]:
        say("tests")
    for name in answer["tests"]:
        say(f"  {paint('path', shown_path(name))}")
    told = [
        f"{counted(len(answer['changedFiles']), 'files')} changed",
        f"{counted(len(code), 'symbols')}",
        f"{counted(len(answer['files']), 'files')} reached",
        f"{counted(len(answer['tests']), 'tests')} to run",
    ]
    if len(code) < len(changed):
        hidden = counted(len(changed) - len(code), "changes")
        told.append(f"{hidden} of keys and headings not shown (--all)")
    say(paint("dim", f"-- {', '.join(told)}"))


def _by_place(found: dict[str, Any]) -> tuple[int, str, int]:
    return found["distance"], found["path"], found["line"]
