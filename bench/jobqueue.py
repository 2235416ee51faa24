"""The queue over real SQLite: CPU and rate of enqueue and claim, against an empty transaction."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from itertools import count

from bench.harness import Row, Used, round_robin
from bench.scratch import Bench
from gitindex.git.interface import Head
from gitindex.refresh.queue import RefreshJobService, RefreshScope
from gitindex.store import mapping
from gitindex.store.connection import open_writer

ROUNDS = 5
BATCH = 50


def measure(bench: Bench) -> list[Row]:
    folder = bench.folder("jobqueue")
    database = open_writer(os.fspath(folder / "facts.db"))
    row = mapping.register(database, "main", "/bench")
    commits = count()
    heads = [_head(0)]
    jobs = RefreshJobService(database, row.worktree_id, lambda: heads[0])
    scope = RefreshScope(files=("a.py", "b.py"))

    def empty() -> None:
        with database.write():
            pass

    def one_row() -> None:
        with database.write():
            database.run("UPDATE worktrees SET published_at=? WHERE id=?", time.time(), 1)

    def enqueue() -> None:
        """Always for a new HEAD: supersedes what is queued and inserts."""
        heads[0] = _head(next(commits))
        jobs.enqueue_refresh(scope, "bench")

    def covered() -> None:
        jobs.enqueue_refresh(scope, "bench")

    def cycle() -> None:
        """Enqueue, claim, complete: what a runner does for one refresh."""
        queued = jobs.enqueue_refresh(scope, "bench")
        done = jobs.run_job(queued.job_id, uuid.uuid4().hex, lambda _: 0)
        assert done is not None

    operations = {
        "empty": empty,
        "one row": one_row,
        "enqueue": enqueue,
        "covered": covered,
        "cycle": cycle,
    }
    found = round_robin({name: _timed(work) for name, work in operations.items()}, ROUNDS)
    database.close()
    rows = []
    for name, label in (
        ("enqueue", "enqueue for a moved HEAD"),
        ("covered", "enqueue, already covered"),
        ("cycle", "enqueue, claim, complete"),
    ):
        rows.append(
            Row(label, found[name].cpu, "ms", found["one row"].cpu, "one-row UPDATE, committed")
        )
        rows.append(
            Row(
                "  against the empty operation",
                found[name].cpu,
                "ms",
                found["empty"].cpu,
                "empty BEGIN IMMEDIATE/COMMIT",
            )
        )
        rows.append(
            Row(
                "  rate",
                1000 / found[name].wall,
                "/s wall",
                1000 / found["one row"].wall,
                "one-row UPDATE, committed",
            )
        )
    return rows


def _timed(work: Callable[[], None]) -> Callable[[], Used]:
    """One operation of ours in this process: the mean of a batch."""

    def measure_batch() -> Used:
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(BATCH):
            work()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        return Used(cpu / BATCH, wall / BATCH)

    return measure_batch


def _head(number: int) -> Head:
    return Head(commit=f"{number:040x}", tree=f"{number:040x}")
