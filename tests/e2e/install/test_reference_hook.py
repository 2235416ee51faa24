"""The opt-in hook reference-transaction: git am, reset and stash are noted; nothing else is felt."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.install.hooks.installation import install_references, uninstall
from tests.support import Repo

HOOK = ".git/hooks/reference-transaction"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "repo")
    made.init()
    made.write("a.py", "A = 1\n")
    made.commit("first")
    made.write("a.py", "A = 2\n")
    made.commit("second")
    made.index()
    return made


def events(repo: Repo) -> list[str]:
    """What was noted since the last look."""
    spool = Path(repo.worktree.spool)
    lines = spool.read_text().splitlines() if spool.exists() else []
    spool.unlink(missing_ok=True)
    return lines


def test_what_has_no_hook_of_its_own_is_noted(repo: Repo) -> None:
    alive = Path(repo.worktree.store, "runner.alive")
    before = alive.read_bytes()
    hook = Path(install_references(repo.worktree))
    assert hook == repo.path / HOOK
    patch = repo.git("format-patch", "-1", "--stdout")
    (repo.path.parent / "one.patch").write_text(patch)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    assert set(events(repo)) == {"reference-transaction committed"}
    repo.git("am", "-q", str(repo.path.parent / "one.patch"))
    assert events(repo)
    repo.write("a.py", "A = 3\n")
    repo.git("stash", "-q")
    assert events(repo)
    assert alive.read_bytes() == before  # it only appends: no runner was started
    repo.git("tag", "v1")
    repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert events(repo) == []


def test_the_next_question_serves_it(repo: Repo) -> None:
    install_references(repo.worktree)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    assert repo.gitindex("wait").returncode == 0
    assert repo.gitindex("check").returncode == 0
    assert "reference-transaction" in repo.gitindex("log").stdout


def test_another_hook_is_left_alone(repo: Repo) -> None:
    (repo.path / ".git/hooks").mkdir(exist_ok=True)
    (repo.path / HOOK).write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(GitIndexError, match="another one is there"):
        install_references(repo.worktree)
    uninstall(repo.worktree)
    assert (repo.path / HOOK).read_text() == "#!/bin/sh\nexit 0\n"


def test_uninstall_takes_it_out(repo: Repo) -> None:
    before = (
        sorted(os.listdir(repo.path / ".git/hooks")) if (repo.path / ".git/hooks").is_dir() else []
    )
    assert repo.gitindex("install", "--references").returncode == 0
    assert (repo.path / HOOK).exists()
    assert repo.gitindex("install").returncode == 0  # said once, it stays
    assert (repo.path / HOOK).exists()
    assert repo.gitindex("uninstall").returncode == 0
    after = (
        sorted(os.listdir(repo.path / ".git/hooks")) if (repo.path / ".git/hooks").is_dir() else []
    )
    assert after == before
