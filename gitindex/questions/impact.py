"""`gitindex impact`: what a change reaches, what it leaves dangling, which tests it concerns."""

from __future__ import annotations

import os
from itertools import groupby
from operator import itemgetter

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, path_fields, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.api import unchecked_fields, unchecked_lines
from gitindex.questions.ink import Aside, Note
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, Row, question

if TYPE_CHECKING:
    from typing import Any

    from gitindex.query.impact.change import TreeChange, TreePair
    from gitindex.query.impact.reach import AffectedTest


def ask(here: Here, params: Params) -> Any:
    """Return what a change reaches; or references left behind; or the tests that reach it."""
    from gitindex.query.impact.change import comparing
    from gitindex.query.impact.reach import impact

    if params["dangling"] and params["tests"]:
        raise GitIndexError(
            "--dangling and --tests exclude each other", "see `gitindex impact --help`", Exit.USAGE
        )
    try:
        pair = _pair(here, params)
        with (
            here.doing("following the change"),
            comparing(here.worktree, here.path, pair) as change,
        ):
            if params["dangling"]:
                return _dangling(change, params["signatures"])
            if params["tests"]:
                return _tests(change, params["limit"])
            return impact(change, params["depth"])
    except GitIndexError as error:
        if error.message.startswith("no such revision") and ".." not in params["between"]:
            error.hint = (
                f"commits are A..B; for a symbol: `gitindex callers -d 3 {params['between']}`"
            )
        raise


def _pair(here: Here, params: Params) -> TreePair:
    from gitindex.query.impact.change import TreePair, parse_range

    before, after = parse_range(params["between"], params["staged"])
    strict = here.choice.strict
    return TreePair(before._replace(strict=strict), after._replace(strict=strict))


def _dangling(change: TreeChange, signatures: bool) -> Row:
    from gitindex.query.impact.dangling import find_dangling, find_misfits

    result = find_dangling(change)
    missing = {one.missing_from for one in (*result.sure, *result.possible)}
    return change.after.view.envelope(
        deletedFiles=[path for path in sorted(missing) if change.paths.get(path) == "deleted"],
        dangling=[one.fields() for one in result.sure],
        possible=[one.fields() for one in result.possible],
        misfits=[one.fields() for one in find_misfits(change)] if signatures else [],
        possibleMore=result.more,
        unchecked=unchecked_fields(change),
        truncated=result.truncated,
    )


def _tests(change: TreeChange, limit: int) -> Row:
    from gitindex.query.impact.reach import affected_tests, runners_of

    result = affected_tests(change)
    shown = result.tests[:limit] if limit else result.tests
    ranked = [_test_fields(one) for one in shown]
    commands = runners_of(change).commands({one.path: one.nodes for one in shown})
    return change.after.view.envelope(
        tests=[one["path"] for one in ranked],
        ranked=ranked,
        commands=[one._asdict() for one in commands],
        unchecked=unchecked_fields(change),
        truncated=result.truncated or len(shown) < len(result.tests),
        unfollowed=result.truncated,
    )


def tests_of(here: Here, symbol: str) -> Row:
    """Return the tests that a change of a symbol's body concerns, the likeliest first."""
    from gitindex.query.impact.change import TreeChange
    from gitindex.query.impact.reach import affected_tests
    from gitindex.query.names.finder import Finder
    from gitindex.query.names.targets import find_target

    with here.tree() as view, here.doing("following the tests"):
        finder = Finder(view, here.memories.binding)
        target = find_target(finder.binder, symbol)
        result = affected_tests(TreeChange.of_bodies(finder, target.definitions))
        rows = [_test_fields(one) for one in result.tests]
        return view.envelope(tests=rows, truncated=result.truncated)


def _test_fields(test: AffectedTest) -> Row:
    return {
        **path_fields(os.fsencode(test.path)),
        "route": str(test.route),
        "distance": test.distance,
        "nodes": [safe_text(node) for node in test.nodes],
    }


def code(answer: Any, _params: Params) -> int:
    """Return 1 if something is left behind, or if nothing changed; tests never fail."""
    if "dangling" in answer:
        return 1 if answer["dangling"] or answer["misfits"] else 0
    return 0 if "ranked" in answer or answer["changedFiles"] else 1


def text(answer: Any, ink: Ink) -> Lines:
    """Yield the requested kind of answer."""
    if "dangling" in answer:
        return _dangling_text(answer, ink)
    return _tests_text(answer, ink) if "ranked" in answer else _impact_text(answer, ink)


def _dangling_text(answer: Answer, ink: Ink) -> Lines:
    yield from _gone(answer["dangling"], answer["deletedFiles"], ink)
    for row in answer["misfits"]:
        yield f"{ink.place(row)}: `{safe_text(row['name'])}` {safe_text(row['why'])}"
    for line in _gone(answer["possible"], answer["deletedFiles"], ink, "tier"):
        yield ink.paint("dim", f"? {line}")
    if answer["possibleMore"]:
        yield ink.paint("dim", f"? and {answer['possibleMore']} more possible places")
    if not (answer["dangling"] or answer["misfits"] or answer["possible"]):
        yield Aside("nothing dangles")
    if answer["dangling"]:
        yield Aside("restore what is gone, or change these places and stage them")
    if answer["truncated"]:
        yield Note("not checked: a part of this change, which loses too many names")
    yield from unchecked_lines(answer, ink)


