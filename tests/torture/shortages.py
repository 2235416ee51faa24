"""I-42: a shortage leaves no lasting mark.

An index or a refresh runs short of memory, descriptors, file size, CPU time, disk or inodes, or its disk
fails once or from some call on. It may fail, but says fresh of nothing that it does not hold; afterwards,
without the fault, one `index` makes what `verify --full` derives anew from git, and nothing is quarantined.
"""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from gitindex.base.vocabulary import IndexState
from gitindex.extract.pool import Extractor
from gitindex.maintenance.verify import verify
from gitindex.refresh.run import refresh_now
from gitindex.refresh.runner import RefreshRequest
from gitindex.store import mapping
from gitindex.store.connection import open_reader
from tests.e2e.refresh.test_faults import MUTATING, OPENING
from tests.support import TIMEOUT, Repo
from tests.torture import Clock
from tests.torture.kills import ForkedSubject, _change, prepare

LIMITS: dict[str, tuple[int, Callable[[random.Random], int]]] = {
    "memory": (resource.RLIMIT_AS, lambda rng: rng.randrange(40 << 20, 600 << 20)),
    "descriptors": (resource.RLIMIT_NOFILE, lambda rng: rng.randrange(4, 40)),
    "file size": (resource.RLIMIT_FSIZE, lambda rng: rng.randrange(0, 300_000)),
    "CPU time": (resource.RLIMIT_CPU, lambda _: 1),
}
ERRORS = {
    "disk": (MUTATING, "error=ENOSPC"),
    "quota": (MUTATING, "error=EDQUOT"),
    "inodes": ("openat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat", "error=ENOSPC"),
    "EIO": (MUTATING, "error=EIO"),
    "descriptors by error": (OPENING, "error=EMFILE"),
}


def _limited(repo: Repo, kind: str, rng: random.Random) -> None:
    """The command itself in a process with a lower limit, and workers that inherit it."""
    number, choose = LIMITS[kind]
    value = choose(rng)

    def lower() -> None:
        resource.setrlimit(number, (value, value))

    subprocess.run(
        [sys.executable, "-I", "-m", "gitindex", rng.choice(["index", "run"])],
        cwd=repo.path,
        preexec_fn=lower,
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )


def _check(repo: Repo, what: str) -> None:
    """Whatever is fresh is whole, and nothing of it was left out by the shortage."""
    if repo.verdict().state is IndexState.FRESH:
        repo.assert_published()
        assert not repo.answer("search", "helper")["status"].startswith("error"), what


def _recover(repo: Repo, workers: Extractor, what: str) -> None:
    worktree = repo.worktree
    refresh_now(RefreshRequest(worktree, "index"))
    assert repo.verdict().code == 0, (what, repo.verdict())
    found = verify(worktree, ".", full=True, extractor=workers)
    assert found["verified"], (what, [c for c in found["checks"] if not c["ok"]])
    database = open_reader(worktree.database)
    assert database is not None
    row = mapping.published(database, worktree.id)
    assert row is not None
    lost = mapping.quarantined(database, row.worktree_id)
    database.close()
    assert not lost, (what, lost)


def shortages(clock: Clock, rng: random.Random, folder: Path) -> None:
    """One shortage of a refresh, or of a first index; then a run without it."""
    path = folder / "repo"
    subject = ForkedSubject(prepare(path), path)
    subject.reset()
    totals = {calls: subject.count_calls(calls) for calls, _ in ERRORS.values()}
    subject.converge()
    workers = Extractor(workers=1)
    try:
        while clock.goes_on():
            _change(subject.repo, rng)
            first = rng.random() < 0.2
            if first:
                shutil.rmtree(subject.repo.worktree.store)
            kind = rng.choice([*LIMITS, *ERRORS])
            what = f"{kind}{', first index' * first}"
            if kind in LIMITS:
                _limited(subject.repo, kind, rng)
            else:
                calls, fault = ERRORS[kind]
                for_good = "+" if rng.random() < 0.5 else ""
                subject.command = ("index",) if first else ("run",)
                point = rng.randint(1, totals[calls])
                subject.refresh(f"{fault}:when={point}{for_good}", calls)
                what += ", for good" if for_good else ", once"
            _check(subject.repo, what)
            _recover(subject.repo, workers, what)
            clock.count(what)
            clock.count()
    finally:
        workers.close()
