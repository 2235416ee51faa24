"""Kills and failing system calls while a work tree is edited: all files are old, or all are new.

An edit is written by a fork of this process that strace attaches to before it begins, so that every
system call of it is one of the edit. Then the next command runs, without faults.
"""

from __future__ import annotations

import errno
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from gitindex.base import tree_edit
from gitindex.base.errors import GitIndexError
from gitindex.base.tree_edit import FileChange, change_files, undo_unfinished
from tests.e2e.refresh.test_faults import MUTATING, STRACE, traces
from tests.support import TIMEOUT, Repo

pytestmark = pytest.mark.timeout(900)
needs_strace = pytest.mark.skipif(not traces(), reason="strace cannot trace here")
FILES = {"a.py": "old a\n", "pkg/b.py": "old b\n", "pkg/deep/c.py": "old c\n"}
CHANGES = [
    FileChange("a.py", b"old a\n", b"new a\n"),
    FileChange("pkg/b.py", b"old b\n", b"new b\n", "pkg/moved.py"),
    FileChange("pkg/deep/c.py", b"old c\n", b"new c\n"),
]
NEW = {"a.py": "new a\n", "pkg/moved.py": "new b\n", "pkg/deep/c.py": "new c\n"}
ERRORS = ("ENOSPC", "EIO", "EACCES")
SAMPLE = 24
"""Points of each kind of fault in `make test`; `make torture-full` walks all of them."""
_CALL = re.compile(r"^\d+ +(\w+)\(", re.MULTILINE)


class EditedTree:
    """A repository whose files are put back before every fault."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        repo.index_files(FILES)

    def reset(self) -> None:
        self.repo.git("reset", "-q", "--hard")
        self.repo.git("clean", "-fdq")
        shutil.rmtree(self.repo.worktree.edit, ignore_errors=True)

    def files(self) -> dict[str, str]:
        """Every file of the work tree that is not git's or ours."""
        root = self.repo.path
        found = (p for p in root.rglob("*") if p.is_file() or p.is_symlink())
        kept = (p for p in found if p.relative_to(root).parts[0] not in (".git", ".llmc"))
        return {p.relative_to(root).as_posix(): p.read_text() for p in kept}

    def edit(self, *options: str) -> tuple[int, str]:
        """Write the edit in a traced fork; returns how it ended and what was traced."""
        return self._traced(lambda: change_files(self.repo.worktree, CHANGES), *options)

    def undo(self, *options: str) -> tuple[int, str]:
        """Run what the next command begins with, in a traced fork."""
        return self._traced(lambda: undo_unfinished(self.repo.worktree), *options)

    def _traced(self, work: Callable[[], None], *options: str) -> tuple[int, str]:
        trace = self.repo.path.parent / "trace"
        trace.unlink(missing_ok=True)
        child = _stopped(work)
        assert STRACE is not None
        tracer = subprocess.Popen(
            [STRACE, "-qq", "-o", str(trace), *options, "-f", "-p", str(child)],
            stderr=subprocess.DEVNULL,
        )
        status = Path(f"/proc/{child}/status")
        deadline = time.monotonic() + TIMEOUT
        while "TracerPid:\t0\n" in status.read_text():
            assert time.monotonic() < deadline, "strace did not attach"
            time.sleep(0.002)
        os.kill(child, signal.SIGCONT)
        ended = os.waitpid(child, 0)[1]
        tracer.wait(TIMEOUT)
        return os.waitstatus_to_exitcode(ended), trace.read_text(errors="replace")

    def check(self, fault: str) -> None:
        """After the next command: whole, nothing of ours is left, and another edit works."""
        undo_unfinished(self.repo.worktree)
        assert self.files() in (FILES, NEW), fault
        assert not os.path.exists(self.repo.worktree.edit), fault


