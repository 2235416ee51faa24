"""Programs written to mislead, each a tree of its own: an answer that says `complete` knows every call.

In one tree a single odd line may take the proofs of all other programs away and hide what is wrong
with them. The calls were recorded by running each program with its own language; NAME is the name
that is asked for, PKG the folder of the program.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.vocabulary import Direction
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

_FILE = Path(__file__).parent.parent / "fixtures" / "hostile_programs.jsonl"
PROGRAMS = [json.loads(line) for line in _FILE.read_text().splitlines()]
LEAST = {"python": 15, "typescript": 20, "javascript": 8, "go": 20, "java": 20}
"""Answers that say complete; none would prove nothing."""


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("language", LEAST)
def test_complete_answers_know_every_call_that_happened(
    repo: Repo, language: str, half: int
) -> None:
    repo.index_files({"go.mod": "module m\n\ngo 1.19\n"})
    wrong, complete = list[str](), 0
    for number, program in enumerate(PROGRAMS):
        if program["language"] == language and number % 2 == half:
            told, missing = _ask(repo, program, f"pkg{number}", f"Name{number}x")
            complete += told
            wrong += missing
            shutil.rmtree(repo.path / f"pkg{number}")
    assert not wrong, "\n".join(wrong)
    assert complete >= LEAST[language] // 2


def test_programs_of_python_are_known_by_more_than_their_suffix(repo: Repo) -> None:
    repo.index_files({"go.mod": "module m\n\ngo 1.19\n"})
    wrong, asked = list[str](), 0
    for number, program in enumerate(PROGRAMS):
        if "main.py" in program["files"] and number % 8 in (0, 5):  # a quarter: each takes 0.2 s
            folder, name = f"pkg{number}", ("main.pyw", "main")[number % 2]
            wrong += _ask(repo, _with_script(program, name), folder, f"Name{number}x")[1]
            shutil.rmtree(repo.path / folder)
            asked += 1
    assert asked > 60
    assert not wrong, "\n".join(wrong)


def _with_script(program: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a program whose main file is called otherwise; without a suffix it says who runs it."""
    head = "" if "." in name else "#!/usr/bin/env python3\n"
    files = {path: text for path, text in program["files"].items() if path != "main.py"}
    files[name] = head + program["files"]["main.py"]
    moved = {
        kind: [
            [name, line + bool(head)] if path == "main.py" else [path, line]
            for path, line in program[kind]
        ]
        for kind in ("called", "used")
    }
    return program | moved | {"files": files}


def _ask(repo: Repo, program: dict[str, Any], folder: str, name: str) -> tuple[bool, list[str]]:
    """Ask for the references and the callers of one program's target, which is on disk only."""

    def real(text: str) -> str:
        return text.replace("NAME", name).replace("PKG", folder)

    for path, text in program["files"].items():
        repo.write(f"{folder}/{real(path)}", real(text))
    called = {(f"{folder}/{real(path)}", line) for path, line in program["called"]}
    used = called | {(f"{folder}/{real(path)}", line) for path, line in program["used"]}
    symbol = f"{folder}/{real(next(iter(program['files'])))}#{real(program['asked'])}"
    memory = Memory()
    with open_tree(repo.worktree, ".") as view:
        refs = find_references(view, ReferenceQuery(symbol, limit=500), memory)
        graph = call_graph(view, GraphQuery(symbol, Direction.CALLERS, limit=500), memory)
    assert refs["definitions"], symbol
    listed = {(r["path"], r["line"]) for r in refs["references"]}
    sites = {(e["site"]["path"], e["site"]["line"]) for e in graph.get("edges", ())}
    wrong = []
    if refs["complete"] and used - listed:
        wrong.append(f"refs {symbol}: {sorted(used - listed)}")
    if graph.get("complete") and called - sites:
        wrong.append(f"callers {symbol}: {sorted(called - sites)}")
    return bool(refs["complete"]), wrong
