"""Verbs that follow names: references, call graph, impact. Plain functions that return an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from gitindex.base.errors import Exit
from gitindex.base.escape import counted, path_fields, safe_text
from gitindex.base.vocabulary import Direction
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import Asking, any_of, in_tree, print_answer, print_missing
from gitindex.cli.progress import patience
from gitindex.cli.shown_path import named_place, shown_node, shown_path
from gitindex.cli.terminal import paint, say, say_nothing
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import NOW, TreeChoice, TreeView

if TYPE_CHECKING:
    from gitindex.base.answers import CallGraphAnswer, ImpactAnswer, ReferencesAnswer
    from gitindex.query.callgraph.answer import GraphQuery
    from gitindex.query.impact.affected import AffectedTest
    from gitindex.query.impact.change import TreeChange
    from gitindex.query.impact.dangling import Dangling
    from gitindex.query.impact.misfits import Misfit
    from gitindex.query.references import ReferenceQuery

_DATA_KINDS = frozenset({"key", "heading", "section", "anchor", "table", "selector"})
TEAM_HITS = 100
"""Maximum number of places in other repositories that `impact` lists."""
EXITS = {"ok": Exit.OK, "not_found": Exit.NO, "ambiguous": Exit.NO}


def refs(
    wanted: ReferenceQuery,
    path: str = ".",
    ask: TreeChoice = NOW,
    as_json: bool = False,
    team: bool = False,
) -> int:
    """Print where a symbol is used."""
    from gitindex.query.references import find_references
    from gitindex.query.symbols import suggestions

    inside = wanted._replace(asked=named_place(path, wanted.asked))

    def question(view: TreeView) -> ReferencesAnswer:
        with patience("following names"):
            answer = find_references(view, inside)
            if not (answer["definitions"] or answer["references"]):
                answer["near"] = suggestions(view, wanted.asked)
            return answer

    told: Asking = (in_tree(path, ask, question), _say_references, any_of("references"))
    if team:
        told = _with_team(path, lambda answer: [answer["name"]], wanted.limit, told)
    return print_answer(told[0], as_json, told[1], told[2])


def _with_team(path: str, names: Callable[[Any], list[str]], limit: int, told: Asking) -> Asking:
    """Add the references of other repositories."""
    from gitindex.cli.verbs.team import asking_team

    return asking_team(find_worktree(path), "references", names, limit, told)


def graph(
    wanted: GraphQuery,
    path: str = ".",
    ask: TreeChoice = NOW,
    form: str = "text",
    team: bool = False,
) -> int:
    """Print the callers and callees of a symbol."""
    from gitindex.query.callgraph.answer import call_graph
    from gitindex.query.symbols import suggestions

    inside = wanted._replace(asked=named_place(path, wanted.asked))

    def question(view: TreeView) -> CallGraphAnswer:
        with patience("following names"):
            answer = call_graph(view, inside)
            if answer["status"] == "not_found":
                answer["near"] = suggestions(view, wanted.asked)
            return answer

    def text(answer: CallGraphAnswer) -> None:
        if answer["status"] != "ok":
            _say_undecided(answer)
        elif form == "text":
            _say_graph(answer, inside.direction)
        else:
            from gitindex.query.callgraph.drawing import FORMATS

            say(FORMATS[form](answer))

    told: Asking = (in_tree(path, ask, question), text, _exit)
    if team:
        name = wanted.asked.rpartition("#")[2].rpartition(".")[2]
        told = _with_team(path, lambda _: [name], wanted.limit, told)
    return print_answer(told[0], form == "json", told[1], told[2])


def _exit(answer: CallGraphAnswer) -> Exit:
    if answer["status"] != "ok":
        return EXITS[answer["status"]]
    return Exit.OK if answer["edges"] else Exit.NO


def _say_references(answer: dict[str, Any]) -> None:
    if "near" in answer:
        print_missing(answer["name"], answer["near"])
    for found in answer["definitions"]:
        place = f"{shown_path(found['path'])}:{found['line']}"
        shown = safe_text(found["signature"] or found["name"])
        say(f"{paint('path', place)}  {paint('kind', found['kind'])} {shown}")
    for relation, told in (("implements", "implements"), ("implementedBy", "implemented by")):
        for found in answer.get(relation, ()):
            place = f"{shown_path(found['path'])}:{found['line']}"
            say(f"  {told} {paint('path', place)}  {safe_text(found['qualifiedName'])}")
    for found in answer["references"]:
        place = f"{shown_path(found['path'])}:{found['line']}:{found['column']}"
        around = f" in {found['enclosing']}" if "enclosing" in found else ""
        kinds = " ".join(dict.fromkeys((found["tier"], found["use"])))  # no word twice
        how = paint("dim", f"[{kinds}{safe_text(around)}]")
        say(f"  {paint('path', place)}  {_code(found['text'], answer['name'])}  {how}")
    _say_certificate(answer, len(answer["references"]), "references")


def _code(text: str, name: str) -> str:
    """Return a line of code without indentation, with the name highlighted."""
    shown = safe_text(text.strip().replace("\t", " "))
    return shown.replace(name, paint("match", name)) if name else shown


def _say_certificate(answer: Mapping[str, Any], shown: int, what: str) -> None:
    for mention in answer["unexplained"]:
        place = f"{shown_path(mention['path'])}:{mention['line']}"
        say(f"? {paint('path', place)}  {mention['why']}: {safe_text(mention['text'])}")
    for mention in answer.get("mentioned", ()):
        place = f"{shown_path(mention['path'])}:{mention['line']}"
        say(paint("dim", f"  {place}  {mention['why']}: {safe_text(mention['text'])}"))
    total = answer.get("totalReferences", shown)
    count = f"{shown} of {total} {what} shown" if answer["truncated"] else counted(shown, what)
    sure = "complete in code" if answer["complete"] else "perhaps not complete"
    if elsewhere := answer.get("unexplainedElsewhere"):
        sure += f"; {elsewhere} left open elsewhere"
    told = [f"{count} in {kind}" for kind, count in answer.get("mentions", {}).items()]
    if told:
        told[0] = told[0].replace(" in ", " mentions in ", 1)
        sure += f"; {', '.join(told)}"
    outdated = len(answer.get("semanticLayer", {}).get("stalePaths", ()))
    stale = f"; semantic layer stale in {outdated} of these files" if outdated else ""
    say(paint("dim", f"-- {count}; {sure}; {answer['freshness']['state']}{stale}"))


def _say_graph(answer: CallGraphAnswer, direction: Direction) -> None:
    known = {node["id"]: node for node in answer["nodes"]}
    root = known[answer["root"]]
    say(f"{paint('name', shown_node(root['id']))}:{root['line']}")
    for edge in answer["edges"]:
        arrow = "->" if edge["from"] == answer["root"] else "<-"
        other = edge["to"] if arrow == "->" else edge["from"]
        ends = f"{arrow} {shown_node(other)}"
        if answer["root"] not in (edge["from"], edge["to"]):
            ends = f"   {shown_node(edge['from'])} -> {shown_node(edge['to'])}"
        place = f"{shown_path(edge['site']['path'])}:{edge['site']['line']}"
        say(f"  {ends}  {paint('path', place)}  {edge['tier']} {edge['kind']}")
    for note in answer["notes"]:
        at = f":{note['startLine']}" if note["startLine"] is not None else ""
        told = f"{at}: {note['type']}: {note['detail']}"
        say(paint("dim", f"  note {shown_path(note['file'])}{safe_text(told)}"))
    for warning in answer["warnings"]:
        say(paint("dim", f"  {warning}"))
    if direction is not Direction.CALLEES and "complete" in answer:
        _say_certificate(answer, len(answer["edges"]), "edges")


def _say_undecided(answer: CallGraphAnswer) -> None:
    near = ", ".join(map(safe_text, answer.get("near", ())))
    say(answer["message"] + (f"; near: {near}" if near else ""))
    for node in answer["candidates"]:
        say(f"  {paint('name', shown_node(node['id']))}  {node['kind']}")


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
        told = _with_team(path, _exported_changes, TEAM_HITS, told)
    return print_answer(told[0], as_json, told[1], told[2])


def _exported_changes(answer: ImpactAnswer) -> list[str]:
    """Return names of changed definitions that another repository could use."""
    changed = [one for one in answer["changedSymbols"] if one["kind"] not in _DATA_KINDS]
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
            return change.after.view.envelope(
                dangling=[dangling_fields(one) for one in found.sure],
                possible=[dangling_fields(one) for one in found.possible],
                misfits=[_misfit_fields(o) for o in find_misfits(change)] if signatures else [],
                truncated=found.truncated,
            )

    def text(answer: dict[str, Any]) -> None:
        for found in answer["dangling"]:
            say(f"{_place(found)}: {_gone(found)}")
        for found in answer["misfits"]:
            say(f"{_place(found)}: `{safe_text(found['name'])}` {safe_text(found['why'])}")
        for found in answer["possible"]:
            say(paint("dim", f"? {_place(found)}: {_gone(found)} [{found['tier']}]"))
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
            )

    def text(answer: dict[str, Any]) -> None:
        for one in answer["ranked"]:
            for node in one["nodes"] if nodes and one["nodes"] else [one["path"]]:
                file, colons, name = node.partition("::")
                say(shown_path(file) + colons + name)
        if not answer["tests"]:
            say_nothing("no test reaches the change")

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


def _gone(found: dict[str, Any]) -> str:
    return f"`{safe_text(found['name'])}` is gone from {shown_path(found['missingFrom'])}"


@contextmanager
def _comparing(path: str, wanted: str, staged: bool) -> Iterator[TreeChange]:
    from gitindex.query.impact.change import comparing, parse_range

    between = parse_range(wanted, staged)
    with patience("following the change"), comparing(find_worktree(path), path, between) as change:
        yield change


def _say_impact(answer: dict[str, Any], everything: bool = False) -> None:
    """Print code first, file by file; keys of data files and headings only with `everything`."""
    changed = answer["changedSymbols"]
    code = changed if everything else [one for one in changed if one["kind"] not in _DATA_KINDS]
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
        hidden = counted(len(changed) - len(code), "keys and headings")
        told.append(f"{hidden} not shown (--all)")
    say(paint("dim", f"-- {', '.join(told)}"))


def _by_place(found: dict[str, Any]) -> tuple[int, str, int]:
    return found["distance"], found["path"], found["line"]
