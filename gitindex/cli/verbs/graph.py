"""Verbs that follow names: references, call graph, impact. Plain functions that return an exit code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gitindex.base.errors import Exit
from gitindex.base.escape import counted, safe_text
from gitindex.base.vocabulary import Direction
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import (
    Asking,
    any_of,
    in_tree,
    print_answer,
    print_missing,
    shown_signature,
)
from gitindex.cli.progress import patience
from gitindex.cli.shown_path import named_place, shown_node, shown_path
from gitindex.cli.terminal import paint, say
from gitindex.view.tree import NOW, TreeChoice, TreeView

if TYPE_CHECKING:
    from gitindex.base.answers import CallGraphAnswer, ReferencesAnswer
    from gitindex.query.callgraph.answer import GraphQuery
    from gitindex.query.references import ReferenceQuery

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
        told = with_team(path, lambda answer: [answer["name"]], wanted.limit, told)
    return print_answer(told[0], as_json, told[1], told[2])


def with_team(path: str, names: Callable[[Any], list[str]], limit: int, told: Asking) -> Asking:
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
            _say_undecided(answer, wanted.asked)
        elif form == "text":
            _say_graph(answer, inside.direction)
        else:
            from gitindex.query.callgraph.drawing import FORMATS

            say(FORMATS[form](answer))

    told: Asking = (in_tree(path, ask, question), text, _exit)
    if team:
        name = wanted.asked.rpartition("#")[2].rpartition(".")[2]
        told = with_team(path, lambda _: [name], wanted.limit, told)
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
        shown = shown_signature(found["signature"] or found["name"], found["kind"])
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
    if handed := answer.get("handedOver"):
        sure += f"; handed over at {counted(handed, 'places')}, called from there by other names"
    for position, (kind, number) in enumerate(answer.get("mentions", {}).items()):
        sure += (
            f", {number} in {kind}" if position else f"; {counted(number, 'mentions')} in {kind}"
        )
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


def _say_undecided(answer: CallGraphAnswer, asked: str) -> None:
    if answer["status"] == "not_found":
        print_missing(asked, answer.get("near", []))
    else:
        say(answer["message"])
    for node in answer["candidates"]:
        say(f"  {paint('name', shown_node(node['id']))}  {node['kind']}")
