"""`gitindex hook`: the shipped event script, for tools that start programs instead of sourcing sh.

Imports almost nothing: lefthook and pre-commit start it at every commit.
"""

from __future__ import annotations

import os

from gitindex.base.errors import GitIndexError
from gitindex.base.locations import event_script
from gitindex.base.system import command_of, name_of, parent_of
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.refresh.public_files import is_served

SHELL = "/bin/sh"
SOURCE = 'gitindex_event=$1; shift; . "$0"'
MAX_ANCESTORS = 16  # processes between us and git: a shell, a wrapper, a few more
PRE_COMMIT = "pre-commit"


def note_event(event: str, args: list[str]) -> int:
    """Record one event; `auto` infers it from pre-commit's variables. Silent; never fails."""
    if is_switched_off(dict(os.environ)):
        return 0
    try:
        worktree = find_worktree(os.getcwd())
        if event == "auto":
            options, (event, args) = args, infer_event(dict(os.environ), worktree)
            if not _consented(worktree, options, event) or is_noted_later(worktree, event):
                return 0
        else:
            _prepare(worktree)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.execv(SHELL, [SHELL, "-c", SOURCE, event_script(), event, *args])  # noqa: S606 — argv only
    except (GitIndexError, OSError, ValueError):
        return 0


def is_switched_off(env: dict[str, str]) -> bool:
    """Do the variables that every hook obeys switch us off?"""
    setting = env.get("GITINDEX")
    return setting == "0" or (env.get("CI") == "true" and setting != "1")


def infer_event(env: dict[str, str], worktree: Worktree) -> tuple[str, list[str]]:
    """Infer the event from the variables and command line of pre-commit or prek."""
    if checkout := env.get("PRE_COMMIT_CHECKOUT_TYPE"):
        refs = [env.get("PRE_COMMIT_FROM_REF", ""), env.get("PRE_COMMIT_TO_REF", "")]
        return "post-checkout", [*refs, checkout]
    if rewrite := env.get("PRE_COMMIT_REWRITE_COMMAND"):
        return "post-rewrite", [rewrite]
    if squash := env.get("PRE_COMMIT_IS_SQUASH_MERGE"):
        return "post-merge", [squash]
    stage, git = _ask_ancestors()
    if stage == PRE_COMMIT or not (stage or has_post_hook(worktree)):
        return PRE_COMMIT, [str(git)]
    return "post-commit", []


def is_noted_later(worktree: Worktree, event: str) -> bool:
    """Will a later event report this commit? No for the first index, which starts now."""
    indexed = os.path.exists(worktree.database)
    return event == PRE_COMMIT and indexed and has_post_hook(worktree)


def has_post_hook(worktree: Worktree) -> bool:
    """Does a post-commit hook, pre-commit's or ours, reach us?"""
    if os.path.exists(os.path.join(worktree.store, "hooks.gitconfig")):
        return True
    try:
        with open(os.path.join(worktree.common_dir, "hooks", "post-commit"), "rb") as file:
            text = file.read(1 << 16)
    except OSError:
        return False
    return b"--hook-type=post-commit" in text or b"gitindex" in text


def _ask_ancestors() -> tuple[str, int]:
    """Return the stage that pre-commit runs and the pid of git; "" and 0 if unknown."""
    stage, pid = "", os.getppid()
    for _ in range(MAX_ANCESTORS):
        words = command_of(pid)
        if words is None:
            break  # not Linux, or the first process
        stage = stage or _stage(words)
        if name_of(pid) == "git":
            return stage, pid
        pid = parent_of(pid)
    return stage, 0


def _stage(words: list[bytes]) -> str:
    for option in (b"--hook-type", b"--hook-stage", b"--stage"):
        for at, word in enumerate(words):
            if word.startswith(option + b"="):
                return os.fsdecode(word.partition(b"=")[2])
            if word == option and at + 1 < len(words):
                return os.fsdecode(words[at + 1])
    manual = any(word.endswith((b"pre-commit", b"prek")) for word in words[:2])
    return PRE_COMMIT if manual and b"run" in words else ""


def _consented(worktree: Worktree, options: list[str], event: str) -> bool:
    """Create the store: the id in the configuration is consent. False if the user opted out."""
    from gitindex.install import consent

    served = is_served(worktree)
    if not (served and consent.is_recorded(worktree)):
        if "--no-index" in options and not os.path.isdir(worktree.store):
            return False
        if not consent.record(worktree, "--no-aliases" not in options, served):
            return False
    if event == PRE_COMMIT and not has_post_hook(worktree):
        consent.tell_hook_types(worktree)
    return True


def _prepare(worktree: Worktree) -> None:
    """Create the store if `gitindex.enabled` is true; replace a noted interpreter that is gone."""
    if os.path.isdir(worktree.store):
        is_due = not is_served(worktree)
    else:
        from gitindex.git.command import try_git

        answer = try_git(worktree.root, "config", "--type=bool", "--get", "gitindex.enabled")
        is_due = answer.output.strip() == b"true"
    if is_due:
        from gitindex.refresh.public_files import create_store

        create_store(worktree)
