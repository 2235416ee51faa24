"""Opt-in by the id `gitindex` in a team's pre-commit configuration: recorded and announced once."""

from __future__ import annotations

import os

from gitindex.base.atomic_file import read_small, write_atomic
from gitindex.base.worktree import Worktree, check_owner

RECORD = "consent"
"""Note in the store: how this clone was opted in, and which messages its user has seen."""
WELCOME = (
    "gitindex: indexing this clone in the background; `git fresh` shows its state, "
    "`git idx search WORDS` asks it, `git config gitindex.enabled false` switches it off"
)
HOOK_TYPES = "[pre-commit, post-commit, post-checkout, post-merge, post-rewrite]"
CONFIG = ".pre-commit-config.yaml"


def is_recorded(worktree: Worktree) -> bool:
    """Was this clone opted in through pre-commit before?"""
    return os.path.exists(_path(worktree))


def record(worktree: Worktree, aliases: bool, served: bool) -> bool:
    """Create the store, the note and the aliases of this clone. False if its user disabled us.

    Unless it is `served`, hooks start our interpreter from now on.
    """
    from gitindex.git.settings import is_enabled
    from gitindex.install.aliases import install_for_clone
    from gitindex.refresh.public_files import create_store

    if not is_enabled(worktree):
        return False
    check_owner(worktree)
    first = not is_recorded(worktree)
    mask = os.umask(0o077)
    try:
        if not served:
            create_store(worktree)
        if first:
            write_atomic(_path(worktree), b"pre-commit\n")
        install_for_clone(worktree, new=first and aliases)
    finally:
        os.umask(mask)
    if first:
        _tell_once(worktree, "welcome", WELCOME)
    return True


def tell_hook_types(worktree: Worktree) -> None:
    """Print once which hook types are missing to notice checkouts, merges and rebases."""
    try:
        text = read_small(os.path.join(worktree.root, CONFIG), 1 << 20) or b""
    except OSError:
        text = b""
    lacking = f"add `default_install_hook_types: {HOOK_TYPES}` to {CONFIG} and "
    remedy = "" if b"default_install_hook_types" in text else lacking
    _tell_once(
        worktree,
        "hook-types",
        f"gitindex: only commits are noticed: {remedy}run `pre-commit install` to see "
        "checkouts, merges and rebases at once",
    )


def _tell_once(worktree: Worktree, what: str, line: str) -> None:
    """Print a line on the terminal, if there is one, once per clone."""
    lines = (read_small(_path(worktree)) or b"").splitlines()
    if f"shown {what}".encode() not in lines and _print_on_terminal(line):
        write_atomic(_path(worktree), b"\n".join([*lines, f"shown {what}".encode(), b""]))


def _print_on_terminal(line: str) -> bool:
    """Write to the terminal directly, because pre-commit hides the output of a hook that passes."""
    try:
        fd = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        if os.tcgetpgrp(fd) != os.getpgrp():
            return False  # in the background: a terminal may stop us
        return os.write(fd, f"\n{line}\n".encode()) > 0
    except OSError:
        return False
    finally:
        os.close(fd)


def _path(worktree: Worktree) -> str:
    return os.path.join(worktree.store, RECORD)
