"""`gitindex.enabled`: the one setting that silences the hooks of a repository.

A hook cannot ask git for it: that would cost more than all the rest it does. So the first runner that
finds it false leaves a note, `off.<worktree>`, dated like the newest configuration it has read. A hook
that finds the note, and no configuration newer than it, ends there.
"""

from __future__ import annotations

import os
import sys

from gitindex.base.atomic_file import read_small, remove, write_atomic
from gitindex.base.worktree import Worktree
from gitindex.git.command import clean_env, git_program, try_git


def is_enabled(worktree: Worktree) -> bool:
    """What git says now. Unset or unreadable is on."""
    if not _may_be_set(worktree):
        return True  # a git process less for every prompt
    answer = try_git(worktree.root, "config", "--type=bool", "--get", "gitindex.enabled")
    return answer.output.strip() != b"false"


def note_switch(worktree: Worktree) -> bool:
    """What git says now; the hooks' note is brought in line with it. For writers only."""
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
        return  # without the note a hook starts a runner, and that one asks


def _newest(worktree: Worktree) -> int:
    """When the configuration was last written, as far as a hook looks."""
    times = [0]
    for path in _files(worktree):
        try:
            times.append(os.stat(path).st_mtime_ns)
        except OSError:
            continue
    return max(times)


def _may_be_set(worktree: Worktree) -> bool:
    """False only where none of the files that git reads names us, or names further files."""
    if sys.platform != "linux" or git_program(clean_env()) != "/usr/bin/git":
        return True  # another git may have its system's file anywhere
    try:
        texts = [read_small(path) or b"" for path in (*_files(worktree), "/etc/gitconfig")]
    except OSError:
        return True
    return any(word in text.lower() for text in texts for word in (b"gitindex", b"include"))


def _files(worktree: Worktree) -> tuple[str, ...]:
    """The configuration of the repository and of the user."""
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
