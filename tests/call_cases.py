"""Small Python programs by the categories of call-graph benchmarks, each with the calls that Python made.

`tests/fixtures/call_graph_cases.jsonl` has one program a row; its `calls` were recorded by running it
(tests/call_recorder.py). A call is `(caller, callee)`, both `path` or `path#Qualified.name`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gitindex.base.vocabulary import Direction
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.names.memory import Memory
from gitindex.view.tree import TreeView

FIXTURE = Path(__file__).parent / "fixtures" / "call_graph_cases.jsonl"
_DEFINED = re.compile(r"(?:def|class) (?!__)(\w+)")
Call = tuple[str, str]


class Case(NamedTuple):
    """One row of the fixture, in a folder of its own."""

    folder: str
    category: str
    title: str
    files: dict[str, str]
    calls: set[Call]


class Score(NamedTuple):
    """Calls that were claimed, that happened, and both."""

    claimed: int = 0
    true: int = 0
    right: int = 0

    def plus(self, claimed: set[Call], true: set[Call]) -> Score:
        """Return the score with one more case."""
        right = len(claimed & true)
        return Score(self.claimed + len(claimed), self.true + len(true), self.right + right)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, self.claimed + self.true)


def load() -> list[Case]:
    """Return every case; paths and calls are below its folder, and no name is in two cases."""
    cases = []
    for number, line in enumerate(FIXTURE.read_text().splitlines()):
        row, folder = _with_own_names(json.loads(line), f"_{number}"), f"c{number:03}"
        files = {f"{folder}/{path}": text for path, text in row["files"].items()}
        calls = {(f"{folder}/{caller}", f"{folder}/{callee}") for caller, callee in row["calls"]}
        cases.append(Case(folder, row["category"], row["title"], files, calls))
    return cases


def _with_own_names(row: dict[str, Any], mark: str) -> dict[str, Any]:
    """Return a case whose functions and classes are called as those of no other: it is a program alone."""
    defined = "|".join(_DEFINED.findall("".join(row["files"].values())))
    named = re.compile(rf"\b({defined})\b(?!\.py)")
    files = {path: named.sub(rf"\1{mark}", text) for path, text in row["files"].items()}
    calls = [[named.sub(rf"\1{mark}", end) for end in call] for call in row["calls"]]
    return row | {"files": files, "calls": calls}


def recorded(cases: list[Case], root: Path) -> list[set[Call]]:
    """Return the calls of each case as this Python makes them; the cases are files below `root`."""
    command = [sys.executable, str(Path(__file__).with_name("call_recorder.py"))]
    command += [str(root / case.folder) for case in cases]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [
        {(f"{case.folder}/{caller}", f"{case.folder}/{callee}") for caller, callee in calls}
        for case, calls in zip(cases, map(json.loads, done.stdout.splitlines()), strict=True)
    ]


def claimed(view: TreeView, case: Case, memory: Memory) -> set[Call]:
    """Return the calls of a case that the graph draws.

    A function is asked for what it calls itself, so calls of a function inside of it are that one's. What
    makes an object without an `__init__` runs no code of the tree; other cases are other programs.
    """
    found: set[Call] = set()
    asked = [path for path in case.files if case.files[path]]
    lines: dict[str, dict[tuple[str, int], set[str]]] = {}
    classes: set[str] = set()
    for node in asked:  # grows during the loop
        answer = call_graph(view, GraphQuery(node, Direction.CALLEES, limit=200), memory)
        kinds = {row["id"]: row["kind"] for row in answer["nodes"]}
        for edge in answer["edges"]:
            target = edge["to"]
            if not target.startswith(f"{case.folder}/") or edge["kind"] in ("import", "inherit"):
                continue
            if target not in asked:
                asked.append(target)
            classes |= {node} if kinds[node] == "class" else set()
            if not _makes_nothing(case.calls, target, kinds[target]):
                sites = lines.setdefault(target.removesuffix(".__init__"), {})
                sites.setdefault((edge["site"]["path"], edge["site"]["line"]), set()).add(node)
    for target, sites in lines.items():
        for callers in sites.values():
            found |= {(_code(caller, classes), target) for caller in _innermost(callers)}
    return found


def _code(caller: str, classes: set[str]) -> str:
    """Return whose code a caller is: the body of a class is run by what is around it."""
    while caller in classes:
        around, dot, _ = caller.rpartition(".")
        caller = around if dot and "#" in around else caller.partition("#")[0]
    return caller


def _makes_nothing(calls: set[Call], target: str, kind: str) -> bool:
    return kind == "class" and target not in {callee for _, callee in calls}


def _innermost(callers: set[str]) -> set[str]:
    return {one for one in callers if not any(o.startswith(f"{one}.") for o in callers)}


def differences(true: Mapping[str, set[Call]], told: Mapping[str, set[Call]]) -> list[str]:
    """Return one line for each case that is not exactly right."""
    return [
        f"{title}: missing {sorted(calls - told[title])}, wrong {sorted(told[title] - calls)}"
        for title, calls in true.items()
        if calls != told[title]
    ]
