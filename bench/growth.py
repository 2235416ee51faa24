"""Growth: what a refresh costs in trees of several sizes, made by repeating real sources with new contents.

`GITINDEX_GROWTH` names the sizes in files, joined by commas.
"""

from __future__ import annotations

import os
import statistics
import time
from itertools import count, cycle
from pathlib import Path

from bench.harness import Row
from bench.scratch import SUFFIXES, Bench, Repo, module_text

SIZES = tuple(map(int, os.environ.get("GITINDEX_GROWTH", "1000,5000,20000,80000").split(",")))
MAX_BYTES = 6_000
"""Larger sources are left out, so that the largest tree can be made in minutes."""
ROUNDS = 9


def measure(bench: Bench) -> list[Row]:
    folder = bench.folder("growth")
    sources = list(_sources(bench.source))
    rows: list[Row] = []
    first: dict[str, float] = {}
    for size in SIZES:
        repo = _tree(folder / str(size), sources, size)
        for name, value in _costs(repo).items():
            peer = first.setdefault(name, value)
            against = f"{SIZES[0]} files"
            rows.append(Row(f"{name}, {size} files", value, "ms", most=MOST_MS.get(name)))
            bound = 1.2 if name in FLAT else None
            rows.append(Row(f"  growth, {name}", value, "ms", peer, against, most_ratio=bound))
    return rows


COMMIT, ONE_LINE, AFTER, STATUS = (
    "commit → fresh, runner alive",
    "one-line gitindex index",
    "the runner after fresh",
    "gitindex status --short",
)
MOST_MS = {COMMIT: 30, ONE_LINE: 300, STATUS: 30}
FLAT = (COMMIT, STATUS)
"""What must not grow. The others compare up to 64 MB of the store with its checksums."""


def _costs(repo: Repo) -> dict[str, float]:
    repo.gitindex("index")
    repo.install()
    numbers = count(1)

    def commit() -> None:
        repo.write("bench_growth.py", module_text(next(numbers)))
        repo.git("add", "bench_growth.py")
        repo.measure("commit", "-q", "-m", "x")

    commit()
    repo.settle()
    seen = [used for _ in range(ROUNDS) if (used := repo.until_fresh(commit)) is not None]
    before = repo.runner_cpu()
    after = _life(repo) - before
    lines = []
    for _ in range(3):
        repo.write("bench_growth.py", module_text(next(numbers)))
        repo.git("commit", "-qam", "x")
        lines.append(repo.gitindex("index").cpu)
    short = [repo.gitindex("status", "--short").cpu for _ in range(5)]
    return {
        COMMIT: _median([used.cpu for used in seen]),
        AFTER: 1000 * after,
        ONE_LINE: _median(lines),
        STATUS: _median(short),
    }


def _life(repo: Repo) -> float:
    """CPU of the runner and its children until it has gone."""
    return repo.await_orphans()


def _median(values: list[float]) -> float:
    return 1000 * statistics.median(values)


def _sources(root: Path) -> list[str]:
    found = []
    for path in sorted(root.rglob("*")):
        if path.suffix in SUFFIXES and path.is_file() and 200 < path.stat().st_size < MAX_BYTES:
            found.append(path.read_text(errors="replace"))
    return found


def _tree(path: Path, sources: list[str], size: int) -> Repo:
    repo = Repo(path).init()
    for number, text in zip(range(size), cycle(sources), strict=False):
        name = f"d{number % 97}/e{number % 11}/mod{number}.py"
        repo.write(
            name, f"# copy {number}\n{text}\n\ndef only_in_{number}():\n    return {number}\n"
        )
    repo.commit()
    repo.git("repack", "-q", "-a", "-d")
    time.sleep(1.1)  # no file is as young as git's index
    repo.git("update-index", "-q", "--refresh")
    return repo
