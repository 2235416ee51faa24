"""`gitindex doctor`: what is installed, what is wrong, how to fix it. Leaves no trace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from gitindex.base.errors import Exit, GitIndexError, StoreError
from gitindex.base.escape import print_json, safe_text
from gitindex.base.extras import install_hint
from gitindex.base.runner_lock import is_held
from gitindex.base.version import __version__
from gitindex.base.worktree import LLMC, Worktree, find_worktree
from gitindex.freshness.observation import observe, read_progress
from gitindex.freshness.verdict import judge
from gitindex.git.command import clean_env, run_git
from gitindex.git.settings import is_enabled
from gitindex.install.hooks.checks import INSTALL, Finding, check_hooks
from gitindex.languages.table import grammar_set
from gitindex.maintenance.hook_trial import HookCost, RunnerBusy, fire, measure_cost
from gitindex.refresh.log import read_log
from gitindex.store.scrub import check_store

RARE = frozenset({"haskell", "julia", "ocaml"})
"""Grammars of the extra `rare`."""
SLOW_CPU_MS = 25.0
"""What an interpreter costs; our hook starts none."""
START_SECONDS = 5.0
"""How long a runner that a hook has just started may take until it has the lock: cold imports."""


def examine(path: str = ".", as_json: bool = False, trial: bool = True) -> int:
    """Print all findings; the exit code is 0 if nothing is wrong, else 4."""
    worktree = find_worktree(path)
    findings = [*_versions(worktree), _environment(), *_hooks(worktree)]
    cost = None
    if os.path.isdir(worktree.store):
        findings += [_interpreter(worktree), _enabled(worktree)]
        if trial:
            cost = measure_cost()
            findings += [_trial(worktree), _cost(cost)]
    findings += [*_index(worktree), _face(worktree)]
    good = all(finding.ok for finding in findings)
    if as_json:
        _print_json(findings, cost, good)
    else:
        _print_text(findings)
    return int(Exit.OK if good else Exit.ERROR)


def _print_json(findings: list[Finding], cost: HookCost | None, good: bool) -> None:
    answer = {
        "status": "ok" if good else "error",
        "findings": [
            {**finding._asdict(), "detail": safe_text(finding.detail)} for finding in findings
        ],
        "hookCostMs": {k: round(v, 2) for k, v in cost._asdict().items()} if cost else None,
    }
    print_json(answer)


def _print_text(findings: list[Finding]) -> None:
    for finding in findings:
        mark = "ok " if finding.ok else "BAD"
        sys.stdout.write(f"{mark} {finding.name}: {safe_text(finding.detail)}\n")
        if not finding.ok and finding.remedy:
            sys.stdout.write(f"      hint: {safe_text(finding.remedy)}\n")


def _versions(worktree: Worktree) -> list[Finding]:
    git = run_git(worktree.root, "version").decode().strip()
    return [
        Finding("gitindex", True, f"{__version__}, Python {sys.version.split()[0]}, {git}"),
        _grammars(),
    ]


def _grammars() -> Finding:
    """Those of rare languages are an extra; without one its files are found by their words only."""
    lacking = {pair.partition("=")[0] for pair in grammar_set().split() if pair.endswith("=none")}
    detail = grammar_set()
    if lacking:
        detail += f"; for the missing ones: {install_hint('rare')}"
    return Finding("grammars", lacking <= RARE, detail, "reinstall gitindex")


def _environment() -> Finding:
    """Hooks of commands started from here inherit these."""
    env, skipped = os.environ, os.environ.get("SKIP", "").split(",")
    if env.get("GITINDEX") == "0":
        return Finding("environment", False, "GITINDEX=0 switches the hooks off", "unset it")
    if env.get("CI") == "true" and env.get("GITINDEX") != "1":
        return Finding("environment", False, "CI=true switches the hooks off", "set GITINDEX=1")
    if "gitindex" in skipped:
        return Finding("environment", False, "SKIP names gitindex", "unset it")
    return Finding("environment", True, "nothing switches the hooks off")


def _hooks(worktree: Worktree) -> list[Finding]:
    try:
        return check_hooks(worktree)
    except GitIndexError as error:
        return [Finding("hooks", False, error.message, error.hint)]


def _interpreter(worktree: Worktree) -> Finding:
    """Hooks start the noted interpreter with -I: the package must be importable that way."""
    try:
        with open(os.path.join(worktree.store, "python"), "rb") as file:
            python = os.fsdecode(file.read().removesuffix(b"\n"))
        done = subprocess.run(
            [python, "-I", "-c", "import gitindex.refresh.runner"],
            env=clean_env(),
            cwd="/",
            capture_output=True,
            timeout=60,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return Finding("interpreter", False, f"hooks cannot start it: {error}", INSTALL)
    if done.returncode:
        return Finding("interpreter", False, f"{python} cannot import gitindex", INSTALL)
    return Finding("interpreter", True, python)


def _enabled(worktree: Worktree) -> Finding:
    if is_enabled(worktree):
        return Finding("enabled", True, "gitindex.enabled is not false")
    remedy = "run `git config --unset gitindex.enabled`"
    return Finding("enabled", False, "hooks are off: gitindex.enabled is false", remedy)


def _trial(worktree: Worktree) -> Finding:
    try:
        if read_progress(worktree) is not None:
            raise RunnerBusy("a runner is at work")
        fired = fire(worktree)
    except RunnerBusy as busy:  # right after `install` one may begin between the two
        return Finding("trial commit", True, f"not tried: {busy.message}")
    except (GitIndexError, OSError, subprocess.SubprocessError) as error:
        hint = error.hint if isinstance(error, GitIndexError) else ""
        return Finding("trial commit", False, str(error), hint or INSTALL)
    events = [line.split(" ", 1)[0] for line in fired.events]
    took = f"{fired.seconds:.2f} s for the commit and all its hooks"
    if "post-commit" not in events:
        return Finding("trial commit", False, f"no event arrived; {took}", INSTALL)
    times = "once" if len(events) == 1 else f"{len(events)} times"
    return Finding(
        "trial commit", True, f"its event arrived {times}; {took}; it ran the hooks it found"
    )


def _cost(cost: HookCost) -> Finding:
    detail = (
        f"p50 {cost.p50:.1f} ms, p99 {cost.p99:.1f} ms, CPU {cost.cpu_p50:.1f} ms; "
        f"an empty hook p50 {cost.empty_p50:.1f} ms"
    )
    return Finding("hook cost", cost.cpu_p50 < SLOW_CPU_MS, detail, "is /bin/sh something unusual?")


def _index(worktree: Worktree) -> list[Finding]:
    if not os.path.isdir(worktree.store):
        return [Finding("index", False, "this repository is not opted in", INSTALL)]
    if _waits_for_first(worktree):
        return [Finding("index", True, "not examined: a runner is at work on the first index")]
    verdict = judge(observe(worktree))
    ok = verdict.code in (Exit.OK, Exit.NO)
    found = [Finding("index", ok, f"{verdict.state}: {verdict.why}", "run `gitindex index`")]
    found += _store(worktree)
    error = _last_error(worktree)
    if error:
        found.append(Finding("log", False, error, "see `gitindex log`, then `gitindex index`"))
    return found


def _waits_for_first(worktree: Worktree) -> bool:
    """Is the first index queued, and its runner at work? Right after `install` it has yet to start."""
    deadline = time.monotonic() + START_SECONDS
    while (seen := observe(worktree)).pending and judge(seen).code is Exit.GATED:
        if is_held(worktree.lock):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return False


def _store(worktree: Worktree) -> list[Finding]:
    """Every byte of the store, where there is one."""
    if not os.path.exists(worktree.database):
        return []
    try:
        check_store(worktree.store)
    except StoreError as error:
        return [Finding("store", False, error.message, error.hint)]
    return [Finding("store", True, "every byte is as it was written")]


def _last_error(worktree: Worktree) -> str:
    """The last error of a runner, unless a job has succeeded since."""
    found = ""
    for line in read_log(worktree.store, 500):
        try:
            fields = json.loads(line)
        except ValueError:
            continue
        if fields.get("status") == "completed":
            found = ""
        elif fields.get("error"):
            found = f"{fields.get('event')} at {fields.get('at')}: {fields['error']}"
    return found


def _face(worktree: Worktree) -> Finding:
    remedy = f"move {LLMC} away: gitindex keeps its status there"
    if os.path.islink(worktree.llmc):
        return Finding(LLMC, False, "is a symbolic link", remedy)
    tracked = run_git(worktree.root, "ls-files", "-z", "--", LLMC)
    if tracked:
        return Finding(LLMC, False, "is tracked by git", f"`git rm -r --cached {LLMC}`")
    return Finding(LLMC, True, "self-ignored" if os.path.isdir(worktree.llmc) else "not there yet")
