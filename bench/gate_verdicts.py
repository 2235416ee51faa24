"""Sampled `ok` verdicts of the mutation gate against what was really executed, or what the text holds.

`python -m bench.gate_verdicts REPOSITORY [CALLS.json]`: 25 functions, evenly spread, that the gate says
`ok` of. CALLS.json holds the calls that a run of the project's tests made (`python -m
bench.gate_verdicts --record CALLS.json FOLDER pytest…` records them). Of a function that was not
called, every line of the tree with its name is looked at. A line that `find_references` neither lists
nor leaves open is printed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.gate import FUNCTIONS
from gitindex.base.path_kind import is_test
from gitindex.base.worktree import find_worktree
from gitindex.filestate import FileStateService
from gitindex.filestate.ambiguity import EditTarget
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import TreeView, open_tree

SAMPLE = 25
Place = tuple[str, int]


class SampledVerdict(NamedTuple):
    """One `ok` function, and what its references say."""

    path: str
    name: str
    line: int
    listed: set[Place]  # lines of references and definitions
    is_open: bool  # the answer says that there may be more
    told: int  # how many lines are named as unexplained or mentioned


def sample(folder: Path) -> list[SampledVerdict]:
    """Functions that the gate calls ok, spread over the repository."""
    worktree = find_worktree(str(folder))
    with open_tree(worktree, worktree.root) as view:
        targets, names = [], {}
        service = FileStateService(view)
        for path, row in sorted(service.world.files.items()):
            facts = service.world.facts(path) if row.has_facts and not is_test(path) else None
            for symbol in facts.symbols if facts else ():
                if symbol.kind in FUNCTIONS:
                    targets.append(EditTarget(path, line=symbol.line + 1))
                    names[path, symbol.line + 1] = (symbol.name, symbol.column + 1)
        verdicts = service.check_mutation_gate(targets[:: max(1, len(targets) // 100)]).targets
        ok = [one for one in verdicts if one["status"] == "ok"]
        chosen = ok[:: max(1, len(ok) // SAMPLE)][:SAMPLE]
        return [_verdict(view, one, *names[one["path"], one["line"]]) for one in chosen]


def _verdict(view: TreeView, one: dict[str, Any], name: str, column: int) -> SampledVerdict:
    path, line = one["path"], one["line"]
    query = ReferenceQuery(f"{path}:{line}:{column}", "", "", 1_000, True)
    answer: Any = find_references(view, query)
    rows = [*answer["references"], *answer["definitions"], *answer.get("mentions", [])]
    unexplained = answer.get("unexplained", [])
    listed = {(row["path"], row["line"]) for row in [*rows, *unexplained] if "line" in row}
    return SampledVerdict(
        path, name, line, listed, not answer.get("complete", False), len(unexplained)
    )


def textual_lines(folder: Path, name: str) -> Iterator[Place]:
    """Lines of tracked files that hold the name as a word."""
    command = ["git", "-C", str(folder), "grep", "-nwI", "-F", "-e", name]
    printed = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    for row in printed.stdout.splitlines():
        path, line, _ = row.split(":", 2)
        yield path, int(line)


def first_lines(folder: Path, one: SampledVerdict) -> Iterator[int]:
    """Where the function may begin for the interpreter: its line, or a decorator right above it."""
    lines = (folder / one.path).read_text(errors="replace").splitlines()
    at = one.line
    yield at
    while at > 1 and lines[at - 2].lstrip().startswith("@"):
        at -= 1
        yield at


def executed_calls(calls: Path) -> dict[Place, set[Place]]:
    """Callee's definition line → lines that called it."""
    found: dict[Place, set[Place]] = {}
    for path, line, by, at in json.loads(calls.read_text()):
        found.setdefault((path, line), set()).add((by, at))
    return found


def record(target: str, folder: str, args: list[str]) -> int:
    """Run pytest and write down every call between files of the folder."""
    import pytest

    root = str(Path(folder).resolve()) + "/"
    seen: set[tuple[str, int, str, int]] = set()

    def watch(frame: Any, event: str, _arg: Any) -> None:
        above = frame.f_back
        if event != "call" or above is None:
            return
        code, by = frame.f_code, above.f_code.co_filename
        if code.co_filename.startswith(root) and by.startswith(root):
            seen.add(
                (
                    code.co_filename[len(root) :],
                    code.co_firstlineno,
                    by[len(root) :],
                    above.f_lineno,
                )
            )

    sys.setprofile(watch)
    status = pytest.main(args)
    sys.setprofile(None)
    Path(target).write_text(json.dumps(sorted(seen)))
    return int(status)


def main(args: list[str]) -> int:
    if args[0] == "--record":
        return record(args[1], args[2], args[3:])
    folder = Path(args[0])
    calls = executed_calls(Path(args[1])) if len(args) > 1 else {}
    for number, one in enumerate(sample(folder), 1):
        starts = [calls.get((one.path, at), set()) for at in first_lines(folder, one)]
        places, by = next((found for found in starts if found), set()), "executed"
        if not places:
            places, by = set(textual_lines(folder, one.name)), "text"
        missing = sorted(places - one.listed - {(one.path, one.line)})
        verdict = "right" if not missing else "open" if one.is_open else "LOOK"
        print(f"| {number} | {one.path}:{one.line} `{one.name}` | {len(places)} {by} | {verdict} |")
        for path, line in missing if verdict == "LOOK" else ():
            print(f"      {path}:{line}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
