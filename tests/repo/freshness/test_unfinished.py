"""A publish that did not get to its marker: whatever failed on the way, nobody says fresh."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.base.runner_lock import RunnerLock
from gitindex.base.vocabulary import BuildKind, IndexState
from gitindex.base.worktree import Worktree
from gitindex.freshness.marker import CompletionProof
from gitindex.freshness.observation import prove, read_progress
from gitindex.refresh import refresher as refresh
from gitindex.refresh import worktree_writer
from gitindex.refresh.public_files import note_progress
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.refresh.spool import Pace
from tests.support import Repo


def disk_full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def no_stamp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "announce_run", disk_full)


def no_marker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "publish_marker", disk_full)


def no_marker_at_the_last_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    publish, attempts = refresh.Refresher._publish, []

    def third_time(self: refresh.Refresher, *args: object) -> bool:
        attempts.append(1)
        if len(attempts) < 3:
            disk_full()
        return publish(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(refresh.Refresher, "_publish", third_time)
    no_marker(monkeypatch)


def nothing_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh.Refresher, "_publish", disk_full)


@pytest.mark.parametrize(
    "spoil", [no_stamp, no_marker, no_marker_at_the_last_attempt, nothing_published]
)
def test_i01_a_head_that_goes_back_after_a_failed_publish_is_not_fresh(
    quiet: Repo, spoil: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store may hold the new tree while the marker still names the old one, and so does HEAD."""
    quiet.gitindex("uninstall")
    first = quiet.git("rev-parse", "HEAD").strip()
    quiet.write("lib/util.py", "def other():\n    pass\n")
    quiet.commit("second")
    with monkeypatch.context() as context:
        spoil(context)
        with pytest.raises(GitIndexError):
            Runner(quiet.worktree).serve(RefreshRequest(quiet.worktree, "test"))
    quiet.git("reset", "-q", "--hard", first)
    if quiet.verdict().state is IndexState.FRESH:
        quiet.assert_published()
    answer = quiet.answer("search", "helper")
    assert answer["status"] == "ok", "the last proven generation still serves"
    assert [r["path"] for r in answer["results"]][:1] == ["lib/util.py"]
    assert quiet.gitindex("run").returncode == 0
    assert quiet.verdict().state is IndexState.FRESH
    quiet.assert_published()


def test_a_shorter_note_leaves_nothing_of_a_longer_one(quiet: Repo) -> None:
    """The phase and the percentage change in length; each note replaces the one before it."""
    lock = RunnerLock(quiet.worktree.lock)
    assert lock.acquire()
    try:
        for phase, percent in (("p" * 2000, 33.3), ("extract", 40.0), ("diff", None)):
            note_progress(quiet.worktree, BuildKind.REFRESH, phase, percent)
            seen = read_progress(quiet.worktree)
            assert seen is not None
            assert (seen.phase, seen.progress_pct) == (phase, percent)
    finally:
        lock.release()


def test_a_runner_that_lingers_reads_proofs_first_and_last(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In between it looks at HEAD; a marker that is lost meanwhile is there again when it ends."""
    sleep = time.sleep
    proofs: list[str] = []
    naps: list[int] = []

    def counted(worktree: Worktree) -> CompletionProof:
        proofs.append(worktree.id)
        return prove(worktree)

    def nap(seconds: float) -> None:
        naps.append(len(proofs))
        if len(naps) == 3:
            os.unlink(quiet.worktree.marker)
        sleep(seconds)

    monkeypatch.setattr(worktree_writer, "prove", counted)
    monkeypatch.setattr("gitindex.refresh.runner.time.sleep", nap)
    Runner(quiet.worktree, Pace(quiet=0.0, bound=0.0, linger=0.5)).serve()
    assert naps[0] == naps[3]
    assert len(proofs) > naps[3]
    assert quiet.verdict().state is IndexState.FRESH
