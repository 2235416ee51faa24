"""The queue as others read it: forced jobs, what waits, jobs of a lost worktree, errors in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import JobStatus, Layer
from gitindex.base.worktree import Worktree
from gitindex.refresh.queue import (
    FORCED,
    KEEP_ENDED,
    MAX_ATTEMPTS,
    Job,
    anything_queued,
    is_forced,
    read_history,
    supersede_lost,
    unfinished,
)
from gitindex.store.connection import Database, open_writer
from tests.unit.refresh.test_queue import A, Queue


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    (tmp_path / "gitindex").mkdir()
    opened = open_writer(str(tmp_path / "gitindex/facts.db"))
    yield opened
    opened.close()


@pytest.mark.parametrize("reason", [FORCED, f"{FORCED}-1a2b", f"{FORCED},post-commit"])
def test_forced_by_its_first_word(reason: str) -> None:
    assert is_forced(reason)


@pytest.mark.parametrize("reason", ["", "index", f"{FORCED}ed", f"post-commit,{FORCED}"])
def test_not_forced(reason: str) -> None:
    assert not is_forced(reason)


def test_what_waits_is_of_a_layer(database: Database) -> None:
    queue = Queue(database)
    assert not anything_queued(database, Layer.SYNTACTIC)
    queue.enqueue(A)
    assert anything_queued(database, Layer.SYNTACTIC)
    assert not anything_queued(database, Layer.SEMANTIC)
    queue.claim()
    assert not anything_queued(database, Layer.SYNTACTIC)
    assert unfinished(database) == ["main"]


def test_jobs_of_a_lost_worktree_end(database: Database) -> None:
    lost, other = Queue(database, "lost"), Queue(database, "other")
    lost.enqueue(A)
    other.enqueue(A)
    supersede_lost(database, "never-registered")
    supersede_lost(database, "lost")
    assert lost.only(JobStatus.SUPERSEDED).superseded_reason == "the worktree is gone"
    assert unfinished(database) == ["other"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError(13, "Permission denied", "facts.db"), "Permission denied: facts.db"),
        (OSError("odd"), "odd"),
        (GitIndexError("cannot", "a hint"), "cannot"),
    ],
)
def test_an_error_is_kept_in_its_own_words(database: Database, error: Exception, told: str) -> None:
    queue = Queue(database)

    def work(job: Job) -> int:
        raise error

    for number in range(MAX_ATTEMPTS):
        done = queue.service.run_job(queue.enqueue(A), f"run-{number}", work)
    assert done is not None
    assert (done.status, done.error) == (JobStatus.FAILED, told)


def test_history_of_no_store_is_none(tmp_path: Path, database: Database) -> None:
    queue = Queue(database)
    for number in range(25):
        queue.commit = f"c{number}"
        queue.enqueue(A)
    assert len(queue.service.history()) == 20
    assert read_history(_worktree(tmp_path / "elsewhere"), 5) is None
    found = read_history(_worktree(tmp_path), 5)
    assert found is not None
    assert len(found) == 5


def test_numbers_that_the_documentation_names() -> None:
    assert (MAX_ATTEMPTS, KEEP_ENDED) == (3, 200)


def _worktree(folder: Path) -> Worktree:
    """A worktree whose store is below this folder."""
    return Worktree(str(folder), str(folder), str(folder), "main")
