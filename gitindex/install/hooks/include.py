"""Config hooks (git 2.54 and later): one file of ours, and one line that includes it.

A truncated include makes every git command fail, so the file is whole before the line names it, and
the line is gone before the file is.
"""

from __future__ import annotations

import contextlib
import os

from gitindex.base.atomic_file import remove, write_atomic
from gitindex.base.errors import GitIndexError
from gitindex.base.worktree import Worktree
from gitindex.install.hooks.block import EVENTS, render_command
from gitindex.install.hooks.place import ask_git

NAME = "hooks.gitconfig"
INCLUDED = f"gitindex/{NAME}"
"""Relative: git reads it from the folder of the configuration that includes it."""


def render_include(script: str) -> bytes:
    """The configuration git reads; each event has a name of its own, to be switched off by."""
    lines = ["# made by `gitindex install`, removed by `gitindex uninstall`"]
    for event in EVENTS:
        lines += [
            f'[hook "gitindex-{event}"]',
            f"\tevent = {event}",
            f"\tcommand = {config_quote(render_command(event, script))}",
        ]
    return os.fsencode("\n".join(lines) + "\n")


def config_quote(text: str) -> str:
    """One value of a git configuration file, whatever is in it."""
    for char, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(char, escaped)
    return f'"{text}"'


def include_file(worktree: Worktree) -> str:
    """Where this repository's file of ours is."""
    return os.path.join(worktree.store, NAME)


def user_folder() -> str:
    """Our folder in the user's configuration."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "gitindex")


def add_include(root: str, scope: str, included: str) -> None:
    """Name a file in the configuration of a scope, once."""
    if is_included(root, scope, included):
        return
    if ask_git(root, "config", f"--{scope}", "--add", "include.path", included).code:
        raise GitIndexError(
            f"git could not write its {scope} configuration",
            f"run `git config --{scope} --add include.path '{included}'`",
        )


def drop_include(root: str, scope: str, included: str) -> bool:
    """Take the line out again; True if it was there."""
    if not is_included(root, scope, included):
        return False
    answer = ask_git(
        root, "config", f"--{scope}", "--fixed-value", "--unset-all", "include.path", included
    )
    if answer.code:
        raise GitIndexError(
            f"git could not write its {scope} configuration",
            f"run `git config --{scope} --fixed-value --unset-all include.path '{included}'`",
        )
    return True


def is_included(root: str, scope: str, included: str) -> bool:
    """Is the file named in the configuration of a scope?"""
    answer = ask_git(root, "config", f"--{scope}", "-z", "--get-all", "include.path")
    return os.fsencode(included) in answer.output.split(b"\0")


def install_include(worktree: Worktree, script: str) -> None:
    """Config mode for one repository."""
    write_atomic(include_file(worktree), render_include(script))
    add_include(worktree.root, "local", INCLUDED)


def uninstall_include(worktree: Worktree) -> bool:
    """Undo it; True if it was there."""
    dropped = drop_include(worktree.root, "local", INCLUDED)
    remove(include_file(worktree))
    return dropped


def install_user_include(script: str) -> str:
    """Config mode for all repositories of this user; inert where there is no store."""
    os.makedirs(user_folder(), exist_ok=True)
    path = os.path.join(user_folder(), NAME)
    write_atomic(path, render_include(script))
    add_include("/", "global", path)
    return path


def uninstall_user_include() -> bool:
    """Undo it; True if it was there."""
    return drop_user_file(NAME)


def drop_user_file(name: str) -> bool:
    """Take a file of ours out of the user's configuration; True if it was included."""
    path = os.path.join(user_folder(), name)
    dropped = drop_include("/", "global", path)
    remove(path)
    with contextlib.suppress(OSError):
        os.rmdir(user_folder())  # unless it holds something else
    return dropped
