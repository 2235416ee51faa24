"""`git fresh` and `git idx`: aliases in an include of the user's or of one clone's configuration.

They override no existing alias.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import NamedTuple

from gitindex.base.atomic_file import read_small, remove, write_atomic
from gitindex.base.locations import shipped_folder
from gitindex.base.worktree import Worktree
from gitindex.install.hooks.block import sh_quote
from gitindex.install.hooks.include import (
    add_include,
    config_quote,
    drop_include,
    drop_user_file,
    user_folder,
)
from gitindex.install.hooks.place import ask_git

NAME = "aliases.gitconfig"
IN_CLONE = f"gitindex/{NAME}"
"""Relative: git resolves it from the folder of the clone's own configuration."""
GONE = "gitindex: its environment is gone; the next commit through pre-commit notes a new one"


class Alias(NamedTuple):
    """One alias and whether we may define it."""

    name: str
    installed: bool


def install_aliases() -> list[Alias]:
    """Define the aliases whose names are free, for all repositories of this user."""
    path = _path()
    aliases = [Alias(name, _is_free("/", name, path)) for name in _commands()]
    os.makedirs(user_folder(), exist_ok=True)
    write_atomic(path, render_aliases([alias.name for alias in aliases if alias.installed]))
    add_include("/", "global", path)
    return aliases


def uninstall_aliases() -> bool:
    """Remove the include, then its file; True if it was there."""
    return drop_user_file(NAME)


def install_for_clone(worktree: Worktree, new: bool) -> None:
    """Define the free names for one clone; unless `new`, only update an existing file."""
    path = os.path.join(worktree.store, NAME)
    before = read_small(path)
    if before is None and not new:
        return
    names = [name for name in _commands() if _is_free(worktree.root, name, path)]
    if names and (text := render_aliases(names)) != before:
        write_atomic(path, text)
    if names and new:
        add_include(worktree.root, "local", IN_CLONE)


def uninstall_for_clone(worktree: Worktree) -> bool:
    """Remove the include of one clone, then its file; True if it was there."""
    dropped = drop_include(worktree.root, "local", IN_CLONE)
    remove(os.path.join(worktree.store, NAME))
    return dropped


def render_aliases(names: list[str]) -> bytes:
    """Return the configuration that defines some of the aliases."""
    template = os.path.join(shipped_folder("templates"), NAME)
    with open(template, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for name, command in _commands().items():
        at = lines.index(f"\t{name} = @{name}@")
        lines[at : at + 1] = [f"\t{name} = {config_quote(command)}"] if name in names else []
    return os.fsencode("\n".join(lines) + "\n")


def _commands() -> dict[str, str]:
    """Return the shell commands of the aliases; git appends their arguments."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    python = sh_quote(sys.executable)
    script = sh_quote(os.path.join(shipped_folder("hooks"), "fresh.sh"))
    return {
        "fresh": (
            f"!{_guard('-r', script)}gitindex_python={python}; gitindex_home={sh_quote(home)}; "
            f"gitindex_site={sh_quote(_site(home))}; . {script}"
        ),
        "idx": (
            f"!f() {{ {_guard('-x', python)}[ $# -gt 0 ] || set -- status; "
            f'cd "./$GIT_PREFIX" && {python} -I -m gitindex "$@"; }}; f'  # git adds arguments if any
        ),
    }


def _guard(test: str, path: str) -> str:
    """Return a shell guard that prints one line if pre-commit has removed our environment."""
    return f"[ {test} {path} ] || {{ echo {sh_quote(GONE)} >&2; exit 4; }}; "


def _site(home: str) -> str:
    """Return the folder that changes when anything is installed into our environment."""
    return sysconfig.get_path("purelib") or os.path.dirname(home)


def _is_free(root: str, name: str, ours: str) -> bool:
    answer = ask_git(root, "config", "-z", "--show-origin", "--get-all", f"alias.{name}")
    origins = [os.fsdecode(o).removeprefix("file:") for o in answer.output.split(b"\0")[0:-1:2]]
    return all(_same_file(os.path.join(root, origin), ours) for origin in origins)


def _same_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _path() -> str:
    return os.path.join(user_folder(), NAME)
