"""The runner's outbox: what a joined clone has published here and not yet in the team's index.

Nothing is queued: the outbox is the difference between the tree that is published here and the one
that was published there. So nothing is lost while the server is away, and nothing is sent twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from gitindex.base.atomic_file import read_small
from gitindex.base.worktree import Worktree
from gitindex.freshness.observation import prove
from gitindex.freshness.status_file import parse_object

TEAM_FILE = "team.json"
"""In the store of a clone that joined a team: where to, and the tree that was published there."""


def drain_outbox(worktrees: Iterable[Worktree]) -> None:
    """Start a process that publishes; without a server it ends, and the next run tries again."""
    for worktree in worktrees:
        if worktree.id == "main" and _is_waiting(worktree):
            from gitindex.refresh.start import forget, start_detached  # most clones are in no team

            forget(start_detached("gitindex", "team", "push", "--outbox", "-C", worktree.root))


def _is_waiting(worktree: Worktree) -> bool:
    try:
        fields = parse_object(read_small(os.path.join(worktree.store, TEAM_FILE)))
    except OSError:
        return False
    marker = prove(worktree).marker
    if not fields or marker is None:
        return False
    return bool(fields.get("pushed") != marker.tree_id)
