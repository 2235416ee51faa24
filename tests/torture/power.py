"""Power cuts: every write of a refresh is recorded, those that were not synced are lost or torn.

strace records what a refresh does to the store and to `.llmc`. A cut takes a point of that record
and rebuilds the disk as it may then be: a file holds what it held at its last fsync and any of the
writes after it, the last one torn; names changed since the folder was last synced may be old.
"""

from __future__ import annotations

import codecs
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from gitindex.base.vocabulary import IndexState
from gitindex.freshness.observation import DAMAGED, prove
from tests.e2e.refresh.test_faults import STRACE, Subject
from tests.torture import Clock
from tests.torture.kills import prepare

CALLS = (
    "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,"
    "ftruncate,mkdir,mkdirat,linkat,lseek,close"
)
_CALL = re.compile(r"^\d+ +(\w+)\((.*)\) += (-?\d+)")
_NAMED = re.compile(r'(?:AT_FDCWD<[^>]*>|(\d+)<([^>]*)>), "([^"]*)"')
SECTOR = 512


class Step(NamedTuple):
    """One thing done to a file: `write` at an offset, `sync`, `cut` to a length, `new`, `rename`, `gone`."""

    kind: str
    path: str
    at: int = 0
    data: bytes = b""
    to: str = ""


def _text(escaped: str) -> bytes:
    return codecs.escape_decode(escaped.encode())[0]


def record(subject: Subject, root: Path) -> list[Step]:
    """Run one refresh and return what it did below `root`, in order."""
    trace = root.parent / "power-trace"
    options = ["-f", "-qq", "-y", "-xx", "-s", "100000000", "-o", str(trace)]
    command = [sys.executable, "-I", "-m", "gitindex", "run"]
    assert STRACE is not None
    subprocess.run(
        [STRACE, *options, "-e", f"trace={CALLS}", *command],
        cwd=root,
        capture_output=True,
        check=False,
        timeout=600,
    )
    return _steps(_whole(trace.read_text(errors="replace").splitlines()), str(root))


def _whole(lines: list[str]) -> list[str]:
    """Calls on one line each: strace splits those that another thread interrupts."""
    begun: dict[str, str] = {}
    whole = []
    for line in lines:
        pid, _, rest = line.partition(" ")
        if rest.endswith("<unfinished ...>"):
            begun[pid] = rest.removesuffix("<unfinished ...>").strip()
        elif resumed := re.match(r"\s*<\.\.\. \w+ resumed>(.*)", rest):
            whole.append(f"{pid} {begun.pop(pid, '')}{resumed[1]}")
        else:
            whole.append(line)
    return whole


def _steps(lines: list[str], root: str) -> list[Step]:
    steps: list[Step] = []
    offsets: dict[str, int] = {}
    unnamed: dict[tuple[str, str], str] = {}  # by process and descriptor
    for line in lines:
        match = _CALL.match(line)
        if not match or int(match[3]) < 0:
            continue
        call, given, result = match[1], match[2], int(match[3])
        paths = [
            _text(p).decode("utf-8", "surrogateescape") for p in re.findall(r"<([^>]*)>", given)
        ]
        names = [_text(n) for n in re.findall(r'"([^"]*)"', given)]
        if call in ("write", "pwrite64") and paths and paths[0].startswith(root):
            at = int(given.rsplit(", ", 1)[1]) if call == "pwrite64" else offsets.get(paths[0], 0)
            steps.append(Step("write", paths[0], at, names[0][:result]))
            if call == "write":
                offsets[paths[0]] = at + result
        elif call in ("fsync", "fdatasync") and paths and paths[0].startswith(root):
            steps.append(Step("sync", paths[0]))
        elif call == "ftruncate" and paths and paths[0].startswith(root):
            steps.append(Step("cut", paths[0], int(given.rsplit(", ", 1)[1])))
        elif call == "lseek" and paths:
            offsets[paths[0]] = result
        elif call == "openat" and names:
            path = _opened(steps, offsets, line, given, root)
            if "O_TMPFILE" in given:
                unnamed[line.split(" ")[0], match[3]] = path
        elif call == "linkat":
            path = unnamed.get((line.split(" ")[0], os.path.basename(names[0]).decode()), "")
            if path.startswith(root):
                steps.append(Step("rename", path, to=_full(given, names)[1]))
        elif call.startswith(("rename", "unlink", "mkdir")) and names:
            _renamed(steps, call, given, names, root)
    return steps


def _full(given: str, names: list[bytes]) -> list[str]:
    """The names of a call with their folders, as `-y` shows them."""
    folders = re.findall(r'(?:AT_FDCWD|\d+)<([^>]*)>, "', given)
    found = []
    for number, name in enumerate(names):
        base = _text(folders[number]) if number < len(folders) else b"/"
        found.append(os.fsdecode(os.path.normpath(os.path.join(base, name))))
    return found


def _opened(steps: list[Step], offsets: dict[str, int], line: str, given: str, root: str) -> str:
    """Note what was opened, and return its path: that of a file without a name is `#` and its inode."""
    shown = re.search(r"= \d+<([^>]*)>(?:\(deleted\))?$", line)
    if shown is None:
        return ""
    path = os.fsdecode(_text(shown[1]))
    empty = "O_TRUNC" in given or "O_TMPFILE" in given
    if path.startswith(root) and ("O_CREAT" in given or empty):
        steps.append(Step("new", path, int(empty)))
    offsets[path] = -1 if "O_APPEND" in given else 0
    return path


