"""Verbs that follow names: references, call graph, impact. Plain functions that return an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.vocabulary import Direction
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import any_of, in_tree, print_answer, print_missing
from gitindex.cli.progress import patience
from gitindex.cli.shown_path import named_path, shown_node, shown_path
from gitindex.cli.terminal import paint, say
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import NOW, TreeChoice, TreeView

if TYPE_CHECKING:
    from gitindex.base.answers import CallGraphAnswer
    from gitindex.query.callgraph.answer import GraphQuery
    from gitindex.query.impact.change import TreeChange
    from gitindex.query.impact.dangling import Dangling
    from gitindex.query.references import ReferenceQuery

_DATA_KINDS = frozenset({"key", "heading", "section", "anchor", "table", "selector"})
EXITS = {"ok": Exit.OK, "not_found": Exit.NO, "ambiguous": Exit.NO}


def refs(
    wanted: ReferenceQuery, path: str = ".", ask: TreeChoice = NOW, as_json: bool = False
) -> int:
    """Where a symbol is used."""
    from gitindex.query.references import find_references
    from gitindex.query.symbols import suggestions

    inside = wanted._replace(asked=_inside(path, wanted.asked))

    def question(view: TreeView) -> dict[str, Any]:
        with patience("following names"):
            answer = find_references(view, inside)
            if not (answer["definitions"] or answer["references"]):
                answer["near"] = suggestions(view, wanted.asked)
            return answer

    return print_answer(
        in_tree(path, ask, question), as_json, _say_references, any_of("references")
    )


def graph(wanted: GraphQuery, path: str = ".", ask: TreeChoice = NOW, form: str = "text") -> int:
    """Who calls a symbol, and what it calls."""
    from gitindex.query.callgraph.answer import call_graph
    from gitindex.query.symbols import suggestions

    inside = wanted._replace(asked=_inside(path, wanted.asked))

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

    return print_answer(in_tree(path, ask, question), form == "json", text, _exit)


def _exit(answer: CallGraphAnswer) -> Exit:
    if answer["status"] != "ok":
        return EXITS[answer["status"]]
    return Exit.OK if answer["edges"] else Exit.NO


def _inside(path: str, asked: str) -> str:
    """FILE, FILE:LINE and FILE#NAME are given from where one stands; the tree knows them from its root."""
    file, mark, rest = asked.partition("#") if "#" in asked else asked.partition(":")
    is_place = bool(mark) and (mark == "#" or rest[:1].isdigit())
    if is_place or os.path.isfile(os.path.join(path, asked)):
        try:
            return named_path(find_worktree(path).root, path, file) + mark + rest
        except GitIndexError:
            return asked
    return asked


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
        how = paint("dim", f"[{found['tier']} {found['use']}{safe_text(around)}]")
        say(f"  {paint('path', place)}  {_code(found['text'], answer['name'])}  {how}")
    _say_certificate(answer, len(answer["references"]), "references")


def _code(text: str, name: str) -> str:
    """A line of code, without its indentation, the name in it highlighted."""
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
    count = f"{shown} of {total} {what} shown" if answer["truncated"] else _counted(shown, what)
    sure = "complete in code" if answer["complete"] else "perhaps not complete"
    told = [f"{count} in {kind}" for kind, count in answer.get("mentions", {}).items()]
    if told:
        told[0] = told[0].replace(" in ", " mentions in ", 1)
        sure += f"; {', '.join(told)}"
    outdated = len(answer.get("semanticLayer", {}).get("stalePaths", ()))
    stale = f"; semantic layer stale in {outdated} of these files" if outdated else ""
    say(paint("dim", f"-- {count}; {sure}; {answer['freshness']['state']}{stale}"))


def _counted(number: int, what: str) -> str:
    """`1 reference`, `2 references`."""
    return f"{number} {what.removesuffix('s') if number == 1 else what}"


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
) -> int:
    """What a change reaches: symbols, files, tests."""
    from gitindex.query.impact.reach import impact as find_impact

    def question() -> dict[str, Any]:
        with _comparing(path, wanted, staged) as change:
            return find_impact(change, depth)

    text = partial(_say_impact, everything=everything)
    return print_answer(question, as_json, text, any_of("changedFiles"))


def dangling(wanted: str, staged: bool, path: str = ".", as_json: bool = False) -> int:
    """Refuse a change that leaves references behind: exit 1, with their places."""
    from gitindex.query.impact.dangling import find_dangling

    def question() -> dict[str, Any]:
        with _comparing(path, wanted, staged) as change:
            listed = [_dangling_fields(found) for found in find_dangling(change)]
            return change.after.view.envelope(dangling=listed)

    def text(answer: dict[str, Any]) -> None:
        for found in answer["dangling"]:
            place = f"{shown_path(found['path'])}:{found['line']}"
            gone = f"`{safe_text(found['name'])}` is gone from {shown_path(found['missingFrom'])}"
            say(f"{place}: {gone}")

    def code(answer: dict[str, Any]) -> int:
        return Exit.NO if answer["dangling"] else Exit.OK

    return print_answer(question, as_json, text, code, _unchecked)


def reached_tests(wanted: str, staged: bool, path: str = ".", as_json: bool = False) -> int:
    """The test files that reach a change."""
    from gitindex.query.impact.reach import affected_tests

    def question() -> dict[str, Any]:
        with _comparing(path, wanted, staged) as change:
            tests = [safe_text(name) for name in affected_tests(change)]
            return change.after.view.envelope(tests=tests)

    def text(answer: dict[str, Any]) -> None:
        for name in answer["tests"]:
            say(shown_path(name))

    return print_answer(question, as_json, text, closed=_unchecked)


def _unchecked(_closed: GateClosed) -> int:
    """A gate over commits that has no index says so, and must not block the commit."""
    sys.stderr.write("gitindex: not indexed, nothing was checked\n  hint: run `gitindex index`\n")
    return int(Exit.OK)


def _dangling_fields(found: Dangling) -> dict[str, Any]:
    return {
        **path_fields(os.fsencode(found.path)),
        "line": found.line + 1,
        "name": found.name,
        "missingFrom": safe_text(found.missing_from),
    }


@contextmanager
def _comparing(path: str, wanted: str, staged: bool) -> Iterator[TreeChange]:
    from gitindex.query.impact.change import comparing, parse_range

    between = parse_range(wanted, staged)
    with patience("following the change"), comparing(find_worktree(path), path, between) as change:
        yield change


def _say_impact(answer: dict[str, Any], everything: bool = False) -> None:
    """Code first, file by file; keys of data files and headings only where everything is wanted."""
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
            step = paint("dim", f"[{one['tier']}, {_counted(one['distance'], 'steps')}]")
            say(f"    {one['line']:>5}  {safe_text(one['qualifiedName'])}  {step}")
    if answer["tests"]:
        say("tests")
    for name in answer["tests"]:
        say(f"  {paint('path', shown_path(name))}")
    told = [
        f"{_counted(len(answer['changedFiles']), 'files')} changed",
        f"{_counted(len(code), 'symbols')}",
        f"{_counted(len(answer['files']), 'files')} reached",
        f"{_counted(len(answer['tests']), 'tests')} to run",
    ]
    if len(code) < len(changed):
        hidden = _counted(len(changed) - len(code), "keys and headings")
        told.append(f"{hidden} not shown (--all)")
    say(paint("dim", f"-- {', '.join(told)}"))


def _by_place(found: dict[str, Any]) -> tuple[int, str, int]:
    return found["distance"], found["path"], found["line"]
