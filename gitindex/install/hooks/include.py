"""Config hooks (git 2.54 and later): one file of ours, and one line that includes it.

A truncated include makes every git command fail: the file is complete before the line is added, and
the line is removed before the file.
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
"""Relative: git resolves it from the folder of the configuration that includes it."""


def render_include(script: str) -> bytes:
    """Return the configuration that git reads; each event has its own name, to switch it off by."""
    lines = ["# made by `gitindex install`, removed by `gitindex uninstall`"]
    for event in EVENTS:
        lines += [
            f'[hook "gitindex-{event}"]',
            f"\tevent = {event}",
            f"\tcommand = {config_quote(render_command(event, script))}",
        ]
    return os.fsencode("\n".join(lines) + "\n")


def config_quote(text: str) -> str:
    """Quote a value of a git configuration file."""
    for char, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(char, escaped)
    return f'"{text}"'


def include_file(worktree: Worktree) -> str:
    """Return the path of this repository's include file."""
    return os.path.join(worktree.store, NAME)


def user_folder() -> str:
    """Return our folder in the user's configuration."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "gitindex")


def add_include(root: str, scope: str, included: str) -> None:
    """Add the include of a file to the configuration of a scope, once."""
    if is_included(root, scope, included):
        return
    if ask_git(root, "config", f"--{scope}", "--add", "include.path", included).code:
        raise GitIndexError(
            f"git could not write its {scope} configuration",
            f"run `git config --{scope} --add include.path '{included}'`",
        )


def drop_include(root: str, scope: str, included: str) -> bool:
    """Remove the include; True if it was there."""
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
    """Does the configuration of a scope include the file?"""
    answer = ask_git(root, "config", f"--{scope}", "-z", "--get-all", "include.path")
    return os.fsencode(included) in answer.output.split(b"\0")


def install_include(worktree: Worktree, script: str) -> None:
    """Install config mode for one repository."""
    write_atomic(include_file(worktree), render_include(script))
    add_include(worktree.root, "local", INCLUDED)


def uninstall_include(worktree: Worktree) -> bool:
    """Remove config mode of one repository; True if it was there."""
    dropped = drop_include(worktree.root, "local", INCLUDED)
    remove(include_file(worktree))
    return dropped


def install_user_include(script: str) -> str:
    """Install config mode for all repositories of this user; inert where there is no store."""
    os.makedirs(user_folder(), exist_ok=True)
    path = os.path.join(user_folder(), NAME)
    write_atomic(path, render_include(script))
    add_include("/", "global", path)
    return path


def uninstall_user_include() -> bool:
    """Remove config mode of the user; True if it was there."""
    return drop_user_file(NAME)


def drop_user_file(name: str) -> bool:
    """Remove one of our files from the user's configuration; True if it was included."""
    path = os.path.join(user_folder(), name)
    dropped = drop_include("/", "global", path)
    remove(path)
    with contextlib.suppress(OSError):
        os.rmdir(user_folder())  # only if it is empty
    return dropped
