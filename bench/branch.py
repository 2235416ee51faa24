"""Back to a branch that was indexed before, against the first visit: no blob is extracted twice."""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial

from bench.harness import GITINDEX, Row, Used, median_ms
from bench.scratch import Bench, Repo, module_text, small_repo

FILES = 500
BRANCHES = 3
RETURNS = 2


def measure(bench: Bench) -> list[Row]:
    repo = small_repo(bench.folder("branch"), FILES)
    names = [f"branch{i}" for i in range(BRANCHES)]
    for number, name in enumerate(names, 1):
        repo.git("switch", "-q", "-c", name, "main")
        for i in range(FILES):
            repo.write(f"pkg{i % 10}/mod{i}.py", module_text(1000 * number + i))
        repo.commit()
    repo.git("switch", "-q", "main")
    repo.install()
    _wake(repo)
    first = _visit(repo, names)
    before = _extracted(repo)
    _wake(repo)
    again = _visit(repo, ["main", *names] * RETURNS)
    extracted = _extracted(repo) - before
    repo.stop_runner()
    first_ms, again_ms = median_ms(first), median_ms(again)
    best = 1000 * min(used.cpu for used in again)
    return [
        Row(
            f"back to a seen branch, {FILES} files differ, runner alive",
            again_ms.cpu,
            "ms",
            first_ms.cpu,
            "first visit",
            most_ratio=0.05,
        ),
        Row("  the same, absolute", again_ms.cpu, "ms", most=20),
        Row("  the same, best of all", best, "ms"),
        Row("  blobs extracted on return", extracted, "", FILES, "first visit", most=0),
        Row("  wall: back to a seen branch", again_ms.wall, "ms", first_ms.wall, "first visit"),
    ]


def _visit(repo: Repo, names: list[str]) -> list[Used]:
    """CPU of the live runner and its workers until each branch is fresh."""
    visits = (repo.until_fresh(partial(repo.measure, "switch", "-q", name)) for name in names)
    return [used for used in visits if used is not None]


def _wake(repo: Repo) -> None:
    """A live runner, started by the hook."""
    repo.measure("commit", "-q", "--allow-empty", "-m", "wake")
    repo.settle()


def _extracted(repo: Repo) -> int:
    """How many blobs all jobs together have extracted, by the product's own word."""
    out = subprocess.run(
        [*GITINDEX, "jobs", "--json", "--limit", "1000"],
        cwd=repo.path,
        env=os.environ,
        capture_output=True,
        check=True,
    ).stdout
    return sum(job["extracted"] for job in json.loads(out)["jobs"])
