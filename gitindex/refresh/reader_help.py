"""Prepares files that make readers faster, after a refresh and in a process that nobody waits for.

A copy of git's index, and a note of the files that git converted: both take a look at the whole index.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable

from gitindex.base.errors import GitIndexError
from gitindex.base.system import lower_priority
from gitindex.base.vocabulary import EditScope
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.git.hidden_edits import note_compared
from gitindex.git.shadow_writer import is_large, keep_shadow_index, pays
from gitindex.git.worktree_probe import read_head_state
from gitindex.refresh.background import end_with_repository
from gitindex.refresh.start import forget, start_detached


def help_readers(worktrees: Iterable[Worktree]) -> None:
    """Prepare what pays off. Called without the runner's lock, so no job waits for it."""
    for worktree in worktrees:
        with contextlib.suppress(OSError, GitIndexError):
            keep_shadow_index(worktree)
            note_compared(worktree, len(read_head_state(worktree, EditScope.NONE).tree))


def start_helper(worktree: Worktree) -> None:
    """The same for a foreground command: in a process of its own if the index is large."""
    if not is_large(worktree):
        help_readers([worktree])
        return
    if not pays(worktree):
        return
    with contextlib.suppress(OSError):
        forget(start_detached("gitindex.refresh.reader_help", worktree.root))


def main() -> int:
    """`python -I -m gitindex.refresh.reader_help <root>`."""
    os.umask(0o077)
    lower_priority()
    with contextlib.suppress(GitIndexError):
        worktree = worktree_at(sys.argv[1])
        end_with_repository(worktree)
        help_readers([worktree])
    return 0


if __name__ == "__main__":
    sys.exit(main())
