"""`gitindex.enabled`: the setting that silences the hooks of a repository.

A hook cannot ask git for it: that would cost more than everything else it does. So the first runner
that finds it false writes a note, `off.<worktree>`, dated like the newest configuration file it has
read. A hook exits if it finds the note and no newer configuration.
"""

from __future__ import annotations

import os
import sys

from gitindex.base.atomic_file import read_small, remove, write_atomic
from gitindex.base.worktree import Worktree
from gitindex.git.command import clean_env, git_program, try_git


def is_enabled(worktree: Worktree) -> bool:
    """Return the current setting in git. Unset or unreadable means enabled."""
    if not _may_be_set(worktree):
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
    for path in _files(worktree):
        try:
            times.append(os.stat(path).st_mtime_ns)
        except OSError:
            continue
    return max(times)


def _may_be_set(worktree: Worktree) -> bool:
    """False only if no file that git reads mentions us or includes further files."""
    if sys.platform != "linux" or git_program(clean_env()) != "/usr/bin/git":
        return True  # another git may have its system configuration anywhere
    try:
        texts = [read_small(path) or b"" for path in (*_files(worktree), "/etc/gitconfig")]
    except OSError:
        return True
    return any(word in text.lower() for text in texts for word in (b"gitindex", b"include"))


def _files(worktree: Worktree) -> tuple[str, ...]:
    """Return the configuration files of the repository and of the user."""
    home = os.path.expanduser("~")
    xdg = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return (
        os.path.join(worktree.common_dir, "config"),
        os.path.join(worktree.git_dir, "config.worktree"),
        os.path.join(home, ".gitconfig"),
        os.path.join(xdg, "git", "config"),
    )


def _note_path(worktree: Worktree) -> str:
    return os.path.join(worktree.store, f"off.{worktree.id}")
