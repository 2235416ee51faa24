"""Renames of real code: plan, apply, run the package's own tests, ask for the old name, put it back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.edit.rename import RenameRequest, apply_edits, plan_rename
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.query.symbols import SymbolQuery, list_symbols
from gitindex.view.tree import open_tree
from tests.support import Repo

KINDS = ("function", "method", "class", "field", "constant", "variable")
CPU_SECONDS = 300
"""The most a package's own tests may take."""
REASONS = {
    "of unknown type": "receiver",
    "nothing in reach": "unbound",
    "a key or a keyword": "key",
    "read as the name": "string",
    "not parsed": "not_parsed",
    "examines": "budget",
    "could not be searched": "unread",
    ", a base of": "outside_base",
    "put together": "built_name",
    "by the class's name": "built_name",
    "fixture": "fixture",
    "in one": "shorthand",
    "already": "taken",
}
"""Texts in a refusal, and what such refusals are counted as; any other is `other`."""


NO_SYMBOL = "no_symbol"


class RenameOutcome(NamedTuple):
    """What became of a rename: what went wrong after it, or the kinds of reasons against it."""

    wrong: str = ""
    refused: tuple[str, ...] = ()


def run_tests(folder: Path, command: list[str], paths: str) -> str:
    """What a package's own tests say where they fail; empty where they pass."""
    env = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they take longer than most packages' tests
    limit = f'ulimit -t {CPU_SECONDS}; exec "$@"'
    done = subprocess.run(
        ["sh", "-c", limit, "sh", sys.executable, *command],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    told = (done.stdout + done.stderr)[-2000:]
    return told or f"ended by {done.returncode}" if done.returncode else ""


def symbols_of(repo: Repo, under: str) -> Iterator[str]:
    """Ids of what can be renamed below a path: symbols outside of functions, and modules.

    Names that the language or a test runner gives a meaning are left out.
    """
    with open_tree(repo.worktree, ".") as view:
        found = list_symbols(view, SymbolQuery("", path=under, limit=1000))["symbols"]
    inside = {(s["path"], s["qualifiedName"]) for s in found if s["kind"] in ("function", "method")}
    for one in found:
        outer = one["qualifiedName"].rpartition(".")[0]
        named = not one["name"].startswith(("__", "test", "Test", "setUp"))
        if one["kind"] in KINDS and named and (one["path"], outer) not in inside:
            yield f"{one['path']}#{one['qualifiedName']}"
    yield from sorted({one["path"] for one in found if one["path"].endswith(".py")})


def apply_rename(repo: Repo, symbol: str, new: str, memory: Memory) -> tuple[str, ...]:
    """Apply a rename to the files; returns the kinds of reasons against it where it is refused."""
    with open_tree(repo.worktree, ".") as view:
        try:
            plan = plan_rename(view, RenameRequest(symbol, new), memory)
        except GitIndexError:
            return (NO_SYMBOL,)
    if plan.blocked:
        return tuple(sorted({_kind(reason) for reason in plan.blocked}))
    apply_edits(repo.worktree, plan.edits)
    return ()


def left_of(repo: Repo, symbol: str, memory: Memory) -> str:
    """What is still found under the old name: the symbol, or references to nothing."""
    with open_tree(repo.worktree, ".") as view:
        asked = symbol if "#" in symbol else Path(symbol).stem  # a module
        try:
            left = find_references(view, ReferenceQuery(asked), memory)
        except GitIndexError:
            return ""  # no symbol has the name
    others = [d for d in left["definitions"] if f"{d['path']}#{d['qualifiedName']}" == symbol]
    if others or (not left["definitions"] and left["references"]):
        return f"{symbol} is left at {others} {left['references'][:3]}"
    return ""


def rename_and_run(
    repo: Repo, symbol: str, new: str, command: list[str], paths: str, memory: Memory | None = None
) -> RenameOutcome:
    """Apply a rename that is not refused, run the tests, ask for the old name, put all back."""
    memory = memory or Memory()
    refused = apply_rename(repo, symbol, new, memory)
    if refused:
        return RenameOutcome(refused=refused)
    try:
        wrong = run_tests(repo.path, command, paths) or left_of(repo, symbol, memory)
        return RenameOutcome(f"{symbol} → {new}: {wrong}" if wrong else "")
    finally:
        put_back(repo)


def put_back(repo: Repo) -> None:
    """Give all files the bytes and paths of the last commit."""
    repo.git("checkout", "-q", "--", ".")
    repo.git("clean", "-fdq")  # a module that has moved


def _kind(reason: str) -> str:
    return next((kind for text, kind in REASONS.items() if text in reason), "other")
