"""May this user write here? The command line, MCP and IndexCoordinator give the same answer."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.base.worktree import LLMC
from gitindex.cli.verbs import indexing, refreshing
from gitindex.coordinator import IndexCoordinator
from gitindex.refresh import lifecycle
from gitindex.refresh.run import wait_until_fresh
from tests.support import Repo

OTHER_USER = 12345

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")


def _doors(repo: Repo) -> dict[str, Callable[[], object]]:
    path = str(repo.path)
    return {
        "command": lambda: refreshing.index(path),
        "install": lambda: indexing.install(path, "auto", False, False, False),
        "mcp create": lambda: lifecycle.create(repo.worktree),
        "mcp reindex": lambda: lifecycle.reindex(repo.worktree),
        "program": IndexCoordinator(path).reindex_incremental,
        "program, all": IndexCoordinator(path).reindex_full,
        "wait": lambda: wait_until_fresh(repo.worktree, 5, lambda *_: None),
    }


def _answers(repo: Repo) -> dict[str, str]:
    said = {}
    for name, door in _doors(repo).items():
        with pytest.raises(GitIndexError) as refused:
            door()
        said[name] = refused.value.message
    return said


@needs_root
@pytest.mark.parametrize("of", ["", ".git"])
def test_every_door_refuses_another_users_repository(repo: Repo, of: str) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    repo.git("config", "--global", "--add", "safe.directory", "*")  # git itself has no objection
    os.chown(repo.path / of, OTHER_USER, OTHER_USER)
    assert set(_answers(repo).values()) == {"this repository belongs to another user"}
    assert not (repo.path / ".git" / "gitindex").exists()
    assert not (repo.path / LLMC).exists()


@needs_root
@pytest.mark.parametrize("folder", [LLMC, ".git/gitindex"])
def test_every_door_refuses_a_folder_of_another_user(repo: Repo, folder: str) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    (repo.path / folder).mkdir()
    os.chown(repo.path / folder, OTHER_USER, OTHER_USER)
    said = set(_answers(repo).values())
    assert len(said) == 1
    assert "belongs to another user" in said.pop()
    assert list((repo.path / folder).iterdir()) == []


@pytest.mark.parametrize("folder", [LLMC, ".git/gitindex"])
def test_every_door_refuses_a_link(repo: Repo, tmp_path: Path, folder: str) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    (tmp_path / "elsewhere").mkdir()
    (repo.path / folder).symlink_to(tmp_path / "elsewhere")
    said = set(_answers(repo).values())
    assert len(said) == 1
    assert "is not a folder" in said.pop()
    assert list((tmp_path / "elsewhere").iterdir()) == []
