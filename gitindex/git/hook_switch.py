"""`gitindex.enabled`: the setting that silences the hooks of a repository.

A hook cannot ask git for it: that would cost more than everything else it does. So the first runner
that finds it false writes a note, `off.<worktree>`, dated like the newest configuration file it has
read. A hook exits if it finds the note and no newer configuration.
"""

from __future__ import annotations

import os

from gitindex.base.atomic_file import remove, write_atomic
from gitindex.base.worktree import Worktree
from gitindex.git.command import clean_env, git_program, try_git
from gitindex.git.config_files import may_be_anywhere, own_files, user_files


def is_enabled(worktree: Worktree) -> bool:
    """Return the current setting in git. Unset or unreadable means enabled."""
    if not may_be_anywhere(b"gitindex", worktree, git_program(clean_env())):
        return True  # saves a git process at every prompt
    answer = try_git(worktree.root, "config", "--type=bool", "--get", "gitindex.enabled")
    return answer.output.strip() != b"false"


def note_switch(worktree: Worktree) -> bool:
    """Return the current setting, and update the hooks' note. For writers only."""
    newest = _newest(worktree)
    enabled = is_enabled(worktree)
    if os.path.isdir(worktree.store):
        _note(_note_path(worktree), enabled, newest)
    return enabled


def _note(path: str, enabled: bool, newest: int) -> None:
    try:
        if enabled:
            remove(path)
        else:
            write_atomic(path, b"gitindex.enabled is false\n", durable=False)
            os.utime(path, ns=(newest, newest))
    except OSError:
        return  # without the note a hook starts a runner, which asks git


def _newest(worktree: Worktree) -> int:
    """Return the modification time of the newest configuration file that a hook checks."""
    times = [0]
    for path in (*own_files(worktree), *user_files()):
        try:
            times.append(os.stat(path).st_mtime_ns)
        except OSError:
            continue
    return max(times)


def _note_path(worktree: Worktree) -> str:
    return os.path.join(worktree.store, f"off.{worktree.id}")
