"""Through pre-commit and prek, for real: from a clone of this repository, by `repo:` and `rev:`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitindex import __version__
from gitindex.base.vocabulary import IndexState
from gitindex.refresh import public_files
from tests.e2e.conftest import TOOLS, copy_checkout, sample
from tests.e2e.install.test_install import events, program
from tests.support import TIMEOUT, Repo, wait_for

OTHER = """  - repo: local
    hooks:
      - {id: other, name: other, entry: "true", language: system, always_run: true}
"""
"""A hook beside ours: prek fails when SKIP leaves none at all."""


def configure(repo: Repo, source: Repo, *ids: str) -> None:
    """The shipped sample, with the address of our clone, and a hook beside ours."""
    text = sample(source)
    for name in ids:
        text += f"      - id: {name}\n"
    text += OTHER
    repo.write(".pre-commit-config.yaml", text)
    repo.commit("configuration")


def run(repo: Repo, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        cwd=repo.path,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def install(repo: Repo, tool: str) -> None:
    done = run(repo, program(tool), "install", "--allow-missing-config")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def ready(repo: Repo) -> Repo:
    repo.write("app.py", "x = 1\n")
    repo.commit("first")
    public_files.create_store(repo.worktree)
    Path(repo.worktree.store, "python").write_text("/bin/true\n")  # events stay in the spool
    Path(repo.worktree.store, "facts.db").touch()
    return repo


@pytest.mark.parametrize("tool", TOOLS)
def test_manifest_and_sample_are_valid(source: Repo, tool: str) -> None:
    for verb, name in (
        ("validate-manifest", ".pre-commit-hooks.yaml"),
        ("validate-config", "templates/pre-commit-config.yaml"),
    ):
        done = run(source, program(tool), verb, name)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_every_stage(ready: Repo, source: Repo, env: dict[str, str], tool: str) -> None:
    configure(ready, source)
    install(ready, tool)
    ready.write("app.py", "x = 2\n")
    ready.commit("noted")
    assert events(ready) == ["post-commit "]
    ready.git("commit", "-q", "--amend", "-m", "amended")
    assert events(ready) == ["post-commit ", "post-rewrite amend"]
    old = ready.git("rev-parse", "HEAD").strip()
    ready.git("switch", "-qc", "side", "HEAD~1")
    new = ready.git("rev-parse", "HEAD").strip()
    assert events(ready) == [f"post-checkout {old} {new} 1"]
    ready.git("merge", "-q", "main")
    merged = events(ready)
    assert merged in (["post-merge 0"], ["post-commit "]), "prek does not say that it is a merge"


@pytest.mark.parametrize("tool", TOOLS)
def test_skip_and_off(ready: Repo, source: Repo, env: dict[str, str], tool: str) -> None:
    configure(ready, source)
    install(ready, tool)
    for off in ({"SKIP": "gitindex"}, {"GITINDEX": "0"}, {"CI": "true"}):
        done = ready.try_git("commit", "-q", "--allow-empty", "-m", "x", env=off)
        assert done.returncode == 0, done.stderr
        assert events(ready) == []


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("way", ["setting", "args"])
def test_a_clone_can_say_no(
    repo: Repo, source: Repo, env: dict[str, str], tool: str, way: str
) -> None:
    """The id is the consent; the user's setting and the team's `args` come before it."""
    text = sample(source)
    if way == "args":
        text += "        args: [--no-index]\n"
    else:
        repo.git("config", "gitindex.enabled", "false")
    repo.write(".pre-commit-config.yaml", text)
    repo.commit("configuration")
    install(repo, tool)
    before = Path(repo.worktree.common_dir, "config").read_bytes()
    done = repo.try_git("commit", "--allow-empty", "-m", "x")
    assert done.returncode == 0
    assert "Passed" in done.stdout + done.stderr
    assert not Path(repo.worktree.store).exists()
    assert not (repo.path / ".llmc").exists()
    assert Path(repo.worktree.common_dir, "config").read_bytes() == before


@pytest.mark.parametrize("tool", TOOLS)
def test_try_repo(ready: Repo, source: Repo, env: dict[str, str], tool: str) -> None:
    stage = ("--hook-stage", "post-commit", "--verbose")
    done = run(ready, program(tool), "try-repo", str(source.path), "gitindex", *stage)
    assert done.returncode == 0, done.stdout + done.stderr
    assert events(ready) == ["post-commit "]


@pytest.mark.parametrize("tool", TOOLS)
def test_k2_rebase_in_a_linked_worktree(
    quiet: Repo, source: Repo, env: dict[str, str], tmp_path: Path, tool: str
) -> None:
    """K2: five commits replayed under a busy runner; git succeeds, and the index ends fresh."""
    quiet.gitindex("uninstall")
    configure(quiet, source)
    install(quiet, tool)
    unseen = ("-c", "core.hooksPath=/dev/null")
    quiet.git(*unseen, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "topic")
    linked = Repo(tmp_path / "linked")
    for number in range(5):
        linked.write(f"topic{number}.py", f"def topic{number}():\n    pass\n")
        linked.git("add", "-A")
        linked.git(*unseen, "commit", "-qm", f"{number}")
    linked.index()
    quiet.write("base.py", "base = 1\n")
    quiet.git("add", "-A")
    quiet.git(*unseen, "commit", "-qm", "base")
    done = linked.try_git("rebase", "main")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "index.lock" not in done.stderr
    linked.wait_fresh()
    linked.assert_published()
    jobs = [job for job in linked.jobs() if job["status"] == "completed"]
    assert len(jobs) <= 8, jobs
    assert linked.git("log", "--format=%s", "-6").split() == ["4", "3", "2", "1", "0", "base"]


def test_output_returns_while_the_runner_works(
    ready: Repo, source: Repo, env: dict[str, str], tmp_path: Path
) -> None:
    """pre-commit reads until the end of its child's output: the runner must not hold it open."""
    configure(ready, source)
    install(ready, "pre-commit")
    started, release = tmp_path / "started", tmp_path / "release"
    stub = tmp_path / "python"
    stub.write_text(
        f"#!/bin/sh\n: >'{started}'\nn=0\n"
        f"while [ ! -e '{release}' ] && [ $n -lt 6000 ]; do sleep 0.1; n=$((n+1)); done\n"
        f": >'{release}.seen'\n"
    )
    stub.chmod(0o755)
    Path(ready.worktree.store, "python").write_text(f"{stub}\n")
    done = ready.try_git("commit", "-q", "--allow-empty", "-m", "x")
    assert done.returncode == 0
    wait_for(started.exists)
    assert not Path(f"{release}.seen").exists()
    release.touch()
    wait_for(Path(f"{release}.seen").exists)


