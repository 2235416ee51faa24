"""Verbs that run a refresh or wait for one: plain functions that return an exit code.

Apart from `indexing.py`, whose imports (hooks, answers) would be a tenth of a one-line `gitindex index`.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from gitindex.base.errors import Exit, GitIndexError, NotIndexed
from gitindex.base.vocabulary import ProofOutcome
from gitindex.base.worktree import Worktree, check_owner, find_worktree
from gitindex.cli.progress import progress_bar
from gitindex.cli.terminal import say
from gitindex.freshness.observation import observe
from gitindex.freshness.verdict import STALE_CREATE
from gitindex.refresh.spool import IMMEDIATE, Pace


def index(path: str = ".", force: bool = False, as_json: bool = False, seed: str = "") -> int:
    """Build or refresh the index now, in the foreground; `seed` names a destination of packs."""
    from gitindex.refresh.run import refresh_now
    from gitindex.refresh.runner import RefreshRequest

    worktree = find_worktree(path)
    check_owner(worktree)
    with suppress(GitIndexError):  # the attempt itself says what is wrong, and leaves a record
        seen = observe(worktree)
        if seen.searchable and seen.proof.outcome is ProofOutcome.STALE_LOCAL and not as_json:
            say(STALE_CREATE)
    if force or not seed or not _seed(worktree, seed):
        with progress_bar("indexing") as report:
            reason = "reindex" if force else "index"
            refresh_now(RefreshRequest(worktree, reason, force), report)
    from gitindex.freshness.report import show_status

    code = show_status("json" if as_json else "brief", path)
    if seed:
        from gitindex.sharing.packs import start_verification

        start_verification(worktree)
    return 0 if code in (Exit.OK, Exit.NO) else int(Exit.ERROR)


def _seed(worktree: Worktree, dest: str) -> bool:
    """Adopt the nearest pack and refresh; False if there is none or it is refused."""
    from gitindex.cli.verbs.packs import pull_fields, pull_line
    from gitindex.sharing.packs import pull

    try:
        with progress_bar("pulling") as report:
            found = pull(worktree, dest, report)
        message, done = pull_line(pull_fields(found)), found.outcome != "none"
    except GitIndexError as error:
        message, done = f"indexing without a pack: {error.message}", False
    sys.stderr.write(f"gitindex: {message}\n")
    return done


def run(path: str = ".", wait: bool = False) -> int:
    """Process queued refreshes until none is left, then exit (after a short linger with `wait`)."""
    from gitindex.refresh.runner import Runner

    worktree = opted_in(path)
    check_owner(worktree)
    os.umask(0o077)
    Runner(worktree, Pace() if wait else IMMEDIATE).serve()
    return int(Exit.OK)


def wait(path: str = ".", timeout: float = 60.0, as_json: bool = False) -> int:
    """Wait until HEAD's tree is published and proven; runs the refresh itself if no runner does."""
    error = _wait(path, timeout)
    if as_json:
        from gitindex.freshness.report import show_status

        show_status("json", path)
    elif error is not None:
        raise error
    elif sys.stdout.isatty():
        say("fresh: HEAD is indexed")
    return int(Exit.OK if error is None else Exit.NO)


def _wait(path: str, timeout: float) -> GitIndexError | None:
    """Return None once HEAD is indexed; otherwise the error that explains why it is not yet."""
    from gitindex.refresh.run import wait_until_fresh

    with progress_bar("waiting") as report:
        verdict = wait_until_fresh(opted_in(path), timeout, report)
    if verdict is None:
        return None
    return GitIndexError(
        f"not fresh after {timeout:g} s: {verdict.why}", "see `gitindex log`", Exit.NO
    )


def opted_in(path: str) -> Worktree:
    """Return the worktree; NotIndexed if it has no index."""
    worktree = find_worktree(path)
    if not os.path.isdir(worktree.store):
        raise NotIndexed
    return worktree
