"""Real repositories to measure in, and the background runner of one of them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from bench.harness import GITINDEX, TIMEOUT, Used, run

NO_HOOKS = ("-c", "core.hooksPath=/dev/null")
SUFFIXES = (".py", ".pyi", ".js", ".ts", ".tsx", ".md", ".rst", ".txt")
SKIPPED_FOLDERS = ("test", "tests", "idlelib", "site-packages", "dist-packages", ".git")


class Repo:
    """One work tree."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def git(self, *args: str) -> str:
        """Run git without hooks and return what it says."""
        done = subprocess.run(
            ["git", *NO_HOOKS, *args],
            cwd=self.path,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=True,
        )
        return done.stdout.strip()

    def init(self) -> Repo:
        self.path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q")
        return self

    def write(self, name: str, text: str) -> None:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def commit(self, message: str = "c") -> None:
        """Commit everything, without hooks."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def measure(self, *args: str) -> Used:
        """What a git command costs with the hooks that are there."""
        return run(["git", *args], self.path)

    def gitindex(self, *args: str) -> Used:
        return run([*GITINDEX, *args], self.path, codes=(0, 1))

    def install(self) -> None:
        """Hooks and a first index, then wait until it is fresh and nothing runs."""
        self.gitindex("install")
        self.gitindex("wait", "--timeout", "120")
        self.settle()
        self.stop_runner()

    def hook_all(self, script: str) -> None:
        """Install one script for the events we listen to."""
        folder = self.path / ".git/hooks"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for event in ("post-commit", "post-checkout", "post-rewrite"):
            (folder / event).write_text(script)
            (folder / event).chmod(0o755)

    @property
    def store(self) -> Path:
        return self.path / ".git/gitindex"

    def settle(self) -> None:
        """Wait until the public status file says fresh for this HEAD; costs the runner nothing."""
        head, deadline = self.git("rev-parse", "HEAD"), time.monotonic() + TIMEOUT
        path = self.path / ".llmc/rag_index_status.json"
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, ValueError):
                status = json.loads(path.read_text())
                if (status["index_state"], status["last_indexed_commit"]) == ("fresh", head):
                    return
            time.sleep(0.004)
        raise RuntimeError(f"never fresh: {self.path}")

    def until_fresh(self, operate: Callable[[], object]) -> Used | None:
        """CPU of the live runner and its workers from an operation to fresh; None: it was replaced."""
        runner, started = self.runner(), time.perf_counter()
        before = self.runner_cpu()
        operate()
        self.settle()
        if runner is None or self.runner() != runner:
            return None
        return Used(self.runner_cpu() - before, time.perf_counter() - started)

    def runner(self) -> int | None:
        """Process id of the live runner."""
        try:
            pid = int((self.store / "runner.alive").read_text().split()[0])
            os.kill(pid, 0)
        except (OSError, ValueError, IndexError):  # an empty file: none lives
            return None
        return pid

    def runner_cpu(self) -> float:
        """CPU seconds of the live runner and its live workers so far."""
        pid = self.runner()
        if pid is None:
            return 0.0
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return sum(map(_process_cpu, [pid, *map(int, children)]))

    def stop_runner(self) -> float:
        """End the runner, now that it only lingers; the CPU seconds of all that was left."""
        pid = self.runner()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        return self.await_orphans()

    def await_orphans(self) -> float:
        """Wait for what hooks left in the background, now our children; their CPU seconds."""
        cpu = 0.0
        with contextlib.suppress(ChildProcessError):
            while True:
                _, _, used = os.wait4(-1, 0)
                cpu += used.ru_utime + used.ru_stime
        return cpu


def small_repo(path: Path, files: int = 200) -> Repo:
    """A repository of small Python files."""
    repo = Repo(path).init()
    for i in range(files):
        repo.write(f"pkg{i % 10}/mod{i}.py", module_text(i))
    repo.commit()
    return repo


def module_text(seed: int) -> str:
    """About a kilobyte of Python that no other seed gives."""
    lines = [f"import os\nfrom pkg{seed % 10} import mod{seed % 200}\n"]
    for n in range(8):
        lines.append(f"\ndef work_{seed}_{n}(value, other=None):\n    total = value + {seed}\n")
        lines.append("    for item in other or []:\n        total += item.size\n    return total\n")
    return "".join(lines)


def corpus_repo(path: Path, source: Path | None) -> Repo:
    """A repository of real code: `source`, or this Python's standard library without its tests.

    A repository is cloned and taken as it is.
    """
    if source is not None and (source / ".git").exists():
        return cloned(path, source)
    root = source or Path(sysconfig.get_path("stdlib"))
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        for name in names:
            origin = Path(folder, name)
            if origin.suffix in SUFFIXES and origin.is_file():
                target = path / origin.relative_to(root)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(origin, target)
    repo = Repo(path).init()
    repo.commit()
    repo.git("repack", "-q", "-a", "-d")
    return repo


def cloned(path: Path, source: Path) -> Repo:
    """A clone whose index git need not check again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Repo(path.parent).git("clone", "-q", str(source), str(path))
    time.sleep(1.1)  # no file is as young as git's index
    repo = Repo(path)
    repo.git("update-index", "-q", "--refresh")
    return repo


class Bench:
    """What a benchmark is given: an empty folder of its own, and the corpus all of them share."""

    def __init__(self, scratch: Path, source: Path | None) -> None:
        self._scratch = scratch
        self._source = source
        self._corpus: Repo | None = None

    def folder(self, name: str) -> Path:
        """An empty folder."""
        path = self._scratch / name
        path.mkdir()
        return path

    @property
    def source(self) -> Path:
        """The folder that the corpus is taken from."""
        return self._source or Path(sysconfig.get_path("stdlib"))

    def corpus(self) -> Repo:
        """Real code, committed; whoever needs an index of it asks for one."""
        if self._corpus is None:
            self._corpus = corpus_repo(self._scratch / "corpus", self._source)
        return self._corpus

    def indexed(self) -> Repo:
        """The corpus with a fresh index."""
        repo = self.corpus()
        repo.gitindex("index")
        return repo


def _process_cpu(pid: int) -> float:
    """Nanosecond CPU clock of another process, ended threads included (clock_getcpuclockid(3))."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0
