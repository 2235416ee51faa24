"""Search: a warm query in one process, and the cold command."""

from __future__ import annotations

import os
import resource
import time

from bench.harness import (
    BARE_PYTHON,
    GITINDEX,
    Row,
    Used,
    percentile,
    round_robin,
    run,
)
from bench.scratch import Bench
from gitindex.answer import serve
from gitindex.paths import Worktree, find_worktree
from gitindex.search import search

QUERIES = (
    "open file", "parse arguments", "class", "self", "subprocess", "threading lock", "json decoder",
    "how is a socket closed", "def main", "os.path.join", "HTTPServer", "import", "raise ValueError",
    "read line by line", "timeout", "unicode normalize", "heappush", "argparse.py", "nosuchwordatall",
    "return None if the key is missing",
)  # fmt: skip
REPEATS = 10
ROUNDS = 9
COLD = "threading lock"


def measure(bench: Bench) -> list[Row]:
    repo = bench.indexed()
    worktree = find_worktree(os.fspath(repo.path))
    for text in QUERIES:
        _query(worktree, text)
    used = [_query(worktree, text) for _ in range(REPEATS) for text in QUERIES]
    cpu, wall = [1000 * u.cpu for u in used], [1000 * u.wall for u in used]
    variants = {
        "cold": lambda: run([*GITINDEX, "search", COLD], repo.path),
        "grep": lambda: run(["git", "grep", "-n", "-w", "threading"], repo.path),
        "python": lambda: run(BARE_PYTHON, repo.path),
        "status": lambda: run(["git", "status", "--porcelain"], repo.path),
    }
    found = {name: median.cpu for name, median in round_robin(variants, ROUNDS).items()}
    status = found["status"]
    return [
        Row("search, warm, p50 (git children included)", percentile(cpu, 0.5), "ms", status,
            "git status", most=5),
        Row("  p99", percentile(cpu, 0.99), "ms", status, "git status"),
        Row("  wall p50", percentile(wall, 0.5), "ms"),
        Row("  wall p99", percentile(wall, 0.99), "ms"),
        Row("gitindex search, cold", found["cold"], "ms", found["python"], "bare python", most=150),
        Row("  the same", found["cold"], "ms", found["grep"], "git grep -w"),
    ]  # fmt: skip


def _query(worktree: Worktree, text: str) -> Used:
    cpu, wall = _cpu(), time.perf_counter()
    with serve(worktree, ".") as served:
        search(served, text, 10)
    return Used(_cpu() - cpu, time.perf_counter() - wall)


def _cpu() -> float:
    """This process and the children it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
