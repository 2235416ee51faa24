"""A rebase of 50 commits: bare git, `exit 0` hooks, ours; and how many jobs its events become."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.harness import GITINDEX, Row, Used, round_robin
from bench.hook import EXIT_0
from bench.scratch import Bench, Repo, small_repo

COMMITS = 50
ROUNDS = 3


def measure(bench: Bench) -> list[Row]:
    folder = bench.folder("rebase")
    repos = {name: _diverged(folder / name) for name in ("bare", "exit 0", "ours")}
    repos["exit 0"].hook_all(EXIT_0)
    repos["ours"].install()
    counts: list[tuple[int, int]] = []

    def rebase(repo: Repo) -> Callable[[], Used]:
        def once() -> Used:
            repo.git("reset", "-q", "--hard", "start")
            if repo is not repos["ours"]:
                return repo.measure("rebase", "-q", "main")
            repo.gitindex("index")
            before = _jobs(repo)
            used = repo.measure("rebase", "-q", "main")
            repo.await_orphans()
            repo.settle()
            fresh = [job for job in _jobs(repo) if job["id"] > before[0]["id"]]
            counts.append((sum(map(_events, fresh)), len(fresh)))
            return used

        return once

    found = round_robin({name: rebase(repo) for name, repo in repos.items()}, ROUNDS)
    ours, bare, peer = found["ours"], found["bare"], found["exit 0"]
    events, jobs = max(counts, key=lambda pair: pair[1])
    return [
        Row(
            f"rebase of {COMMITS}, foreground", ours.cpu, "ms", bare.cpu, "bare git", most_ratio=1.3
        ),
        Row(
            f"rebase of {COMMITS}, foreground",
            ours.cpu,
            "ms",
            peer.cpu,
            "exit 0 hooks",
            most_ratio=1.5,
        ),
        Row("  wall", ours.wall, "ms", bare.wall, "bare git"),
        Row("  wall", ours.wall, "ms", peer.wall, "exit 0 hooks"),
        Row("  jobs (most in a round)", jobs, "", events, "events", most=2),
    ]


def _diverged(path: Path) -> Repo:
    repo = small_repo(path)
    repo.git("switch", "-q", "-c", "topic")
    for i in range(COMMITS):
        repo.write(f"pkg{i % 10}/mod{i}.py", f"def changed_{i}():\n    return {i}\n")
        repo.commit(f"topic {i}")
    repo.git("tag", "start")
    repo.git("switch", "-q", "main")
    repo.write("upstream.py", "UPSTREAM = 1\n")
    repo.commit("upstream")
    repo.git("switch", "-q", "topic")
    return repo


def _jobs(repo: Repo) -> list[dict[str, Any]]:
    """The queue's history, newest first."""
    argv = [*GITINDEX, "jobs", "--json", "--limit", "1000"]
    out = subprocess.run(argv, cwd=repo.path, capture_output=True, check=True).stdout
    found = json.loads(out)["jobs"]
    assert isinstance(found, list)
    return found


def _events(job: dict[str, Any]) -> int:
    """`post-commit ×50, post-rewrite` is 51 events."""
    reason = str(job["triggerReason"])
    words = [part for part in reason.split(", ") if part.startswith("post-")]
    return sum(int(m[1]) if (m := re.search(r"×(\d+)", word)) else 1 for word in words)
