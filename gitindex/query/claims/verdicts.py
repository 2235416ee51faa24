"""The verdict on each kind of claim about symbols: from the partition of the name, nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from gitindex.base.escape import counted, safe_text
from gitindex.base.vocabulary import Assumption, Direction
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.claims.evidence import (
    CALLS,
    CONFIRMED,
    MAX_CANDIDATES,
    REFUTED,
    SURE,
    UNVERIFIABLE,
    ClaimTree,
    ClaimVerdict,
    combined,
    definition_row,
    rows_of,
)
from gitindex.query.names.model import Definition
from gitindex.query.references import MAX_LIMIT

TEST_DEPTH = 4
"""Calls between a test and what it is said to test."""

Row = dict[str, Any]
Known = frozenset[str]
_FROM_OUTSIDE: Known = frozenset(
    {"a test runner calls it", "a decorator or attribute may hand it to a framework"}
)
"""Reasons of a use that is no call in the tree's own code."""


def judge_no_callers(tree: ClaimTree, name: str) -> ClaimVerdict:
    """Confirmed by a complete list without a call; refuted by a call that is sure."""
    return _each(tree, name, lambda one: _no_callers(tree, one))


def judge_unused(tree: ClaimTree, name: str) -> ClaimVerdict:
    """Confirmed by `absent`; refuted by any reference."""
    return _each(tree, name, lambda one: _unused(tree, one))


def judge_only_called_from(tree: ClaimTree, name: str, below: str) -> ClaimVerdict:
    """Confirmed by a complete list of calls, all in the file or folder; refuted by one outside."""
    return _each(tree, name, lambda one: _only_called_from(tree, one, below))


def judge_calls(tree: ClaimTree, caller: str, callee: str) -> ClaimVerdict:
    """Confirmed by a sure call inside of the caller; refuted where no place in it may be one."""
    if tree.has(caller):
        return _each(tree, callee, lambda one: _calls(tree, caller, None, one))
    return _each(
        tree,
        caller,
        lambda one: _each(tree, callee, lambda other: _calls(tree, one.path, one, other)),
    )


def judge_tests(tree: ClaimTree, name: str, test: str) -> ClaimVerdict:
    """Confirmed by a path of sure calls from the test; refuted where nobody uses the function."""
    if not tree.has(test):
        tree.symbols(test)  # an unknown test is refused
    return _each(tree, name, lambda one: _tests(tree, one, test))


def _each(tree: ClaimTree, name: str, judge: Callable[[Definition], ClaimVerdict]) -> ClaimVerdict:
    """Judge every symbol that a name may mean."""
    found = tree.symbols(name)
    if len(found) > MAX_CANDIDATES:
        some = tuple(map(definition_row, found[:3]))
        why = f"{safe_text(name)} is {len(found)} symbols: name one"
        return ClaimVerdict(UNVERIFIABLE, why, some)
    return combined(name, [(one, judge(one)) for one in found])


def _no_callers(tree: ClaimTree, definition: Definition) -> ClaimVerdict:
    answer = tree.references(definition)
    calls = [row for row in answer["references"] if row["use"] in CALLS]
    sure = [row for row in calls if row["tier"] in SURE]
    if sure:
        return _found(REFUTED, counted(len(sure), "calls"), sure, answer)
    if doubt := _doubt(answer, calls, _FROM_OUTSIDE):
        return doubt
    return _verdict(CONFIRMED, f"no call: {_all(answer)}", [], answer)


def _unused(tree: ClaimTree, definition: Definition) -> ClaimVerdict:
    answer = tree.references(definition)
    if answer["references"]:
        many = counted(answer["totalReferences"], "references")
        return _found(REFUTED, many, answer["references"], answer)
    if answer["absent"]:
        return _verdict(CONFIRMED, f"nobody uses it: {_all(answer)}", [], answer)
    return _doubt(answer, []) or _verdict(UNVERIFIABLE, "it may be used unnamed", [], answer)


def _only_called_from(tree: ClaimTree, definition: Definition, below: str) -> ClaimVerdict:
    answer = tree.references(definition)
    calls = [row for row in answer["references"] if row["use"] in CALLS]
    outside = [row for row in calls if not _is_below(row["path"], below)]
    sure = [row for row in outside if row["tier"] in SURE]
    if sure:
        many = f"{counted(len(sure), 'calls')} outside of {safe_text(below)}"
        return _found(REFUTED, many, sure, answer)
    if doubt := _doubt(answer, outside, _FROM_OUTSIDE):
        return doubt
    if not calls:
        return _verdict(UNVERIFIABLE, "nobody calls it", [], answer)
    return _verdict(CONFIRMED, f"all {counted(len(calls), 'calls')} there", calls, answer)


def _calls(
    tree: ClaimTree, path: str, caller: Definition | None, callee: Definition
) -> ClaimVerdict:
    answer = tree.references(callee, path)
    inside = [row for row in answer["references"] if _is_in(row, caller)]
    calls = [row for row in inside if row["use"] in CALLS and _is_within(row, caller)]
    sure = [row for row in calls if row["tier"] in SURE]
    if sure:
        return _found(CONFIRMED, counted(len(sure), "calls"), sure, answer)
    return _not_called(answer, inside, caller, callee)


