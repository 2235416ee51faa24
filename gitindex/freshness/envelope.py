"""The `freshness` object of an answer. Every door gets it from here."""

from __future__ import annotations

import os

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gitindex.base.answers import FreshnessFields
    from gitindex.base.vocabulary import FreshnessState
    from gitindex.git.worktree_probe import HeadState

MAX_PATHS = 2_000
"""Edited paths that one answer reads from disk; the rest is left out, and the answer counts it."""
MAX_BYTES = 32 << 20
MAX_FILE = 4 << 20
"""Bytes of a larger file that are read, at most."""
MAX_EXTRACTED = 400
"""Edited files without stored facts that one answer parses."""


class OverlayCoverage(NamedTuple):
    """How much of what differs from the published tree an answer shows."""

    pending: int = 0  # paths that differ from the published tree
    overlaid: int = 0  # of those, how many are laid over it
    left_out: int = 0  # paths over a limit, edited or of the tree: hidden, not shown old
    probe_age_ms: int = 0  # since the stat data of the work tree was compared; 0: for this answer


def within_budget(root: str, paths: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Split edited paths into those that an answer overlays and those that it leaves out."""
    chosen: list[bytes] = []
    left_out = paths[MAX_PATHS:]
    room, folder = MAX_BYTES, os.fsencode(root)
    for path in paths[:MAX_PATHS]:
        try:
            size = min(os.lstat(os.path.join(folder, path)).st_size, MAX_FILE) if room > 0 else 0
        except (OSError, ValueError):
            size = 0
        (chosen if room > 0 else left_out).append(path)
        room -= size
    return chosen, left_out


def edits_left_out(root: str, head: HeadState) -> int:
    """Count the edits that some answer leaves out: `status` says what a question would run into."""
    edits = [path for path in dict.fromkeys((*head.dirty, *head.untracked)) if path[-1:] != b"/"]
    chosen, left_out = within_budget(root, edits)
    return len(left_out) + max(0, len(chosen) - MAX_EXTRACTED) + head.unchecked


def freshness_object(
    state: FreshnessState,
    head: HeadState,
    served_commit: str | None,
    mode: str,
    coverage: OverlayCoverage | None,
) -> FreshnessFields:
    """The contract's fields. Without `coverage` nothing was served, so nothing is exact."""
    shown = coverage or OverlayCoverage()
    fields: FreshnessFields = {
        "state": str(state),
        "exact": coverage is not None and not shown.left_out,
        "edits": head.edits,
        "branch": safe_text(head.branch) if head.branch is not None else None,
        "servedCommit": served_commit,
        "headCommit": head.commit,
        "pendingPaths": shown.pending,
        "overlayPaths": shown.overlaid,
        "mode": mode,
    }
    if shown.left_out:
        fields["leftOut"] = shown.left_out
    if shown.probe_age_ms:
        fields["probeAgeMs"] = shown.probe_age_ms
    return fields
