"""`gitindex doctor`: a sound install is proven without a trace, each breakage is made and found."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.locations import event_script
from gitindex.base.runner_lock import RunnerLock
from gitindex.install.hooks import installation as hooks
from gitindex.install.hooks.block import EVENTS
from gitindex.install.hooks.include import install_include
from gitindex.install.hooks.place import knows_config_hooks
from gitindex.maintenance.doctor import examine
from gitindex.maintenance.hook_trial import fire, measure_cost
from gitindex.refresh import public_files
from gitindex.refresh.log import Log
from tests import gits
from tests.e2e.install.test_install import (
    Case,
    follow,
    opt_in,
    program,
    run_tool,
    set_hooks,
    snapshot,
)
from tests.support import Repo

Findings = dict[str, dict[str, Any]]


@pytest.fixture
def sound(repo: Repo) -> Repo:
    """Opted in and installed; there is no index, and hooks start nothing."""
    repo.write("app.py", "x = 1\n")
    repo.commit("first")
    opt_in(repo)
    hooks.install(repo.worktree)
    return repo


def ask(repo: Repo, capsys: pytest.CaptureFixture[str], trial: bool = False) -> Findings:
    """The findings by name; what is bad has a remedy."""
    capsys.readouterr()
    code = examine(str(repo.path), as_json=True, trial=trial)
    answer = json.loads(capsys.readouterr().out)
    found = {finding["name"]: finding for finding in answer["findings"]}
    assert code == (0 if all(finding["ok"] for finding in found.values()) else 4)
    assert (answer["status"] == "ok") is (code == 0)
    assert all(finding["remedy"] for finding in found.values() if not finding["ok"])
    return found


def bad(found: Findings) -> set[str]:
    return {name for name, finding in found.items() if not finding["ok"]}


def test_sound(quiet: Repo) -> None:
    """Through the command line, with the trial; the text says the same as the JSON."""
    done = quiet.gitindex("doctor", "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 0, answer
    found = {finding["name"]: finding for finding in answer["findings"]}
    assert set(EVENTS) <= found.keys()
    assert "arrived once" in found["trial commit"]["detail"]
    assert 0 < answer["hookCostMs"]["p50"] <= answer["hookCostMs"]["p99"]
    text = quiet.gitindex("doctor", "--no-trial").stdout
    assert "BAD" not in text
    assert "ok  post-commit: installed at" in text


def trace(repo: Repo) -> dict[str, Any]:
    """Everything below .git but the runner's lock, and what git and the status say."""
    git = snapshot(repo.path / ".git")
    return {
        "files": {k: v for k, v in git.items() if not k.endswith(("-shm", "-wal", "/log"))},
        "status": repo.git("status", "--porcelain", "--branch"),
        "worktrees": repo.git("worktree", "list"),
        "branches": repo.git("branch", "-a"),
        "face": snapshot(repo.path / ".llmc"),
        "jobs": repo.jobs(),
    }


@pytest.mark.parametrize("linked", [False, True], ids=["main", "linked worktree"])
def test_no_trace(quiet: Repo, tmp_path: Path, linked: bool) -> None:
    repo = quiet
    if linked:
        quiet.git("worktree", "add", "-q", str(tmp_path / "linked"), env={"GITINDEX": "0"})
        repo = Repo(tmp_path / "linked")
    quiet.write("app.py", "edited = 1\n")
    before = trace(quiet)
    fired = fire(repo.worktree)
    assert fired.events == ("post-commit ",)
    quiet.wait_idle()
    assert trace(quiet) == before
    assert quiet.git("fsck", "--no-dangling") == quiet.git("fsck")


