"""Where git looks for hooks, which tool manages that folder, and whether we may write there."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.git.command import clean_env, git_program, run_program

CONFIG_HOOKS = (2, 54)
"""The first git that runs hooks named in its configuration."""

_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


class GitOutput(NamedTuple):
    """The output and exit code of one git command."""

    code: int
    output: bytes


class HooksFolder(NamedTuple):
    """The folder git runs hooks from."""

    folder: str
    scope: str  # "default", or the scope of the configuration that sets core.hooksPath
    manager: str = ""  # the tool that writes this folder, if not the user
    refusal: str = ""  # why we must not write here
    shared: bool = False  # others get this file: it must not have a path of this machine


def ask_git(root: str, *args: str) -> GitOutput:
    """Run git as the user would, with hooks configuration; no command here runs a hook."""
    env = clean_env(root)
    env |= {name: os.environ[name] for name in _KEPT if name in os.environ}
    done = run_program([git_program(env), "-C", root, *args], env)
    return GitOutput(done.returncode, done.output)


def git_version(root: str = "/") -> tuple[int, int]:
    """Return the version of git; (0, 0) if unknown."""
    match = re.search(rb"(\d+)\.(\d+)", ask_git(root, "version").output)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def knows_config_hooks(root: str = "/") -> bool:
    """Does this git run hooks from its configuration?"""
    return git_version(root) >= CONFIG_HOOKS


def find_place(worktree: Worktree) -> HooksFolder:
    """Return the hooks folder of this worktree, and what prevents writing there."""
    answer = ask_git(worktree.root, "rev-parse", "--git-path", "hooks")
    if answer.code:
        raise GitIndexError(
            "git does not say where its hooks are", "run `git rev-parse --git-path hooks`"
        )
    folder = _absolute(worktree.root, answer.output)
    scope = _scope(worktree.root, "core.hooksPath")
    if scope == "default":
        return HooksFolder(folder, scope)
    return _judge(worktree, folder, scope)


def find_global_place() -> HooksFolder | None:
    """Return the hooks folder of the user's or the system's configuration, if one is set."""
    for scope in ("global", "system"):
        answer = ask_git("/", "config", f"--{scope}", "--type=path", "--get", "core.hooksPath")
        if answer.code == 0 and answer.output.strip():
            return HooksFolder(_absolute("/", answer.output), scope)
    return None


def _judge(worktree: Worktree, folder: str, scope: str) -> HooksFolder:
    if os.path.basename(folder.removesuffix("/_")) == ".husky":
        why = "husky writes this folder anew at every install"
        return HooksFolder(folder, scope, "husky", why, shared=True)
    if folder == os.devnull:
        return HooksFolder(folder, scope, "", "core.hooksPath=/dev/null: hooks are switched off")
    if scope in ("global", "system"):
        why = f"core.hooksPath of your {scope} configuration: every repository uses this folder"
        return HooksFolder(folder, scope, "", why)
    if _is_shared(worktree, folder):
        why = "core.hooksPath is a folder under version control"
        return HooksFolder(folder, scope, "", why, shared=True)
    return HooksFolder(folder, scope)


def _is_shared(worktree: Worktree, folder: str) -> bool:
    """Would `git status` of a repository show a file in this folder?"""
    if folder.startswith((worktree.common_dir + os.sep, worktree.git_dir + os.sep)):
        return False
    try:
        owner = find_worktree(folder)
    except GitIndexError:
        return False
    if (folder + os.sep).startswith(owner.common_dir + os.sep):
        return False
    probe = os.path.join(folder, "post-commit")
    ignored = ask_git(owner.root, "check-ignore", "-q", "--", probe).code == 0
    tracked = bool(ask_git(owner.root, "ls-files", "-z", "--", folder).output)
    return tracked or not ignored


def _scope(root: str, name: str) -> str:
    answer = ask_git(root, "config", "--show-scope", "-z", "--get", name)
    if answer.code:
        return "default"
    return safe_text(answer.output.split(b"\0", 1)[0])


def _absolute(root: str, output: bytes) -> str:
    return os.path.normpath(os.path.join(root, os.fsdecode(output.removesuffix(b"\n"))))
