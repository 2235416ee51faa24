"""`gitindex hook`: the shipped event script, for tools that start programs instead of sourcing sh.

Imports next to nothing: lefthook and pre-commit start it at every commit.
"""

from __future__ import annotations

import os

from gitindex.base.errors import GitIndexError
from gitindex.base.shipped import event_script
from gitindex.base.worktree import Worktree, find_worktree

SHELL = "/bin/sh"
SOURCE = 'gitindex_event=$1; shift; . "$0"'


def note_event(event: str, args: list[str]) -> int:
    """Record one event; `auto` is what pre-commit's variables say. Silent; never fails."""
    if event == "auto":
        event, args = infer_event(dict(os.environ))
    try:
        _prepare(find_worktree(os.getcwd()))
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.execv(SHELL, [SHELL, "-c", SOURCE, event_script(), event, *args])  # noqa: S606 — argv only
    except (GitIndexError, OSError, ValueError):
        return 0


def infer_event(env: dict[str, str]) -> tuple[str, list[str]]:
    """pre-commit and prek name no event: what they set tells which it is."""
    if checkout := env.get("PRE_COMMIT_CHECKOUT_TYPE"):
        refs = [env.get("PRE_COMMIT_FROM_REF", ""), env.get("PRE_COMMIT_TO_REF", "")]
        return "post-checkout", [*refs, checkout]
    if rewrite := env.get("PRE_COMMIT_REWRITE_COMMAND"):
        return "post-rewrite", [rewrite]
    if squash := env.get("PRE_COMMIT_IS_SQUASH_MERGE"):
        return "post-merge", [squash]
    return "post-commit", []


def _prepare(worktree: Worktree) -> None:
    """Create the store if `gitindex.enabled` is true: the opt-in of the `gitindex-python` hook."""
    if os.path.isdir(worktree.store):
        wanted = not _interpreter_lives(worktree)
    else:
        from gitindex.git.command import try_git

        answer = try_git(worktree.root, "config", "--type=bool", "--get", "gitindex.enabled")
        wanted = answer.output.strip() == b"true"
    if wanted:
        from gitindex.refresh.public_files import create_store

        create_store(worktree)


def _interpreter_lives(worktree: Worktree) -> bool:
    try:
        with open(os.path.join(worktree.store, "python"), "rb") as file:
            return os.access(file.read().removesuffix(b"\n"), os.X_OK)
    except OSError:
        return False
