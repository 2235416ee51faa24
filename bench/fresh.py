"""Commit → fresh: CPU in the background from a one-file commit to a status that says fresh."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count

from bench.harness import BARE_PYTHON, Row, Used, round_robin, run
from bench.scratch import Bench, module_text

ROUNDS = 9
IMPORT_PYGIT2 = [*BARE_PYTHON[:-1], "import pygit2"]


def measure(bench: Bench) -> list[Row]:
    repo = bench.indexed()
    repo.install()
    numbers = count(10_000)

    def commit() -> None:
        repo.write("bench_fresh.py", module_text(next(numbers)))
        repo.git("add", "-A")
        repo.measure("commit", "-q", "-m", "x")

    def cold() -> Used | None:
        started = time.perf_counter()
        commit()
        repo.settle()
        used = Used(repo.runner_cpu(), time.perf_counter() - started)
        return used if used.cpu else None

    def warm() -> Used | None:
        """With the runner that `cold` started, its worker process and its lexical writer."""
        return repo.until_fresh(commit)

    def whole_life() -> Used:
        """From the hook's start of a runner to its last breath, lingering included."""
        repo.stop_runner()
        started = time.perf_counter()
        commit()
        return Used(repo.await_orphans(), time.perf_counter() - started)

    def back_to_back() -> Used | None:
        """The second of two commits, the moment the first is fresh."""
        repo.until_fresh(commit)
        return repo.until_fresh(commit)

    def floor() -> Used:
        return run(IMPORT_PYGIT2, repo.path)

    variants: dict[str, Callable[[], Used | None]] = {
        "cold": cold,
        "warm": warm,
        "again": back_to_back,
        "life": whole_life,
        "import": floor,
    }
    found = round_robin(variants, ROUNDS)
    peer, peer_name = found["import"].cpu, "import pygit2"
    return [
        Row(
            "one-file commit → fresh, runner started by the hook",
            found["cold"].cpu,
            "ms",
            peer,
            peer_name,
            most=250,
        ),
        Row("  the same, its whole life with linger", found["life"].cpu, "ms", peer, peer_name),
        Row(
            "one-file commit → fresh, runner alive",
            found["warm"].cpu,
            "ms",
            peer,
            peer_name,
            most=30,
        ),
        Row("  the same, back to back", found["again"].cpu, "ms", peer, peer_name, most=30),
        Row("  wall: started by the hook (quiet time included)", found["cold"].wall, "ms"),
        Row("  wall: runner alive (quiet time included)", found["warm"].wall, "ms"),
    ]
