"""Faults injected into system calls of a real refresh: killed, disk full, I/O errors. Then one rerun."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from gitindex.base.vocabulary import IndexState
from gitindex.freshness.observation import observe
from gitindex.freshness.verdict import judge
from gitindex.install.hooks.installation import uninstall
from gitindex.refresh.runner import Runner
from gitindex.refresh.spool import append_event
from gitindex.store import mapping
from gitindex.store.connection import open_reader
from tests.support import Repo

STRACE = shutil.which("strace")
MUTATING = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,linkat,unlink,unlinkat,ftruncate,mkdir"
OPENING = "openat,pipe2,socket,dup,dup2,dup3,epoll_create1,eventfd2"
"""What a process without a descriptor left cannot do."""
KILLS = 8
FORCED_KILLS = int(os.environ.get("GITINDEX_FORCED_KILLS", "3"))
ERRORS = 3
"""Points at which a fault strikes in `make test`, of each kind; `make torture` walks all points."""


def traces(*options: str) -> bool:
    """Can strace trace here, with these options?"""
    if STRACE is None:
        return False
    command = [STRACE, "-f", "-qq", *options, "-o", os.devnull, "-e", "trace=fsync", "true"]
    return subprocess.run(command, capture_output=True, timeout=300, check=False).returncode == 0


QUICKLY = ("--seccomp-bpf",) if traces("--seccomp-bpf") else ()
"""Only the calls that are traced stop a process: a run takes a third of the time. strace 6.1 injects
errors this way, but no signals."""

pytestmark = [
    pytest.mark.skipif(not traces(), reason="strace cannot trace here"),
    pytest.mark.timeout(900),
]


@pytest.fixture
def prepared(indexed: Repo, tmp_path: Path) -> Path:
    """A repository with an index of its first commit, and a second commit on branch `next`."""
    uninstall(indexed.worktree)
    indexed.git("switch", "-q", "-c", "next")
    indexed.write("lib/util.py", "def helper():\n    return 43\n\n\ndef other():\n    pass\n")
    indexed.write("lib/new.py", "class New:\n    pass\n")
    (indexed.path / "README.md").unlink()
    indexed.commit("second")
    indexed.git("switch", "-q", "main")
    template = tmp_path / "template"
    indexed.path.rename(template)
    return template


class Subject:
    """A copy of the prepared repository at the path its marker names, for one fault each."""

    command: tuple[str, ...] = ("run",)

    def __init__(self, template: Path, path: Path) -> None:
        self._template, self._path = template, path
        self.repo = Repo(path)

    def reset(self) -> None:
        shutil.rmtree(self._path, ignore_errors=True)
        shutil.copytree(self._template, self._path, symlinks=True)
        Runner(self.repo.worktree).serve()
        assert self.repo.verdict().state is IndexState.FRESH
        self.repo.git("reset", "-q", "--hard", "next")
        append_event(self.repo.worktree, "post-commit")

    def refresh(self, inject: str, calls: str) -> bool:
        """Run a refresh with one fault; True if the fault struck."""
        told = "killed by SIGKILL" if "KILL" in inject else "INJECTED"
        return told in self._trace(calls, "-e", f"inject={calls}:{inject}")

    def count_calls(self, calls: str) -> int:
        """How often a thread of a refresh makes the commonest of these calls: strace counts each kind."""
        lines = self._trace(calls).splitlines()  # a call that another one interrupts has two
        made = (line.split("(", 1)[0] for line in lines if " resumed>" not in line)
        threads = Counter(made)  # by thread and call
        return max(threads.values())

    def _trace(self, calls: str, *options: str) -> str:
        trace = str(self._path.parent / "trace")
        assert STRACE is not None
        subprocess.run(
            [
                STRACE,
                "-f",
                "-qq",
                *(() if any("signal=" in option for option in options) else QUICKLY),
                "-o",
                trace,
                "-e",
                f"trace={calls}",
                *options,
                sys.executable,
                "-I",
                "-m",
                "gitindex",
                *self.command,
            ],
            cwd=self._path,
            capture_output=True,
            timeout=300,
            check=False,
        )
        return Path(trace).read_text(errors="replace")

    def check_crash_point(self) -> None:
        """The old or the new generation, whole; and never a false fresh."""
        worktree = self.repo.worktree
        database = open_reader(worktree.database)
        assert database is not None
        row = mapping.published(database, worktree.id)
        assert row is not None
        assert row.tree is not None
        published = {
            r.path: (r.mode, r.oid) for r in mapping.read_mapping(database, row.worktree_id)
        }
        database.close()
        assert published == self.repo.ls_tree(row.tree)
        seen = observe(worktree)
        if judge(seen).state is IndexState.FRESH:
            self.repo.assert_published()
        if seen.proof.marker is not None:
            assert seen.proof.marker.generation <= row.generation

    def converge(self) -> None:
        """One rerun without faults mends everything."""
        worktree = self.repo.worktree
        Runner(worktree).serve()
        assert self.repo.verdict().state is IndexState.FRESH, self.repo.log()
        self.repo.assert_published()
        database = open_reader(worktree.database)
        assert database is not None
        left = database.rows("SELECT * FROM refresh_jobs WHERE status IN ('queued', 'running')")
        database.close()
        assert left == []


@pytest.fixture
def subject(prepared: Path, tmp_path: Path) -> Subject:
    return Subject(prepared, tmp_path / "repo")


def _points(total: int) -> list[int]:
    """1 … total in an order in which every start covers the whole range evenly."""
    width = total.bit_length()
    mirrored = (int(f"{n:0{width}b}"[::-1], 2) for n in range(1 << width))
    return [n for n in mirrored if 0 < n <= total]


def _walk(subject: Subject, fault: str, most: int | None = None, calls: str = MUTATING) -> int:
    """Strike at one point after the other until there are enough; returns how many were struck."""
    subject.reset()
    total = subject.count_calls(calls)
    struck = 0
    for point in _points(total)[:most]:
        subject.reset()
        if subject.refresh(fault.format(point), calls):
            struck += 1
            subject.check_crash_point()
            if "error" in fault:  # it strikes every thread, so every attempt: an event brings more
                append_event(subject.repo.worktree, "post-checkout")
        subject.converge()
    print(f"{fault}: struck at {struck} of {total} calls")
    return struck


@pytest.mark.promise("I-06", "I-26", "P-5")
def test_l7_killed_at_every_mutating_call(subject: Subject) -> None:
    assert _walk(subject, "signal=KILL:when={}", KILLS) >= 5


@pytest.mark.promise("I-06", "I-26", "P-5")
def test_a1_a_force_killed_at_any_call(subject: Subject) -> None:
    subject.command = ("index", "--force")
    assert _walk(subject, "signal=KILL:when={}", FORCED_KILLS) >= 2


@pytest.mark.promise("I-29")
@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EACCES"])
def test_failing_calls_leave_old_answers_right(subject: Subject, error: str) -> None:
    assert _walk(subject, f"error={error}:when={{}}", ERRORS) >= 2


@pytest.mark.promise("I-06", "I-26", "I-29", "P-5")
@pytest.mark.torture
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "fault",
    ["signal=KILL", "error=ENOSPC", "error=EIO", "error=EACCES", "error=EDQUOT", "error=EINTR"],
)
def test_every_point(subject: Subject, fault: str) -> None:
    assert _walk(subject, fault + ":when={}") >= 50


@pytest.mark.promise("I-06", "I-26", "P-5")
@pytest.mark.torture
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("fault", ["signal=KILL", "error=ENOSPC", "error=EIO"])
def test_every_point_of_a_force(subject: Subject, fault: str) -> None:
    subject.command = ("index", "--force")
    assert _walk(subject, fault + ":when={}") >= 50


@pytest.mark.torture
@pytest.mark.timeout(3600)
def test_f3_without_a_descriptor_left_at_many_points(subject: Subject) -> None:
    """Most calls are those of imports: 200 of them, evenly."""
    assert _walk(subject, "error=EMFILE:when={}", 200, OPENING) >= 50
