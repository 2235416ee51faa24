"""The `freshness` object of an answer. Every door gets it from here."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.lean import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gitindex.base.answers import FreshnessFields
    from gitindex.base.vocabulary import FreshnessState
    from gitindex.git.worktree_probe import HeadState


class OverlayCoverage(NamedTuple):
    """How much of what differs from the published tree an answer shows."""

    pending: int = 0  # paths that differ from the published tree
    overlaid: int = 0  # of those, how many are laid over it
    left_out: int = 0  # of those, how many are over the budget: hidden, not shown old


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
    return fields
