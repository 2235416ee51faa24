"""An upgrade through pre-commit: two tags, `autoupdate`, `gc`, `clean`. Each builds an environment."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from gitindex import __version__
from tests.e2e.conftest import PATH, copy_checkout, sample
from tests.e2e.install.test_install import program
from tests.support import TIMEOUT, Repo, wait_for

NEWER = "99.0.0"


def pre_commit(repo: Repo, *args: str) -> None:
    done = subprocess.run(
        [program("pre-commit"), *args],
        cwd=repo.path,
        env={**os.environ, "PATH": PATH},
        capture_output=True,
        text=True,
        timeout=3 * TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    borrow_dependencies()


def borrow_dependencies() -> None:
    for found in Path(os.environ["PRE_COMMIT_HOME"]).glob(
        "repo*/py_env-*/**/site-packages/gitindex"
    ):
        (found.parent / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")


def recorded(repo: Repo) -> tuple[str, Path]:
    """The version that writes, and its interpreter."""
    store = Path(repo.worktree.store)
    return (store / "version").read_text().split()[1], Path((store / "python").read_text().strip())


def commit_and_wait(repo: Repo, name: str) -> None:
    repo.write(f"{name}.py", f"def {name}():\n    return 1\n")
    repo.commit(name)
    wait_for(lambda: f"{name}.py:1" in repo.git("idx", "symbols", name, check=False))


@pytest.mark.torture
def test_upgrade_gc_and_clean(
    repo: Repo, source: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pc"))
    release = Repo(tmp_path / "release")
    copy_checkout(release)
    release.write("pyproject.toml", (source.path / "pyproject.toml").read_text())
    release.commit("old")
    release.git("tag", f"v{__version__}")
    repo.write(".pre-commit-config.yaml", sample(release))
    repo.commit("configuration")
    pre_commit(repo, "install", "--install-hooks")
    commit_and_wait(repo, "first")
    assert recorded(repo)[0] == __version__
    old = recorded(repo)[1]

    text = (release.path / "gitindex/base/version.py").read_text()
    release.write("gitindex/base/version.py", text.replace(f'"{__version__}"', f'"{NEWER}"'))
    release.commit("new")
    release.git("tag", f"v{NEWER}")
    pre_commit(repo, "autoupdate")
    pre_commit(repo, "install-hooks")
    commit_and_wait(repo, "second")
    version, python = recorded(repo)
    assert (version, python != old) == (NEWER, True), "the newer writes from its first event on"

    pre_commit(repo, "gc")
    assert not old.exists()
    commit_and_wait(repo, "third")
    assert recorded(repo) == (NEWER, python)

    pre_commit(repo, "clean")
    assert not python.exists()
    done = repo.try_git("fresh")
    assert (done.returncode, "its environment is gone" in done.stderr) == (4, True)
    pre_commit(repo, "install-hooks")
    commit_and_wait(repo, "fourth")
    assert recorded(repo)[1].exists(), "recorded anew by the next event"
    assert repo.git("fresh", check=False) in ("fresh\n", "stale\n", "rebuilding\n")
