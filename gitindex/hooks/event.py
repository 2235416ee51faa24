"""`gitindex hook`: the shipped event script, for tools that start programs instead of sourcing sh."""

from __future__ import annotations

import os
import subprocess

from gitindex import face
from gitindex.errors import GitIndexError
from gitindex.git.command import try_git
from gitindex.hooks.block import EVENTS, render_command
from gitindex.paths import Worktree, find_worktree
from gitindex.shipped import event_script

SHELL = "/bin/sh"


def note_event(event: str, args: list[str]) -> None:
    """Record one event; `auto` is what pre-commit's variables say. Nothing here may fail."""
    if event == "auto":
        event, args = infer_event(dict(os.environ))
    if event not in EVENTS:
        return
    try:
        _prepare(find_worktree(os.getcwd()))
        command = render_command(event, event_script())
        subprocess.run([SHELL, "-c", f'{command} "$@"', event, *args], timeout=30, check=False)
    except (GitIndexError, OSError, subprocess.SubprocessError):
        return


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
    """Who has gitindex only in pre-commit's environment opts in by `gitindex.enabled true`."""
    if os.path.isdir(worktree.store):
        if not _interpreter_lives(worktree):
            face.create_store(worktree)
        return
    answer = try_git(worktree.root, "config", "--type=bool", "--get", "gitindex.enabled")
    if answer.output.strip() == b"true":
        os.umask(0o077)
        face.create_store(worktree)


def _interpreter_lives(worktree: Worktree) -> bool:
    try:
        with open(os.path.join(worktree.store, "python"), "rb") as file:
            return os.access(file.read().removesuffix(b"\n"), os.X_OK)
    except OSError:
        return False