@pytest.mark.parametrize("tool", TOOLS)
def test_freshness_check(quiet: Repo, source: Repo, env: dict[str, str], tool: str) -> None:
    """`gitindex-check` by hand, and before a push: exit 1 where the index is not proven fresh."""
    configure(quiet, source, "gitindex-check")
    manual = ("run", "gitindex-check", "--hook-stage", "manual")
    quiet.gitindex("wait")
    quiet.wait_idle()
    done = run(quiet, program(tool), *manual)
    assert done.returncode == 0, done.stdout + done.stderr
    assert quiet.verdict().state is IndexState.FRESH
    quiet.git("commit", "-q", "--allow-empty", "-m", "same tree", env={"GITINDEX": "0"})
    assert run(quiet, program(tool), *manual).returncode == 0, "the tree is what counts"
    quiet.write("app.py", "x = 9\n")
    quiet.git("commit", "-qam", "unseen", env={"GITINDEX": "0"})
    done = run(quiet, program(tool), *manual)
    assert done.returncode == 1
    assert "stale" in done.stdout


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("PRE_COMMIT_CHECKOUT_TYPE", "1", "post-checkout a b 1"),
        ("PRE_COMMIT_REWRITE_COMMAND", "rebase", "post-rewrite rebase"),
        ("PRE_COMMIT_IS_SQUASH_MERGE", "0", "post-merge 0"),
        ("PRE_COMMIT", "1", "pre-commit 0"),  # no post-commit hook here, and no git above
    ],
)
def test_hook_auto(ready: Repo, name: str, value: str, expected: str) -> None:
    """What the id runs: the event is inferred from what pre-commit sets."""
    Path(ready.worktree.store, "python").write_text("/bin/true\n")
    refs = {"PRE_COMMIT_FROM_REF": "a", "PRE_COMMIT_TO_REF": "b"}
    ready.gitindex("hook", "auto", env={name: value, **refs})
    assert events(ready) == [expected]


def test_hook_auto_mends_the_interpreter(ready: Repo) -> None:
    """pre-commit made a new environment: the store's note of the old one is replaced."""
    Path(ready.worktree.store, "python").write_text("/nonexistent\n")
    Path(ready.worktree.store, "facts.db").unlink()
    ready.gitindex("hook", "auto")
    assert Path(ready.worktree.store, "python").read_text() == f"{sys.executable}\n"
    ready.wait_fresh()


@pytest.mark.torture
@pytest.mark.parametrize("tool", TOOLS)
def test_python_hook_builds_its_own_environment(
    repo: Repo, tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gitindex exists nowhere but in pre-commit's environment, which is built with everything."""
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    for name in ("PRE_COMMIT_HOME", "PREK_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    release = Repo(tmp_path / "gitindex")
    copy_checkout(release)
    release.commit("release")
    release.git("tag", f"v{__version__}")
    repo.write("app.py", "x = 1\n")
    repo.write(
        ".pre-commit-config.yaml",
        sample(release).replace("id: gitindex", "id: gitindex-python"),
    )
    repo.commit()
    argv = [program(tool), "install", "--install-hooks", "--allow-missing-config"]
    done = subprocess.run(
        argv, cwd=repo.path, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    repo.git("commit", "-q", "--allow-empty", "-m", "opted in by the id")
    status = repo.path / ".llmc/rag_index_status.json"
    wait_for(status.exists, 300, repo.log)
    wait_for(lambda: json.loads(status.read_text())["index_state"] == "fresh", 300, repo.log)
    assert sys.prefix not in Path(repo.worktree.store, "python").read_text()
