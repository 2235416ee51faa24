"""`gitindex install` and `gitindex wait`, as README's first lines, against `gitindex index` alone."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from bench.harness import TIMEOUT, Row, Used, round_robin
from bench.scratch import Bench, Repo

ROUNDS = 3
BUSY = [sys.executable, "-I", "-c", "while True: pass"]
BUSY_PROCESSES = 4


def measure(bench: Bench) -> list[Row]:
    """CPU of all processes, what runs in the background included, and the wall time of both."""
    repo = bench.corpus()
    variants = {
        f"{name} {busy}": partial(work, repo, busy)
        for busy in (0, BUSY_PROCESSES)
        for name, work in (("index", _index), ("install", _install_and_wait))
    }
    found = round_robin(variants, ROUNDS, warm_up=0)
    _forget(repo)
    rows = []
    for busy, beside in ((0, ""), (BUSY_PROCESSES, f" beside {BUSY_PROCESSES} busy processes")):
        ours, index = found[f"install {busy}"], found[f"index {busy}"]
        what = f"install, then wait{beside}"
        rows += [
            Row(what, ours.cpu, "ms", index.cpu, "index", most_ratio=1.3),
            Row("  wall", ours.wall, "ms", index.wall, "index", most_ratio=1.3),
        ]
    return rows


def _index(repo: Repo, busy: int) -> Used:
    _forget(repo)
    with _crowd(busy):
        return repo.gitindex("index")


def _install_and_wait(repo: Repo, busy: int) -> Used:
    _forget(repo)
    with _crowd(busy):
        installed, waited = repo.gitindex("install"), repo.gitindex("wait")
        repo.settle()
    background = repo.stop_runner()  # waits for every child: the crowd has gone
    return Used(installed.cpu + waited.cpu + background, installed.wall + waited.wall)


@contextmanager
def _crowd(busy: int) -> Iterator[None]:
    """Processes at nice 0 that only compute; the kernel ends what this one could not."""
    crowd = [subprocess.Popen(BUSY) for _ in range(busy)]
    for process in crowd:
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (TIMEOUT, TIMEOUT))
    try:
        yield
    finally:
        for process in crowd:
            process.kill()
            process.wait()


def _forget(repo: Repo) -> None:
    """Leave neither hooks nor an index."""
    repo.gitindex("uninstall", "--purge")
    shutil.rmtree(repo.store, ignore_errors=True)
    shutil.rmtree(repo.path / ".llmc", ignore_errors=True)
