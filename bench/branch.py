"""Back to a branch that was indexed before, against the first visit: no blob is extracted twice."""

from __future__ import annotations

import json
import os
import subprocess
import time

from bench.harness import GITINDEX, Options, Row, Used, median_ms
from bench.scratch import Repo, module_text, small_repo

FILES = 500
BRANCHES = 3
RETURNS = 4


def measure(options: Options) -> list[Row]:
    repo = small_repo(options.scratch / "repo", FILES)
    names = [f"branch{i}" for i in range(BRANCHES)]
    for number, name in enumerate(names, 1):
        repo.git("switch", "-q", "-c", name, "main")
        for i in range(FILES):
            repo.write(f"pkg{i % 10}/mod{i}.py", module_text(1000 * number + i))
        repo.commit()
    repo.git("switch", "-q", "main")
    repo.install()
    _wake(repo)
    first, again, extracted = [], [], 0
    for name in names:
        first.append(_visit(repo, name))
        before = _extracted(repo)
        for _ in range(RETURNS):
            again += [_visit(repo, "main"), _visit(repo, name)]
        extracted += _extracted(repo) - before
        _visit(repo, "main")
    repo.stop_runner()
    first_ms, again_ms = median_ms(first), median_ms(again)
    best = 1000 * min(used.cpu for used in again)
    return [
        Row(f"back to a seen branch, {FILES} files differ, runner alive", again_ms.cpu, "ms",
            first_ms.cpu, "first visit", most_ratio=0.05),
        Row("  the same, absolute", again_ms.cpu, "ms", most=20),
        Row("  the same, best of all", best, "ms"),
        Row("  blobs extracted on return", extracted, "", FILES, "first visit", most=0),
        Row("  wall: back to a seen branch", again_ms.wall, "ms", first_ms.wall, "first visit"),
    ]  # fmt: skip


def _visit(repo: Repo, branch: str) -> Used:
    """CPU of the live runner and its workers until the branch is fresh."""
    before, started = repo.runner_cpu(), time.perf_counter()
    repo.measure("switch", "-q", branch)
    repo.settle()
    return Used(repo.runner_cpu() - before, time.perf_counter() - started)


def _wake(repo: Repo) -> None:
    """A live runner with a worker and a lexical writer that have been used."""
    repo.git("commit", "-q", "--allow-empty", "-m", "wake")
    repo.write("wake.py", "AWAKE = True\n")
    repo.git("add", "wake.py")
    repo.measure("commit", "-q", "-m", "wake")
    repo.settle()


def _extracted(repo: Repo) -> int:
    """How many blobs all jobs together have extracted, by the product's own word."""
    out = subprocess.run(
        [*GITINDEX, "jobs", "--json", "--limit", "1000"],
        cwd=repo.path, env=os.environ, capture_output=True, check=True,
    ).stdout  # fmt: skip
    return sum(job["extracted"] for job in json.loads(out)["jobs"])