def _gone(rows: list[Row], deleted: list[str], ink: Ink, last: str = "") -> Lines:
    """Yield a line for each place: which names are gone from which file, or that it is deleted."""
    names: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in rows:
        end = f" [{row[last]}]" if last else ""
        names.setdefault((ink.place(row), row["missingFrom"], end), {})[row["name"]] = None
    for (place, missing, end), gone in names.items():
        listed = ", ".join(f"`{safe_text(name)}`" for name in gone)
        if missing in deleted:
            yield f"{place}: {listed} used, but {ink.path(missing)} is deleted{end}"
        else:
            verb = "is" if len(gone) == 1 else "are"
            yield f"{place}: {listed} {verb} gone from {ink.path(missing)}{end}"


def _tests_text(answer: Answer, ink: Ink) -> Lines:
    for row in answer["ranked"]:
        for node in row["nodes"] if ink.params.get("nodes") and row["nodes"] else [row["path"]]:
            file, colons, name = node.partition("::")
            yield ink.path(file) + colons + name
    for one in answer["commands"]:
        where = f"cd {safe_text(one['root'])} && " if one["root"] else ""
        yield Note(f"run: {where}{safe_text(one['command'])}")
    if not answer["tests"]:
        yield Note("no test reaches the change")
    if answer["unfollowed"]:
        yield Note("farther tests import the change, too; only all are sure")
    yield from unchecked_lines(answer, ink)


def _impact_text(answer: Answer, ink: Ink) -> Lines:
    """Yield code first, file by file; keys of data files and headings only on request."""
    from gitindex.languages.syntax.kinds import DATA_KINDS

    changed = answer["changedSymbols"]
    shown = [
        one for one in changed if ink.params.get("everything") or one["kind"] not in DATA_KINDS
    ]
    for path, group in groupby(shown, key=itemgetter("path")):
        yield ink.paint("path", ink.path(path))
        for one in group:
            yield f"  {one['line']:>5}  {one['change']:<9} {safe_text(one['qualifiedName'])}"
    yield from _reached_text(answer["reached"], ink)
    if answer["tests"]:
        yield "tests"
    yield from (f"  {ink.paint('path', ink.path(name))}" for name in answer["tests"])
    parts = [
        f"{counted(len(answer['changedFiles']), 'files')} changed",
        f"{counted(len(shown), 'symbols')}",
        f"{counted(len(answer['files']), 'files')} reached",
        f"{counted(len(answer['tests']), 'tests')} to run",
    ]
    if len(shown) < len(changed):
        hidden = counted(len(changed) - len(shown), "changes")
        parts.append(f"{hidden} of keys and headings not shown" + (" (--all)" if ink.width else ""))
    yield ink.paint("dim", f"-- {', '.join(parts)}")


def _reached_text(rows: list[Row], ink: Ink) -> Lines:
    if rows:
        yield "reaches"
    for path, group in groupby(sorted(rows, key=_by_place), key=itemgetter("path")):
        yield f"  {ink.paint('path', ink.path(path))}"
        for one in group:
            step = ink.paint("dim", f"[{one['tier']}, {counted(one['distance'], 'steps')}]")
            yield f"    {one['line']:>5}  {safe_text(one['qualifiedName'])}  {step}"


def _by_place(row: Row) -> tuple[int, str, int]:
    return row["distance"], row["path"], row["line"]


def _team(answer: Any, _params: Params) -> tuple[str, list[str]]:
    """Ask for the changed definitions that another repository could use."""
    from gitindex.languages.syntax.kinds import DATA_KINDS

    changed = [one for one in answer["changedSymbols"] if one["kind"] not in DATA_KINDS]
    return "references", [one["qualifiedName"].rpartition(".")[2] for one in changed]


TABLE = """
Explore: impact | tool=impact listed
  What a change reaches: symbols, files and tests.
  > What a change reaches: symbols, files, tests.
    * | between = ..512 <[A..B]> | Two commits; HEAD and the disk if left out. | range: A..B, or A to
      + disk; default: HEAD to disk
    --staged | staged flag | Of what is staged, against HEAD. | : HEAD to the stage
    --dangling | dangling flag | References left behind; exit 1 if any.
    --signatures | signatures flag | With --dangling: calls that no longer fit, too.
    --tests | tests flag | Tests that reach the change, the likeliest first.
    --limit -m -n | limit integer 0.. | Test files at most, with --tests.
    --nodes | nodes flag | pytest's node ids, with --tests, where they are known.
    --depth -d | depth integer =2 1..10 | Steps to follow. | :
    --all | everything flag | Show keys of data files and headings, too.
"""
QUESTION = question(
    TABLE,
    ask,
    text,
    code=code,
    team=_team,
    example={"range": "4b825dc642cb6eb9a060e54bf8d69288fbee4904..HEAD"},
)
