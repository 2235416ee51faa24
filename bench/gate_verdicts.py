"""Sampled `ok` verdicts of the mutation gate against what was executed, what SCIP says, what the text holds.

`python -m bench.gate_verdicts REPOSITORY [--calls=CALLS.json] [--scip=scip-typescript]`: 25 functions,
evenly spread, that the gate says `ok` of. CALLS.json holds the calls that a run of the project's tests
made (`python -m bench.gate_verdicts --record CALLS.json FOLDER pytest…` records them). Where neither
speaks of a function, every line of the tree with its name is looked at. A line that `find_references`
and `call_graph` neither list nor leave open is printed.
"""

from __future__ import annotations

import dis
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.gate import FUNCTIONS
from bench.oracle import CACHE
from bench.oracles.marks import run
from bench.oracles.scip import scip
from gitindex.base.path_kind import is_test
from gitindex.base.vocabulary import Direction
from gitindex.base.worktree import find_worktree
from gitindex.filestate import FileStateService
from gitindex.filestate.ambiguity import EditTarget
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import TreeView, open_tree

SAMPLE = 25
Place = tuple[str, int]
Definition = tuple[str, int, str]


class SampledVerdict(NamedTuple):
    """One `ok` function, and what its references say."""

    path: str
    name: str
    line: int
    listed: set[Place]  # lines of references and definitions
    is_open: bool  # the answer says that there may be more
    handed: int  # places that hand the function over; callers from there are not named


def sample(folder: Path) -> list[SampledVerdict]:
    """Functions that the gate calls ok, spread over the repository."""
    worktree = find_worktree(str(folder))
    with open_tree(worktree, worktree.root) as view:
        targets, names = [], {}
        service = FileStateService(view)
        for path, row in sorted(service.inputs.files.items()):
            facts = service.inputs.facts(path) if row.has_facts and not is_test(path) else None
            for symbol in facts.symbols if facts else ():
                if symbol.kind in FUNCTIONS:
                    targets.append(EditTarget(path, line=symbol.line + 1))
                    names[path, symbol.line + 1] = (symbol.name, symbol.column + 1)
        verdicts = service.check_mutation_gate(
            targets[:: max(1, len(targets) // (2 * SAMPLE))]
        ).targets
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
    graph: Any = call_graph(view, GraphQuery(f"{path}:{line}", Direction.CALLERS))
    listed |= {(e["site"]["path"], e["site"]["line"]) for e in graph.get("edges", ())}
    return SampledVerdict(
        path, name, line, listed, not answer.get("complete", False), answer.get("handedOver", 0)
    )


_NO_CODE = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|(?:^|\s)(?:#|//|\*|/\*).*""")
"""Texts and comments of a line: what is in them is no use by the language's own rules."""


def textual_lines(folder: Path, one: SampledVerdict) -> Iterator[Place]:
    """Lines of the same language that hold the name as a word outside of texts and comments."""
    kind = f"*{Path(one.path).suffix}"
    command = ["git", "-C", str(folder), "grep", "-nwI", "-F", "-e", one.name, "--", kind]
    printed = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    for row in printed.stdout.splitlines():
        path, line, text = row.split(":", 2)
        if re.search(rf"\b{re.escape(one.name)}\b", _NO_CODE.sub(" ", text)):
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
        resumed = code.co_code[frame.f_lasti + 1] if frame.f_lasti >= 0 else 0
        if dis.opname[code.co_code[max(0, frame.f_lasti)]] == "RESUME" and resumed:
            return  # a generator goes on
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


def scip_uses(folder: Path, indexer: str) -> dict[Definition, set[Place]]:
    """Definition → lines that use it, says an indexer of SCIP that sees a copy of the tree."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, "tree")
        run(["git", "clone", "-q", str(folder), str(copy)], folder)
        if indexer == "scip-typescript" and not (copy / "tsconfig.json").exists():
            (copy / "tsconfig.json").write_text('{"compilerOptions":{"allowJs":true}}')
        marks = scip(indexer)(copy, CACHE)
        texts = {m.path: (copy / m.path).read_bytes().split(b"\n") for m in marks if m.defines}
    lines: dict[str, set[Place]] = {}
    found: dict[Definition, set[Place]] = {}
    for mark in marks:
        if not mark.defines:
            lines.setdefault(mark.symbol, set()).add((mark.path, mark.line + 1))
    for mark in marks:
        if mark.defines:
            word = re.match(rb"[\w$]+", texts[mark.path][mark.line][mark.column :])
            place = (mark.path, mark.line + 1, word.group().decode() if word else "")
            found.setdefault(place, set()).update(lines.get(mark.symbol, ()))
    return found


def main(args: list[str]) -> int:
    if args[0] == "--record":
        return record(args[1], args[2], args[3:])
    folder, options = Path(args[0]), dict(arg[2:].split("=", 1) for arg in args[1:])
    calls = executed_calls(Path(options["calls"])) if "calls" in options else {}
    uses = scip_uses(folder, options["scip"]) if "scip" in options else {}
    for number, one in enumerate(sample(folder), 1):
        starts = [calls.get((one.path, at), set()) for at in first_lines(folder, one)]
        found = {
            "executed": next((found for found in starts if found), set()),
            "SCIP": uses.get((one.path, one.line, one.name), set()),
        }
        if not any(found.values()):
            found = {"text": set(textual_lines(folder, one))}
        missing = sorted(set().union(*found.values()) - one.listed - {(one.path, one.line)})
        flagged = "open" if one.is_open else "LOOK"
        if flagged == "LOOK" and one.handed and "text" not in found:
            flagged = f"handed over at {one.handed}"
        verdict = flagged if missing else "right"
        counted = ", ".join(f"{len(lines)} {by}" for by, lines in found.items() if lines)
        print(f"| {number} | {one.path}:{one.line} `{one.name}` | {counted} | {verdict} |")
        for path, line in missing if verdict == "LOOK" else ():
            print(f"      {path}:{line}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
