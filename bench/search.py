"""Search: a warm query in one process, the cold command, and what edited files cost."""

from __future__ import annotations

import os
import resource
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.harness import (
    BARE_PYTHON,
    GITINDEX,
    Row,
    Used,
    percentile,
    round_robin,
    run,
)
from bench.scratch import Bench, Repo
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.query.grep.engines import find_ripgrep
from gitindex.query.search.memory import SearchMemory
from gitindex.query.search.search import search
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import open_tree

QUERIES = (
    "open file",
    "parse arguments",
    "class",
    "self",
    "subprocess",
    "threading lock",
    "json decoder",
    "how is a socket closed",
    "def main",
    "os.path.join",
    "HTTPServer",
    "import",
    "raise ValueError",
    "read line by line",
    "timeout",
    "unicode normalize",
    "heappush",
    "argparse.py",
    "nosuchwordatall",
    "return None if the key is missing",
)
REPEATS = 10
ROUNDS = 9
COLD = "threading lock"
EDITED = (1, 10, 100)
MANY_FILES = 20_000
MOST_MS = (15, 50)
"""Most milliseconds of a warm answer on an unchanged tree: of Django's size, and beyond MANY_FILES."""


def measure(bench: Bench) -> list[Row]:
    repo = bench.indexed()
    worktree = find_worktree(os.fspath(repo.path))
    server = Server()
    for text in QUERIES:
        _query(worktree, text, server)
    used = [_query(worktree, text, server) for _ in range(REPEATS) for text in QUERIES]
    server.forget_looks = True
    anew = [_query(worktree, text, server) for _ in range(REPEATS // 2) for text in QUERIES]
    server.forget_looks = False
    looking = [1000 * u.wall for u in anew]
    size = repo.git("ls-files").count("\n") + 1
    own = [1000 * u.cpu for u in used]
    wall = [1000 * u.wall for u in used]
    variants = {
        "cold": lambda: run([*GITINDEX, "search", COLD], repo.path),
        "grep": lambda: run(["git", "grep", "-n", "-w", "threading"], repo.path),
        "python": lambda: run(BARE_PYTHON, repo.path),
        "status": lambda: run(["git", "status", "--porcelain"], repo.path),
    }
    if (program := find_ripgrep()) is not None:
        variants["rg"] = lambda: run([program, "-n", "-w", "threading", "."], repo.path)
    found = round_robin(variants, ROUNDS)
    scan = found.get("rg", found["grep"])
    scanner = "rg -w" if "rg" in found else "git grep -w; rg was not found"
    rows = [
        Row(
            "search, warm, p50, besides git",
            percentile(own, 0.5),
            "ms",
            found["status"].cpu,
            "git status",
            most=5,
        ),
        Row("  p99", percentile(own, 0.99), "ms", found["status"].cpu, "git status"),
        Row(
            f"  end to end, wall p50, {size} files",
            percentile(wall, 0.5),
            "ms",
            percentile(looking, 0.5),
            "git looks every time",
            most=MOST_MS[size > MANY_FILES],
        ),
        Row("  the same", percentile(wall, 0.5), "ms", scan.wall, scanner),
        Row("  wall p99", percentile(wall, 0.99), "ms", scan.wall, scanner),
        Row(
            "gitindex search, cold",
            found["cold"].cpu,
            "ms",
            found["python"].cpu,
            "bare python",
            most=150,
        ),
        Row("  the same", found["cold"].cpu, "ms", scan.cpu, scanner),
    ]
    for count in EDITED:
        with _edited(repo, count):
            first = _with_children(worktree, Server())
            _with_children(worktree, server)
            again = statistics.median(_with_children(worktree, server) for _ in range(5))
        files = "file" if count == 1 else "files"
        rows += [
            Row(f"search with {count} edited {files}", first, "ms", scan.cpu, scanner),
            Row("  asked again in one process", again, "ms", scan.cpu, scanner),
        ]
    return rows


@contextmanager
def _edited(repo: Repo, count: int) -> Iterator[None]:
    """So many files differ from what is indexed, and contain what is asked for."""
    paths = sorted(p for p in repo.path.rglob("*.py") if ".git" not in p.parts)[:count]
    before = {path: path.read_bytes() for path in paths}
    for path in paths:
        path.write_bytes(before[path] + b"\n\ndef threading_lock_of_mine():\n    pass\n")
    try:
        yield
    finally:
        for path, data in before.items():
            path.write_bytes(data)


class Server:
    """What a process that is asked often keeps."""

    def __init__(self) -> None:
        self.facts = FactsMemory()
        self.lexical = SearchMemory()
        self.forget_looks = False


def _query(worktree: Worktree, text: str, server: Server) -> Used:
    if server.forget_looks:
        server.facts.status_cache.forget()
    cpu, wall = time.process_time(), time.perf_counter()
    with open_tree(worktree, ".", memory=server.facts) as view:
        search(view, text, 10, memory=server.lexical)
    return Used(time.process_time() - cpu, time.perf_counter() - wall)


def _with_children(worktree: Worktree, server: Server) -> float:
    """Milliseconds of CPU, those of git and of extraction included."""
    before = _cpu()
    _query(worktree, COLD, server)
    return 1000 * (_cpu() - before)


def _cpu() -> float:
    """This process and the children it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