def test_a_runner_that_starts_meanwhile_is_no_fault(
    quiet: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right after `install`: nothing was tried, so nothing is bad."""
    monkeypatch.setattr("gitindex.maintenance.hook_trial.LOCK_WAIT_SECONDS", 0.0)
    lock = RunnerLock(quiet.worktree.lock)
    assert lock.acquire()
    try:
        trial = ask(quiet, capsys, trial=True)["trial commit"]
    finally:
        lock.release()
    assert (trial["ok"], trial["detail"]) == (True, "not tried: a runner is at work")


def test_trial_before_the_first_commit(repo: Repo) -> None:
    repo.gitindex("install")
    repo.wait_idle()
    assert fire(repo.worktree).events == ("post-commit ",)
    assert repo.try_git("rev-parse", "HEAD^{commit}").returncode != 0


def test_an_event_during_the_trial_is_served(quiet: Repo) -> None:
    """The trial holds the lease for a moment: a commit made meanwhile is not lost."""
    lock = RunnerLock(quiet.worktree.lock)
    assert lock.acquire()
    quiet.write("app.py", "during = 1\n")
    quiet.commit("during")
    quiet.wait_idle()
    lock.release()
    assert Path(quiet.worktree.spool).exists()
    fire(quiet.worktree)
    quiet.wait_fresh()


def test_trial_under_a_foreign_environment(sound: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"CI": "true", "SKIP": "gitindex", "GIT_DIR": "/nonexistent"}.items():
        monkeypatch.setenv(name, value)
    assert fire(sound.worktree).events == ("post-commit ",)


def test_hook_cost_is_that_of_a_shell() -> None:
    cost = measure_cost(20)
    assert cost.cpu_p50 < 10


def test_config_hooks_are_proven(
    quiet: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        monkeypatch.setenv("PATH", gits.newer_git((2, 54)).path)
    except gits.GitUnavailable as why:
        pytest.skip(str(why))
    hooks.install(quiet.worktree)
    found = ask(quiet, capsys, trial=True)
    assert bad(found) == set(), found
    assert "config" in found["post-commit"]["detail"]
    quiet.git("config", "hook.gitindex-post-commit.enabled", "false")
    assert bad(ask(quiet, capsys, trial=True)) == {"trial commit"}


# How hooks get lost in practice


def test_block_wiped_by_pre_commit_install(sound: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    hooks.uninstall(sound.worktree)
    sound.write(".pre-commit-config.yaml", "default_install_hook_types: [post-commit]\nrepos: []\n")
    pre_commit = program("pre-commit")
    run_tool(sound, pre_commit, "install")
    hooks.install(sound.worktree)
    assert "post-commit" not in bad(ask(sound, capsys))
    run_tool(sound, pre_commit, "install")
    found = ask(sound, capsys, trial=True)
    assert {"post-commit", "trial commit"} <= bad(found)
    assert "pre-commit wrote it anew" in found["post-commit"]["detail"]
    hooks.install(sound.worktree)
    assert not {"post-commit", "trial commit"} & bad(ask(sound, capsys, trial=True))


def test_moved_to_old_by_lefthook(sound: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    sound.write("lefthook.yml", "post-commit:\n  jobs:\n    - run: 'true'\n")
    run_tool(sound, program("lefthook"), "install")
    found = ask(sound, capsys, trial=True)
    assert {"post-commit", "trial commit"} <= bad(found)
    assert "lefthook moved ours to" in found["post-commit"]["detail"]


def test_hooks_path_changed(sound: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    sound.git("config", "core.hooksPath", ".git/elsewhere")
    found = ask(sound, capsys, trial=True)
    assert {"core.hooksPath", "post-commit", "trial commit"} <= bad(found)
    hooks.install(sound.worktree)
    assert not {"core.hooksPath", "trial commit"} & bad(ask(sound, capsys, trial=True))


@pytest.mark.parametrize("python", ["/nonexistent/python", "/usr/bin/env", ""])
def test_interpreter_moved(sound: Repo, capsys: pytest.CaptureFixture[str], python: str) -> None:
    Path(sound.worktree.store, "python").write_text(f"{python}\n")
    assert "interpreter" in bad(ask(sound, capsys))
    public_files.create_store(sound.worktree)
    assert "interpreter" not in bad(ask(sound, capsys))


def test_config_hooks_of_an_older_git(sound: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    if knows_config_hooks():
        pytest.skip("this git knows config hooks")
    hooks.uninstall(sound.worktree)
    install_include(sound.worktree, event_script())
    found = ask(sound, capsys, trial=True)
    assert {"config hooks", "trial commit"} <= bad(found)
    assert "--mode hooks" in found["config hooks"]["remedy"]


def test_not_executable(sound: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    path = sound.path / ".git/hooks/post-commit"
    path.chmod(0o644)
    found = ask(sound, capsys, trial=True)
    assert {"post-commit", "trial commit"} <= bad(found)
    assert "chmod +x" in found["post-commit"]["remedy"]


def test_installed_twice(sound: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    install_include(sound.worktree, event_script())
    assert "duplicate" in bad(ask(sound, capsys))


def test_installed_twice_through_legacy(sound: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    sound.write(".pre-commit-config.yaml", "default_install_hook_types: [post-commit]\nrepos: []\n")
    run_tool(sound, program("pre-commit"), "install")
    assert "duplicate" not in bad(ask(sound, capsys))
    path = sound.path / ".git/hooks/post-commit"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n" + _our_block(sound), 1))
    found = ask(sound, capsys, trial=True)
    assert "duplicate" in bad(found)
    assert "arrived 2 times" in found["trial commit"]["detail"]


def _our_block(repo: Repo) -> bytes:
    whole = (repo.path / ".git/hooks/post-merge").read_bytes()
    return whole.split(b"\n", 1)[1].replace(b"post-merge", b"post-commit")


def test_errors_in_the_log(quiet: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    Log(quiet.worktree.store).write("runner crashed", error="OSError(28)")
    found = ask(quiet, capsys)
    assert "OSError(28)" in found["log"]["detail"]
    quiet.gitindex("index", "--force")
    assert "log" not in ask(quiet, capsys)


def test_script_gone(sound: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """The environment gitindex was installed from was deleted or moved."""
    path = sound.path / ".git/hooks/post-commit"
    path.write_text(path.read_text().replace(event_script(), "/old/venv/event.sh"))
    found = ask(sound, capsys, trial=True)
    assert {"post-commit", "trial commit"} <= bad(found)


# And the rest


def test_git_lfs_left_incomplete(sound: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    program("git-lfs")
    sound.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    done = sound.try_git("lfs", "install", "--local")
    assert "Hook already exists" in done.stdout + done.stderr
    assert "git-lfs" in bad(ask(sound, capsys))
    hooks.uninstall(sound.worktree)
    sound.git("lfs", "install", "--local")
    hooks.install(sound.worktree)
    assert "git-lfs" not in bad(ask(sound, capsys))


def test_switched_off(
    sound: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "enabled" not in bad(ask(sound, capsys))
    sound.git("config", "gitindex.enabled", "false")
    assert "enabled" in bad(ask(sound, capsys))
    for name, value in (("GITINDEX", "0"), ("CI", "true"), ("SKIP", "x,gitindex")):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            assert "environment" in bad(ask(sound, capsys))


def test_added_by_hand(sound: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    hooks.uninstall(sound.worktree)
    set_hooks(sound.path / ".githooks", Case("#!/bin/sh\n", ""))
    sound.git("config", "core.hooksPath", ".githooks")
    states = {state.event: state for state in hooks.install(sound.worktree)}
    found = ask(sound, capsys, trial=True)
    assert {"post-commit", "trial commit"} <= bad(found)
    for event in EVENTS:
        path = sound.path / ".githooks" / event
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        follow(states[event])
    assert not {*EVENTS, "trial commit"} & bad(ask(sound, capsys, trial=True))


def test_not_opted_in(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    found = ask(repo, capsys, trial=True)
    assert "index" in bad(found)
    assert "trial commit" not in found
    assert not Path(repo.worktree.store).exists()


def test_public_folder_is_not_ours(quiet: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(quiet.path / ".llmc")
    os.symlink("elsewhere", quiet.path / ".llmc")
    assert ".llmc" in bad(ask(quiet, capsys))