def _not_called(
    answer: Row, inside: list[Row], caller: Definition | None, callee: Definition
) -> ClaimVerdict:
    """Return the verdict where no call is sure: refuted only where no place may be one."""
    if inside:
        why = f"it names {safe_text(callee.qualified)}, but no call of it is sure"
        return _verdict(UNVERIFIABLE, why, inside, answer)
    maybe = [r for r in (*answer["possible"], *answer["unlikely"]) if _is_in(r, caller)]
    if maybe:
        return _verdict(UNVERIFIABLE, counted(len(maybe), "possible places"), maybe, answer)
    if doubt := _unnamed(answer, _FROM_OUTSIDE):
        return doubt
    cut = answer["truncated"] or len(answer["possible"]) >= MAX_LIMIT
    if cut or not answer["accountedFor"]:
        return _verdict(UNVERIFIABLE, "not all occurrences are accounted for", [], answer)
    evidence = [definition_row(caller)] if caller else []
    return _verdict(REFUTED, f"no occurrence of {callee.name} in it", evidence, answer)


def _tests(tree: ClaimTree, definition: Definition, test: str) -> ClaimVerdict:
    answer = tree.references(definition)
    if answer["absent"]:
        return _verdict(REFUTED, f"nobody uses it: {_all(answer)}", [], answer)
    sites: list[Row] = []
    for start in [test] if tree.has(test) else [_id(one) for one in tree.symbols(test)]:
        sites = _path_to(tree, start, definition)
        if sites:
            return _found(CONFIRMED, f"by {counted(len(sites), 'calls')}", sites, answer)
    why = f"no path of at most {TEST_DEPTH} sure calls leads from the test to it"
    return _verdict(UNVERIFIABLE, why, [], answer)


def _path_to(tree: ClaimTree, start: str, target: Definition) -> list[Row]:
    """Return the calls that lead from a test to a definition; empty if none are known."""
    graph = call_graph(
        tree.view, GraphQuery(start, Direction.CALLEES, TEST_DEPTH, 1_000), tree.memory
    )
    if graph["status"] != "ok":
        return []
    edges = [e for e in graph["edges"] if e["kind"] == "call" and e["tier"] in SURE]
    steps: dict[str, list[Row]] = {graph["root"]: []}
    waiting = [graph["root"]]
    for node in waiting:
        for edge in (e for e in edges if e["from"] == node and e["to"] not in steps):
            steps[edge["to"]] = [*steps[node], {**edge["site"], "tier": edge["tier"]}]
            waiting.append(edge["to"])
    goal = (safe_text(target.path), target.line + 1)
    return next(
        (steps.get(n["id"], []) for n in graph["nodes"] if (n["path"], n["line"]) == goal), []
    )


def _id(definition: Definition) -> str:
    return f"{definition.path}:{definition.line + 1}"


def _doubt(answer: Row, calls: list[Row], known: Known = frozenset()) -> ClaimVerdict | None:
    """Return why a list is not a proof that there is no other call; None if it is one."""
    if calls:
        return _verdict(UNVERIFIABLE, f"{counted(len(calls), 'calls')} may be of it", calls, answer)
    places = [*answer["possible"], *answer["unlikely"]]
    if places:
        return _verdict(UNVERIFIABLE, counted(len(places), "possible places"), places, answer)
    if not answer["complete"]:
        return _verdict(UNVERIFIABLE, "not all occurrences are accounted for", [], answer)
    return _unnamed(answer, known)


def _unnamed(answer: Row, known: Known = frozenset()) -> ClaimVerdict | None:
    """Return how a symbol may be called without its name, apart from what is known."""
    for reason in answer["reasons"]:
        if reason not in known:
            return _verdict(UNVERIFIABLE, reason, [], answer)
    rows = [row for row in answer["references"] if row["use"] in ("reference", "attribute")]
    if (handed := answer.get("handedOver")) and (rows or not answer["reasons"]):
        why = f"passed as a value in {counted(handed, 'places')}"
        return _verdict(UNVERIFIABLE, why, rows, answer)
    return None


def _verdict(verdict: str, why: str, rows: list[Row], answer: Row) -> ClaimVerdict:
    return ClaimVerdict(verdict, why, rows_of(rows), tuple(answer["assumes"]))


def _found(verdict: str, why: str, rows: list[Row], answer: Row) -> ClaimVerdict:
    """Return a verdict by places that exist: only a name that is bound again makes them doubtful."""
    made = _verdict(verdict, why, rows, answer)
    kept = tuple(one for one in made.assumes if one["assumption"] == Assumption.REBINDING)
    return made._replace(assumes=kept)


def _all(answer: Row) -> str:
    return f"all {counted(answer['accounted']['total'], 'occurrences')} accounted for"


def _is_in(row: Row, caller: Definition | None) -> bool:
    """Return whether a place of the caller's file is in its lines, decorators included."""
    return caller is None or caller.start_line < row["line"] <= caller.end_line + 1


def _is_within(row: Row, caller: Definition | None) -> bool:
    """Return whether a place is in the caller's own code: not in its decorators or defaults."""
    around = row.get("enclosing", "")
    return caller is None or around == caller.qualified or around.startswith(f"{caller.qualified}.")


def _is_below(path: str, below: str) -> bool:
    shown = safe_text(os.fsencode(below))
    return below in ("", ".") or path == shown or path.startswith(f"{shown}/")