def _renamed(steps: list[Step], call: str, given: str, names: list[bytes], root: str) -> None:
    full = _full(given, names)
    if not full[0].startswith(root):
        return
    if call.startswith("rename"):
        steps.append(Step("rename", full[0], to=full[1]))
    elif call.startswith("mkdir"):
        steps.append(Step("folder", full[0]))
    else:
        steps.append(Step("gone", full[0]))


class Disk:
    """What may be on the disk after a cut: files by name, each with what is certain and what is not."""

    def __init__(self, rng: random.Random, keeps_syncs: bool = True) -> None:
        self._rng, self._keeps_syncs = rng, keeps_syncs
        self._loose: dict[str, list[Step]] = {}
        self._unnamed: set[str] = set()

    def play(self, steps: list[Step]) -> None:
        """Apply steps to the real files; writes wait until they are synced or the cut decides."""
        for step in steps:
            if step.kind in ("write", "cut"):
                self._loose.setdefault(step.path, []).append(step)
            elif step.kind == "sync" and not self._keeps_syncs:
                continue
            elif step.kind == "sync":
                for write in self._loose.pop(step.path, []):
                    _apply(write)
            elif step.kind == "rename":
                if os.path.exists(step.path):
                    os.replace(step.path, step.to)
                    waiting = self._loose.pop(step.path, [])
                    self._loose[step.to] = [write._replace(path=step.to) for write in waiting]
            else:
                _apply(step)
                if os.path.basename(step.path).startswith("#"):
                    self._unnamed.add(step.path)
                if step.kind == "gone" or step.at:
                    self._loose.pop(step.path, None)

    def cut(self) -> None:
        """The power is gone: of what was not synced a part is there, in any order, the last torn."""
        for waiting in self._loose.values():
            kept = [step for step in waiting if self._rng.random() < self._rng.choice((0, 0.5, 1))]
            for step in kept:
                _apply(step)
            if waiting and waiting[-1] not in kept and waiting[-1].data:
                sectors = len(waiting[-1].data) // SECTOR
                torn = waiting[-1].data[: SECTOR * self._rng.randint(0, sectors)]
                _apply(waiting[-1]._replace(data=torn))
        for path in self._unnamed:  # nobody finds one that was not linked
            Path(path).unlink(missing_ok=True)


def _apply(step: Step) -> None:
    path = Path(step.path)
    if step.kind == "folder":
        path.mkdir(exist_ok=True)
    elif step.kind == "gone":
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    elif path.parent.is_dir():
        with path.open("r+b" if path.exists() else "w+b") as file:
            if step.kind == "cut" or (step.kind == "new" and step.at):
                file.truncate(step.at if step.kind == "cut" else 0)
            elif step.kind == "write":
                file.seek(step.at if step.at >= 0 else file.seek(0, os.SEEK_END))
                file.write(step.data)


def restore(saved: Path, path: Path) -> None:
    """Make `path` what `saved` is. Files keep their inodes: the stamp names that of the database."""
    for found in sorted(path.rglob("*"), reverse=True):
        if not os.path.lexists(saved / found.relative_to(path)):
            found.rmdir() if found.is_dir() and not found.is_symlink() else found.unlink()
    for wanted in sorted(saved.rglob("*")):
        target = path / wanted.relative_to(saved)
        if wanted.is_dir() and not wanted.is_symlink():
            target.mkdir(exist_ok=True)
        elif not target.exists():
            shutil.copy2(wanted, target, follow_symlinks=False)
        elif target.read_bytes() != wanted.read_bytes():
            target.write_bytes(wanted.read_bytes())
            shutil.copystat(wanted, target)


class Record:
    """One refresh, its steps, and the repository before it, to be cut again and again."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "repo"
        self.subject = Subject(prepare(self.path), self.path)
        self.subject.reset()
        self._before = folder / "before"
        shutil.copytree(self.path, self._before, symlinks=True)
        self._steps = record(self.subject, self.path)
        assert any(step.kind == "sync" for step in self._steps), "the record holds no sync"
        named = {os.path.basename(step.to) for step in self._steps}
        assert {"completion_marker.json", "main"} <= named, "the record holds no marker or stamp"

    def cut(self, rng: random.Random, keeps_syncs: bool = True) -> bool:
        """The power is gone at a random point; True if the index is then called fresh.

        A disk that keeps what was synced is never called damaged.
        """
        restore(self._before, self.path)
        disk = Disk(rng, keeps_syncs)
        disk.play(self._steps[: rng.randint(1, len(self._steps) + len(self._steps) // 8)])
        disk.cut()
        proof = prove(self.subject.repo.worktree)
        assert not keeps_syncs or DAMAGED not in (proof.message or ""), proof
        return self.subject.repo.verdict().state is IndexState.FRESH


def power_cuts(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Cut at random points: never a marker ahead of its data, and the next runner mends the rest."""
    recorded = Record(folder)
    while clock.goes_on():
        if recorded.cut(rng):
            recorded.subject.repo.assert_published()
            clock.count("fresh")
        recorded.subject.converge()
        clock.count()


def cuts_of_a_lying_disk(clock: Clock, rng: random.Random, folder: Path) -> None:
    """The control: on a disk that forgets what was synced, a marker must run ahead of its data."""
    recorded = Record(folder)
    while clock.goes_on():
        if recorded.cut(rng, keeps_syncs=False):
            recorded.subject.repo.assert_published()
        clock.count()