def _stopped(work: Callable[[], None]) -> int:
    """A fork that waits for SIGCONT and then works; exits 0, or 3 after an error."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            nothing = os.open(os.devnull, os.O_RDWR)
            for fd in range(3):
                os.dup2(nothing, fd)
            os.kill(os.getpid(), signal.SIGSTOP)
            work()
            code = 0
        finally:
            os._exit(code)
    os.waitpid(child, os.WUNTRACED)
    return child


@pytest.fixture
def tree(repo: Repo) -> EditedTree:
    return EditedTree(repo)


def _points(trace: str) -> list[tuple[str, int]]:
    """Every system call of a trace: its name, and the how manyth of that name it is."""
    seen: Counter[str] = Counter()
    points = []
    for name in _CALL.findall(trace):
        seen[name] += 1
        if name not in ("exit_group", "kill", "rt_sigreturn"):
            points.append((name, seen[name]))
    return points


def _walk(tree: EditedTree, faults: tuple[str, ...], most: int | None) -> int:
    """Strike at calls of the edit, and see that the tree is whole after the next command."""
    tree.reset()
    code, trace = tree.edit()
    assert (code, tree.files()) == (0, NEW)
    struck = 0
    for fault in faults:
        points = _points(trace)
        if most is not None:
            points = random.Random(1).sample(points, most)
        for name, number in points:
            tree.reset()
            code, told = tree.edit("-e", f"inject={name}:{fault}:when={number}")
            if "INJECTED" in told or code < 0:
                struck += 1
                assert code != 0 or tree.files() == NEW
                tree.check(f"{fault} at {name} {number}")
    print(f"struck at {struck} calls")
    return struck


@needs_strace
@pytest.mark.promise("I-44", cases=SAMPLE * (1 + len(ERRORS)))
def test_i44_a_fault_leaves_all_files_old_or_all_new(tree: EditedTree) -> None:
    faults = ("signal=KILL", *(f"error={error}" for error in ERRORS))
    assert _walk(tree, faults, SAMPLE) >= SAMPLE * 3


@needs_strace
@pytest.mark.torture
@pytest.mark.timeout(3600)
@pytest.mark.promise("I-44", cases=248)
@pytest.mark.parametrize("fault", ["signal=KILL", *(f"error={error}" for error in ERRORS)])
def test_i44_a_fault_at_every_call(tree: EditedTree, fault: str) -> None:
    assert _walk(tree, (fault,), None) >= 200


@needs_strace
@pytest.mark.promise("I-44", cases=16)
def test_i44_an_undo_that_is_killed_is_undone_by_the_next_command(tree: EditedTree) -> None:
    """The edit is killed after two files were replaced; the undo at calls of its own."""
    torn = ("-e", "inject=rename:signal=KILL:when=3")  # two files, then this one
    tree.reset()
    tree.edit(*torn)
    assert tree.files() not in (FILES, NEW)
    _, trace = tree.undo()
    assert tree.files() == FILES
    for name, number in random.Random(2).sample(_points(trace), 8):
        for fault in ("signal=KILL", "error=EIO"):
            tree.reset()
            tree.edit(*torn)
            tree.undo("-e", f"inject={name}:{fault}:when={number}")
            undo_unfinished(tree.repo.worktree)
            assert tree.files() == FILES, f"{fault} at {name} {number} of the undo"
            assert not os.path.exists(tree.repo.worktree.edit)


@needs_strace
@pytest.mark.promise("I-44")
@pytest.mark.parametrize("point", [1, 2, 3, 4])
def test_i44_the_next_command_ends_what_a_killed_rename_began(repo: Repo, point: int) -> None:
    old = {
        "lib.py": "def helper():\n    return 1\n",
        "app.py": "from lib import helper\n\nhelper()\n",
        "more.py": "import lib\n\nlib.helper()\n",
    }
    repo.index_files(old)
    new = {name: text.replace("helper", "assist") for name, text in old.items()}
    gitindex = [sys.executable, "-IB", "-m", "gitindex"]
    assert STRACE is not None
    kill = ["-e", f"inject=rename:signal=KILL:when={point}"]
    rename = [*gitindex, "rename", "lib.py#helper", "assist", "--apply"]
    subprocess.run(
        [STRACE, "-f", "-qq", "-o", os.devnull, "-e", f"trace={MUTATING}", *kill, *rename],
        cwd=repo.path,
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    torn = {name: (repo.path / name).read_text() for name in old}
    assert (torn in (old, new)) == (point in (1, 4)), "the fault struck elsewhere"
    done = subprocess.run(
        [*gitindex, "status"], cwd=repo.path, capture_output=True, timeout=TIMEOUT, check=False
    )
    assert (b"interrupted edit was undone" in done.stderr) == (torn not in (old, new))
    assert {name: (repo.path / name).read_text() for name in old} == (new if torn == new else old)
    assert not os.path.exists(repo.worktree.edit)
    assert repo.git("status", "--porcelain", "-uall").count("\n") == (3 if torn == new else 0)


@pytest.mark.control("I-44")
def test_without_its_journal_a_killed_edit_is_torn(
    tree: EditedTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_edit, "write_atomic", lambda *_: None)
    tree.reset()
    tree.edit("-e", "inject=rename:signal=KILL:when=2")
    with pytest.raises(AssertionError):
        tree.check("control")


def test_files_that_somebody_changed_since_are_left_alone(
    tree: EditedTree, capsys: pytest.CaptureFixture[str]
) -> None:
    tree.reset()
    tree.edit("-e", "inject=rename:signal=KILL:when=3")
    tree.repo.write("a.py", "edited since\n")
    undo_unfinished(tree.repo.worktree)
    assert tree.files() == FILES | {"a.py": "edited since\n"}
    assert "left alone, as changed since: a.py" in capsys.readouterr().err


def test_an_edit_that_was_complete_stays_although_a_file_changed_since(tree: EditedTree) -> None:
    tree.reset()
    tree.edit("-e", "inject=unlink:signal=KILL:when=3")  # no journal, the moved file, the journal
    assert tree.files() == NEW
    tree.repo.write("a.py", "edited since\n")
    undo_unfinished(tree.repo.worktree)
    assert tree.files() == NEW | {"a.py": "edited since\n"}


def test_one_edit_at_a_time(tree: EditedTree) -> None:
    with tree_edit._locked(tree.repo.worktree.edit) as held:
        assert held
        with pytest.raises(GitIndexError, match="another edit"):
            change_files(tree.repo.worktree, CHANGES)
        undo_unfinished(tree.repo.worktree)
        assert os.path.exists(tree.repo.worktree.edit)
    assert tree.files() == FILES


def test_a_work_tree_on_another_file_system_is_edited_by_copies(
    tree: EditedTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rename out of the store fails as it does between file systems."""
    real = os.replace
    store = tree.repo.worktree.store

    def replace(old: str, new: str, **kinds: int) -> None:
        if str(old).startswith(store) and not str(new).startswith(store):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        real(old, new, **kinds)

    monkeypatch.setattr(os, "replace", replace)
    tree.reset()
    for number in range(1, 6):
        tree.edit("-e", f"inject=rename:signal=KILL:when={number}")
        tree.check(f"copy {number}")
        tree.reset()
    change_files(tree.repo.worktree, CHANGES)
    assert tree.files() == NEW
