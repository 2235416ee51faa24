"""Two installed versions on one store: the newer writes, the older appends; neither undoes the other."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gitindex.refresh.public_files import is_served, newer_writer, render_version
from tests.support import Repo, wait_for


def note(repo: Repo, version: str, python: str = sys.executable) -> None:
    """Another gitindex was here."""
    Path(repo.worktree.store, "version").write_bytes(render_version(version))
    Path(repo.worktree.store, "python").write_text(f"{python}\n")


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("app.py", "x = 1\n")
    repo.commit()
    repo.index()
    return repo


def test_the_older_does_not_write(project: Repo) -> None:
    note(project, "99.0")
    project.write("app.py", "x = 2\n")
    project.commit()
    done = project.gitindex("index")
    assert done.returncode == 4
    assert done.stderr.startswith("gitindex: gitindex 99.0 maintains this index; this is ")
    assert Path(project.worktree.store, "version").read_bytes() == render_version("99.0")
    assert project.gitindex("search", "x").returncode == 0, "it still reads"


def test_the_older_s_hook_appends_and_starts_the_newer(project: Repo, tmp_path: Path) -> None:
    started = tmp_path / "started"
    newer = tmp_path / "python"
    newer.write_text(f"#!/bin/sh\necho \"$*\" >>'{started}'\n")
    newer.chmod(0o755)
    note(project, "99.0", str(newer))
    project.gitindex("hook", "post-commit")
    assert Path(project.worktree.spool).read_text() == "post-commit \n"
    wait_for(lambda: started.exists() and "gitindex.refresh.background" in started.read_text())
    assert Path(project.worktree.store, "python").read_text() == f"{newer}\n"


def test_the_newer_takes_over(project: Repo) -> None:
    note(project, "0.0.1", "/bin/true")
    assert not is_served(project.worktree)
    project.index()
    assert is_served(project.worktree)
    assert Path(project.worktree.store, "python").read_text() == f"{sys.executable}\n"


def test_a_newer_one_that_is_gone_does_not_count(project: Repo) -> None:
    note(project, "99.0", "/nonexistent/python")
    assert newer_writer(project.worktree) == ""
    assert not is_served(project.worktree)
    project.gitindex("hook", "post-commit")
    assert Path(project.worktree.store, "python").read_text() == f"{sys.executable}\n"
    project.wait_fresh()
    project.wait_idle()
