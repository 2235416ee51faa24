"""Renames that would change what a program does are refused; others are applied and name nothing twice.

Each program was run by its own language before and after the rename. Those with `applies` false did
something else afterwards, or did not compile, before the rule that refuses them was there.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from subprocess import run
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.edit.rename import RenameRequest, apply_plan, plan_rename
from gitindex.view.tree import open_tree
from tests.support import Repo

_FILE = Path(__file__).parents[2] / "fixtures" / "hostile_renames.jsonl"
RENAMES = [json.loads(line) for line in _FILE.read_text().splitlines()]


def test_a_rename_that_changes_a_program_is_refused(repo: Repo) -> None:
    repo.index_files({"README.md": "x\n"})
    wrong = []
    for program in (r for r in RENAMES if not r["applies"]):
        applied = _rename(repo, program)
        wrong += [program["id"]] if applied else []
        _clear(repo)
    assert not wrong


def test_a_rename_that_can_be_proven_is_applied(repo: Repo) -> None:
    repo.index_files({"README.md": "x\n"})
    for program in (r for r in RENAMES if r["applies"]):
        _write(repo, program)
        before = _output(repo, program)
        assert _rename(repo, program), program["id"]
        assert _output(repo, program) == before, program["id"]
        _clear(repo)


def _rename(repo: Repo, program: dict[str, Any]) -> bool:
    _write(repo, program)
    repo.commit(program["id"])
    repo.index()
    with open_tree(repo.worktree, ".") as view:
        try:
            plan = plan_rename(view, RenameRequest(program["symbol"], program["new"]))
        except GitIndexError:
            return False
        return bool(apply_plan(view, plan)["applied"])


def _write(repo: Repo, program: dict[str, Any]) -> None:
    for path, text in program["files"].items():
        repo.write(path, text)


def _output(repo: Repo, program: dict[str, Any]) -> str:
    if program["language"] != "python":
        return ""
    command = [sys.executable, "-B", "main.py"]
    return run(command, cwd=repo.path, capture_output=True, text=True, check=True).stdout


def _clear(repo: Repo) -> None:
    for path in repo.path.iterdir():
        if path.is_dir() and not path.name.startswith("."):
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()
