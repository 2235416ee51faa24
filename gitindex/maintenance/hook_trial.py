"""Proves the hook: a real commit in a scratch worktree, its event seen, and no trace left."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from gitindex.base.atomic_file import read_small, remove
from gitindex.base.errors import GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.locations import event_script
from gitindex.base.runner_lock import RunnerLock
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.git.command import clean_env, git_program
from gitindex.install.hooks.block import render_file
from gitindex.install.hooks.include import config_quote
from gitindex.install.hooks.place import find_place
from gitindex.refresh.detached import start_runner
from gitindex.refresh.spool import waiting

LOCK_WAIT_SECONDS = 20.0  # for a runner at work
COMMIT_SECONDS = 60.0  # for a commit with the hooks of other tools
RUNS = 60  # of each hook; of so few the 99th percentile is the slowest
ALONE = (
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "user.name=gitindex doctor",
    "-c",
    "user.email=doctor@localhost",
)
MANAGERS = (
    ".pre-commit-config.yaml",
    "prek.toml",
    "lefthook.yml",
    "lefthook.yaml",
    "lefthook.toml",
    "lefthook.json",
    "lefthook-local.yml",
    "lefthook-local.yaml",
    ".lefthook.yml",
    ".lefthook-local.yml",
)
"""Files by which hook managers know what to run; a scratch worktree has none of its own."""


class RunnerBusy(GitIndexError):
    """A runner has the lock, so that nothing can be tried: neither good nor bad."""


class TrialCommit(NamedTuple):
    """What came of one commit."""

    events: tuple[str, ...]
    said: str  # what git and its hooks printed
    seconds: float


class HookCost(NamedTuple):
    """Milliseconds of wall clock that one run of our hook takes, and an empty hook."""

    p50: float
    p99: float
    empty_p50: float
    cpu_p50: float


def fire(worktree: Worktree) -> TrialCommit:
    """Commit in a scratch worktree and take the event before any runner does."""
    with _lease(worktree), tempfile.TemporaryDirectory(prefix="gitindex-doctor-") as top:
        scratch = os.path.join(top, f"gitindex-doctor-{os.urandom(4).hex()}")
        env = _environment(worktree, top)
        hooks = find_place(worktree)
        own = () if hooks.scope == "default" else ("-c", f"core.hooksPath={hooks.folder}")
        tree = _git(worktree.root, env, "mktree").strip()
        base = _git(worktree.root, env, *ALONE, "commit-tree", "-m", "scratch", tree).strip()
        _git(
            worktree.root,
            env,
            *ALONE,
            "worktree",
            "add",
            "--quiet",
            "--detach",
            "--no-checkout",
            scratch,
            base,
        )
        try:
            for name in MANAGERS:
                if os.path.isfile(os.path.join(worktree.root, name)):
                    shutil.copy(os.path.join(worktree.root, name), os.path.join(scratch, name))
            return _commit(worktree_at(os.path.realpath(scratch)), env, own)
        finally:
            _git(worktree.root, env, "worktree", "remove", "--force", scratch)


def measure_cost(runs: int = RUNS) -> HookCost:
    """Run our hook, and an empty one, in a folder that looks like a repository."""
    with tempfile.TemporaryDirectory(prefix="gitindex-cost-") as top:
        os.makedirs(os.path.join(top, ".git", "gitindex", "spool"))
        _write(os.path.join(top, ".git", "gitindex", "python"), b"/nonexistent\n")
        ours, empty = os.path.join(top, "ours"), os.path.join(top, "empty")
        _write(ours, render_file("post-commit", event_script()))
        _write(empty, b"#!/bin/sh\nexit 0\n")
        env = {**clean_env(), "GITINDEX": "1"}
        seen: dict[str, list[tuple[float, float]]] = {ours: [], empty: []}
        for _ in range(runs):
            for path, taken in seen.items():
                taken.append(_time(path, top, env))
    walls = sorted(wall for wall, _ in seen[ours])
    return HookCost(
        p50=walls[len(walls) // 2],
        p99=walls[min(len(walls) - 1, len(walls) * 99 // 100)],
        empty_p50=sorted(wall for wall, _ in seen[empty])[runs // 2],
        cpu_p50=sorted(cpu for _, cpu in seen[ours])[runs // 2],
    )


@contextmanager
def _lease(worktree: Worktree) -> Iterator[None]:
    """Keep runners away while a scratch worktree is there; then serve what came meanwhile."""
    lock = RunnerLock(worktree.lock)
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while not lock.acquire():
        if time.monotonic() > deadline:
            raise RunnerBusy("a runner is at work", "try again after `gitindex wait`")
        time.sleep(0.02)
    try:
        yield
    finally:
        lock.release()
        if waiting(worktree):
            start_runner(worktree)


def _commit(scratch: Worktree, env: dict[str, str], own: tuple[str, ...]) -> TrialCommit:
    started = time.monotonic()
    try:
        said = _git(
            scratch.root,
            env,
            *ALONE,
            *own,
            "commit",
            "--quiet",
            "--allow-empty",
            "--no-verify",
            "-m",
            "gitindex doctor",
        )
        seconds = time.monotonic() - started
        lines = (read_small(scratch.spool) or b"").decode("utf-8", "replace").splitlines()
        return TrialCommit(tuple(lines), said, seconds)
    finally:
        remove(scratch.spool)


def _environment(worktree: Worktree, top: str) -> dict[str, str]:
    """The user's, with objects written elsewhere, so that not even a dangling one is left."""
    env = {k: v for k, v in clean_env(worktree.root).items() if k not in ("CI", "SKIP")}
    env |= {k: v for k, v in os.environ.items() if k.startswith("GIT_CONFIG_")}
    env.pop("GIT_CEILING_DIRECTORIES", None)
    objects = os.path.join(top, "objects")
    os.mkdir(objects)
    env |= {
        "GITINDEX": "1",
        "GIT_OBJECT_DIRECTORY": objects,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": config_quote(f"{worktree.common_dir}/objects"),
        "PRE_COMMIT_ALLOW_NO_CONFIG": "1",
    }
    return env


def _git(root: str, env: dict[str, str], *args: str) -> str:
    done = subprocess.run(
        [git_program(env), "-C", root, *args],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=COMMIT_SECONDS,
        check=False,
    )
    said = done.stdout.decode("utf-8", "surrogateescape")
    if done.returncode:
        first = safe_text(said.strip().split("\n", 1)[0])
        raise GitIndexError(f"the trial commit failed: {first}", "try `git worktree add` by hand")
    return said


def _time(path: str, folder: str, env: dict[str, str]) -> tuple[float, float]:
    """Wall and CPU milliseconds of one run."""
    started = time.perf_counter()
    process = subprocess.Popen([path], cwd=folder, env=env)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    return 1000 * wall, 1000 * (used.ru_utime + used.ru_stime)


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o700)
