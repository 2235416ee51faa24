"""A real repository with the verbs tests need. Every subprocess has a time-out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

from gitindex.base.vocabulary import IndexState
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.extract import policy
from gitindex.extract.policy import read_present
from gitindex.freshness.observation import observe
from gitindex.freshness.verdict import Verdict, judge
from gitindex.git.backend import open_repository
from gitindex.git.interface import Entry
from gitindex.store import checksums, mapping
from gitindex.store.connection import open_reader
from tests.command import run_command

PROC = os.environ.get("GITINDEX_TEST_PROC", "/proc")
"""Where tests see processes; tests/macos.py hides `/proc` from the product alone."""
TIMEOUT = 300
"""Only against what would hang for ever: a busy machine is slow, not wrong."""


class Repo:
    """One work tree on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def init(self, *options: str) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", *options)

    def git(self, *args: str, check: bool = True, env: dict[str, str] | None = None) -> str:
        """Run git and return its output."""
        done = self.try_git(*args, env=env)
        if check and done.returncode:
            raise AssertionError(f"git {args}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def try_git(
        self, *args: str, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", "-C", str(self.path), *args],
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=TIMEOUT,
            check=False,
        )

    def write(self, name: str, text: str | bytes) -> None:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, message: str = "commit", *options: str) -> str:
        """Add everything, commit, and return the commit's id."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message, *options)
        return self.git("rev-parse", "HEAD").strip()

    def gitindex(
        self, *args: str, env: dict[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the real command in a process of its own."""
        return run_command(args, cwd or self.path, {**os.environ, **(env or {})}, TIMEOUT)

    def piped(self, text: str, *args: str) -> subprocess.CompletedProcess[str]:
        """Run the real command with this text on its standard input."""
        return subprocess.run(
            [sys.executable, "-m", "gitindex", *args],
            cwd=self.path,
            input=text,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )

    def answer(self, *args: str) -> dict[str, Any]:
        """The JSON a command prints."""
        done = self.gitindex(*args, "--json")
        value = json.loads(done.stdout)
        assert isinstance(value, dict)
        return value

    def state(self) -> str:
        """What `gitindex status` says in one word."""
        return self.gitindex("status", "--short").stdout.strip()

    def verdict(self) -> Verdict:
        """What every reader bases its answer on, without a process of its own."""
        return judge(observe(self.worktree))

    def wait_fresh(self, timeout: float = TIMEOUT) -> None:
        """Wait, without helping, until the background runner has made HEAD fresh."""

        def fresh() -> bool:
            return self.verdict().state is IndexState.FRESH

        wait_for(fresh, timeout, lambda: f"{self.verdict()}\n{self.log()}")

    def wait_idle(self) -> None:
        """Wait until no runner of this store lives: nothing changes behind a test's back."""
        below = Path(self.worktree.common_dir)
        wait_for(lambda: not runner_pids(below), TIMEOUT, self.log)

    def index(self) -> None:
        """Opt in and index, in this process; no runner stays behind."""
        from gitindex.coordinator import IndexCoordinator

        assert IndexCoordinator(str(self.path)).reindex_incremental().generation > 0
        assert self.verdict().code in (0, 1), (self.verdict(), self.log())

    def index_files(self, files: Mapping[str, str]) -> Repo:
        """Write, commit and index these files; returns this repository."""
        for name, text in files.items():
            self.write(name, text)
        self.commit()
        self.index()
        return self

    def log(self) -> str:
        path = Path(self.worktree.store, "log")
        return path.read_text() if path.exists() else ""

    @property
    def worktree(self) -> Worktree:
        return worktree_at(os.path.realpath(self.path))

    def marker(self) -> dict[str, Any]:
        value = json.loads(Path(self.worktree.marker).read_text())
        assert isinstance(value, dict)
        return value

    def tree(self) -> str:
        return self.git("rev-parse", "HEAD^{tree}").strip()

    def ls_tree(self, rev: str = "HEAD") -> dict[bytes, tuple[int, str]]:
        """Path → (mode, blob id) by git's own word, of the objects that were not replaced."""
        out = subprocess.run(
            ["git", "--no-replace-objects", "-C", str(self.path), "ls-tree", "-r", "-z", rev],
            capture_output=True,
            timeout=TIMEOUT,
            check=True,
        ).stdout
        found = {}
        for record in filter(None, out.split(b"\0")):
            meta, path = record.split(b"\t", 1)
            mode, _, oid = meta.decode().split(" ")
            found[path] = (int(mode, 8), oid)
        return found

    def mapping(self) -> list[mapping.FileRow]:
        """What is published for this worktree."""
        database = open_reader(self.worktree.database)
        assert database is not None
        try:
            row = mapping.published(database, self.worktree.id)
            assert row is not None
            return mapping.read_mapping(database, row.worktree_id)
        finally:
            database.close()

    def assert_published(self, rev: str = "HEAD") -> None:
        """The published mapping is exactly git's tree, under the policy, in both stores."""
        from gitindex.store.lexical import LexicalReader

        tree = self.ls_tree(rev)
        rows = {row.path: row for row in self.mapping()}
        found = {path: (row.mode, row.oid) for path, row in rows.items()}
        assert found == tree, f"{found} {tree}\n{self.log()}"
        entries = [Entry(path, mode, oid) for path, (mode, oid) in tree.items()]
        repository = open_repository(self.worktree)
        rules = policy.of_tree(entries, partial(read_present, repository))
        for entry in entries:
            assert rows[entry.path].skip == rules.skip_path(entry), entry.path
        reader = LexicalReader(self.worktree.lexical)
        held, skipped = {key.oid for key in reader.blob_ids()}, self.skipped_blobs()
        for row in rows.values():
            if row.blob_id is not None and row.blob_id not in skipped:
                assert row.oid in held, row.path
        repository.close()

    def skipped_blobs(self) -> set[int]:
        database = open_reader(self.worktree.database)
        assert database is not None
        try:
            return {row[0] for row in database.rows("SELECT id FROM blobs WHERE status='skipped'")}
        finally:
            database.close()

    def jobs(self) -> list[dict[str, Any]]:
        """The queue's history, newest first."""
        found = self.answer("jobs", "--limit", "100000")["jobs"]
        assert isinstance(found, list)
        return [{_snake(name): value for name, value in job.items()} for job in found]

    def extracted(self) -> int:
        """How many blobs all jobs together have extracted."""
        return sum(job["extracted"] for job in self.jobs())


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def wait_for(
    condition: Callable[[], bool], timeout: float = TIMEOUT, tell: Callable[[], str] = lambda: ""
) -> None:
    """Wait on a condition, never on a clock alone."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"condition not met in {timeout} s: {tell()}")
        time.sleep(0.02)


def runner_pids(below: Path) -> list[int]:
    """Live gitindex runners of stores below a folder."""
    return [
        pid
        for pid, args in _processes()
        if b"gitindex.refresh.background" in args and os.fsencode(below) in args
    ]


def stop_runners(below: Path) -> None:
    """End the runners a test left: they linger for a second."""
    for pid in runner_pids(below):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def child_pids(parent: int, command: bytes) -> list[int]:
    """Children of a process that have these words in their command."""
    started = Path(PROC, str(parent), "task")
    children = {
        int(pid) for task in started.iterdir() for pid in (task / "children").read_text().split()
    }
    return [pid for pid, args in _processes() if pid in children and command in args]


def _processes() -> Iterator[tuple[int, bytes]]:
    for name in os.listdir(PROC):
        if name.isdigit():
            try:
                yield int(name), Path(PROC, name, "cmdline").read_bytes()
            except OSError:
                continue


def accept_changes(store: str) -> None:
    """Give what was changed by hand new checksums, as if the store's own writer had written it."""
    for name, folder in (("facts.checksums", store), ("lexical.checksums", f"{store}/lexical")):
        held = checksums._read(f"{store}/{name}")
        assert isinstance(held, checksums.Checksums)
        files = {}
        for file, (_, sums) in held.files.items():
            data = Path(folder, file).read_bytes()
            step = checksums.PART if name == "facts.checksums" else len(data) or 1
            sums = [crc32(data[at : at + step]) for at in range(0, max(1, len(data)), step)]
            files[file] = checksums._stable(f"{folder}/{file}"), sums
        checksums._write(f"{store}/{name}", held._replace(files=files))
