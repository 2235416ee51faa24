"""`gitindex doctor`: what is installed, what is wrong, how to mend it. Changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import NamedTuple

from gitindex import __version__
from gitindex.errors import Exit, GitIndexError
from gitindex.freshness import judge
from gitindex.git.command import clean_env, run_git
from gitindex.hooks import hook_states
from gitindex.languages import grammar_set
from gitindex.log import read_log
from gitindex.observe import observe
from gitindex.paths import LLMC, Worktree, find_worktree, safe_text


class Finding(NamedTuple):
    """One thing looked at."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def examine(path: str = ".", as_json: bool = False) -> int:
    """Print all findings; the exit code is 0 if nothing is wrong."""
    worktree = find_worktree(path)
    findings = [*_versions(worktree), *_hooks(worktree), *_index(worktree), _face(worktree)]
    if as_json:
        listed = [finding._asdict() for finding in findings]
        sys.stdout.write(json.dumps({"status": "ok", "findings": listed}) + "\n")
    else:
        for finding in findings:
            sys.stdout.write(
                f"{'ok ' if finding.ok else 'BAD'} {finding.name}: {safe_text(finding.detail)}\n"
            )
            if not finding.ok and finding.remedy:
                sys.stdout.write(f"      hint: {safe_text(finding.remedy)}\n")
    return int(Exit.OK if all(finding.ok for finding in findings) else Exit.ERROR)


def _versions(worktree: Worktree) -> list[Finding]:
    git = run_git(worktree.root, "version").decode().strip()
    return [
        Finding("gitindex", True, f"{__version__}, Python {sys.version.split()[0]}, {git}"),
        Finding("grammars", "=none" not in grammar_set(), grammar_set(), "reinstall gitindex"),
        _interpreter(),
    ]


def _interpreter() -> Finding:
    """Hooks start `python -I`: the package must be importable that way."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", "import gitindex"],
        env=clean_env(), cwd="/", capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    remedy = "install gitindex into a virtual environment or with pipx"
    return Finding("interpreter", done.returncode == 0, sys.executable, remedy)


def _hooks(worktree: Worktree) -> list[Finding]:
    try:
        states = hook_states(worktree)
    except GitIndexError as error:
        return [Finding("hooks", False, error.message, error.hint)]
    return [
        Finding(
            hook.event,
            hook.state == "installed",
            f"{hook.state} at {hook.path}",
            "run `gitindex install`",
        )
        for hook in states
    ]


def _index(worktree: Worktree) -> list[Finding]:
    if not os.path.isdir(worktree.store):
        return [Finding("index", False, "this repository is not opted in", "run `gitindex index`")]
    verdict = judge(observe(worktree))
    ok = verdict.code in (Exit.OK, Exit.NO)
    errors = [line for line in read_log(worktree.store, 50) if '"error"' in line]
    found = [Finding("index", ok, f"{verdict.state}: {verdict.why}", "run `gitindex index`")]
    if errors and not ok:
        found.append(Finding("log", False, errors[-1], "see `gitindex log`"))
    return found


def _face(worktree: Worktree) -> Finding:
    remedy = f"move {LLMC} away: gitindex keeps its status there"
    if os.path.islink(worktree.llmc):
        return Finding(LLMC, False, "is a symbolic link", remedy)
    tracked = run_git(worktree.root, "ls-files", "-z", "--", LLMC)
    if tracked:
        return Finding(LLMC, False, "is tracked by git", f"`git rm -r --cached {LLMC}`")
    return Finding(LLMC, True, "self-ignored" if os.path.isdir(worktree.llmc) else "not there yet")
