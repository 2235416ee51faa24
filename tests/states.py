"""What tests of file states, of the gate and of decisions share."""

from __future__ import annotations

import os
from typing import Any

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.cli.door import run_cli
from gitindex.filestate import FileState, FileStateService
from gitindex.filestate.ambiguity import EditTarget
from gitindex.filestate.service import check_mutation_gate
from gitindex.refresh.public_files import create_store
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.store import history, mapping
from gitindex.store.connection import open_writer
from gitindex.view.tree import open_tree
from tests.support import Repo

A = "def helper(x):\n    return x\n"
B = "from a import helper\n\n\ndef work():\n    return helper(1)\n"
NO_FACTS = "\0"
"""An edit that no grammar reads: whoever depends on the file has to wait."""
TWICE = "def f(x):\n    return 1\n\n\ndef g():\n    return 2\n\n\ndef f(x, y):\n    return 3\n"


def publish(repo: Repo, force: bool = False) -> None:
    """Commit everything and index it, in this process."""
    if repo.git("status", "--porcelain").strip():
        repo.commit()
    create_store(repo.worktree)
    Runner(repo.worktree).serve(RefreshRequest(repo.worktree, "test", force))


def states(repo: Repo, *paths: str) -> list[str]:
    with open_tree(repo.worktree, ".") as view:
        found = FileStateService(view).get_file_states_batch(paths)
    return [str(found[path].freshness) for path in paths]


def state(repo: Repo, path: str) -> FileState:
    with open_tree(repo.worktree, ".") as view:
        return FileStateService(view).get_file_state(path)


def refresh(repo: Repo, *paths: str) -> None:
    database = open_writer(repo.worktree.database)
    row = mapping.published(database, repo.worktree.id)
    assert row is not None
    history.refresh(database, row.worktree_id, map(os.fsencode, paths), row.generation)
    database.close()


def write(repo: Repo, files: dict[str, str]) -> Repo:
    for name, text in files.items():
        repo.write(name, text)
    return repo


def gate(repo: Repo, *targets: EditTarget) -> dict[str, Any]:
    with open_tree(repo.worktree, ".") as view:
        return dict(check_mutation_gate(view, targets))


def one(repo: Repo, path: str, symbol: str = "", line: int = 0) -> dict[str, Any]:
    answer = gate(repo, EditTarget(path, symbol, line))
    [found] = answer["targets"]
    assert isinstance(found, dict)
    assert answer["status"] == found["status"]
    return found


class Cli:
    """The command line without a process of its own."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, repo: Repo, *args: str) -> tuple[int, str]:
        """Exit code and output; for a refusal what it says."""
        try:
            code = run_cli([*args, "-C", str(repo.path)])
        except GitIndexError as error:
            return int(error.code), error.message
        return code, self._capsys.readouterr().out
