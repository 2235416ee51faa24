"""The checks that hook managers run before a commit or a push; internal errors never block."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text

GATES = {
    "dangling": ["impact", "--staged", "--dangling"],
    "tests": ["impact", "--staged", "--tests"],
    "merge": ["merge-check"],
    "api": ["api"],
    "run": ["impact"],
}
"""Maps the ids of .pre-commit-hooks.yaml to their commands."""


def run_gate(name: str, args: list[str]) -> int:
    """Run a gate. Exit 1 is its refusal, 2 a wrong option; any other failure does not block."""
    if name not in GATES:
        known = ", ".join(GATES)
        raise GitIndexError(f"unknown gate: {name}", f"one of {known}", Exit.USAGE)
    if os.environ.get("GITINDEX") == "0":
        return int(Exit.OK)
    try:
        return _run_affected(args) if name == "run" else _run_check(name, args)
    except GitIndexError as error:
        if error.code == Exit.USAGE:
            raise
        return _unchecked(error.message)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 — a panic in Rust is no Exception
        return _unchecked(f"internal error: {error!r}")


def _run_check(name: str, args: list[str]) -> int:
    from gitindex.cli.door import run_cli

    line = _LINES[name](args) if name in _LINES else [*GATES[name], *args]
    if not line:
        return int(Exit.OK)
    code = run_cli(line)
    return code if code in (Exit.OK, Exit.NO, Exit.USAGE) else int(Exit.OK)


def _merge_line(args: list[str]) -> list[str]:
    """Return the command for the merge under way, else with the upstream; empty if neither."""
    from gitindex.base.worktree import find_worktree
    from gitindex.git.command import try_git
    from gitindex.questions.merge_check import has_upstream, is_merging

    worktree = find_worktree(os.getcwd())
    if is_merging(worktree):
        return ["merge-check", "--merging", *args]
    for branch in (word for word in args if not word.startswith("-")):
        asked = ("rev-parse", "-q", "--verify", "--end-of-options", f"{branch}^{{commit}}")
        if try_git(worktree.root, *asked).returncode:
            _unchecked(f"there is no {branch} here")
            return []
    return ["merge-check", *args] if args or has_upstream(worktree) else []


def _api_line(args: list[str]) -> list[str]:
    """Before a push: fail against the last tag. Before a commit: only report."""
    from gitindex.base.worktree import find_worktree
    from gitindex.questions.api import has_tag

    if not any(name in os.environ for name in _PUSHING):
        return ["api", "--staged", *args]
    return ["api", "--check", *args] if has_tag(find_worktree(os.getcwd())) else []


def _run_affected(args: list[str]) -> int:
    """Run a command with the tests that reach the staged change; do nothing if there are none."""
    command = args[1:] if args[:1] == ["--"] else args
    if not command:
        hint = "args: [--, pytest, -q]"
        raise GitIndexError("no command to run the tests with", hint, Exit.USAGE)
    tests = _affected()
    if not tests:
        return int(Exit.OK)
    own = os.path.dirname(sys.executable)  # the tests run in the project's environment, not in ours
    path = [p for p in os.environ.get("PATH", "").split(os.pathsep) if p != own]
    env = {**os.environ, "PATH": os.pathsep.join(path)}
    if env.get("VIRTUAL_ENV") == sys.prefix:
        del env["VIRTUAL_ENV"]
    program = shutil.which(command[0], path=env["PATH"])
    if program is None:
        return _unchecked(f"{command[0]} was not found")
    try:
        done = subprocess.run([program, *command[1:], *tests], env=env, check=False)
    except OSError as error:  # more files than one command line takes, or no program after all
        return _unchecked(f"{command[0]}: {error.strerror}")
    return int(Exit.NO if done.returncode else Exit.OK)


def _affected() -> list[str]:
    from gitindex.base.worktree import find_worktree
    from gitindex.query.impact.affected import affected_tests
    from gitindex.query.impact.change import comparing, parse_range
    from gitindex.view.snapshot import GateClosed

    worktree = find_worktree(os.getcwd())
    try:
        with comparing(worktree, ".", parse_range("", True)) as change:
            found = affected_tests(change).tests
    except GateClosed:
        raise GitIndexError("not indexed", "run `gitindex index`") from None
    nodes = [node for test in found for node in test.nodes or (test.path,)]
    long = sum(len(os.fsencode(node)) + 1 for node in nodes) > MAX_ARGUMENTS
    return [test.path for test in found] if long else nodes


MAX_ARGUMENTS = 100_000
"""Bytes of node ids on one command line; with more, whole files are named."""
_LINES = {"merge": _merge_line, "api": _api_line}
_PUSHING = ("PRE_COMMIT_REMOTE_NAME", "PRE_COMMIT_REMOTE_URL", "PRE_COMMIT_TO_REF", "CI")
"""Variables that pre-commit sets before a push, and every CI always."""


def _unchecked(why: str) -> int:
    sys.stderr.write(f"gitindex: nothing was checked: {safe_text(why)}\n")
    return int(Exit.OK)
