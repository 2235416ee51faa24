"""The tree that a merge of two commits would give, without a checkout and without leaving objects.

`git merge-tree` writes objects and runs merge drivers. Its objects go to a temporary object
directory that has the repository's as its alternate. It runs in an empty git directory, so neither
the configuration nor the attributes of the repository apply: a driver that only the repository
defines never runs, and a file that needs one counts as a conflict.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.worktree import Worktree
from gitindex.git.command import (
    check_result,
    missing_commit_hint,
    read_objects,
    try_git,
    view_env,
)

NEEDED = (2, 38)
"""The first git whose merge-tree prints a tree."""


class MergedTree(NamedTuple):
    """The result of a merge; its new objects are readable while the merge is open."""

    tree: str
    conflicts: tuple[bytes, ...]  # paths that a person has to resolve
    env: dict[str, str]

    def compare(self, old: str) -> bytes:
        """Return the difference from another tree to this one, as `--raw -z` records."""
        form = ("-r", "--raw", "-z", "--no-abbrev", "--no-renames", "--end-of-options")
        args = ("diff-tree", *form, old, self.tree)
        return check_result(args, try_git("/", *args, env=self.env))

    def read(self, oids: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of blobs, of the repository or made by the merge."""
        return read_objects(oids, self.env)


@contextmanager
def merged_tree(worktree: Worktree, ours: str, theirs: str) -> Iterator[MergedTree]:
    """Merge two commits, given by id."""
    with tempfile.TemporaryDirectory(prefix="gitindex-merge-") as folder:
        env = environment(worktree, folder, len(ours))
        args = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
        done = try_git("/", *args, env=env)
        if done.returncode not in (0, 1):
            _refuse_old_git(worktree)
            check_result(args, done)
        tree, *conflicts = done.output.split(b"\0")
        if not re.fullmatch(rb"[0-9a-f]{40,64}", tree):
            raise GitIndexError("git merge-tree did not give a tree", "do the two share history?")
        yield MergedTree(tree.decode(), tuple(filter(None, conflicts)), env)


def commit_of(worktree: Worktree, name: str) -> str:
    """Return the id of a commit by any of its names."""
    args = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    result = try_git(worktree.root, *args)
    if result.returncode:
        hint = missing_commit_hint(worktree.root, "see `git branch -a`")
        raise GitIndexError(f"no such commit: {safe_text(name)}", hint, Exit.USAGE)
    return result.output.decode().strip()


def environment(worktree: Worktree, folder: str, digits: int) -> dict[str, str]:
    """Return the environment of a git that writes objects into `folder` and reads both."""
    env = view_env(worktree, digits)
    env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = _quoted(env["GIT_OBJECT_DIRECTORY"])
    env["GIT_OBJECT_DIRECTORY"] = folder
    shallow = os.path.join(worktree.common_dir, "shallow")
    if os.path.exists(shallow):
        env["GIT_SHALLOW_FILE"] = shallow
    return env


def _quoted(path: str) -> str:
    """Quote one folder of a colon-separated list, as git reads it."""
    if ":" not in path and not path.startswith('"') and "\\" not in path:
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _refuse_old_git(worktree: Worktree) -> None:
    match = re.search(rb"(\d+)\.(\d+)", try_git(worktree.root, "version").output)
    if match and (int(match[1]), int(match[2])) < NEEDED:
        version, needed = match[0].decode(), ".".join(map(str, NEEDED))
        raise GitIndexError(
            f"git {version} cannot merge without a checkout: merge-check needs git {needed}",
            "upgrade git",
        )
